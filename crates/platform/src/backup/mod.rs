//! Backups: a consistent copy of the store, its pictures, its secret and the settings at one destination.
//!
//! A [`Manifest`] lists every file of a backup with its SHA-256 and is written last, so a backup that was interrupted
//! has none and is not restored. A destination holds one backup. The next one replaces it only when it is complete, and
//! does not copy pictures again.

pub mod archive;
pub mod hash;
pub mod manifest;
pub mod store;

pub use archive::Archive;
pub use manifest::{FileEntry, FileKind, LedgerFacts, Manifest};
