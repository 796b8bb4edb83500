//! Lines out of a stream, numbered from one and never longer than a limit.
//!
//! A line above the limit is passed over without being held, so that a file of one endless line costs no more
//! memory than any other.

use std::io::{self, BufRead, ErrorKind};

use thiserror::Error;

/// Hands out one line at a time from a buffer that it uses again.
pub struct Lines<R> {
    input: R,
    limit: usize,
    number: u64,
    line: Vec<u8>,
}

/// One line, without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub number: u64,
    pub text: Text<'a>,
    /// Was there a line end? Without one, this is the last line, and the file may have been cut off in it.
    pub ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// A line that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct RejectedLine {
    pub line: u64,
    pub reason: String,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most `limit` bytes, line end not counted.
    pub fn new(input: R, limit: usize) -> Lines<R> {
        Lines {
            input,
            limit,
            number: 0,
            line: Vec::new(),
        }
    }

    /// The number of the line handed out last; 0 before the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line, ended by LF or CRLF, or nothing at the end of the input.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut read_any = false;
        let mut too_long = false;
        let mut ended = false;
        while !ended {
            let block = match self.input.fill_buf() {
                Ok([]) => break,
                Ok(block) => block,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            read_any = true;
            let (piece, used) = match memchr::memchr(b'\n', block) {
                Some(end) => {
                    ended = true;
                    (&block[..end], end + 1)
                }
                None => (block, block.len()),
            };
            // One byte beyond the limit is kept, for the CR that may turn out to belong to the line end.
            let room = (self.limit + 1).saturating_sub(self.line.len());
            too_long |= piece.len() > room;
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            self.input.consume(used);
        }
        if !read_any {
            return Ok(None);
        }
        self.number += 1;
        if ended && self.line.last() == Some(&b'\r') && !too_long {
            self.line.pop();
        }
        let too_long = too_long || self.line.len() > self.limit;
        let text = if too_long {
            Text::TooLong
        } else {
            Text::Whole(&self.line)
        };
        Ok(Some(Line {
            number: self.number,
            text,
            ended,
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
                Text::Whole(text) => Some(text.to_vec()),
                Text::TooLong => None,
            };
            found.push((line.number, text, line.ended));
        }
        found
    }

    #[test]
    fn lines_end_with_lf_or_crlf_and_the_last_may_lack_an_end() {
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
    fn a_line_above_the_limit_is_passed_over_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; 100_000];
        bytes.extend_from_slice(b"\r\nshort\r\n");
        assert_eq!(
            all(&bytes, 64, 16),
            [(1, None, true), (2, Some(b"short".to_vec()), true)]
        );
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole_with_either_line_end() {
        assert_eq!(
            all(b"1234\r\n1234\n12345\n", 4, 3)
                .iter()
                .map(|l| l.1.is_some())
                .collect::<Vec<_>>(),
            [true, true, false]
        );
    }

    #[test]
    fn a_gigabyte_in_one_line_is_never_held() {
        let endless = io::Read::take(io::repeat(b'x'), 1 << 30);
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, endless), 1 << 16);
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!((line.text, line.ended), (Text::TooLong, false));
        assert!(lines.line.capacity() <= 1 << 18);
    }

    proptest! {
        #[test]
        fn the_size_of_the_blocks_never_shows(bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200), block in 1..40_usize) {
            prop_assert_eq!(all(&bytes, 12, block), all(&bytes, 12, 1000));
        }
    }
}
