//! Reads numbered lines of limited length.
//!
//! A line above the limit is skipped without being stored, so a file with one endless line needs no more memory than any
//! other.

use std::io::{self, BufRead, ErrorKind};

use thiserror::Error;

/// Reads one line at a time into a buffer that it reuses.
pub(crate) struct Lines<R> {
    input: R,
    limit: usize,
    number: u64,
    line: Vec<u8>,
}

/// One line, without its line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    pub text: Text<'a>,
    /// Whether a line ending followed. If not, this is the last line, and the file may be truncated.
    pub has_line_ending: bool,
}

/// The text of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    Complete(&'a [u8]),
    TooLong,
}

/// A line that was rejected, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct RejectedLine {
    pub line: u64,
    pub reason: String,
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader of lines of at most `limit` bytes, without the line ending.
    pub(crate) fn new(input: R, limit: usize) -> Lines<R> {
        Lines {
            input,
            limit,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Returns the number of the last line; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line, which ends with LF or CRLF. Returns `None` at the end of the input.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut read_any = false;
        let mut too_long = false;
        let mut has_line_ending = false;
        while !has_line_ending {
            let block = match self.input.fill_buf() {
                Ok([]) => break,
                Ok(block) => block,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            read_any = true;
            let (piece, used) = match memchr::memchr(b'\n', block) {
                Some(end) => {
                    has_line_ending = true;
                    (&block[..end], end + 1)
                }
                None => (block, block.len()),
            };
            // One byte beyond the limit is stored, because it may be the CR of the line ending.
            let capacity = (self.limit + 1).saturating_sub(self.line.len());
            too_long |= piece.len() > capacity;
            self.line.extend_from_slice(&piece[..piece.len().min(capacity)]);
            self.input.consume(used);
        }
        if !read_any {
            return Ok(None);
        }
        self.number += 1;
        if has_line_ending && self.line.last() == Some(&b'\r') && !too_long {
            self.line.pop();
        }
        let too_long = too_long || self.line.len() > self.limit;
        let text = if too_long {
            Text::TooLong
        } else {
            Text::Complete(&self.line)
        };
        Ok(Some(Line {
            number: self.number,
            text,
            has_line_ending,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    fn all(bytes: &[u8], limit: usize, block: usize) -> Vec<(u64, Option<Vec<u8>>, bool)> {
        let mut lines = Lines::new(BufReader::with_capacity(block, bytes), limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            let text = match line.text {
                Text::Complete(text) => Some(text.to_vec()),
                Text::TooLong => None,
            };
            found.push((line.number, text, line.has_line_ending));
        }
        found
    }

    #[test]
    fn lines_end_with_lf_or_crlf_and_the_last_may_have_no_ending() {
        let found = all(b"one\r\ntwo\n\nfour", 10, 4);
        let texts: Vec<_> = found
            .iter()
            .map(|(_, text, _)| text.as_deref().unwrap())
            .collect();
        assert_eq!(texts, [&b"one"[..], b"two", b"", b"four"]);
        assert_eq!(
            found.iter().map(|line| line.2).collect::<Vec<_>>(),
            [true, true, true, false]
        );
        assert_eq!(found[3].0, 4);
    }

    #[test]
    fn a_line_above_the_limit_is_skipped_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; 100_000];
        bytes.extend_from_slice(b"\r\nshort\r\n");
        assert_eq!(
            all(&bytes, 64, 16),
            [(1, None, true), (2, Some(b"short".to_vec()), true)]
        );
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_complete_with_either_line_ending() {
        assert_eq!(
            all(b"1234\r\n1234\n12345\n", 4, 3)
                .iter()
                .map(|l| l.1.is_some())
                .collect::<Vec<_>>(),
            [true, true, false]
        );
    }

    #[test]
    fn a_line_of_a_gigabyte_is_never_stored() {
        let endless = io::Read::take(io::repeat(b'x'), 1 << 30);
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, endless), 1 << 16);
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!((line.text, line.has_line_ending), (Text::TooLong, false));
        assert!(lines.line.capacity() <= 1 << 18);
    }

    proptest! {
        #[test]
        fn the_buffer_size_does_not_matter(bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200), block in 1..40_usize) {
            prop_assert_eq!(all(&bytes, 12, block), all(&bytes, 12, 1000));
        }
    }
}
