//! HTTP requests, serialized once and sent many times, so that measuring includes no serialization.

use std::net::SocketAddr;

/// A list of serialized requests in one block of memory.
pub(crate) struct Requests {
    address: SocketAddr,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Requests {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub(crate) fn of_path(address: SocketAddr, path: &str) -> Self {
        let mut requests = Self::new(address);
        requests.push(path);
        requests
    }

    /// Adds a GET request. `path` includes the query and is already percent-encoded.
    pub(crate) fn push(&mut self, path: &str) {
        self.bytes
            .extend_from_slice(get_request(self.address, path).as_bytes());
        self.ends.push(self.bytes.len());
    }

    /// Adds a POST request with a JSON body. `headers` are additional header lines, each ending in CRLF.
    pub(crate) fn push_post(&mut self, path: &str, headers: &str, body: &str) {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
            self.address,
            body.len()
        );
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(body.as_bytes());
        self.ends.push(self.bytes.len());
    }

    /// Adds a POST request with one field of a form. `value` is not encoded yet.
    pub(crate) fn push_form(&mut self, path: &str, name: &str, value: &str) {
        let body = format!("{name}={}", encode_segment(value));
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(body.as_bytes());
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

/// Serializes a GET request.
pub(crate) fn get_request(address: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: */*\r\n\r\n")
}

/// Percent-encodes a path segment (RFC 3986): every byte of a character that is not unreserved becomes `%XX`.
///
/// The dots of a segment that consists of dots are encoded too, because `.` and `..` change the path.
pub(crate) fn encode_segment(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let only_dots = text.bytes().all(|byte| byte == b'.');
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_unreserved = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'~')
            || (byte == b'.' && !only_dots);
        if is_unreserved {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(encoded: &str) -> Vec<u8> {
        let mut bytes = encoded.bytes();
        let mut decoded = Vec::new();
        while let Some(byte) = bytes.next() {
            if byte == b'%' {
                let pair = [bytes.next().unwrap(), bytes.next().unwrap()];
                decoded.push(u8::from_str_radix(std::str::from_utf8(&pair).unwrap(), 16).unwrap());
            } else {
                decoded.push(byte);
            }
        }
        decoded
    }

    #[test]
    fn reserved_and_non_ascii_characters_are_encoded() {
        for (text, encoded) in [
            ("red cross", "red%20cross"),
            ("a/b?c#d", "a%2Fb%3Fc%23d"),
            ("100%", "100%25"),
            ("a+b&c=d", "a%2Bb%26c%3Dd"),
            ("café", "caf%C3%A9"),
            ("st. jude", "st.%20jude"),
            ("..", "%2E%2E"),
            ("\0", "%00"),
            ("A-z_0~9", "A-z_0~9"),
        ] {
            assert_eq!(encode_segment(text), encoded);
        }
    }

    #[test]
    fn requests_are_returned_unchanged() {
        let address = "127.0.0.1:80".parse().unwrap();
        let mut requests = Requests::of_path(address, "/a");
        requests.push("/b");
        assert_eq!(requests.len(), 2);
        assert_eq!(requests.get(0), get_request(address, "/a").as_bytes());
        assert_eq!(requests.get(1), get_request(address, "/b").as_bytes());
    }

    proptest! {
        #[test]
        fn a_segment_decodes_to_its_text_and_never_changes_the_path(text: String) {
            let encoded = encode_segment(&text);
            prop_assert_eq!(decode(&encoded), text.as_bytes());
            prop_assert!(encoded.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.~%".contains(&b)));
            prop_assert!(encoded != "." && encoded != "..");
        }
    }
}
