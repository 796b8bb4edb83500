//! Rate limits: the exact sliding window and the limiter that holds one for each key.

pub mod limiter;
pub mod recent;
pub mod sharded_map;
pub mod shares;
pub mod window;

use serde::Deserialize;

/// Length of the window in seconds.
pub const WINDOW_SECONDS: u32 = 60;

pub const SECOND_MICROS: u64 = 1_000_000;
pub const WINDOW_MICROS: u64 = WINDOW_SECONDS as u64 * SECOND_MICROS;

/// The classes of calls that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Details,
    Search,
    Browse,
    Causes,
    /// Reads of fundraisers.
    Fundraisers,
    /// Creating fundraisers, counted for the account and not for each of its keys.
    Create,
}

impl Class {
    pub const ALL: [Class; 6] = [
        Class::Details,
        Class::Search,
        Class::Browse,
        Class::Causes,
        Class::Fundraisers,
        Class::Create,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Class::Details => "details",
            Class::Search => "search",
            Class::Browse => "browse",
            Class::Causes => "causes",
            Class::Fundraisers => "fundraisers",
            Class::Create => "create",
        }
    }

    /// The class of a name, as in `causeway limit set KEY search=5000`.
    pub fn find(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// Calls a minute for a key that has no limits of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Limits {
    pub details: u32,
    pub search: u32,
    pub browse: u32,
    pub causes: u32,
    pub fundraisers: u32,
    pub create: u32,
}

impl Limits {
    /// The calls a minute of a key without limits of its own.
    pub fn of_class(&self, class: Class) -> u32 {
        match class {
            Class::Details => self.details,
            Class::Search => self.search,
            Class::Browse => self.browse,
            Class::Causes => self.causes,
            Class::Fundraisers => self.fundraisers,
            Class::Create => self.create,
        }
    }
}
