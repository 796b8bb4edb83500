//! A new password by mail, and the confirmation of an address. The answer is the same whether there is an account or
//! not: what follows from it happens after the answer.

use crate::app::App;
use crate::dashboard::emails::send_link;
use crate::dashboard::sign_in::enter;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::params;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::texts::fill;
use crate::web::{Field, Form, Frame, Sent};
use access::accounts::links::{self, Purpose};
use access::accounts::password::NewPassword;
use access::accounts::store;
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{Username, is_email};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use ipnet::IpNet;

/// `GET /dashboard/reset`
pub async fn ask_page(State(app): State<App>, frame: Frame) -> FormPage {
    let t = &frame.t.accounts;
    if !app.mail.is_on() {
        return FormPage::without_form(frame, t.reset_title)
            .lead(t.reset_without_email)
            .link("/dashboard/sign-in", t.sign_in);
    }
    let who = Field::text("who", t.username_or_email).autocomplete("username");
    let form = Form::new("/dashboard/reset", t.reset_send, vec![who]);
    FormPage::new(frame, t.reset_title, form)
        .lead(t.reset_lead)
        .link("/dashboard/sign-in", t.sign_in)
}

/// `POST /dashboard/reset`
pub async fn ask(
    State(app): State<App>,
    Client { network, .. }: Client,
    frame: Frame,
    sent: Sent,
) -> FormPage {
    let who = sent.trimmed("who").to_lowercase();
    tokio::spawn(send_links(app, who, network));
    let t = &frame.t.accounts;
    FormPage::without_form(frame, t.reset_sent_title)
        .lead(t.reset_sent)
        .link("/dashboard/sign-in", t.sign_in)
}

async fn send_links(app: App, who: String, network: IpNet) {
    if app.attempts.email(&who, network, app.clock.instant()).is_err() {
        return;
    }
    let found = match (is_email(&who), Username::parse(&who)) {
        (true, _) => store::list_by_email(&app.db, &who).await,
        (false, Ok(username)) => {
            let found = store::find(&app.db, username.as_str()).await;
            found.map(|found| found.into_iter().collect())
        }
        (false, Err(_)) => return,
    };
    let sent = async {
        for account in found? {
            send_link(&app, &account, Purpose::Reset).await?;
        }
        Ok::<(), sqlx::Error>(())
    };
    if let Err(fault) = sent.await {
        tracing::error!(%fault, "a link to set a password could not be made");
    }
}

/// `GET /dashboard/reset/set?token=`
pub async fn set_page(State(app): State<App>, frame: Frame, RawQuery(query): RawQuery) -> Result<Response> {
    let token = token(query);
    let found = links::store::find(&app.db, &token, Purpose::Reset, app.clock.millis()).await?;
    Ok(match found {
        Some((_, username)) => set_with(&frame, set_form(&frame, &token), &username).into_response(),
        None => stale(frame),
    })
}

/// `POST /dashboard/reset/set`
pub async fn set(State(app): State<App>, frame: Frame, headers: HeaderMap, sent: Sent) -> Result<Response> {
    let token = sent.text("token");
    let now = app.clock.millis();
    let Some((id, username)) = links::store::find(&app.db, token, Purpose::Reset, now).await? else {
        return Ok(stale(frame));
    };
    let password = match NewPassword::parse(sent.text("password"), &username) {
        Ok(password) => password,
        Err(fault) => {
            let mut form = set_form(&frame, token);
            form.refuse("password", fault.to_string());
            return Ok(set_with(&frame, form, &username).refused());
        }
    };
    let hash = app.hashing.hash(password).await;
    if !store::reset_password(&app.db, token, id, &hash, now).await? {
        return Ok(stale(frame));
    }
    let proof = VerifiedPassword::new(id, hash);
    enter(&app, &proof, &headers, Flash::PasswordChanged, "/dashboard").await
}

/// `GET /dashboard/confirm?token=`: a button, since programs that look through mail follow links too.
pub async fn confirm_page(
    State(app): State<App>,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let token = token(query);
    let found = links::store::find(&app.db, &token, Purpose::Confirm, app.clock.millis()).await?;
    if found.is_none() {
        return Ok(stale(frame));
    }
    let t = &frame.t.accounts;
    let form = Form::new(
        "/dashboard/confirm",
        t.confirm,
        vec![Field::hidden("token", token)],
    );
    Ok(FormPage::new(frame, t.confirm_title, form).into_response())
}

/// `POST /dashboard/confirm`
pub async fn confirm(State(app): State<App>, frame: Frame, sent: Sent) -> Result<Response> {
    let (token, now) = (sent.text("token"), app.clock.millis());
    let found = links::store::find(&app.db, token, Purpose::Confirm, now).await?;
    match found {
        Some((id, _)) if store::confirm(&app.db, token, id, now).await? => {
            let way_on = Redirect::to("/dashboard/sign-in");
            Ok((Flash::EmailConfirmed.keep(&app.public_url), way_on).into_response())
        }
        _ => Ok(stale(frame)),
    }
}

fn token(query: Option<String>) -> String {
    let query = query.unwrap_or_default();
    params::values(&query, "token")
        .next()
        .unwrap_or_default()
        .into_owned()
}

fn set_form(frame: &Frame, token: &str) -> Form {
    let t = &frame.t.accounts;
    let fields = vec![
        Field::hidden("token", token),
        Field::password("password", t.new_password, "new-password").hint(t.password_hint),
    ];
    Form::new("/dashboard/reset/set", t.set_password, fields)
}

fn set_with(frame: &Frame, form: Form, username: &str) -> FormPage {
    let t = &frame.t.accounts;
    FormPage::new(frame.clone(), t.set_title, form).lead(fill(t.set_lead, &[("username", username)]))
}

fn stale(frame: Frame) -> Response {
    let t = &frame.t.accounts;
    let page = FormPage::without_form(frame, t.stale_title)
        .lead(t.stale)
        .link("/dashboard/reset", t.reset_title);
    (StatusCode::GONE, page).into_response()
}
