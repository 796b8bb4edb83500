//! Lookup tables of the snapshot: from a 64-bit key to the positions of the nonprofits that have it.
//!
//! A table is a sorted array of keys, followed by an array of positions. The keys are uniformly distributed, so an
//! interpolation search finds a key within one or two memory pages.

use std::io::{self, Write};

/// A lookup table, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    keys: &'a [u8],
    positions: &'a [u8],
}

const KEY_SIZE: usize = 8;
const POSITION_SIZE: usize = 4;

impl<'a> Table<'a> {
    /// Creates a table from a section written by [`write()`].
    pub fn new(section: &'a [u8]) -> Table<'a> {
        let count = section.len() / (KEY_SIZE + POSITION_SIZE);
        let (keys, positions) = section.split_at(count * KEY_SIZE);
        Table { keys, positions }
    }

    /// Returns the positions stored under a key. Two texts may have the same key, so the caller compares the records.
    pub fn positions(&self, key: u64) -> impl Iterator<Item = u32> + use<'a> {
        let table = *self;
        let first = table.first_at_least(key);
        (first..table.len())
            .take_while(move |at| table.key(*at) == key)
            .map(move |at| table.position(at))
    }

    fn len(&self) -> usize {
        self.keys.len() / KEY_SIZE
    }

    fn key(&self, at: usize) -> u64 {
        u64::from_le_bytes(
            self.keys[at * KEY_SIZE..][..KEY_SIZE]
                .try_into()
                .expect("eight bytes"),
        )
    }

    fn position(&self, at: usize) -> u32 {
        u32::from_le_bytes(
            self.positions[at * POSITION_SIZE..][..POSITION_SIZE]
                .try_into()
                .expect("four bytes"),
        )
    }

    fn first_at_least(&self, key: u64) -> usize {
        let len = self.len();
        let guess = ((u128::from(key) * len as u128) >> 64) as usize;
        // Steps away from the guess, doubling each time, until the key lies between `low` and `high`.
        let (mut low, mut high, mut step) = (guess, guess, 16);
        while low > 0 && self.key(low - 1) >= key {
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 16;
        while high < len && self.key(high) < key {
            high = (high + step).min(len);
            step *= 2;
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.key(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Sorts the entries and writes them as a table.
pub fn write(mut entries: Vec<(u64, u32)>, out: &mut impl Write) -> io::Result<()> {
    entries.sort_unstable();
    for (key, _) in &entries {
        out.write_all(&key.to_le_bytes())?;
    }
    for (_, position) in &entries {
        out.write_all(&position.to_le_bytes())?;
    }
    Ok(())
}

/// Maps a small number, such as an EIN, to a key: Fibonacci hashing. No two numbers have the same key.
pub(crate) fn number_key(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Maps a text to a key: FNV-1a, followed by Fibonacci hashing.
pub fn text_key(text: &str) -> u64 {
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    number_key(text.as_bytes().iter().fold(0xCBF2_9CE4_8422_2325, hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_table_finds_exactly_the_entries_of_a_key(
            keys in proptest::collection::vec(prop_oneof![0u64..50, any::<u64>()], 0..300),
            other in prop_oneof![0u64..60, any::<u64>()],
        ) {
            let entries: Vec<(u64, u32)> = keys.iter().enumerate().map(|(position, key)| (*key, position as u32)).collect();
            let mut section = Vec::new();
            write(entries.clone(), &mut section).unwrap();
            let table = Table::new(&section);
            for key in keys.iter().copied().chain([other]) {
                let found: Vec<u32> = table.positions(key).collect();
                let expected: Vec<u32> = entries.iter().filter(|(entry, _)| *entry == key).map(|(_, position)| *position).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
