//! A receiver of webhooks, which counts what arrives and measures how old it is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::cores::pin_thread;
use crate::histogram::Histogram;

const ACCEPTED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A server in threads of this program, which ends with it.
pub(crate) struct Receiver {
    pub address: SocketAddr,
    arrivals: Arc<Mutex<Arrivals>>,
}

/// What arrived since the last [`Receiver::take`].
pub(crate) struct Arrivals {
    pub count: u64,
    pub first: Option<Instant>,
    pub last: Option<Instant>,
    /// The times from the timestamp of an event to its arrival.
    pub ages: Histogram,
    /// The headers and the body of the last webhook.
    pub message: (String, String),
}

impl Arrivals {
    fn new() -> Self {
        Self {
            count: 0,
            first: None,
            last: None,
            ages: Histogram::new(),
            message: Default::default(),
        }
    }

    /// Returns how many arrived in a second.
    pub(crate) fn rate(&self) -> f64 {
        let elapsed = self.first.zip(self.last).map(|(first, last)| last - first);
        let elapsed = elapsed.unwrap_or_default().max(Duration::from_millis(1));
        self.count as f64 / elapsed.as_secs_f64()
    }
}

impl Receiver {
    /// Starts a receiver on a core.
    pub(crate) fn start(core: usize) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let receiver = Self {
            address: listener.local_addr()?,
            arrivals: Arc::new(Mutex::new(Arrivals::new())),
        };
        let arrivals = Arc::clone(&receiver.arrivals);
        thread::spawn(move || {
            // The threads of connections inherit it.
            if let Err(error) = pin_thread(core) {
                eprintln!("the receiver is not pinned: {error:#}");
            }
            for stream in listener.incoming().flatten() {
                let arrivals = Arc::clone(&arrivals);
                // It ends when the other side closes the connection.
                thread::spawn(move || serve(stream, &arrivals));
            }
        });
        Ok(receiver)
    }

    /// The URL of an endpoint.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns how many webhooks arrived since the last [`Receiver::take`].
    pub(crate) fn count(&self) -> u64 {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).count
    }

    /// Returns what arrived since the last time.
    pub(crate) fn take(&self) -> Arrivals {
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *arrivals, Arrivals::new())
    }
}

fn serve(mut stream: TcpStream, arrivals: &Mutex<Arrivals>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut requests = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    loop {
        let (mut headers, mut length) = (String::new(), 0);
        line.clear();
        requests.read_line(&mut line)?;
        loop {
            line.clear();
            if requests.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim_end().parse()?;
            } else if name.starts_with("webhook-") {
                headers.push_str(&line);
            }
        }
        let mut body = vec![0; length];
        requests.read_exact(&mut body)?;
        let body = String::from_utf8(body)?;
        let (now, since_epoch) = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH)?);
        {
            let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
            arrivals.count += 1;
            arrivals.first.get_or_insert(now);
            arrivals.last = Some(now);
            if let Some(happened) = timestamp(&body) {
                arrivals.ages.record(since_epoch.saturating_sub(happened));
            }
            arrivals.message = (headers, body);
        }
        stream.write_all(ACCEPTED)?;
    }
}

/// Returns when an event happened, such as `2026-11-18T20:00:00.123Z`, as the time since 1970.
fn timestamp(body: &str) -> Option<Duration> {
    let text = body.split_once("\"timestamp\":\"")?.1.get(..24)?;
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    // The days before a date: years begin in March here, so that a leap day is the last day of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?;
    Some(Duration::from_millis(seconds * 1_000 + number(20..23)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_times_since_1970() {
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:34:56.789Z", 951_827_696_789),
            ("2026-11-18T20:00:00.001Z", 1_795_032_000_001),
        ] {
            let body = format!("{{\"type\":\"ping\",\"timestamp\":\"{text}\"}}");
            assert_eq!(timestamp(&body), Some(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(timestamp("{}"), None);
    }
}
