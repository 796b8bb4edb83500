//! Finds where the head of each HTTP/1 request begins and ends, to look for bare line feeds in it.
//!
//! hyper accepts a line feed alone as the end of a line in a head (RFC 9112, section 2.2, allows it). A proxy in front
//! of the server may not, and the two would then disagree about the fields of a request. hyper does not show the bytes
//! of a head, so the stream looks at them before hyper does. Bodies are not looked at: hyper tells how long each one is,
//! and of a chunked body only the lines between the chunks are read.

use memchr::memchr;

/// The byte that replaces a bare line feed. It is invalid anywhere in a head, so hyper answers with a 400.
const INVALID_BYTE: u8 = 0;

/// What hyper gets after an invalid byte, because it does not parse a head before its end has arrived.
pub(crate) const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The beginning of the HTTP/2 preface that looks like a head (RFC 9113, section 3.4).
const HTTP2_PREFACE_HEAD: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";

/// The body of a request, as hyper parsed its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Empty,
    Bytes(u64),
    Chunked,
}

/// The part of the byte stream of a connection that is read next.
#[derive(Debug)]
pub(crate) struct RequestFraming {
    part: Part,
    is_first_head: bool,
}

#[derive(Debug)]
enum Part {
    Head(Head),
    /// A head was delivered, and hyper has not said yet what follows it.
    EndOfHead,
    Body(u64),
    Chunks(Chunks),
    /// HTTP/2, whose frames are not looked at.
    Http2,
    /// What follows a bare line feed.
    Refused,
}

impl RequestFraming {
    pub(crate) fn new() -> Self {
        Self {
            part: Part::Head(Head::default()),
            is_first_head: true,
        }
    }

    /// Returns whether a head was delivered and the length of its body is not known yet.
    #[inline]
    pub(crate) fn needs_body_length(&self) -> bool {
        matches!(self.part, Part::EndOfHead)
    }

    /// Sets the length of the body that follows the head.
    #[inline]
    pub(crate) fn start_body(&mut self, length: BodyLength) {
        self.part = match length {
            BodyLength::Empty | BodyLength::Bytes(0) => Part::Head(Head::default()),
            BodyLength::Bytes(length) => Part::Body(length),
            BodyLength::Chunked => Part::Chunks(Chunks::default()),
        };
    }

    /// Returns whether the client has announced more of a body than it has sent.
    pub(crate) fn is_in_body(&self) -> bool {
        matches!(self.part, Part::Body(_) | Part::Chunks(_))
    }

    /// Returns whether a head had a bare line feed.
    #[inline]
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.part, Part::Refused)
    }

    /// Looks at the bytes that were read next and returns how many of them hyper may have now: at most to the end of
    /// the current head or body. A bare line feed in a head is replaced by an invalid byte, and nothing after it counts.
    #[inline]
    pub(crate) fn deliver(&mut self, bytes: &mut [u8]) -> usize {
        match &mut self.part {
            Part::Http2 | Part::EndOfHead | Part::Refused => bytes.len(),
            Part::Head(head) => match head.scan(bytes, self.is_first_head) {
                HeadScan::Incomplete => bytes.len(),
                HeadScan::Complete(length) => {
                    self.part = if self.is_first_head && head.is_http2_preface() {
                        Part::Http2
                    } else {
                        Part::EndOfHead
                    };
                    self.is_first_head = false;
                    length
                }
                HeadScan::BareLineFeed(position) => {
                    bytes[position] = INVALID_BYTE;
                    self.part = Part::Refused;
                    position + 1
                }
            },
            Part::Body(left) => {
                let length = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= length as u64;
                if *left == 0 {
                    self.part = Part::Head(Head::default());
                }
                length
            }
            Part::Chunks(chunks) => {
                let (length, is_complete) = chunks.scan(bytes);
                if is_complete {
                    self.part = Part::Head(Head::default());
                }
                length
            }
        }
    }
}

/// A head that is being read.
#[derive(Debug, Default)]
struct Head {
    /// The number of bytes of the current line that were read before.
    line_length: usize,
    ends_with_cr: bool,
    /// Empty lines before the request line are ignored (RFC 9112, section 2.2).
    has_request_line: bool,
    /// The number of bytes that equal those of the HTTP/2 preface.
    preface_length: usize,
    differs_from_preface: bool,
}

/// What was found in the bytes of a head.
enum HeadScan {
    Incomplete,
    /// The number of bytes up to the end of the head.
    Complete(usize),
    /// The position of a line feed that does not follow a carriage return.
    BareLineFeed(usize),
}

impl Head {
    fn scan(&mut self, bytes: &[u8], is_first: bool) -> HeadScan {
        if is_first {
            self.compare_with_preface(bytes);
        }
        let mut start = 0;
        while let Some(offset) = memchr(b'\n', &bytes[start..]) {
            let line_feed = start + offset;
            let has_cr = if line_feed > 0 {
                bytes[line_feed - 1] == b'\r'
            } else {
                self.ends_with_cr
            };
            if !has_cr {
                return HeadScan::BareLineFeed(line_feed);
            }
            let is_empty = self.line_length + offset == 1;
            start = line_feed + 1;
            self.line_length = 0;
            if !is_empty {
                self.has_request_line = true;
            } else if self.has_request_line {
                return HeadScan::Complete(start);
            }
        }
        self.line_length += bytes.len() - start;
        self.ends_with_cr = bytes.last() == Some(&b'\r');
        HeadScan::Incomplete
    }

    fn compare_with_preface(&mut self, bytes: &[u8]) {
        let expected = &HTTP2_PREFACE_HEAD[self.preface_length..];
        let length = bytes.len().min(expected.len());
        self.preface_length += length;
        self.differs_from_preface |= bytes[..length] != expected[..length];
    }

    fn is_http2_preface(&self) -> bool {
        self.preface_length == HTTP2_PREFACE_HEAD.len() && !self.differs_from_preface
    }
}

/// A chunked body that is being read (RFC 9112, section 7.1).
///
/// hyper parses the same bytes strictly and closes the connection after a malformed line, so this accepts any.
#[derive(Debug, Default)]
struct Chunks {
    line: Line,
    /// The size of the chunk whose line is being read.
    size: u64,
    /// The number of bytes to skip: the rest of the chunk and the end of its last line.
    left: u64,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Size,
    /// What follows the size up to the end of the line.
    Extension,
    /// A line after the last chunk, and whether it is empty so far.
    Trailer { is_empty: bool },
}

impl Chunks {
    /// Returns how many of `bytes` belong to this body, and whether it is complete.
    fn scan(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut position = 0;
        while position < bytes.len() {
            if self.left > 0 {
                let rest = bytes.len() - position;
                let skipped = rest.min(usize::try_from(self.left).unwrap_or(usize::MAX));
                position += skipped;
                self.left -= skipped as u64;
                continue;
            }
            let byte = bytes[position];
            position += 1;
            match (&self.line, byte) {
                (Line::Trailer { is_empty: true }, b'\n') => return (position, true),
                (Line::Trailer { is_empty: false }, b'\n') => self.line = Line::Trailer { is_empty: true },
                (Line::Trailer { .. }, b'\r') => {}
                (Line::Trailer { .. }, _) => self.line = Line::Trailer { is_empty: false },
                (_, b'\n') => self.start_chunk(),
                (Line::Size, _) => match char::from(byte).to_digit(16) {
                    Some(digit) => self.size = self.size.saturating_mul(16).saturating_add(digit.into()),
                    None => self.line = Line::Extension,
                },
                (Line::Extension, _) => {}
            }
        }
        (position, false)
    }

    fn start_chunk(&mut self) {
        if self.size == 0 {
            self.line = Line::Trailer { is_empty: true };
        } else {
            self.line = Line::Size;
            self.left = self.size.saturating_add(2);
            self.size = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write;

    const CHUNKED: &str = "5;a=b\r\na\nb\nc\r\n1\r\n\n\r\n0\r\nx: y\r\n\r\n";

    /// Returns the pieces that hyper gets of `text`, which is read in pieces of `size` bytes. `lengths` are those of the
    /// bodies, in the order of the heads.
    fn pieces(text: &str, size: usize, lengths: &[BodyLength]) -> Vec<Vec<u8>> {
        let mut framing = RequestFraming::new();
        let mut lengths = lengths.iter();
        let mut pieces = vec![Vec::new()];
        for read in text.as_bytes().chunks(size) {
            let mut rest = read.to_vec();
            while !rest.is_empty() {
                if framing.needs_body_length() {
                    framing.start_body(*lengths.next().expect("a body length for each head"));
                    pieces.push(Vec::new());
                }
                let count = framing.deliver(&mut rest);
                assert!(count > 0);
                pieces.last_mut().unwrap().extend(rest.drain(..count));
            }
        }
        pieces
    }

    fn is_refused(text: &str, size: usize) -> bool {
        pieces(text, size, &[BodyLength::Empty])
            .concat()
            .contains(&INVALID_BYTE)
    }

    #[test]
    fn a_bare_line_feed_in_a_head_is_replaced() {
        for text in [
            "GET / HTTP/1.1\nhost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nhost: a\n\r\n",
            "GET / HTTP/1.1\r\nhost: a\r\n\n",
            "GET / HTTP/1.1\r\nhost: a\n\n",
            "\nGET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\n\r\n",
        ] {
            for size in [1, 2, 3, 7, 100] {
                assert!(is_refused(text, size), "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_head_without_a_bare_line_feed_is_not_changed() {
        for text in [
            "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n",
        ] {
            for size in [1, 2, 3, 7, 100] {
                assert!(!is_refused(text, size), "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn http2_frames_are_not_looked_at() {
        let text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n\n\n";
        for size in [1, 5, 24, 100] {
            assert!(!is_refused(text, size));
        }
        assert!(is_refused("PRI * HTTP/2.0\r\nx: y\n\r\n\r\n\n", 100));
    }

    proptest! {
        #[test]
        fn line_feeds_in_bodies_are_delivered_and_the_next_head_is_found(
            bodies in proptest::collection::vec((0..3_u8, "[a\n\r]{1,40}"), 1..5),
            size in 1..60_usize,
        ) {
            let mut text = String::new();
            let mut lengths = Vec::new();
            for (kind, body) in &bodies {
                text.push_str("POST / HTTP/1.1\r\nhost: a\r\n\r\n");
                match kind {
                    0 => lengths.push(BodyLength::Empty),
                    1 => {
                        text.push_str(body);
                        lengths.push(BodyLength::Bytes(body.len() as u64));
                    }
                    _ => {
                        write!(text, "{:X}\r\n{body}\r\n{CHUNKED}", body.len()).unwrap();
                        lengths.push(BodyLength::Chunked);
                    }
                }
            }
            let delivered = pieces(&text, size, &lengths);
            prop_assert_eq!(delivered.concat(), text.as_bytes());
            text.push_str("GET / HTTP/1.1\n\r\n");
            lengths.push(BodyLength::Empty);
            prop_assert!(pieces(&text, size, &lengths).concat().contains(&INVALID_BYTE));
        }
    }
}
