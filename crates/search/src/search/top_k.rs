//! The best hits so far.

use crate::query::Hit;

/// Number of hits of the first page. What is tried, and how much it may cost, depends on these hits alone, so
/// that the first hits are the same for every limit.
pub(crate) const PAGE_SIZE: usize = 10;

/// The best hits, each document once, in a sorted vector.
///
/// A vector is faster than a heap here: it holds a page of about ten hits, and most candidates are rejected
/// by one comparison with the last.
#[derive(Clone, Debug)]
pub(crate) struct TopK {
    hits: Vec<Hit>,
    limit: usize,
}

impl TopK {
    /// Creates an empty collection for at most `limit` hits.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            hits: Vec::with_capacity(limit.min(64) + 1),
            limit,
        }
    }

    /// Returns `true` if a hit with this score and document would not be among the best.
    #[inline]
    pub(crate) fn rejects(&self, score: f32, document: u32) -> bool {
        match self.hits.last() {
            Some(last) if self.hits.len() >= self.limit => {
                score < last.score || (score <= last.score && document > last.document)
            }
            _ => false,
        }
    }

    /// Returns `true` if a hit with this score and document would not be on the first page.
    #[inline]
    pub(crate) fn page_rejects(&self, score: f32, document: u32) -> bool {
        self.hits
            .get(PAGE_SIZE - 1)
            .is_some_and(|last| score < last.score || (score <= last.score && document > last.document))
    }

    /// Returns `true` if the first page is full.
    #[inline]
    pub(crate) fn page_is_full(&self) -> bool {
        self.hits.len() >= PAGE_SIZE
    }

    /// Returns `true` if there is a hit for `document` on the first page.
    pub(crate) fn page_has(&self, document: u32) -> bool {
        let mut page = self.hits.iter().take(PAGE_SIZE);
        page.any(|hit| hit.document == document)
    }

    /// Returns the largest score that does not change the first page.
    pub(crate) fn score_after_page(&self) -> f32 {
        let last = self.hits.get(PAGE_SIZE - 1);
        last.map_or(f32::INFINITY, |last| last.score.next_down())
    }

    /// Returns the number of hits.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.hits.len()
    }

    /// Returns `true` if the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.hits.len() >= self.limit
    }

    /// Returns `true` if there is a hit for `document` with at least this score.
    #[inline]
    pub(crate) fn has(&self, document: u32, score: f32) -> bool {
        self.hits
            .iter()
            .any(|hit| hit.document == document && hit.score >= score)
    }

    /// Adds `hit` if it is among the best. Hits with equal scores are in rank order.
    pub(crate) fn offer(&mut self, hit: Hit) {
        let is_better = |other: &Hit| {
            other
                .score
                .total_cmp(&hit.score)
                .reverse()
                .then(other.document.cmp(&hit.document))
                .is_lt()
        };
        if self.is_full() && self.hits.last().is_none_or(is_better) {
            return;
        }
        if let Some(same) = self.hits.iter().position(|other| other.document == hit.document) {
            if self.hits[same].score >= hit.score {
                return;
            }
            self.hits.remove(same);
        }
        let index = self.hits.partition_point(is_better);
        self.hits.insert(index, hit);
        self.hits.truncate(self.limit);
    }

    /// Returns the hits, best first.
    pub(crate) fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// Converts the collection into its hits, best first.
    pub(crate) fn into_hits(self) -> Vec<Hit> {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{MatchKind, Rewrite};

    fn hit(document: u32, score: f32) -> Hit {
        Hit {
            document,
            score,
            kind: MatchKind::NamePrefix,
            name: 0,
            rewrite: Rewrite::AsTyped,
            rewrite_index: 0,
            matched: 0,
        }
    }

    #[test]
    fn the_best_hits_stay_each_document_once() {
        let mut top = TopK::new(3);
        for (document, score) in [(5, 1.0), (2, 4.0), (5, 3.0), (9, 3.0), (1, 2.0), (2, 0.5)] {
            top.offer(hit(document, score));
        }
        let hits: Vec<_> = top
            .into_hits()
            .iter()
            .map(|hit| (hit.document, hit.score))
            .collect();
        assert_eq!(hits, [(2, 4.0), (5, 3.0), (9, 3.0)]);
    }

    #[test]
    fn a_limit_of_zero_accepts_nothing() {
        let mut top = TopK::new(0);
        top.offer(hit(1, 1.0));
        assert_eq!(top.len(), 0);
    }
}
