//! Typed access to the sections of an open segment.

use crate::segment::format::{Section, SectionTable, dequantize_prominence};
use crate::segment::forward_index::DocumentRecord;
use crate::segment::kind_phrases::KindPhrases;
use crate::segment::missions::MissionIndex;
use crate::segment::packed::{PackedU16s, PackedU32s};
use crate::segment::trie::Trie;

/// An open segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    bytes: &'a [u8],
    table: &'a SectionTable,
}

impl<'a> Segment<'a> {
    /// Creates a segment over `bytes`, from which `table` was read.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], table: &'a SectionTable) -> Self {
        Self { bytes, table }
    }

    /// Returns the bytes of a section.
    #[inline]
    pub(crate) fn bytes(self, section: Section) -> &'a [u8] {
        let (from, to) = self.table.range(section);
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Returns a section as integers.
    #[inline]
    pub(crate) fn u32s(self, section: Section) -> PackedU32s<'a> {
        PackedU32s(self.bytes(section))
    }

    /// Returns the number of documents.
    #[inline]
    pub(crate) fn document_count(self) -> u32 {
        self.table.document_count()
    }

    /// Returns the dictionary.
    #[inline]
    pub(crate) fn trie(self) -> Trie<'a> {
        Trie::new(
            self.bytes(Section::TrieNodes),
            self.u32s(Section::TrieChildren),
            self.u32s(Section::TermOffsets),
            self.bytes(Section::TermText),
        )
    }

    /// Returns the words of missions.
    #[inline]
    pub(crate) fn missions(self) -> MissionIndex<'a> {
        let trie = Trie::new(
            self.bytes(Section::MissionTrieNodes),
            self.u32s(Section::MissionTrieChildren),
            self.u32s(Section::MissionTermOffsets),
            self.bytes(Section::MissionTermText),
        );
        let offsets = self.u32s(Section::MissionPostingOffsets);
        MissionIndex {
            trie,
            offsets,
            postings: self.u32s(Section::MissionPostings),
            code_documents: self.u32s(Section::MissionCodeDocuments),
            codes: self.bytes(Section::MissionCodes),
        }
    }

    /// Returns the record of a document.
    #[inline]
    pub(crate) fn record(self, document: u32) -> DocumentRecord<'a> {
        let offsets = self.u32s(Section::RecordOffsets);
        let (from, to) = (offsets.get(document as usize), offsets.get(document as usize + 1));
        DocumentRecord(
            self.bytes(Section::Records)
                .get(from as usize..to as usize)
                .unwrap_or_default(),
        )
    }

    /// Returns the signature of a document; with all bits set if it is missing, so that it excludes nothing.
    #[inline]
    pub(crate) fn signature(self, document: u32) -> u64 {
        let at = document as usize * 8;
        match self.bytes(Section::Signatures).get(at..at + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            None => u64::MAX,
        }
    }

    /// Returns the prominence of a document.
    #[inline]
    pub(crate) fn prominence(self, document: u32) -> f32 {
        dequantize_prominence(PackedU16s(self.bytes(Section::Prominences)).get(document as usize))
    }

    /// Returns the most prominent names with the prefix of a trie node, or nothing if they are not
    /// precomputed.
    pub(crate) fn completions(self, node_id: u32) -> PackedU32s<'a> {
        let offsets = self.u32s(Section::CompletionOffsets);
        let (from, to) = (offsets.get(node_id as usize), offsets.get(node_id as usize + 1));
        self.u32s(Section::Completions).slice(from as usize, to as usize)
    }

    /// Returns the phrases for kinds.
    #[inline]
    pub(crate) fn kind_phrases(self) -> KindPhrases<'a> {
        KindPhrases::new(
            self.u32s(Section::KindPhraseOffsets),
            self.bytes(Section::KindPhraseText),
            self.u32s(Section::KindPhraseTerms),
        )
    }

    /// Returns `term` and its synonyms, or nothing if it has none.
    #[inline]
    pub(crate) fn synonyms(self, term: u32) -> PackedU32s<'a> {
        let group = self.u32s(Section::SynonymGroupOfTerm).get(term as usize) as usize;
        if group == 0 {
            return PackedU32s::default();
        }
        let offsets = self.u32s(Section::SynonymGroupOffsets);
        self.u32s(Section::SynonymGroups)
            .slice(offsets.get(group) as usize, offsets.get(group + 1) as usize)
    }
}
