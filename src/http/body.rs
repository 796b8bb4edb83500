//! A JSON body, read so that a bad one is told in our own words.

use crate::error::{Error, FieldFault};
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::app::App;

/// The object that a body holds.
#[derive(Debug)]
pub struct JsonBody {
    pub fields: Map<String, Value>,
    /// SHA-256 of the body as it was sent.
    pub hash: [u8; 32],
}

impl FromRequest<App> for JsonBody {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<JsonBody, Error> {
        if !is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        let bytes = match Bytes::from_request(request, app).await {
            Ok(bytes) => bytes,
            Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_))) => {
                return Err(Error::TooLarge(app.config.max_body));
            }
            Err(_) => return Err(Error::InvalidJson("it stops half way".to_owned())),
        };
        JsonBody::parse(&bytes)
    }
}

impl JsonBody {
    fn parse(bytes: &[u8]) -> Result<JsonBody, Error> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(JsonBody {
                fields,
                hash: Sha256::digest(bytes).into(),
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
}
