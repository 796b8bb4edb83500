//! The words of missions and their posting lists.

use crate::segment::packed::PackedU32s;
use crate::segment::trie::Trie;

/// The dictionary of missions and the documents of each word, in rank order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissionIndex<'a> {
    trie: Trie<'a>,
    offsets: PackedU32s<'a>,
    postings: PackedU32s<'a>,
}

impl<'a> MissionIndex<'a> {
    /// Creates an index from its sections.
    pub(crate) fn new(trie: Trie<'a>, offsets: PackedU32s<'a>, postings: PackedU32s<'a>) -> Self {
        Self {
            trie,
            offsets,
            postings,
        }
    }

    /// Returns `true` if no document has a mission.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.postings.len() == 0
    }

    /// Returns the dictionary.
    pub(crate) fn trie(self) -> Trie<'a> {
        self.trie
    }

    /// Returns the documents with a word.
    pub(crate) fn postings(self, term: u32) -> PackedU32s<'a> {
        let (from, to) = (
            self.offsets.get(term as usize),
            self.offsets.get(term as usize + 1),
        );
        self.postings.slice(from as usize, to as usize)
    }
}
