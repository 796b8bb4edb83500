//! Rate limits: an exact sliding window, and the limiter that has one for each owner and class of [calls](call::Call), and
//! one for each address of a key whose owner limits addresses. With Redis, all servers share the windows.

pub mod call;
pub mod limiter;
pub mod own_calls;
pub mod rate_limiter;
pub mod script;
pub(crate) mod sharded_map;
pub mod shared;
pub mod store;
pub mod window;

use serde::Deserialize;

/// The length of the window in seconds.
pub const WINDOW_SECONDS: u32 = 60;

pub const SECOND_MICROS: u64 = 1_000_000;
pub const WINDOW_MICROS: u64 = WINDOW_SECONDS as u64 * SECOND_MICROS;

/// A class of calls that has its own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Details,
    Search,
    Browse,
    Causes,
    /// Reads of fundraisers.
    Fundraisers,
    /// Creating fundraisers, which is limited per account and not per key.
    Create,
    /// Matching lists of nonprofits.
    Match,
    /// Exporting the directory.
    Export,
    /// Managing webhook endpoints.
    Webhooks,
    /// Reading events and donations.
    Events,
}

impl Class {
    pub const ALL: [Class; 10] = [
        Class::Details,
        Class::Search,
        Class::Browse,
        Class::Causes,
        Class::Fundraisers,
        Class::Create,
        Class::Match,
        Class::Export,
        Class::Webhooks,
        Class::Events,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Class::Details => "details",
            Class::Search => "search",
            Class::Browse => "browse",
            Class::Causes => "causes",
            Class::Fundraisers => "fundraisers",
            Class::Create => "create",
            Class::Match => "match",
            Class::Export => "export",
            Class::Webhooks => "webhooks",
            Class::Events => "events",
        }
    }

    /// Finds a class by its name, as in `causeway limit set KEY search=5000`.
    pub fn find(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// The calls per minute of a key that has no limits of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Limits {
    pub details: u32,
    pub search: u32,
    pub browse: u32,
    pub causes: u32,
    pub fundraisers: u32,
    pub create: u32,
    #[serde(rename = "match")]
    pub matches: u32,
    pub export: u32,
    pub webhooks: u32,
    pub events: u32,
    /// Reads without a key from one address, if the server allows them.
    pub anonymous: u32,
}

impl Limits {
    /// Returns the limit of a class.
    pub fn of_class(&self, class: Class) -> u32 {
        match class {
            Class::Details => self.details,
            Class::Search => self.search,
            Class::Browse => self.browse,
            Class::Causes => self.causes,
            Class::Fundraisers => self.fundraisers,
            Class::Create => self.create,
            Class::Match => self.matches,
            Class::Export => self.export,
            Class::Webhooks => self.webhooks,
            Class::Events => self.events,
        }
    }
}

/// The highest number of calls per minute that a page accepts as a limit.
pub const MAX_PER_MINUTE: u32 = 1_000_000;

/// The name of the limit per address, next to the names of the classes.
pub const ADDRESS: &str = "address";
