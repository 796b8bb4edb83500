//! Who is signed in: a random cookie, kept in the store as its SHA-256, renewed at every sign-in.

pub mod store;

use crate::access::accounts::proof::Proof;
use crate::access::accounts::token::Token;
use crate::app::App;
use crate::http::error::Error;
use crate::platform::ids::AccountId;
use crate::web::Frame;
use axum::extract::FromRequestParts;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use std::time::Duration;

/// A session that is not used for so long has ended.
pub const IDLE: Duration = Duration::from_hours(30 * 24);
/// Between two notes of when a session was seen.
const NOTE_EVERY: i64 = 10 * 60 * 1000;
/// Characters that are kept of what a browser calls itself.
const AGENT: usize = 200;

/// Somebody who is signed in. A handler that takes this cannot run without.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub account: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    /// The SHA-256 of the cookie.
    pub session: [u8; 32],
}

/// An operator who is signed in.
#[derive(Clone, Debug)]
pub struct Operator(pub SignedIn);

/// Begins a session and gives its cookie. Nothing where the password was changed since it was proven.
pub async fn begin(app: &App, proof: &Proof, headers: &HeaderMap) -> Result<Option<CookieJar>, Error> {
    let token = Token::generate();
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let agent = crate::platform::text::cut(agent.unwrap_or_default(), AGENT);
    let now = app.clock.millis();
    let is_begun = store::insert(&app.db, token.hash(), proof, agent, now).await?;
    let cookie = cookie(app, token.expose().to_owned());
    Ok(is_begun.then(|| CookieJar::new().add(cookie)))
}

/// Ends the session of a request in the store.
pub async fn forget(app: &App, headers: &HeaderMap) -> Result<(), Error> {
    if let Some(token) = token(app, headers) {
        store::remove(&app.db, token.hash()).await?;
    }
    Ok(())
}

/// Ends the session of a request, in the store and in the browser.
pub async fn end(app: &App, headers: &HeaderMap) -> Result<CookieJar, Error> {
    forget(app, headers).await?;
    let mut gone = cookie(app, String::new());
    gone.make_removal();
    Ok(CookieJar::new().add(gone))
}

/// Finds who is signed in.
pub async fn find(app: &App, headers: &HeaderMap) -> Result<Option<SignedIn>, Error> {
    let Some(token) = token(app, headers) else {
        return Ok(None);
    };
    let now = app.clock.millis();
    let oldest = now - IDLE.as_millis() as i64;
    let Some((signed_in, seen_at)) = store::find(&app.db, token.hash(), oldest).await? else {
        return Ok(None);
    };
    if now - seen_at > NOTE_EVERY {
        store::note_seen(&app.db, token.hash(), now).await?;
    }
    Ok(Some(signed_in))
}

/// Do browsers come to us over HTTPS?
pub fn is_https(app: &App) -> bool {
    app.config.public_url.starts_with("https://")
}

/// With the prefix, a browser takes the cookie only over HTTPS and from this host alone.
fn cookie_name(app: &App) -> &'static str {
    match is_https(app) {
        true => "__Host-causeway_session",
        false => "causeway_session",
    }
}

fn cookie(app: &App, value: String) -> Cookie<'static> {
    Cookie::build((cookie_name(app), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_https(app))
        .max_age(IDLE.try_into().expect("a month can be told"))
        .build()
}

fn token(app: &App, headers: &HeaderMap) -> Option<Token> {
    let jar = CookieJar::from_headers(headers);
    Token::parse(jar.get(cookie_name(app))?.value())
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, Response> {
        match find(app, &parts.headers).await {
            Ok(Some(signed_in)) => Ok(signed_in),
            Ok(None) => Err(Redirect::to(&sign_in_address(parts)).into_response()),
            Err(fault) => Err(fault.into_response()),
        }
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Operator, Response> {
        let signed_in = SignedIn::from_request_parts(parts, app).await?;
        match signed_in.operator {
            true => Ok(Operator(signed_in)),
            false => Err(Error::NotOperator.into_response()),
        }
    }
}

impl FromRequestParts<App> for Frame {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Frame, Error> {
        Ok(Frame::of_dashboard(&parts.headers))
    }
}

/// Where to sign in, and to come back from there to the page that was asked for.
fn sign_in_address(parts: &Parts) -> String {
    let path = parts.uri.path();
    match parts.method == Method::GET && is_way_back(path) {
        true => format!("/dashboard/sign-in?next={path}"),
        false => "/dashboard/sign-in".to_owned(),
    }
}

/// Is this a page of the dashboard, so that a link cannot send people elsewhere?
pub fn is_way_back(path: &str) -> bool {
    path.starts_with("/dashboard/")
        && path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_leads_to_the_dashboard_alone() {
        assert!(is_way_back("/dashboard/keys/0190-abc"));
        for bad in [
            "",
            "/dashboard",
            "//evil.example",
            "/dashboard/..//evil",
            "/dashboard/\\evil",
            "https://evil.example/dashboard/",
            "/dashboard/?next=//x",
            "/dashboard/%2f%2fevil",
        ] {
            assert!(!is_way_back(bad), "{bad}");
        }
    }
}
