//! Reads the head of an HTTP/1.1 answer: status, length of the body, and whether the connection ends with it.
//! Bodies must come with a `Content-Length` (RFC 9112, section 6.3); that is all this product sends on its reads.

use anyhow::{Context, Result, bail};

/// More than any head this product sends; a head that grows past it is not ours.
const LONGEST_HEAD: usize = 64 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub body_at: usize,
    pub body_length: usize,
    pub closes: bool,
}

impl Head {
    pub fn whole_length(&self) -> usize {
        self.body_at + self.body_length
    }
}

/// The head at the start of `bytes`, or `None` while it is not whole yet.
pub fn head(bytes: &[u8]) -> Result<Option<Head>> {
    let mut body_length = None;
    let mut closes = false;
    let mut status = None;
    let mut line_at = 0;
    while let Some(length) = bytes[line_at..].iter().position(|byte| *byte == b'\n') {
        let line = bytes[line_at..line_at + length].trim_ascii_end();
        line_at += length + 1;
        let Some(status) = status else {
            status = Some(status_of(line)?);
            continue;
        };
        if line.is_empty() {
            let body_length = match body_length {
                _ if matches!(status, 204 | 304) => 0,
                Some(length) => length,
                None => bail!("an answer without Content-Length (status {status})"),
            };
            return Ok(Some(Head {
                status,
                body_at: line_at,
                body_length,
                closes,
            }));
        }
        if let Some(value) = field(line, b"content-length") {
            let text = std::str::from_utf8(value).context("Content-Length is not text")?;
            body_length = Some(
                text.parse()
                    .with_context(|| format!("Content-Length is {text:?}"))?,
            );
        } else if let Some(value) = field(line, b"connection") {
            closes = value.eq_ignore_ascii_case(b"close");
        }
    }
    if bytes.len() > LONGEST_HEAD {
        bail!("the head of an answer is longer than {LONGEST_HEAD} bytes");
    }
    Ok(None)
}

fn status_of(line: &[u8]) -> Result<u16> {
    line.strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok())
        .with_context(|| format!("not an HTTP/1.1 answer: {:?}", String::from_utf8_lossy(line)))
}

fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCONTENT-LENGTH:  11 \r\n\r\nhello world";

    #[test]
    fn a_plain_answer_is_read() {
        let head = head(WHOLE).unwrap().unwrap();
        assert_eq!((head.status, head.body_length, head.closes), (200, 11, false));
        assert_eq!(&WHOLE[head.body_at..], b"hello world");
        assert_eq!(head.whole_length(), WHOLE.len());
    }

    #[test]
    fn an_answer_that_ends_the_connection_says_so() {
        let bytes = b"HTTP/1.1 400 Bad Request\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n";
        let head = head(bytes).unwrap().unwrap();
        assert_eq!((head.status, head.body_length, head.closes), (400, 0, true));
    }

    #[test]
    fn answers_without_a_body_need_no_length() {
        let bytes = b"HTTP/1.1 304 Not Modified\r\netag: \"1\"\r\n\r\n";
        assert_eq!(head(bytes).unwrap().unwrap().body_length, 0);
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        for bytes in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"HTTP/1.1 2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        ] {
            assert!(head(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        assert!(head(&vec![b'a'; LONGEST_HEAD + 1]).is_err());
    }

    proptest! {
        #[test]
        fn a_head_cut_anywhere_is_not_whole_yet(cut in 0..WHOLE.len() - 11) {
            prop_assert_eq!(head(&WHOLE[..cut]).unwrap(), None);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
            let _ = head(&bytes);
        }
    }
}
