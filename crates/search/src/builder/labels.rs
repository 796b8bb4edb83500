//! The documents of each label, and the part of the name list that belongs to it.

use crate::builder::documents::Documents;
use crate::builder::names::NameList;
use crate::builder::sections::{Sections, pack_offsets};
use crate::segment::bloom_filter;
use crate::segment::format::Section;
use crate::segment::labels::{BITMAP_RATIO, NAME_LIST_RATIO};
use crate::segment::min_tree;
use crate::segment::name_entry;
use crate::segment::packed::{pack_bitmap, pack_u32s};

/// Encodes all labels, whose texts are `sorted_labels`.
pub(super) fn sections(documents: &Documents, sorted_labels: &[&str], name_list: &NameList) -> Sections {
    let document_count = documents.len() as usize;
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); sorted_labels.len()];
    for document in 0..documents.len() {
        for &label in documents.labels(document) {
            lists[label as usize].push(document);
        }
    }
    let mut bitmaps = Vec::new();
    let mut bitmap_numbers = Vec::with_capacity(sorted_labels.len());
    let mut blooms = Vec::new();
    let mut bloom_lengths = Vec::with_capacity(sorted_labels.len());
    let mut bitmap_count = 0;
    for list in &lists {
        if list.len() > document_count / BITMAP_RATIO {
            bitmap_count += 1;
            bitmap_numbers.push(bitmap_count);
            bitmaps.extend(pack_bitmap(list.iter().copied(), document_count));
            bloom_lengths.push(0);
        } else {
            bitmap_numbers.push(0);
            bloom_lengths.push(bloom_filter::build(list, &mut blooms));
        }
    }
    let mut positions: Vec<Vec<u32>> = vec![Vec::new(); sorted_labels.len()];
    let mut entries: Vec<Vec<u32>> = vec![Vec::new(); sorted_labels.len()];
    for (position, entry) in name_list.entries().enumerate() {
        for &label in documents.labels(name_entry::document(entry)) {
            if lists[label as usize].len() <= document_count / NAME_LIST_RATIO {
                positions[label as usize].push(position as u32);
                entries[label as usize].push(entry);
            }
        }
    }
    let minima: Vec<Vec<u32>> = entries.iter().map(|entries| min_tree::build(entries)).collect();
    vec![
        (
            Section::LabelTextOffsets,
            pack_offsets(sorted_labels.iter().map(|label| label.len())),
        ),
        (Section::LabelText, sorted_labels.concat().into_bytes()),
        (
            Section::LabelPostingOffsets,
            pack_offsets(lists.iter().map(Vec::len)),
        ),
        (Section::LabelPostings, pack_u32s(lists.concat())),
        (Section::LabelBitmapNumbers, pack_u32s(bitmap_numbers)),
        (Section::LabelBitmaps, bitmaps),
        (
            Section::LabelBloomOffsets,
            pack_offsets(bloom_lengths.into_iter()),
        ),
        (Section::LabelBloomFilters, blooms),
        (
            Section::LabelNameOffsets,
            pack_offsets(positions.iter().map(Vec::len)),
        ),
        (Section::LabelNamePositions, pack_u32s(positions.concat())),
        (Section::LabelNameEntries, pack_u32s(entries.concat())),
        (
            Section::LabelMinimaOffsets,
            pack_offsets(minima.iter().map(Vec::len)),
        ),
        (Section::LabelMinima, pack_u32s(minima.concat())),
    ]
}
