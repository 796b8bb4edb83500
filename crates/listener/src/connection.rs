//! One connection from its accept to its end: the protocol, one timer, and the stop of the server.

use super::state::Vitals;
use super::timer::arm;
use hyper_util::server::graceful::GracefulConnection;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Drives `connection` to its end, which comes at the latest with a deadline of its `vitals`.
///
/// The stop signal and the timer are polled when they are armed and not again: they hold the waker of this
/// task, which is all it takes, and asking them on every request would cost locks shared by all connections.
/// The timer is moved back only when it fires, and forward only for a deadline that comes before it.
pub(super) async fn attend<C>(connection: C, vitals: &Vitals, parting: Duration)
where
    C: GracefulConnection,
{
    let stop = vitals.stop();
    let mut connection = pin!(connection);
    let mut stopped = pin!(stop.begun());
    let mut timer = pin!(sleep_until(
        vitals
            .deadline()
            .unwrap_or_else(|| Instant::now() + vitals.rest())
    ));
    let mut is_armed = false;
    let mut leave_at = None;
    let mut told_to_leave = false;

    poll_fn(|cx| {
        if !is_armed {
            is_armed = true;
            let _ = stopped.as_mut().poll(cx);
            if arm(timer.as_mut(), cx).is_ready() {
                return Poll::Ready(());
            }
        }
        loop {
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            // A request may be on its way on a connection that looks idle, so a server that stops listens a
            // breath longer; its answer then says that it was the last one.
            if stop.has_begun() && !told_to_leave {
                let leave_at = *leave_at.get_or_insert_with(|| Instant::now() + parting);
                if vitals.is_busy() || vitals.is_multiplexed() || Instant::now() >= leave_at {
                    told_to_leave = true;
                    connection.as_mut().graceful_shutdown();
                    continue;
                }
            }
            let waiting_to_leave = leave_at.filter(|_| !told_to_leave);
            let deadline = match (vitals.deadline(), waiting_to_leave) {
                (Some(deadline), Some(leave_at)) => Some(deadline.min(leave_at)),
                (deadline, leave_at) => deadline.or(leave_at),
            };
            if !timer.is_elapsed() && deadline.is_none_or(|deadline| deadline >= timer.deadline()) {
                return Poll::Pending;
            }
            let now = Instant::now();
            if vitals.deadline().is_some_and(|deadline| deadline <= now) {
                return Poll::Ready(());
            }
            timer
                .as_mut()
                .reset(deadline.unwrap_or_else(|| now + vitals.rest()));
            if arm(timer.as_mut(), cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
}
