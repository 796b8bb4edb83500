//! A caller of the real router, who checks on every answer what every answer promises.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use causeway::app::App;
use causeway::http::client::ClientAddress;
use causeway::http::router::router;
use causeway::web::error_page::is_page;
use http_body_util::BodyExt;
use serde_json::Value;
use std::net::IpAddr;
use tower::ServiceExt;

/// Calls an app, with a public key unless told otherwise.
#[derive(Clone)]
pub struct Client {
    router: Router,
    pub key: String,
    /// Where its calls come from.
    address: Option<IpAddr>,
}

/// What came back.
pub struct Answer {
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// Null where the body is no JSON.
    pub json: Value,
}

impl Answer {
    /// A header that must be there.
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

    /// The code of an error.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    /// The nonprofit of a details answer.
    pub fn nonprofit(&self) -> &Value {
        &self.json["data"]["nonprofit"]
    }
}

impl Client {
    pub fn new(app: &App, key: &str) -> Client {
        Client::over(router(app.clone()), key)
    }

    /// A caller of other routes than those of the product.
    pub fn over(router: Router, key: &str) -> Client {
        Client {
            router,
            key: key.to_owned(),
            address: None,
        }
    }

    /// The same caller at an address.
    pub fn at(&self, address: [u8; 4]) -> Client {
        Client {
            address: Some(address.into()),
            ..self.clone()
        }
    }

    /// The same caller with another key.
    pub fn with_key(&self, key: &str) -> Client {
        Client {
            key: key.to_owned(),
            ..self.clone()
        }
    }

    /// The details of a nonprofit; the identifier stands in the path as it is given.
    pub async fn details(&self, expected: u16, identifier: &str) -> Answer {
        self.get(expected, &format!("/v0.2/nonprofit/{identifier}")).await
    }

    /// GET with the key.
    pub async fn get(&self, expected: u16, path: &str) -> Answer {
        self.get_with(expected, path, &[]).await
    }

    /// GET with the key and further headers.
    pub async fn get_with(&self, expected: u16, path: &str, headers: &[(&str, &str)]) -> Answer {
        let joint = if path.contains('?') { '&' } else { '?' };
        let address = format!("{path}{joint}apiKey={}", self.key);
        self.send(expected, &Method::GET, &address, headers).await
    }

    /// GET of an address as it is, without a key.
    pub async fn get_plain(&self, expected: u16, address: &str) -> Answer {
        self.send(expected, &Method::GET, address, &[]).await
    }

    /// GET with the key, whatever the status.
    pub async fn get_any(&self, path: &str) -> (u16, Answer) {
        let joint = if path.contains('?') { '&' } else { '?' };
        let address = format!("{path}{joint}apiKey={}", self.key);
        self.send_any(&Method::GET, &address, &[], Body::empty()).await
    }

    pub async fn send(
        &self,
        expected: u16,
        method: &Method,
        address: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        self.send_body(expected, method, address, headers, Body::empty())
            .await
    }

    pub async fn send_body(
        &self,
        expected: u16,
        method: &Method,
        address: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let (status, answer) = self.send_any(method, address, headers, body).await;
        let shown = String::from_utf8_lossy(&answer.body[..answer.body.len().min(2_000)]).into_owned();
        assert_eq!(status, expected, "{method} {address:.200}: {shown}");
        answer
    }

    /// Whatever answer comes.
    pub async fn send_any(
        &self,
        method: &Method,
        address: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> (u16, Answer) {
        let mut request = Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(body.into()).unwrap();
        if let Some(address) = self.address {
            request.extensions_mut().insert(ClientAddress(address));
        }
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        let json = serde_json::from_slice(&body).unwrap_or_default();
        let answer = Answer {
            headers: parts.headers,
            body,
            json,
        };
        let status = parts.status.as_u16();
        // The health checks stand before all layers.
        if !matches!(address, "/healthz" | "/readyz") {
            self.check_promises(status, method, address, &answer);
        }
        (status, answer)
    }

    fn check_promises(&self, status: u16, method: &Method, address: &str, answer: &Answer) {
        let id = answer.header("x-request-id");
        assert_eq!(id.len(), 16, "{id}");
        let path = address.split('?').next().unwrap_or_default();
        if path == "/v0.2/fundraiser" || path.starts_with("/v0.2/fundraiser/") {
            assert!(!answer.headers.contains_key("access-control-allow-origin"));
        } else if address.starts_with("/v0.2/") {
            assert_eq!(answer.header("access-control-allow-origin"), "*");
            assert!(!answer.headers.contains_key("access-control-allow-credentials"));
            let exposed = answer.header("access-control-expose-headers");
            for name in [
                "RateLimit",
                "RateLimit-Policy",
                "Retry-After",
                "ETag",
                "X-Request-Id",
            ] {
                assert!(
                    exposed.split(", ").any(|field| field == name),
                    "{name} is not in {exposed}"
                );
            }
        }
        // The dashboard shows public keys to their owner.
        if !self.key.is_empty() && !is_page(address) {
            let secret = self.key.as_bytes();
            assert!(
                !answer.body.windows(secret.len()).any(|part| part == secret),
                "the key stands in {address:.200}"
            );
        }
        if is_page(address) {
            check_page(status, method, answer, id);
        } else if status >= 400 && method != Method::HEAD {
            check_problem(status, answer, id);
        }
    }
}

/// What keeps a browser safe, on every page; and an error that offers a way on.
fn check_page(status: u16, method: &Method, answer: &Answer, id: &str) {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("referrer-policy"), "same-origin");
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    if status >= 400 && method != Method::HEAD {
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        let page = answer.text();
        assert!(page.contains("<h1>") && page.contains("href=\"/\""), "{page}");
        assert!(
            page.contains(id) || page.contains("<form") || page.contains("class=\"ways\""),
            "{page}"
        );
    }
}

/// The form of RFC 9457 with our members.
fn check_problem(status: u16, answer: &Answer, id: &str) {
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let problem = &answer.json;
    let text = |name: &str| {
        problem[name]
            .as_str()
            .unwrap_or_else(|| panic!("no {name} in {problem}"))
    };
    assert_eq!(problem["status"], status);
    assert_eq!(text("type"), format!("urn:causeway:error:{}", text("code")));
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
