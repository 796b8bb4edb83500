// [dependencies]
// axum = "0.8"
// base64 = "0.22"
// hmac = "0.13"
// serde_json = "1"
// sha2 = "0.11"
// tokio = { version = "1", features = ["full"] }

use axum::{Router, body::Bytes, http::{HeaderMap, StatusCode}, routing::post};
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the ID of the event if the server signed this body within the last five minutes.
fn verify<'h>(headers: &'h HeaderMap, body: &[u8]) -> Option<&'h str> {
    let header = |name| headers.get(name)?.to_str().ok();
    let (id, timestamp) = (header("webhook-id")?, header("webhook-timestamp")?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    if now.abs_diff(timestamp.parse().ok()?) > 300 {
        return None;
    }
    let secret = std::env::var("WEBHOOK_SECRET").ok()?;
    let key = STANDARD.decode(secret.strip_prefix("whsec_")?).ok()?;
    let mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    let mac = mac.chain_update(format!("{id}.{timestamp}.")).chain_update(body);
    let mut signatures = header("webhook-signature")?.split(' ');
    let is_signed = signatures.any(|signature| {
        let bytes = signature.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        bytes.is_some_and(|bytes| mac.clone().verify_slice(&bytes).is_ok())
    });
    is_signed.then_some(id)
}

async fn receive(headers: HeaderMap, body: Bytes) -> StatusCode {
    let event = serde_json::from_slice::<serde_json::Value>(&body);
    let (Some(id), Ok(event)) = (verify(&headers, &body), event) else {
        return StatusCode::BAD_REQUEST;
    };
    println!("{} {id}", event["type"].as_str().unwrap_or_default());
    StatusCode::NO_CONTENT
}

#[tokio::main]
async fn main() {
    let port = std::env::var("PORT").unwrap_or_else(|_| "8000".to_owned());
    let listener = tokio::net::TcpListener::bind(format!("0.0.0.0:{port}")).await.unwrap();
    axum::serve(listener, Router::new().route("/", post(receive))).await.unwrap();
}
