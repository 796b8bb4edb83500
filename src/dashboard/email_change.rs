//! Changing the email address of an account, confirmed by a link to the new address.

use crate::app::App;
use crate::dashboard::emails::{send_link_to, send_notice};
use crate::dashboard::settings::verify_password;
use crate::dashboard::settings_page::{Forms, PATH, show};
use crate::http::client::Client;
use crate::http::destination::Destination;
use crate::http::error::Result;
use crate::http::params;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout};
use access::accounts::links::{self, Purpose};
use access::accounts::{changes, store};
use access::sessions::SignedIn;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use platform::email_address::EmailAddress;

const CONFIRM_PATH: &str = "/dashboard/settings/email/confirm";

/// `POST /dashboard/settings/email`
pub async fn request(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let t = &layout.t.accounts;
    let mut forms = Forms::new(&layout);
    let mut form = forms.email.with_values(&data);
    let email = EmailAddress::parse(data.text("email")).map(|email| email.normalized());
    match &email {
        Err(_) => form.add_error("email", t.invalid_email),
        Ok(email) if user.email.as_ref() == Some(email) => form.add_error("email", t.same_email),
        Ok(email) if !app.config.accounts.admits(email) => {
            let domains = app.config.accounts.mail_domains.join(", ");
            form.add_error("email", fill(t.wrong_domain, &[("domains", &domains)]));
        }
        Ok(_) => {}
    }
    let proof = verify_password(&app, &user, network, &layout, data.text("email-password")).await?;
    let proof = proof
        .map_err(|error| form.add_error("email-password", error))
        .ok();
    if let (Ok(email), Some(proof), false) = (email, proof, form.has_errors()) {
        if !app.mail.is_on() {
            let flash = if changes::change_email_unconfirmed(&app.db, &proof, &email).await? {
                Flash::EmailChanged
            } else {
                Flash::AlreadyDone
            };
            return Ok(flash.redirect(&app.site.public_url, PATH));
        }
        let admitted = app.access.attempts.email(&email, network, app.clock.instant());
        if admitted.await.is_ok() {
            if let Some(account) = store::find_by_id(&app.db, user.account).await? {
                let nowhere = Destination::default();
                send_link_to(&app, &account, &email, Purpose::ChangeEmail, &nowhere).await?;
            }
            let lead = fill(t.email_change_sent, &[("email", &email)]);
            let page =
                FormPage::without_form(layout.with_menu(&user, Tab::Settings), t.email_change_sent_title);
            return Ok(page.lead(lead).link(PATH, t.back_to_settings).into_response());
        }
        form.add_error("email", t.too_many_emails);
    }
    forms.email = form;
    let page = show(&app, user, layout, forms).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// `GET /dashboard/settings/email/confirm?token=`: shows a button, because programs that scan emails also open links.
pub async fn confirm_page(
    State(app): State<App>,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let query = query.unwrap_or_default();
    let token = params::values(&query, "token").next().unwrap_or_default();
    let Some(change) = find(&app, &token).await? else {
        return Ok(stale(layout));
    };
    let t = &layout.t.accounts;
    let values = [("username", change.username.as_str()), ("email", &change.email)];
    let fields = vec![Field::hidden("token", token)];
    let form = Form::new(CONFIRM_PATH, t.change_email, fields);
    let page = FormPage::new(layout, t.email_change_title, form).lead(fill(t.email_change_lead, &values));
    Ok(page.into_response())
}

/// `POST /dashboard/settings/email/confirm`
pub async fn confirm(State(app): State<App>, layout: Layout, data: FormData) -> Result<Response> {
    let token = data.text("token");
    let Some(change) = find(&app, token).await? else {
        return Ok(stale(layout));
    };
    let old = store::find_by_id(&app.db, change.account).await?;
    let now = app.clock.millis();
    if !changes::change_email(&app.db, token, change.account, &change.email, now).await? {
        return Ok(stale(layout));
    }
    let old = old.and_then(|account| account.email);
    let emails = &layout.t.emails;
    let text = (emails.changed_subject, emails.changed);
    send_notice(&app, &change.username, old.as_deref(), text);
    Ok(Flash::EmailChanged.redirect(&app.site.public_url, PATH))
}

/// A change that waits for its confirmation.
struct EmailChange {
    account: platform::ids::AccountId,
    username: String,
    email: String,
}

async fn find(app: &App, token: &str) -> Result<Option<EmailChange>> {
    let now = app.clock.millis();
    let found = links::store::find(&app.db, token, Purpose::ChangeEmail, now).await?;
    let email = links::store::find_email(&app.db, token).await?;
    Ok(found.zip(email).map(|((account, username), email)| EmailChange {
        account,
        username,
        email,
    }))
}

fn stale(layout: Layout) -> Response {
    let t = &layout.t.accounts;
    let page = FormPage::without_form(layout, t.stale_title)
        .lead(t.stale)
        .link(PATH, t.settings_title);
    (StatusCode::GONE, page).into_response()
}
