//! The answers to requests that never reach the service.
//!
//! A head that cannot be read (malformed, too long) is answered by the protocol library with a bare status. The
//! stream puts the caller's fields and body in on the way out.

use hyper::{Response, StatusCode};

/// Makes the answer to a request that the listener refuses with `status`.
///
/// Where the protocol library has refused the request itself, only the fields and the body are sent: the status
/// and the length are already on their way.
pub type Refuse = fn(StatusCode) -> Response<String>;

const EMPTY: &[u8] = b"content-length: 0\r\n";

/// The bare answer `bytes` with its body, or nothing where these are not the bytes of a bare refusal.
pub(super) fn complete(bytes: &[u8], refuse: Refuse) -> Option<Vec<u8>> {
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

    let (parts, body) = refuse(status).into_parts();
    let mut whole = bytes[..start].to_vec();
    for (name, value) in &parts.headers {
        whole.extend_from_slice(name.as_ref());
        whole.extend_from_slice(b": ");
        whole.extend_from_slice(value.as_bytes());
        whole.extend_from_slice(b"\r\n");
    }
    whole.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    whole.extend_from_slice(&bytes[start + EMPTY.len()..]);
    whole.extend_from_slice(body.as_bytes());
    Some(whole)
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
    use hyper::header::{CONTENT_TYPE, HeaderValue};

    fn refuse(status: StatusCode) -> Response<String> {
        let mut response = Response::new(format!("refused with {}", status.as_u16()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        headers.insert("x-request-id", HeaderValue::from_static("1"));
        response
    }

    #[test]
    fn a_bare_refusal_gets_the_fields_and_the_body_of_the_caller() {
        let bare =
            b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let whole = String::from_utf8(complete(bare, refuse).unwrap()).unwrap();
        assert_eq!(
            whole,
            "HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-type: text/plain\r\nx-request-id: 1\r\n\
             content-length: 16\r\ndate: now\r\n\r\nrefused with 414"
        );
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
            assert_eq!(complete(bytes, refuse), None);
        }
    }
}
