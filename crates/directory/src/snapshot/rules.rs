//! The version of the code and data that turn stored rows into a snapshot.

use crate::nonprofits::zip_codes;
use std::sync::LazyLock;

/// Incremented with every change to the code that turns rows into records, labels or shown text, and with every change of
/// the word vectors, which are too large to be read at every start.
const CODE_VERSION: u32 = 7;

/// Returns a checksum of everything that turns rows into records: a binary with other rules rebuilds the snapshot.
pub(crate) fn rules() -> u32 {
    static RULES: LazyLock<u32> = LazyLock::new(|| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&CODE_VERSION.to_le_bytes());
        for file in [
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/causes.csv")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ntee-causes.csv")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/name-causes.csv")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/name-words.csv")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/city-words.csv")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo.jsonl")),
            zip_codes::FILE,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/kinds.csv")),
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../data/search-aliases.csv"
            )),
        ] {
            hasher.update(file.as_bytes());
        }
        hasher.finalize()
    });
    *RULES
}

/// Returns the file name of the snapshot of a revision; names sort by revision.
pub(crate) fn file_name(revision: i64) -> String {
    format!("{revision:012}.snapshot")
}
