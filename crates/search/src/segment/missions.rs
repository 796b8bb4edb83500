//! The words of missions, their posting lists, and what each mission means.

use crate::intent::CODE_BYTES;
use crate::segment::packed::PackedU32s;
use crate::segment::trie::Trie;

/// The dictionary of missions and the documents of each word, in rank order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissionIndex<'a> {
    pub(super) trie: Trie<'a>,
    pub(super) offsets: PackedU32s<'a>,
    pub(super) postings: PackedU32s<'a>,
    pub(super) code_documents: PackedU32s<'a>,
    pub(super) codes: &'a [u8],
}

impl<'a> MissionIndex<'a> {
    /// Returns `true` if no document has a mission.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.postings.len() == 0
    }

    /// Returns the dictionary.
    pub(crate) fn trie(self) -> Trie<'a> {
        self.trie
    }

    /// Returns `true` if the index was built with word vectors.
    pub(crate) fn has_codes(self) -> bool {
        !self.codes.is_empty()
    }

    /// Returns what the mission of a document means, or `None` if it has no known word.
    pub(crate) fn code(self, document: u32) -> Option<&'a [u8]> {
        let index = self.code_documents.lower_bound(document);
        if self.code_documents.get(index) != document {
            return None;
        }
        self.codes.get(index * CODE_BYTES..(index + 1) * CODE_BYTES)
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
