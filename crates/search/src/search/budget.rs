//! The budget of one pass through posting lists.
//!
//! Work is counted in steps, about one for each document that is passed. The budget of a pass depends on what
//! has been found: no query, hostile or unlucky, costs more than a fixed multiple of a typical one, and the
//! cost does not grow with the number of documents.

use crate::search::boolean_query::BooleanQuery;
use crate::search::searcher::Searcher;
use crate::search::top_k::PAGE_SIZE;

/// Number of hits at which the words are taken as meant, and no corrections are tried.
pub(crate) const ENOUGH_HITS: usize = 3;

/// Steps for the words as typed until the first page is full.
const TYPED_STEPS: u32 = 24_000;
/// Steps for the words as typed once the first page is full.
const TYPED_STEPS_WITH_FULL_PAGE: u32 = 1_000;
/// Steps for a correction as long as nothing has been found.
const CORRECTION_STEPS: u32 = 4_000;
/// Steps for a correction once something has been found.
const CORRECTION_STEPS_WITH_HITS: u32 = 256;
/// Steps for a part of the query or its meaning.
const RELAXED_STEPS: u32 = 8_000;

impl Searcher<'_> {
    /// Returns the number of steps that the next pass may take.
    pub(crate) fn pass_budget(&self, query: &BooleanQuery) -> u32 {
        let hits = self.top.len();
        let budget = if query.rewrite.is_relaxed() {
            RELAXED_STEPS
        } else if query.rewrite.is_correction() {
            if hits == 0 && !self.has_prefix_match {
                CORRECTION_STEPS
            } else {
                CORRECTION_STEPS_WITH_HITS
            }
        } else if self.filter.has_labels() {
            TYPED_STEPS
        } else if hits >= PAGE_SIZE {
            TYPED_STEPS_WITH_FULL_PAGE
        } else {
            TYPED_STEPS
        };
        budget.min(self.steps_left)
    }
}
