//! Hashes by which an import recognizes rows that are already stored.

use sha2::{Digest, Sha256};

/// Returns a hash of a stored text, which changes when anything in the text does.
pub fn digest(text: &str) -> i64 {
    let hash = Sha256::digest(text);
    i64::from_le_bytes(*hash.first_chunk().expect("a hash has 32 bytes"))
}
