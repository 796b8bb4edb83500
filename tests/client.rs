//! An HTTP client of the router that checks the guarantees of every response.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use causeway::app::App;
use causeway::server::routes::{Routes, router};
use causeway::web::error_page::is_page;
use http_body_util::BodyExt;
use listener::ClientAddress;
use serde_json::Value;
use std::net::IpAddr;
use tower::ServiceExt;

/// Sends requests to an app, with a public key where the method name does not say otherwise.
#[derive(Clone)]
pub struct Client {
    router: Routes,
    pub key: String,
    /// The IP address that requests come from.
    ip: Option<IpAddr>,
}

/// A response, read completely.
pub struct Response {
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// The body as JSON, or null if it is not JSON.
    pub json: Value,
}

impl Response {
    /// The value of a header that must be present.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
            .to_str()
            .unwrap()
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The code of a problem, or an empty string.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    /// The nonprofit in a details response.
    pub fn nonprofit(&self) -> &Value {
        &self.json["data"]["nonprofit"]
    }
}

impl Client {
    pub fn new(app: &App, key: &str) -> Client {
        Client::with_router(router(app.clone()), key)
    }

    /// A client of other routes than those of Causeway.
    pub fn with_router(router: Routes, key: &str) -> Client {
        Client {
            router,
            key: key.to_owned(),
            ip: None,
        }
    }

    /// The same client with an IPv4 address.
    pub fn at(&self, ip: [u8; 4]) -> Client {
        self.at_address(ip.into())
    }

    /// The same client with an IP address.
    pub fn at_address(&self, ip: IpAddr) -> Client {
        Client {
            ip: Some(ip),
            ..self.clone()
        }
    }

    /// The same client with another key.
    pub fn with_key(&self, key: &str) -> Client {
        Client {
            key: key.to_owned(),
            ..self.clone()
        }
    }

    /// Gets the details of a nonprofit. The identifier is put into the path without encoding.
    pub async fn details(&self, expected: u16, identifier: &str) -> Response {
        self.get(expected, &format!("/v0.2/nonprofit/{identifier}")).await
    }

    /// Sends a GET request with the key.
    pub async fn get(&self, expected: u16, path: &str) -> Response {
        self.get_with(expected, path, &[]).await
    }

    /// Sends a GET request with the key and more headers.
    pub async fn get_with(&self, expected: u16, path: &str, headers: &[(&str, &str)]) -> Response {
        let separator = if path.contains('?') { '&' } else { '?' };
        let url = format!("{path}{separator}apiKey={}", self.key);
        self.send(expected, &Method::GET, &url, headers).await
    }

    /// Sends a GET request without the key.
    pub async fn get_plain(&self, expected: u16, url: &str) -> Response {
        self.send(expected, &Method::GET, url, &[]).await
    }

    /// Sends a GET request with the key and returns any status.
    pub async fn get_any(&self, path: &str) -> (u16, Response) {
        let separator = if path.contains('?') { '&' } else { '?' };
        let url = format!("{path}{separator}apiKey={}", self.key);
        self.send_any(&Method::GET, &url, &[], Body::empty()).await
    }

    pub async fn send(
        &self,
        expected: u16,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Response {
        self.send_body(expected, method, url, headers, Body::empty())
            .await
    }

    pub async fn send_body(
        &self,
        expected: u16,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response {
        let (status, response) = self.send_any(method, url, headers, body).await;
        let body = String::from_utf8_lossy(&response.body[..response.body.len().min(2_000)]).into_owned();
        assert_eq!(status, expected, "{method} {url:.200}: {body}");
        response
    }

    /// Sends a request and returns any status.
    pub async fn send_any(
        &self,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> (u16, Response) {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(body.into()).unwrap();
        if let Some(ip) = self.ip {
            request.extensions_mut().insert(ClientAddress(ip));
        }
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        let json = serde_json::from_slice(&body).unwrap_or_default();
        let response = Response {
            headers: parts.headers,
            body,
            json,
        };
        let status = parts.status.as_u16();
        // The health checks are answered before all layers.
        if !matches!(url, "/healthz" | "/readyz" | "/readyz/write") {
            self.check_guarantees(status, method, url, &response);
        }
        (status, response)
    }

    fn check_guarantees(&self, status: u16, method: &Method, url: &str, response: &Response) {
        let id = response.header("x-request-id");
        assert_eq!(id.len(), 16, "{id}");
        let path = url.split('?').next().unwrap_or_default();
        let is_webhook = path == "/v0.2/webhook" || path.starts_with("/v0.2/webhook/");
        if matches!(path, "/v0.2/fundraiser" | "/v0.2/match")
            || path.starts_with("/v0.2/fundraiser/")
            || (is_webhook && !path.ends_with("/deliveries"))
        {
            assert!(!response.headers.contains_key("access-control-allow-origin"));
        } else if url.starts_with("/v0.2/") {
            assert_eq!(response.header("access-control-allow-origin"), "*");
            assert!(!response.headers.contains_key("access-control-allow-credentials"));
            let exposed = response.header("access-control-expose-headers");
            for name in [
                "RateLimit",
                "RateLimit-Policy",
                "Retry-After",
                "ETag",
                "X-Request-Id",
            ] {
                assert!(
                    exposed.split(", ").any(|header| header == name),
                    "{name} is missing from {exposed}"
                );
            }
        }
        // The dashboard shows public keys to their owner.
        // A manifest of the reconciliation service has URLs with the key that it was requested with.
        if !self.key.is_empty() && !is_page(path) && path != "/reconcile" {
            let secret = self.key.as_bytes();
            assert!(
                !response.body.windows(secret.len()).any(|part| part == secret),
                "the response contains the key: {url:.200}"
            );
        }
        if is_page(path) {
            check_page(status, method, response, id);
        } else if status >= 400 && method != Method::HEAD {
            // The errors of JSON-RPC have their own form.
            if path != "/mcp" || response.json.get("jsonrpc").is_none() {
                check_problem(status, response, id);
            }
        }
    }
}

/// Checks the security headers of a page, and the links of an error page.
fn check_page(status: u16, method: &Method, response: &Response, id: &str) {
    let policy = response.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert_eq!(response.header("x-content-type-options"), "nosniff");
    let referrer_policy = response.header("referrer-policy");
    assert!(
        matches!(referrer_policy, "same-origin" | "no-referrer"),
        "{referrer_policy}"
    );
    assert!(!response.headers.contains_key("access-control-allow-origin"));
    if status >= 400 && method != Method::HEAD {
        assert_eq!(response.header("content-type"), "text/html; charset=utf-8");
        let page = response.text();
        assert!(page.contains("<h1") && page.contains("href=\"/\""), "{page}");
        assert!(
            page.contains(id) || page.contains("<form") || page.contains("class=\"ways\""),
            "{page}"
        );
    }
}

/// Checks the problem format of RFC 9457 with the extension members.
fn check_problem(status: u16, response: &Response, id: &str) {
    assert_eq!(response.header("content-type"), "application/problem+json");
    let problem = &response.json;
    let text = |name: &str| {
        problem[name]
            .as_str()
            .unwrap_or_else(|| panic!("no {name} in {problem}"))
    };
    assert_eq!(problem["status"], status);
    let anchor = format!("/developers/errors#{}", text("code"));
    assert!(
        text("type").starts_with("http") && text("type").ends_with(&anchor),
        "{problem}"
    );
    assert!(!text("title").is_empty());
    assert!(!text("detail").is_empty());
    assert_eq!(text("message"), text("detail"));
    assert_eq!(text("requestId"), id);
    assert!(
        text("code")
            .bytes()
            .all(|letter| letter.is_ascii_lowercase() || letter == b'_')
    );
    let has_errors = problem["code"] == "invalid_body";
    assert_eq!(problem["errors"].is_array(), has_errors, "{problem}");
    assert_eq!(
        problem.as_object().unwrap().len(),
        7 + usize::from(has_errors),
        "{problem}"
    );
}
