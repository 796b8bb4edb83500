//! Generates synthetic EO BMF files and Form 990 returns of any size, for tests and benchmarks.
//!
//! The same seed produces the same bytes on every machine. A row depends only on the seed and its number, except for its
//! EIN, which also depends on the number of rows, because the EINs of any file are sorted and cover the whole range. The
//! files have the quirks of real ones: many nonprofits with the same name, blanks, invalid codes and placeholders.

mod names;
mod places;
mod returns;
mod rng;
mod row;
mod standing;
mod words;

use std::io::{self, Write};

pub use self::returns::Returns;
use self::rng::Rng;
use self::row::RowGenerator;
pub use self::standing::StandingLists;
use crate::irs::bmf::HEADER;

/// The largest number of rows for which there are enough EINs.
pub const MAX_ROWS: u64 = 900_000_000;

const BUFFER_SIZE: usize = 256 * 1024;

/// Writes a file with `count` rows.
pub fn generate(count: u64, seed: u64, mut out: impl Write) -> io::Result<()> {
    if count > MAX_ROWS {
        let message = format!("a file has at most {MAX_ROWS} rows; choose a smaller number");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let mut rows = RowGenerator::new();
    let mut buffer = HEADER.join(",") + "\r\n";
    for row in 0..count {
        let mut rng = Rng::for_row(seed, row);
        let ein = ein(row, count, &mut rng);
        rows.write(ein, &mut rng, &mut buffer);
        if buffer.len() >= BUFFER_SIZE {
            out.write_all(buffer.as_bytes())?;
            buffer.clear();
        }
    }
    out.write_all(buffer.as_bytes())?;
    out.flush()
}

/// Returns the EIN of a row. Each row has its own range, so that EINs are sorted and unique. One in twenty starts with 0.
fn ein(row: u64, count: u64, rng: &mut Rng) -> u64 {
    let low = count / 20;
    let (first, range, index, rows) = match row.checked_sub(low) {
        None => (10_000_000, 90_000_000, row, low),
        Some(index) => (100_000_000, 900_000_000, index, count - low),
    };
    let width = range / rows;
    first + index * width + rng.below(width)
}

#[cfg(test)]
mod tests;
