//! The choice between limits that one server applies by itself and limits that several servers share.

use super::call::{Call, Decision};
use super::limiter::Limiter;
use super::shared::SharedLimiter;
use std::time::Instant;

/// A rate limiter. Without Redis, no call waits or allocates.
#[derive(Debug)]
pub enum RateLimiter {
    Local(Limiter),
    Shared(Box<SharedLimiter>),
}

impl RateLimiter {
    /// Admits or refuses a call; see [`Limiter::admit`].
    pub async fn admit(&self, call: &Call, now: Instant) -> Decision {
        match self {
            RateLimiter::Local(limiter) => limiter.admit(call, now),
            // Boxed, so that the future of a request is no larger without Redis.
            RateLimiter::Shared(limiter) => Box::pin(limiter.admit(call, now)).await,
        }
    }

    /// Returns the limiter of this server, whose calls are saved and restored.
    pub fn local(&self) -> &Limiter {
        match self {
            RateLimiter::Local(limiter) => limiter,
            RateLimiter::Shared(limiter) => limiter.local(),
        }
    }

    /// Sets how many servers share the limits, including this one. Each takes its share of them while Redis is away.
    pub fn set_servers(&self, servers: u32) {
        if let RateLimiter::Shared(limiter) = self {
            limiter.set_servers(servers);
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
