//! Signatures of webhooks by Standard Webhooks 1.0, with which programs prove who sent a message.
//!
//! The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` come with the body. The signature is `v1,` and an
//! HMAC-SHA256 of ID, time and body in base64; while a secret is rotated there are several, separated by spaces.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;
use thiserror::Error;

/// How far the clocks of sender and receiver may be apart, in seconds.
const TOLERANCE_SECONDS: i64 = 300;
/// The beginning of a secret. The rest is base64.
const PREFIX: &str = "whsec_";

/// A secret that sender and receiver share.
pub struct WebhookSecret(hmac::Key);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("WebhookSecret")
    }
}

/// The headers of a message.
#[derive(Clone, Copy, Debug)]
pub struct WebhookHeaders<'h> {
    pub id: &'h str,
    pub timestamp: &'h str,
    pub signature: &'h str,
}

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidWebhook {
    #[error("the headers webhook-id, webhook-timestamp and webhook-signature are missing or malformed")]
    Malformed,
    #[error("no signature matches the body")]
    Mismatch,
    #[error("the message was signed more than {TOLERANCE_SECONDS} s ago, or in the future")]
    WrongTime,
}

impl WebhookSecret {
    /// Generates the text of a secret.
    pub fn generate() -> String {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system has random numbers");
        format!("{PREFIX}{}", BASE64_STANDARD.encode(bytes))
    }

    /// Parses a secret of the form `whsec_` and base64. Returns `None` if it is something else, or shorter than 24 bytes.
    pub fn parse(text: &str) -> Option<WebhookSecret> {
        let bytes = BASE64_STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (bytes.len() >= 24).then(|| WebhookSecret(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// Returns the signature of a message.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let signature = hmac::sign(&self.0, &signed(id, &timestamp.to_string(), body));
        format!("v1,{}", BASE64_STANDARD.encode(signature.as_ref()))
    }

    /// Verifies a message. `now` is the time in seconds.
    pub fn verify(&self, headers: WebhookHeaders<'_>, body: &[u8], now: i64) -> Result<(), InvalidWebhook> {
        let WebhookHeaders {
            id,
            timestamp,
            signature,
        } = headers;
        let time: i64 = timestamp.parse().map_err(|_| InvalidWebhook::Malformed)?;
        if id.is_empty() || signature.is_empty() {
            return Err(InvalidWebhook::Malformed);
        }
        let content = signed(id, timestamp, body);
        let is_match = |text: &str| {
            let signature = text
                .strip_prefix("v1,")
                .and_then(|text| BASE64_STANDARD.decode(text).ok());
            // Compares in constant time.
            signature.is_some_and(|signature| hmac::verify(&self.0, &content, &signature).is_ok())
        };
        if !signature.split(' ').any(is_match) {
            return Err(InvalidWebhook::Mismatch);
        }
        if now.abs_diff(time) > TOLERANCE_SECONDS.unsigned_abs() {
            return Err(InvalidWebhook::WrongTime);
        }
        Ok(())
    }
}

fn signed(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_614_265_330;

    fn secret() -> WebhookSecret {
        WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap()
    }

    fn headers(signature: &str) -> WebhookHeaders<'_> {
        WebhookHeaders {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            signature,
        }
    }

    #[test]
    fn the_published_example_verifies() {
        let body = br#"{"test": 2432232314}"#;
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(secret().sign(headers("").id, NOW, body), signature);
        assert_eq!(secret().verify(headers(signature), body, NOW), Ok(()));
        let rotated = format!("v1,AAAA v2,x {signature}");
        assert_eq!(secret().verify(headers(&rotated), body, NOW + 300), Ok(()));
    }

    #[test]
    fn changed_old_and_malformed_messages_are_refused() {
        let body = b"{}";
        let good = secret().sign(headers("").id, NOW, body);
        let verify = |signature: &str, body: &[u8], now| secret().verify(headers(signature), body, now);
        assert_eq!(verify(&good, b"{ }", NOW), Err(InvalidWebhook::Mismatch));
        assert_eq!(verify("v1,", body, NOW), Err(InvalidWebhook::Mismatch));
        assert_eq!(
            verify(&good.replace("v1,", "v2,"), body, NOW),
            Err(InvalidWebhook::Mismatch)
        );
        assert_eq!(verify("", body, NOW), Err(InvalidWebhook::Malformed));
        for now in [NOW - 301, NOW + 301] {
            assert_eq!(verify(&good, body, now), Err(InvalidWebhook::WrongTime));
        }
        for text in [
            "",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_",
            "whsec_short",
            "whsec_$",
        ] {
            assert!(WebhookSecret::parse(text).is_none(), "{text}");
        }
    }
}
