//! Labels: lists of documents to browse and to filter by.
//!
//! The documents of a label are in rank order, so that any page of the list is a slice. As a filter, a label
//! is one more posting list to intersect. A frequent label also has a bitmap, any other a Bloom filter. All
//! but the most frequent labels have their own part of the name list, so that completing a prefix costs the
//! same with a label as without.

use crate::segment::bloom_filter::BloomFilter;
use crate::segment::doc_set::DocSet;
use crate::segment::format::Section;
use crate::segment::min_tree::MinTree;
use crate::segment::packed::{Bitmap, PackedU32s, bitmap_bytes};
use crate::segment::reader::Segment;

/// A label has a bitmap if more than one in this many documents carries it.
pub(crate) const BITMAP_RATIO: usize = 64;
/// A label has no name list of its own if more than one in this many documents carries it.
pub(crate) const NAME_LIST_RATIO: usize = 4;

/// The documents of a label, most prominent first.
#[derive(Clone, Copy, Debug)]
pub struct LabelPostings<'a> {
    documents: PackedU32s<'a>,
    bitmap: Option<Bitmap<'a>>,
    bloom: BloomFilter<'a>,
    name_positions: PackedU32s<'a>,
    names: MinTree<'a>,
}

impl<'a> LabelPostings<'a> {
    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns `true` if no document carries the label.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over at most `limit` documents, starting at `offset`.
    pub fn page(&self, offset: usize, limit: usize) -> impl Iterator<Item = u32> + 'a {
        self.documents.slice(offset, offset.saturating_add(limit)).iter()
    }

    /// Returns `true` if the document carries the label.
    #[inline]
    pub fn contains(&self, document: u32) -> bool {
        match self.bitmap {
            Some(bitmap) => bitmap.contains(document),
            None => self.bloom.may_contain(document) && self.documents.contains(document),
        }
    }

    pub(crate) fn documents(&self) -> PackedU32s<'a> {
        self.documents
    }

    pub(crate) fn doc_set(&self) -> DocSet<'a> {
        match self.bitmap {
            Some(bitmap) => DocSet::Bitmap(bitmap),
            None => DocSet::Bloom(self.bloom),
        }
    }

    /// Returns the name list of the label and the positions of its entries in the full name list, if it has
    /// one.
    pub(crate) fn name_list(&self) -> Option<(PackedU32s<'a>, MinTree<'a>)> {
        (self.name_positions.len() > 0).then_some((self.name_positions, self.names))
    }
}

impl<'a> Segment<'a> {
    pub(crate) fn label_count(self) -> usize {
        self.u32s(Section::LabelTextOffsets).len().saturating_sub(1)
    }

    pub(crate) fn label_text(self, index: usize) -> &'a str {
        let offsets = self.u32s(Section::LabelTextOffsets);
        let range = offsets.get(index) as usize..offsets.get(index + 1) as usize;
        std::str::from_utf8(self.bytes(Section::LabelText).get(range).unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the index of the first label that is not less than `text`.
    pub(crate) fn label_lower_bound(self, text: &str) -> usize {
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

    /// Returns the documents of the label `text`, if it exists.
    pub(crate) fn find_label(self, text: &str) -> Option<LabelPostings<'a>> {
        let index = self.label_lower_bound(text);
        (index < self.label_count() && self.label_text(index) == text).then(|| self.label_postings(index))
    }

    pub(crate) fn label_postings(self, index: usize) -> LabelPostings<'a> {
        let list = |offsets: Section, values: Section| {
            let offsets = self.u32s(offsets);
            self.u32s(values)
                .slice(offsets.get(index) as usize, offsets.get(index + 1) as usize)
        };
        let size = bitmap_bytes(self.document_count() as usize);
        // Bitmaps are numbered from 1; 0 means none.
        let bitmap = match self.u32s(Section::LabelBitmapNumbers).get(index) as usize {
            0 => None,
            number => self
                .bytes(Section::LabelBitmaps)
                .get((number - 1) * size..number * size)
                .map(Bitmap),
        };
        let offsets = self.u32s(Section::LabelBloomOffsets);
        let bloom = offsets.get(index) as usize * 8..offsets.get(index + 1) as usize * 8;
        LabelPostings {
            bloom: BloomFilter(
                self.bytes(Section::LabelBloomFilters)
                    .get(bloom)
                    .unwrap_or_default(),
            ),
            documents: list(Section::LabelPostingOffsets, Section::LabelPostings),
            bitmap,
            name_positions: list(Section::LabelNameOffsets, Section::LabelNamePositions),
            names: MinTree::new(
                list(Section::LabelNameOffsets, Section::LabelNameEntries),
                list(Section::LabelMinimaOffsets, Section::LabelMinima),
            ),
        }
    }
}
