//! Reads Form 990, 990-EZ and 990-PF returns as the IRS publishes them: XML of every schema version since 2008.
//!
//! Where each fact is in a return is data, in `data/form990_paths.csv`, not code. Versions are never refused: a return
//! is read by the names of its elements.

mod archive;
mod content;
pub mod facts;
mod file_at;
pub mod filed_return;
pub mod files;
mod found_return;
pub(crate) mod import;
pub mod paths;
pub mod reader;

pub mod texts;
pub mod website;
