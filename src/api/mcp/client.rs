//! A client of the protocol with its key, and the requests that it makes to the API.

use super::tools::ApiRequest;
use crate::app::App;
use crate::http::client::RequestOrigin;
use crate::http::error::{Problem, Result};
use crate::http::params::pairs;
use crate::http::public_key::{Causes, PublicKey, find_key};
use access::keys::Key;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::sync::Arc;
use tower::ServiceExt;

/// The response to a request.
pub(super) enum Called {
    Body(Value),
    Problem {
        code: &'static str,
        detail: String,
    },
    /// The key was refused, or its limit is exceeded.
    Refused(Box<Response>),
}

/// A client with its key.
pub(super) struct McpClient {
    app: App,
    /// The routes of the API.
    api: Router,
    /// The parameter `apiKey` as it was sent.
    key: String,
    authorization: Option<HeaderValue>,
    /// What the extractors of the API need to know about the client.
    origin: RequestOrigin,
}

impl McpClient {
    /// Creates a client with a public key and, to create fundraisers, a private key.
    pub(super) fn new(app: App, api: Router, public_key: &str, private_key: Option<&str>) -> McpClient {
        let basic = private_key.map(|private| {
            let pair = STANDARD.encode(format!("{public_key}:{private}"));
            HeaderValue::try_from(format!("Basic {pair}")).ok()
        });
        McpClient {
            app,
            api,
            key: format!("apiKey={public_key}"),
            authorization: basic.flatten(),
            origin: RequestOrigin::default(),
        }
    }

    /// Creates the client of a request over HTTP.
    pub(super) fn of_request(app: App, api: Router, parts: &Parts) -> McpClient {
        let query = parts.uri.query().unwrap_or_default();
        let keys = query.split('&').zip(pairs(query));
        let keys: Vec<&str> = keys
            .filter(|(_, (name, _))| name == "apiKey")
            .map(|(pair, _)| pair)
            .collect();
        let authorization = parts.headers.get(AUTHORIZATION).cloned();
        let key = if keys.is_empty() {
            let key = authorization.as_ref().and_then(key_of_header);
            key.map(|key| format!("apiKey={key}")).unwrap_or_default()
        } else {
            keys.join("&")
        };
        McpClient {
            app,
            api,
            key,
            authorization: authorization.filter(|value| scheme(value) == Some("basic")),
            origin: RequestOrigin::of_request(&parts.extensions),
        }
    }
}

/// Returns the lowercase scheme of an `Authorization` header, if it is one that we know.
fn scheme(value: &HeaderValue) -> Option<&'static str> {
    let (scheme, _) = value.to_str().ok()?.split_once(' ')?;
    ["basic", "bearer"]
        .into_iter()
        .find(|known| scheme.eq_ignore_ascii_case(known))
}

/// Returns the public key in an `Authorization` header: the token of Bearer, or the username of Basic.
fn key_of_header(value: &HeaderValue) -> Option<String> {
    let (_, rest) = value.to_str().ok()?.split_once(' ')?;
    let key = if scheme(value)? == "bearer" {
        rest.trim().to_owned()
    } else {
        let pair = STANDARD.decode(rest.trim()).ok()?;
        let pair = String::from_utf8(pair).ok()?;
        pair.split_once(':')?.0.to_owned()
    };
    let is_plain = key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_plain.then_some(key)
}

impl McpClient {
    /// Finds the key of the client, and refuses one that is not valid.
    pub(super) async fn find_key(&self) -> Result<Arc<Key>> {
        find_key(&self.parts(), &self.app).await
    }

    /// Returns the head of a request with the key.
    fn parts(&self) -> Parts {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = format!("/mcp?{}", self.key).parse().unwrap_or_default();
        self.origin.attach(request.extensions_mut());
        request.into_parts().0
    }

    /// Checks the key of a request that is not one to the API, and counts it with the list of causes.
    pub(super) async fn authenticate(&self) -> Result<(), Box<Response>> {
        let mut parts = self.parts();
        let key = PublicKey::<Causes>::from_request_parts(&mut parts, &self.app).await;
        key.map(|_| ()).map_err(|error| Box::new(error.into_response()))
    }

    /// Returns whether the client sent a private key.
    pub(super) fn has_private_key(&self) -> bool {
        self.authorization.is_some()
    }

    /// Sends a request to the API. Returns `None` if the response cannot be read.
    pub(super) async fn call(&self, call: ApiRequest) -> Option<Called> {
        let is_write = call.body.is_some();
        let key = if is_write { "" } else { &self.key };
        let mut request = Request::builder()
            .method(call.method)
            .uri(format!("{}{key}", call.path));
        if is_write {
            request = request.header(CONTENT_TYPE, "application/json");
            if let Some(authorization) = &self.authorization {
                request = request.header(AUTHORIZATION, authorization);
            }
        }
        if let Some(key) = &call.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let mut request = request
            .body(call.body.map_or_else(Body::empty, Body::from))
            .ok()?;
        self.origin.attach(request.extensions_mut());
        let response = self.api.clone().oneshot(request).await.ok()?;
        let status = response.status();
        let is_refused = matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::TOO_MANY_REQUESTS
                | StatusCode::SERVICE_UNAVAILABLE
        );
        if is_refused {
            return Some(Called::Refused(Box::new(response)));
        }
        if let Some(problem) = response.extensions().get::<Problem>() {
            return Some(Called::Problem {
                code: problem.code(),
                detail: problem.detail().to_owned(),
            });
        }
        let body = to_bytes(response.into_body(), usize::MAX).await.ok()?;
        serde_json::from_slice(&body).ok().map(Called::Body)
    }

    pub(super) fn causes(&self) -> &'static directory::nonprofits::causes::Causes {
        self.app.directory.causes()
    }
}
