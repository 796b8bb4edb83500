//! Explains the ranking of search results, for `causeway search --explain`.

use crate::query::intent::intent;
use crate::snapshot::view::View;
use ::search::{MergeFilter, Query};

/// A search result with the explanation of its score.
#[derive(Debug)]
pub struct ExplainedHit {
    pub name: String,
    pub location: String,
    pub ein: Option<String>,
    pub slug: String,
    pub score: f32,
    pub why: String,
}

impl View {
    /// Returns the best `take` nonprofits for a text, each with an explanation of its score.
    pub fn explain(&self, text: &str, take: usize) -> Vec<ExplainedHit> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let intent = Some(intent(self.by_meaning));
        let is_replaced = |position: u32| self.overlay.replaces(position);
        let from_snapshot = snapshot.index().explain(&Query {
            limit: take,
            exclude: Some(&is_replaced),
            intent,
            ..Query::new(text)
        });
        let from_overlay = self.overlay.index().map_or_else(Vec::new, |index| {
            index.explain(&Query {
                limit: take,
                intent,
                ..Query::new(text)
            })
        });
        let merge_filter = MergeFilter::new(
            from_snapshot.iter().chain(&from_overlay).map(|why| &why.hit),
            take,
        );
        let from_snapshot = from_snapshot
            .into_iter()
            .map(|why| (snapshot.nonprofit(why.hit.document), why));
        let from_overlay = from_overlay
            .into_iter()
            .map(|why| (self.overlay.nonprofit(why.hit.document), why));
        let mut hits: Vec<ExplainedHit> = from_snapshot
            .chain(from_overlay)
            .filter(|(_, why)| merge_filter.accepts(&why.hit))
            .filter_map(|(nonprofit, why)| {
                let nonprofit = nonprofit?;
                Some(ExplainedHit {
                    name: nonprofit.name.to_owned(),
                    location: nonprofit.location(),
                    ein: nonprofit.ein.map(|ein| ein.to_string()),
                    slug: nonprofit.slug.to_owned(),
                    score: why.hit.score,
                    why: why.to_string(),
                })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(take);
        hits
    }
}
