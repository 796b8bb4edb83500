//! The layout of a segment: header, section table, sections.
//!
//! The header holds a magic number, the version of the layout, a checksum of everything after it, the total
//! length and the number of documents. Sections start at multiples of eight bytes. Opening a segment reads
//! the header and the table and, unless the caller vouches for the bytes, verifies the checksum; nothing is
//! copied or decoded.

use std::fmt;
use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"cwsearch";
const VERSION: u32 = 6;
const HEADER_BYTES: usize = 32;
const TABLE_ENTRY_BYTES: usize = 16;
/// Everything from here on is covered by the checksum.
const CHECKSUM_START: usize = 16;

/// Sections in the order in which they are written.
///
/// An `Offsets` section has one more element than the section it describes has lists: list `i` is
/// `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Section {
    /// Dictionary: the words, and the trie over them.
    TermOffsets,
    TermText,
    TrieNodes,
    TrieChildren,
    /// Synonyms: the group of each term (0 for none), and the terms of each group.
    SynonymGroupOfTerm,
    SynonymGroupOffsets,
    SynonymGroups,
    /// Phrases for kinds in ascending order, and the tag of each.
    KindPhraseOffsets,
    KindPhraseText,
    KindPhraseTerms,
    /// Inverted index: the documents of each term.
    PostingOffsets,
    Postings,
    /// The most frequent terms, and a bitmap of the documents of each.
    BitmapTerms,
    Bitmaps,
    /// A Bloom filter of the documents of each term without a bitmap; offsets count blocks of eight bytes.
    BloomOffsets,
    BloomFilters,
    /// Forward index: the terms of each document.
    RecordOffsets,
    Records,
    Signatures,
    /// Name list: names sorted by core; offsets by the first term, the entries, the second term plus one, the
    /// minima.
    NameOffsets,
    NameEntries,
    NameSecondTerms,
    NameMinima,
    /// The most prominent names with the prefix of a trie node, precomputed for frequent prefixes.
    CompletionOffsets,
    Completions,
    Prominences,
    /// Registration numbers in ascending order, and the document of each.
    RegistrationNumbers,
    RegistrationDocuments,
    /// Hashes of initials in ascending order, and the document of each.
    InitialsHashes,
    InitialsDocuments,
    /// Labels: their text, their documents, and bitmaps or Bloom filters of the documents.
    LabelTextOffsets,
    LabelText,
    LabelPostingOffsets,
    LabelPostings,
    LabelBitmapNumbers,
    LabelBitmaps,
    LabelBloomOffsets,
    LabelBloomFilters,
    /// The part of the name list that belongs to a label: positions in the full list, entries, minima.
    LabelNameOffsets,
    LabelNamePositions,
    LabelNameEntries,
    LabelMinimaOffsets,
    LabelMinima,
    /// Missions: a dictionary of their words, the trie over it, and the documents of each word.
    MissionTermOffsets,
    MissionTermText,
    MissionTrieNodes,
    MissionTrieChildren,
    MissionPostingOffsets,
    MissionPostings,
    /// The documents whose mission has known words, in ascending order, and what each mission means.
    MissionCodeDocuments,
    MissionCodes,
}

/// Number of sections.
pub(crate) const SECTION_COUNT: usize = Section::MissionCodes as usize + 1;

/// The error returned when bytes are not a valid segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The bytes do not start with the magic number of a segment.
    NotASegment,
    /// The segment has this version, which this version of the crate cannot read.
    UnsupportedVersion(u32),
    /// The length differs from the one in the header.
    WrongLength,
    /// The content does not match the checksum.
    ChecksumMismatch,
    /// The section table points past the end.
    InvalidSectionTable,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASegment => f.write_str("not a search segment"),
            Self::UnsupportedVersion(version) => {
                write!(f, "search segment has version {version}, expected {VERSION}")
            }
            Self::WrongLength => f.write_str("search segment has the wrong length"),
            Self::ChecksumMismatch => f.write_str("checksum of the search segment does not match"),
            Self::InvalidSectionTable => f.write_str("search segment has an invalid section table"),
        }
    }
}

impl std::error::Error for OpenError {}

/// The header of a segment: its sections and its number of documents.
#[derive(Clone, Debug)]
pub(crate) struct SectionTable {
    ranges: [(usize, usize); SECTION_COUNT],
    document_count: u32,
}

impl SectionTable {
    /// Reads the header and the table of a segment, and verifies the checksum if `verify` is set.
    pub(crate) fn read(bytes: &[u8], verify: bool) -> Result<Self, OpenError> {
        let u32_at = |at: usize| -> Result<u32, OpenError> {
            let four = bytes.get(at..at + 4).ok_or(OpenError::WrongLength)?;
            Ok(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        };
        let u64_at = |at: usize| Ok(u64::from(u32_at(at)?) | u64::from(u32_at(at + 4)?) << 32);
        if bytes.get(..8) != Some(MAGIC.as_slice()) {
            return Err(OpenError::NotASegment);
        }
        if u32_at(8)? != VERSION {
            return Err(OpenError::UnsupportedVersion(u32_at(8)?));
        }
        if u64_at(16)? != bytes.len() as u64 {
            return Err(OpenError::WrongLength);
        }
        if verify && crc32fast::hash(&bytes[CHECKSUM_START..]) != u32_at(12)? {
            return Err(OpenError::ChecksumMismatch);
        }
        let mut ranges = [(0, 0); SECTION_COUNT];
        for (index, range) in ranges.iter_mut().enumerate() {
            let at = HEADER_BYTES + index * TABLE_ENTRY_BYTES;
            let from = usize::try_from(u64_at(at)?).map_err(|_| OpenError::InvalidSectionTable)?;
            let length = usize::try_from(u64_at(at + 8)?).map_err(|_| OpenError::InvalidSectionTable)?;
            let to = from
                .checked_add(length)
                .filter(|&to| to <= bytes.len())
                .ok_or(OpenError::InvalidSectionTable)?;
            *range = (from, to);
        }
        Ok(Self {
            ranges,
            document_count: u32_at(24)?,
        })
    }

    /// Returns the start and the end of a section.
    #[inline]
    pub(crate) fn range(&self, section: Section) -> (usize, usize) {
        self.ranges[section as usize]
    }

    /// Returns the number of documents.
    #[inline]
    pub(crate) fn document_count(&self) -> u32 {
        self.document_count
    }
}

/// Writes a segment.
pub(crate) fn write(
    sections: &[Vec<u8>; SECTION_COUNT],
    document_count: u32,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut table = Vec::with_capacity(SECTION_COUNT * TABLE_ENTRY_BYTES);
    let mut end = (HEADER_BYTES + SECTION_COUNT * TABLE_ENTRY_BYTES) as u64;
    for section in sections {
        table.extend_from_slice(&end.to_le_bytes());
        table.extend_from_slice(&(section.len() as u64).to_le_bytes());
        end += section.len().next_multiple_of(8) as u64;
    }
    let mut header_end = Vec::with_capacity(16);
    header_end.extend_from_slice(&end.to_le_bytes());
    header_end.extend_from_slice(&document_count.to_le_bytes());
    header_end.extend_from_slice(&[0; 4]);
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&header_end);
    checksum.update(&table);
    let padding = |section: &Vec<u8>| &[0u8; 8][..section.len().next_multiple_of(8) - section.len()];
    for section in sections {
        checksum.update(section);
        checksum.update(padding(section));
    }
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&checksum.finalize().to_le_bytes())?;
    out.write_all(&header_end)?;
    out.write_all(&table)?;
    for section in sections {
        out.write_all(section)?;
        out.write_all(padding(section))?;
    }
    Ok(())
}

/// Encodes a prominence from 0 to 63 with a precision of 1/1024.
pub(crate) fn quantize_prominence(prominence: f32) -> u16 {
    (prominence.clamp(0.0, 63.0) * 1024.0) as u16
}

/// Decodes a prominence.
pub(crate) fn dequantize_prominence(steps: u16) -> f32 {
    f32::from(steps) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prominence_has_a_precision_of_a_thousandth() {
        for prominence in [0.0, 0.5, 3.25, 9.999, 11.0] {
            let stored = dequantize_prominence(quantize_prominence(prominence));
            assert!((stored - prominence).abs() < 0.001);
        }
        assert_eq!(quantize_prominence(-3.0), 0);
        assert_eq!(quantize_prominence(f32::NAN), 0);
    }

    #[test]
    fn a_segment_can_be_read_and_a_changed_one_is_rejected() {
        let mut sections: [Vec<u8>; SECTION_COUNT] = std::array::from_fn(|at| vec![at as u8; at]);
        sections[3].clear();
        let mut bytes = Vec::new();
        write(&sections, 5, &mut bytes).unwrap();
        let table = SectionTable::read(&bytes, true).unwrap();
        let (from, to) = table.range(Section::TermText);
        assert_eq!(bytes[from..to], [1]);
        assert_eq!(table.document_count(), 5);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(SectionTable::read(&flipped, true).is_err(), "byte {at}");
            assert!(SectionTable::read(&bytes[..at], true).is_err(), "cut at {at}");
        }
    }
}
