//! Calls in a closed loop: every connection has one request under way and sends the next when its answer is in.
//! Answers are read in the order of sending. A server on one core gains nothing from another order, and so a call
//! costs this program two system calls and no polling.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::connection::{Answer, Connection};
use crate::requests::Requests;

pub struct Round {
    pub calls: u64,
    pub elapsed: Duration,
}

impl Round {
    pub fn rate(&self) -> f64 {
        self.calls as f64 / self.elapsed.as_secs_f64()
    }
}

/// Keeps the server busy over `connections` for `time` and then on to the end of the list, so that every round
/// sends each request equally often.
pub fn saturate(requests: &Requests, connections: usize, time: Duration) -> Result<Round> {
    let address = requests.address();
    let mut connections = (0..connections)
        .map(|_| Connection::open(address))
        .collect::<Result<Vec<_>>>()?;
    let mut next = 0;
    let started = Instant::now();
    for connection in &mut connections {
        connection.send(requests.get(next))?;
        next = (next + 1) % requests.len();
    }
    let (mut turn, mut calls, mut under_way) = (0, 0, connections.len());
    let mut over = false;
    while under_way > 0 {
        let connection = &mut connections[turn];
        require_success(&connection.receive()?)?;
        calls += 1;
        over = over || (next == 0 && started.elapsed() >= time);
        if over {
            under_way -= 1;
        } else {
            connection.send(requests.get(next))?;
            next = (next + 1) % requests.len();
        }
        turn = (turn + 1) % connections.len();
    }
    Ok(Round {
        calls,
        elapsed: started.elapsed(),
    })
}

/// A single client that asks one thing after the other and is told how long each took.
pub struct Alone {
    connection: Connection,
}

impl Alone {
    pub fn new(address: SocketAddr) -> Result<Self> {
        Ok(Self {
            connection: Connection::open(address)?,
        })
    }

    pub fn ask(
        &mut self,
        requests: &Requests,
        range: Range<usize>,
        mut took: impl FnMut(usize, Duration),
    ) -> Result<()> {
        for index in range {
            let started = Instant::now();
            let answer = self.connection.call(requests.get(index % requests.len()))?;
            let elapsed = started.elapsed();
            require_success(&answer)?;
            took(index, elapsed);
        }
        Ok(())
    }
}

pub fn require_success(answer: &Answer<'_>) -> Result<()> {
    match answer.status {
        200 => Ok(()),
        429 => bail!("the key ran into its limit: give a higher one with --limit"),
        status => bail!("a call was answered {status}: {}", excerpt(answer.body)),
    }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::*;

    type Seen = Arc<Mutex<BTreeMap<String, u64>>>;

    /// Answers every request with the same status and counts the paths asked for.
    fn server(status: &'static str) -> (SocketAddr, Seen) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, seen) = (stream.unwrap(), Arc::clone(&shared));
                thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(count @ 1..) = stream.read(&mut buffer) {
                        let text = String::from_utf8_lossy(&buffer[..count]);
                        let path = text.split(' ').nth(1).unwrap().to_owned();
                        *seen.lock().unwrap().entry(path).or_default() += 1;
                        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\n\r\nok");
                        if stream.write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        (address, seen)
    }

    #[test]
    fn a_round_sends_every_request_equally_often_and_counts_every_answer() {
        let (address, seen) = server("200");
        let mut requests = Requests::new(address);
        for path in ["/a", "/b", "/c", "/d", "/e"] {
            requests.push(path);
        }
        let round = saturate(&requests, 3, Duration::from_millis(5)).unwrap();
        let seen = seen.lock().unwrap();
        let each = round.calls / 5;
        assert!(each >= 1);
        assert_eq!(round.calls, each * 5);
        assert_eq!(seen.len(), 5);
        assert!(seen.values().all(|count| *count == each));
    }

    #[test]
    fn a_single_client_is_told_of_every_call() {
        let (address, _) = server("200");
        let requests = Requests::of_path(address, "/healthz");
        let mut calls = Vec::new();
        let mut alone = Alone::new(address).unwrap();
        alone
            .ask(&requests, 0..4, |index, elapsed| {
                calls.push((index, elapsed > Duration::ZERO));
            })
            .unwrap();
        assert_eq!(calls, [(0, true), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn a_refused_call_stops_the_round() {
        let (address, _) = server("429");
        let requests = Requests::of_path(address, "/");
        let error = saturate(&requests, 2, Duration::from_millis(5)).err().unwrap();
        assert!(error.to_string().contains("--limit"));
    }
}
