//! Runs the streams of HTTP/2 connections and drops those that stall.
//!
//! A client that grants no flow-control window holds up a stream although no write on the socket is blocked. The
//! timer of the connection does not notice that, so each stream has its own limit.

use crate::timer::arm;
use crate::unsent::Unsent;
use hyper::rt::Executor;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// Runs each HTTP/2 stream of a connection as a task, which ends when nothing has woken the stream for `stall_timeout`.
#[derive(Clone, Debug)]
pub(crate) struct StreamExecutor {
    pub(crate) stall_timeout: Duration,
    pub(crate) unsent: Arc<Unsent>,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        // A connection that is about to end may still read many streams, which would only take memory.
        if !self.unsent.cut_signal().is_set() {
            tokio::spawn(run(stream, self.stall_timeout));
        }
    }
}

/// Runs `stream` and returns whether it ended before it stalled.
async fn run<F: Future>(stream: F, stall_timeout: Duration) -> bool {
    let mut stream = pin!(stream);
    let mut timer = pin!(None::<Sleep>);
    let mut last_wake = Instant::now();
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        let has_fired = timer
            .as_ref()
            .as_pin_ref()
            .is_some_and(|timer| timer.is_elapsed());
        if !has_fired {
            last_wake = Instant::now();
        } else if last_wake.elapsed() >= stall_timeout {
            return Poll::Ready(false);
        }
        if has_fired || timer.is_none() {
            timer.set(Some(sleep_until(last_wake + stall_timeout)));
            if let Some(timer) = timer.as_mut().as_pin_mut()
                && arm(timer, cx).is_ready()
            {
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALL_TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_never_woken_is_dropped() {
        let start = Instant::now();
        assert!(!run(std::future::pending::<()>(), STALL_TIMEOUT).await);
        assert_eq!(start.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_makes_progress_may_take_longer() {
        let stream = async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(20)).await;
            }
        };
        assert!(run(stream, STALL_TIMEOUT).await);
    }
}
