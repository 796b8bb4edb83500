//! The directory of nonprofits: a memory-mapped snapshot, and a small overlay of what changed since it was built.
//!
//! The store is the source of truth, and a snapshot can always be rebuilt from it. A [`View`] is replaced as a whole, so a
//! reader sees one state or the next, never a mix. While there is no usable snapshot, lookups query the store.

mod directory;
pub mod history;
pub mod nonprofits;
pub mod query;
pub mod returns;
mod settings;
pub mod snapshot;

pub use directory::{Directory, ResolveError};
pub use settings::DirectorySettings;
pub use snapshot::view::{NonprofitRef, View};
