//! A stretch of wire between server and database that can be cut, or fall silent.

use crate::store::Store;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// It stands in the question and in the answer.
const COMMIT: &[u8] = b"COMMIT";

/// What the wire does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    /// Connections break, new ones too.
    Cut,
    /// Nothing arrives any more, and nobody is told.
    Silent,
}

/// Which way a block goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToDatabase,
    ToServer,
}

pub struct Proxy {
    address: SocketAddr,
    wire: Arc<Mutex<Wire>>,
}

struct Wire {
    state: State,
    /// The way on which the next word of a commit is the first that is lost.
    trap: Option<Way>,
    open: Vec<TcpStream>,
    /// Connections made before this many were are silent for ever.
    mended_after: usize,
    made: usize,
}

impl Proxy {
    /// A proxy for the database of a place, and the address of the database behind it.
    pub fn before(store: &Store) -> (Proxy, String) {
        let url = store.url().expect("an address");
        let (user, rest) = url.split_once('@').expect("a user");
        let (target, name) = rest.split_once('/').expect("a database");
        let proxy = Proxy::new(target.parse().expect("an address"));
        let address = format!("{user}@{}/{name}", proxy.address);
        (proxy, address)
    }

    /// A proxy for a database at `target`.
    fn new(target: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let wire = Arc::new(Mutex::new(Wire {
            state: State::Whole,
            trap: None,
            open: Vec::new(),
            mended_after: 0,
            made: 0,
        }));
        let shared = Arc::clone(&wire);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let mut wire = shared.lock().expect("a lock");
                if wire.state == State::Cut {
                    let _ = near.shutdown(Shutdown::Both);
                    continue;
                }
                let Ok(far) = TcpStream::connect(target) else {
                    continue;
                };
                let number = wire.made;
                wire.made += 1;
                for (from, to, way) in [(&near, &far, Way::ToDatabase), (&far, &near, Way::ToServer)] {
                    let ends = (
                        from.try_clone().expect("a socket"),
                        to.try_clone().expect("a socket"),
                    );
                    wire.open.push(ends.0.try_clone().expect("a socket"));
                    let shared = Arc::clone(&shared);
                    std::thread::spawn(move || carry(ends, way, number, &shared));
                }
            }
        });
        Proxy { address, wire }
    }

    /// Breaks every connection and refuses new ones.
    pub fn cut(&self) {
        let mut wire = self.wire.lock().expect("a lock");
        wire.state = State::Cut;
        for stream in wire.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Swallows everything.
    pub fn fall_silent(&self) {
        self.wire.lock().expect("a lock").state = State::Silent;
    }

    /// Swallows everything from the next commit on: the commit itself, or the answer to it.
    pub fn fall_silent_at_commit(&self, way: Way) {
        self.wire.lock().expect("a lock").trap = Some(way);
    }

    /// Lets new connections through. Those that fell silent stay so, as after a change in the net.
    pub fn mend(&self) {
        let mut wire = self.wire.lock().expect("a lock");
        if wire.state == State::Silent {
            wire.mended_after = wire.made;
        }
        wire.state = State::Whole;
    }
}

fn carry((mut from, mut to): (TcpStream, TcpStream), way: Way, number: usize, wire: &Mutex<Wire>) {
    let mut block = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut block) {
        let is_commit = block[..length].windows(COMMIT.len()).any(|part| part == COMMIT);
        if is_commit {
            let mut wire = wire.lock().expect("a lock");
            if wire.trap.take_if(|trap| *trap == way).is_some() {
                wire.state = State::Silent;
            }
        }
        loop {
            let (state, is_dead) = {
                let wire = wire.lock().expect("a lock");
                (wire.state, number < wire.mended_after)
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
