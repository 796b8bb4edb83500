//! The time an answer may take until it begins.
//!
//! A timer is made only for an answer that is not there at the first look, so an answer from memory pays nothing
//! for its deadline.

use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

pin_project! {
    /// A future that is given up, as `None`, when it is not ready in time.
    pub(super) struct Deadline<F> {
        #[pin]
        future: F,
        #[pin]
        timer: Option<Sleep>,
        after: Duration,
    }
}

impl<F> Deadline<F> {
    #[inline]
    pub(super) fn new(future: F, after: Duration) -> Self {
        Self {
            future,
            timer: None,
            after,
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
            this.timer.set(Some(tokio::time::sleep(*this.after)));
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
    use tokio::time::sleep;

    const AFTER: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn what_is_ready_in_time_is_passed_on() {
        assert_eq!(Deadline::new(std::future::ready("now"), AFTER).await, Some("now"));
        assert_eq!(
            Deadline::new(sleep(Duration::from_secs(29)), AFTER).await,
            Some(())
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_ready_in_time_is_given_up() {
        assert_eq!(Deadline::new(std::future::pending::<()>(), AFTER).await, None);
    }
}
