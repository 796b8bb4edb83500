//! The words for requests that never reach the router.
//!
//! A head that cannot be read (malformed, too long) is answered by the protocol library with a bare status. Every
//! error of ours is problem+json (RFC 9457), so the stream puts the body in on the way out.

use crate::http::request_id::RequestId;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

const PROBLEM: &str = "application/problem+json";
const EMPTY: &[u8] = b"content-length: 0\r\n";

/// The bare answer `bytes` with its body, or nothing where these are not the bytes of a bare refusal.
pub(super) fn complete(bytes: &[u8]) -> Option<Vec<u8>> {
    let status = bytes
        .strip_prefix(b"HTTP/1.1 ")
        .or_else(|| bytes.strip_prefix(b"HTTP/1.0 "))?;
    let status = StatusCode::from_bytes(status.get(..3)?)
        .ok()
        .filter(StatusCode::is_client_error)?;
    let rest = bytes
        .strip_suffix(b"\r\n\r\n")
        .filter(|head| !contains(head, b"\r\n\r\n"))?;
    let start = find(rest, EMPTY)?;

    let id = RequestId::next();
    let body = problem(status, id);
    let fields = format!(
        "content-type: {PROBLEM}\r\nx-request-id: {id}\r\ncontent-length: {}\r\n",
        body.len()
    );
    Some(
        [
            &bytes[..start],
            fields.as_bytes(),
            &bytes[start + EMPTY.len()..],
            body.as_bytes(),
        ]
        .concat(),
    )
}

/// The answer for a request that outlived even the router's own deadline.
pub(super) fn overdue() -> Response {
    let mut response = problem_response(StatusCode::SERVICE_UNAVAILABLE);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// An answer that does not come from the router.
pub(super) fn problem_response(status: StatusCode) -> Response {
    let id = RequestId::next();
    let mut response = Response::new(Body::from(problem(status, id)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    headers.insert(
        "x-request-id",
        HeaderValue::from_str(id.as_str()).expect("an id is visible ASCII"),
    );
    response
}

fn problem(status: StatusCode, id: RequestId) -> String {
    let (code, detail) = match status {
        StatusCode::URI_TOO_LONG => (
            "uri_too_long",
            "Send a shorter address: it may have at most 64 KiB.",
        ),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => (
            "headers_too_large",
            "Send a shorter address and fewer header fields: at most 64 KiB and 100 fields.",
        ),
        StatusCode::SERVICE_UNAVAILABLE => {
            ("unavailable", "The answer took too long. Try again in a moment.")
        }
        _ => (
            "invalid_request",
            "Send a well-formed HTTP request: this one could not be read.",
        ),
    };
    let title = status.canonical_reason().unwrap_or("Refused");
    let number = status.as_u16();
    format!(
        r#"{{"type":"about:blank","title":"{title}","status":{number},"detail":"{detail}","code":"{code}","message":"{detail}","requestId":"{id}"}}"#
    )
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    find(bytes, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_refusal_gets_a_problem_for_a_body() {
        let bare =
            b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let whole = String::from_utf8(complete(bare).unwrap()).unwrap();
        let (head, body) = whole.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(
            "HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-type: application/problem+json"
        ));
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())));
        assert!(head.ends_with("date: now"));
        assert!(body.contains(r#""status":414"#) && body.contains(r#""code":"uri_too_long""#));
    }

    #[test]
    fn other_bytes_are_left_alone() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\n\r\nbad",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
            b"HTTP/1.1 4",
            b"content-length: 0\r\n\r\n",
            b"",
        ] {
            assert_eq!(complete(bytes), None);
        }
    }
}
