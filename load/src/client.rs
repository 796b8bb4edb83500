//! Sends requests in a closed loop: each connection sends its next request when the previous response has
//! arrived.
//!
//! Responses are read in the order of the requests. A server on one core gains nothing from another order,
//! and each request costs this program two system calls and no polling.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::connection::{Connection, Response};
use crate::requests::Requests;

/// The number of requests in a round, and how long they took.
pub(crate) struct Round {
    pub requests: u64,
    pub elapsed: Duration,
}

impl Round {
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }
}

/// Keeps the server busy over `connections` for at least `duration`.
///
/// Stops at the end of the list, so that every round sends each request equally often.
pub(crate) fn saturate(requests: &Requests, connections: usize, duration: Duration) -> Result<Round> {
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
    let (mut current, mut completed, mut in_flight) = (0, 0, connections.len());
    let mut is_over = false;
    while in_flight > 0 {
        let connection = &mut connections[current];
        require_success(&connection.receive()?)?;
        completed += 1;
        is_over = is_over || (next == 0 && started.elapsed() >= duration);
        if is_over {
            in_flight -= 1;
        } else {
            connection.send(requests.get(next))?;
            next = (next + 1) % requests.len();
        }
        current = (current + 1) % connections.len();
    }
    Ok(Round {
        requests: completed,
        elapsed: started.elapsed(),
    })
}

/// A client that sends one request after another and measures the latency of each.
pub(crate) struct SingleClient {
    connection: Connection,
}

impl SingleClient {
    pub(crate) fn new(address: SocketAddr) -> Result<Self> {
        Ok(Self {
            connection: Connection::open(address)?,
        })
    }

    /// Sends the requests of `range`, which wraps around the list, and passes each index and latency to
    /// `record`.
    pub(crate) fn send_all(
        &mut self,
        requests: &Requests,
        range: Range<usize>,
        mut record: impl FnMut(usize, Duration),
    ) -> Result<()> {
        for index in range {
            let started = Instant::now();
            let response = self.connection.request(requests.get(index % requests.len()))?;
            let elapsed = started.elapsed();
            require_success(&response)?;
            record(index, elapsed);
        }
        Ok(())
    }
}

/// Returns an error unless the status is 200.
pub(crate) fn require_success(response: &Response<'_>) -> Result<()> {
    match response.status {
        200 => Ok(()),
        429 => bail!("the key reached its rate limit: raise it with --limit"),
        status => bail!(
            "the server responded with status {status}: {}",
            excerpt(response.body)
        ),
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

    type PathCounts = Arc<Mutex<BTreeMap<String, u64>>>;

    /// Starts a server that responds to every request with `status` and counts the requested paths.
    fn server(status: &'static str) -> (SocketAddr, PathCounts) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = PathCounts::default();
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
                        let response = format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\n\r\nok");
                        if stream.write_all(response.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        (address, seen)
    }

    #[test]
    fn a_round_sends_every_request_equally_often() {
        let (address, seen) = server("200");
        let mut requests = Requests::new(address);
        for path in ["/a", "/b", "/c", "/d", "/e"] {
            requests.push(path);
        }
        let round = saturate(&requests, 3, Duration::from_millis(5)).unwrap();
        let seen = seen.lock().unwrap();
        let each = round.requests / 5;
        assert!(each >= 1);
        assert_eq!(round.requests, each * 5);
        assert_eq!(seen.len(), 5);
        assert!(seen.values().all(|count| *count == each));
    }

    #[test]
    fn a_single_client_measures_every_request() {
        let (address, _) = server("200");
        let requests = Requests::of_path(address, "/healthz");
        let mut latencies = Vec::new();
        let mut client = SingleClient::new(address).unwrap();
        client
            .send_all(&requests, 0..4, |index, elapsed| {
                latencies.push((index, elapsed > Duration::ZERO));
            })
            .unwrap();
        assert_eq!(latencies, [(0, true), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn a_rejected_request_ends_the_round() {
        let (address, _) = server("429");
        let requests = Requests::of_path(address, "/");
        let error = saturate(&requests, 2, Duration::from_millis(5)).err().unwrap();
        assert!(error.to_string().contains("--limit"));
    }
}
