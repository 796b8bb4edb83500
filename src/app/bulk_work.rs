//! Permits for work that keeps a core busy, such as matching a list.
//!
//! It runs outside the async workers, and on half of the cores at most: short requests have the others.

use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;

/// Runs work that keeps a core busy.
#[derive(Clone, Debug)]
pub struct BulkWork(Arc<Semaphore>);

impl Default for BulkWork {
    fn default() -> BulkWork {
        let cores = available_parallelism().map_or(1, usize::from);
        BulkWork(Arc::new(Semaphore::new((cores / 2).max(1))))
    }
}

impl BulkWork {
    /// Waits for a permit and runs work. Returns `None` if it panicked.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await
            .inspect_err(|error| tracing::error!(%error, "bulk work failed"))
            .ok()
    }
}
