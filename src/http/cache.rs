//! Answers that may be kept: one tag for each state of the directory, since the answer to an address is made from
//! that state alone.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
// Private: the address holds a key. The tag makes asking again cheap.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// JSON that stands as long as `tag` does; 304 where the caller has it already.
pub fn json(headers: &HeaderMap, tag: Option<&HeaderValue>, body: impl FnOnce() -> Vec<u8>) -> Response {
    let mut response = match tag {
        Some(tag) if is_known(headers, tag) => StatusCode::NOT_MODIFIED.into_response(),
        _ => ([(CONTENT_TYPE, JSON)], body()).into_response(),
    };
    if let Some(tag) = tag {
        response.headers_mut().insert(ETAG, tag.clone());
    }
    response.headers_mut().insert(CACHE_CONTROL, PRIVATE);
    response
}

/// Does `If-None-Match` name the tag? Compared weakly, as RFC 9110 asks for.
pub fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
    headers.get_all(IF_NONE_MATCH).iter().any(|field| {
        field
            .as_bytes()
            .split(|byte| *byte == b',')
            .map(<[u8]>::trim_ascii)
            .any(|known| known == b"*" || opaque(known) == opaque(tag.as_bytes()))
    })
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
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(field));
            assert_eq!(is_known(&headers, &tag), known, "{field}");
        }
    }
}
