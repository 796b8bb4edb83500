//! Strings numbered as they come, and renumbered in the order of their letters at the end.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Numbers distinct strings in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    numbers: HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>,
}

impl Vocabulary {
    /// The number of `text`, a new one if it was never seen.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(text.into(), number);
        number
    }

    /// The number of `text`, if it was seen.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// All strings in order.
    pub fn sorted(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.numbers.keys().map(AsRef::as_ref).collect();
        all.sort_unstable();
        all
    }

    /// For each number in order of first use, its number in the order of `sorted`.
    pub fn places(&self, sorted: &[&str]) -> Vec<u32> {
        let mut places = vec![0; sorted.len()];
        for (place, text) in sorted.iter().enumerate() {
            if let Some(number) = self.find(text) {
                places[number as usize] = place as u32;
            }
        }
        places
    }
}

/// A quick hash for short words of a trusted source: a multiplication for each eight bytes.
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
    fn numbers_follow_first_use_and_places_follow_letters() {
        let mut vocabulary = Vocabulary::default();
        let numbers = ["red", "cross", "red", "ant"].map(|word| vocabulary.number(word));
        assert_eq!(numbers, [0, 1, 0, 2]);
        let sorted = vocabulary.sorted();
        assert_eq!(sorted, ["ant", "cross", "red"]);
        assert_eq!(vocabulary.places(&sorted), [2, 1, 0]);
    }
}
