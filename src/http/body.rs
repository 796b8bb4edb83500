//! Reads request bodies, and the extractor of JSON request bodies.
//!
//! Invalid bodies are rejected with our own problem responses, and large ones reserve memory from the shared budget.

use crate::app::App;
use crate::app::body_budget::{BLOCK_BYTES, BodyBudget, Owner, Reservation};
use crate::http::client::Client;
use crate::http::error::Error;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use futures_util::StreamExt;
use platform::field_error::FieldError;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The maximum number of values in a body, estimated by its commas before it is parsed.
///
/// A parsed value takes many times its bytes in memory. A long description may contain many commas.
const MAX_VALUES: usize = 50_000;

/// A request body that is a JSON object.
#[derive(Debug)]
pub struct JsonBody {
    pub fields: Map<String, Value>,
    /// The SHA-256 of the body as it was sent.
    pub hash: [u8; 32],
    /// The memory of the body, released when the body is dropped.
    pub reservation: Option<Reservation>,
}

impl FromRequest<App> for JsonBody {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<JsonBody, Error> {
        if !is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        let (bytes, reservation) = read_reserved(request, app).await?;
        let body = JsonBody::parse(&bytes)?;
        Ok(JsonBody {
            reservation: Some(reservation),
            ..body
        })
    }
}

/// Reads a body of any kind, and the memory that is reserved for it as long as the reservation lives.
pub async fn read_reserved(request: Request, app: &App) -> Result<(Vec<u8>, Reservation), Error> {
    let max = app.config.max_body;
    let declared = declared_length(request.headers()).unwrap_or(max).min(max);
    let owner = owner(&request);
    read(request.into_body(), declared, max, &app.body_budget, owner).await
}

/// Returns the account that the credentials named, if any, and the network of the client.
fn owner(request: &Request) -> Owner {
    Owner {
        account: request.extensions().get().copied(),
        network: Client::of_request(request.extensions()).network,
    }
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body of `declared` bytes, and at most `max`.
async fn read(
    body: Body,
    declared: usize,
    max: usize,
    budget: &BodyBudget,
    owner: Owner,
) -> Result<(Vec<u8>, Reservation), Error> {
    let mut parts = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut reservation = None;
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| Error::InvalidJson("it ends too early".to_owned()))?;
        let length = bytes.len() + part.len();
        if length > max {
            return Err(Error::TooLarge(max));
        }
        // Before this, a body that only declares a large size would use up the budget.
        if length > BLOCK_BYTES && reservation.is_none() {
            reservation = Some(budget.reserve(owner, declared.max(length)).await);
            // Reserves address space once, so that the buffer is not copied as it grows. The system provides memory
            // only for the bytes that are written.
            bytes.reserve_exact(declared.max(length) - bytes.len());
        }
        bytes.extend_from_slice(&part);
    }
    Ok((bytes, reservation.unwrap_or_default()))
}

impl JsonBody {
    fn parse(bytes: &[u8]) -> Result<JsonBody, Error> {
        if memchr::memchr_iter(b',', bytes).count() > MAX_VALUES {
            return Err(Error::InvalidJson("it has too many values".to_owned()));
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(JsonBody {
                fields,
                hash: Sha256::digest(bytes).into(),
                reservation: None,
            }),
            Ok(_) => Err(Error::InvalidBody(vec![FieldError::new(
                "body",
                "send one JSON object",
            )])),
            Err(error) => Err(Error::InvalidJson(error.to_string())),
        }
    }
}

/// Returns whether the media type is `application/json`, or ends with `+json` (RFC 6839).
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| {
        let essence = essence.trim().to_ascii_lowercase();
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use axum::http::HeaderValue;
    use futures_util::{FutureExt, stream};
    use listener::client_network;
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_body_reserves_memory_when_it_outgrows_its_first_block() {
        let max = 16 << 20;
        let budget = BodyBudget::new(max);
        let owner = Owner {
            account: None,
            network: client_network([192, 0, 2, 1].into()),
        };
        // More bodies than fit declare the maximum, send one block and stall.
        let stalled: Vec<_> = (0..20)
            .map(|_| {
                let sent = Ok::<_, Infallible>(Bytes::from(vec![0; BLOCK_BYTES]));
                let body = Body::from_stream(stream::iter([sent]).chain(stream::pending()));
                let mut body = Box::pin(read(body, max, max, &budget, owner));
                assert!(body.as_mut().now_or_never().is_none());
                body
            })
            .collect();
        let large = || read(Body::from(vec![0; max]), max, max, &budget, owner).now_or_never();
        let read: Vec<_> = (0..20).filter_map(|_| large()).collect();
        assert_eq!(read.len(), 4);
        drop((stalled, read));
        assert!(large().is_some());
    }

    #[test]
    fn json_is_recognized_by_its_media_type() {
        for (value, json) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/vnd.x+json", true),
            ("text/plain", false),
            ("application/jsonp", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
            assert_eq!(is_json(&headers), json, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn a_body_that_is_not_an_object_and_one_that_is_not_json_get_different_errors() {
        assert!(matches!(
            JsonBody::parse(b"[]"),
            Err(Error::InvalidBody(errors)) if errors[0].field == "body"
        ));
        let deep = [b"[".repeat(10_000), b"]".repeat(10_000)].concat();
        for bad in [&b"{"[..], b"", b"{\"a\":NaN}", b"{\"a\":1e999}", b"\xff", &deep] {
            assert!(matches!(JsonBody::parse(bad), Err(Error::InvalidJson(_))));
        }
    }

    #[test]
    fn a_body_with_a_million_values_is_rejected() {
        let many = format!("{{\"forNonprofits\":[{}0]}}", "0,".repeat(1_000_000));
        assert!(matches!(
            JsonBody::parse(many.as_bytes()),
            Err(Error::InvalidJson(detail)) if detail.contains("too many values")
        ));
        let commas = format!("{{\"description\":\"{}\"}}", ",".repeat(20_000));
        assert!(JsonBody::parse(commas.as_bytes()).is_ok());
    }
}
