//! The responses to requests that the listener refuses before they reach the router.
//!
//! Like every other error they are problem+json (RFC 9457) with a request ID.

use super::request_id::{RequestId, X_REQUEST_ID};
use super::transport_security;
use axum::http::{HeaderValue, Response, StatusCode, header};
use listener::Refuse;

/// Returns the function that builds refusals for a server at `public_url`.
pub fn refusals(public_url: &str) -> Refuse {
    if transport_security::is_required(public_url) {
        secure_refusal
    } else {
        refusal
    }
}

/// Returns a refusal that tells browsers to use HTTPS only.
fn secure_refusal(status: StatusCode) -> Response<String> {
    let mut response = refusal(status);
    transport_security::add_header(response.headers_mut());
    response
}

/// Returns the response to a request that is refused with `status`.
pub fn refusal(status: StatusCode) -> Response<String> {
    let id = RequestId::next();
    let mut response = Response::new(problem(status, &id));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    headers.insert(
        X_REQUEST_ID,
        HeaderValue::from_str(id.as_str()).expect("a request ID is visible ASCII"),
    );
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn problem(status: StatusCode, id: &RequestId) -> String {
    let (code, detail) = match status {
        StatusCode::URI_TOO_LONG => ("uri_too_long", "The URL is too long. Send at most 64 KiB."),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => (
            "headers_too_large",
            "The headers are too large. Send at most 100 header fields and 64 KiB, including the URL.",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "unavailable",
            "The response took too long. Try again in a moment.",
        ),
        _ => (
            "invalid_request",
            "The request could not be parsed. Send a well-formed HTTP request.",
        ),
    };
    let title = status.canonical_reason().unwrap_or("Refused");
    let number = status.as_u16();
    // The listener knows no public URL. Relative to the URL of the request, this is the page on the same server.
    format!(
        r#"{{"type":"/developers/errors#{code}","title":"{title}","status":{number},"detail":"{detail}","code":"{code}","message":"{detail}","requestId":"{id}"}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_refusal_is_a_problem_with_a_request_id() {
        for (status, code) in [
            (StatusCode::BAD_REQUEST, "invalid_request"),
            (StatusCode::URI_TOO_LONG, "uri_too_long"),
            (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large"),
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        ] {
            let response = refusal(status);
            assert_eq!(response.status(), status);
            assert_eq!(
                response.headers()[header::CONTENT_TYPE],
                "application/problem+json"
            );
            let problem: Value = serde_json::from_str(response.body()).unwrap();
            assert_eq!(problem["status"], status.as_u16());
            assert_eq!(problem["code"], code);
            assert_eq!(problem["type"], format!("/developers/errors#{code}"));
            assert_eq!(
                problem["requestId"].as_str().unwrap(),
                response.headers()["x-request-id"]
            );
        }
    }

    #[test]
    fn with_an_https_public_url_a_refusal_tells_browsers_to_use_https() {
        for (public_url, is_secure) in [("https://example.org", true), ("http://127.0.0.1:8080", false)] {
            let refusal = refusals(public_url)(StatusCode::BAD_REQUEST);
            let headers = refusal.headers();
            assert_eq!(headers.contains_key(header::STRICT_TRANSPORT_SECURITY), is_secure);
        }
    }

    #[test]
    fn only_a_timeout_says_when_to_try_again() {
        assert_eq!(
            refusal(StatusCode::SERVICE_UNAVAILABLE).headers()[header::RETRY_AFTER],
            "1"
        );
        assert!(
            !refusal(StatusCode::BAD_REQUEST)
                .headers()
                .contains_key(header::RETRY_AFTER)
        );
    }
}
