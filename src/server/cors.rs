//! A page of any origin may read the interface: it sends no cookies, and the key is in the address. None may write.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// What most addresses take.
const READING: &str = "GET, HEAD, OPTIONS";

/// Is this an address of the interface?
pub fn is_open(path: &str) -> bool {
    path.starts_with("/v0.2/")
}

/// What an address of the interface takes.
pub fn methods_of(path: &str) -> &'static str {
    let mut segments = path.trim_start_matches("/v0.2/").split('/');
    match [segments.next(), segments.next(), segments.next()] {
        [Some("fundraiser"), None, _] | [Some("fundraiser"), _, Some("close" | "reopen")] => "POST, OPTIONS",
        [Some("fundraiser"), Some(_), None] => "PATCH, OPTIONS",
        _ => READING,
    }
}

/// The answer to a browser that asks beforehand what it may send. The wildcard for headers does not cover
/// Authorization, so no page can be made to write with a private key.
pub fn preflight(methods: &'static str) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

/// What every answer of the interface carries for browsers: those of addresses that are read may be seen by pages.
pub fn open(headers: &mut HeaderMap, methods: &str) {
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if methods != READING {
        return;
    }
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("RateLimit, RateLimit-Policy, Retry-After, ETag, Location, X-Request-Id"),
    );
}
