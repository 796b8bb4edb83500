//! Resetting a password by email, and confirming an email address. The response does not reveal whether an account
//! exists: emails are sent in the background.

use crate::app::App;
use crate::dashboard::emails::send_link;
use crate::dashboard::sign_in::start_session;
use crate::http::client::Client;
use crate::http::destination::Destination;
use crate::http::error::Result;
use crate::http::params;
use crate::http::session::Browser;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout};
use access::accounts::links::{self, Purpose};
use access::accounts::password::NewPassword;
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{Username, changes, store};
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use ipnet::IpNet;
use platform::email_address::EmailAddress;

/// `GET /dashboard/reset`
pub async fn request_page(State(app): State<App>, layout: Layout, destination: Destination) -> FormPage {
    let t = &layout.t.accounts;
    if !app.mail.is_on() {
        return FormPage::without_form(layout, t.reset_title)
            .lead(t.reset_without_email)
            .link(destination.add_to("/dashboard/sign-in"), t.sign_in);
    }
    let fields = vec![
        Field::text("who", t.username_or_email).autocomplete("username"),
        Field::hidden("next", destination.as_str()),
    ];
    let form = Form::new("/dashboard/reset", t.reset_send, fields);
    FormPage::new(layout, t.reset_title, form)
        .lead(t.reset_lead)
        .link(destination.add_to("/dashboard/sign-in"), t.sign_in)
}

/// `POST /dashboard/reset`
pub async fn request(
    State(app): State<App>,
    Client { network, .. }: Client,
    layout: Layout,
    data: FormData,
) -> FormPage {
    let identifier = data.trimmed("who").to_lowercase();
    let destination = Destination::new(data.text("next"));
    let t = &layout.t.accounts;
    let page = FormPage::without_form(layout, t.reset_sent_title)
        .lead(t.reset_sent)
        .link(destination.add_to("/dashboard/sign-in"), t.sign_in);
    tokio::spawn(send_links(app, identifier, network, destination));
    page
}

async fn send_links(app: App, identifier: String, network: IpNet, destination: Destination) {
    if app
        .access
        .attempts
        .email(&identifier, network, app.clock.instant())
        .await
        .is_err()
    {
        return;
    }
    let found = match (EmailAddress::parse(&identifier), Username::parse(&identifier)) {
        (Ok(email), _) => store::list_by_email(&app.db, &email.normalized()).await,
        (Err(_), Ok(username)) => {
            let found = store::find(&app.db, username.as_str()).await;
            found.map(|found| found.into_iter().collect())
        }
        (Err(_), Err(_)) => return,
    };
    let sent = async {
        for account in found? {
            send_link(&app, &account, Purpose::Reset, &destination).await?;
        }
        Ok::<(), sqlx::Error>(())
    };
    if let Err(error) = sent.await {
        tracing::error!(%error, "failed to send a password reset link");
    }
}

/// `GET /dashboard/reset/set?token=`
pub async fn set_page(
    State(app): State<App>,
    layout: Layout,
    RawQuery(query): RawQuery,
    destination: Destination,
) -> Result<Response> {
    let token = token(query);
    let found = links::store::find(&app.db, &token, Purpose::Reset, app.clock.millis()).await?;
    Ok(match found {
        Some((_, username)) => {
            set_with(&layout, set_form(&layout, &token, &destination), &username).into_response()
        }
        None => stale(layout),
    })
}

/// `POST /dashboard/reset/set`
pub async fn set(
    State(app): State<App>,
    layout: Layout,
    browser: Browser,
    data: FormData,
) -> Result<Response> {
    let token = data.text("token");
    let destination = Destination::new(data.text("next"));
    let now = app.clock.millis();
    let Some((id, username)) = links::store::find(&app.db, token, Purpose::Reset, now).await? else {
        return Ok(stale(layout));
    };
    let password = match NewPassword::parse(data.text("password"), &username) {
        Ok(password) => password,
        Err(error) => {
            let mut form = set_form(&layout, token, &destination);
            form.add_error("password", error.to_string());
            return Ok(set_with(&layout, form, &username).invalid());
        }
    };
    let hash = app.access.hashing.hash(password).await;
    if !changes::reset_password(&app.db, token, id, &hash, now).await? {
        return Ok(stale(layout));
    }
    let proof = VerifiedPassword::new(id, hash);
    let page = destination.or("/dashboard");
    start_session(&app, &proof, &browser.expected(), Flash::PasswordChanged, page).await
}

/// `GET /dashboard/confirm?token=`: shows a button, because programs that scan emails also open links.
pub async fn confirm_page(
    State(app): State<App>,
    layout: Layout,
    RawQuery(query): RawQuery,
    destination: Destination,
) -> Result<Response> {
    let token = token(query);
    let found = links::store::find(&app.db, &token, Purpose::Confirm, app.clock.millis()).await?;
    if found.is_none() {
        return Ok(stale(layout));
    }
    let t = &layout.t.accounts;
    let fields = vec![
        Field::hidden("token", token),
        Field::hidden("next", destination.as_str()),
    ];
    let form = Form::new("/dashboard/confirm", t.confirm, fields);
    Ok(FormPage::new(layout, t.confirm_title, form).into_response())
}

/// `POST /dashboard/confirm`
pub async fn confirm(State(app): State<App>, layout: Layout, data: FormData) -> Result<Response> {
    let (token, now) = (data.text("token"), app.clock.millis());
    let found = links::store::find(&app.db, token, Purpose::Confirm, now).await?;
    match found {
        Some((id, _)) if changes::confirm(&app.db, token, id, now).await? => {
            let target = Redirect::to(&Destination::new(data.text("next")).add_to("/dashboard/sign-in"));
            Ok((Flash::EmailConfirmed.cookie(&app.site.public_url), target).into_response())
        }
        _ => Ok(stale(layout)),
    }
}

fn token(query: Option<String>) -> String {
    let query = query.unwrap_or_default();
    params::values(&query, "token")
        .next()
        .unwrap_or_default()
        .into_owned()
}

fn set_form(layout: &Layout, token: &str, destination: &Destination) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![
        Field::hidden("token", token),
        Field::hidden("next", destination.as_str()),
        Field::password("password", t.new_password, "new-password").hint(t.password_hint),
    ];
    Form::new("/dashboard/reset/set", t.set_password, fields)
}

fn set_with(layout: &Layout, form: Form, username: &str) -> FormPage {
    let t = &layout.t.accounts;
    FormPage::new(layout.clone(), t.set_title, form).lead(fill(t.set_lead, &[("username", username)]))
}

fn stale(layout: Layout) -> Response {
    let t = &layout.t.accounts;
    let page = FormPage::without_form(layout, t.stale_title)
        .lead(t.stale)
        .link("/dashboard/reset", t.reset_title);
    (StatusCode::GONE, page).into_response()
}
