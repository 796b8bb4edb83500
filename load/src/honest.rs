//! The client beside a flood: it makes ordinary calls, one after the other, and no call may fail.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use crate::client::require_success;
use crate::connection::Connection;
use crate::histogram::Histogram;
use crate::requests::get_request;

/// The address of the honest client. Floods come from others, as they would on a network.
const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// The pause between two calls.
const PAUSE: Duration = Duration::from_millis(3);

/// Every so many calls, the client opens a new connection.
const CALLS_PER_CONNECTION: u64 = 10;

/// The calls of an honest client.
pub(crate) struct Calls {
    pub count: u64,
    pub failed: u64,
    pub first_error: Option<String>,
    pub latencies: Histogram,
}

/// A running honest client.
pub(crate) struct HonestClient {
    is_stopping: Arc<AtomicBool>,
    thread: JoinHandle<Calls>,
}

impl HonestClient {
    /// Starts to request `paths` in turn.
    pub(crate) fn start(address: SocketAddr, paths: &[String]) -> Self {
        let is_stopping = Arc::new(AtomicBool::new(false));
        let requests: Vec<String> = paths.iter().map(|path| get_request(address, path)).collect();
        let stop = Arc::clone(&is_stopping);
        let thread = thread::spawn(move || {
            let mut calls = Calls {
                count: 0,
                failed: 0,
                first_error: None,
                latencies: Histogram::new(),
            };
            let mut connection = None;
            for request in requests.iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                if calls.count.is_multiple_of(CALLS_PER_CONNECTION) {
                    connection = None;
                }
                let started = Instant::now();
                if let Err(error) = call(address, &mut connection, request) {
                    calls.failed += 1;
                    calls.first_error.get_or_insert_with(|| format!("{error:#}"));
                    connection = None;
                }
                calls.latencies.record(started.elapsed());
                calls.count += 1;
                thread::sleep(PAUSE);
            }
            calls
        });
        Self { is_stopping, thread }
    }

    pub(crate) fn stop(self) -> Result<Calls> {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| anyhow!("the honest client panicked"))
    }
}

/// Makes one call. The time to connect is part of it.
fn call(address: SocketAddr, connection: &mut Option<Connection>, request: &str) -> Result<()> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(Connection::open_from(SOURCE, address)?),
    };
    require_success(&connection.request(request.as_bytes())?)
}
