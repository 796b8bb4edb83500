//! The documents of each label, and their names in order.

use super::documents::Documents;
use super::names::Names;
use super::{Sections, starts};
use crate::segment::bloom_filter;
use crate::segment::format::Section;
use crate::segment::labels::{FREQUENT, MANY};
use crate::segment::min_tree;
use crate::segment::packed::{pack, pack_bits};

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
        if list.len() > count / FREQUENT {
            bits_of.push((bits.len() / count.div_ceil(64).max(1) / 8) as u32 + 1);
            bits.extend(pack_bits(list.iter().copied(), count));
            sieve_sizes.push(0);
        } else {
            bits_of.push(0);
            sieve_sizes.push(bloom_filter::build(list, &mut sieves));
        }
    }
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); sorted.len()];
    let mut entries: Vec<Vec<u32>> = vec![Vec::new(); sorted.len()];
    for (place, entry) in list.entries().enumerate() {
        for &label in documents.labels_of(min_tree::document(entry)) {
            let length = lists[label as usize].len();
            if length <= count / MANY {
                places[label as usize].push(place as u32);
                entries[label as usize].push(entry);
            }
        }
    }
    let minima: Vec<Vec<u32>> = entries.iter().map(|entries| min_tree::minima(entries)).collect();
    vec![
        (
            Section::LabelStarts,
            starts(sorted.iter().map(|label| label.len())),
        ),
        (Section::LabelText, sorted.concat().into_bytes()),
        (Section::LabelListStarts, starts(lists.iter().map(Vec::len))),
        (Section::LabelLists, pack(lists.concat())),
        (Section::LabelBitsOf, pack(bits_of)),
        (Section::LabelBits, bits),
        (Section::LabelSieveStarts, starts(sieve_sizes.into_iter())),
        (Section::LabelSieves, sieves),
        (Section::LabelNameStarts, starts(places.iter().map(Vec::len))),
        (Section::LabelNamePlaces, pack(places.concat())),
        (Section::LabelNameEntries, pack(entries.concat())),
        (Section::LabelMinimaStarts, starts(minima.iter().map(Vec::len))),
        (Section::LabelMinima, pack(minima.concat())),
    ]
}
