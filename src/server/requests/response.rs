//! Completes every response with common headers and, for errors, a body. Answers some requests without a handler.

use super::facts::RequestFacts;
use crate::http::body::declared_length;
use crate::http::compression;
use crate::http::error::{Error, Problem};
use crate::http::rate_limit::write_rate_limit_headers;
use crate::http::request_id::{RequestId, X_REQUEST_ID};
use crate::http::transport_security;
use crate::web::{error_page, guard};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};

/// Returns the response to a CORS preflight, or to a request whose declared length is too large.
pub(super) fn respond_early(facts: &RequestFacts, headers: &HeaderMap) -> Option<Response> {
    if let Some(cors) = facts.cors
        && facts.method == Method::OPTIONS
    {
        return Some(cors.preflight());
    }
    let max = facts.app.config.max_body;
    let is_too_large = declared_length(headers).is_some_and(|length| length > max as u64);
    is_too_large.then(|| Error::TooLarge(max).into_response())
}

/// Writes the body of an error: a page for people, and a problem for programs.
pub(super) fn write_problem(facts: &RequestFacts, response: &mut Response) {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else {
        return;
    };
    if facts.is_page {
        write_error_page(&problem, response, &facts.id);
    } else {
        problem.write(response, &facts.id, facts.app.site.urls.public());
    }
}

fn write_error_page(problem: &Problem, response: &mut Response, request: &RequestId) {
    *response.body_mut() = error_page::render(problem.status(), problem.detail(), request).into();
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
}

/// Writes the headers that a response has because of its path and not because of its handler.
pub(super) fn write_headers(facts: &RequestFacts, response: &mut Response) {
    let status = response.status();
    let headers = response.headers_mut();
    let id = HeaderValue::from_str(facts.id.as_str()).expect("a request ID is visible ASCII");
    headers.insert(X_REQUEST_ID, id);
    if transport_security::is_required(&facts.app.config.public_url) {
        transport_security::add_header(headers);
    }
    if let Some(cors) = facts.cors {
        cors.add_headers(headers, status);
    }
    if facts.is_page {
        guard::add_headers(headers);
    }
    if let Some((class, decision)) = facts.record.limit.get() {
        write_rate_limit_headers(headers, class.name(), decision);
    }
    compression::compress(response, facts.accepts_gzip);
}
