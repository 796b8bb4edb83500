//! Imports files into the directory.
//!
//! Files are read and validated first, without a lock. Then the new and changed rows are written in one transaction, so
//! readers see the directory before or after an import, and an import that is interrupted changes nothing.

pub mod bmf;
mod demo;
mod demo_returns;
mod digest;
pub mod enrichment;
pub mod form990;
mod hashing_reader;
mod importer;
mod irs;
pub mod lines;
mod lists;
mod nonprofits;
pub mod recognize;
mod record;
pub mod report;
mod returns;
mod row_file;
mod slugs;
pub mod source;
mod summary;
mod values;

pub use importer::Importer;
pub use lists::ListKind;
pub use summary::{ImportedFile, ReturnCounts, Summary};
