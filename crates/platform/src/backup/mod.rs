//! Backups: a consistent copy of the store, its pictures, its secret and the settings at one destination.
//!
//! A [`Manifest`] lists every file of a backup with its SHA-256 and is written last, so a backup that was interrupted
//! has none and is not restored. A destination holds one backup. The next one replaces it only when it is complete, and
//! does not copy pictures again. A history of backups would need rules for what to delete and when; several destinations, or
//! a bucket with versions, do the same.
//!
//! Pictures are copied after the store: a blob is never changed, and never removed while a row refers to it. A restore
//! verifies all hashes before it writes anything, and puts the store in place last.

pub mod archive;
pub mod hash;
pub mod manifest;
pub mod store;

pub use archive::Archive;
pub use manifest::{FileEntry, FileKind, LedgerFacts, Manifest};
