//! A blocking keep-alive connection to a server on this machine.
//!
//! Nagle's algorithm is off and the buffer is reused, so that a request costs one write and one read.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use socket2::{Domain, Socket, Type};

use crate::response::parse_head;

const READ_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Connection {
    source: IpAddr,
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
    is_closed: bool,
}

pub(crate) struct Response<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        Self::open_from(IpAddr::V4(Ipv4Addr::LOCALHOST), address)
    }

    /// Connects from the loopback address `source`.
    pub(crate) fn open_from(source: IpAddr, address: SocketAddr) -> Result<Self> {
        ensure!(
            address.ip().is_loopback(),
            "{address} is not a loopback address: only servers on this machine are measured"
        );
        Ok(Self {
            source,
            address,
            stream: open_stream(source, address)?,
            buffer: vec![0; 64 * 1024],
            is_closed: false,
        })
    }

    pub(crate) fn request(&mut self, request: &[u8]) -> Result<Response<'_>> {
        self.send(request)?;
        self.receive()
    }

    pub(crate) fn send(&mut self, request: &[u8]) -> Result<()> {
        if self.is_closed {
            self.stream = open_stream(self.source, self.address)?;
            self.is_closed = false;
        }
        self.stream
            .write_all(request)
            .context("the server no longer accepts requests")
    }

    pub(crate) fn receive(&mut self) -> Result<Response<'_>> {
        let mut filled = 0;
        let head = loop {
            filled += self.read_more(filled)?;
            if let Some(head) = parse_head(&self.buffer[..filled])? {
                break head;
            }
        };
        let total = head.total_length();
        if total > self.buffer.len() {
            self.buffer.resize(total, 0);
        }
        while filled < total {
            filled += self.read_more(filled)?;
        }
        ensure!(
            filled == total,
            "the server sent {} bytes more than its Content-Length",
            filled - total
        );
        self.is_closed = head.closes_connection;
        Ok(Response {
            status: head.status,
            body: &self.buffer[head.body_start..total],
        })
    }

    fn read_more(&mut self, filled: usize) -> Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(filled * 2, 0);
        }
        loop {
            match self.stream.read(&mut self.buffer[filled..]) {
                Ok(0) => {
                    self.is_closed = true;
                    bail!("the server closed the connection without a response");
                }
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_closed = true;
                    return Err(error)
                        .with_context(|| format!("no response within {} s", READ_TIMEOUT.as_secs()));
                }
            }
        }
    }
}

fn open_stream(source: IpAddr, address: SocketAddr) -> Result<TcpStream> {
    let stream = connect(source, address, None)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    Ok(stream)
}

/// Connects from `source`. `buffer` is the size of the receive buffer, if it is not that of the system.
pub(crate) fn connect(source: IpAddr, address: SocketAddr, buffer: Option<usize>) -> Result<TcpStream> {
    let context = || format!("cannot connect to {address}");
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).with_context(context)?;
    if let Some(size) = buffer {
        socket.set_recv_buffer_size(size).with_context(context)?;
    }
    socket
        .bind(&SocketAddr::new(source, 0).into())
        .with_context(context)?;
    socket.connect(&address.into()).with_context(context)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Starts a server that sends the given chunks on each accepted connection and then closes it.
    fn server(responses: Vec<Vec<Vec<u8>>>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for chunks in responses {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).unwrap();
                for chunk in chunks {
                    stream.write_all(&chunk).unwrap();
                    stream.flush().unwrap();
                }
            }
        });
        address
    }

    #[test]
    fn a_response_larger_than_the_buffer_is_read_completely() {
        let mut chunks = vec![
            b"HTTP/1.1 200 OK\r\ncontent-le".to_vec(),
            b"ngth: 300000\r\n\r\n".to_vec(),
        ];
        chunks.extend((0..300).map(|_| vec![b'x'; 1000]));
        let mut connection = Connection::open(server(vec![chunks])).unwrap();
        let response = connection.request(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((response.status, response.body.len()), (200, 300_000));
    }

    #[test]
    fn a_closed_connection_is_reopened_by_the_next_request() {
        let bytes = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n1".to_vec();
        let mut connection = Connection::open(server(vec![vec![bytes.clone()], vec![bytes]])).unwrap();
        for _ in 0..2 {
            assert_eq!(connection.request(b"GET / HTTP/1.1\r\n\r\n").unwrap().body, b"1");
        }
    }

    #[test]
    fn a_truncated_response_is_an_error() {
        let truncated = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec();
        let mut connection = Connection::open(server(vec![vec![truncated]])).unwrap();
        assert!(connection.request(b"GET / HTTP/1.1\r\n\r\n").is_err());
    }

    #[test]
    fn an_address_on_another_machine_is_rejected() {
        assert!(Connection::open("192.0.2.1:80".parse().unwrap()).is_err());
    }
}
