//! The inverted index: the documents of each term, most prominent first.

use crate::builder::documents::Documents;
use crate::builder::sections::{Sections, pack_offsets};
use crate::segment::bloom_filter;
use crate::segment::format::Section;
use crate::segment::packed::{pack_bitmap, pack_u32s};

/// A term has a bitmap if more than one in this many documents has it, and more than
/// [`MIN_BITMAP_DOCUMENTS`].
const BITMAP_RATIO: usize = 64;
const MIN_BITMAP_DOCUMENTS: usize = 64;
/// Maximum number of terms with a bitmap, the most frequent ones.
const MAX_BITMAPS: usize = 128;

/// Encodes the posting lists, the bitmaps of frequent terms and the Bloom filters of all others.
pub(super) fn sections(documents: &Documents, term_count: usize) -> Sections {
    let mut counts = vec![0usize; term_count];
    let mut buffer = Vec::new();
    for_each_posting(documents, &mut buffer, |_, term| counts[term as usize] += 1);
    let total = counts.iter().sum();
    // While the lists are filled, each of these advances from the start to the end of its list.
    let mut ends = Vec::with_capacity(term_count);
    let mut end = 0;
    for count in &counts {
        ends.push(end);
        end += count;
    }
    let mut lists = vec![0u32; total];
    for_each_posting(documents, &mut buffer, |document, term| {
        lists[ends[term as usize]] = document;
        ends[term as usize] += 1;
    });
    let document_count = documents.len() as usize;
    let min_frequency = (document_count / BITMAP_RATIO).max(MIN_BITMAP_DOCUMENTS);
    let mut frequent: Vec<usize> = (0..term_count)
        .filter(|&term| counts[term] > min_frequency)
        .collect();
    frequent.sort_by_key(|&term| (std::cmp::Reverse(counts[term]), term));
    frequent.truncate(MAX_BITMAPS);
    frequent.sort_unstable();
    let mut bitmaps = Vec::new();
    for &term in &frequent {
        let list = &lists[ends[term] - counts[term]..ends[term]];
        bitmaps.extend(pack_bitmap(list.iter().copied(), document_count));
    }
    let mut blooms = Vec::new();
    let mut bloom_lengths = Vec::with_capacity(term_count);
    for term in 0..term_count {
        let list = &lists[ends[term] - counts[term]..ends[term]];
        bloom_lengths.push(match frequent.binary_search(&term) {
            Ok(_) => 0,
            Err(_) => bloom_filter::build(list, &mut blooms),
        });
    }
    vec![
        (Section::BloomOffsets, pack_offsets(bloom_lengths.into_iter())),
        (Section::BloomFilters, blooms),
        (Section::PostingOffsets, pack_offsets(counts.into_iter())),
        (Section::Postings, pack_u32s(lists)),
        (
            Section::BitmapTerms,
            pack_u32s(frequent.iter().map(|&term| term as u32)),
        ),
        (Section::Bitmaps, bitmaps),
    ]
}

/// Calls `visit` with each document and each of its distinct terms.
fn for_each_posting(documents: &Documents, buffer: &mut Vec<u32>, mut visit: impl FnMut(u32, u32)) {
    for document in 0..documents.len() {
        buffer.clear();
        buffer.extend_from_slice(documents.terms(document).all());
        buffer.sort_unstable();
        buffer.dedup();
        for &term in &*buffer {
            visit(document, term);
        }
    }
}
