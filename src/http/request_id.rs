//! The ID of a request, which appears in `X-Request-Id`, in the log and in the body of an error.

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 16;
const COUNTER_BITS: u32 = 48;

/// Sixteen characters: 32 random bits of the process, then 48 bits that do not repeat within the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId([u8; LENGTH]);

impl RequestId {
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
        std::str::from_utf8(&self.0).expect("the alphabet is ASCII")
    }

    fn encode(number: u128) -> Self {
        let mut text = [0; LENGTH];
        for (index, letter) in text.iter_mut().rev().enumerate() {
            *letter = ALPHABET[(number >> (5 * index)) as usize & 31];
        }
        Self(text)
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
}
