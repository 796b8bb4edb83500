//! The ID of a request, which appears in `X-Request-Id`, in the log and in the body of an error.
//!
//! A trusted proxy may have given the request an ID already, which is kept: one ID then finds the request in the logs of
//! both. The `X-Request-Id` of anyone else is ignored.

use axum::extract::Request;
use axum::http::header::HeaderName;
use listener::TrustedPeer;
use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 16;
const COUNTER_BITS: u32 = 48;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an ID that a proxy has given.
const MAX_FORWARDED_LENGTH: usize = 128;

/// The ID of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(Source);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    /// Sixteen characters: 32 random bits of the process, then 48 bits that do not repeat within the process.
    Process([u8; LENGTH]),
    Proxy(Box<str>),
}

impl RequestId {
    /// Returns the ID that a trusted proxy has given to a request, or the next ID of this process.
    pub fn of_request(request: &Request) -> Self {
        request
            .extensions()
            .get::<TrustedPeer>()
            .and_then(|_| request.headers().get(X_REQUEST_ID))
            .and_then(|value| Self::parse(value.as_bytes()))
            .unwrap_or_else(Self::next)
    }

    /// Parses an ID of 1 to 128 letters, digits, dots, underscores and hyphens.
    fn parse(value: &[u8]) -> Option<Self> {
        let is_valid = (1..=MAX_FORWARDED_LENGTH).contains(&value.len())
            && value
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
        let text = std::str::from_utf8(value).ok().filter(|_| is_valid)?;
        Some(Self(Source::Proxy(text.into())))
    }

    /// Returns the next ID of this process. Costs one addition and sixteen table lookups.
    pub fn next() -> Self {
        static PROCESS: LazyLock<(u128, u64)> = LazyLock::new(|| {
            let mut bytes = [0; 12];
            getrandom::fill(&mut bytes).expect("the system has random bytes");
            let (prefix, start) = bytes.split_at(4);
            let prefix = u32::from_le_bytes(prefix.try_into().expect("four bytes"));
            let start = u64::from_le_bytes(start.try_into().expect("eight bytes"));
            (u128::from(prefix) << COUNTER_BITS, start)
        });
        static COUNTER: AtomicU64 = AtomicU64::new(0);

        let (prefix, start) = *PROCESS;
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // An odd factor permutes the 48-bit numbers: consecutive IDs look different, and none repeats.
        let scattered = start.wrapping_add(count).wrapping_mul(0x9E37_79B9_7F4B) & ((1 << COUNTER_BITS) - 1);
        Self::encode(prefix | u128::from(scattered))
    }

    pub fn as_str(&self) -> &str {
        match &self.0 {
            Source::Process(text) => std::str::from_utf8(text).expect("the alphabet is ASCII"),
            Source::Proxy(text) => text,
        }
    }

    fn encode(number: u128) -> Self {
        let mut text = [0; LENGTH];
        for (index, letter) in text.iter_mut().rev().enumerate() {
            *letter = ALPHABET[(number >> (5 * index)) as usize & 31];
        }
        Self(Source::Process(text))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn an_id_is_sixteen_characters_that_need_no_escaping() {
        let id = RequestId::next().to_string();
        assert_eq!(id.len(), 16);
        assert!(id.bytes().all(|letter| ALPHABET.contains(&letter)));
    }

    #[test]
    fn ids_do_not_repeat() {
        let ids: HashSet<RequestId> = (0..100_000).map(|_| RequestId::next()).collect();
        assert_eq!(ids.len(), 100_000);
    }

    #[test]
    fn only_short_plain_ids_of_proxies_are_kept() {
        let longest = "a".repeat(MAX_FORWARDED_LENGTH);
        for id in ["a", "4bf92f35-77b3.4da6_A", &longest] {
            assert_eq!(RequestId::parse(id.as_bytes()).unwrap().as_str(), id);
        }
        let too_long = "a".repeat(MAX_FORWARDED_LENGTH + 1);
        for id in ["", "a b", "a,b", "a\"b", "a\u{e9}", "a/b", &too_long] {
            assert_eq!(RequestId::parse(id.as_bytes()), None, "{id}");
        }
    }
}
