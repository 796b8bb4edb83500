//! Searching a view.

use crate::nonprofits::Nonprofit;
use crate::view::View;
use ::search::{Hit, MergeFilter, Query, SearchResults};
use std::sync::Arc;

/// A nonprofit that was found, with the typed words that found it.
#[derive(Debug)]
pub struct Match<'v> {
    pub nonprofit: Nonprofit<'v>,
    /// As typed, in lower case, in the order typed.
    pub words: Arc<[String]>,
}

/// The same, before it is read.
#[derive(Clone, Debug)]
pub struct Spot {
    pub at: At,
    pub words: Arc<[String]>,
}

/// Where a nonprofit of a view is kept.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Snapshot(u32),
    Overlay(u32),
}

/// Gives the hits of an answer their words; hits in a row mostly share them.
fn words_of<'a>(answer: &'a SearchResults<'_>) -> impl FnMut(&Hit) -> Arc<[String]> + 'a {
    let mut last: Option<(u64, Arc<[String]>)> = None;
    move |hit| {
        let number = answer.matched_mask(hit);
        match &last {
            Some((same, words)) if *same == number => Arc::clone(words),
            _ => {
                let words: Arc<[String]> = answer.matched_words(hit).collect();
                last = Some((number, Arc::clone(&words)));
                words
            }
        }
    }
}

impl View {
    /// The best `take` nonprofits for a text, each of which carries a label of every group of `filter`.
    pub fn search(&self, text: &str, take: usize, filter: &[&[&str]]) -> Vec<Match<'_>> {
        let read = |spot: &Spot| {
            let words = Arc::clone(&spot.words);
            self.nonprofit(spot.at)
                .map(|nonprofit| Match { nonprofit, words })
        };
        self.spots(text, take, filter).iter().filter_map(read).collect()
    }

    /// Reads the nonprofit at a place.
    #[inline]
    pub fn nonprofit(&self, at: At) -> Option<Nonprofit<'_>> {
        match at {
            At::Snapshot(place) => self.snapshot.as_ref()?.nonprofit(place),
            At::Overlay(place) => self.overlay.nonprofit(place),
        }
    }

    /// Where the best `take` nonprofits are for a text.
    pub fn spots(&self, text: &str, take: usize, filter: &[&[&str]]) -> Arc<[Spot]> {
        let Some(snapshot) = &self.snapshot else {
            return Arc::default();
        };
        let is_replaced = |place: u32| self.overlay.replaces(place);
        let hidden: Option<&dyn Fn(u32) -> bool> = match self.overlay.is_empty() {
            true => None,
            false => Some(&is_replaced),
        };
        let mut settled = snapshot.index().search(&Query {
            text,
            limit: take,
            filter,
            exclude: hidden,
        });
        let recent = self.overlay.index().map(|index| {
            index.search(&Query {
                text,
                limit: take,
                filter,
                exclude: None,
            })
        });
        let Some(mut recent) = recent.filter(|recent| !recent.hits.is_empty()) else {
            return spots(&settled, At::Snapshot).map(|(_, spot)| spot).collect();
        };
        let merge_filter = MergeFilter::new(settled.hits.iter().chain(&recent.hits), take);
        settled.hits.retain(|hit| merge_filter.accepts(hit));
        recent.hits.retain(|hit| merge_filter.accepts(hit));
        let all = spots(&settled, At::Snapshot).chain(spots(&recent, At::Overlay));
        let mut all: Vec<_> = all
            .filter_map(|(score, spot)| Some((score, self.nonprofit(spot.at)?, spot)))
            .collect();
        all.sort_by(|(a, found, _), (b, other, _)| {
            b.total_cmp(a)
                .then_with(|| other.prominence.cmp(&found.prominence))
                .then_with(|| found.name.cmp(other.name))
                .then_with(|| found.id.cmp(&other.id))
        });
        all.truncate(take);
        all.into_iter().map(|(_, _, spot)| spot).collect()
    }
}

/// Score and place of every hit, with its words.
fn spots<'a>(answer: &'a SearchResults<'_>, at: fn(u32) -> At) -> impl Iterator<Item = (f32, Spot)> + 'a {
    let mut words = words_of(answer);
    answer.hits.iter().map(move |hit| {
        let spot = Spot {
            at: at(hit.document),
            words: words(hit),
        };
        (hit.score, spot)
    })
}
