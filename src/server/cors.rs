//! CORS: pages of any origin may read the API, which uses no cookies and takes the key from the URL. None may write.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// The methods of endpoints that only read.
const READ_METHODS: &str = "GET, HEAD, OPTIONS";

/// What pages of other origins may do at a path of the API.
#[derive(Clone, Copy, Debug)]
pub struct CorsPolicy {
    /// The methods that the path supports.
    methods: &'static str,
}

impl CorsPolicy {
    /// Returns the policy of a path. `None` if it belongs neither to the API nor to a service for other programs.
    pub fn of_path(path: &str) -> Option<CorsPolicy> {
        let first = path.trim_start_matches('/').split('/').next();
        let is_open = matches!(first, Some("v0.2" | "reconcile" | "mcp"));
        is_open.then(|| CorsPolicy {
            methods: methods_of(path),
        })
    }

    /// Returns the response to a preflight request. The wildcard for headers does not cover `Authorization`, so a page
    /// cannot send a private key.
    pub fn preflight(self) -> Response {
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        headers.insert(
            ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static(self.methods),
        );
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
        response
    }

    /// Adds the headers for browsers to a response. Pages may see responses of endpoints that only read.
    pub fn add_headers(self, headers: &mut HeaderMap, status: StatusCode) {
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.methods.starts_with("GET") {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            headers.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static(
                    "RateLimit, RateLimit-Policy, Retry-After, ETag, Location, X-Request-Id",
                ),
            );
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, HeaderValue::from_static(self.methods));
        }
    }
}

/// Returns the methods that a path of the API supports.
fn methods_of(path: &str) -> &'static str {
    match path {
        "/reconcile" => return "GET, HEAD, POST, OPTIONS",
        "/mcp" => return "POST, OPTIONS",
        _ => {}
    }
    let mut segments = path.trim_start_matches("/v0.2/").split('/');
    match [segments.next(), segments.next(), segments.next()] {
        [Some("fundraiser" | "match" | "webhook"), None, _]
        | [Some("fundraiser"), _, Some("close" | "reopen")]
        | [Some("webhook"), _, Some("rotate" | "test" | "enable" | "replay")] => "POST, OPTIONS",
        [Some("webhook"), _, Some("deliveries")] if path.ends_with("/retry") => "POST, OPTIONS",
        // Pages of other origins cannot send a private key, so nothing is lost if they may not see these responses.
        [Some("webhook"), Some(_), None] => "PATCH, DELETE, GET, HEAD, OPTIONS",
        [Some("fundraiser"), Some(_), None] => "PATCH, OPTIONS",
        _ => READ_METHODS,
    }
}
