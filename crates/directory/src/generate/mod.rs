//! Synthetic EO BMF files of any size, for trying things out and for measuring where real files are missing.
//!
//! The same seed gives the same bytes on every machine. A row depends on the seed and its place alone, and only
//! its EIN on how many rows there are, because EINs rise through the whole range in any file. The quirks of the
//! real files are there: many bodies of one name, blanks, broken codes, second name lines that say nothing.

mod names;
mod places;
mod rng;
mod row;
mod words;

use std::io::{self, Write};

use self::rng::Rng;
use self::row::Rows;
use crate::import::bmf::HEADER;

/// More rows would not find an EIN of their own.
pub const MAX_ROWS: u64 = 900_000_000;

const BLOCK: usize = 256 * 1024;

/// Writes a file of `count` rows.
pub fn generate(count: u64, seed: u64, mut out: impl Write) -> io::Result<()> {
    if count > MAX_ROWS {
        let fault = format!("there are EINs for at most {MAX_ROWS} rows; ask for fewer");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
    }
    let mut rows = Rows::new();
    let mut block = HEADER.join(",") + "\r\n";
    for row in 0..count {
        let mut rng = Rng::for_row(seed, row);
        let ein = ein(row, count, &mut rng);
        rows.write(ein, &mut rng, &mut block);
        if block.len() >= BLOCK {
            out.write_all(block.as_bytes())?;
            block.clear();
        }
    }
    out.write_all(block.as_bytes())?;
    out.flush()
}

/// Each row draws from a stretch of its own, so that EINs rise and never meet. One in twenty starts with 0.
fn ein(row: u64, count: u64, rng: &mut Rng) -> u64 {
    let low = count / 20;
    let (first, range, place, places) = match row.checked_sub(low) {
        None => (10_000_000, 90_000_000, row, low),
        Some(place) => (100_000_000, 900_000_000, place, count - low),
    };
    let stretch = range / places;
    first + place * stretch + rng.below(stretch)
}

#[cfg(test)]
mod tests;
