//! Waits for something that happens by itself.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

const TIMEOUT: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Polls until `condition` holds, and returns how long that took.
pub(super) fn wait_for(description: &str, mut condition: impl FnMut() -> bool) -> Result<Duration> {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > TIMEOUT {
            bail!("not within {} s: {description}", TIMEOUT.as_secs());
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(started.elapsed())
}
