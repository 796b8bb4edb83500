//! Fills the directory: imports of IRS files, of Form 990 returns and of the operator's own files, and test data.
//!
//! Files are read and validated first, without a lock. Then the new and changed rows are written in one transaction, so
//! readers see the directory before or after an import, and an import that is interrupted changes nothing. This crate
//! contains no SQL: it writes through the stores of `directory`.
//!
//! # Where to start reading
//!
//! [`Importer`] has a method for each import, defined in the folder that reads its files:
//!
//! - `irs`: `causeway import irs`, the master file (EO BMF), which lists all nonprofits
//! - `standing`: `causeway import california`, `tax-board` and `sanctions`
//! - `lists`: `causeway import pub78`, `revocations` and `990n`
//! - [`form990`]: `causeway import 990`, returns in XML
//! - `enrichment`: `causeway import nonprofits`, JSON Lines of the operator
//! - `demo`: the built-in demo directory
//!
//! `files` opens and decompresses any of them, and [`recognize`] tells which one a file is. [`Summary`] says what an import
//! did. [`generate`] writes synthetic files for tests and benchmarks.
//!
//! # The way of an IRS row
//!
//! 1. `files::source` opens `eo1.csv`, decompresses it and hashes it while it is read.
//! 2. `irs::bmf` splits a line and parses it into an EIN and a [`Filing`](directory::nonprofits::filing::Filing), or
//!    rejects it with a reason.
//! 3. `irs::read` writes the filing as one text and compares its hash with the one in the store.
//! 4. A new or changed row goes to a temporary file, `irs::row_file`; an unchanged one ends here.
//! 5. `irs::write` takes the next revision of the directory and begins the transaction.
//! 6. New nonprofits get their slugs, the most prominent first; a renamed one keeps its former slug as well.
//! 7. `directory::nonprofits::bulk` writes the rows, and `directory::history` the fields that changed.
//! 8. A small import records which nonprofits it changed; the log of imports gets its counts and files. Commit.
//! 9. Servers see the new revision: `directory::snapshot::refresh` puts the changes in the overlay of the next view.
//! 10. After a large import, `directory::snapshot::rebuild` builds a new snapshot in the background.

mod demo;
mod digest;
mod enrichment;
mod files;
pub mod form990;
pub mod generate;
mod importer;
mod irs;
mod lists;
mod recognize;
mod report;
mod slugs;
mod standing;
mod summary;
mod values;

pub use enrichment::Enrichment;
pub use importer::Importer;
pub use irs::bmf::HEADER as BMF_HEADER;
pub use lists::ListKind;
pub use recognize::{FileKind, recognize};
pub use summary::{ImportedFile, ReturnCounts, StandingCounts, Summary};
