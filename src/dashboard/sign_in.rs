//! Signing up, in and out.

use crate::app::App;
use crate::dashboard::emails::send_link;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::params;
use crate::http::session;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::texts::fill;
use crate::web::{Field, Form, Frame, Sent};
use access::accounts::attempts::RetryAfter;
use access::accounts::links::Purpose;
use access::accounts::password::NewPassword;
use access::accounts::store::{self, NewAccount};
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{SignUp, Username, is_email};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use ipnet::IpNet;

/// `GET /dashboard/sign-up`
pub async fn sign_up_page(State(app): State<App>, frame: Frame) -> FormPage {
    if app.config.accounts.sign_up == SignUp::Closed {
        return closed(frame);
    }
    let form = sign_up_form(&app, &frame);
    sign_up_with(&app, frame, form)
}

/// `POST /dashboard/sign-up`
pub async fn sign_up(
    State(app): State<App>,
    Client { network, .. }: Client,
    frame: Frame,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response> {
    if app.config.accounts.sign_up == SignUp::Closed {
        return Ok((StatusCode::FORBIDDEN, closed(frame)).into_response());
    }
    let mut form = sign_up_form(&app, &frame).filled(&sent);
    let Some((username, email, password)) = read_sign_up(&app, &frame, &sent, &mut form) else {
        return Ok(sign_up_with(&app, frame, form).refused());
    };
    if let Err(wait) = app.attempts.sign_up(network, app.clock.instant()) {
        form.refuse_all(retry_message(&frame, wait));
        return Ok(sign_up_with(&app, frame, form).too_often(wait.0));
    }
    let waits = app.config.accounts.requires_confirmation();
    let hash = app.hashing.hash(password).await;
    let account = NewAccount {
        username: &username,
        email: Some(&email),
        operator: false,
        password: Some(&hash),
        is_confirmed: !waits,
    };
    if let Some(id) = store::insert(&app.db, &account, app.clock.millis()).await? {
        if waits {
            return ask_to_confirm(&app, frame, username.as_str(), network).await;
        }
        let proof = VerifiedPassword::new(id, hash);
        return enter(&app, &proof, &headers, Flash::Welcome, "/dashboard").await;
    }
    // The button was pressed twice: the account is there since a moment, with this very password. An older one is
    // signed in to where guesses are counted.
    let now = app.clock.millis();
    let taken = store::find(&app.db, username.as_str()).await?;
    let taken = taken.filter(|account| account.is_new(now));
    let proof = VerifiedPassword::verify(&app.hashing, taken.as_ref(), sent.text("password")).await;
    match taken.zip(proof) {
        Some((account, _)) if account.confirmed_at.is_none() => {
            ask_to_confirm(&app, frame, &account.username, network).await
        }
        Some((_, proof)) => enter(&app, &proof, &headers, Flash::Welcome, "/dashboard").await,
        None => {
            form.refuse("username", frame.t.accounts.username_taken);
            Ok(sign_up_with(&app, frame, form).refused())
        }
    }
}

/// `GET /dashboard/sign-in`
pub async fn sign_in_page(State(app): State<App>, frame: Frame, RawQuery(query): RawQuery) -> FormPage {
    let query = query.unwrap_or_default();
    let next = params::values(&query, "next").next().unwrap_or_default();
    let form = sign_in_form(&frame, &next);
    sign_in_with(&app, frame, form)
}

/// `POST /dashboard/sign-in`
pub async fn sign_in(
    State(app): State<App>,
    Client { network, .. }: Client,
    frame: Frame,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response> {
    let mut form = sign_in_form(&frame, sent.text("next")).filled(&sent);
    let username = sent.trimmed("username").to_lowercase();
    if let Err(wait) = app.attempts.sign_in(&username, network, app.clock.instant()) {
        form.refuse_all(retry_message(&frame, wait));
        return Ok(sign_in_with(&app, frame, form).too_often(wait.0));
    }
    let account = match Username::parse(&username) {
        Ok(username) => store::find(&app.db, username.as_str()).await?,
        Err(_) => None,
    };
    let proof = VerifiedPassword::verify(&app.hashing, account.as_ref(), sent.text("password")).await;
    let Some((account, proof)) = account.zip(proof) else {
        form.refuse_all(frame.t.accounts.wrong_credentials);
        return Ok(sign_in_with(&app, frame, form).refused());
    };
    app.attempts
        .record_success(&username, network, app.clock.instant());
    if account.confirmed_at.is_none() {
        return ask_to_confirm(&app, frame, &account.username, network).await;
    }
    let next = Some(sent.text("next")).filter(|next| session::is_dashboard_path(next));
    // Whoever was signed in here before is signed out: the cookie is a new one.
    session::forget(&app, &headers).await?;
    enter(
        &app,
        &proof,
        &headers,
        Flash::SignedIn,
        next.unwrap_or("/dashboard"),
    )
    .await
}

/// `GET /dashboard/sign-out`
pub async fn sign_out_page(frame: Frame) -> FormPage {
    let t = &frame.t.accounts;
    let form = Form::new("/dashboard/sign-out", t.sign_out, Vec::new());
    FormPage::new(frame, t.sign_out_title, form)
}

/// `POST /dashboard/sign-out`
pub async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Result<Response> {
    let gone = session::end(&app, &headers).await?;
    let way_on = Redirect::to("/dashboard/sign-in");
    Ok((Flash::SignedOut.keep(&app.public_url), gone, way_on).into_response())
}

/// Begins a session and goes on; whose password was changed in that moment goes to the sign-in.
pub async fn enter(
    app: &App,
    proof: &VerifiedPassword,
    headers: &HeaderMap,
    flash: Flash,
    next: &str,
) -> Result<Response> {
    Ok(match session::begin(app, proof, headers).await? {
        Some(cookie) => (flash.keep(&app.public_url), cookie, Redirect::to(next)).into_response(),
        None => Redirect::to("/dashboard/sign-in").into_response(),
    })
}

/// Says how long to wait before the next attempt, rounded up to whole minutes.
pub fn retry_message(frame: &Frame, wait: RetryAfter) -> String {
    let t = &frame.t.accounts;
    match wait.0.as_millis().div_ceil(60_000) {
        0 | 1 => t.wait_one_minute.to_owned(),
        minutes => fill(t.wait, &[("minutes", &minutes.to_string())]),
    }
}

/// The answer is the same where no further mail is sent, since there were many.
async fn ask_to_confirm(app: &App, frame: Frame, username: &str, network: IpNet) -> Result<Response> {
    if let Some(account) = store::find(&app.db, username).await? {
        let to = account.email.as_deref().unwrap_or(username);
        if app.attempts.email(to, network, app.clock.instant()).is_ok() {
            send_link(app, &account, Purpose::Confirm).await?;
        }
    }
    let t = &frame.t.accounts;
    let page = FormPage::without_form(frame, t.confirm_sent_title).lead(t.confirm_sent);
    Ok(page.into_response())
}

fn closed(frame: Frame) -> FormPage {
    let t = &frame.t.accounts;
    FormPage::without_form(frame, t.closed_title)
        .lead(t.closed)
        .link("/dashboard/sign-in", t.sign_in)
}

fn sign_up_form(app: &App, frame: &Frame) -> Form {
    let t = &frame.t.accounts;
    let domains = &app.config.accounts.mail_domains;
    let email = match domains.is_empty() {
        true => t.email_hint.to_owned(),
        false => fill(t.email_domains_hint, &[("domains", &domains.join(", "))]),
    };
    let fields = vec![
        Field::text("username", t.username)
            .hint(t.username_hint)
            .autocomplete("username"),
        Field::email("email", t.email).hint(email),
        Field::password("password", t.password, "new-password").hint(t.password_hint),
    ];
    Form::new("/dashboard/sign-up", t.sign_up, fields)
}

fn sign_up_with(app: &App, frame: Frame, form: Form) -> FormPage {
    let t = &frame.t.accounts;
    let lead = match app.mail.is_on() {
        true => t.sign_up_lead,
        false => t.sign_up_lead_without_email,
    };
    FormPage::new(frame, t.sign_up_title, form)
        .lead(lead)
        .link("/dashboard/sign-in", t.have_account)
}

/// Judges every field, so that all errors are told at once.
fn read_sign_up(
    app: &App,
    frame: &Frame,
    sent: &Sent,
    form: &mut Form,
) -> Option<(Username, String, NewPassword)> {
    let username = Username::parse(sent.text("username"))
        .map_err(|fault| form.refuse("username", fault.to_string()))
        .ok();
    let email = sent.trimmed("email").to_lowercase();
    if !is_email(&email) {
        form.refuse("email", frame.t.accounts.invalid_email);
    } else if !app.config.accounts.admits(&email) {
        let domains = app.config.accounts.mail_domains.join(", ");
        form.refuse(
            "email",
            fill(frame.t.accounts.wrong_domain, &[("domains", &domains)]),
        );
    }
    let known_as = username.as_ref().map_or("", Username::as_str);
    let password = NewPassword::parse(sent.text("password"), known_as)
        .map_err(|fault| form.refuse("password", fault.to_string()))
        .ok();
    match form.is_refused() {
        true => None,
        false => Some((username?, email, password?)),
    }
}

fn sign_in_form(frame: &Frame, next: &str) -> Form {
    let t = &frame.t.accounts;
    let next = Some(next).filter(|next| session::is_dashboard_path(next));
    let fields = vec![
        Field::text("username", t.username).autocomplete("username"),
        Field::password("password", t.password, "current-password"),
        Field::hidden("next", next.unwrap_or_default()),
    ];
    Form::new("/dashboard/sign-in", t.sign_in, fields)
}

fn sign_in_with(app: &App, frame: Frame, form: Form) -> FormPage {
    let t = &frame.t.accounts;
    let page = FormPage::new(frame, t.sign_in_title, form);
    let page = match app.config.accounts.sign_up {
        SignUp::Open => page.link("/dashboard/sign-up", t.no_account),
        SignUp::Closed => page,
    };
    page.link("/dashboard/reset", t.forgot)
}
