//! Parses the head of an HTTP/1.1 response: the status, the length of the body, and whether the connection
//! closes after it.
//!
//! The body must have a `Content-Length` (RFC 9112, section 6.3), as every response that the benchmarks read
//! has.

use anyhow::{Context, Result, bail};

/// Longer than any response head that Causeway sends.
const MAX_HEAD_SIZE: usize = 64 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResponseHead {
    pub status: u16,
    pub body_start: usize,
    pub body_length: usize,
    pub closes_connection: bool,
}

impl ResponseHead {
    pub(crate) fn total_length(&self) -> usize {
        self.body_start + self.body_length
    }
}

/// Parses the head at the start of `bytes`. Returns `None` if it is incomplete.
pub(crate) fn parse_head(bytes: &[u8]) -> Result<Option<ResponseHead>> {
    let mut body_length = None;
    let mut closes_connection = false;
    let mut status = None;
    let mut line_start = 0;
    while let Some(length) = bytes[line_start..].iter().position(|byte| *byte == b'\n') {
        let line = bytes[line_start..line_start + length].trim_ascii_end();
        line_start += length + 1;
        let Some(status) = status else {
            status = Some(parse_status(line)?);
            continue;
        };
        if line.is_empty() {
            let body_length = match body_length {
                _ if matches!(status, 204 | 304) => 0,
                Some(length) => length,
                None => bail!("the response has no Content-Length (status {status})"),
            };
            return Ok(Some(ResponseHead {
                status,
                body_start: line_start,
                body_length,
                closes_connection,
            }));
        }
        if let Some(value) = header_value(line, b"content-length") {
            let text = std::str::from_utf8(value).context("Content-Length is not text")?;
            body_length = Some(
                text.parse()
                    .with_context(|| format!("Content-Length is {text:?}"))?,
            );
        } else if let Some(value) = header_value(line, b"connection") {
            closes_connection = value.eq_ignore_ascii_case(b"close");
        }
    }
    if bytes.len() > MAX_HEAD_SIZE {
        bail!("the response head is longer than {MAX_HEAD_SIZE} bytes");
    }
    Ok(None)
}

fn parse_status(line: &[u8]) -> Result<u16> {
    line.strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok())
        .with_context(|| format!("not an HTTP/1.1 response: {:?}", String::from_utf8_lossy(line)))
}

fn header_value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RESPONSE: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCONTENT-LENGTH:  11 \r\n\r\nhello world";

    #[test]
    fn a_plain_response_is_parsed() {
        let head = parse_head(RESPONSE).unwrap().unwrap();
        assert_eq!(
            (head.status, head.body_length, head.closes_connection),
            (200, 11, false)
        );
        assert_eq!(&RESPONSE[head.body_start..], b"hello world");
        assert_eq!(head.total_length(), RESPONSE.len());
    }

    #[test]
    fn a_connection_header_with_close_is_recognized() {
        let bytes = b"HTTP/1.1 400 Bad Request\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n";
        let head = parse_head(bytes).unwrap().unwrap();
        assert_eq!(
            (head.status, head.body_length, head.closes_connection),
            (400, 0, true)
        );
    }

    #[test]
    fn a_response_without_a_body_needs_no_content_length() {
        let bytes = b"HTTP/1.1 304 Not Modified\r\netag: \"1\"\r\n\r\n";
        assert_eq!(parse_head(bytes).unwrap().unwrap().body_length, 0);
    }

    #[test]
    fn malformed_responses_are_rejected() {
        for bytes in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"HTTP/1.1 2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        ] {
            assert!(parse_head(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        assert!(parse_head(&vec![b'a'; MAX_HEAD_SIZE + 1]).is_err());
    }

    proptest! {
        #[test]
        fn a_truncated_head_is_incomplete(cut in 0..RESPONSE.len() - 11) {
            prop_assert_eq!(parse_head(&RESPONSE[..cut]).unwrap(), None);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = parse_head(&bytes);
        }
    }
}
