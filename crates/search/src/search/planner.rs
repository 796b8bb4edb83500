//! The query planner: which posting list drives a pass, and which prefilters its documents must pass.
//!
//! The driver is the clause or group of labels with the fewest documents to read: usually the rarest,
//! sometimes a more frequent one that fills the page after a few documents, since lists are in rank order.
//! All others become prefilters.

use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::search::postings::{self, PostingCursor};
use crate::search::prefilter::{MAX_LISTS, Prefilter};
use crate::search::searcher::Searcher;

/// Maximum number of documents that are scored in one pass to fill the first page, not counting those that are
/// hits already.
pub(crate) const MAX_SCORED: usize = 16;
/// Maximum number of documents that are scored in one pass for the hits after the first page.
pub(crate) const MAX_FURTHER_SCORED: usize = 128;

/// A driver with at most this many postings needs no other prefilters than signatures.
const SHORT_DRIVER: usize = 64;

/// The conditions of a query, those with the fewest postings first.
pub(crate) struct Plan<'q> {
    conditions: Vec<(usize, Condition<'q>)>,
}

/// A condition that documents must meet.
#[derive(Clone, Copy)]
enum Condition<'q> {
    Clause(&'q Clause),
    /// A group of labels of the filter; group 0 is the narrowest.
    Labels(usize),
}

impl<'q> Plan<'q> {
    /// Collects the conditions of a query and of the filter.
    pub(crate) fn new(searcher: &Searcher<'_>, query: &BooleanQuery, required: &'q [Clause]) -> Self {
        let clauses = required.iter().map(|clause| {
            let count = postings::count(searcher.segment, query, clause);
            (count, Condition::Clause(clause))
        });
        let labels = (0..).map(Condition::Labels);
        let mut conditions: Vec<_> = clauses
            .chain(searcher.filter.posting_counts().zip(labels))
            .collect();
        conditions.sort_by_key(|(count, _)| *count);
        Self { conditions }
    }

    /// Opens the driver and returns it with the index of its condition, or `None` if no list can be read.
    pub(crate) fn open_driver<'a>(
        &self,
        searcher: &Searcher<'a>,
        query: &BooleanQuery,
    ) -> Option<(usize, PostingCursor<'a>)> {
        let budget = if query.rewrite.is_correction() {
            searcher.pass_budget(query)
        } else {
            searcher.steps_left
        };
        let filtered_limit = (self.conditions.len() > 1).then_some(budget as usize);
        let cost = |&(index, &(count, condition)): &(usize, &(usize, Condition<'_>))| match condition {
            Condition::Clause(clause) if query.term_count(clause) > MAX_LISTS => count,
            _ => count.min(self.documents_until_full(searcher, index)),
        };
        let can_drive = |&(_, &(count, condition)): &(usize, &(usize, Condition<'_>))| match condition {
            Condition::Clause(clause) => postings::can_open(query, clause, count, filtered_limit),
            Condition::Labels(group) => group == 0,
        };
        let conditions = self.conditions.iter().enumerate();
        let (index, &(_, condition)) = conditions.filter(can_drive).min_by_key(cost)?;
        let cursor = match condition {
            Condition::Clause(clause) => postings::open(searcher.segment, query, clause),
            Condition::Labels(_) => searcher.filter.open()?,
        };
        Some((index, cursor))
    }

    /// Estimates how many documents are passed until the page is full, if `driver` drives.
    fn documents_until_full(&self, searcher: &Searcher<'_>, driver: usize) -> usize {
        let mut others = self.conditions.iter().enumerate();
        let rarest = others.find(|(index, _)| *index != driver);
        let count = rarest.map_or(usize::MAX, |(_, (count, _))| (*count).max(1));
        (2 * MAX_SCORED).saturating_mul(searcher.segment.document_count() as usize) / count
    }

    /// Creates the prefilters for the documents of `cursor`, which the condition `driver` drives, the
    /// cheapest first.
    pub(crate) fn prefilters<'a>(
        &self,
        searcher: &Searcher<'a>,
        query: &BooleanQuery,
        cursor: &PostingCursor<'_>,
        driver: Option<usize>,
    ) -> Vec<Prefilter<'a>> {
        let is_short = cursor.posting_count() <= SHORT_DRIVER;
        let mut prefilters = Vec::with_capacity(self.conditions.len());
        for (index, (_, condition)) in self.conditions.iter().enumerate() {
            if Some(index) == driver {
                continue;
            }
            prefilters.extend(match *condition {
                Condition::Clause(clause) if is_short => Some(Prefilter::Signature(*clause)),
                Condition::Clause(clause) => Some(Prefilter::new(searcher.segment, query, clause)),
                Condition::Labels(_) if is_short => None,
                Condition::Labels(group) => Some(searcher.filter.prefilter(group)),
            });
        }
        // Nearly all documents fail any of these, so the cheapest comes first.
        prefilters.sort_by_key(Prefilter::cost);
        prefilters
    }
}
