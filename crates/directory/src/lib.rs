//! The directory of nonprofits: a memory-mapped snapshot, and a small overlay of what changed since it was built.
//!
//! The store is the source of truth, and a snapshot can always be rebuilt from it. A [`View`] is replaced as a whole, so a
//! reader sees one state or the next, never a mix. While there is no usable snapshot, lookups query the store. The crate
//! `ingest` fills the store.
//!
//! # Where to start reading
//!
//! The folders are in the order of a request:
//!
//! - [`nonprofits`]: what a nonprofit is. `assemble` builds a [`Nonprofit`](nonprofits::Nonprofit) from what the files say.
//! - [`snapshot`]: all nonprofits in one file, its overlay, and how servers build, share and replace it.
//! - [`query`]: search, lists by cause, circles around a place, matching of names, and why a search found little.
//! - [`eligibility`]: whether a nonprofit may receive a donation today, and why.
//! - [`history`]: what each import changed, and which file a fact comes from.
//! - [`returns`]: Form 990 returns by period.
//!
//! # The way of a lookup
//!
//! 1. A handler calls [`Directory::resolve`] with a slug, an EIN or an ID as typed.
//! 2. [`Identifier`](nonprofits::identifier::Identifier) parses it, or there is no such nonprofit.
//! 3. [`Directory::view`] returns the current view, without a lock.
//! 4. The overlay is searched first: what changed since the snapshot was built replaces what is in it.
//! 5. Otherwise a table of the snapshot, by the hash of the identifier, gives the position of the record.
//! 6. A former slug is found in a list of its own, with the same position.
//! 7. [`NonprofitRef`] holds the view and the position, so the file stays mapped while the record is in use.
//! 8. [`NonprofitRef::nonprofit`] reads the record in place: texts are slices of the file, and nothing is copied.
//! 9. A list of results takes the JSON of each nonprofit from the snapshot as well, see [`snapshot::item`].
//! 10. Without a snapshot, `nonprofits::store` reads the row, and `assemble` builds the same record from it.

mod directory;
pub mod eligibility;
pub mod history;
pub mod nonprofits;
pub mod query;
pub mod returns;
mod settings;
pub mod snapshot;

pub use directory::{Directory, ResolveError};
pub use settings::DirectorySettings;
pub use snapshot::view::{HitLocation, NonprofitRef, View};
