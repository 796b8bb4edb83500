//! Conditional requests: JSON responses with an entity tag, and 304 for clients that have the current version.
//!
//! A response made from the directory alone has the tag of the state of the directory.

use crate::http::compression;
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use platform::text::hex;
use sha2::{Digest, Sha256};
use std::convert::Infallible;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
// Private, because the URL contains a key. With the entity tag, checking for changes is cheap.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// The `If-None-Match` header: the entity tags of the responses that the client has.
#[derive(Debug, Default)]
pub struct IfNoneMatch(Vec<HeaderValue>);

impl<S: Send + Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<IfNoneMatch, Infallible> {
        Ok(IfNoneMatch(
            parts.headers.get_all(IF_NONE_MATCH).iter().cloned().collect(),
        ))
    }
}

impl IfNoneMatch {
    /// Returns whether `tag` is one of the tags, in the weak comparison of RFC 9110.
    pub fn matches(&self, tag: &HeaderValue) -> bool {
        let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
        self.0.iter().any(|field| {
            field
                .as_bytes()
                .split(|byte| *byte == b',')
                .map(<[u8]>::trim_ascii)
                .any(|listed| listed == b"*" || opaque(listed) == opaque(tag.as_bytes()))
        })
    }
}

/// Returns a JSON response with the entity tag `tag`, or 304 if the client has it. The tag becomes a weak one, because long
/// responses are compressed for some clients.
pub fn json<B: IntoResponse>(
    if_none_match: &IfNoneMatch,
    tag: Option<&str>,
    body: impl FnOnce() -> B,
) -> Response {
    let tag = tag.and_then(|tag| compression::weak(tag.as_bytes()).ok());
    let mut response = match &tag {
        Some(tag) if if_none_match.matches(tag) => StatusCode::NOT_MODIFIED.into_response(),
        _ => ([(CONTENT_TYPE, JSON)], body()).into_response(),
    };
    if let Some(tag) = tag {
        response.headers_mut().insert(ETAG, tag);
    }
    response.headers_mut().insert(CACHE_CONTROL, PRIVATE);
    response
}

/// Returns a JSON response whose entity tag is a hash of its body.
pub fn hashed_json(if_none_match: &IfNoneMatch, body: Vec<u8>) -> Response {
    let tag = hash_tag(&body);
    json(if_none_match, Some(&tag), || body)
}

/// Returns an entity tag that is a hash of the body.
pub fn hash_tag(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    format!("\"{}\"", hex(&digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_matches_alone_in_a_list_weakly_and_by_a_star() {
        let tag = HeaderValue::from_static("\"7-1\"");
        for (field, expected) in [
            ("\"7-1\"", true),
            ("\"6-1\", \"7-1\"", true),
            ("W/\"7-1\"", true),
            ("*", true),
            ("\"7-2\"", false),
        ] {
            let if_none_match = IfNoneMatch(vec![HeaderValue::from_static(field)]);
            assert_eq!(if_none_match.matches(&tag), expected, "{field}");
        }
    }
}
