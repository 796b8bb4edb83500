//! The `Idempotency-Key` header.

use crate::app::App;
use crate::http::error::Error;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

const HEADER: &str = "idempotency-key";
/// The name that some existing clients send.
const ALIAS: &str = "x-idempotency-key";
const MAX_LENGTH: usize = 255;

/// The key of a request, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(pub Option<String>);

impl FromRequestParts<App> for IdempotencyKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Error> {
        let headers = &parts.headers;
        let mut sent = headers.get_all(HEADER).iter().chain(headers.get_all(ALIAS));
        let Some(first) = sent.next() else {
            return Ok(IdempotencyKey(None));
        };
        let text = first
            .to_str()
            .ok()
            .map(str::trim)
            .filter(|_| sent.next().is_none());
        match text {
            Some(text) if (1..=MAX_LENGTH).contains(&text.len()) => Ok(IdempotencyKey(Some(text.to_owned()))),
            _ => Err(Error::InvalidParameter(
                "Send one Idempotency-Key of 1 to 255 ASCII characters.".into(),
            )),
        }
    }
}
