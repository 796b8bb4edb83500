//! Hashes by which an import recognizes rows that are already stored.

use ring::digest::{SHA256, digest as hash};

/// Returns a hash of a stored text, which changes when anything in the text does.
pub(crate) fn digest(text: &str) -> i64 {
    let hash = hash(&SHA256, text.as_bytes());
    i64::from_le_bytes(*hash.as_ref().first_chunk().expect("a hash has 32 bytes"))
}
