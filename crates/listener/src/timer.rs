//! Timers that are polled once, when they are set.

use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::unconstrained;
use tokio::time::Sleep;

/// Registers the waker of this task with `timer`. Returns `Ready` if the timer has already elapsed.
///
/// The poll is exempt from tokio's cooperative budget. Without that, a task that has used up its budget would get
/// `Pending` before the timer has stored the waker, and since nothing polls the timer again, it would never fire.
pub(crate) fn arm(timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    Pin::new(&mut unconstrained(timer)).poll(cx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_timer_wakes_a_task_that_armed_it_without_any_budget_left() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..1000 {
            sender.send(number).unwrap();
        }
        let mut timer = pin!(tokio::time::sleep(Duration::from_secs(5)));
        let mut is_armed = false;
        let elapsed = poll_fn(|cx| {
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
        tokio::time::timeout(Duration::from_mins(1), elapsed)
            .await
            .expect("the timer wakes the task");
    }
}
