//! Reads request bodies, and the extractor of JSON request bodies.
//!
//! Invalid bodies are rejected with our own problem responses. Every body is counted by admission control as it arrives,
//! so nothing else may read one.

use crate::app::App;
use crate::app::admission::Admission;
use crate::http::error::Error;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use futures_util::StreamExt;
use platform::field_error::FieldError;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The maximum number of values in a body, estimated by its commas before it is parsed.
///
/// A parsed value takes many times its bytes in memory. A long description may contain many commas.
const MAX_VALUES: usize = 50_000;
/// The size of the blocks to which a body is copied, unless it is shorter or a larger part of it arrives at once.
const BLOCK_SIZE: usize = 16 * 1024;

/// A request body that is a JSON object.
#[derive(Debug)]
pub struct JsonBody {
    pub fields: Map<String, Value>,
    /// The SHA-256 of the body as it was sent.
    pub hash: [u8; 32],
}

impl FromRequest<App> for JsonBody {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<JsonBody, Error> {
        if !is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        JsonBody::parse(&read(request).await?)
    }
}

/// Reads the body of a request that was admitted. Its memory counts until the response is ready.
pub async fn read(request: Request) -> Result<Vec<u8>, Error> {
    let admission = request.extensions().get::<Arc<Admission>>().cloned();
    let Some(admission) = admission else {
        tracing::error!("a route without a body in its cost reads one");
        return Err(Error::Internal);
    };
    let max = admission.max_body();
    let declared = declared_length(request.headers()).map_or(max, |length| length.min(max as u64) as usize);
    tokio::select! {
        biased;
        overload = admission.cut() => Err(overload.into()),
        bytes = receive(request.into_body(), declared, &admission) => bytes,
    }
}

/// Returns the length that the headers declare.
pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Copies the parts of a body as they arrive: a part refers to the buffer of its connection, which may be much larger.
///
/// They are copied to blocks. If each body were one buffer that grows, a thousand bodies that arrive slowly would leave all
/// the buffers that they outgrew with the allocator, which takes as much memory again as the bodies themselves.
async fn receive(body: Body, declared: usize, admission: &Admission) -> Result<Vec<u8>, Error> {
    let max = admission.max_body();
    let mut parts = body.into_data_stream();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let (mut length, mut capacity) = (0, 0);
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| Error::InvalidJson("it ends too early".to_owned()))?;
        let room = blocks.last().map_or(0, |block| block.capacity() - block.len());
        let (first, rest) = part.split_at(room.min(part.len()));
        let expected = declared.saturating_sub(length + first.len());
        length += part.len();
        if length > max {
            return Err(Error::TooLarge(max));
        }
        let new = match rest.len() {
            0 => 0,
            needed => needed.max(expected.min(BLOCK_SIZE)),
        };
        capacity += new;
        admission.receive(part.len(), capacity)?;
        if let Some(block) = blocks.last_mut() {
            block.extend_from_slice(first);
        }
        if new > 0 {
            let mut block = Vec::with_capacity(new);
            block.extend_from_slice(rest);
            blocks.push(block);
        }
    }
    admission.complete_body()?;
    Ok(join(blocks, length))
}

/// Returns the content of all blocks. Each is freed when it was copied.
fn join(mut blocks: Vec<Vec<u8>>, length: usize) -> Vec<u8> {
    if blocks.len() <= 1 {
        return blocks.pop().unwrap_or_default();
    }
    let mut bytes = Vec::with_capacity(length);
    for block in blocks {
        bytes.extend_from_slice(&block);
    }
    bytes
}

impl JsonBody {
    fn parse(bytes: &[u8]) -> Result<JsonBody, Error> {
        check_values(bytes)?;
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(JsonBody {
                fields,
                hash: Sha256::digest(bytes).into(),
            }),
            Ok(_) => Err(Error::InvalidBody(vec![FieldError::new(
                "body",
                "send one JSON object",
            )])),
            Err(error) => Err(Error::InvalidJson(error.to_string())),
        }
    }
}

/// Checks that a JSON text does not have too many values.
pub fn check_values(bytes: &[u8]) -> Result<(), Error> {
    if memchr::memchr_iter(b',', bytes).count() > MAX_VALUES {
        return Err(Error::InvalidJson("it has too many values".to_owned()));
    }
    Ok(())
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
    use crate::app::admission::{AdmissionControl, Cost};
    use crate::config::AdmissionSettings;
    use axum::body::Bytes;
    use axum::http::HeaderValue;
    use futures_util::{FutureExt, stream};
    use listener::client_network;
    use platform::clock::Clock;
    use std::convert::Infallible;

    #[test]
    fn a_body_counts_as_it_arrives_and_a_slower_one_is_cut_for_it() {
        let max = 1 << 20;
        let settings = AdmissionSettings {
            max_body_memory: 2 * max,
            max_heavy_requests: 1,
        };
        let control = AdmissionControl::new(settings, max, Clock::default());
        let send = |address: u8, body: Body| {
            let mut request = Request::new(body);
            request.headers_mut().insert(CONTENT_LENGTH, max.into());
            let admission = control.admit(client_network([192, 0, 2, address].into()), Cost::MESSAGE);
            request.extensions_mut().insert(admission.unwrap());
            Box::pin(read(request))
        };
        // Bodies that declare more than fits send a part and stall.
        let mut stalled: Vec<_> = (0..4)
            .map(|address| {
                let part = Ok::<_, Infallible>(Bytes::from(vec![0; max / 2]));
                let mut body = send(
                    address,
                    Body::from_stream(stream::iter([part]).chain(stream::pending())),
                );
                assert!(body.as_mut().now_or_never().is_none());
                body
            })
            .collect();
        assert_eq!(control.body_bytes(), 2 * max);
        let whole = send(9, Body::from(vec![0; max])).now_or_never();
        assert_eq!(whole.unwrap().unwrap().len(), max);
        let cut = stalled.iter_mut().map(|body| body.as_mut().now_or_never());
        let cut: Vec<_> = cut.flatten().collect();
        assert_eq!(cut.len(), 2);
        assert!(cut.iter().all(|cut| matches!(cut, Err(Error::Overloaded))));
        drop(stalled);
        assert_eq!(control.body_bytes(), 0);
    }

    #[test]
    fn a_body_that_arrives_in_parts_of_any_size_is_read_whole() {
        let settings = AdmissionSettings {
            max_body_memory: 1 << 20,
            max_heavy_requests: 1,
        };
        let control = AdmissionControl::new(settings, 1 << 20, Clock::default());
        for sizes in [
            &[][..],
            &[1],
            &[BLOCK_SIZE],
            &[BLOCK_SIZE - 1, 1, 1],
            &[3, 3 * BLOCK_SIZE, 7, BLOCK_SIZE, 0, 5],
        ] {
            let length = sizes.iter().sum::<usize>();
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            for declared in [None, Some(length)] {
                let mut rest = &bytes[..];
                let parts: Vec<_> = sizes
                    .iter()
                    .map(|&size| {
                        let (part, others) = rest.split_at(size);
                        rest = others;
                        Ok::<_, Infallible>(Bytes::copy_from_slice(part))
                    })
                    .collect();
                let mut request = Request::new(Body::from_stream(stream::iter(parts)));
                if let Some(length) = declared {
                    request.headers_mut().insert(CONTENT_LENGTH, length.into());
                }
                let admission = control.admit(client_network([192, 0, 2, 1].into()), Cost::MESSAGE);
                request.extensions_mut().insert(admission.unwrap());
                let read = Box::pin(read(request)).now_or_never();
                assert!(read.unwrap().unwrap() == bytes, "{sizes:?}, {declared:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_body_of_a_route_that_declares_none_is_not_read() {
        let refused = read(Request::new(Body::from("{}"))).await;
        assert!(matches!(refused, Err(Error::Internal)));
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
