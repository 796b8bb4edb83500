//! Sessions: the cookie, and the extractors of signed-in people and operators.

use crate::app::App;
use crate::app::admission::Payer;
use crate::http::agent;
use crate::http::client::Client;
use crate::http::destination::Destination;
use crate::http::error::Error;
use crate::http::routing::charge;
use access::accounts::token::Token;
use access::accounts::two_factor::pending::{self, PendingSignIn};
use access::accounts::verified_password::VerifiedPassword;
use access::sessions::notice::KnownBrowser;
use access::sessions::start::{NewSession, StartOutcome, start};
use access::sessions::{IDLE_LIMIT, SignedIn, store};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use platform::public_url::PublicUrl;
use platform::text::cut;
use std::convert::Infallible;
use std::time::Duration;

/// Milliseconds between two updates of when a session was last seen.
const SEEN_INTERVAL: i64 = 5 * 60 * 1000;
/// How long a browser is recognized after its last sign-in.
const KNOWN_LIFETIME: Duration = Duration::from_hours(365 * 24);
/// What emails call a browser that we do not know.
const UNKNOWN_BROWSER: &str = "Unknown browser";
/// The characters stored of a browser's User-Agent.
const MAX_AGENT_LENGTH: usize = 200;
/// Tells scripts that somebody is signed in. Public pages are cached, so they are the same for everybody.
const MARK_NAME: &str = "causeway_signed_in";

/// A signed-in operator.
#[derive(Clone, Debug)]
pub struct Operator(pub SignedIn);

/// The browser of a request, as the list of sessions shows it.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    agent: String,
    address: String,
    /// The accounts that it was used with before.
    known: KnownBrowser,
    /// Whether this sign-in needs no email: of a new account, or through a link in an email.
    is_expected: bool,
}

impl Browser {
    /// Returns a browser about which the owner of the account needs no email.
    #[must_use]
    pub fn expected(self) -> Browser {
        Browser {
            is_expected: true,
            ..self
        }
    }
}

/// The result of [`begin`].
#[derive(Debug)]
pub enum SignIn {
    /// The cookie of the session.
    Started(CookieJar),
    /// The password has changed since it was checked, or the account was suspended.
    PasswordChanged,
    /// The cookie that stands for the password until the second factor is proven.
    NeedsSecondFactor(CookieJar),
}

/// Starts a session.
pub async fn begin(app: &App, proof: &VerifiedPassword, browser: &Browser) -> Result<SignIn, Error> {
    let token = Token::generate();
    let now = app.clock.millis();
    let account = proof.account;
    let is_known = browser.is_expected || browser.known.knows(&app.secret, account);
    let description = agent::describe(&browser.agent).unwrap_or_else(|| UNKNOWN_BROWSER.to_owned());
    let session = NewSession {
        hash: token.hash(),
        agent: &browser.agent,
        address: &browser.address,
        unknown_browser: (!is_known).then_some(&description),
    };
    let outcome = start(&app.db, app.notices(), proof, session, now).await?;
    let url = &app.site.public_url;
    Ok(match outcome {
        StartOutcome::Started => {
            let known = browser.known.clone().with(&app.secret, account);
            let cookies = CookieJar::new()
                .add(cookie(url, token.expose().to_owned()))
                .add(mark(url))
                .add(known_cookie(url, known.to_text()));
            SignIn::Started(if proof.has_second_factor {
                cookies.add(removal(pending_cookie(url, String::new())))
            } else {
                cookies
            })
        }
        StartOutcome::PasswordChanged => SignIn::PasswordChanged,
        StartOutcome::NeedsSecondFactor => {
            let pending = PendingSignIn::start(&app.secret, proof, now);
            SignIn::NeedsSecondFactor(CookieJar::new().add(pending_cookie(url, pending.to_text())))
        }
    })
}

/// Finds the sign-in of a request that waits for its second factor. It is not proven yet.
pub fn find_pending(app: &App, headers: &HeaderMap) -> Option<PendingSignIn> {
    let jar = CookieJar::from_headers(headers);
    PendingSignIn::parse(jar.get(pending_cookie_name(&app.site.public_url))?.value())
}

/// Ends the session of a request in the store.
pub async fn forget(app: &App, headers: &HeaderMap) -> Result<(), Error> {
    if let Some(token) = token(&app.site.public_url, headers) {
        store::remove(&app.db, token.hash()).await?;
    }
    Ok(())
}

/// Ends the session of a request, in the store and in the browser.
pub async fn end(app: &App, headers: &HeaderMap) -> Result<CookieJar, Error> {
    forget(app, headers).await?;
    let url = &app.site.public_url;
    Ok(CookieJar::new()
        .add(removal(cookie(url, String::new())))
        .add(removal(mark(url))))
}

/// Finds the signed-in account of a request.
pub async fn find(app: &App, headers: &HeaderMap) -> Result<Option<SignedIn>, Error> {
    let Some(token) = token(&app.site.public_url, headers) else {
        return Ok(None);
    };
    let now = app.clock.millis();
    let oldest = now - IDLE_LIMIT.as_millis() as i64;
    let Some((signed_in, seen_at)) = store::find(&app.db, token.hash(), oldest).await? else {
        return Ok(None);
    };
    if now - seen_at > SEEN_INTERVAL {
        store::note_seen(&app.db, token.hash(), now).await?;
    }
    Ok(Some(signed_in))
}

/// With the `__Host-` prefix, browsers accept the cookie only over HTTPS and from this host.
fn cookie_name(public_url: &PublicUrl) -> &'static str {
    if public_url.is_https() {
        "__Host-causeway_session"
    } else {
        "causeway_session"
    }
}

fn pending_cookie_name(public_url: &PublicUrl) -> &'static str {
    if public_url.is_https() {
        "__Host-causeway_sign_in"
    } else {
        "causeway_sign_in"
    }
}

fn cookie(public_url: &PublicUrl, value: String) -> Cookie<'static> {
    secret_cookie(public_url, cookie_name(public_url), value, IDLE_LIMIT)
}

fn pending_cookie(public_url: &PublicUrl, value: String) -> Cookie<'static> {
    secret_cookie(
        public_url,
        pending_cookie_name(public_url),
        value,
        pending::LIFETIME,
    )
}

fn known_cookie_name(public_url: &PublicUrl) -> &'static str {
    if public_url.is_https() {
        "__Host-causeway_browser"
    } else {
        "causeway_browser"
    }
}

fn mark(public_url: &PublicUrl) -> Cookie<'static> {
    let mut mark = secret_cookie(public_url, MARK_NAME, "1".to_owned(), IDLE_LIMIT);
    mark.set_http_only(false);
    mark
}

fn known_cookie(public_url: &PublicUrl, value: String) -> Cookie<'static> {
    secret_cookie(public_url, known_cookie_name(public_url), value, KNOWN_LIFETIME)
}

fn secret_cookie(
    public_url: &PublicUrl,
    name: &'static str,
    value: String,
    lifetime: Duration,
) -> Cookie<'static> {
    Cookie::build((name, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(public_url.is_https())
        .max_age(lifetime.try_into().expect("the lifetime is in range"))
        .build()
}

fn removal(mut cookie: Cookie<'static>) -> Cookie<'static> {
    cookie.make_removal();
    cookie
}

fn token(public_url: &PublicUrl, headers: &HeaderMap) -> Option<Token> {
    let jar = CookieJar::from_headers(headers);
    Token::parse(jar.get(cookie_name(public_url))?.value())
}

impl FromRequestParts<App> for Browser {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Browser, Infallible> {
        let agent = parts
            .headers
            .get(USER_AGENT)
            .and_then(|agent| agent.to_str().ok());
        let client = Client::of_request(&parts.extensions);
        let jar = CookieJar::from_headers(&parts.headers);
        let known = jar.get(known_cookie_name(&app.site.public_url));
        Ok(Browser {
            known: known
                .map(|known| KnownBrowser::parse(known.value()))
                .unwrap_or_default(),
            is_expected: false,
            agent: cut(agent.unwrap_or_default(), MAX_AGENT_LENGTH).to_owned(),
            address: client.address.to_string(),
        })
    }
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, Response> {
        match find(app, &parts.headers).await {
            Ok(Some(signed_in)) => {
                let charged = charge(&parts.extensions, Payer::Account(signed_in.account));
                charged.map(|()| signed_in).map_err(IntoResponse::into_response)
            }
            Ok(None) => Err(
                Redirect::to(&Destination::of_request(parts).add_to("/dashboard/sign-in")).into_response(),
            ),
            Err(error) => Err(error.into_response()),
        }
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Operator, Response> {
        let signed_in = SignedIn::from_request_parts(parts, app).await?;
        if signed_in.operator {
            Ok(Operator(signed_in))
        } else {
            Err(Error::NotOperator.into_response())
        }
    }
}
