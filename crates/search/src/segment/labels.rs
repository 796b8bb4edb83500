//! Labels: lists of documents to browse and to filter by.
//!
//! The documents of a label stand in rank order, so that any page of a list is a slice. As a filter, a label is one
//! more list to intersect; a frequent one has a bit for each document as well, and all but
//! the most frequent have their own list of names, so that "names that begin with" costs the same with a label as without.

use crate::search::prefilter::Member;
use crate::segment::bloom_filter::Sieve;
use crate::segment::format::{Section, Segment};
use crate::segment::min_tree::Ranked;
use crate::segment::packed::{Bits, U32s};

/// A label on more than one document of so many has bits.
pub const FREQUENT: usize = 64;
/// A label on more than one document of so many is filtered by looking at the names it is on.
pub const MANY: usize = 4;

/// The documents of one label, most prominent first.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    documents: U32s<'a>,
    bits: Option<Bits<'a>>,
    sieve: Sieve<'a>,
    places: U32s<'a>,
    names: Ranked<'a>,
}

impl<'a> List<'a> {
    /// How many documents carry the label.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether no document carries the label.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `take` documents from place `from` on, fewer at the end.
    pub fn slice(&self, from: usize, take: usize) -> impl Iterator<Item = u32> + 'a {
        self.documents.slice(from, from.saturating_add(take)).iter()
    }

    /// Whether the document carries the label.
    #[inline]
    pub fn has(&self, document: u32) -> bool {
        match self.bits {
            Some(bits) => bits.has(document),
            None => self.sieve.passes(document) && self.documents.holds(document),
        }
    }

    pub(crate) fn documents(&self) -> U32s<'a> {
        self.documents
    }

    /// The list as it is asked for a document.
    pub(crate) fn member(&self) -> Member<'a> {
        match self.bits {
            Some(bits) => Member::Bits(bits),
            None => Member::Sieve(self.sieve),
        }
    }

    /// The names of its documents in order and their places among all names, if the label has them.
    pub(crate) fn names(&self) -> Option<(U32s<'a>, Ranked<'a>)> {
        (self.places.len() > 0).then_some((self.places, self.names))
    }
}

impl<'a> Segment<'a> {
    pub(crate) fn label_count(self) -> usize {
        self.numbers(Section::LabelStarts).len().saturating_sub(1)
    }

    pub(crate) fn label_text(self, at: usize) -> &'a str {
        let starts = self.numbers(Section::LabelStarts);
        let range = starts.get(at) as usize..starts.get(at + 1) as usize;
        std::str::from_utf8(self.bytes(Section::LabelText).get(range).unwrap_or_default()).unwrap_or_default()
    }

    /// The first label that is not before `text`.
    pub(crate) fn label_at(self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.label_count());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.label_text(middle) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The list of the label `text`, if any document carries it.
    pub(crate) fn label(self, text: &str) -> Option<List<'a>> {
        let at = self.label_at(text);
        (at < self.label_count() && self.label_text(at) == text).then(|| self.label_list(at))
    }

    pub(crate) fn label_list(self, at: usize) -> List<'a> {
        let part = |starts: Section, of: Section| {
            let starts = self.numbers(starts);
            self.numbers(of)
                .slice(starts.get(at) as usize, starts.get(at + 1) as usize)
        };
        let row = (self.documents() as usize).div_ceil(64) * 8;
        let bits = match self.numbers(Section::LabelBitsOf).get(at) as usize {
            0 => None,
            number => self
                .bytes(Section::LabelBits)
                .get((number - 1) * row..number * row)
                .map(Bits),
        };
        let sieves = self.numbers(Section::LabelSieveStarts);
        let sieve = sieves.get(at) as usize * 8..sieves.get(at + 1) as usize * 8;
        List {
            sieve: Sieve(self.bytes(Section::LabelSieves).get(sieve).unwrap_or_default()),
            documents: part(Section::LabelListStarts, Section::LabelLists),
            bits,
            places: part(Section::LabelNameStarts, Section::LabelNamePlaces),
            names: Ranked::new(
                part(Section::LabelNameStarts, Section::LabelNameEntries),
                part(Section::LabelMinimaStarts, Section::LabelMinima),
            ),
        }
    }
}
