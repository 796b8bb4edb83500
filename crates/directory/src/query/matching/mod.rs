//! Matches rows of other lists to nonprofits: by EIN, by name, by place and by website.
//!
//! An EIN that is in the directory names its nonprofit. Otherwise the search index finds candidates by name, in the place
//! of the row first and everywhere if nothing there fits, and [`score`] ranks them. Nonprofits move and change their names, so
//! a former name is a name too, and another city of the same state does not exclude a candidate that is far ahead of all
//! others. A row does not depend on the others, so rows can be matched in any order.

pub(crate) mod names;
pub mod score;

use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::location::{self, state_code};
use crate::nonprofits::slug::Slug;
use crate::query::filter::SearchFilter;
use crate::snapshot::view::{HitLocation, View};
use ::search::parse_domain;
use platform::ids::NonprofitId;
use platform::text::cut;
use score::{PreparedRow, Reason, Reasons, SIMILAR, Score, Scratch, score};
use std::cmp::Reverse;
use uuid::Uuid;

/// The number of candidates that a search looks at.
const SEARCH_LIMIT: usize = 8;
/// The number of former URLs that are tried: with the name alone, and with the city.
const MAX_FORMER_SLUGS: usize = 2;
/// The longest name that is searched for, in characters.
const MAX_NAME_LENGTH: usize = 256;
/// The similarity of names in percent below which a nonprofit is not a candidate.
const MIN_SIMILARITY: u32 = 40;
/// The score from which a candidate can be a match.
const MATCH_SCORE: u32 = 85;
/// The similarity of names in percent from which a candidate can be a match without an EIN.
const MATCH_SIMILARITY: u32 = 90;
/// How far a match is ahead of the next candidate.
const MATCH_LEAD: u32 = 5;
/// The score from which a candidate that has all words of the row can be a match if it is far ahead of the next one.
const CLEAR_SCORE: u32 = 70;
/// How far that is.
const CLEAR_LEAD: u32 = 20;
/// The last words of a name that was cut.
const OPEN_ENDS: [&str; 12] = [
    "&", "a", "an", "and", "at", "by", "for", "in", "of", "the", "to", "with",
];

/// A row of a list. Parts that are unknown are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    pub name: &'a str,
    pub city: &'a str,
    /// The code or the name of a state.
    pub state: &'a str,
    pub zip: &'a str,
    /// With or without a dash.
    pub ein: &'a str,
    /// A URL or a domain.
    pub website: &'a str,
}

/// A nonprofit that a row may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where the nonprofit is in the view.
    pub location: HitLocation,
    /// From 0 to 100.
    pub score: u32,
    pub reasons: Reasons,
    /// Whether the row certainly means this nonprofit. Only the first candidate can be a match.
    pub is_match: bool,
}

/// Matches rows. It holds buffers, so one should be used for many rows.
#[derive(Debug)]
pub struct Matcher<'v> {
    view: &'v View,
    row: PreparedRow,
    scratch: Scratch,
    text: String,
    /// Whether the name of the row ends where another word must follow, such as "Mental Health Association Of".
    is_truncated: bool,
    /// The city of the row, in readable form.
    city: String,
    locations: Vec<HitLocation>,
    ranked: Vec<Ranked>,
}

#[derive(Debug)]
struct Ranked {
    location: HitLocation,
    score: Score,
    /// Of equal candidates, the more prominent comes first.
    order: (Reverse<u32>, NonprofitId),
}

impl<'v> Matcher<'v> {
    pub fn new(view: &'v View) -> Matcher<'v> {
        Matcher {
            view,
            row: PreparedRow::default(),
            scratch: Scratch::default(),
            text: String::new(),
            is_truncated: false,
            city: String::new(),
            locations: Vec::new(),
            ranked: Vec::new(),
        }
    }

    /// Returns at most `take` nonprofits that a row may mean, the best first.
    pub fn find(&mut self, row: &Row<'_>, take: usize) -> Vec<Candidate> {
        self.prepare(row);
        self.ranked.clear();
        self.locations.clear();
        let by_ein = self
            .row
            .ein
            .and_then(|ein| self.view.locate(&Identifier::Ein(ein)));
        self.locations.extend(by_ein);
        self.rank_from(0, false);
        let is_found = self.ranked.first().is_some_and(|first| {
            first.score.reasons.contains(Reason::SameEin)
                && !first.score.reasons.contains(Reason::DifferentName)
        });
        if !is_found && !self.row.name.is_empty() {
            self.search(row);
        }
        self.ranked
            .sort_by_key(|ranked| (Reverse(ranked.score.points), ranked.order));
        let is_match = self.is_match();
        let candidates = self.ranked.iter().take(take).enumerate();
        candidates
            .map(|(index, ranked)| Candidate {
                location: ranked.location,
                score: ranked.score.points,
                reasons: ranked.score.reasons,
                is_match: index == 0 && is_match,
            })
            .collect()
    }

    fn prepare(&mut self, row: &Row<'_>) {
        self.row.ein = parse_ein(row.ein);
        self.row.name.set(cut(row.name, MAX_NAME_LENGTH));
        self.is_truncated = is_truncated(row.name);
        self.city.clear();
        // Lists abbreviate cities as the IRS files do, which are read in capital letters.
        self.city.push_str(&location::city(
            &cut(row.city, MAX_NAME_LENGTH).to_ascii_uppercase(),
        ));
        self.row.city.set(&self.city);
        self.row.domain.clear();
        self.row.domain.extend(parse_domain(row.website));
        self.row.state.clear();
        let state = state_code(row.state).unwrap_or_else(|| row.state.trim());
        self.row.state.push_str(cut(state, MAX_NAME_LENGTH));
        self.row.zip.clear();
        let digits = row.zip.trim().split('-').next().unwrap_or_default();
        if (3..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            // Spreadsheets drop leading zeros.
            self.row.zip.extend(std::iter::repeat_n('0', 5 - digits.len()));
            self.row.zip.push_str(digits);
        }
    }

    /// Finds candidates by name: in the place of the row, and everywhere if none of them is good.
    fn search(&mut self, row: &Row<'_>) {
        let is_placed = !self.row.state.is_empty() || !self.row.city.is_empty();
        self.text.clear();
        self.text.push_str(cut(row.name, MAX_NAME_LENGTH));
        // The name is complete, so its last word is not the beginning of a longer one.
        self.text.push(' ');
        if is_placed {
            self.search_in(&SearchFilter {
                state: Some(self.row.state.clone()).filter(|state| !state.is_empty()),
                city: (!self.row.city.is_empty()).then(|| self.city.clone()),
                ..SearchFilter::default()
            });
        } else if !self.row.zip.is_empty() {
            let length = self.text.len();
            self.text.push_str(&self.row.zip);
            self.search_in(&SearchFilter::default());
            self.text.truncate(length);
        }
        if !self.row.domain.is_empty() {
            let by_name = std::mem::replace(&mut self.text, self.row.domain.clone());
            self.search_in(&SearchFilter::default());
            self.text = by_name;
        }
        // The nonprofit with the EIN of the row does not count if its name is another.
        let has_name = |ranked: &&Ranked| !ranked.score.reasons.contains(Reason::DifferentName);
        let named = self.ranked.iter().filter(has_name);
        let best = named.map(|ranked| ranked.score.points).max();
        if best.is_none_or(|best| best < MATCH_SCORE) {
            self.search_in(&SearchFilter::default());
            self.search_former_names(row);
        }
    }

    /// Finds the nonprofit that had the name before: the URL of its page had it too.
    fn search_former_names(&mut self, row: &Row<'_>) {
        let start = self.locations.len();
        let name = cut(row.name, MAX_NAME_LENGTH);
        let slugs = Slug::candidates(name, &self.city, &self.row.state, None, Uuid::nil());
        let found = slugs.take(MAX_FORMER_SLUGS).filter_map(|slug| {
            let location = self.view.locate(&Identifier::Slug(slug.clone()))?;
            let nonprofit = self.view.nonprofit(location)?;
            (nonprofit.slug != slug.as_str()).then_some(location)
        });
        self.locations.extend(found);
        self.rank_from(start, true);
    }

    fn search_in(&mut self, filter: &SearchFilter) {
        let start = self.locations.len();
        self.view
            .append_locations(&self.text, SEARCH_LIMIT, filter, &mut self.locations);
        self.rank_from(start, false);
    }

    /// Ranks the locations from an index on, except those that were found before.
    fn rank_from(&mut self, start: usize, has_former_name: bool) {
        for index in start..self.locations.len() {
            let location = self.locations[index];
            if self.locations[..index].contains(&location) {
                continue;
            }
            let Some(nonprofit) = self.view.nonprofit(location) else {
                continue;
            };
            let score = score(&self.row, &nonprofit, has_former_name, &mut self.scratch);
            if score.name >= MIN_SIMILARITY || score.reasons.contains(Reason::SameEin) {
                self.ranked.push(Ranked {
                    location,
                    score,
                    order: (Reverse(nonprofit.prominence), nonprofit.id),
                });
            }
        }
    }

    /// Returns whether the first of the ranked candidates is certainly meant.
    fn is_match(&self) -> bool {
        let Some(Ranked {
            location,
            score: first,
            ..
        }) = self.ranked.first()
        else {
            return false;
        };
        // The name in the IRS files may be cut too.
        let is_cut_as_filed = || {
            let nonprofit = self.view.nonprofit(*location);
            nonprofit.is_some_and(|nonprofit| is_truncated(nonprofit.name))
        };
        let second = self.ranked.get(1).map_or(0, |ranked| ranked.score.points);
        let is_certain = if first.reasons.contains(Reason::SameEin) {
            self.row.name.is_empty() || first.name >= SIMILAR
        } else {
            let contradictions = [Reason::DifferentEin, Reason::DifferentState];
            (!self.is_truncated || is_cut_as_filed())
                && (first.name >= MATCH_SIMILARITY || first.has_words)
                && !contradictions
                    .iter()
                    .any(|reason| first.reasons.contains(*reason))
        };
        let lead = first.points.saturating_sub(second);
        let is_usual = first.points >= MATCH_SCORE
            && lead >= MATCH_LEAD
            && (first.name >= MATCH_SIMILARITY || first.reasons.contains(Reason::SameEin));
        is_certain && (is_usual || (first.points >= CLEAR_SCORE && lead >= CLEAR_LEAD))
    }
}

/// Returns whether a name ends where another word must follow.
fn is_truncated(name: &str) -> bool {
    let last = name.split_whitespace().next_back().unwrap_or_default();
    OPEN_ENDS.iter().any(|open| last.eq_ignore_ascii_case(open))
}

/// Parses an EIN as it is in lists: with or without a dash, or without its leading zero, which spreadsheets drop.
fn parse_ein(text: &str) -> Option<Ein> {
    let text = text.trim();
    Ein::parse_lenient(text).or_else(|| {
        let is_short = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_short.then(|| Ein::parse(&format!("0{text}"))).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_ends_with_a_preposition_was_cut() {
        for name in ["Mental Health Association Of", "Friends of the ", "Boys &"] {
            assert!(is_truncated(name), "{name}");
        }
        for name in ["", "Mental Health Association", "Friends of Offord", "The Arc"] {
            assert!(!is_truncated(name), "{name}");
        }
    }

    #[test]
    fn an_ein_may_have_a_dash_or_lack_its_leading_zero() {
        let expected = Ein::parse("020240383");
        for text in ["020240383", "02-0240383", " EIN 02-0240383 ", "20240383"] {
            assert_eq!(parse_ein(text), expected, "{text}");
        }
        for text in ["", "0240383", "n/a", "2024038x"] {
            assert_eq!(parse_ein(text), None, "{text}");
        }
    }
}
