//! A minimal HTTP client: one connection for each request, and an error for each response that is not complete.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longer than any timeout of the balancer and of the servers.
const TIMEOUT: Duration = Duration::from_mins(1);

pub(super) struct Response {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the value of a header; `name` is lowercase.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .next()
    }

    /// Returns the body as JSON, or null if it is something else.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

pub(super) fn get(address: SocketAddr, path: &str) -> io::Result<Response> {
    send(address, "GET", path, "", "")
}

pub(super) fn post_form(address: SocketAddr, path: &str, fields: &str) -> io::Result<Response> {
    let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
    send(address, "POST", path, headers, fields)
}

/// Sends a request. `headers` end with a line ending each.
pub(super) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<Response> {
    send_bytes(address, method, path, headers, body.as_bytes())
}

/// Sends a request with a body that need not be text.
pub(super) fn send_bytes(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<Response> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    let length = if method == "GET" {
        String::new()
    } else {
        format!("Content-Length: {}\r\n", body.len())
    };
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{length}{headers}\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> io::Result<Response> {
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .ok_or(ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let response = Response {
        status: status.ok_or(ErrorKind::InvalidData)?,
        head,
        body: bytes[end + 4..].to_vec(),
    };
    let length: Option<usize> = response
        .header("content-length")
        .and_then(|length| length.parse().ok());
    if length.is_some_and(|length| length != response.body.len()) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_parsed_with_its_headers() {
        let response = parse(b"HTTP/1.1 303 See Other\r\nLocation: /donations/1\r\n\r\n").unwrap();
        assert_eq!(response.status, 303);
        assert_eq!(response.header("location"), Some("/donations/1"));
        assert_eq!(response.header("etag"), None);
    }

    #[test]
    fn an_incomplete_response_is_an_error() {
        for bytes in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        ] {
            assert!(parse(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }
}
