//! Timers that are polled when they are set and not again.

use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::unconstrained;
use tokio::time::Sleep;

/// Leaves the waker of this task with the timer; ready if its moment has passed.
///
/// A task that has used up its turn is otherwise told to come back without the timer having taken the waker,
/// and nobody would ask the timer a second time.
pub(super) fn arm(timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    Pin::new(&mut unconstrained(timer)).poll(cx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_timer_armed_by_a_task_that_used_up_its_turn_still_wakes_it() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..1000 {
            sender.send(number).unwrap();
        }
        let mut timer = pin!(tokio::time::sleep(Duration::from_secs(5)));
        let mut is_armed = false;
        let woken = poll_fn(|cx| {
            while receiver.poll_recv(cx).is_ready() {}
            if !is_armed {
                is_armed = true;
                return arm(timer.as_mut(), cx);
            }
            if timer.is_elapsed() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        tokio::time::timeout(Duration::from_mins(1), woken)
            .await
            .expect("woken by the timer");
    }
}
