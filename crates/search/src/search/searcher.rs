//! The state of one search, shared by the steps that execute it.

use crate::query::{Hit, MAX_WORDS, MatchKind, Query, Rewrite};
use crate::search::boolean_query::BooleanQuery;
use crate::search::filter::Filter;
use crate::search::top_k::{PAGE_SIZE, TopK};
use crate::segment::reader::Segment;
use crate::segment::trie::Cursor;
use crate::text::domain;
use crate::text::tokenizer::Tokens;

/// Maximum number of steps of a search.
const SEARCH_STEPS: u32 = 28_000;
/// Maximum number of further steps of an exhaustive search: enough to pass every document of two million a few
/// times, and a few hundred thousand records.
const EXHAUSTIVE_STEPS: u32 = 8_000_000;

/// A search in progress.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct Searcher<'a> {
    pub segment: Segment<'a>,
    pub query: Query<'a>,
    pub tokens: Tokens,
    pub filter: Filter<'a>,
    pub top: TopK,
    /// The best hit for the exact display name, which stays near the top.
    pub exact_hit: Option<Hit>,
    /// Steps that the search may still take.
    pub steps_left: u32,
    /// Steps that an exhaustive search may still take after the usual ones.
    pub further_steps_left: u32,
    /// Whether a list was left before its end.
    pub is_cut_short: bool,
    /// Whether missions have been searched.
    pub has_searched_missions: bool,
    /// Whether a name, filtered out or not, starts with the words of a rewrite.
    pub has_prefix_match: bool,
    /// Whether a name, filtered out or not, starts with the words as typed.
    pub has_typed_prefix_match: bool,
    /// The position of each word in the trie.
    pub cursors: Vec<Option<Cursor<'a>>>,
    /// The rewrites tried so far; a hit refers to the one that found it.
    pub rewrites: Vec<BooleanQuery>,
}

impl<'a> Searcher<'a> {
    /// Prepares a search.
    pub(crate) fn new(segment: Segment<'a>, query: &Query<'a>) -> Self {
        Self {
            segment,
            query: *query,
            tokens: tokenize(query.text),
            filter: Filter::new(segment, query),
            top: TopK::new(query.limit.max(PAGE_SIZE)),
            exact_hit: None,
            steps_left: SEARCH_STEPS,
            further_steps_left: if query.is_exhaustive { EXHAUSTIVE_STEPS } else { 0 },
            is_cut_short: false,
            has_searched_missions: false,
            has_prefix_match: false,
            has_typed_prefix_match: false,
            cursors: Vec::new(),
            rewrites: Vec::with_capacity(4),
        }
    }

    /// Returns `true` if the search reads on after the usual work: it is exhaustive and lacks hits.
    pub(crate) fn reads_on(&self) -> bool {
        self.further_steps_left > 0 && !self.top.is_full()
    }

    /// Returns the number of words that are searched for.
    pub(crate) fn word_count(&self) -> usize {
        self.tokens.len().min(MAX_WORDS)
    }

    /// Returns `true` if the word at `index` may be a prefix.
    pub(crate) fn is_prefix(&self, index: usize) -> bool {
        self.tokens.last_is_prefix() && index + 1 == self.tokens.len()
    }

    /// Returns `true` if the last word that is searched for may be a prefix.
    pub(crate) fn last_is_prefix(&self) -> bool {
        self.is_prefix(self.word_count().saturating_sub(1))
    }

    /// Returns `true` if no document at all can be among the best hits with this bonus.
    pub(crate) fn is_hopeless(&self, bonus: f32) -> bool {
        self.top.rejects(self.segment.prominence(0) + bonus, 0)
    }

    /// Adds a hit for the current rewrite if it is among the best and matches the filter.
    pub(crate) fn offer(&mut self, document: u32, score: f32, kind: MatchKind, name: u8, rewrite: Rewrite) {
        let is_exact = kind == MatchKind::ExactName
            && rewrite == Rewrite::AsTyped
            && self.tokens.last_is_prefix()
            && self
                .exact_hit
                .is_none_or(|best| score > best.score || (score >= best.score && document < best.document));
        let is_rejected = self.top.rejects(score, document) || self.top.has(document, score);
        if (is_rejected && !is_exact) || !self.filter.matches(document) {
            return;
        }
        let rewrite_index = self.rewrites.len().min(usize::from(u8::MAX)) as u8;
        let hit = Hit {
            document,
            score,
            kind,
            name,
            rewrite,
            rewrite_index,
            matched: 0,
        };
        if is_exact {
            self.exact_hit = Some(hit);
        }
        self.top.offer(hit);
    }

    /// Ends the current rewrite.
    pub(crate) fn finish_rewrite(&mut self, query: BooleanQuery) {
        self.rewrites.push(query);
    }
}

/// Splits the text into words, without the scheme of a URL.
fn tokenize(text: &str) -> Tokens {
    let start = domain::name_start(text);
    if start == 0 {
        return Tokens::new(text);
    }
    let mut tokens = Tokens::default();
    tokens.tokenize_part(text, start..text.len());
    tokens
}
