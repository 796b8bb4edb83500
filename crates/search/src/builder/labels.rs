//! The documents of each label, and their names in order.

use super::documents::Documents;
use super::names::Names;
use super::{Sections, starts};
use crate::segment::bloom_filter;
use crate::segment::format::Section;
use crate::segment::labels::{BITMAP_RATIO, NAME_LIST_RATIO};
use crate::segment::min_tree;
use crate::segment::name_entry;
use crate::segment::packed::{pack_bitmap, pack_u32s};

/// The sections of all labels; `sorted` are their texts.
pub fn sections(documents: &Documents, sorted: &[&str], list: &Names) -> Sections {
    let count = documents.len() as usize;
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); sorted.len()];
    for document in 0..documents.len() {
        for &label in documents.labels_of(document) {
            lists[label as usize].push(document);
        }
    }
    let mut bits = Vec::new();
    let mut bits_of = Vec::with_capacity(sorted.len());
    let mut sieves = Vec::new();
    let mut sieve_sizes = Vec::with_capacity(sorted.len());
    for list in &lists {
        if list.len() > count / BITMAP_RATIO {
            bits_of.push((bits.len() / count.div_ceil(64).max(1) / 8) as u32 + 1);
            bits.extend(pack_bitmap(list.iter().copied(), count));
            sieve_sizes.push(0);
        } else {
            bits_of.push(0);
            sieve_sizes.push(bloom_filter::build(list, &mut sieves));
        }
    }
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); sorted.len()];
    let mut entries: Vec<Vec<u32>> = vec![Vec::new(); sorted.len()];
    for (place, entry) in list.entries().enumerate() {
        for &label in documents.labels_of(name_entry::document(entry)) {
            let length = lists[label as usize].len();
            if length <= count / NAME_LIST_RATIO {
                places[label as usize].push(place as u32);
                entries[label as usize].push(entry);
            }
        }
    }
    let minima: Vec<Vec<u32>> = entries.iter().map(|entries| min_tree::build(entries)).collect();
    vec![
        (
            Section::LabelTextOffsets,
            starts(sorted.iter().map(|label| label.len())),
        ),
        (Section::LabelText, sorted.concat().into_bytes()),
        (Section::LabelPostingOffsets, starts(lists.iter().map(Vec::len))),
        (Section::LabelPostings, pack_u32s(lists.concat())),
        (Section::LabelBitmapNumbers, pack_u32s(bits_of)),
        (Section::LabelBitmaps, bits),
        (Section::LabelBloomOffsets, starts(sieve_sizes.into_iter())),
        (Section::LabelBloomFilters, sieves),
        (Section::LabelNameOffsets, starts(places.iter().map(Vec::len))),
        (Section::LabelNamePositions, pack_u32s(places.concat())),
        (Section::LabelNameEntries, pack_u32s(entries.concat())),
        (Section::LabelMinimaOffsets, starts(minima.iter().map(Vec::len))),
        (Section::LabelMinima, pack_u32s(minima.concat())),
    ]
}
