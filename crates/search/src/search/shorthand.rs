//! Shorthand: an acronym that is typed letter by letter, "a c l u", and a digit or a letter that stands for a
//! short word, "toys 4 tots".
//!
//! Both are rewrites of their own after the words as typed, which come first if names are spelled so.

use crate::query::Rewrite;
use crate::search::boolean_query::BooleanQuery;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::text::english;
use crate::text::letters::{self, MIN_TYPED_LETTERS};

impl Searcher<'_> {
    /// Joins single letters that follow each other. They rank below names that start with the letters as typed:
    /// "C A T" is more likely meant than "cat".
    pub(crate) fn try_join_letters(&mut self) {
        let count = self.word_count();
        let Some(run) = letters::find_run(self.tokens.iter().take(count), MIN_TYPED_LETTERS) else {
            return;
        };
        let acronym: String = run.clone().map(|index| self.tokens.word(index)).collect();
        let mask = run.clone().fold(0, |mask, index| mask | 1 << index);
        let rewrite = Rewrite::Join(run.start as u8);
        let penalty = if self.has_prefix_match {
            ranking::DROPPED_WORD_PENALTY
        } else {
            ranking::COMPOUND_PENALTY
        };
        let query = self.rewrite(rewrite, penalty, |index, query| {
            if index != run.start {
                return Some(0);
            }
            query.push_word(self.segment, &acronym, false, mask);
            Some(run.len())
        });
        if let Some(query) = query {
            self.evaluate(query);
        }
    }

    /// Reads shorthand between other words as the words that it stands for.
    pub(crate) fn try_expand_shorthand(&mut self) {
        let query = self.respell(english::expand_shorthand);
        if let Some(query) = query {
            self.evaluate(query);
        }
    }

    /// Looks for names that have shorthand for short words of the query.
    pub(crate) fn try_shorten(&mut self) {
        let query = self.respell(english::find_shorthand);
        if let Some(query) = query {
            self.evaluate_names(query);
        }
    }

    /// Replaces words between others. Returns `None` if there are none to replace.
    fn respell(&self, replacement: fn(&str) -> Option<&'static str>) -> Option<BooleanQuery> {
        let last = self.word_count().saturating_sub(1);
        let at = |index: usize| replacement(self.tokens.word(index)).filter(|_| index > 0 && index < last);
        let first = (1..last).find(|&index| at(index).is_some())?;
        let rewrite = Rewrite::Shorthand(first as u8);
        self.rewrite(rewrite, ranking::COMPOUND_PENALTY, |index, query| {
            let Some(word) = at(index) else {
                return Some(0);
            };
            query.push_word(self.segment, word, false, 1 << index);
            Some(1)
        })
    }
}
