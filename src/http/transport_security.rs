//! HTTP Strict Transport Security (RFC 6797): once a browser has seen a response over HTTPS, it uses only HTTPS.
//!
//! Subdomains are not included, because they may be servers of other people, and the browsers' preload list is joined by
//! choice of the operator, in the proxy that terminates TLS.

use axum::http::header::STRICT_TRANSPORT_SECURITY;
use axum::http::{HeaderMap, HeaderValue};

/// One year.
const POLICY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Returns whether people reach this server over HTTPS.
pub fn is_required(public_url: &str) -> bool {
    public_url.starts_with("https://")
}

pub fn add_header(headers: &mut HeaderMap) {
    headers.insert(STRICT_TRANSPORT_SECURITY, POLICY);
}
