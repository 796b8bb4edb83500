//! The clients of a flood. Each is bounded in count and time and stops by itself.
//!
//! A flood runs on the calling thread. Its sockets do not block, so that one thread serves thousands of them and none
//! can hold it up.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::base64::base64;
use crate::connection::{Connection, connect};
use crate::costly_floods;
use crate::hostile_content::HostileContent;
use crate::http2_frames::{preface, push_get, push_reset};
use crate::requests::{Requests, get_request};

/// The receive buffer of a client that reads slowly. Linux doubles it.
pub(crate) const SMALL_BUFFER: usize = 4096;

/// The pause after each pass over all connections, and so the time between two bytes of a slow client.
const PASS_PAUSE: Duration = Duration::from_millis(250);

/// The streams that a flood opens on each HTTP/2 connection.
pub(crate) const STREAMS_PER_CONNECTION: u32 = 100;

/// The number of concurrent requests of the floods that read their responses.
const BUSY_CONNECTIONS: usize = 64;

/// The longest time for a flood with a fixed number of requests.
const MAX_BUSY_TIME: Duration = Duration::from_mins(2);

/// What floods need to know about the server.
#[derive(Clone)]
pub(crate) struct Target {
    pub address: SocketAddr,
    /// A public key without a limit that would matter, and a private key of the same account.
    pub public_key: String,
    pub private_key: String,
    /// Divides all counts, for a quick test.
    pub divisor: usize,
    pub duration: Duration,
    /// The number of addresses that the flood comes from.
    pub addresses: usize,
    pub content: HostileContent,
}

/// A way to flood the server.
pub(crate) struct Flood {
    pub name: &'static str,
    /// Returns the number of connections or requests that were made, with a word for what they are.
    pub run: fn(&Target) -> Result<String>,
    /// The numbers of addresses from which it is run, one after the other.
    pub addresses: &'static [usize],
    /// Whether it runs the other floods.
    pub is_mix: bool,
    /// Whether a quick test includes it.
    pub is_quick: bool,
}

pub(crate) const FLOODS: &[Flood] = &[
    Flood::held("HTTP/2 readers without a window", zero_window),
    Flood::new("slow heads", slow_heads),
    Flood::held("slow bodies", slow_bodies),
    Flood::held("slow readers", slow_readers),
    Flood::new("HTTP/2 rapid reset", rapid_reset),
    Flood::new("sitemaps", sitemaps),
    Flood::new("idle connections", idle_connections),
    Flood::new("mixed requests", mixed_requests),
    Flood::costly("tables", costly_floods::tables),
    Flood::costly("unfinished bodies", costly_floods::unfinished_bodies),
    Flood::costly("data extension", costly_floods::data_extension),
    Flood::costly("unread pictures", costly_floods::unread_pictures),
    Flood::costly("sorted lists", costly_floods::sorted_lists),
    Flood {
        is_mix: true,
        is_quick: true,
        ..Flood::costly("random mix", costly_floods::random_mix)
    },
];

impl Flood {
    /// A flood from two addresses, because the server limits connections per address.
    const fn new(name: &'static str, run: fn(&Target) -> Result<String>) -> Flood {
        Flood {
            name,
            run,
            addresses: &[2],
            is_mix: false,
            is_quick: true,
        }
    }

    /// A flood that holds memory, from one address and from many.
    const fn held(name: &'static str, run: fn(&Target) -> Result<String>) -> Flood {
        Flood {
            addresses: &[1, 50],
            ..Flood::new(name, run)
        }
    }

    const fn costly(name: &'static str, run: fn(&Target) -> Result<String>) -> Flood {
        Flood {
            is_quick: false,
            ..Flood::held(name, run)
        }
    }
}

/// 800 connections with 100 streams each, whose windows are so small that the responses stay on the server.
fn zero_window(target: &Target) -> Result<String> {
    let path = format!("/v0.2/search/a?take=50&apiKey={}", target.public_key);
    let mut sockets = Sockets::new(target.count(800));
    for number in 0..sockets.capacity {
        let mut bytes = preface([0, 1, 1024][number % 3]);
        for index in 0..STREAMS_PER_CONNECTION {
            push_get(&mut bytes, index, "127.0.0.1", &path);
        }
        sockets.open(target, number, None)?.send(bytes);
    }
    sockets.hold(target, |_| None);
    Ok(sockets.summary())
}

/// 2,000 connections that send a head byte by byte.
fn slow_heads(target: &Target) -> Result<String> {
    let mut sockets = Sockets::new(target.count(2_000));
    for number in 0..sockets.capacity {
        let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Slow: ", target.address);
        sockets.open(target, number, None)?.send(head.into_bytes());
    }
    sockets.hold(target, |_| Some(b"~"));
    Ok(sockets.summary())
}

/// 2,000 connections that send a body byte by byte.
fn slow_bodies(target: &Target) -> Result<String> {
    let mut sockets = Sockets::new(target.count(2_000));
    let credentials = base64(format!("{}:{}", target.public_key, target.private_key).as_bytes());
    for number in 0..sockets.capacity {
        let head = format!(
            "POST /v0.2/fundraiser HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {credentials}\r\n\
             Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{{",
            target.address
        );
        sockets.open(target, number, None)?.send(head.into_bytes());
    }
    sockets.hold(target, |_| Some(b" "));
    Ok(sockets.summary())
}

/// 1,000 connections that pipeline three requests for large responses and read them byte by byte.
fn slow_readers(target: &Target) -> Result<String> {
    let mut sockets = Sockets::new(target.count(1_000));
    let path = format!("/v0.2/browse/animals?take=100&apiKey={}", target.public_key);
    let requests = get_request(target.address, &path).repeat(3);
    for number in 0..sockets.capacity {
        sockets
            .open(target, number, Some(SMALL_BUFFER))?
            .send(requests.clone().into_bytes());
    }
    sockets.hold(target, |socket| {
        let _ = socket.stream.read(&mut [0]);
        None
    });
    Ok(sockets.summary())
}

/// 100,000 HTTP/2 requests that are cancelled at once, 200 to a connection.
fn rapid_reset(target: &Target) -> Result<String> {
    const REQUESTS_PER_CONNECTION: u32 = 200;
    let started = Instant::now();
    let path = format!("/v0.2/search/a?take=50&apiKey={}", target.public_key);
    let mut bytes = preface(65_535);
    for index in 0..REQUESTS_PER_CONNECTION {
        push_get(&mut bytes, index, "127.0.0.1", &path);
        push_reset(&mut bytes, index);
    }
    let mut sockets = Sockets::new(target.count(500));
    while sockets.opened < sockets.capacity && started.elapsed() < target.duration {
        let number = sockets.opened;
        sockets.open(target, number, None)?.send(bytes.clone());
        if number % 50 == 49 {
            sockets.pass(|_| None);
        }
    }
    sockets.hold(target, |_| None);
    Ok(sockets.summary())
}

/// 64 connections that download sitemaps as fast as the server sends them.
fn sitemaps(target: &Target) -> Result<String> {
    let mut requests = Requests::new(target.address);
    requests.push("/sitemaps/1.xml");
    requests.push("/sitemap.xml");
    busy_connections(target, &requests, usize::MAX, target.duration)
}

/// 5,000 connections that send nothing.
fn idle_connections(target: &Target) -> Result<String> {
    let mut sockets = Sockets::new(target.count(5_000));
    for number in 0..sockets.capacity {
        sockets.open(target, number, None)?;
    }
    sockets.hold(target, |_| None);
    Ok(sockets.summary())
}

/// 100,000 valid and invalid requests over 64 connections.
fn mixed_requests(target: &Target) -> Result<String> {
    let key = &target.public_key;
    let mut requests = Requests::new(target.address);
    for number in 0..200 {
        requests.push(&format!("/v0.2/search/fo{number}?apiKey={key}"));
        requests.push(&format!(
            "/v0.2/search/the%20of%20and%20{number}?apiKey={key}&take=50"
        ));
        requests.push(&format!("/v0.2/nonprofit/{number:09}?apiKey={key}"));
        requests.push(&format!("/v0.2/browse/animals?apiKey={key}&page={number}"));
        requests.push(&format!(
            "/v0.2/nonprofit/{}?apiKey={key}",
            "a".repeat(number * 40)
        ));
        requests.push(&format!("/v0.2/search/%FF{number}?apiKey={key}"));
        requests.push(&format!("/v0.2/search/a?apiKey=cwpk_{number}"));
        requests.push(&format!("/search?q=food%20{number}"));
        requests.push(&format!("/{}", "../".repeat(number % 50)));
        requests.push_post("/v0.2/fundraiser", "", &"[".repeat(number * 100));
    }
    busy_connections(target, &requests, target.count(100_000), MAX_BUSY_TIME)
}

/// Sends requests over 64 connections, with one in flight on each, until `count` are answered or the time is over. Any
/// status but a server error will do; 503 is a refusal.
pub(crate) fn busy_connections(
    target: &Target,
    requests: &Requests,
    count: usize,
    time: Duration,
) -> Result<String> {
    let started = Instant::now();
    let (mut answered, mut refused, mut server_errors, mut next) = (0, 0, 0, 0);
    let mut connections: Vec<Option<Connection>> = (0..BUSY_CONNECTIONS).map(|_| None).collect();
    while answered < count && started.elapsed() < time {
        for (number, slot) in connections.iter_mut().enumerate() {
            let connection = match slot {
                Some(connection) => connection,
                None => slot.insert(Connection::open_from(target.source(number), target.address)?),
            };
            if connection.send(requests.get(next % requests.len())).is_err() {
                *slot = None;
            }
            next += 1;
        }
        for slot in &mut connections {
            let Some(connection) = slot else { continue };
            match connection.receive() {
                Ok(response) => match response.status {
                    429 | 503 => refused += 1,
                    status => server_errors += usize::from(status >= 500),
                },
                Err(_) => *slot = None,
            }
            answered += 1;
        }
    }
    ensure!(server_errors == 0, "{server_errors} responses were server errors");
    if refused > 0 {
        return Ok(format!("{answered} requests, {refused} refused"));
    }
    Ok(format!("{answered} requests"))
}

impl Target {
    pub(crate) fn count(&self, count: usize) -> usize {
        (count / self.divisor).max(1)
    }

    /// Returns the address of a flood's connection. The honest client has another one.
    fn source(&self, number: usize) -> IpAddr {
        let last = 10 + number % self.addresses;
        IpAddr::V4(Ipv4Addr::new(127, 0, 0, last as u8))
    }
}

/// The connections of a flood.
pub(crate) struct Sockets {
    pub capacity: usize,
    opened: usize,
    open: Vec<FloodSocket>,
}

pub(crate) struct FloodSocket {
    pub stream: std::net::TcpStream,
    /// What is still to be sent.
    unsent: Vec<u8>,
    /// Whether what the server sends is left unread, so that the socket fills up.
    is_slow_reader: bool,
}

impl Sockets {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            opened: 0,
            open: Vec::with_capacity(capacity),
        }
    }

    pub(crate) fn open(
        &mut self,
        target: &Target,
        number: usize,
        buffer: Option<usize>,
    ) -> Result<&mut FloodSocket> {
        let stream = connect(target.source(number), target.address, buffer)?;
        stream.set_nonblocking(true)?;
        self.opened += 1;
        self.open.push(FloodSocket {
            stream,
            unsent: Vec::new(),
            is_slow_reader: buffer.is_some(),
        });
        Ok(self.open.last_mut().expect("just pushed"))
    }

    /// Calls `act` for each open connection, sends what it returns, and drops the connections that the server has closed.
    fn pass(&mut self, act: impl Fn(&mut FloodSocket) -> Option<&'static [u8]>) {
        self.open.retain_mut(|socket| {
            if let Some(bytes) = act(socket) {
                socket.unsent.extend(bytes);
            }
            socket.flush()
        });
    }

    /// Keeps the connections until the time is over.
    pub(crate) fn hold(&mut self, target: &Target, act: impl Fn(&mut FloodSocket) -> Option<&'static [u8]>) {
        let started = Instant::now();
        while started.elapsed() < target.duration {
            self.pass(&act);
            thread::sleep(PASS_PAUSE);
        }
    }

    pub(crate) fn summary(&self) -> String {
        let closed = self.opened - self.open.len();
        format!("{} connections, {closed} closed early", self.opened)
    }
}

impl FloodSocket {
    pub(crate) fn send(&mut self, bytes: Vec<u8>) {
        self.unsent = bytes;
        self.flush();
    }

    /// Sends what the socket takes, and reads what is there unless the client is slow. Returns whether the connection is
    /// still open, as far as that shows.
    fn flush(&mut self) -> bool {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        loop {
            let read = if self.is_slow_reader {
                self.stream.peek(&mut [0])
            } else {
                self.stream.read(&mut [0; 4096])
            };
            match read {
                Ok(0) => return false,
                Ok(_) if self.is_slow_reader => return true,
                Ok(_) => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }
}
