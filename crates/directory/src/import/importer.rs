//! The parts of a server that an import works with.

use crate::nonprofits::causes::Causes;
use platform::clock::Clock;
use platform::db::Db;
use platform::hosted::Pictures;
use std::path::Path;

/// Imports files into the directory.
#[derive(Clone, Copy, Debug)]
pub struct Importer<'a> {
    pub db: &'a Db,
    pub clock: &'a Clock,
    /// Where pictures in the files are stored.
    pub pictures: &'a Pictures,
    pub causes: &'a Causes,
    /// The data folder, for temporary files and reports.
    pub data: &'a Path,
    /// The largest number of changed nonprofits that running servers take in without a new snapshot.
    pub overlay_limit: usize,
}
