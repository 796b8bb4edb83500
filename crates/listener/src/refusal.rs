//! Completes the responses to requests that never reach the service.
//!
//! hyper answers a request head that it cannot parse, or that is too long, with a status and an empty body. The
//! connection's stream replaces these bytes with a response that has the header fields and the body of the caller's
//! choice.

use hyper::{Response, StatusCode};

/// The field in the head of a response with an empty body.
const EMPTY_BODY_FIELD: &[u8] = b"content-length: 0\r\n";

/// Builds the response to a request that the listener refuses with `status`.
///
/// If hyper has refused the request, only the header fields and the body are used. They must not include
/// `content-length`.
pub type Refuse = fn(StatusCode) -> Response<String>;

/// Adds fields and a body to the refusal that hyper sends, or returns `None` if `bytes` are not such a refusal.
pub(crate) fn complete(bytes: &[u8], refuse: Refuse) -> Option<Vec<u8>> {
    let status = bytes
        .strip_prefix(b"HTTP/1.1 ")
        .or_else(|| bytes.strip_prefix(b"HTTP/1.0 "))?;
    let status = StatusCode::from_bytes(status.get(..3)?)
        .ok()
        .filter(StatusCode::is_client_error)?;
    let head = bytes.strip_suffix(b"\r\n\r\n")?;
    if find(head, b"\r\n\r\n").is_some() {
        return None;
    }
    let field_start = find(head, EMPTY_BODY_FIELD)?;
    let field_end = field_start + EMPTY_BODY_FIELD.len();

    let (parts, body) = refuse(status).into_parts();
    let mut response = bytes[..field_start].to_vec();
    for (name, value) in &parts.headers {
        response.extend_from_slice(name.as_ref());
        response.extend_from_slice(b": ");
        response.extend_from_slice(value.as_bytes());
        response.extend_from_slice(b"\r\n");
    }
    response.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    response.extend_from_slice(&bytes[field_end..]);
    response.extend_from_slice(body.as_bytes());
    Some(response)
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{CONTENT_TYPE, HeaderValue};

    fn refuse(status: StatusCode) -> Response<String> {
        let mut response = Response::new(format!("refused with {}", status.as_u16()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        headers.insert("x-request-id", HeaderValue::from_static("1"));
        response
    }

    #[test]
    fn a_refusal_gets_fields_and_a_body() {
        let refusal =
            b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        assert_eq!(
            String::from_utf8(complete(refusal, refuse).unwrap()).unwrap(),
            "HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-type: text/plain\r\nx-request-id: 1\r\n\
             content-length: 16\r\ndate: now\r\n\r\nrefused with 414"
        );
    }

    #[test]
    fn other_bytes_are_not_changed() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\n\r\nbad",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
            b"HTTP/1.1 4",
            b"content-length: 0\r\n\r\n",
            b"",
        ] {
            assert_eq!(complete(bytes, refuse), None);
        }
    }
}
