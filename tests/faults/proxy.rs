//! A proxy between the server and its database or blob store that can disconnect or stop forwarding.

use crate::database::TestDatabase;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Part of both the commit and the response to it.
const COMMIT: &[u8] = b"COMMIT";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Forwarding,
    /// All connections are closed, including new ones.
    Disconnected,
    /// Connections stay open, but nothing is forwarded.
    Silent,
}

/// The direction in which data is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToDatabase,
    ToServer,
}

pub struct Proxy {
    pub address: SocketAddr,
    link: Arc<Mutex<Link>>,
}

/// The state that all connections share.
struct Link {
    state: State,
    /// The direction in which the next commit makes the link silent.
    trap: Option<Direction>,
    open: Vec<TcpStream>,
    /// Connections with a lower number stay silent forever.
    first_working: usize,
    connections: usize,
}

impl Proxy {
    /// Starts a proxy in front of a database, and returns the URL of the database through it.
    pub fn new(database: &TestDatabase) -> (Proxy, String) {
        let url = database.url().expect("a URL");
        let (user, rest) = url.split_once('@').expect("a user");
        let (target, name) = rest.split_once('/').expect("a database");
        let proxy = Proxy::start(target.parse().expect("an address"));
        let url = format!("{user}@{}/{name}", proxy.address);
        (proxy, url)
    }

    /// Starts a proxy in front of any server.
    pub fn start(target: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let link = Arc::new(Mutex::new(Link {
            state: State::Forwarding,
            trap: None,
            open: Vec::new(),
            first_working: 0,
            connections: 0,
        }));
        let shared = Arc::clone(&link);
        std::thread::spawn(move || {
            for server in listener.incoming().map_while(Result::ok) {
                let mut link = shared.lock().expect("a lock");
                if link.state == State::Disconnected {
                    let _ = server.shutdown(Shutdown::Both);
                    continue;
                }
                let Ok(database) = TcpStream::connect(target) else {
                    continue;
                };
                let number = link.connections;
                link.connections += 1;
                for (from, to, direction) in [
                    (&server, &database, Direction::ToDatabase),
                    (&database, &server, Direction::ToServer),
                ] {
                    let ends = (
                        from.try_clone().expect("a socket"),
                        to.try_clone().expect("a socket"),
                    );
                    link.open.push(ends.0.try_clone().expect("a socket"));
                    let shared = Arc::clone(&shared);
                    std::thread::spawn(move || forward(ends, direction, number, &shared));
                }
            }
        });
        Proxy { address, link }
    }

    /// Closes every connection and refuses new ones.
    pub fn disconnect(&self) {
        let mut link = self.link.lock().expect("a lock");
        link.state = State::Disconnected;
        for stream in link.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Stops forwarding.
    pub fn silence(&self) {
        self.link.lock().expect("a lock").state = State::Silent;
    }

    /// Stops forwarding at the next commit: neither the commit nor anything after it arrives, or the response to it.
    pub fn silence_at_commit(&self, direction: Direction) {
        self.link.lock().expect("a lock").trap = Some(direction);
    }

    /// Forwards new connections. Silent connections stay silent, as after a network change.
    pub fn restore(&self) {
        let mut link = self.link.lock().expect("a lock");
        if link.state == State::Silent {
            link.first_working = link.connections;
        }
        link.state = State::Forwarding;
    }
}

fn forward(
    (mut from, mut to): (TcpStream, TcpStream),
    direction: Direction,
    number: usize,
    link: &Mutex<Link>,
) {
    let mut block = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut block) {
        let is_commit = block[..length].windows(COMMIT.len()).any(|part| part == COMMIT);
        if is_commit {
            let mut link = link.lock().expect("a lock");
            if link.trap.take_if(|trap| *trap == direction).is_some() {
                link.state = State::Silent;
            }
        }
        loop {
            let (state, is_dead) = {
                let link = link.lock().expect("a lock");
                (link.state, number < link.first_working)
            };
            if state != State::Silent && !is_dead {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&block[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
