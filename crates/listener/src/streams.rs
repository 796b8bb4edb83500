//! The tasks that answer the streams of HTTP/2 connections.
//!
//! A client that grants no window holds a stream without any byte stuck on the socket, so each stream is
//! dropped on its own when nothing wakes it for too long.

use super::timer::arm;
use hyper::rt::Executor;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// Runs each stream as a task that may rest for `patience` and no longer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    pub(super) patience: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        tokio::spawn(run(stream, self.patience));
    }
}

/// Whether the stream came to its end.
async fn run<F: Future>(stream: F, patience: Duration) -> bool {
    let mut stream = pin!(stream);
    let mut timer = pin!(None::<Sleep>);
    let mut woken = Instant::now();
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        let fired = timer
            .as_ref()
            .as_pin_ref()
            .is_some_and(|timer| timer.is_elapsed());
        if !fired {
            woken = Instant::now();
        } else if woken.elapsed() >= patience {
            return Poll::Ready(false);
        }
        if fired || timer.is_none() {
            timer.set(Some(sleep_until(woken + patience)));
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

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_nothing_wakes_is_dropped() {
        let begun = Instant::now();
        assert!(!run(std::future::pending::<()>(), PATIENCE).await);
        assert_eq!(begun.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_moves_now_and_then_may_take_its_time() {
        let stream = async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(20)).await;
            }
        };
        assert!(run(stream, PATIENCE).await);
    }
}
