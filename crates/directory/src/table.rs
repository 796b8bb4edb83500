//! RefreshOutcome-up tables inside the snapshot: from a number of 64 bits to the places of the nonprofits that have it.
//!
//! Keys stand sorted, places beside them. The keys of ids and slugs are spread evenly, so the first guess by
//! proportion lands close and the search from there touches one or two pages.

use std::io::{self, Write};

/// A table, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    keys: &'a [u8],
    places: &'a [u8],
}

const KEY: usize = 8;
const PLACE: usize = 4;

impl<'a> Table<'a> {
    /// Reads a section that [`write()`] made.
    pub fn new(section: &'a [u8]) -> Table<'a> {
        let count = section.len() / (KEY + PLACE);
        let (keys, places) = section.split_at(count * KEY);
        Table { keys, places }
    }

    /// The places under a key; two different texts may share one, so the caller looks at what it finds.
    pub fn places(&self, key: u64) -> impl Iterator<Item = u32> + use<'a> {
        let table = *self;
        let first = table.first_at_least(key);
        (first..table.len())
            .take_while(move |at| table.key(*at) == key)
            .map(move |at| table.place(at))
    }

    fn len(&self) -> usize {
        self.keys.len() / KEY
    }

    fn key(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.keys[at * KEY..][..KEY].try_into().expect("eight bytes"))
    }

    fn place(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.places[at * PLACE..][..PLACE].try_into().expect("four bytes"))
    }

    fn first_at_least(&self, key: u64) -> usize {
        let len = self.len();
        let guess = ((u128::from(key) * len as u128) >> 64) as usize;
        // Doubling steps away from the guess until the key lies between `low` and `high`.
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

/// Writes a table; the entries are sorted here.
pub fn write(mut entries: Vec<(u64, u32)>, out: &mut impl Write) -> io::Result<()> {
    entries.sort_unstable();
    for (key, _) in &entries {
        out.write_all(&key.to_le_bytes())?;
    }
    for (_, place) in &entries {
        out.write_all(&place.to_le_bytes())?;
    }
    Ok(())
}

/// Spreads a small number, such as an EIN, evenly over the keys. No two numbers share a key.
pub fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The key of a text: FNV-1a, then spread once more.
pub fn text_key(text: &str) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    spread(text.as_bytes().iter().fold(0xCBF2_9CE4_8422_2325, fold))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_in_is_found_and_nothing_else(
            keys in proptest::collection::vec(prop_oneof![0u64..50, any::<u64>()], 0..300),
            asked in prop_oneof![0u64..60, any::<u64>()],
        ) {
            let entries: Vec<(u64, u32)> = keys.iter().enumerate().map(|(place, key)| (*key, place as u32)).collect();
            let mut section = Vec::new();
            write(entries.clone(), &mut section).unwrap();
            let table = Table::new(&section);
            for asked in keys.iter().copied().chain([asked]) {
                let found: Vec<u32> = table.places(asked).collect();
                let wanted: Vec<u32> = entries.iter().filter(|(key, _)| *key == asked).map(|(_, place)| *place).collect();
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
