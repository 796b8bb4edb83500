//! One keep-alive connection to a server on this machine: send the bytes of a request, read one answer.
//! Blocking, without Nagle's delay, its buffer reused, so that a call costs one write and one read.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::answer;

const PATIENCE: Duration = Duration::from_secs(30);

pub struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
    closed: bool,
}

pub struct Answer<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Self> {
        ensure!(
            address.ip().is_loopback(),
            "{address} is not on this machine: only loopback is measured"
        );
        Ok(Self {
            address,
            stream: connect(address)?,
            buffer: vec![0; 64 * 1024],
            closed: false,
        })
    }

    pub fn call(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.send(request)?;
        self.receive()
    }

    pub fn send(&mut self, request: &[u8]) -> Result<()> {
        if self.closed {
            self.stream = connect(self.address)?;
            self.closed = false;
        }
        self.stream
            .write_all(request)
            .context("the server does not take requests any more")
    }

    pub fn receive(&mut self) -> Result<Answer<'_>> {
        let mut filled = 0;
        let head = loop {
            filled += self.read_more(filled)?;
            if let Some(head) = answer::head(&self.buffer[..filled])? {
                break head;
            }
        };
        let whole = head.whole_length();
        if whole > self.buffer.len() {
            self.buffer.resize(whole, 0);
        }
        while filled < whole {
            filled += self.read_more(filled)?;
        }
        ensure!(
            filled == whole,
            "the server sent {} bytes more than it announced",
            filled - whole
        );
        self.closed = head.closes;
        Ok(Answer {
            status: head.status,
            body: &self.buffer[head.body_at..whole],
        })
    }

    fn read_more(&mut self, filled: usize) -> Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(filled * 2, 0);
        }
        loop {
            match self.stream.read(&mut self.buffer[filled..]) {
                Ok(0) => {
                    self.closed = true;
                    bail!("the server closed the connection in place of an answer");
                }
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.closed = true;
                    return Err(error).with_context(|| format!("no answer within {} s", PATIENCE.as_secs()));
                }
            }
        }
    }
}

fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).with_context(|| format!("nobody listens on {address}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that answers each accepted connection with the given bytes, piece by piece, then hangs up.
    fn server(answers: Vec<Vec<Vec<u8>>>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for pieces in answers {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).unwrap();
                for piece in pieces {
                    stream.write_all(&piece).unwrap();
                    stream.flush().unwrap();
                }
            }
        });
        address
    }

    #[test]
    fn an_answer_larger_than_the_buffer_arrives_whole() {
        let mut pieces = vec![
            b"HTTP/1.1 200 OK\r\ncontent-le".to_vec(),
            b"ngth: 300000\r\n\r\n".to_vec(),
        ];
        pieces.extend((0..300).map(|_| vec![b'x'; 1000]));
        let mut connection = Connection::open(server(vec![pieces])).unwrap();
        let answer = connection.call(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((answer.status, answer.body.len()), (200, 300_000));
    }

    #[test]
    fn after_an_answer_that_closes_the_next_call_opens_a_new_connection() {
        let bytes = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n1".to_vec();
        let mut connection = Connection::open(server(vec![vec![bytes.clone()], vec![bytes]])).unwrap();
        for _ in 0..2 {
            assert_eq!(connection.call(b"GET / HTTP/1.1\r\n\r\n").unwrap().body, b"1");
        }
    }

    #[test]
    fn a_server_that_hangs_up_early_is_an_error() {
        let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec();
        let mut connection = Connection::open(server(vec![vec![cut]])).unwrap();
        assert!(connection.call(b"GET / HTTP/1.1\r\n\r\n").is_err());
    }

    #[test]
    fn an_address_of_another_machine_is_refused() {
        assert!(Connection::open("192.0.2.1:80".parse().unwrap()).is_err());
    }
}
