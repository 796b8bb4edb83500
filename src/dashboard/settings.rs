//! What an account sets for itself: its password, its sessions, the origins of its site, its end.

use crate::app::App;
use crate::dashboard::settings_page::{ADDRESS, Forms, show};
use crate::dashboard::sign_in::{enter, retry_message};
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::session;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::frame::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, Frame, Sent};
use access::accounts::password::NewPassword;
use access::accounts::store;
use access::accounts::verified_password::VerifiedPassword;
use access::sessions::{self, SignedIn};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use ipnet::IpNet;

/// `GET /dashboard/settings`
pub async fn settings(State(app): State<App>, who: SignedIn, frame: Frame) -> Result<Response> {
    let forms = Forms::new(&frame);
    show(&app, who, frame, forms).await
}

/// `POST /dashboard/settings/password`
pub async fn change_password(
    State(app): State<App>,
    Client { network, .. }: Client,
    who: SignedIn,
    frame: Frame,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response> {
    let mut forms = Forms::new(&frame);
    let form = &mut forms.password;
    let password = NewPassword::parse(sent.text("password"), &who.username)
        .map_err(|fault| form.refuse("password", fault.to_string()))
        .ok();
    let proof = prove(&app, &who, network, &frame, sent.text("current")).await?;
    let proof = proof.map_err(|fault| form.refuse("current", fault)).ok();
    if let Some((old, password)) = proof.zip(password) {
        let hash = app.hashing.hash(password).await;
        if store::set_password(&app.db, &old, &hash).await? {
            let new = VerifiedPassword::new(who.account, hash);
            return enter(&app, &new, &headers, Flash::PasswordChanged, ADDRESS).await;
        }
        form.refuse("current", frame.t.accounts.wrong_current_password);
    }
    let page = show(&app, who, frame, forms).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// `POST /dashboard/settings/sessions`: ends one session, or all others.
pub async fn end_sessions(State(app): State<App>, who: SignedIn, sent: Sent) -> Result<Response> {
    let named = sent.text("session");
    let flash = if named.is_empty() {
        sessions::store::remove_others(&app.db, who.account, who.session).await?;
        Flash::SessionsEnded
    } else {
        // A name that is none of a session ends nothing.
        let is_ended = match hash_of(named) {
            Some(hash) => sessions::store::remove_of(&app.db, who.account, &hash).await?,
            None => false,
        };
        match is_ended {
            true => Flash::SessionEnded,
            false => Flash::AlreadyDone,
        }
    };
    Ok((flash.keep(&app.public_url), Redirect::to(ADDRESS)).into_response())
}

/// `GET /dashboard/settings/delete`
pub async fn delete_page(who: SignedIn, frame: Frame) -> FormPage {
    let form = delete_form(&frame);
    delete_with(&who, frame, form)
}

/// `POST /dashboard/settings/delete`
pub async fn delete(
    State(app): State<App>,
    Client { network, .. }: Client,
    who: SignedIn,
    frame: Frame,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Response> {
    let removed = match prove(&app, &who, network, &frame, sent.text("current")).await? {
        Ok(proof) if store::remove(&app.db, &proof, app.clock.millis()).await? => Ok(()),
        Ok(_) => Err(frame.t.accounts.wrong_current_password.to_owned()),
        Err(fault) => Err(fault),
    };
    if let Err(fault) = removed {
        let mut form = delete_form(&frame);
        form.refuse("current", fault);
        return Ok(delete_with(&who, frame, form).refused());
    }
    let gone = session::end(&app, &headers).await?;
    let way_on = Redirect::to("/dashboard/sign-in");
    Ok((Flash::AccountDeleted.keep(&app.public_url), gone, way_on).into_response())
}

/// Asks for the password once more, as often as at the sign-in.
async fn prove(
    app: &App,
    who: &SignedIn,
    network: IpNet,
    frame: &Frame,
    password: &str,
) -> Result<Result<VerifiedPassword, String>> {
    let now = app.clock.instant();
    if let Err(wait) = app.attempts.sign_in(&who.username, network, now) {
        return Ok(Err(retry_message(frame, wait)));
    }
    let account = store::find(&app.db, &who.username).await?;
    let Some(proof) = VerifiedPassword::verify(&app.hashing, account.as_ref(), password).await else {
        return Ok(Err(frame.t.accounts.wrong_current_password.to_owned()));
    };
    app.attempts.record_success(&who.username, network, now);
    Ok(Ok(proof))
}

fn delete_form(frame: &Frame) -> Form {
    let t = &frame.t.accounts;
    let fields = vec![Field::password("current", t.password, "current-password")];
    Form::new("/dashboard/settings/delete", t.delete_permanently, fields).dangerous()
}

fn delete_with(who: &SignedIn, frame: Frame, form: Form) -> FormPage {
    let t = &frame.t.accounts;
    let lead = fill(t.delete_lead, &[("username", &who.username)]);
    FormPage::new(frame.at(who, Tab::Settings), t.delete_title, form)
        .lead(lead)
        .link(ADDRESS, t.delete_cancel)
}

fn hash_of(text: &str) -> Option<Vec<u8>> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    is_hash.then(|| (0..64).step_by(2).filter_map(byte).collect())
}
