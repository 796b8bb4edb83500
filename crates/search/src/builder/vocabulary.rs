//! Strings with numbers: interned in the order of first use, renumbered in lexicographic order at the end.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of distinct strings, numbered in the order of first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>,
}

impl Vocabulary {
    /// Returns the number of `text`, which is added if it is new.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.ids.len() as u32;
        self.ids.insert(text.into(), id);
        id
    }

    /// Returns the number of `text`, if it was added.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    /// Returns all strings in lexicographic order.
    pub(super) fn sorted(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.ids.keys().map(AsRef::as_ref).collect();
        all.sort_unstable();
        all
    }

    /// Returns the index in `sorted` of each string, by its number.
    pub(crate) fn sorted_indexes(&self, sorted: &[&str]) -> Vec<u32> {
        let mut indexes = vec![0; sorted.len()];
        for (index, text) in sorted.iter().enumerate() {
            if let Some(id) = self.find(text) {
                indexes[id as usize] = index as u32;
            }
        }
        indexes
    }
}

/// A fast hash for short strings from a trusted source: one multiplication per eight bytes.
#[derive(Clone, Debug, Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(23) ^ u64::from_le_bytes(eight)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_use_and_indexes_follow_the_alphabet() {
        let mut vocabulary = Vocabulary::default();
        let ids = ["red", "cross", "red", "ant"].map(|word| vocabulary.intern(word));
        assert_eq!(ids, [0, 1, 0, 2]);
        let sorted = vocabulary.sorted();
        assert_eq!(sorted, ["ant", "cross", "red"]);
        assert_eq!(vocabulary.sorted_indexes(&sorted), [2, 1, 0]);
    }
}
