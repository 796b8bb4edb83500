//! The segment: one string of bytes that is the whole index.
//!
//! A header with a magic word, the version of the layout and a checksum of all that follows; a table of sections; the
//! sections, each starting at a multiple of eight. Opening looks at the header and, unless told otherwise, at the checksum;
//! nothing is copied or rebuilt, so that a mapped file costs only the pages that are really read.

use std::io::{self, Write};

use crate::segment::forward_index::Record;
use crate::segment::packed::{U16s, U32s};
use crate::segment::trie::Trie;

const MAGIC: &[u8; 8] = b"cwsearch";
const VERSION: u32 = 3;
const HEADER: usize = 32;

/// Parts of a segment, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Section {
    /// Words: where each starts, their letters, the trie over them.
    TermStarts,
    TermText,
    TrieNodes,
    TrieKids,
    /// For each word its class, and for each class its words.
    ClassOf,
    ClassStarts,
    Classes,
    /// Documents of each word.
    PostingStarts,
    Postings,
    /// The most frequent words, with a bit for each document.
    FrequentTerms,
    FrequentBits,
    /// For each word where its sieve is, in words of eight bytes, and the sieves (see [`crate::segment::bloom_filter`]).
    SieveStarts,
    Sieves,
    /// Words of each document.
    RecordStarts,
    Records,
    /// For each document the bits of its words (see [`crate::segment::signature`]).
    Signatures,
    /// Names in the order of their words (see [`crate::segment::min_tree`]).
    NameStarts,
    NameEntries,
    NameSeconds,
    NameMinima,
    /// For each node of the trie where its most prominent names are ready, and these names.
    ReadyStarts,
    Ready,
    Weights,
    /// Numbers in order, and whose they are.
    Numbers,
    NumberDocuments,
    /// Initials by their hash, and whose they are.
    Initials,
    InitialDocuments,
    /// Labels: their text, their documents, bits of the frequent ones.
    LabelStarts,
    LabelText,
    LabelListStarts,
    LabelLists,
    LabelBitsOf,
    LabelBits,
    LabelSieveStarts,
    LabelSieves,
    /// Names of the documents of a label, in the order of their words.
    LabelNameStarts,
    LabelNamePlaces,
    LabelNameEntries,
    LabelMinimaStarts,
    LabelMinima,
}

/// How many sections there are.
pub const SECTIONS: usize = Section::LabelMinima as usize + 1;

/// Why a segment was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// It does not start as a segment does.
    NotASegment,
    /// It was written by another version.
    Version(u32),
    /// It is shorter or longer than when it was written.
    Length,
    /// Its bytes are not those that were written.
    Checksum,
    /// Its table points outside.
    Table,
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotASegment => f.write_str("not a search segment"),
            Self::Version(version) => write!(f, "search segment of version {version}, wanted {VERSION}"),
            Self::Length => f.write_str("search segment cut short or grown"),
            Self::Checksum => f.write_str("search segment with changed bytes"),
            Self::Table => f.write_str("search segment with a false table"),
        }
    }
}

impl std::error::Error for Damaged {}

/// Where each section lies.
#[derive(Clone, Debug)]
pub struct Table {
    ranges: [(usize, usize); SECTIONS],
    documents: u32,
}

impl Table {
    /// Reads the header of `bytes`; with `verify`, the checksum too.
    pub fn read(bytes: &[u8], verify: bool) -> Result<Self, Damaged> {
        let number = |at: usize| -> Result<u32, Damaged> {
            let four = bytes.get(at..at + 4).ok_or(Damaged::Length)?;
            Ok(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        };
        if bytes.get(..8) != Some(MAGIC.as_slice()) {
            return Err(Damaged::NotASegment);
        }
        if number(8)? != VERSION {
            return Err(Damaged::Version(number(8)?));
        }
        let long = |at: usize| Ok(u64::from(number(at)?) | u64::from(number(at + 4)?) << 32);
        if long(16)? != bytes.len() as u64 {
            return Err(Damaged::Length);
        }
        if verify && crc32fast::hash(&bytes[16..]) != number(12)? {
            return Err(Damaged::Checksum);
        }
        let mut ranges = [(0, 0); SECTIONS];
        for (at, range) in ranges.iter_mut().enumerate() {
            let from = usize::try_from(long(HEADER + at * 16)?).map_err(|_| Damaged::Table)?;
            let length = usize::try_from(long(HEADER + at * 16 + 8)?).map_err(|_| Damaged::Table)?;
            let to = from
                .checked_add(length)
                .filter(|&to| to <= bytes.len())
                .ok_or(Damaged::Table)?;
            *range = (from, to);
        }
        Ok(Self {
            ranges,
            documents: number(24)?,
        })
    }

    /// The segment over `bytes`, from which this table was read.
    #[inline]
    pub fn over<'a>(&'a self, bytes: &'a [u8]) -> Segment<'a> {
        Segment { bytes, table: self }
    }
}

/// A segment ready to be read.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    bytes: &'a [u8],
    table: &'a Table,
}

impl<'a> Segment<'a> {
    /// The bytes of a section.
    #[inline]
    pub fn bytes(self, section: Section) -> &'a [u8] {
        let (from, to) = self.table.ranges[section as usize];
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// The numbers of a section.
    #[inline]
    pub fn numbers(self, section: Section) -> U32s<'a> {
        U32s(self.bytes(section))
    }

    /// How many documents there are.
    #[inline]
    pub fn documents(self) -> u32 {
        self.table.documents
    }

    /// The dictionary.
    #[inline]
    pub fn trie(self) -> Trie<'a> {
        Trie::new(
            self.bytes(Section::TrieNodes),
            self.numbers(Section::TrieKids),
            self.numbers(Section::TermStarts),
            self.bytes(Section::TermText),
        )
    }

    /// The words of a document.
    #[inline]
    pub fn record(self, document: u32) -> Record<'a> {
        let starts = self.numbers(Section::RecordStarts);
        let (from, to) = (starts.get(document as usize), starts.get(document as usize + 1));
        Record(
            self.bytes(Section::Records)
                .get(from as usize..to as usize)
                .unwrap_or_default(),
        )
    }

    /// The signature of a document.
    #[inline]
    pub fn signature(self, document: u32) -> u64 {
        let at = document as usize * 8;
        match self.bytes(Section::Signatures).get(at..at + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            None => u64::MAX,
        }
    }

    /// The prominence of a document.
    #[inline]
    pub fn weight(self, document: u32) -> f32 {
        from_steps(U16s(self.bytes(Section::Weights)).get(document as usize))
    }

    /// The most prominent names that begin with the letters of a node of the trie, if they are ready.
    pub fn ready(self, node: u32) -> U32s<'a> {
        let starts = self.numbers(Section::ReadyStarts);
        let (from, to) = (starts.get(node as usize), starts.get(node as usize + 1));
        self.numbers(Section::Ready).slice(from as usize, to as usize)
    }

    /// The other words of the class of `term`, itself included; empty for a word that stands alone.
    #[inline]
    pub fn class(self, term: u32) -> U32s<'a> {
        let class = self.numbers(Section::ClassOf).get(term as usize) as usize;
        if class == 0 {
            return U32s::default();
        }
        let starts = self.numbers(Section::ClassStarts);
        self.numbers(Section::Classes)
            .slice(starts.get(class) as usize, starts.get(class + 1) as usize)
    }
}

/// Weights are kept in steps of a thousandth or so, from 0 to 64.
pub fn to_steps(weight: f32) -> u16 {
    (weight.clamp(0.0, 63.0) * 1024.0) as u16
}

fn from_steps(steps: u16) -> f32 {
    f32::from(steps) / 1024.0
}

/// Writes a segment of `documents` documents.
pub fn write(sections: &[Vec<u8>; SECTIONS], documents: u32, out: &mut impl Write) -> io::Result<()> {
    let mut table = Vec::with_capacity(SECTIONS * 16);
    let mut at = (HEADER + SECTIONS * 16) as u64;
    for section in sections {
        table.extend_from_slice(&at.to_le_bytes());
        table.extend_from_slice(&(section.len() as u64).to_le_bytes());
        at += section.len().next_multiple_of(8) as u64;
    }
    let mut rest = Vec::with_capacity(16);
    rest.extend_from_slice(&at.to_le_bytes());
    rest.extend_from_slice(&documents.to_le_bytes());
    rest.extend_from_slice(&[0; 4]);
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&rest);
    checksum.update(&table);
    let gap = |section: &Vec<u8>| &[0u8; 8][..section.len().next_multiple_of(8) - section.len()];
    for section in sections {
        checksum.update(section);
        checksum.update(gap(section));
    }
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&checksum.finalize().to_le_bytes())?;
    out.write_all(&rest)?;
    out.write_all(&table)?;
    for section in sections {
        out.write_all(section)?;
        out.write_all(gap(section))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_keeps_a_thousandth() {
        for weight in [0.0, 0.5, 3.25, 9.999, 11.0] {
            assert!((from_steps(to_steps(weight)) - weight).abs() < 0.001);
        }
        assert_eq!(to_steps(-3.0), 0);
        assert_eq!(to_steps(f32::NAN), 0);
    }

    #[test]
    fn a_written_segment_is_read_and_a_changed_one_refused() {
        let mut sections: [Vec<u8>; SECTIONS] = std::array::from_fn(|at| vec![at as u8; at]);
        sections[3].clear();
        let mut bytes = Vec::new();
        write(&sections, 5, &mut bytes).unwrap();
        let table = Table::read(&bytes, true).unwrap();
        assert_eq!(table.over(&bytes).bytes(Section::TermText), [1]);
        assert_eq!(table.over(&bytes).documents(), 5);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(Table::read(&flipped, true).is_err(), "byte {at}");
            assert!(Table::read(&bytes[..at], true).is_err(), "cut at {at}");
        }
    }
}
