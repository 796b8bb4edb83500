//! Whether documents have a word or a label, asked of lists without reading the documents.
//!
//! A frequent word has a bit for each document, any other a sieve. Only for a word that stands for very many others, as a
//! beginning of two letters does, the signatures of the documents have to do.

use crate::search::boolean_query::{Slot, Slots};
use crate::search::postings::{BATCH, MOST_LISTS};
use crate::segment::doc_set::DocSet;
use crate::segment::reader::Segment;

/// What tells most documents without a word, or without a label, from those with it.
#[derive(Clone, Debug)]
pub enum Test<'a> {
    /// It is in one of these lists.
    Lists(Vec<DocSet<'a>>),
    /// Its signature has the bits of the slot.
    Signature(Slot),
}

impl<'a> Test<'a> {
    /// The test for the words of `slot`.
    pub fn slot(segment: Segment<'a>, slots: &Slots, slot: &Slot) -> Self {
        if slots.words(slot) > MOST_LISTS {
            return Self::Signature(*slot);
        }
        let terms = slots.ranges(slot).iter().flat_map(|range| range.low..range.high);
        Self::Lists(terms.map(|term| DocSet::of_term(segment, term)).collect())
    }

    /// Puts those of `documents`, no more than a batch, that may pass to the front; how many they are.
    pub fn sift(&self, segment: Segment<'_>, documents: &mut [u32]) -> usize {
        let passed = match self {
            Self::Lists(lists) => lists.iter().fold(0, |passed, list| {
                passed
                    | match list {
                        DocSet::Bitmap(bitmap) => each(documents, |document| bitmap.contains(document)),
                        DocSet::Bloom(filter) => each(documents, |document| filter.may_contain(document)),
                    }
            }),
            Self::Signature(slot) => each(documents, |document| slot.may_be_in(segment.signature(document))),
        };
        let mut kept = 0;
        for at in 0..documents.len() {
            documents[kept] = documents[at];
            kept += (passed >> at & 1) as usize;
        }
        kept
    }
}

/// Which of `documents` pass, a bit for each. All are asked before an answer is used, so that none waits for another.
#[inline]
fn each(documents: &[u32], passes: impl Fn(u32) -> bool) -> u32 {
    const { assert!(BATCH <= u32::BITS as usize) };
    let bits = (0..).zip(documents);
    bits.fold(0, |all, (at, &document)| {
        all | u32::from(passes(document)).wrapping_shl(at)
    })
}
