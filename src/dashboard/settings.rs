//! The settings of an account: changing the password, ending sessions, deleting the account.

use crate::app::App;
use crate::dashboard::settings_page::{Forms, PATH, show};
use crate::dashboard::sign_in::{retry_message, start_session};
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::session::{self, Browser};
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout};
use access::accounts::password::NewPassword;
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{changes, store};
use access::sessions::{self, SignedIn};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use ipnet::IpNet;

/// `GET /dashboard/settings`
pub async fn settings(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let forms = Forms::new(&layout);
    show(&app, user, layout, forms).await
}

/// `POST /dashboard/settings/password`
pub async fn change_password(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    browser: Browser,
    data: FormData,
) -> Result<Response> {
    let mut forms = Forms::new(&layout);
    let form = &mut forms.password;
    let password = NewPassword::parse(data.text("password"), &user.username)
        .map_err(|error| form.add_error("password", error.to_string()))
        .ok();
    let proof = verify_password(&app, &user, network, &layout, data.text("current")).await?;
    let proof = proof.map_err(|error| form.add_error("current", error)).ok();
    if let Some((old, password)) = proof.zip(password) {
        let hash = app.access.hashing.hash(password).await;
        if changes::set_password(&app.db, &old, &hash).await? {
            let new = VerifiedPassword::new(user.account, hash).with_second_factor();
            return start_session(&app, &new, &browser.expected(), Flash::PasswordChanged, PATH).await;
        }
        form.add_error("current", layout.t.accounts.wrong_current_password);
    }
    let page = show(&app, user, layout, forms).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// `POST /dashboard/settings/sessions`: ends one session, or all others.
pub async fn end_sessions(State(app): State<App>, user: SignedIn, data: FormData) -> Result<Response> {
    let session = data.text("session");
    let flash = if session.is_empty() {
        sessions::store::remove_others(&app.db, user.account, user.session).await?;
        Flash::SessionsEnded
    } else {
        let is_ended = match parse_hash(session) {
            Some(hash) => sessions::store::remove_of(&app.db, user.account, &hash).await?,
            None => false,
        };
        if is_ended {
            Flash::SessionEnded
        } else {
            Flash::AlreadyDone
        }
    };
    Ok(flash.redirect(&app.site.public_url, PATH))
}

/// `GET /dashboard/settings/delete`
pub async fn delete_page(user: SignedIn, layout: Layout) -> FormPage {
    let form = delete_form(&layout);
    delete_with(&user, layout, form)
}

/// `POST /dashboard/settings/delete`
pub async fn delete(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    headers: HeaderMap,
    data: FormData,
) -> Result<Response> {
    let removed = match verify_password(&app, &user, network, &layout, data.text("current")).await? {
        Ok(proof) => {
            let is_removed = app.giving.recorder.remove_account(proof).await?;
            is_removed
                .then_some(())
                .ok_or_else(|| layout.t.accounts.wrong_current_password.to_owned())
        }
        Err(error) => Err(error),
    };
    if let Err(error) = removed {
        let mut form = delete_form(&layout);
        form.add_error("current", error);
        return Ok(delete_with(&user, layout, form).invalid());
    }
    let removal = session::end(&app, &headers).await?;
    let target = Redirect::to("/dashboard/sign-in");
    Ok((
        Flash::AccountDeleted.cookie(&app.site.public_url),
        removal,
        target,
    )
        .into_response())
}

/// Verifies the password again, with the same limit on attempts as signing in.
pub async fn verify_password(
    app: &App,
    user: &SignedIn,
    network: IpNet,
    layout: &Layout,
    password: &str,
) -> Result<Result<VerifiedPassword, String>> {
    let now = app.clock.instant();
    if let Err(wait) = app.access.attempts.sign_in(&user.username, network, now).await {
        return Ok(Err(retry_message(layout, wait)));
    }
    let account = store::find(&app.db, &user.username).await?;
    let Some(proof) = VerifiedPassword::verify(&app.access.hashing, account.as_ref(), password).await else {
        return Ok(Err(layout.t.accounts.wrong_current_password.to_owned()));
    };
    app.access
        .attempts
        .record_success(&user.username, network, now)
        .await;
    Ok(Ok(proof))
}

fn delete_form(layout: &Layout) -> Form {
    let t = &layout.t.accounts;
    let fields = vec![Field::password("current", t.password, "current-password")];
    Form::new("/dashboard/settings/delete", t.delete_permanently, fields).dangerous()
}

fn delete_with(user: &SignedIn, layout: Layout, form: Form) -> FormPage {
    let t = &layout.t.accounts;
    let lead = fill(t.delete_lead, &[("username", &user.username)]);
    FormPage::new(layout.with_menu(user, Tab::Settings), t.delete_title, form)
        .lead(lead)
        .link(PATH, t.delete_cancel)
}

fn parse_hash(text: &str) -> Option<Vec<u8>> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    is_hash.then(|| (0..64).step_by(2).filter_map(byte).collect())
}
