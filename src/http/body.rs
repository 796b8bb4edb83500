//! A JSON body, read so that a bad one is told in our own words.

use crate::app::App;
use crate::app::body_budget::{Owner, Reservation, STEP};
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

/// Each value takes many times its bytes in memory, so they are counted before they are read. A description may
/// have as many commas as characters.
const MOST_VALUES: usize = 50_000;

/// The object that a body holds.
#[derive(Debug)]
pub struct JsonBody {
    pub fields: Map<String, Value>,
    /// SHA-256 of the body as it was sent.
    pub hash: [u8; 32],
    /// Given back with the body.
    pub room: Option<Reservation>,
}

impl FromRequest<App> for JsonBody {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<JsonBody, Error> {
        if !is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        let most = app.config.max_body;
        let longest = declared_length(request.headers()).unwrap_or(most).min(most);
        let room = app.body_budget.enter(owner(&request), longest);
        let bytes = read(request.into_body(), longest, most, &room).await?;
        room.finish();
        let body = JsonBody::parse(&bytes)?;
        Ok(JsonBody {
            room: Some(room),
            ..body
        })
    }
}

/// Whose body it is: of the account that the credentials before it named, and of its address.
fn owner(request: &Request) -> Owner {
    Owner {
        account: request.extensions().get().copied(),
        network: Client::of_request(request.extensions()).network,
    }
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// All bytes of a body that is `longest` by its own word and may have `most`.
async fn read(body: Body, longest: usize, most: usize, room: &Reservation) -> Result<Vec<u8>, Error> {
    let mut parts = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| Error::InvalidJson("it stops half way".to_owned()))?;
        let length = bytes.len() + part.len();
        if length > most {
            return Err(Error::TooLarge(most));
        }
        room.grow_to(length).await;
        if length > STEP {
            // Addresses only: the system gives memory for what is written. Growing later would copy all there is.
            bytes.reserve_exact(longest.max(length) - bytes.len());
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

impl JsonBody {
    fn parse(bytes: &[u8]) -> Result<JsonBody, Error> {
        if memchr::memchr_iter(b',', bytes).count() > MOST_VALUES {
            return Err(Error::InvalidJson("it holds too many values".to_owned()));
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(JsonBody {
                fields,
                hash: Sha256::digest(bytes).into(),
                room: None,
            }),
            Ok(_) => Err(Error::InvalidBody(vec![FieldError::new(
                "body",
                "send one JSON object",
            )])),
            Err(fault) => Err(Error::InvalidJson(fault.to_string())),
        }
    }
}

/// `application/json`, with parameters or without, and what is built on it (RFC 6839).
fn is_json(headers: &HeaderMap) -> bool {
    let named = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = named.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| {
        let essence = essence.trim().to_ascii_lowercase();
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn json_is_told_by_its_media_type() {
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
    fn what_is_no_object_is_told_from_what_is_no_json() {
        assert!(matches!(
            JsonBody::parse(b"[]"),
            Err(Error::InvalidBody(faults)) if faults[0].field == "body"
        ));
        let deep = [b"[".repeat(10_000), b"]".repeat(10_000)].concat();
        for bad in [&b"{"[..], b"", b"{\"a\":NaN}", b"{\"a\":1e999}", b"\xff", &deep] {
            assert!(matches!(JsonBody::parse(bad), Err(Error::InvalidJson(_))));
        }
    }

    #[test]
    fn a_million_values_are_refused_before_they_are_read() {
        let many = format!("{{\"forNonprofits\":[{}0]}}", "0,".repeat(1_000_000));
        assert!(matches!(
            JsonBody::parse(many.as_bytes()),
            Err(Error::InvalidJson(told)) if told.contains("too many values")
        ));
        let commas = format!("{{\"description\":\"{}\"}}", ",".repeat(20_000));
        assert!(JsonBody::parse(commas.as_bytes()).is_ok());
    }
}
