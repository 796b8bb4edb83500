//! Webhooks: what partners are told about donations, fundraisers and nonprofits.
//!
//! One transaction reads the outbox from where the last one ended, and adds an [event](events) for each account that may see
//! it and a [delivery](deliveries) for each of its endpoints that wants it. Any server does that, and any server sends: an
//! attempt is leased for longer than it can take, so a server that dies only delays it. Bodies are written when they are sent,
//! by a function that the caller passes, so what was erased since is not in them.
//!
//! - [`endpoints`]: where events are sent, with the rules for their URLs.
//! - [`events`]: the log of events, and what is known about each.
//! - [`deliveries`]: the queue, and the sender.
//! - [`schedule`]: when an attempt is made and what follows from its outcome; it does no I/O.

pub mod deliveries;
pub mod endpoints;
pub mod events;
pub mod kind;
pub mod schedule;
mod url;

use directory::Directory;
use platform::clock::Clock;
use platform::db::Db;
use platform::mail::Mailer;
use platform::outbound::post::Poster;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use serde::Deserialize;
use std::sync::Arc;

pub use kind::{EventKind, Format};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// Where endpoints may be.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct WebhookSettings {
    /// Also on this machine and in private networks, for development.
    pub allow_private: bool,
}

/// The parts that webhooks use. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Webhooks {
    pub db: Db,
    pub directory: Arc<Directory>,
    pub clock: Clock,
    pub secret: StoreSecret,
    pub mailer: Mailer,
    pub public_url: PublicUrl,
    pub poster: Poster,
    /// Whether endpoints may be on this machine and in private networks, for development.
    pub allows_private: bool,
    /// How long events can be read and replayed. 0: forever.
    pub keep_days: u32,
}

impl Webhooks {
    /// Returns the time before which events are removed.
    fn retained_since(&self) -> Option<i64> {
        let days = i64::from(self.keep_days);
        (days > 0).then(|| self.clock.millis() - days * DAY_MILLIS)
    }
}
