//! Searches a view of the directory.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::query::filter::{Order, SearchFilter};
use crate::query::intent::intent;
use crate::query::interpretation::{self, Interpretation};
use crate::query::near::{Area, Near};
use crate::snapshot::Snapshot;
use crate::snapshot::view::{HitLocation, View};
use ::search::{EXACT_NAME_RANK, Hit, MergeFilter, Query, SearchResults};
use platform::text::fold;
use std::cmp::Reverse;
use std::sync::Arc;

/// The maximum number of results that are listed and counted.
pub const MAX_LISTED: usize = 1_000;

/// A nonprofit that matched a search, with the words of the query that matched it.
#[derive(Debug)]
pub struct Match<'v> {
    pub nonprofit: Nonprofit<'v>,
    /// In lowercase, in the order typed.
    pub words: Arc<[String]>,
}

/// A reference to a nonprofit that matched a search; [`View::nonprofit`] reads the nonprofit,
/// and [`View::item`] its JSON.
#[derive(Clone, Debug)]
pub struct HitRef {
    pub location: HitLocation,
    /// In lowercase, in the order typed.
    pub words: Arc<[String]>,
}

/// The hits of [`View::find_all`].
#[derive(Clone, Debug, Default)]
pub struct AllHits {
    pub hits: Arc<[HitRef]>,
    /// Whether there are no others.
    pub is_complete: bool,
    /// How the words were read to find those that do not have all of them. `None` if all have.
    pub interpretation: Option<Arc<Interpretation>>,
}

/// Returns a function that maps each hit to its matched words. Consecutive hits mostly share them.
fn words_of<'a>(results: &'a SearchResults<'_>) -> impl FnMut(&Hit) -> Arc<[String]> + 'a {
    let mut last: Option<(u64, Arc<[String]>)> = None;
    move |hit| {
        let mask = results.matched_mask(hit);
        match &last {
            Some((last_mask, words)) if *last_mask == mask => Arc::clone(words),
            _ => {
                let words: Arc<[String]> = results.matched_words(hit).collect();
                last = Some((mask, Arc::clone(&words)));
                words
            }
        }
    }
}

impl View {
    /// Returns the best `take` nonprofits that have all words of a text, for somebody who looks for a certain one.
    pub fn search(&self, text: &str, take: usize) -> Vec<Match<'_>> {
        let read = |hit: &HitRef| {
            let words = Arc::clone(&hit.words);
            self.nonprofit(hit.location)
                .map(|nonprofit| Match { nonprofit, words })
        };
        let filter = SearchFilter {
            words_only: true,
            ..SearchFilter::default()
        };
        self.find_hits(text, take, &filter)
            .iter()
            .filter_map(read)
            .collect()
    }

    /// Returns the distance in miles from the center of a circle to the nonprofit at a location, if it is known.
    pub fn miles_from(&self, near: &Near, location: HitLocation) -> Option<f64> {
        near.miles_to(self.zip(location)?)
    }

    /// Appends where the best `take` nonprofits of the snapshot and of the overlay are, each best first.
    pub(crate) fn append_locations(
        &self,
        text: &str,
        take: usize,
        filter: &SearchFilter,
        out: &mut Vec<HitLocation>,
    ) {
        let Some(snapshot) = &self.snapshot else {
            return;
        };
        self.with_queries(snapshot, text, take, filter, |query, overlay_query| {
            // A list is matched by names, and a part of a name is another nonprofit.
            let [query, overlay_query] = [query, overlay_query].map(|query| Query {
                intent: None,
                ..*query
            });
            let hits = snapshot.index().search(&query).hits;
            out.extend(hits.iter().map(|hit| HitLocation::Snapshot(hit.document)));
            if let Some(index) = self.overlay.index() {
                let hits = index.search(&overlay_query).hits;
                out.extend(hits.iter().map(|hit| HitLocation::Overlay(hit.document)));
            }
        });
    }

    /// Finds the best `take` nonprofits for a text that meet a filter, without reading them.
    pub fn find_hits(&self, text: &str, take: usize, filter: &SearchFilter) -> Arc<[HitRef]> {
        let Some(snapshot) = &self.snapshot else {
            return Arc::default();
        };
        self.with_queries(snapshot, text, take, filter, |query, overlay_query| {
            let from_snapshot = snapshot.index().search(query);
            let from_overlay = self.overlay.index().map(|index| index.search(overlay_query));
            self.merge(from_snapshot, from_overlay, take)
        })
    }

    /// Finds every nonprofit that matches, at most `take`, best first. Costs more than [`find_hits`](View::find_hits),
    /// which stops where further hits are hardly ever wanted; the first hits are the same.
    pub fn find_all(&self, text: &str, take: usize, filter: &SearchFilter) -> AllHits {
        let Some(snapshot) = &self.snapshot else {
            return AllHits::default();
        };
        self.with_queries(snapshot, text, take, filter, |query, overlay_query| {
            let [query, overlay_query] = [query, overlay_query].map(|query| Query {
                is_exhaustive: true,
                ..*query
            });
            let from_snapshot = snapshot.index().search(&query);
            let from_overlay = self.overlay.index().map(|index| index.search(&overlay_query));
            let is_complete =
                from_snapshot.is_complete && from_overlay.as_ref().is_none_or(|results| results.is_complete);
            let interpretation = query
                .intent
                .and_then(|intent| interpretation::of_results(intent, &from_snapshot, from_overlay.as_ref()));
            let hits = self.merge(from_snapshot, from_overlay, take);
            AllHits {
                is_complete: is_complete && hits.len() < take,
                hits,
                interpretation: interpretation.map(Arc::new),
            }
        })
    }

    /// Lists what matches in an order: at most [`MAX_LISTED`], and one more in the order of the best if there are more.
    pub fn list(&self, text: &str, filter: &SearchFilter, order: Order) -> AllHits {
        let mut all = self.find_all(text, MAX_LISTED + 1, filter);
        if order != Order::Best {
            all.hits = self.sort(&all.hits, filter, order);
        }
        all
    }

    /// Sorts the best matches; equals stay in their order.
    fn sort(&self, hits: &[HitRef], filter: &SearchFilter, order: Order) -> Arc<[HitRef]> {
        let mut sorted = hits[..hits.len().min(MAX_LISTED)].to_vec();
        match order {
            Order::Best => {}
            Order::Largest => sorted.sort_by_cached_key(|hit| {
                let nonprofit = self.nonprofit(hit.location);
                Reverse(nonprofit.and_then(|nonprofit| nonprofit.revenue()))
            }),
            Order::Name => sorted.sort_by_cached_key(|hit| {
                let nonprofit = self.nonprofit(hit.location);
                nonprofit.map(|nonprofit| fold(nonprofit.name, ' '))
            }),
            Order::Nearest => sorted.sort_by_cached_key(|hit| {
                let miles = filter.near.and_then(|near| self.miles_from(&near, hit.location));
                // Miles are positive, and the bits of positive numbers have the order of the numbers.
                miles.map_or(u64::MAX, f64::to_bits)
            }),
        }
        sorted.into()
    }

    /// Returns the EIN in a text, as typed, if a nonprofit has it: then the words around it say nothing more.
    fn known_ein<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (ein, range) = Ein::find_in(text)?;
        self.locate(&Identifier::Ein(ein)).map(|_| &text[range])
    }

    /// Calls `run` with the queries for the snapshot and for the overlay.
    pub(crate) fn with_queries<T>(
        &self,
        snapshot: &Snapshot,
        text: &str,
        take: usize,
        filter: &SearchFilter,
        run: impl FnOnce(&Query<'_>, &Query<'_>) -> T,
    ) -> T {
        let text = self.known_ein(text).unwrap_or(text);
        let near = filter.near.as_ref();
        let area = near.map(Area::new);
        let is_outside = |zip| area.as_ref().is_some_and(|area| !area.contains(zip));
        let has_overlay = !self.overlay.is_empty();
        // The label in the index says what the records say; the lists and the operators may say no.
        let needs_hold = filter.is_disbursable && self.holds.is_any();
        let is_held = |location| {
            self.nonprofit(location)
                .is_some_and(|nonprofit| nonprofit.is_held)
        };
        let exclude = |index: u32| {
            (has_overlay && self.overlay.replaces(index))
                || (near.is_some() && is_outside(snapshot.zip(index)))
                || (needs_hold && is_held(HitLocation::Snapshot(index)))
        };
        let exclude_in_overlay = |index: u32| {
            is_outside(self.overlay.zip(index)) || (needs_hold && is_held(HitLocation::Overlay(index)))
        };
        let mut groups = filter.label_groups();
        if let Some(area) = area.as_ref().filter(|area| area.is_selective(snapshot.index())) {
            groups.push(area.labels().to_vec());
        }
        let query = Query {
            limit: take,
            filter: &groups,
            exclude: if has_overlay || near.is_some() || needs_hold {
                Some(&exclude)
            } else {
                None
            },
            intent: (!filter.words_only).then(|| intent(self.by_meaning)),
            ..Query::new(text)
        };
        let overlay_query = Query {
            exclude: if near.is_some() || needs_hold {
                Some(&exclude_in_overlay)
            } else {
                None
            },
            ..query
        };
        run(&query, &overlay_query)
    }

    /// Merges the results of the snapshot and of the overlay.
    fn merge(
        &self,
        mut from_snapshot: SearchResults<'_>,
        from_overlay: Option<SearchResults<'_>>,
        take: usize,
    ) -> Arc<[HitRef]> {
        let Some(mut from_overlay) = from_overlay.filter(|results| !results.hits.is_empty()) else {
            return hit_refs(&from_snapshot, HitLocation::Snapshot)
                .map(|(_, _, hit)| hit)
                .collect();
        };
        let merge_filter = MergeFilter::new(from_snapshot.hits.iter().chain(&from_overlay.hits), take);
        from_snapshot.hits.retain(|hit| merge_filter.accepts(hit));
        from_overlay.hits.retain(|hit| merge_filter.accepts(hit));
        let all = hit_refs(&from_snapshot, HitLocation::Snapshot)
            .chain(hit_refs(&from_overlay, HitLocation::Overlay));
        let mut all: Vec<_> = all
            .filter_map(|(score, is_exact, hit)| Some((score, self.nonprofit(hit.location)?, is_exact, hit)))
            .collect();
        all.sort_by(|(left_score, left, ..), (right_score, right, ..)| {
            right_score
                .total_cmp(left_score)
                .then_with(|| right.prominence.cmp(&left.prominence))
                .then_with(|| left.name.cmp(right.name))
                .then_with(|| left.id.cmp(&right.id))
        });
        // Each index keeps the exact name near the top of its own hits only.
        let exact_names = (0..all.len()).filter(|&index| all[index].2);
        let largest = exact_names.max_by_key(|&index| (all[index].1.prominence, Reverse(index)));
        if let Some(index) = largest.filter(|&index| index >= EXACT_NAME_RANK) {
            all[EXACT_NAME_RANK - 1..=index].rotate_right(1);
        }
        all.truncate(take);
        all.into_iter().map(|(.., hit)| hit).collect()
    }
}

/// Returns each hit as a reference, with its score and whether its name is exactly what was typed.
fn hit_refs<'a>(
    results: &'a SearchResults<'_>,
    location: fn(u32) -> HitLocation,
) -> impl Iterator<Item = (f32, bool, HitRef)> + 'a {
    let mut words = words_of(results);
    results.hits.iter().map(move |hit| {
        let hit_ref = HitRef {
            location: location(hit.document),
            words: words(hit),
        };
        (hit.score, results.is_exact_name(hit), hit_ref)
    })
}
