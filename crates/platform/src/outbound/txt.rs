//! Looks up TXT records (RFC 1035): one question over UDP, and again over TCP if the answer does not fit.
//!
//! The system's own lookups return addresses only. A resolver library would take longer to build than the rest of this
//! crate.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// How long one attempt may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// UDP loses packets.
const ATTEMPTS: usize = 2;
/// The size of an answer over UDP that we announce (EDNS, RFC 6891). It fits in one packet on every network.
const MAX_UDP_BYTES: u16 = 1_232;

const TXT: u16 = 16;
const OPT: u16 = 41;
const INTERNET: u16 = 1;

/// Why a lookup failed.
#[derive(Debug, Error)]
pub enum LookupError {
    #[error("no name server is configured on this server")]
    NoServer,
    #[error("the name server did not answer")]
    NoAnswer,
    #[error("the name does not exist")]
    NoSuchName,
}

/// Returns the first name server of the system.
pub(crate) fn system_server() -> Option<SocketAddr> {
    let settings = fs::read_to_string("/etc/resolv.conf").ok()?;
    let servers = settings
        .lines()
        .filter_map(|line| line.strip_prefix("nameserver"));
    let mut addresses = servers.filter_map(|rest| rest.trim().parse().ok());
    addresses.next().map(|address| SocketAddr::new(address, 53))
}

/// Lists the TXT records of a host name.
pub async fn lookup(server: Option<SocketAddr>, name: &str) -> Result<Vec<String>, LookupError> {
    let server = server.or_else(system_server).ok_or(LookupError::NoServer)?;
    for _ in 0..ATTEMPTS {
        let question = Question::new(name);
        let Ok(Ok(answer)) = timeout(ATTEMPT_TIMEOUT, ask(server, &question)).await else {
            continue;
        };
        return question.read(&answer);
    }
    Err(LookupError::NoAnswer)
}

async fn ask(server: SocketAddr, question: &Question) -> std::io::Result<Vec<u8>> {
    let local: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(local).await?;
    socket.connect(server).await?;
    socket.send(&question.bytes).await?;
    let mut answer = vec![0; usize::from(MAX_UDP_BYTES)];
    // Packets that answer something else are ignored.
    loop {
        let length = socket.recv(&mut answer).await?;
        if question.is_answered_by(&answer[..length]) {
            answer.truncate(length);
            break;
        }
    }
    let is_truncated = answer[2] & 0b10 != 0;
    if !is_truncated {
        return Ok(answer);
    }
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.bytes.len()).map_err(std::io::Error::other)?;
    stream.write_u16(length).await?;
    stream.write_all(&question.bytes).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    if question.is_answered_by(&answer) {
        Ok(answer)
    } else {
        Err(std::io::ErrorKind::InvalidData.into())
    }
}

/// A question for the TXT records of a name.
struct Question {
    bytes: Vec<u8>,
    /// Where the question ends, and the OPT record begins.
    end: usize,
}

impl Question {
    fn new(name: &str) -> Question {
        // Random, so that nobody else can forge an answer.
        let mut bytes = vec![0; 2];
        getrandom::fill(&mut bytes).expect("the system has random bytes");
        // Recursion is desired; one question, no answers, one additional record.
        for field in [0x0100_u16, 1, 0, 0, 1] {
            bytes.extend(field.to_be_bytes());
        }
        for label in name.split('.').filter(|label| !label.is_empty()) {
            // A host name has labels of at most 63 bytes.
            let label = &label.as_bytes()[..label.len().min(63)];
            bytes.push(label.len() as u8);
            bytes.extend(label);
        }
        bytes.push(0);
        bytes.extend([TXT, INTERNET].map(u16::to_be_bytes).as_flattened());
        let end = bytes.len();
        bytes.push(0);
        bytes.extend([OPT, MAX_UDP_BYTES, 0, 0, 0].map(u16::to_be_bytes).as_flattened());
        Question { bytes, end }
    }

    /// Returns whether a message is a response with this ID to this question.
    fn is_answered_by(&self, message: &[u8]) -> bool {
        message.len() >= self.end
            && message[..2] == self.bytes[..2]
            && message[2] & 0x80 != 0
            && message[4..6] == [0, 1]
            && message[12..self.end].eq_ignore_ascii_case(&self.bytes[12..self.end])
    }

    /// Reads the TXT records of a response to this question. A damaged response ends the list.
    fn read(&self, message: &[u8]) -> Result<Vec<String>, LookupError> {
        match message[3] & 0x0f {
            0 => {}
            3 => return Err(LookupError::NoSuchName),
            _ => return Err(LookupError::NoAnswer),
        }
        let count = u16::from_be_bytes([message[6], message[7]]);
        let mut records = Vec::new();
        let mut rest = &message[self.end..];
        for _ in 0..count {
            let Some((kind, data, after)) = read_record(rest) else {
                break;
            };
            if kind == TXT {
                records.push(read_text(data));
            }
            rest = after;
        }
        Ok(records)
    }
}

/// Splits the first record from a section: its type, its data, and what follows.
fn read_record(section: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let mut rest = section;
    // The name: labels, and at their end nothing or a pointer.
    loop {
        match rest {
            [0, after @ ..] | [0xc0..=0xff, _, after @ ..] => {
                rest = after;
                break;
            }
            [length @ 1..=63, ..] => rest = rest.get(1 + usize::from(*length)..)?,
            _ => return None,
        }
    }
    let (head, rest) = rest.split_at_checked(10)?;
    let length = usize::from(u16::from_be_bytes([head[8], head[9]]));
    let (data, rest) = rest.split_at_checked(length)?;
    Some((u16::from_be_bytes([head[0], head[1]]), data, rest))
}

/// Joins the strings of a TXT record.
fn read_text(mut data: &[u8]) -> String {
    let mut text = Vec::new();
    while let [length, rest @ ..] = data {
        let (part, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        text.extend(part);
        data = rest;
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::net::TcpListener;

    /// Answers a question with TXT records, whose names are pointers to the question.
    fn answer(question: &[u8], records: &[&str]) -> Vec<u8> {
        let end = question.len() - 11;
        let mut message = question[..end].to_vec();
        message[2] |= 0x80;
        message[6..8].copy_from_slice(&(records.len() as u16).to_be_bytes());
        message[10..12].copy_from_slice(&[0, 0]);
        for record in records {
            message.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60]);
            let parts: Vec<u8> = record
                .as_bytes()
                .chunks(255)
                .flat_map(|part| [&[part.len() as u8], part].concat())
                .collect();
            message.extend((parts.len() as u16).to_be_bytes());
            message.extend(parts);
        }
        message
    }

    /// A name server with the same records for every name. Over UDP it answers with `truncated` answers only, after a
    /// packet with the wrong ID.
    async fn serve(records: &'static [&'static str], is_truncated: bool) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let socket = UdpSocket::bind(address).await.unwrap();
        tokio::spawn(async move {
            let mut question = [0; 512];
            loop {
                let (length, client) = socket.recv_from(&mut question).await.unwrap();
                let mut reply = answer(&question[..length], if is_truncated { &[] } else { records });
                reply[0] ^= 1;
                socket.send_to(&reply, client).await.unwrap();
                reply[0] ^= 1;
                reply[2] |= if is_truncated { 0b10 } else { 0 };
                socket.send_to(&reply, client).await.unwrap();
            }
        });
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut question = vec![0; usize::from(stream.read_u16().await.unwrap())];
                stream.read_exact(&mut question).await.unwrap();
                let reply = answer(&question, records);
                stream.write_u16(reply.len() as u16).await.unwrap();
                stream.write_all(&reply).await.unwrap();
            }
        });
        address
    }

    #[tokio::test]
    async fn all_txt_records_are_found_over_udp_and_tcp() {
        const LONG: &str = "a record that is longer than one string of a record may be: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
        for is_truncated in [false, true] {
            let server = serve(&["v=spf1 -all", LONG], is_truncated).await;
            let records = lookup(Some(server), "_causeway.shop.example.org").await.unwrap();
            assert_eq!(records, ["v=spf1 -all", LONG], "{is_truncated}");
        }
    }

    #[tokio::test]
    async fn a_server_that_does_not_answer_is_an_error() {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let silent = socket.local_addr().unwrap();
        drop(socket);
        let error = lookup(Some(silent), "shop.example.org").await.unwrap_err();
        assert!(matches!(error, LookupError::NoAnswer), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_answers_are_read_without_a_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            is_damaged in any::<bool>(),
        ) {
            let question = Question::new("shop.example.org");
            let mut message = answer(&question.bytes, &[]);
            message[6..8].copy_from_slice(&[0, 9]);
            if is_damaged && !bytes.is_empty() {
                bytes[0] = 0xc0;
            }
            message.extend(bytes);
            prop_assert!(question.is_answered_by(&message));
            let _ = question.read(&message);
        }
    }
}
