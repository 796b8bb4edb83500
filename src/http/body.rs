//! A JSON body, read so that a bad one is told in our own words.

use crate::error::{Error, FieldFault};
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::App;

/// Each value takes many times its bytes in memory, so they are counted before they are read. A description may
/// have as many commas as characters.
const MOST_VALUES: usize = 50_000;
const MIB: usize = 1 << 20;
/// Mebibytes of large bodies that are in memory at once.
const ROOM: usize = 128;

/// The room that large bodies share. One that finds none waits, as long as its request may.
#[derive(Clone, Debug)]
pub struct BodyRoom(Arc<Semaphore>);

impl Default for BodyRoom {
    fn default() -> BodyRoom {
        BodyRoom(Arc::new(Semaphore::new(ROOM)))
    }
}

impl BodyRoom {
    /// Room for a body that says how long it is; for the longest where it does not. Small ones need none.
    async fn take(&self, headers: &HeaderMap, most: usize) -> Option<OwnedSemaphorePermit> {
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let length = length.and_then(|length| length.parse().ok()).unwrap_or(most);
        let share = (length / MIB).min(ROOM) as u32;
        match share {
            0 => None,
            share => Arc::clone(&self.0).acquire_many_owned(share).await.ok(),
        }
    }
}

/// The object that a body holds.
#[derive(Debug)]
pub struct JsonBody {
    pub fields: Map<String, Value>,
    /// SHA-256 of the body as it was sent.
    pub hash: [u8; 32],
    /// Given back with the body.
    pub room: Option<OwnedSemaphorePermit>,
}

impl FromRequest<App> for JsonBody {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<JsonBody, Error> {
        if !is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        let room = app.body_room.take(request.headers(), app.config.max_body).await;
        let bytes = match Bytes::from_request(request, app).await {
            Ok(bytes) => bytes,
            Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_))) => {
                return Err(Error::TooLarge(app.config.max_body));
            }
            Err(_) => return Err(Error::InvalidJson("it stops half way".to_owned())),
        };
        let body = JsonBody::parse(&bytes)?;
        Ok(JsonBody { room, ..body })
    }
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
            Ok(_) => Err(Error::InvalidBody(vec![FieldFault {
                field: "body".to_owned(),
                detail: "send one JSON object".to_owned(),
            }])),
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

    #[tokio::test]
    async fn large_bodies_wait_for_room_and_small_ones_do_not() {
        let room = BodyRoom::default();
        let none = HeaderMap::new();
        let first = room.take(&none, ROOM * MIB).await;
        assert!(first.is_some());
        let small = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static("1000"))]);
        assert!(room.take(&small, ROOM * MIB).await.is_none());
        assert_eq!(room.0.available_permits(), 0);
        drop(first);
        assert!(room.take(&none, 16 * MIB).await.is_some());
    }
}
