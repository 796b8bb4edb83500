//! Compresses text with gzip for clients that accept it.
//!
//! A handler decides what may be compressed by returning a [`CompressibleText`]; the outermost layer compresses it. Text
//! that has both a secret and input of others must never be one: its compressed size tells what the secret looks like
//! (BREACH). So pages with the data of a person are sent as they are.

use crate::app::compressible_text::CompressibleText;
use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, InvalidHeaderValue, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// The request header that the encoding of a response depends on.
pub const VARY_BY_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");

/// Shorter text is not compressed: it fits into one packet with the headers.
const MIN_BYTES: usize = 1_024;
/// The same for JSON of the API. Ten search results are shorter, because finding them takes less time than compressing.
const MIN_JSON_BYTES: usize = 16 * 1_024;

impl IntoResponse for CompressibleText {
    fn into_response(self) -> Response {
        let mut response = Body::from(self.plain().clone()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns the body of a response of the API, which is compressed if it is long.
pub fn json_body(json: Vec<u8>) -> Response {
    if json.len() < MIN_JSON_BYTES {
        Body::from(json).into_response()
    } else {
        CompressibleText::once(json).into_response()
    }
}

/// Compresses the body of a response that allows it, if the client accepts that.
pub fn compress(response: &mut Response, is_accepted: bool) {
    let text = response.extensions_mut().remove::<CompressibleText>();
    let Some(text) = text.filter(|text| text.plain().len() >= MIN_BYTES) else {
        return;
    };
    if response.status() != StatusCode::OK {
        return;
    }
    let headers = response.headers_mut();
    headers.append(VARY, VARY_BY_ENCODING);
    if let Some(Ok(tag)) = headers.get(ETAG).map(|tag| weak(tag.as_bytes())) {
        headers.insert(ETAG, tag);
    }
    if is_accepted {
        headers.insert(CONTENT_ENCODING, GZIP);
        headers.remove(CONTENT_LENGTH);
        *response.body_mut() = Body::from(text.gzip());
    }
}

/// Returns an entity tag as a weak one, because a strong one may not name both the plain and the compressed text.
pub fn weak(tag: &[u8]) -> Result<HeaderValue, InvalidHeaderValue> {
    if tag.starts_with(b"W/") {
        return HeaderValue::from_bytes(tag);
    }
    HeaderValue::try_from([b"W/", tag].concat())
}

/// Returns whether `Accept-Encoding` allows gzip (RFC 9110, section 12.5.3). A client that says nothing gets plain text.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let fields = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|field| field.to_str().ok());
    let mut by_star = false;
    for coding in fields.flat_map(|field| field.split(',')) {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f64>);
        let is_accepted = weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0));
        let name = name.trim();
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            return is_accepted;
        }
        by_star |= name == "*" && is_accepted;
    }
    by_star
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_only_to_clients_that_accept_it() {
        for (field, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("*;q=0", false),
            ("*, gzip;q=0", false),
            ("gzip;q=0.0", false),
            ("gzip; q=0.001", true),
            ("gzip;q=nonsense", false),
            ("br, deflate", false),
            ("identity", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(field));
            assert_eq!(accepts_gzip(&headers), expected, "{field}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn both_encodings_have_the_same_weak_tag_and_vary_is_kept() {
        for is_accepted in [true, false] {
            let text = CompressibleText::new("a".repeat(MIN_BYTES));
            let mut response = ([(ETAG, "\"1\""), (VARY, "cookie")], text).into_response();
            compress(&mut response, is_accepted);
            let headers = response.headers();
            assert_eq!(headers[ETAG], "W/\"1\"");
            let vary: Vec<_> = headers.get_all(VARY).iter().collect();
            assert_eq!(vary, ["cookie", "accept-encoding"]);
            assert_eq!(headers.contains_key(CONTENT_ENCODING), is_accepted);
        }
    }

    #[test]
    fn short_text_and_errors_are_sent_as_they_are() {
        let short = CompressibleText::new("a".repeat(MIN_BYTES - 1)).into_response();
        let error = (
            StatusCode::NOT_FOUND,
            CompressibleText::new("a".repeat(2 * MIN_BYTES)),
        );
        for mut response in [
            short,
            error.into_response(),
            json_body(vec![b'1'; MIN_JSON_BYTES - 1]),
        ] {
            compress(&mut response, true);
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
            assert!(!response.headers().contains_key(VARY));
        }
    }
}
