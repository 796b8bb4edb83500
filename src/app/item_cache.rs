//! Nonprofits as they stand in answers, kept for a while: what neighbouring keystrokes find is mostly the same.
//!
//! A table of fixed size in which every nonprofit has one slot. Others share it, and the last one written stays; since
//! places count from the most prominent, those that are shown most do not meet.

use std::sync::{Mutex, PoisonError};

/// An item that is longer is written anew each time.
const LONGEST: usize = 1_024;

/// The items that are kept.
#[derive(Debug)]
pub struct ItemCache {
    slots: Box<[Mutex<Slot>]>,
}

#[derive(Debug, Default)]
struct Slot {
    /// The snapshot, by the state of the store that it shows, and the place in it.
    of: (i64, u32),
    bytes: Vec<u8>,
}

impl ItemCache {
    /// Keeps items of at most `bytes` in all; 0 keeps none.
    pub fn new(bytes: usize) -> ItemCache {
        ItemCache {
            slots: (0..bytes / LONGEST).map(|_| Mutex::default()).collect(),
        }
    }

    /// Appends the item of the nonprofit at `place` of the snapshot of `revision`: the one kept, or else the one that
    /// `make` appends. Where there is none, nothing is appended.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        revision: i64,
        place: u32,
        make: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        if self.slots.is_empty() {
            return make(out);
        }
        let slot = &self.slots[place as usize % self.slots.len()];
        // A panic elsewhere leaves the slot without an item at the worst.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.of == (revision, place) && !slot.bytes.is_empty() {
            out.extend_from_slice(&slot.bytes);
            return Some(());
        }
        let start = out.len();
        make(out)?;
        slot.bytes.clear();
        if out.len() - start <= LONGEST {
            slot.of = (revision, place);
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
        fn every_item_is_its_own_and_what_is_held_stays_within_its_bytes(
            asked in proptest::collection::vec((0i64..3, 0u32..40, 0usize..1_500), 1..300), bytes in 0usize..20_000
        ) {
            let items = ItemCache::new(bytes);
            for (revision, place, length) in asked {
                let mut out = b"[".to_vec();
                let item = format!("{revision} {place} ");
                items.write(&mut out, revision, place, |out| {
                    out.extend_from_slice(item.as_bytes());
                    out.resize(out.len() + length, b'x');
                    Some(())
                });
                prop_assert!(out[1..].starts_with(item.as_bytes()));
                let held: usize = items.slots.iter().map(|slot| slot.lock().unwrap().bytes.len()).sum();
                prop_assert!(held <= bytes);
            }
        }
    }

    #[test]
    fn an_item_is_made_once_and_again_for_another_snapshot() {
        let items = ItemCache::new(8 * LONGEST);
        let ask = |revision, made: &str| {
            let mut out = Vec::new();
            items.write(&mut out, revision, 3, |out| {
                out.extend_from_slice(made.as_bytes());
                Some(())
            });
            String::from_utf8(out).unwrap()
        };
        assert_eq!(ask(1, "first"), "first");
        assert_eq!(ask(1, "again"), "first");
        assert_eq!(ask(2, "changed"), "changed");
        assert_eq!(ask(1, "third"), "third");
    }

    #[test]
    fn what_is_not_there_is_not_kept() {
        let items = ItemCache::new(8 * LONGEST);
        let mut out = Vec::new();
        assert_eq!(items.write(&mut out, 1, 3, |_| None), None);
        assert!(out.is_empty());
        items.write(&mut out, 1, 3, |out| {
            out.push(b'a');
            Some(())
        });
        assert_eq!(out, b"a");
    }
}
