//! Finds where the head of each HTTP/1 request begins and ends, to look for bare line feeds in it.
//!
//! hyper accepts a line feed alone as the end of a line in a head (RFC 9112, section 2.2, allows it). A proxy in front
//! of the server may not, and the two would then disagree about the fields of a request. hyper does not show the bytes
//! of a head, so the stream looks at them before hyper does. Bodies are not looked at: hyper tells how long each one is,
//! and of a chunked body only the lines between the chunks are read, exactly as hyper reads them. If hyper ever disagrees
//! about the end of a request, it gets nothing more.

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
    /// the current head or body. A bare line feed in a head is replaced by an invalid byte.
    ///
    /// Returns zero if hyper may have no more bytes of this connection: after a bare line feed, after a malformed chunk,
    /// and after a head that hyper has not parsed although it is complete.
    #[inline]
    pub(crate) fn deliver(&mut self, bytes: &mut [u8]) -> usize {
        match &mut self.part {
            Part::Http2 => bytes.len(),
            Part::EndOfHead | Part::Refused => 0,
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
/// The states and transitions are those of hyper's decoder. If they differed, the two could disagree about where the next
/// head begins, and a bare line feed in it would not be found.
#[derive(Debug, Default)]
struct Chunks {
    next: ChunkPart,
    /// The size of the chunk whose line is being read, then the number of its bytes that are left.
    size: u64,
}

/// The part of a chunked body that the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChunkPart {
    /// The first digit of a size.
    #[default]
    SizeStart,
    Size,
    /// The spaces after a size.
    SizeSpace,
    /// What follows the size up to the end of the line.
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// The first byte of a line after the last chunk. The body ends if the line is empty.
    TrailerStart,
    /// The rest of such a line, in which a line feed alone is a byte like any other.
    Trailer,
    TrailerLf,
    EndLf,
    End,
    /// What follows a byte that hyper does not accept. hyper reads no further.
    Malformed,
}

impl Chunks {
    /// Returns how many of `bytes` belong to this body, and whether it is complete.
    fn scan(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut position = 0;
        while position < bytes.len() && self.next != ChunkPart::Malformed {
            if self.next == ChunkPart::Data {
                let rest = bytes.len() - position;
                let skipped = rest.min(usize::try_from(self.size).unwrap_or(usize::MAX));
                position += skipped;
                self.size -= skipped as u64;
                if self.size == 0 {
                    self.next = ChunkPart::DataCr;
                }
                continue;
            }
            self.next = self.part_after(bytes[position]);
            position += 1;
            if self.next == ChunkPart::End {
                return (position, true);
            }
        }
        (position, false)
    }

    fn part_after(&mut self, byte: u8) -> ChunkPart {
        use ChunkPart::{
            Data, DataCr, DataLf, End, EndLf, Extension, Malformed, Size, SizeLf, SizeSpace, SizeStart,
            Trailer, TrailerLf, TrailerStart,
        };
        match (self.next, byte) {
            (SizeStart | Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.add_digit(byte),
            (Size | SizeSpace, b' ' | b'\t') => SizeSpace,
            (Size | SizeSpace, b';') => Extension,
            (Size | SizeSpace | Extension, b'\r') => SizeLf,
            (Extension, byte) if byte != b'\n' => Extension,
            (SizeLf, b'\n') if self.size == 0 => TrailerStart,
            (SizeLf, b'\n') => Data,
            (DataCr, b'\r') => DataLf,
            (DataLf, b'\n') => SizeStart,
            (TrailerStart, b'\r') => EndLf,
            (Trailer, b'\r') => TrailerLf,
            (TrailerStart | Trailer, _) => Trailer,
            (TrailerLf, b'\n') => TrailerStart,
            (EndLf, b'\n') => End,
            _ => Malformed,
        }
    }

    fn add_digit(&mut self, byte: u8) -> ChunkPart {
        let size = char::from(byte)
            .to_digit(16)
            .and_then(|digit| self.size.checked_mul(16)?.checked_add(digit.into()));
        match size {
            Some(size) => {
                self.size = size;
                ChunkPart::Size
            }
            None => ChunkPart::Malformed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper::{Request, Response};
    use hyper_util::rt::TokioIo;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::fmt::Write;
    use tokio::io::AsyncWriteExt;

    const CHUNKS: &str = "5;a=b\r\na\nb\nc\r\n1\r\n\n\r\n0\r\n";

    /// Returns the pieces that hyper gets of `text`, which is read in pieces of `size` bytes. `lengths` are those of the
    /// bodies, in the order of the heads. Ends early if the rest is not delivered.
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
                if count == 0 {
                    return pieces;
                }
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

    #[test]
    fn nothing_is_delivered_after_a_head_that_hyper_has_not_parsed() {
        let mut framing = RequestFraming::new();
        let mut head = b"GET / HTTP/1.1\r\n\r\n".to_vec();
        assert_eq!(framing.deliver(&mut head), head.len());
        assert_eq!(framing.deliver(&mut b"GET / HTTP/1.1\n\n".to_vec()), 0);
        framing.start_body(BodyLength::Empty);
        assert_eq!(framing.deliver(&mut head), head.len());
    }

    #[test]
    fn nothing_is_delivered_after_a_bare_line_feed() {
        let mut framing = RequestFraming::new();
        assert_eq!(framing.deliver(&mut b"GET /\nGET".to_vec()), 6);
        assert_eq!(framing.deliver(&mut b" / HTTP/1.1\r\n\r\n".to_vec()), 0);
    }

    #[test]
    fn nothing_is_delivered_after_a_malformed_chunk() {
        for (body, malformed) in [
            ("\r\n", 0),
            ("g", 0),
            ("4\nabcd", 1),
            ("4 4\r\n", 2),
            ("4\r\r\n", 2),
            ("4;\n", 2),
            ("4\r\nabcdXX", 7),
            ("4\r\nabcd\rX", 8),
            ("10000000000000000\r\n", 16),
            ("0\r\nx: y\rz\r\n\r\n", 8),
            ("0\r\n\rx", 4),
        ] {
            for size in [1, 3, 100] {
                let text = format!("POST / HTTP/1.1\r\n\r\n{body}GET / HTTP/1.1\r\n\r\n");
                let delivered = pieces(&text, size, &[BodyLength::Chunked]);
                assert_eq!(
                    delivered[1],
                    body.as_bytes()[..=malformed],
                    "{body:?} in pieces of {size}"
                );
            }
        }
    }

    /// Returns whether hyper accepts `body` as a complete chunked body.
    async fn is_complete_to_hyper(body: &[u8]) -> bool {
        let is_complete = Cell::new(false);
        let service = service_fn(|request: Request<Incoming>| async {
            is_complete.set(request.into_body().collect().await.is_ok());
            Ok::<_, Infallible>(Response::new(String::new()))
        });
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let head = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        client.write_all(head).await.unwrap();
        client.write_all(body).await.unwrap();
        client.shutdown().await.unwrap();
        let _ = http1::Builder::new()
            .half_close(true)
            .serve_connection(TokioIo::new(server), service)
            .await;
        is_complete.get()
    }

    proptest! {
        #[test]
        fn a_chunked_body_ends_where_hyper_finds_its_end(
            start in prop::sample::select(vec!["", "0\r\n", "1 ;a\r\n\n\r\n0\r\n", "2\r\n\r\n\r\n00;\r\n"]),
            rest in prop::collection::vec(
                prop::sample::select(vec!["\r\n", "\n", "\r", "0", "1", ";", " ", "a", "x: y", "0\r\n"]),
                0..10,
            ),
        ) {
            let body = format!("{start}{}\r\n\r\n", rest.concat()).into_bytes();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let end = (1..=body.len()).find(|end| runtime.block_on(is_complete_to_hyper(&body[..*end])));
            // hyper refuses some trailers after their end, and closes the connection.
            if let Some(end) = end {
                prop_assert_eq!(Chunks::default().scan(&body), (end, true));
            }
        }

        #[test]
        fn line_feeds_in_bodies_are_delivered_and_the_next_head_is_found(
            bodies in prop::collection::vec(
                (0..3_u8, "[a\n\r]{1,40}", "([a\n][a: \n]{0,8}\r\n){0,3}"),
                1..5,
            ),
            size in 1..60_usize,
        ) {
            let mut text = String::new();
            let mut lengths = Vec::new();
            for (kind, body, trailers) in &bodies {
                text.push_str("POST / HTTP/1.1\r\nhost: a\r\n\r\n");
                match kind {
                    0 => lengths.push(BodyLength::Empty),
                    1 => {
                        text.push_str(body);
                        lengths.push(BodyLength::Bytes(body.len() as u64));
                    }
                    _ => {
                        write!(text, "{:X}\r\n{body}\r\n{CHUNKS}{trailers}\r\n", body.len()).unwrap();
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
