//! A stretch of wire between server and database that can be cut, or fall silent.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the wire does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    /// Connections break, new ones too.
    Cut,
    /// Nothing arrives any more, and nobody is told.
    Silent,
}

pub struct Proxy {
    pub address: SocketAddr,
    wire: Arc<Mutex<Wire>>,
}

struct Wire {
    state: State,
    open: Vec<TcpStream>,
    /// Connections made before this many were are silent for ever.
    mended_after: usize,
    made: usize,
}

impl Proxy {
    /// A proxy for a database at `target`.
    pub fn new(target: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let wire = Arc::new(Mutex::new(Wire {
            state: State::Whole,
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
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let ends = (
                        from.try_clone().expect("a socket"),
                        to.try_clone().expect("a socket"),
                    );
                    wire.open.push(ends.0.try_clone().expect("a socket"));
                    let shared = Arc::clone(&shared);
                    std::thread::spawn(move || carry(ends, number, &shared));
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

    /// Lets new connections through. Those that fell silent stay so, as after a change in the net.
    pub fn mend(&self) {
        let mut wire = self.wire.lock().expect("a lock");
        if wire.state == State::Silent {
            wire.mended_after = wire.made;
        }
        wire.state = State::Whole;
    }
}

fn carry((mut from, mut to): (TcpStream, TcpStream), number: usize, wire: &Mutex<Wire>) {
    let mut block = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut block) {
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
