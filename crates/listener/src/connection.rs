//! Drives one connection: its protocol, its timer and the stop of the server.
//!
//! hyper's own timer for request heads is off: it counts idle time too, and is created again for each request. One timer per
//! connection covers the head, idle time, the body and slow readers.

use crate::state::ConnectionState;
use crate::timer::arm;
use hyper_util::server::graceful::GracefulConnection;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Drives `connection` until it ends, until a deadline of its `state` passes, or until it is cut because it holds too
/// many unsent bytes.
///
/// After a stop, an idle HTTP/1 connection stays open for `idle_grace_period`, because a request may already be on
/// its way. The response to such a request says that the connection closes.
///
/// The signals and the timer are polled once, when they are armed: from then on they hold the waker of this
/// task. Polling them on every request would take locks that all connections share. For the same reason the timer is
/// moved back only when it fires; it is moved forward only for an earlier deadline.
pub(crate) async fn drive<C>(connection: C, state: &ConnectionState, idle_grace_period: Duration)
where
    C: GracefulConnection,
{
    let stop = state.stop();
    let mut connection = pin!(connection);
    let mut stopped = pin!(stop.notified());
    let cut = state.unsent().cut_signal();
    let mut cut_off = pin!(cut.notified());
    let mut timer = pin!(sleep_until(
        state
            .deadline()
            .unwrap_or_else(|| Instant::now() + state.idle_timeout())
    ));
    let mut is_armed = false;
    let mut grace_end = None;
    let mut is_shutting_down = false;

    poll_fn(|cx| {
        if !is_armed {
            is_armed = true;
            let _ = stopped.as_mut().poll(cx);
            let _ = cut_off.as_mut().poll(cx);
            if arm(timer.as_mut(), cx).is_ready() {
                return Poll::Ready(());
            }
        }
        loop {
            state.record_poll();
            if cut.is_set() || connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            state.unsent().report();
            if cut.is_set() {
                return Poll::Ready(());
            }
            if stop.is_set() && !is_shutting_down {
                let grace_end = *grace_end.get_or_insert_with(|| Instant::now() + idle_grace_period);
                if state.is_busy() || state.is_http2() || Instant::now() >= grace_end {
                    is_shutting_down = true;
                    connection.as_mut().graceful_shutdown();
                    continue;
                }
            }
            let grace_deadline = grace_end.filter(|_| !is_shutting_down);
            let deadline = match (state.deadline(), grace_deadline) {
                (Some(deadline), Some(grace_end)) => Some(deadline.min(grace_end)),
                (deadline, grace_end) => deadline.or(grace_end),
            };
            if !timer.is_elapsed() && deadline.is_none_or(|deadline| deadline >= timer.deadline()) {
                return Poll::Pending;
            }
            let now = Instant::now();
            if state.deadline().is_some_and(|deadline| deadline <= now) {
                return Poll::Ready(());
            }
            timer
                .as_mut()
                .reset(deadline.unwrap_or_else(|| now + state.idle_timeout()));
            if arm(timer.as_mut(), cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
}
