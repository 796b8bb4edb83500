//! What imports changed about nonprofits that were already in the directory.
//!
//! Every import records its changes in its own transaction, field by field, so the history says exactly what is stored. Of a
//! nonprofit without an EIN it only says that it was added or changed.

mod change;
pub mod changes;
pub mod field_sources;
pub mod imports;
pub mod store;

pub use change::{
    ADDED, Change, GONE, MergedChanges, RETURNED, SLUG, compare_filings, compare_profiles,
    compare_return_profiles,
};
pub use store::{FieldChange, HistoryEntry, list};
