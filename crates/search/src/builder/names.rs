//! The name list: the names of all documents, sorted by their words.

use crate::builder::documents::Documents;
use crate::builder::sections::{Sections, pack_offsets};
use crate::segment::format::Section;
use crate::segment::min_tree::{self, COMPLETIONS, MIN_COMPLETED_NAMES, MinTree, SmallestEntries};
use crate::segment::name_entry;
use crate::segment::packed::{PackedU32s, pack_u32s};
use crate::segment::trie;

/// A name in the list.
#[derive(Clone, Copy, Debug)]
struct SortedName {
    /// The first term of the core in the high half; the second plus one, or zero for none, in the low half.
    first_terms: u64,
    entry: u32,
}

/// The sorted names of all documents.
#[derive(Debug)]
pub(super) struct NameList {
    names: Vec<SortedName>,
    term_count: usize,
}

impl NameList {
    /// Sorts the names of all documents by core, then by full name, then by prominence.
    pub(super) fn sort(documents: &Documents, term_count: usize) -> Self {
        let mut names = Vec::with_capacity(documents.len() as usize * 5 / 4);
        for document in 0..documents.len() {
            for (index, name) in documents.terms(document).names().enumerate() {
                let core = &name.terms[usize::from(name.core.0)..usize::from(name.core.1)];
                let Some(&first) = core.first() else { continue };
                // Zero means "no second term" and sorts before every term.
                let second = core.get(1).map_or(0, |&term| term + 1);
                names.push(SortedName {
                    first_terms: u64::from(first) << 32 | u64::from(second),
                    entry: name_entry::pack(document, index),
                });
            }
        }
        let core_and_terms = |entry| {
            let name = documents
                .terms(name_entry::document(entry))
                .names()
                .nth(name_entry::name(entry));
            name.map_or((&[][..], &[][..]), |name| {
                (
                    &name.terms[usize::from(name.core.0)..usize::from(name.core.1)],
                    name.terms,
                )
            })
        };
        names.sort_unstable_by(|a, b| {
            a.first_terms
                .cmp(&b.first_terms)
                .then_with(|| core_and_terms(a.entry).cmp(&core_and_terms(b.entry)))
                .then(a.entry.cmp(&b.entry))
        });
        Self { names, term_count }
    }

    /// Iterates over the entries in order.
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = u32> {
        self.names.iter().map(|name| name.entry)
    }

    /// Encodes the list, and the completions of the prefixes of `trie_nodes`.
    pub(super) fn sections(self, trie_nodes: &[u8]) -> Sections {
        let mut counts = vec![0; self.term_count];
        for name in &self.names {
            counts[(name.first_terms >> 32) as usize] += 1;
        }
        let entries: Vec<u32> = self.entries().collect();
        let offsets = pack_offsets(counts.into_iter());
        let minima = pack_u32s(min_tree::build(&entries));
        let entries = pack_u32s(entries);
        let tree = MinTree::new(PackedU32s(&entries), PackedU32s(&minima));
        let mut completions = Vec::new();
        let mut completion_counts = Vec::new();
        for terms in trie::node_terms(trie_nodes) {
            let from = PackedU32s(&offsets).get(terms.low as usize) as usize;
            let to = PackedU32s(&offsets).get(terms.high as usize) as usize;
            let mut smallest = SmallestEntries::new(COMPLETIONS);
            if to - from > MIN_COMPLETED_NAMES {
                tree.find_smallest(from, to, &mut smallest);
            }
            completion_counts.push(smallest.entries().len());
            completions.extend_from_slice(smallest.entries());
        }
        vec![
            (
                Section::CompletionOffsets,
                pack_offsets(completion_counts.into_iter()),
            ),
            (Section::Completions, pack_u32s(completions)),
            (Section::NameMinima, minima),
            (Section::NameEntries, entries),
            (
                Section::NameSecondTerms,
                pack_u32s(self.names.iter().map(|name| name.first_terms as u32)),
            ),
            (Section::NameOffsets, offsets),
        ]
    }
}
