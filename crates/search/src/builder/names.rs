//! The list of names in the order of their words.

use super::documents::Documents;
use super::{Sections, starts};
use crate::segment::format::Section;
use crate::segment::min_tree::{self, COMPLETIONS, MIN_COMPLETED_NAMES, MinTree, SmallestEntries};
use crate::segment::name_entry;
use crate::segment::packed::{PackedU32s, pack_u32s};
use crate::segment::trie;

/// One name on its way into the list: its first two words, then whose it is.
#[derive(Clone, Copy, Debug)]
struct Name {
    words: u64,
    entry: u32,
}

/// All names, sorted.
#[derive(Debug)]
pub struct Names {
    sorted: Vec<Name>,
    terms: usize,
}

impl Names {
    /// Sorts the names of all documents: by core, then by the whole name, then by prominence.
    pub fn sort(documents: &Documents, terms: usize) -> Self {
        let mut sorted = Vec::with_capacity(documents.len() as usize * 5 / 4);
        for document in 0..documents.len() {
            for (which, name) in documents.noted(document).names().enumerate() {
                let core = &name.terms[usize::from(name.core.0)..usize::from(name.core.1)];
                let Some(&first) = core.first() else { continue };
                // Zero stands for "no second word", which sorts before every word.
                let second = core.get(1).map_or(0, |&term| term + 1);
                let words = u64::from(first) << 32 | u64::from(second);
                sorted.push(Name {
                    words,
                    entry: name_entry::pack(document, which),
                });
            }
        }
        let text = |entry| {
            let name = documents
                .noted(name_entry::document(entry))
                .names()
                .nth(name_entry::name(entry));
            name.map_or((&[][..], &[][..]), |name| {
                (
                    &name.terms[usize::from(name.core.0)..usize::from(name.core.1)],
                    name.terms,
                )
            })
        };
        sorted.sort_unstable_by(|a, b| {
            a.words
                .cmp(&b.words)
                .then_with(|| text(a.entry).cmp(&text(b.entry)))
                .then(a.entry.cmp(&b.entry))
        });
        Self { sorted, terms }
    }

    /// The entries in order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = u32> {
        self.sorted.iter().map(|name| name.entry)
    }

    /// The sections of the list.
    pub fn sections(self, nodes: &[u8]) -> Sections {
        let mut counts = vec![0; self.terms];
        for name in &self.sorted {
            counts[(name.words >> 32) as usize] += 1;
        }
        let entries: Vec<u32> = self.entries().collect();
        let starts_of = starts(counts.into_iter());
        let minima = pack_u32s(min_tree::build(&entries));
        let entries = pack_u32s(entries);
        let ranked = MinTree::new(PackedU32s(&entries), PackedU32s(&minima));
        let mut ready = Vec::new();
        let mut lengths = Vec::new();
        for range in trie::node_terms(nodes) {
            let from = PackedU32s(&starts_of).get(range.low as usize) as usize;
            let to = PackedU32s(&starts_of).get(range.high as usize) as usize;
            let mut least = SmallestEntries::new(COMPLETIONS);
            if to - from > MIN_COMPLETED_NAMES {
                ranked.find_smallest(from, to, &mut least);
            }
            lengths.push(least.entries().len());
            ready.extend_from_slice(least.entries());
        }
        vec![
            (Section::CompletionOffsets, starts(lengths.into_iter())),
            (Section::Completions, pack_u32s(ready)),
            (Section::NameMinima, minima),
            (Section::NameEntries, entries),
            (
                Section::NameSecondTerms,
                pack_u32s(self.sorted.iter().map(|name| name.words as u32)),
            ),
            (Section::NameOffsets, starts_of),
        ]
    }
}
