//! The directory of nonprofits: a memory-mapped snapshot, and a small overlay of what changed since it was built.
//!
//! The store is the source of truth, and a snapshot can always be rebuilt from it. A [`View`] is replaced as a whole, so a
//! reader sees one state or the next, never a mix. While there is no usable snapshot, lookups query the store.

pub mod browse;
pub mod build;
pub mod changes;
pub mod check;
pub mod counts;
pub mod diagnosis;
mod directory;
pub mod documents;
pub mod edits;
pub mod ein_status;
pub mod explain;
pub mod field_sources;
pub mod file;
pub mod generate;
pub mod history;
pub mod import;
pub mod item;
pub mod matching;
pub mod near;
pub mod nonprofits;
pub mod overlay;
pub mod publish;
pub mod rebuild;
pub mod record;
pub mod refresh;
pub mod returns;
pub mod rules;
pub mod search;
pub mod settings;
mod similar;
pub mod sitemaps;
pub mod snapshot;
pub mod sources;
pub mod table;
mod thesaurus;
pub mod view;

pub use directory::{Directory, ResolveError};
pub use settings::DirectorySettings;
pub use view::{NonprofitRef, View};
