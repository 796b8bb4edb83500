//! The signature of Stripe's events: `Stripe-Signature: t=1700000000,v1=hex,v1=hex`.
//!
//! Each `v1` is an HMAC-SHA256 of the time, a period and the raw body. While a secret is rotated there are several, and one
//! that matches is enough. An old event is refused, so that nobody can send it again later; one from the future is not,
//! because our own clock may be slow.

use ring::hmac;
use thiserror::Error;

/// How old an event may be.
const MAX_AGE_SECONDS: i64 = 300;

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidSignature {
    #[error("the Stripe-Signature header has no time or no v1 signature")]
    Malformed,
    #[error("no signature matches the body")]
    Mismatch,
    #[error("the event was signed more than {MAX_AGE_SECONDS} s ago")]
    TooOld,
}

/// Verifies the signature of an event. `now` is the time in seconds.
pub fn verify(header: &str, body: &[u8], secret: &str, now: i64) -> Result<(), InvalidSignature> {
    let (time, signatures) = parse(header).ok_or(InvalidSignature::Malformed)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [time.as_bytes(), b".", body].concat();
    // Compares in constant time.
    let is_match = |signature: &Vec<u8>| hmac::verify(&key, &signed, signature).is_ok();
    if !signatures.iter().any(is_match) {
        return Err(InvalidSignature::Mismatch);
    }
    let time: i64 = time.parse().map_err(|_| InvalidSignature::Malformed)?;
    if now.saturating_sub(time) > MAX_AGE_SECONDS {
        return Err(InvalidSignature::TooOld);
    }
    Ok(())
}

/// Returns the header for a body, as Stripe would send it.
#[cfg(test)]
pub fn sign(body: &[u8], secret: &str, now: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [now.to_string().as_bytes(), b".", body].concat();
    let hex = platform::text::hex(hmac::sign(&key, &signed).as_ref());
    format!("t={now},v1={hex}")
}

/// Returns the time as it was signed and all `v1` signatures. Other schemes are ignored.
fn parse(header: &str) -> Option<(&str, Vec<Vec<u8>>)> {
    let mut time = None;
    let mut signatures = Vec::new();
    for part in header.split(',') {
        match part.trim().split_once('=') {
            Some(("t", value)) => time = Some(value),
            Some(("v1", value)) => signatures.extend(decode_hex(value)),
            _ => {}
        }
    }
    time.filter(|_| !signatures.is_empty())
        .map(|time| (time, signatures))
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs
        .iter()
        .map(|&[high, low]| Some((digit(high)? << 4 | digit(low)?) as u8))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_one";
    const BODY: &[u8] = br#"{"id":"evt_1"}"#;
    const NOW: i64 = 1_800_000_000;

    #[test]
    fn any_of_several_signatures_may_match() {
        let header = sign(BODY, SECRET, NOW);
        assert_eq!(verify(&header, BODY, SECRET, NOW), Ok(()));
        let other = sign(BODY, "whsec_two", NOW);
        let (_, signature) = header.split_once(',').unwrap();
        assert_eq!(
            verify(&format!("{other}, {signature}"), BODY, SECRET, NOW),
            Ok(())
        );
        assert_eq!(verify(&format!("{header},v0=00,x"), BODY, SECRET, NOW), Ok(()));
    }

    #[test]
    fn a_changed_body_time_or_secret_is_refused() {
        let header = sign(BODY, SECRET, NOW);
        let mismatch = Err(InvalidSignature::Mismatch);
        assert_eq!(verify(&header, br#"{"id":"evt_2"}"#, SECRET, NOW), mismatch);
        assert_eq!(verify(&header, &BODY[..BODY.len() - 1], SECRET, NOW), mismatch);
        assert_eq!(verify(&header, BODY, "whsec_two", NOW), mismatch);
        let later = header.replace(&NOW.to_string(), &(NOW + 1).to_string());
        assert_eq!(verify(&later, BODY, SECRET, NOW), mismatch);
    }

    #[test]
    fn an_event_is_accepted_for_five_minutes() {
        let header = sign(BODY, SECRET, NOW);
        assert_eq!(verify(&header, BODY, SECRET, NOW + 300), Ok(()));
        assert_eq!(
            verify(&header, BODY, SECRET, NOW + 301),
            Err(InvalidSignature::TooOld)
        );
        assert_eq!(verify(&header, BODY, SECRET, NOW - 3_600), Ok(()));
    }

    #[test]
    fn a_malformed_header_is_refused() {
        for header in [
            "",
            "t=1",
            "v1=00",
            "t=1,v1=",
            "t=1,v1=0",
            "t=1,v1=zz",
            "t=1,v2=00",
        ] {
            let refused = verify(header, BODY, SECRET, NOW);
            assert!(
                matches!(
                    refused,
                    Err(InvalidSignature::Malformed | InvalidSignature::Mismatch)
                ),
                "{header}"
            );
        }
    }
}
