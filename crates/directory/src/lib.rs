//! The directory that requests read: a snapshot, with a small overlay for what changed since.
//!
//! The store is the truth. A [`View`] is swapped as one, so a reader sees one state or the next and never a mix.
//! Without a usable snapshot the answers come from the store until a new one is built.

pub mod browse;
pub mod build;
pub mod check;
mod directory;
pub mod documents;
pub mod edits;
pub mod explain;
pub mod file;
pub mod generate;
pub mod import;
pub mod nonprofits;
pub mod overlay;
pub mod record;
pub mod refresh;
pub mod rules;
pub mod search;
pub mod settings;
pub mod snapshot;
pub mod table;
pub mod view;

pub use directory::{Directory, ResolveError};
pub use settings::DirectorySettings;
pub use view::{NonprofitRef, View};
