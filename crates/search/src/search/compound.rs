//! Compound splitting: words that were typed without the spaces between them.

use crate::segment::format::Section;
use crate::segment::reader::Segment;
use crate::segment::trie::{self, TermRange};

/// Minimum length of a word that is split in two, or that two words are joined to.
pub(crate) const MIN_COMPOUND_LENGTH: usize = 5;
/// Maximum length of a word that is split in three.
pub(crate) const MAX_THREE_PART_LENGTH: usize = 40;
/// Minimum length of a last part that says more than a correction while it is being typed.
pub(crate) const MIN_LAST_PART_LENGTH: usize = 3;
/// Letters that are words, as in "make a wish".
pub(crate) const SINGLE_LETTER_WORDS: [char; 2] = ['a', 'i'];

/// Splits `word` into two or three words of the dictionary and returns the lengths of all but the last.
///
/// Of several splits, the one whose rarest word is the most frequent is chosen. One with a single letter in
/// the middle must be twice as frequent. If `is_prefix` is set, the last part may be a prefix.
pub(crate) fn split_compound(segment: Segment<'_>, word: &str, is_prefix: bool) -> Option<Vec<usize>> {
    if !word.is_ascii() || word.len() < MIN_COMPOUND_LENGTH {
        return None;
    }
    // In an ASCII word, each letter is one symbol.
    let mut symbols = Vec::with_capacity(word.len());
    trie::encode(word, &mut symbols);
    let splitter = Splitter { segment, is_prefix };
    let in_two = splitter.split_in_two(&symbols);
    let mut best = in_two.map(|(frequency, length)| (frequency, vec![length]));
    if symbols.len() > MAX_THREE_PART_LENGTH {
        return best.map(|(_, lengths)| lengths);
    }
    for (first, term) in splitter.leading_words(&symbols) {
        let first_frequency = splitter.frequency(TermRange::single(term));
        let in_two = splitter.split_in_two(&symbols[first..]);
        let after_letter = splitter.split_after_letter(&word[first..], &symbols[first..]);
        let after_letter = after_letter.map(|frequency| (frequency.min(first_frequency) / 2, 1));
        for (frequency, second) in in_two.into_iter().chain(after_letter) {
            let frequency = frequency.min(first_frequency);
            if best.as_ref().is_none_or(|(most, _)| frequency > *most) {
                best = Some((frequency, vec![first, second]));
            }
        }
    }
    best.map(|(_, lengths)| lengths)
}

/// Splits words into parts. The frequency of a split is that of its rarest part.
struct Splitter<'a> {
    segment: Segment<'a>,
    is_prefix: bool,
}

impl Splitter<'_> {
    /// Returns the frequency of the best split in two, and the length of its first part.
    fn split_in_two(&self, symbols: &[u8]) -> Option<(u32, usize)> {
        let mut best = None;
        for (length, term) in self.leading_words(symbols) {
            let Some(frequency) = self.pair_frequency(term, &symbols[length..]) else {
                continue;
            };
            if best.is_none_or(|(most, _)| frequency > most) {
                best = Some((frequency, length));
            }
        }
        best
    }

    /// Returns the frequency of the split into a single letter and the rest.
    fn split_after_letter(&self, word: &str, symbols: &[u8]) -> Option<u32> {
        if !word.starts_with(SINGLE_LETTER_WORDS) || word.len() < 3 {
            return None;
        }
        let letter = self.segment.trie().find_symbols(&symbols[..1])?.exact_term()?;
        self.pair_frequency(letter, &symbols[1..])
    }

    /// Returns the lower frequency of a term and of the last part, if the dictionary has it.
    fn pair_frequency(&self, term: u32, last_part: &[u8]) -> Option<u32> {
        let cursor = self.segment.trie().find_symbols(last_part)?;
        let last_terms = if self.is_prefix {
            cursor.terms()
        } else {
            TermRange::single(cursor.exact_term()?)
        };
        Some(
            self.frequency(TermRange::single(term))
                .min(self.frequency(last_terms)),
        )
    }

    /// Iterates over the words of at least two letters that `symbols` starts with, leaving at least two
    /// letters.
    fn leading_words(&self, symbols: &[u8]) -> impl Iterator<Item = (usize, u32)> {
        let trie = self.segment.trie();
        let mut cursor = trie.root();
        let max_length = symbols.len().saturating_sub(2);
        let prefixes = (1..=max_length).map_while(move |length| {
            cursor = cursor.and_then(|cursor| trie.step(cursor, length - 1, symbols[length - 1]));
            cursor.map(|cursor| (length, cursor.exact_term()))
        });
        prefixes.filter_map(|(length, term)| Some((length, term.filter(|_| length >= 2)?)))
    }

    /// Returns the number of postings of a range of terms.
    fn frequency(&self, terms: TermRange) -> u32 {
        let offsets = self.segment.u32s(Section::PostingOffsets);
        let (from, to) = (offsets.get(terms.low as usize), offsets.get(terms.high as usize));
        to.saturating_sub(from)
    }
}
