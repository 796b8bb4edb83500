//! `POST /mcp`: one message over HTTP.

use super::client::McpClient;
use super::protocol::{self, MirroredHeaders, Reply};
use crate::app::App;
use crate::app::admission::Payer;
use crate::http::body;
use crate::http::error::{Error, Result};
use crate::http::routing::charge;
use axum::Router;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// `POST /mcp`: one message. Nobody makes the server read one without a key.
pub async fn post(app: App, api: Router, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    check_origin(&app, &parts.headers)?;
    let client = McpClient::of_request(app, api, &parts);
    let key = client.find_key().await?;
    charge(&parts.extensions, Payer::Key(key.id))?;
    let text = |name: &str| {
        let value = parts.headers.get(name)?.to_str().ok()?;
        Some(value.trim().to_owned())
    };
    let headers = MirroredHeaders {
        version: text("mcp-protocol-version"),
        method: text("mcp-method"),
        name: text("mcp-name"),
    };
    let message = body::read(Request::from_parts(parts, body)).await?;
    body::check_values(&message)?;
    Ok(
        match protocol::answer_bytes(&message, Some(&headers), &client).await {
            Reply::Message(status, message) => {
                let headers = [
                    (CONTENT_TYPE, HeaderValue::from_static("application/json")),
                    (CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
                ];
                (status, headers, message.to_string()).into_response()
            }
            Reply::Accepted => StatusCode::ACCEPTED.into_response(),
            Reply::Refused(response) => *response,
        },
    )
}

/// Refuses pages of other origins, so that a page cannot use the server of a visitor by rebinding its own name to it.
///
/// Pages of this server and pages on the machine of the visitor, such as inspectors, may use it.
fn check_origin(app: &App, headers: &HeaderMap) -> Result<()> {
    let Some(origin) = headers.get(ORIGIN) else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or_default();
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    let is_own =
        app.site.urls.public() == origin || app.site.urls.public().starts_with(&format!("{origin}/"));
    let name = if host.ends_with(']') {
        host
    } else {
        host.rsplit_once(':').map_or(host, |(name, _)| name)
    };
    if is_own || matches!(name, "localhost" | "127.0.0.1" | "[::1]") {
        Ok(())
    } else {
        Err(Error::ForeignOrigin)
    }
}
