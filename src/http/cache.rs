//! Answers that may be kept: one tag for each state of the directory, since the answer to an address is made from
//! that state alone.

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use std::convert::Infallible;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
// Private: the address holds a key. The tag makes asking again cheap.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// The tags of answers that the caller has already: `If-None-Match`.
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
    /// Is the tag among them? Compared weakly, as RFC 9110 asks for.
    pub fn matches(&self, tag: &HeaderValue) -> bool {
        let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
        self.0.iter().any(|field| {
            field
                .as_bytes()
                .split(|byte| *byte == b',')
                .map(<[u8]>::trim_ascii)
                .any(|known| known == b"*" || opaque(known) == opaque(tag.as_bytes()))
        })
    }
}

/// JSON that stands as long as `tag` does; 304 where the caller has it already.
pub fn json<B: IntoResponse>(
    if_none_match: &IfNoneMatch,
    tag: Option<&str>,
    body: impl FnOnce() -> B,
) -> Response {
    let tag = tag.and_then(|tag| HeaderValue::from_str(tag).ok());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_alone_in_a_list_weakly_or_by_a_star() {
        let tag = HeaderValue::from_static("\"7-1\"");
        for (field, known) in [
            ("\"7-1\"", true),
            ("\"6-1\", \"7-1\"", true),
            ("W/\"7-1\"", true),
            ("*", true),
            ("\"7-2\"", false),
        ] {
            let fields = IfNoneMatch(vec![HeaderValue::from_static(field)]);
            assert_eq!(fields.matches(&tag), known, "{field}");
        }
    }
}
