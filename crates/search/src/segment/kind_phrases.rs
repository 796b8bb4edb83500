//! The phrases that people type for kinds, sorted, each with the tag of the kind.

use crate::segment::packed::PackedU32s;

/// The phrases of a segment. Their words are separated by one space, which sorts before all letters: after a
/// phrase come those that start with it and a further word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindPhrases<'a> {
    offsets: PackedU32s<'a>,
    text: &'a [u8],
    terms: PackedU32s<'a>,
}

impl<'a> KindPhrases<'a> {
    /// Creates a table over three sections of a segment.
    pub(crate) fn new(offsets: PackedU32s<'a>, text: &'a [u8], terms: PackedU32s<'a>) -> Self {
        Self { offsets, text, terms }
    }

    /// Returns `true` if there are no phrases.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.terms.len() == 0
    }

    fn phrase(self, index: usize) -> &'a [u8] {
        let (from, to) = (self.offsets.get(index), self.offsets.get(index + 1));
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Iterates over the phrases that start with `word`, complete or not, and their tags.
    pub(crate) fn starting_with(self, word: &str) -> impl Iterator<Item = (&'a [u8], u32)> {
        let word = word.as_bytes();
        let (mut low, mut high) = (0, self.terms.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.phrase(middle) < word {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low..self.terms.len())
            .map(move |index| (self.phrase(index), self.terms.get(index)))
            .take_while(move |(phrase, _)| phrase.starts_with(word))
    }
}
