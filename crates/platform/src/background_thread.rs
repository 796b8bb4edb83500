//! Runs work that takes seconds of CPU time and that nobody waits for.

use rustix::process::setpriority_process;
use rustix::thread::gettid;
use std::io;
use std::thread;
use tokio::sync::oneshot;

/// The lowest priority of a thread.
const LOWEST_PRIORITY: i32 = 19;

/// Runs `work` on a thread of its own with the lowest priority, so that requests come first even on a single core.
///
/// The blocking threads of tokio would keep the priority for whatever they do next.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = oneshot::channel();
    thread::Builder::new()
        .name("background".to_owned())
        .spawn(move || {
            // Without the permission to do this, the work is done all the same.
            let _ = setpriority_process(Some(gettid()), LOWEST_PRIORITY);
            let _ = sender.send(work());
        })?;
    receiver
        .await
        .map_err(|_| io::Error::other("a background thread panicked"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpriority_process;

    #[tokio::test]
    async fn work_has_the_lowest_priority_and_its_caller_keeps_its_own() {
        let before = getpriority_process(Some(gettid())).unwrap();
        let during = run(|| getpriority_process(Some(gettid())).unwrap());
        assert_eq!(during.await.unwrap(), LOWEST_PRIORITY);
        assert_eq!(getpriority_process(Some(gettid())).unwrap(), before);
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        assert!(run(|| panic!("in a test")).await.is_err());
    }
}
