//! The table of word vectors: `data/word-vectors/README.md` describes it.

use ::search::WordVectors;
use std::sync::LazyLock;

/// The table is read in place, so that only the pages of words that people type are in memory.
static TABLE: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/word-vectors/word-vectors.bin"
));

/// The table by which missions are compared with queries.
pub(crate) static WORD_VECTORS: LazyLock<WordVectors> = LazyLock::new(open);

/// Opens the table.
pub(crate) fn open() -> WordVectors {
    WordVectors::open(TABLE).expect("word-vectors.bin is a table of word vectors")
}
