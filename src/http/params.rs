//! Path and query parameters. Invalid ones are rejected with our own problem responses.

use crate::http::error::Error;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};
use std::borrow::Cow;

/// What is percent-encoded in a value: everything but the unreserved characters of RFC 3986.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The one parameter of a path, percent-decoded.
#[derive(Debug)]
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) => Ok(PathText(text)),
            Err(PathRejection::FailedToDeserializePathParams(_)) => Err(not_utf8()),
            Err(_) => Err(Error::NotFound),
        }
    }
}

/// The two parameters of a path, percent-decoded.
#[derive(Debug)]
pub struct PathPair(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathPair {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Path::<(String, String)>::from_request_parts(parts, state).await {
            Ok(Path((first, second))) => Ok(PathPair(first, second)),
            Err(PathRejection::FailedToDeserializePathParams(_)) => Err(not_utf8()),
            Err(_) => Err(Error::NotFound),
        }
    }
}

fn not_utf8() -> Error {
    Error::InvalidParameter("The path is not valid UTF-8 after percent-decoding. Encode it as UTF-8.".into())
}

/// The query of the URL as it was sent.
#[derive(Debug)]
pub struct RawQuery(pub String);

impl<S: Send + Sync> FromRequestParts<S> for RawQuery {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(RawQuery(parts.uri.query().unwrap_or_default().to_owned()))
    }
}

/// Returns a query parameter that is a whole number greater than zero. A number that is too large becomes `usize::MAX`.
pub fn positive(query: &str, name: &'static str) -> Result<Option<usize>, Error> {
    values(query, name)
        .next()
        .map(|value| count(&value, name))
        .transpose()
}

/// Parses the value of a parameter that is a whole number greater than zero, as in [`positive`].
pub fn count(value: &str, name: &'static str) -> Result<usize, Error> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(0) => {}
        Ok(number) if is_number => return Ok(number),
        Err(_) if is_number => return Ok(usize::MAX),
        _ => {}
    }
    Err(Error::InvalidParameter(
        format!("{name} must be a whole number greater than zero.").into(),
    ))
}

/// Returns a query parameter that is on or off; off by default.
pub fn switch(query: &str, name: &'static str) -> Result<bool, Error> {
    values(query, name)
        .next()
        .map_or(Ok(false), |value| is_on(&value, name))
}

/// Parses the value of a parameter that is on or off.
pub fn is_on(value: &str, name: &'static str) -> Result<bool, Error> {
    match value {
        "0" | "false" => Ok(false),
        "1" | "true" => Ok(true),
        _ => Err(Error::InvalidParameter(format!("{name} must be 1 or 0.").into())),
    }
}

/// Returns all values of a query parameter, in order, percent-decoded.
pub fn values<'a>(query: &'a str, name: &'static str) -> impl Iterator<Item = Cow<'a, str>> {
    pairs(query).filter_map(move |(key, value)| (key == name).then(|| decode(value)))
}

/// Returns all query parameters in order, with the name percent-decoded and the value as it was sent.
pub fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    query.split('&').map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key), value)
    })
}

/// Decodes a form-encoded value, in which a plus is a space. Invalid UTF-8 becomes the replacement character.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['+', '%']) {
        return Cow::Borrowed(text);
    }
    let text = text.replace('+', " ");
    Cow::Owned(percent_decode_str(&text).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_whole_number_greater_than_zero() {
        assert_eq!(positive("take=5", "take").unwrap(), Some(5));
        assert_eq!(positive("", "take").unwrap(), None);
        assert_eq!(
            positive("take=99999999999999999999999", "take").unwrap(),
            Some(usize::MAX)
        );
        for bad in [
            "take=0",
            "take=-1",
            "take=1.5",
            "take=x",
            "take=",
            "take=+5",
            "take=%205",
        ] {
            assert!(positive(bad, "take").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_switch_is_on_or_off() {
        assert!(switch("dryRun=1", "dryRun").unwrap());
        assert!(!switch("dryRun=0&x=1", "dryRun").unwrap());
        assert!(!switch("", "dryRun").unwrap());
        for bad in ["dryRun", "dryRun=yes", "dryRun=2"] {
            assert!(switch(bad, "dryRun").is_err(), "{bad}");
        }
    }

    #[test]
    fn values_are_decoded_and_in_order() {
        let found: Vec<_> = values("a=1&b=x+y%2Cz&a=%C3%A9&a", "a").collect();
        assert_eq!(found, ["1", "é", ""]);
        assert_eq!(values("b=x+y%2Cz", "b").next().unwrap(), "x y,z");
        assert_eq!(values("", "a").next(), None);
    }
}
