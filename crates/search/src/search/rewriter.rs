//! The readings of what was typed, and when each is tried.
//!
//! First the words as they stand, and neighbours as one word where the dictionary has it. If that finds a few documents,
//! it was meant so. Otherwise a word may be two or three run together, the initials of a name, or hold a mistake: the word that no document
//! has, or, where all are known, the rare ones among them (every one if nothing was found). Two words with a mistake each,
//! and a word too many, are tried last.

use crate::query::{Reading, Tier};
use crate::search::boolean_query::{self, Slots};
use crate::search::fuzzy;
use crate::search::postings;
use crate::search::ranking;
use crate::search::searcher::Finder;
use crate::segment::format::Section;
use crate::segment::forward_index::{STOP_WORD_FLAG, TermList};
use crate::segment::signature;
use crate::segment::trie::{self, TermRange};
use crate::text::initials::{INITIALS_LENGTHS, hash_initials};

/// So many documents are enough not to look for mistakes.
pub const ENOUGH: usize = 3;
/// A word in no more documents than this may be a mistake, though some document has it.
pub const RARE: usize = 256;
/// Only so many words are suspected in turn.
const SUSPECTS: usize = 6;
/// A query of more words than this is long, and fewer of its words are suspected.
const LONG: usize = 12;
const FEW_SUSPECTS: usize = 2;
/// A word shorter than this is neither read as two nor made of two.
pub const SHORTEST_SPLIT: usize = 5;
/// A word longer than this is not read as three.
pub const LONGEST_SPLIT: usize = 40;
/// Letters that are words, as in "make a wish".
pub const SPLIT_LETTERS: [char; 2] = ['a', 'i'];

impl Finder<'_> {
    /// Tries the readings in turn.
    pub(crate) fn words(&mut self) {
        let count = self.count();
        let trie = self.segment.trie();
        let mut spelled = Vec::with_capacity(32);
        let place = |at| {
            trie::encode(self.folded.word(at), &mut spelled);
            trie.find_symbols(&spelled)
        };
        self.places = (0..count).map(place).collect();
        let Some(typed) = self.read(Reading::Typed, 0.0, |_, _| Some(0)) else {
            return;
        };
        let (mut dead, mut rare) = (Vec::new(), Vec::new());
        for (at, slot) in typed.all().iter().enumerate() {
            if typed.ranges(slot).is_empty() && !slot.optional {
                dead.push(at);
            } else if postings::total(self.segment, &typed, slot) <= RARE {
                rare.push(at);
            }
        }
        self.run(typed);
        for at in 0..count.saturating_sub(1) {
            self.joined(at);
        }
        if self.top.len() >= ENOUGH.min(self.query.take) || self.filtered_out() {
            return;
        }
        let none = self.top.len() == 0;
        let suspects = if count > LONG {
            FEW_SUSPECTS
        } else {
            count.min(SUSPECTS)
        };
        for at in 0..count {
            if dead == [at] || (dead.is_empty() && none && at < suspects) {
                self.split(at);
                self.initials(at);
            }
        }
        if self.top.full() {
            return;
        }
        match dead[..] {
            [] if none => (0..suspects).for_each(|at| self.typos(&[at])),
            [] => rare.iter().take(suspects).for_each(|&at| self.typos(&[at])),
            [_] | [_, _] => self.typos(&dead),
            _ => {}
        }
        if self.top.len() > 0 || count < 2 {
            return;
        }
        if let [one] = dead[..] {
            for other in (0..suspects).filter(|&at| at != one) {
                self.typos(&[one.min(other), one.max(other)]);
            }
        }
        if self.top.len() > 0 {
            return;
        }
        for at in 0..count {
            if dead == [at] || (dead.is_empty() && at < suspects) {
                let left_out = |word: usize, _: &mut Slots| Some(usize::from(word == at));
                if let Some(slots) = self.read(Reading::Without(at as u8), ranking::WITHOUT, left_out) {
                    self.run(slots);
                }
            }
        }
    }

    /// Whether names begin with what was typed, of which the filter left few: no reason to look for mistakes.
    fn filtered_out(&self) -> bool {
        self.begun && self.filter.narrowest().is_some()
    }

    /// Reads word after word. `special` may read the word at a place otherwise and says how many words it has read; it
    /// says 0 for a word as it stands, and none if there is no such reading.
    fn read(
        &self,
        reading: Reading,
        cost: f32,
        mut special: impl FnMut(usize, &mut Slots) -> Option<usize>,
    ) -> Option<Slots> {
        let count = self.count();
        let mut slots = Slots::new(reading, cost, self.open());
        let mut at = 0;
        while at < count {
            match special(at, &mut slots)? {
                0 => {
                    boolean_query::push_found(
                        self.segment,
                        self.folded.word(at),
                        self.places[at],
                        self.is_open(at),
                        1 << at,
                        &mut slots,
                    );
                    at += 1;
                }
                read => at += read,
            }
        }
        Some(slots)
    }

    /// Words `at` and `at + 1` as one, if the dictionary has it.
    fn joined(&mut self, at: usize) {
        let open = self.is_open(at + 1);
        let lengths = [at, at + 1].map(|at| self.folded.word(at).len());
        if lengths.iter().any(|&length| length < 2) || lengths[0] + lengths[1] < SHORTEST_SPLIT {
            return;
        }
        let Some(place) = self.places[at] else { return };
        let mut spelled = Vec::with_capacity(32);
        trie::encode(self.folded.word(at), &mut spelled);
        let depth = spelled.len();
        trie::encode(self.folded.word(at + 1), &mut spelled);
        let end = self.segment.trie().walk(place, depth, &spelled);
        if end.is_none_or(|end| !open && end.exact_term().is_none()) {
            return;
        }
        let word = format!("{}{}", self.folded.word(at), self.folded.word(at + 1));
        let slots = self.read(Reading::Joined(at as u8), ranking::JOINED, |place, slots| {
            if place != at {
                return Some(0);
            }
            boolean_query::push_word(self.segment, &word, open, 0b11 << at, slots);
            Some(2)
        });
        if let Some(slots) = slots {
            self.run(slots);
        }
    }

    /// Word `at` as two or three words of the dictionary.
    fn split(&mut self, at: usize) {
        let open = self.is_open(at);
        let Some(cuts) = self.cuts(self.folded.word(at), open) else {
            return;
        };
        let slots = self.read(Reading::Split(at as u8), ranking::JOINED, |place, slots| {
            if place != at {
                return Some(0);
            }
            let mut rest = self.folded.word(at);
            for &cut in &cuts {
                let (word, others) = rest.split_at(cut);
                boolean_query::push_word(self.segment, word, false, 1 << at, slots);
                rest = others;
            }
            boolean_query::push_word(self.segment, rest, open, 1 << at, slots);
            Some(1)
        });
        if let Some(slots) = slots {
            self.run(slots);
        }
    }

    /// The lengths of the words of the dictionary into which `word` falls, two or three, but for the last. Of
    /// several ways it is the one whose rarest word is the most frequent; a single letter between two words has to make it
    /// twice as frequent.
    fn cuts(&self, word: &str, open: bool) -> Option<Vec<usize>> {
        if !word.is_ascii() || word.len() < SHORTEST_SPLIT {
            return None;
        }
        let mut spelled = Vec::with_capacity(word.len());
        trie::encode(word, &mut spelled);
        let in_two = self.cut(&spelled, open);
        let mut best = in_two.map(|(rarer, cut)| (rarer, vec![cut]));
        if spelled.len() > LONGEST_SPLIT {
            return best.map(|(_, cuts)| cuts);
        }
        for (first, left) in self.beginnings(&spelled) {
            let left = self.frequency(TermRange::single(left));
            let in_two = self.cut(&spelled[first..], open);
            let lettered = self.letter(&word[first..], &spelled[first..], open);
            let lettered = lettered.map(|rarer| (rarer.min(left) / 2, 1));
            for (rarer, second) in in_two.into_iter().chain(lettered) {
                let rarest = rarer.min(left);
                if best.as_ref().is_none_or(|(most, _)| rarest > *most) {
                    best = Some((rarest, vec![first, second]));
                }
            }
        }
        best.map(|(_, cuts)| cuts)
    }

    /// Where letters fall into two words, and how frequent the rarer of these is.
    fn cut(&self, spelled: &[u8], open: bool) -> Option<(u32, usize)> {
        let mut best = None;
        for (cut, left) in self.beginnings(spelled) {
            let Some(rarer) = self.rarer(left, &spelled[cut..], open) else {
                continue;
            };
            if best.is_none_or(|(most, _)| rarer > most) {
                best = Some((rarer, cut));
            }
        }
        best
    }

    /// How frequent the rarer is of a single letter that is a word and the word behind it.
    fn letter(&self, word: &str, spelled: &[u8], open: bool) -> Option<u32> {
        if !word.starts_with(SPLIT_LETTERS) || word.len() < 3 {
            return None;
        }
        let letter = self.segment.trie().find_symbols(&spelled[..1])?.exact_term()?;
        self.rarer(letter, &spelled[1..], open)
    }

    /// How frequent the rarer is of a word and the word, or its beginning, that the letters behind it are.
    fn rarer(&self, word: u32, rest: &[u8], open: bool) -> Option<u32> {
        let rest = self.segment.trie().find_symbols(rest)?;
        let rest = if open {
            rest.terms()
        } else {
            TermRange::single(rest.exact_term()?)
        };
        Some(self.frequency(TermRange::single(word)).min(self.frequency(rest)))
    }

    /// The words of two letters or more that letters begin with, each with its length; as many are left.
    fn beginnings(&self, spelled: &[u8]) -> impl Iterator<Item = (usize, u32)> {
        let trie = self.segment.trie();
        let mut place = trie.root();
        let within = spelled.len().saturating_sub(2);
        let words = (1..=within).map_while(move |length| {
            place = place.and_then(|place| trie.step(place, length - 1, spelled[length - 1]));
            place.map(|place| (length, place.exact_term()))
        });
        words.filter_map(|(length, ends)| Some((length, ends.filter(|_| length >= 2)?)))
    }

    /// How often words of the range stand in documents.
    fn frequency(&self, range: TermRange) -> u32 {
        let starts = self.segment.u32s(Section::PostingOffsets);
        let (from, to) = (starts.get(range.low as usize), starts.get(range.high as usize));
        to.saturating_sub(from)
    }

    /// Word `at` as the initials of a name, if no word is written so.
    fn initials(&mut self, at: usize) {
        let word = self.folded.word(at).to_owned();
        if !INITIALS_LENGTHS.contains(&word.len()) {
            return;
        }
        let Some(slots) = self.read(Reading::Initials(at as u8), 0.0, |_, _| Some(0)) else {
            return;
        };
        if slots.all()[at].exact.is_some() {
            return;
        }
        let hash = hash_initials(&word);
        let hashes = self.segment.u32s(Section::InitialsHashes);
        let (from, to) = (
            hashes.lower_bound(hash),
            hashes.lower_bound(hash.saturating_add(1)),
        );
        for document in self
            .segment
            .u32s(Section::InitialsDocuments)
            .slice(from, to)
            .iter()
        {
            let record = self.segment.record(document);
            let has = |term: u32, slot| slots.has(slot, term & !STOP_WORD_FLAG);
            let others = slots.all().iter().enumerate().all(|(other, slot)| {
                other == at || slot.optional || record.all_terms().iter().any(|term| has(term, slot))
            });
            let name = (0..record.name_count()).find(|&which| self.spells(record.name(which).core(), &word));
            if let (true, Some(name)) = (others, name) {
                let score = self.segment.prominence(document) + ranking::INITIALS;
                self.offer(document, score, Tier::Initials, name as u8, slots.reading);
            }
        }
        self.remember(slots);
    }

    /// Whether `word` is the initials of a name, with or without its noise.
    fn spells(&self, name: TermList<'_>, word: &str) -> bool {
        [true, false].into_iter().any(|with_noise| {
            let counted = name
                .iter()
                .filter(|term| with_noise || term & STOP_WORD_FLAG == 0);
            let letters =
                counted.filter_map(|term| self.segment.trie().word(term & !STOP_WORD_FLAG).chars().next());
            letters.eq(word.chars())
        })
    }

    /// The words `wrong` with a mistake each.
    fn typos(&mut self, wrong: &[usize]) {
        let reading = match *wrong {
            [one] => Reading::Typo(one as u8),
            [one, two] => Reading::Typos(one as u8, two as u8),
            _ => return,
        };
        let trie = self.segment.trie();
        let mut spelled = Vec::new();
        let mut near = Vec::new();
        let slots = self.read(reading, ranking::TYPO * wrong.len() as f32, |at, slots| {
            if !wrong.contains(&at) {
                return Some(0);
            }
            let open = self.is_open(at);
            trie::encode(self.folded.word(at), &mut spelled);
            fuzzy::near(trie, &spelled, open, &mut near);
            if near.is_empty() {
                return None;
            }
            slots.push(near.iter().copied(), [], None, 1 << at);
            // Words read with a mistake have four letters or more, of which a range shares at least three.
            slots.mark_bits(near.iter().map(|range| {
                let letters = trie.word_bytes(range.low);
                signature::prefix_bits(if open {
                    &letters[..letters.len().min(3)]
                } else {
                    letters
                })
            }));
            Some(1)
        });
        if let Some(slots) = slots {
            self.run(slots);
        }
    }
}
