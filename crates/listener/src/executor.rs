//! Runs the streams of HTTP/2 connections and drops those that stall.
//!
//! A client that grants no flow-control window holds up a stream although no write on the socket is blocked. The
//! timer of the connection does not notice that, so each stream has its own limit.
//!
//! A stream that is refused gets no task: thousands of streams can open before the first of their tasks runs, and the
//! tasks would take more memory than the responses that are limited.

use crate::state::ConnectionState;
use crate::timer::arm;
use hyper::rt::Executor;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// Runs each HTTP/2 stream of a connection as a task, which ends when nothing has woken the stream for `stall_timeout`.
#[derive(Clone, Debug)]
pub(crate) struct StreamExecutor {
    pub(crate) stall_timeout: Duration,
    pub(crate) state: Arc<ConnectionState>,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        // A connection that is about to end may still read many streams, which would only take memory.
        if self.state.unsent().cut_signal().is_set() {
            return;
        }
        if self.state.take_stream_refusal() {
            refuse(stream);
        } else {
            tokio::spawn(run(stream, self.stall_timeout));
        }
    }
}

/// Sends the refusal of `stream`, which is ready. If the client grants no window for it, the stream is reset instead.
fn refuse(stream: impl Future) {
    let _ = pin!(stream).poll(&mut Context::from_waker(Waker::noop()));
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

    use crate::settings::ServeSettings;
    use crate::state::{InFlight, Timeouts};
    use crate::unsent::{FEW_STREAMS, STREAM_BYTES, UnsentLimits};

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

    // Outside a runtime, spawning a task panics.
    #[test]
    fn a_stream_without_room_is_refused_without_a_task() {
        let settings = ServeSettings {
            max_unsent_bytes: 10 * STREAM_BYTES,
            ..ServeSettings::default()
        };
        let limits = UnsentLimits::new(&settings);
        let open = |peer: &str| {
            let unsent = limits.open(peer.parse().unwrap(), false);
            let state = ConnectionState::new(
                Timeouts::new(&settings),
                Arc::clone(unsent.counter()),
                Arc::default(),
            );
            (unsent, Arc::new(state))
        };
        let greedy: Vec<_> = (1..=3).map(|number| open(&format!("192.0.2.{number}"))).collect();
        let mut streams: Vec<_> = greedy
            .iter()
            .flat_map(|(_, state)| (0..FEW_STREAMS).map(|_| InFlight::start(state, true)))
            .collect();
        assert!(
            greedy
                .iter()
                .any(|(unsent, _)| unsent.counter().cut_signal().is_set())
        );
        let (_unsent, late) = open("192.0.2.9");
        for _ in 0..FEW_STREAMS {
            streams.push(InFlight::start(&late, true));
            assert!(!streams.last().unwrap().refuse_without_room());
        }
        let refused = InFlight::start(&late, true);
        assert!(refused.refuse_without_room());
        let executor = StreamExecutor {
            stall_timeout: STALL_TIMEOUT,
            state: Arc::clone(&late),
        };
        let (sent, received) = std::sync::mpsc::channel();
        executor.execute(async move {
            let _refused = refused;
            sent.send("refusal").unwrap();
            std::future::pending::<()>().await;
        });
        assert_eq!(received.recv(), Ok("refusal"));
        assert_eq!(late.unsent().open_streams(), FEW_STREAMS, "the stream is gone");
        assert!(!late.take_stream_refusal());
    }
}
