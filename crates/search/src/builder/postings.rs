//! The documents of each word, most prominent first.

use super::documents::Documents;
use super::{Sections, starts};
use crate::segment::bloom_filter;
use crate::segment::format::Section;
use crate::segment::packed::{pack_bitmap, pack_u32s};

/// A word in more than one document of so many gets a bit for each document.
const FREQUENT: usize = 64;
/// At most so many words get bits.
const MOST_FREQUENT: usize = 128;

/// The lists of all words, and bits for the most frequent.
pub fn sections(documents: &Documents, terms: usize) -> Sections {
    let mut counts = vec![0usize; terms];
    let mut unique = Vec::new();
    each(documents, &mut unique, |_, term| counts[term as usize] += 1);
    let total = counts.iter().sum();
    let mut ends = Vec::with_capacity(terms);
    let mut end = 0;
    for count in &counts {
        ends.push(end);
        end += count;
    }
    let mut lists = vec![0u32; total];
    each(documents, &mut unique, |document, term| {
        lists[ends[term as usize]] = document;
        ends[term as usize] += 1;
    });
    let count = documents.len() as usize;
    let mut frequent: Vec<usize> = (0..terms)
        .filter(|&term| counts[term] > (count / FREQUENT).max(64))
        .collect();
    frequent.sort_by_key(|&term| (std::cmp::Reverse(counts[term]), term));
    frequent.truncate(MOST_FREQUENT);
    frequent.sort_unstable();
    let mut bits = Vec::new();
    for &term in &frequent {
        let list = &lists[ends[term] - counts[term]..ends[term]];
        bits.extend(pack_bitmap(list.iter().copied(), count));
    }
    let mut sieves = Vec::new();
    let mut sizes = Vec::with_capacity(terms);
    for term in 0..terms {
        let list = &lists[ends[term] - counts[term]..ends[term]];
        sizes.push(match frequent.binary_search(&term) {
            Ok(_) => 0,
            Err(_) => bloom_filter::build(list, &mut sieves),
        });
    }
    vec![
        (Section::BloomOffsets, starts(sizes.into_iter())),
        (Section::BloomFilters, sieves),
        (Section::PostingOffsets, starts(counts.into_iter())),
        (Section::Postings, pack_u32s(lists)),
        (
            Section::BitmapTerms,
            pack_u32s(frequent.iter().map(|&term| term as u32)),
        ),
        (Section::Bitmaps, bits),
    ]
}

/// Calls `note` with each document and each of its words, once.
fn each(documents: &Documents, unique: &mut Vec<u32>, mut note: impl FnMut(u32, u32)) {
    for document in 0..documents.len() {
        unique.clear();
        unique.extend_from_slice(documents.noted(document).terms());
        unique.sort_unstable();
        unique.dedup();
        for &term in &*unique {
            note(document, term);
        }
    }
}
