//! Waiting for what happens in the background or in another process. Where only time has to pass, stories advance the
//! clock instead.

use std::thread;
use std::time::{Duration, Instant};

/// Ends a wait that would otherwise last forever. No machine is so slow that it needs this long.
pub const TIMEOUT: Duration = Duration::from_mins(10);

const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Polls until `find` returns a value.
pub async fn eventually<T>(description: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find().await {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "not within {TIMEOUT:?}: {description}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Polls until `condition` holds, blocking the thread.
pub fn wait_until(description: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < TIMEOUT, "not within {TIMEOUT:?}: {description}");
        thread::sleep(POLL_INTERVAL);
    }
}
