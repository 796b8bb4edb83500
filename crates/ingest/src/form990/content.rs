//! The content of files and members of archives: what it is, and how much of it may be read.

use super::reader::{MAX_BYTES, ReturnError};
use std::io::{self, BufRead, Read};

/// Returns compress ten to thirty times.
const MAX_RATIO: u64 = 200;
/// The compression ratio is checked above this size.
const RATIO_CHECK_THRESHOLD: u64 = 1 << 20;

/// Reads all bytes of a return, up to the limits for its size and its compression ratio.
///
/// `compressed` returns the number of compressed bytes that they were read from.
pub(crate) fn read_bounded(
    input: &mut impl Read,
    compressed: impl Fn() -> u64,
) -> Result<Vec<u8>, ReturnError> {
    let mut bytes = Vec::new();
    while input
        .by_ref()
        .take(RATIO_CHECK_THRESHOLD)
        .read_to_end(&mut bytes)
        .map_err(|error| ReturnError::Damaged(error.to_string()))?
        > 0
    {
        if bytes.len() > MAX_BYTES {
            return Err(ReturnError::TooLarge);
        }
        let size = bytes.len() as u64;
        if size >= RATIO_CHECK_THRESHOLD && size / MAX_RATIO > compressed() {
            return Err(ReturnError::Bomb);
        }
    }
    Ok(bytes)
}

/// Returns whether a file is an index of the IRS, such as `index_2023.csv`.
pub(crate) fn is_index(first_bytes: &[u8]) -> bool {
    let header = first_bytes
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(first_bytes);
    let header = header.strip_prefix(b"\"").unwrap_or(header);
    header
        .get(..9)
        .is_some_and(|column| column.eq_ignore_ascii_case(b"RETURN_ID"))
}

/// Counts the lines of an index, without its header.
pub(super) fn count_rows(input: &mut impl BufRead) -> io::Result<u64> {
    let (mut lines, mut is_line_empty) = (0_u64, true);
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        for byte in buffer {
            match byte {
                b'\n' if is_line_empty => {}
                b'\n' => {
                    lines += 1;
                    is_line_empty = true;
                }
                b'\r' => {}
                _ => is_line_empty = false,
            }
        }
        let read = buffer.len();
        input.consume(read);
    }
    Ok((lines + u64::from(!is_line_empty)).saturating_sub(1))
}
