//! Files in, directory out: what operators load, all of it or nothing.
//!
//! A file is read and judged first, while nothing is locked; then the rows that are new or changed are written in
//! one transaction. Readers see the directory before or after it, and a process that dies leaves the one before.

pub mod bmf;
pub mod enrichment;
mod hashing_reader;
mod importer;
mod irs;
pub mod lines;
mod nonprofits;
pub mod progress;
pub mod provenance;
mod record;
pub mod report;
mod row_file;
mod slugs;
pub mod source;
pub mod store;
mod summary;
mod values;

pub use importer::Importer;
pub use summary::{ImportedFile, Summary};
