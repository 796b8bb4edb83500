//! A cache of nonprofits as JSON items of responses: consecutive keystrokes mostly find the same nonprofits.
//!
//! It is a direct-mapped cache of fixed size: every nonprofit has one slot, and the last one written stays. The snapshot
//! is sorted by prominence, so the most prominent nonprofits do not share slots.

use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// The maximum size of a cached item; a longer one is written again each time.
const MAX_ITEM_BYTES: usize = 1_024;

/// A cache of items with a limited size.
#[derive(Debug)]
pub struct ItemCache {
    slots: Box<[Mutex<Slot>]>,
}

#[derive(Debug, Default)]
struct Slot {
    /// The token of the snapshot's revision and the index of the nonprofit in it.
    key: (Uuid, u32),
    bytes: Vec<u8>,
}

impl ItemCache {
    /// Creates a cache that holds at most `bytes`; with 0 it caches nothing.
    pub fn new(bytes: usize) -> ItemCache {
        ItemCache {
            slots: (0..bytes / MAX_ITEM_BYTES).map(|_| Mutex::default()).collect(),
        }
    }

    /// Appends the item of the nonprofit at `index` of the snapshot whose revision has this token, from the cache or else with `make`.
    ///
    /// Returns `None`, and appends nothing, if `make` returns `None`.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        token: Uuid,
        index: u32,
        make: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        if self.slots.is_empty() {
            return make(out);
        }
        let slot = &self.slots[index as usize % self.slots.len()];
        // After a panic the slot is empty or holds a complete item.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.key == (token, index) && !slot.bytes.is_empty() {
            out.extend_from_slice(&slot.bytes);
            return Some(());
        }
        let start = out.len();
        make(out)?;
        slot.bytes.clear();
        if out.len() - start <= MAX_ITEM_BYTES {
            slot.key = (token, index);
            slot.bytes.extend_from_slice(&out[start..]);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_never_mixed_up_and_the_cache_stays_within_its_bytes(
            writes in proptest::collection::vec((0u128..3, 0u32..40, 0usize..1_500), 1..300), bytes in 0usize..20_000
        ) {
            let cache = ItemCache::new(bytes);
            for (revision, index, length) in writes {
                let mut out = b"[".to_vec();
                let item = format!("{revision} {index} ");
                cache.write(&mut out, Uuid::from_u128(revision), index, |out| {
                    out.extend_from_slice(item.as_bytes());
                    out.resize(out.len() + length, b'x');
                    Some(())
                });
                prop_assert!(out[1..].starts_with(item.as_bytes()));
                let held: usize = cache.slots.iter().map(|slot| slot.lock().unwrap().bytes.len()).sum();
                prop_assert!(held <= bytes);
            }
        }
    }

    #[test]
    fn an_item_is_made_once_and_again_for_another_snapshot() {
        let cache = ItemCache::new(8 * MAX_ITEM_BYTES);
        let write = |revision, made: &str| {
            let mut out = Vec::new();
            cache.write(&mut out, Uuid::from_u128(revision), 3, |out| {
                out.extend_from_slice(made.as_bytes());
                Some(())
            });
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(1, "first"), "first");
        assert_eq!(write(1, "again"), "first");
        assert_eq!(write(2, "changed"), "changed");
        assert_eq!(write(1, "third"), "third");
    }

    #[test]
    fn a_missing_item_is_not_cached() {
        let cache = ItemCache::new(8 * MAX_ITEM_BYTES);
        let mut out = Vec::new();
        assert_eq!(cache.write(&mut out, Uuid::from_u128(1), 3, |_| None), None);
        assert!(out.is_empty());
        cache.write(&mut out, Uuid::from_u128(1), 3, |out| {
            out.push(b'a');
            Some(())
        });
        assert_eq!(out, b"a");
    }
}
