//! Why a nonprofit stands where it stands, for `causeway search --explain`.

use crate::view::View;
use ::search::{MergeFilter, Query};

/// A nonprofit of an answer, with the account of the index.
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
    /// The best `take` nonprofits for a text, each with the reason why it stands there.
    pub fn explain(&self, text: &str, take: usize) -> Vec<ExplainedHit> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let is_replaced = |place: u32| self.overlay.replaces(place);
        let settled = snapshot.index().explain(&Query {
            text,
            limit: take,
            filter: &[],
            exclude: Some(&is_replaced),
        });
        let recent = self.overlay.index().map_or_else(Vec::new, |index| {
            index.explain(&Query {
                limit: take,
                ..Query::new(text)
            })
        });
        let merge_filter = MergeFilter::new(settled.iter().chain(&recent).map(|why| &why.hit), take);
        let settled = settled
            .into_iter()
            .map(|why| (snapshot.nonprofit(why.hit.document), why));
        let recent = recent
            .into_iter()
            .map(|why| (self.overlay.nonprofit(why.hit.document), why));
        let mut accounts: Vec<ExplainedHit> = settled
            .chain(recent)
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
        accounts.sort_by(|a, b| b.score.total_cmp(&a.score));
        accounts.truncate(take);
        accounts
    }
}
