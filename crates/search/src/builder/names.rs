//! The list of names in the order of their words.

use super::documents::Documents;
use super::{Sections, starts};
use crate::segment::format::Section;
use crate::segment::min_tree::{self, FREQUENT, Least, READY, Ranked};
use crate::segment::packed::{U32s, pack};
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
    /// Sorts the names of all documents: by spine, then by the whole name, then by prominence.
    pub fn sort(documents: &Documents, terms: usize) -> Self {
        let mut sorted = Vec::with_capacity(documents.len() as usize * 5 / 4);
        for document in 0..documents.len() {
            for (which, name) in documents.noted(document).names().enumerate() {
                let spine = &name.terms[usize::from(name.spine.0)..usize::from(name.spine.1)];
                let Some(&first) = spine.first() else { continue };
                // Zero stands for "no second word", which sorts before every word.
                let second = spine.get(1).map_or(0, |&term| term + 1);
                let words = u64::from(first) << 32 | u64::from(second);
                sorted.push(Name {
                    words,
                    entry: min_tree::entry(document, which),
                });
            }
        }
        let text = |entry| {
            let name = documents
                .noted(min_tree::document(entry))
                .names()
                .nth(min_tree::which(entry));
            name.map_or((&[][..], &[][..]), |name| {
                (
                    &name.terms[usize::from(name.spine.0)..usize::from(name.spine.1)],
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
        let minima = pack(min_tree::minima(&entries));
        let entries = pack(entries);
        let ranked = Ranked::new(U32s(&entries), U32s(&minima));
        let mut ready = Vec::new();
        let mut lengths = Vec::new();
        for range in trie::ranges(nodes) {
            let from = U32s(&starts_of).get(range.low as usize) as usize;
            let to = U32s(&starts_of).get(range.high as usize) as usize;
            let mut least = Least::new(READY);
            if to - from > FREQUENT {
                ranked.least(from, to, &mut least);
            }
            lengths.push(least.entries().len());
            ready.extend_from_slice(least.entries());
        }
        vec![
            (Section::ReadyStarts, starts(lengths.into_iter())),
            (Section::Ready, pack(ready)),
            (Section::NameMinima, minima),
            (Section::NameEntries, entries),
            (
                Section::NameSeconds,
                pack(self.sorted.iter().map(|name| name.words as u32)),
            ),
            (Section::NameStarts, starts_of),
        ]
    }
}
