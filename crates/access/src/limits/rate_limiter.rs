//! The choice between limits that one server applies by itself and limits that several servers share.

use super::limiter::{AddressLimit, Decision, Limiter};
use super::shared::SharedLimiter;
use super::window::Verdict;
use std::time::Instant;

/// A rate limiter. Without Redis, no call waits or allocates.
#[derive(Debug)]
pub enum RateLimiter {
    Local(Limiter),
    Shared(Box<SharedLimiter>),
}

impl RateLimiter {
    /// Admits or refuses a call; see [`Limiter::admit`].
    pub async fn admit(&self, key: u128, class: u32, now: Instant, per_minute: u32) -> Verdict {
        match self {
            RateLimiter::Local(limiter) => limiter.admit(key, class, now, per_minute),
            // Boxed, so that the future of a request is no larger without Redis.
            RateLimiter::Shared(limiter) => {
                Box::pin(limiter.admit(key, class, now, per_minute, None))
                    .await
                    .key
            }
        }
    }

    /// Admits or refuses a call that may also be subject to the limit of its address; see [`Limiter::admit_from`].
    pub async fn admit_in(
        &self,
        key: u128,
        class: u32,
        now: Instant,
        per_minute: u32,
        address: Option<AddressLimit>,
    ) -> Decision {
        match self {
            RateLimiter::Local(limiter) => limiter.admit_in(key, class, now, per_minute, address),
            RateLimiter::Shared(limiter) => {
                Box::pin(limiter.admit(key, class, now, per_minute, address)).await
            }
        }
    }

    /// Returns the limiter of this server, whose calls are saved and restored.
    pub fn local(&self) -> &Limiter {
        match self {
            RateLimiter::Local(limiter) => limiter,
            RateLimiter::Shared(limiter) => limiter.local(),
        }
    }

    /// Drops the windows that are idle at `now`.
    pub fn sweep(&self, now: Instant) {
        match self {
            RateLimiter::Local(limiter) => limiter.sweep(now),
            RateLimiter::Shared(limiter) => limiter.sweep(now),
        }
    }
}
