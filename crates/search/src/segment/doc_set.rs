//! Sets of documents that can be tested for membership without reading posting lists.

use crate::segment::bloom_filter::BloomFilter;
use crate::segment::format::Section;
use crate::segment::packed::{Bitmap, bitmap_bytes};
use crate::segment::reader::Segment;

/// The documents of a term or of a label.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DocSet<'a> {
    /// Exact; used for frequent terms and labels.
    Bitmap(Bitmap<'a>),
    /// Approximate, with a few false positives.
    Bloom(BloomFilter<'a>),
}

impl<'a> DocSet<'a> {
    /// Returns the documents of `term`.
    pub(crate) fn of_term(segment: Segment<'a>, term: u32) -> Self {
        if let Some(bitmap) = bitmap_of_term(segment, term) {
            return Self::Bitmap(bitmap);
        }
        let offsets = segment.u32s(Section::BloomOffsets);
        let (from, to) = (offsets.get(term as usize), offsets.get(term as usize + 1));
        let filter = segment
            .bytes(Section::BloomFilters)
            .get(from as usize * 8..to as usize * 8);
        Self::Bloom(BloomFilter(filter.unwrap_or_default()))
    }
}

fn bitmap_of_term(segment: Segment<'_>, term: u32) -> Option<Bitmap<'_>> {
    let terms = segment.u32s(Section::BitmapTerms);
    let index = terms.lower_bound(term);
    if index >= terms.len() || terms.get(index) != term {
        return None;
    }
    let size = bitmap_bytes(segment.document_count() as usize);
    segment
        .bytes(Section::Bitmaps)
        .get(index * size..(index + 1) * size)
        .map(Bitmap)
}
