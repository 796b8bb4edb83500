//! Kinds of organizations: "zoo boise" finds the zoo of Boise, whatever its name.
//!
//! A word or phrase that means a kind is replaced by the tag of the kind, and all other words are kept. This
//! is a rewrite of its own, after the words as typed, so that a kind never takes the place of a name. The
//! last word may be incomplete. The area around a postal code is searched in the same way.

use std::ops::Range;

use crate::query::Rewrite;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::segment::trie::{Cursor, TermRange};
use crate::text::english;
use crate::text::tag;

/// Minimum number of letters of an incomplete word that starts a phrase ...
const MIN_PREFIX_LETTERS: usize = 4;
/// ... and of one that continues it.
const MIN_CONTINUED_LETTERS: usize = 2;
/// Maximum number of kinds that a phrase can mean.
const MAX_KINDS: usize = 4;

/// Words of the query that mean a kind.
#[derive(Clone, Debug)]
pub(crate) struct KindWords {
    pub words: Range<usize>,
    /// The tags of the kinds.
    pub tags: Vec<u32>,
}

impl KindWords {
    /// Returns the words, one bit for each.
    pub(crate) fn mask(&self) -> u64 {
        self.words.clone().fold(0, |mask, word| mask | 1 << word)
    }
}

impl Searcher<'_> {
    /// Searches for documents of the kinds that words of the query mean.
    pub(crate) fn search_kinds(&mut self) {
        let kinds = self.find_kinds();
        let Some(first) = kinds.first() else { return };
        let rewrite = Rewrite::Kind(first.words.start as u8);
        self.search_tags(rewrite, ranking::KIND_PENALTY, &kinds, None);
    }

    /// Searches the area around a postal code, which has the same first digits, if nothing was found. Words
    /// that mean kinds are read as kinds.
    pub(crate) fn search_postal_area(&mut self) {
        if self.top.len() > 0 || self.word_count() < 2 {
            return;
        }
        let is_code = |index: &usize| tag::is_postal_code(self.tokens.word(*index));
        let Some(index) = (0..self.word_count()).rev().find(is_code) else {
            return;
        };
        let area = tag::postal_area_tag_prefix(self.tokens.word(index));
        let Some(area) = self.segment.trie().find(&area) else {
            return;
        };
        let kinds = self.find_kinds();
        let area = Some((index, area.terms()));
        for kinds in [&[][..], &kinds] {
            self.search_tags(Rewrite::Area(index as u8), ranking::AREA_PENALTY, kinds, area);
        }
    }

    /// Searches for the words with the tags of kinds and of an area instead of some of them.
    fn search_tags(
        &mut self,
        rewrite: Rewrite,
        penalty: f32,
        kinds: &[KindWords],
        area: Option<(usize, TermRange)>,
    ) {
        let query = self.rewrite(rewrite, penalty, |index, query| {
            if let Some((_, terms)) = area.filter(|(word, _)| *word == index) {
                query.push([terms], [], None, 1 << index);
                return Some(1);
            }
            let Some(kind) = kinds.iter().find(|kind| kind.words.start == index) else {
                if self.is_prefix(index) && english::is_stop_word(self.tokens.word(index)) {
                    // Left over from another order of the words: "food bank the".
                    return Some(1);
                }
                return Some(0);
            };
            let mask = kind.mask();
            let tags = kind.tags.iter().map(|&tag| TermRange::single(tag));
            if kind.words.len() == 1 {
                // The word may also be meant as a part of a name.
                let cursor = self.cursors[index];
                let word = if self.is_prefix(index) {
                    cursor.map(Cursor::terms)
                } else {
                    cursor.and_then(Cursor::exact_term).map(TermRange::single)
                };
                query.push(word, tags, None, mask);
            } else {
                query.push(tags, [], None, mask);
            }
            Some(kind.words.len())
        });
        if let Some(query) = query {
            self.evaluate_postings(query);
        }
    }

    /// Returns the words that mean kinds, from left to right, preferring longer phrases.
    pub(crate) fn find_kinds(&self) -> Vec<KindWords> {
        let mut kinds = Vec::new();
        if self.segment.kind_phrases().is_empty() {
            return kinds;
        }
        let mut index = 0;
        while index < self.word_count() {
            match self.kind_at(index) {
                Some(kind) => {
                    index = kind.words.end;
                    kinds.push(kind);
                }
                None => index += 1,
            }
        }
        kinds
    }

    /// Returns the longest phrase that starts at the word `start` and means a kind.
    fn kind_at(&self, start: usize) -> Option<KindWords> {
        let first = self.tokens.word(start);
        if self.is_prefix(start) && first.len() < MIN_PREFIX_LETTERS {
            return None;
        }
        let mut best: Option<KindWords> = None;
        for (phrase, tag) in self.segment.kind_phrases().starting_with(first) {
            let Some(length) = self.match_phrase(start, phrase) else {
                continue;
            };
            let end = start + length;
            match &mut best {
                Some(kind) if kind.words.end > end => {}
                Some(kind) if kind.words.end == end => {
                    if kind.tags.len() < MAX_KINDS && !kind.tags.contains(&tag) {
                        kind.tags.push(tag);
                    }
                }
                _ => {
                    best = Some(KindWords {
                        words: start..end,
                        tags: vec![tag],
                    });
                }
            }
        }
        best
    }

    /// Returns the number of words from `start` on that are the phrase, or the beginning of it if the last
    /// word is incomplete.
    fn match_phrase(&self, start: usize, phrase: &[u8]) -> Option<usize> {
        let mut index = start;
        let mut parts = phrase.split(|&byte| byte == b' ');
        loop {
            let part = parts.next()?;
            if index >= self.word_count() {
                return None;
            }
            let word = self.tokens.word(index).as_bytes();
            let is_last = index + 1 == self.word_count();
            index += 1;
            if word == part {
                if parts.clone().next().is_none() {
                    return Some(index - start);
                }
            } else if is_last && self.is_prefix(index - 1) && part.starts_with(word) {
                let min_letters = if index - 1 == start {
                    MIN_PREFIX_LETTERS
                } else {
                    MIN_CONTINUED_LETTERS
                };
                return (word.len() >= min_letters && parts.next().is_none()).then_some(index - start);
            } else {
                return None;
            }
        }
    }
}
