//! The best hits so far.

use crate::query::Hit;

/// Keeps the best `take` hits, each document once.
#[derive(Clone, Debug)]
pub struct Top {
    hits: Vec<Hit>,
    take: usize,
}

impl Top {
    /// No hits yet.
    pub fn new(take: usize) -> Self {
        Self {
            hits: Vec::with_capacity(take.min(64) + 1),
            take,
        }
    }

    /// Whether a hit of this score and document would not be kept.
    #[inline]
    pub fn rejects(&self, score: f32, document: u32) -> bool {
        match self.hits.last() {
            Some(last) if self.hits.len() >= self.take => {
                score < last.score || (score <= last.score && document > last.document)
            }
            _ => false,
        }
    }

    /// How many hits there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether no more hits are wanted.
    pub fn full(&self) -> bool {
        self.hits.len() >= self.take
    }

    /// Whether a hit for `document` is kept that is at least as good as `score`.
    #[inline]
    pub fn has(&self, document: u32, score: f32) -> bool {
        self.hits
            .iter()
            .any(|hit| hit.document == document && hit.score >= score)
    }

    /// Keeps `hit` if it is good enough. Hits of one score stand in rank order.
    pub fn offer(&mut self, hit: Hit) {
        let before = |other: &Hit| {
            other
                .score
                .total_cmp(&hit.score)
                .reverse()
                .then(other.document.cmp(&hit.document))
                .is_lt()
        };
        if self.full() && self.hits.last().is_none_or(before) {
            return;
        }
        if let Some(known) = self.hits.iter().position(|other| other.document == hit.document) {
            if self.hits[known].score >= hit.score {
                return;
            }
            self.hits.remove(known);
        }
        let at = self.hits.partition_point(before);
        self.hits.insert(at, hit);
        self.hits.truncate(self.take);
    }

    /// The hits so far, best first.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// The hits, best first.
    pub fn into_hits(self) -> Vec<Hit> {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Reading, Tier};

    fn hit(document: u32, score: f32) -> Hit {
        Hit {
            document,
            score,
            tier: Tier::Begins,
            name: 0,
            reading: Reading::Typed,
            by: 0,
            matched: 0,
        }
    }

    #[test]
    fn the_best_hits_stay_each_document_once() {
        let mut top = Top::new(3);
        for (document, score) in [(5, 1.0), (2, 4.0), (5, 3.0), (9, 3.0), (1, 2.0), (2, 0.5)] {
            top.offer(hit(document, score));
        }
        let kept: Vec<_> = top
            .into_hits()
            .iter()
            .map(|hit| (hit.document, hit.score))
            .collect();
        assert_eq!(kept, [(2, 4.0), (5, 3.0), (9, 3.0)]);
    }

    #[test]
    fn a_page_of_none_keeps_none() {
        let mut top = Top::new(0);
        top.offer(hit(1, 1.0));
        assert_eq!(top.len(), 0);
    }
}
