//! The parts of a server that an import needs.

use directory::nonprofits::causes::Causes;
use platform::clock::Clock;
use platform::db::Db;
use platform::hosted::Pictures;
use std::path::Path;

/// Imports files into the directory.
#[derive(Clone, Copy, Debug)]
pub struct Importer<'a> {
    pub db: &'a Db,
    pub clock: &'a Clock,
    /// Stores the pictures in the files.
    pub pictures: &'a Pictures,
    pub causes: &'a Causes,
    /// The data folder, for temporary files and reports.
    pub data: &'a Path,
    /// The largest number of changed nonprofits that running servers apply without a new snapshot.
    pub overlay_limit: usize,
}
