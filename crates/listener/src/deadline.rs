//! A timeout that costs nothing for a future that is ready at once.
//!
//! [`tokio::time::timeout`] creates its timer up front. Most responses come from memory and are ready at the first
//! poll, so the timer is created only after a future was pending once.

use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

pin_project! {
    /// Runs a future for at most `timeout`. The output is `None` if the time runs out.
    pub(crate) struct Deadline<F> {
        #[pin]
        future: F,
        #[pin]
        timer: Option<Sleep>,
        timeout: Duration,
    }
}

impl<F> Deadline<F> {
    pub(crate) fn new(future: F, timeout: Duration) -> Self {
        Self {
            future,
            timer: None,
            timeout,
        }
    }
}

impl<F: Future> Future for Deadline<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(Some(output));
        }
        if this.timer.is_none() {
            this.timer.set(Some(tokio::time::sleep(*this.timeout)));
        }
        match this.timer.as_pin_mut().map(|timer| timer.poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, sleep};

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_future_that_is_ready_in_time_gives_its_output() {
        assert_eq!(
            Deadline::new(std::future::ready("output"), TIMEOUT).await,
            Some("output")
        );
        let slow = sleep(Duration::from_secs(29));
        assert_eq!(Deadline::new(slow, TIMEOUT).await, Some(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_future_that_is_not_ready_in_time_gives_none() {
        let start = Instant::now();
        assert_eq!(Deadline::new(std::future::pending::<()>(), TIMEOUT).await, None);
        assert_eq!(start.elapsed().as_secs(), 30);
    }
}
