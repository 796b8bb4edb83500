//! Path and query parameters, read so that a bad one is told in our own words.

use crate::error::Error;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The one parameter of a path, percent-decoded.
#[derive(Debug)]
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) => Ok(PathText(text)),
            Err(PathRejection::FailedToDeserializePathParams(_)) => Err(Error::InvalidParameter(
                "the address is not UTF-8 once it is percent-decoded; encode it as UTF-8".into(),
            )),
            Err(_) => Err(Error::NotFound),
        }
    }
}

/// All values of a query parameter, in order, percent-decoded.
pub fn values<'a>(query: &'a str, name: &'static str) -> impl Iterator<Item = Cow<'a, str>> {
    query.split('&').filter_map(move |pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key) == name).then(|| decode(value))
    })
}

/// As a form is encoded: a plus is a blank. Bytes that are no UTF-8 become the replacement character.
fn decode(text: &str) -> Cow<'_, str> {
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
    fn values_are_decoded_and_come_in_order() {
        let found: Vec<_> = values("a=1&b=x+y%2Cz&a=%C3%A9&a", "a").collect();
        assert_eq!(found, ["1", "é", ""]);
        assert_eq!(values("b=x+y%2Cz", "b").next().unwrap(), "x y,z");
        assert_eq!(values("", "a").next(), None);
    }
}
