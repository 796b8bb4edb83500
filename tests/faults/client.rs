//! A minimal HTTP client that detects incomplete responses.

use crate::instance::TIMEOUT;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A complete response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// Connects without sending anything.
pub fn connect(server: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&server, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends a request that asks for the connection to be closed afterwards.
pub fn send(stream: &mut TcpStream, path: &str) -> io::Result<()> {
    let head = format!("GET {path} HTTP/1.1\r\nHost: causeway.test\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())
}

/// Reads a complete response.
pub fn receive(stream: TcpStream) -> io::Result<Response> {
    let mut from = BufReader::new(stream);
    let status = line(&mut from)?;
    let status = status.split(' ').nth(1).and_then(|number| number.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("no status line"))?;
    let mut headers = Vec::new();
    loop {
        let line = line(&mut from)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| io::Error::other("no header"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut response = Response {
        status,
        headers,
        body: Vec::new(),
    };
    let length: usize = response
        .header("content-length")
        .and_then(|length| length.parse().ok())
        .ok_or_else(|| io::Error::other("no length"))?;
    response.body.resize(length, 0);
    from.read_exact(&mut response.body)?;
    Ok(response)
}

/// Sends a GET request on its own connection.
pub fn get(server: SocketAddr, path: &str) -> io::Result<Response> {
    let mut stream = connect(server)?;
    send(&mut stream, path)?;
    receive(stream)
}

/// Sends a POST request with a JSON body on its own connection.
pub fn post(server: SocketAddr, path: &str, headers: &str, body: &str) -> io::Result<Response> {
    send_json("POST", server, path, headers, body)
}

/// Sends a request with a JSON body on its own connection.
pub fn send_json(
    method: &str,
    server: SocketAddr,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<Response> {
    send_as(method, "application/json", server, path, headers, body)
}

/// Sends a form with URL-encoded fields.
pub fn post_form(server: SocketAddr, path: &str, fields: &str) -> io::Result<Response> {
    post_form_with(server, path, "", fields)
}

/// Sends a form with more headers, each with its line ending.
pub fn post_form_with(server: SocketAddr, path: &str, headers: &str, fields: &str) -> io::Result<Response> {
    let media = "application/x-www-form-urlencoded";
    send_as("POST", media, server, path, headers, fields)
}

fn send_as(
    method: &str,
    media: &str,
    server: SocketAddr,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<Response> {
    let mut stream = connect(server)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: causeway.test\r\nConnection: close\r\nContent-Type: {media}\r\n\
         Content-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    receive(stream)
}

/// Sends a GET request with more headers, each with its line ending.
pub fn get_with(server: SocketAddr, path: &str, headers: &str) -> io::Result<Response> {
    let mut stream = connect(server)?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: causeway.test\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes())?;
    receive(stream)
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 || !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}
