//! Evaluation of one rewrite: the best documents for the clauses of a query.
//!
//! Names that start with the words come from the name list, all other matches from posting lists. Documents
//! are numbered by prominence and the bonus of each kind of match is bounded, so that a list is abandoned as
//! soon as no further document can be among the best hits.

use crate::query::{MatchKind, Rewrite};
use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::search::incremental_sort::IncrementalSort;
use crate::search::name_prefix::{self, NameRange};
use crate::search::planner::{MAX_FURTHER_SCORED, MAX_SCORED, Plan};
use crate::search::postings::{self, PostingCursor};
use crate::search::prefilter::{BATCH_SIZE, MAX_LISTS, Prefilter};
use crate::search::ranking::{self, MatchScore};
use crate::search::searcher::Searcher;
use crate::search::top_k::PAGE_SIZE;
use crate::segment::format::Section;
use crate::segment::forward_index::{STOP_WORD_FLAG, TermList};
use crate::segment::labels::LabelPostings;
use crate::segment::min_tree::{MinTree, SmallestEntries};
use crate::segment::name_entry;

/// Number of prefilter tests that count as one step.
const PREFILTERS_PER_STEP: usize = 4;
/// Steps for reading a record, and for comparing it with a few clauses.
const RECORD_STEPS: u32 = 16;
/// Steps for comparing a record with one clause of many.
const CLAUSE_STEPS: u32 = 4;
/// Number of records that are fetched together, so that the memory accesses overlap.
const RECORDS_PER_FETCH: usize = 8;
/// Number of names that are tried first of one set of ranges, enough for most first pages.
const FIRST_NAMES_TRIED: usize = PAGE_SIZE * 3 / 2 + 1;
/// Maximum number of names that are tried of one set of ranges.
const MAX_NAMES_TRIED: usize = 1_024;
/// Names that start with all words but the last are searched for the last if there are at most this many.
const MAX_EXTENDED_NAMES: usize = 1_024;
/// Maximum length of an alias that is found only by the complete word.
const MAX_SHORT_ALIAS_LENGTH: usize = 3;

/// The state of one pass through posting lists.
struct Pass {
    /// The steps for the usual work.
    budget: u32,
    steps_left: u32,
    /// Documents that may still be scored.
    scores_left: usize,
    /// Whether the first page is not yet settled.
    fills_page: bool,
    /// Whether the steps are the further ones of an exhaustive search.
    reads_on: bool,
}

impl Pass {
    fn new(budget: u32) -> Self {
        Self {
            budget,
            steps_left: budget,
            scores_left: MAX_SCORED,
            fills_page: true,
            reads_on: false,
        }
    }

    fn read_on(&mut self, steps: u32) {
        self.reads_on = true;
        self.steps_left = steps;
        self.scores_left = usize::MAX;
    }
}

impl<'a> Searcher<'a> {
    /// Finds the best documents for a query and ends its rewrite.
    pub(crate) fn evaluate(&mut self, query: BooleanQuery) {
        if !query.is_unsatisfiable() {
            let without_last_word = self.search_names(&query);
            self.search_postings(&query, &without_last_word);
        }
        self.finish_rewrite(query);
    }

    /// Finds names that start with the words of a query and ends its rewrite.
    pub(crate) fn evaluate_names(&mut self, query: BooleanQuery) {
        if !query.is_unsatisfiable() {
            self.search_names(&query);
        }
        self.finish_rewrite(query);
    }

    /// Finds documents that have all words of a query, wherever, and ends its rewrite.
    pub(crate) fn evaluate_postings(&mut self, query: BooleanQuery) {
        if !query.is_unsatisfiable() {
            self.search_postings(&query, &[]);
        }
        self.finish_rewrite(query);
    }

    /// Offers names that start with the words and returns those that start with all words but the last.
    fn search_names(&mut self, query: &BooleanQuery) -> Vec<NameRange> {
        let names = name_prefix::find_names(self.segment, query, &self.tokens);
        self.has_prefix_match |= !names.prefix.is_empty();
        // After a space, more words are to come, and a name that ends here is no better than any other.
        let (mut exact_bonus, mut full_bonus) = if !self.tokens.last_is_prefix() {
            (ranking::NAME_PREFIX_BONUS, ranking::NAME_PREFIX_BONUS)
        } else if query.rewrite == Rewrite::AsTyped {
            (ranking::EXACT_NAME_BONUS, ranking::FULL_NAME_BONUS)
        } else {
            (ranking::FULL_NAME_BONUS, ranking::FULL_NAME_BONUS)
        };
        if !names.abbreviation.is_empty() {
            // In a name that ends with the abbreviation, it is a complete word as well.
            exact_bonus += ranking::ABBREVIATION_BONUS;
            full_bonus += ranking::ABBREVIATION_BONUS;
        }
        self.offer_ranges(names.exact.as_slice(), query, MatchKind::ExactName, exact_bonus);
        self.offer_ranges(&names.full, query, MatchKind::FullName, full_bonus);
        self.offer_ranges(&names.full_with_suffix, query, MatchKind::FullName, full_bonus);
        self.offer_ranges(
            &names.abbreviation,
            query,
            MatchKind::NamePrefix,
            ranking::NAME_PREFIX_BONUS + ranking::ABBREVIATION_BONUS,
        );
        if !self.offer_completions(query) {
            self.offer_ranges(
                &names.prefix,
                query,
                MatchKind::NamePrefix,
                ranking::NAME_PREFIX_BONUS,
            );
        }
        names.without_last_word
    }

    /// Offers the precomputed completions of a single prefix. Returns `true` if no other name with the prefix
    /// can be among the best hits.
    fn offer_completions(&mut self, query: &BooleanQuery) -> bool {
        let [clause] = query.clauses() else { return false };
        let Some(node) = clause.trie_node.filter(|_| !self.filter.has_labels()) else {
            return false;
        };
        let bonus = ranking::NAME_PREFIX_BONUS + query.penalty;
        for entry in self.segment.completions(node).iter() {
            let document = name_entry::document(entry);
            if self
                .top
                .rejects(self.segment.prominence(document) + bonus, document)
            {
                return query.ranges(clause).len() == 1;
            }
            self.offer_name(entry, query, MatchKind::NamePrefix, bonus);
        }
        false
    }

    /// Offers the most prominent names of `ranges`.
    fn offer_ranges(&mut self, ranges: &[NameRange], query: &BooleanQuery, kind: MatchKind, bonus: f32) {
        let article_bonus = article_bonus(query);
        for uses_synonym in [false, true] {
            let penalty = if uses_synonym {
                ranking::SYNONYM_PENALTY
            } else {
                0.0
            };
            let bonus = bonus + query.penalty + penalty;
            let selected = ranges.iter().filter(|range| range.uses_synonym == uses_synonym);
            if selected.clone().next().is_none()
                || self.is_hopeless(bonus + ranking::FULL_ALIAS_BONUS + article_bonus)
            {
                continue;
            }
            let label_lists: Option<Vec<_>> = self
                .filter
                .narrowest_group()
                .and_then(|labels| labels.iter().map(LabelPostings::name_list).collect());
            if let Some(lists) = label_lists {
                for (positions, names) in lists {
                    let index_of = |position: usize| positions.lower_bound(position as u32);
                    let ranges: Vec<_> = selected
                        .clone()
                        .map(|range| (index_of(range.from), index_of(range.to)))
                        .collect();
                    self.offer_best_names(names, &ranges, query, kind, bonus);
                }
            } else {
                let names = MinTree::new(
                    self.segment.u32s(Section::NameEntries),
                    self.segment.u32s(Section::NameMinima),
                );
                let ranges: Vec<_> = selected.map(|range| (range.from, range.to)).collect();
                self.offer_best_names(names, &ranges, query, kind, bonus);
            }
        }
    }

    /// Offers names of `ranges`, the most prominent first, until no other can be among the best hits.
    fn offer_best_names(
        &mut self,
        names: MinTree<'a>,
        ranges: &[(usize, usize)],
        query: &BooleanQuery,
        kind: MatchKind,
        bonus: f32,
    ) {
        let alias_bonus = if kind == MatchKind::FullName {
            ranking::FULL_ALIAS_BONUS
        } else {
            0.0
        };
        let max_bonus = bonus + alias_bonus + article_bonus(query);
        let mut limit = FIRST_NAMES_TRIED;
        let mut offered = 0;
        loop {
            let mut smallest = SmallestEntries::new(limit);
            for &(from, to) in ranges {
                names.find_smallest(from, to, &mut smallest);
            }
            for &entry in &smallest.entries()[offered..] {
                let document = name_entry::document(entry);
                if self
                    .top
                    .rejects(self.segment.prominence(document) + max_bonus, document)
                {
                    return;
                }
                self.offer_name(entry, query, kind, bonus);
            }
            if !smallest.is_full() || limit > MAX_NAMES_TRIED {
                return;
            }
            offered = limit;
            limit *= 4;
        }
    }

    fn offer_name(&mut self, entry: u32, query: &BooleanQuery, kind: MatchKind, bonus: f32) {
        let (document, index) = (name_entry::document(entry), name_entry::name(entry));
        let mut score = self.segment.prominence(document) + bonus;
        let article = query.starts_with_article();
        if index > 0 || article || kind == MatchKind::FullName {
            let name = self.segment.record(document).name(index);
            if article && name.core_start() > 0 {
                score += ranking::ARTICLE_BONUS;
            }
            score += match (name.is_alias(), kind) {
                (true, MatchKind::FullName) if index == 0 => ranking::FULL_ALIAS_BONUS,
                _ if index == 0 => 0.0,
                // Only the display name counts as exact; any other is offered as a full name as well.
                (_, MatchKind::ExactName) => return,
                (true, MatchKind::NamePrefix) if self.is_short_alias(name) => return,
                (true, MatchKind::FullName) => ranking::FULL_ALIAS_BONUS,
                (true, _) if name.is_derived() => ranking::SECONDARY_NAME_PENALTY,
                (true, _) => 0.0,
                (false, _) => ranking::SECONDARY_NAME_PENALTY,
            };
        }
        self.offer(document, score, kind, index as u8, query.rewrite);
    }

    /// Returns `true` if an alias is too short to be found by a prefix.
    fn is_short_alias(&self, name: TermList<'_>) -> bool {
        name.len() == 1 && self.segment.trie().word_bytes(name.term(0)).len() <= MAX_SHORT_ALIAS_LENGTH
    }

    /// Offers documents that have all words anywhere.
    fn search_postings(&mut self, query: &BooleanQuery, without_last_word: &[NameRange]) {
        if self.is_hopeless(ranking::MAX_ANYWHERE_BONUS + query.penalty) {
            return;
        }
        let mut required: Vec<Clause> = query.required().copied().collect();
        // Signatures say less than bitmaps, so that most records that are read in vain lack a word with many terms.
        required.sort_by_key(|clause| query.term_count(clause) <= MAX_LISTS);
        self.extend_names(without_last_word, query, &required);
        let plan = Plan::new(self, query, &required);
        let (driver, cursor) = match plan.open_driver(self, query) {
            Some((index, cursor)) => (Some(index), cursor),
            None => (None, postings::open_sample(self.segment, query, &required[0])),
        };
        let prefilters = plan.prefilters(self, query, &cursor, driver);
        self.offer_documents(cursor, query, &required, &prefilters);
        if driver.is_none() && self.reads_on() {
            // The sample has only the first documents of each word. The signatures of all documents are quicker to
            // read than the lists of so many words.
            let cursor = PostingCursor::Range(0..self.segment.document_count());
            let prefilters = plan.prefilters(self, query, &cursor, None);
            self.offer_documents(cursor, query, &required, &prefilters);
        }
    }

    /// Offers documents with a name that starts with all words but the last, and with the last word
    /// elsewhere: a place or a chapter was added to the name.
    fn extend_names(&mut self, names: &[NameRange], query: &BooleanQuery, required: &[Clause]) {
        let count: usize = names.iter().map(|range| range.to - range.from).sum();
        let is_needless = self.top.page_is_full() || self.filter.has_labels();
        if count == 0 || count > MAX_EXTENDED_NAMES || is_needless {
            return;
        }
        let entries = self.segment.u32s(Section::NameEntries);
        let mut documents = Vec::new();
        for range in names {
            let entries = entries.slice(range.from, range.to);
            documents.extend(entries.iter().map(name_entry::document).filter(|&document| {
                let signature = self.segment.signature(document);
                required
                    .iter()
                    .all(|clause| clause.may_match_signature(signature))
            }));
        }
        let cursor = PostingCursor::Documents(IncrementalSort::new(documents));
        self.offer_documents(cursor, query, required, &[]);
    }

    /// Offers the documents of `cursor` that pass all prefilters and match all required clauses.
    ///
    /// The pass has two parts. The first fills the first page, in the same way and at the same cost for every
    /// limit. If more hits are wanted, the second reads on, and its hits stay behind the first page. In an
    /// exhaustive search, the second part has a budget of its own.
    fn offer_documents(
        &mut self,
        mut cursor: PostingCursor<'a>,
        query: &BooleanQuery,
        required: &[Clause],
        prefilters: &[Prefilter<'a>],
    ) {
        let max_bonus = ranking::MAX_ANYWHERE_BONUS + query.penalty;
        let wants_more = self.query.limit > PAGE_SIZE;
        let record_steps = RECORD_STEPS.max(CLAUSE_STEPS * required.len() as u32);
        let mut pass = Pass::new(self.pass_budget(query));
        let mut buffer = [0; BATCH_SIZE];
        'pass: while (pass.steps_left > 0 || self.read_on(&mut pass))
            && let Some(batch) = cursor.next_batch(self.segment, prefilters, &mut buffer)
        {
            // Most documents fail the first prefilters, but a query of many words costs more than one of few.
            let steps = batch.read + batch.read * prefilters.len() / PREFILTERS_PER_STEP;
            pass.steps_left = pass.steps_left.saturating_sub(steps as u32);
            for documents in buffer[..batch.len].chunks(RECORDS_PER_FETCH) {
                let mut fetched = [(0.0, TermList::default()); RECORDS_PER_FETCH];
                for (fetched, &document) in fetched.iter_mut().zip(documents) {
                    let terms = self.segment.record(document).all_terms();
                    *fetched = (self.segment.prominence(document), terms);
                }
                for (&document, &(prominence, terms)) in documents.iter().zip(&fetched) {
                    let best_score = prominence + max_bonus;
                    if pass.fills_page
                        && (pass.scores_left == 0 || self.top.page_rejects(best_score, document))
                    {
                        self.end_page(&mut pass);
                    }
                    let is_done = pass.scores_left == 0 || self.top.rejects(best_score, document);
                    if !pass.fills_page && (!wants_more || is_done) {
                        break 'pass;
                    }
                    pass.steps_left = pass.steps_left.saturating_sub(record_steps);
                    if matches_all(terms, query, required) && self.filter.matches(document) {
                        pass.scores_left -= usize::from(self.offer_match(document, query, pass.fills_page));
                        if self.top.is_full() {
                            pass.scores_left = pass.scores_left.min(MAX_FURTHER_SCORED);
                        }
                    }
                    if pass.steps_left == 0 && !self.read_on(&mut pass) {
                        break 'pass;
                    }
                }
            }
            let best_score = self.segment.prominence(batch.last) + max_bonus;
            if pass.fills_page && (pass.scores_left == 0 || self.top.page_rejects(best_score, batch.last)) {
                self.end_page(&mut pass);
            }
            if !pass.fills_page && (!wants_more || self.top.rejects(best_score, batch.last)) {
                break;
            }
        }
        if pass.reads_on {
            self.further_steps_left = pass.steps_left;
        } else if pass.fills_page {
            self.steps_left -= pass.budget - pass.steps_left;
        }
    }

    /// Ends the part of a pass that fills the first page.
    fn end_page(&mut self, pass: &mut Pass) {
        pass.fills_page = false;
        pass.scores_left = MAX_FURTHER_SCORED;
        self.steps_left -= pass.budget - pass.steps_left;
        if self.reads_on() {
            pass.read_on(self.further_steps_left);
        }
    }

    /// Goes on with a pass that has used its steps. Returns `false` if the pass ends here: the search is not
    /// exhaustive, it has enough hits, or all further steps are used as well.
    fn read_on(&mut self, pass: &mut Pass) -> bool {
        if pass.reads_on || !self.reads_on() {
            self.is_cut_short |= self.query.is_exhaustive;
            return false;
        }
        if pass.fills_page {
            pass.fills_page = false;
            self.steps_left -= pass.budget;
        }
        pass.read_on(self.further_steps_left);
        true
    }

    /// Scores and offers a document that matches all required clauses. Returns `true` if it was not on
    /// the first page before.
    fn offer_match(&mut self, document: u32, query: &BooleanQuery, fills_page: bool) -> bool {
        let MatchScore {
            bonus,
            name,
            starts_with_first_word,
        } = ranking::score_document(self.segment.record(document), query);
        let kind = if starts_with_first_word {
            MatchKind::FirstWord
        } else {
            MatchKind::Anywhere
        };
        let mut score = self.segment.prominence(document) + bonus + query.penalty;
        if !fills_page && self.top.page_is_full() && !self.top.page_rejects(score, document) {
            score = self.top.score_after_page();
        }
        let is_new = !self.top.page_has(document);
        self.offer(document, score, kind, name, query.rewrite);
        is_new
    }
}

/// Returns the bonus of names with an article: zero unless the article was typed.
fn article_bonus(query: &BooleanQuery) -> f32 {
    if query.starts_with_article() {
        ranking::ARTICLE_BONUS
    } else {
        0.0
    }
}

/// Returns `true` if a document matches all required clauses.
///
/// A word that is still being typed must match a term that no earlier word matches.
fn matches_all(terms: TermList<'_>, query: &BooleanQuery, required: &[Clause]) -> bool {
    let terms = || terms.iter().map(|term| term & !STOP_WORD_FLAG);
    let has_all = required
        .iter()
        .all(|clause| terms().any(|term| query.matches(clause, term)));
    has_all
        && match query.clauses().split_last() {
            Some((last, earlier)) if query.last_is_prefix && query.last_overlaps_earlier() => {
                terms().any(|term| {
                    query.matches(last, term) && !earlier.iter().any(|clause| query.matches(clause, term))
                })
            }
            _ => true,
        }
}
