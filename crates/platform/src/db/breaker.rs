//! A circuit breaker: while the database is known to be down, queries fail at once instead of after
//! a timeout.
//!
//! A probe decides whether the database responds, not the queries themselves: a query may be slow because of its own
//! work or because it waits for a lock, and a failed query only triggers a probe. When the breaker opens,
//! queries in progress fail too. Their connections belong to the outage and are not used again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Notify, watch};

/// Tells whether the database responds.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    state: watch::Sender<State>,
    /// Notified when a query, or the listener, lost its connection.
    suspicion: Notify,
    /// The number of permits in use.
    permits: AtomicUsize,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_open: bool,
    /// Counts how often the breaker opened.
    outages: u64,
}

/// The permission to run the queries of one request or transaction. It ends when the breaker opens.
#[derive(Debug)]
pub struct Permit {
    breaker: Arc<CircuitBreaker>,
    outages: u64,
}

impl Default for CircuitBreaker {
    fn default() -> CircuitBreaker {
        CircuitBreaker {
            state: watch::Sender::new(State::default()),
            suspicion: Notify::new(),
            permits: AtomicUsize::new(0),
        }
    }
}

impl CircuitBreaker {
    pub(super) fn permit(self: &Arc<Self>) -> Permit {
        self.permits.fetch_add(1, Ordering::Relaxed);
        Permit {
            breaker: Arc::clone(self),
            outages: self.state.borrow().outages,
        }
    }

    /// Returns the number of permits in use.
    pub(super) fn permits(&self) -> usize {
        self.permits.load(Ordering::Relaxed)
    }

    pub(super) fn is_open(&self) -> bool {
        self.state.borrow().is_open
    }

    /// Records the result of a probe. Returns whether the breaker opened or closed.
    pub(super) fn record(&self, responds: bool) -> bool {
        self.state.send_if_modified(|state| {
            let changed = state.is_open == responds;
            state.is_open = !responds;
            state.outages += u64::from(changed && !responds);
            changed
        })
    }

    /// Causes a probe, because a connection was lost.
    pub(crate) fn suspect(&self) {
        self.suspicion.notify_one();
    }

    /// Waits until a query loses its connection. The next call returns at once if one did meanwhile.
    pub(crate) async fn suspected(&self) {
        self.suspicion.notified().await;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.breaker.permits.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Permit {
    /// Runs a query. Fails at once if the breaker is open or has been open since the permit was given, and as soon as it
    /// opens.
    pub async fn run<T>(&self, query: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
        let mut state = self.breaker.state.subscribe();
        if self.has_ended(&state.borrow()) {
            return Err(away());
        }
        tokio::select! {
            biased;
            result = query => {
                if result.as_ref().is_err_and(is_connection_error) {
                    self.breaker.suspect();
                }
                result
            }
            _ = state.wait_for(|state| self.has_ended(state)) => Err(away()),
        }
    }

    fn has_ended(&self, state: &State) -> bool {
        state.is_open || state.outages != self.outages
    }
}

/// The error of a query while the breaker is open.
fn away() -> sqlx::Error {
    sqlx::Error::Io(io::Error::new(
        io::ErrorKind::TimedOut,
        "the database does not respond",
    ))
}

/// Returns whether a query failed because of its connection.
fn is_connection_error(error: &sqlx::Error) -> bool {
    matches!(
        error,
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolTimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[tokio::test]
    async fn an_open_breaker_fails_queries_without_running_them() {
        let breaker = Arc::new(CircuitBreaker::default());
        assert!(breaker.permit().run(ready(Ok(1))).await.is_ok());
        assert!(breaker.record(false), "it opened");
        assert!(!breaker.record(false), "it was open");
        let query = async { panic!("the query runs") };
        assert!(breaker.permit().run::<()>(query).await.is_err());
        assert!(breaker.record(true), "it closed");
        assert!(breaker.permit().run(ready(Ok(1))).await.is_ok());
    }

    #[test]
    fn permits_are_counted_while_they_are_in_use() {
        let breaker = Arc::new(CircuitBreaker::default());
        let (first, second) = (breaker.permit(), breaker.permit());
        assert_eq!(breaker.permits(), 2);
        drop((first, second));
        assert_eq!(breaker.permits(), 0);
    }

    #[tokio::test]
    async fn a_query_that_waits_fails_when_the_breaker_opens() {
        let breaker = Arc::new(CircuitBreaker::default());
        let permit = breaker.permit();
        let waiting = tokio::spawn(async move { permit.run::<()>(pending()).await });
        tokio::task::yield_now().await;
        breaker.record(false);
        assert!(waiting.await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_transaction_from_before_an_outage_does_not_continue_after_it() {
        let breaker = Arc::new(CircuitBreaker::default());
        let permit = breaker.permit();
        breaker.record(false);
        breaker.record(true);
        assert!(permit.run(ready(Ok(()))).await.is_err());
    }

    #[tokio::test]
    async fn a_lost_connection_is_probed_at_once_and_a_refused_query_is_not() {
        let breaker = Arc::new(CircuitBreaker::default());
        let permit = breaker.permit();
        let is_suspected = async || {
            tokio::select! {
                biased;
                () = breaker.suspected() => true,
                () = ready(()) => false,
            }
        };
        let _ = permit.run::<()>(ready(Err(sqlx::Error::RowNotFound))).await;
        assert!(!is_suspected().await);
        let _ = permit.run::<()>(ready(Err(sqlx::Error::PoolTimedOut))).await;
        assert!(is_suspected().await);
        assert!(!breaker.is_open(), "only the probe opens it");
    }
}
