//! Scores how well a nonprofit fits a row.
//!
//! The same EIN decides. Otherwise the name gives up to 70 points and the place up to 30: as much of them as agrees of
//! what the row says. Without a place, a name alone gives up to 90.

use super::names::{Comparison, EQUAL, NameWords};
use crate::nonprofits::Nonprofit;
use crate::nonprofits::ein::Ein;
use ::search::parse_domain;

/// The score of a nonprofit with the EIN of the row.
pub(crate) const MAX_SCORE: u32 = 100;
/// The score of a nonprofit with the EIN of the row and another name.
const EIN_WITH_OTHER_NAME: u32 = 90;
/// The maximum score of a nonprofit with another EIN than the row has.
const MAX_WITH_OTHER_EIN: u32 = 60;
const NAME_POINTS: u32 = 70;
const PLACE_POINTS: u32 = 30;
const NAME_POINTS_WITHOUT_PLACE: u32 = 90;
// What parts of a place count, relative to each other.
const STATE_WEIGHT: u32 = 10;
const CITY_WEIGHT: u32 = 12;
const ZIP_WEIGHT: u32 = 8;
const WEBSITE_WEIGHT: u32 = 8;
/// The similarity in percent from which names are similar.
pub(crate) const SIMILAR: u32 = 60;
/// The similarity in percent that a name found by another name loses: its first name is more likely to be meant.
const OTHER_NAME_DEDUCTION: u32 = 2;

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $text:literal,)*) => {
        /// A reason for or against a candidate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// All reasons, the most important first.
            pub const ALL: &[Reason] = &[$(Reason::$reason,)*];

            /// Returns the text for people.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Reason::$reason => $text,)*
                }
            }
        }
    };
}

reasons! {
    SameEin = "same EIN",
    DifferentEin = "different EIN",
    NameEqual = "name equal",
    /// One of its other names is equal: the legal name, the chapter or an alias.
    OtherNameEqual = "other name equal",
    /// A name that it had before.
    FormerNameEqual = "former name equal",
    NameSimilar = "name similar",
    DifferentName = "different name",
    SameWebsite = "same website",
    SameZip = "same ZIP code",
    SameCity = "same city",
    DifferentCity = "different city",
    SameState = "same state",
    DifferentState = "different state",
}

/// The reasons for and against a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons(u16);

impl Reasons {
    fn add(&mut self, reason: Reason) {
        self.0 |= 1 << reason as u16;
    }

    pub fn contains(self, reason: Reason) -> bool {
        self.0 >> reason as u16 & 1 == 1
    }

    /// Iterates over the reasons, the most important first.
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Reason::ALL
            .iter()
            .copied()
            .filter(move |reason| self.contains(*reason))
    }
}

/// What a row says, ready to be compared. Empty parts are unknown.
#[derive(Debug, Default)]
pub struct PreparedRow {
    pub ein: Option<Ein>,
    pub name: NameWords,
    pub city: NameWords,
    pub state: String,
    /// The first five digits.
    pub zip: String,
    /// The domain of the website.
    pub domain: String,
}

/// Buffers for the words of candidates.
#[derive(Debug, Default)]
pub struct Scratch {
    name: NameWords,
    city: NameWords,
}

/// The score of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// From 0 to 100.
    pub points: u32,
    /// The similarity of the names in percent.
    pub name: u32,
    /// Whether the nonprofit has all words of the row, and at most one that the row lacks.
    pub has_words: bool,
    pub reasons: Reasons,
}

/// Scores a nonprofit, which may have been found by a former name that is that of the row.
pub fn score(
    row: &PreparedRow,
    nonprofit: &Nonprofit<'_>,
    has_former_name: bool,
    scratch: &mut Scratch,
) -> Score {
    let mut reasons = Reasons::default();
    let compared = if has_former_name {
        reasons.add(Reason::FormerNameEqual);
        Comparison {
            similarity: EQUAL - OTHER_NAME_DEDUCTION,
            ..Comparison::default()
        }
    } else {
        compare_names(row, nonprofit, scratch, &mut reasons)
    };
    let name = compared.similarity;
    let place = place_points(row, nonprofit, scratch, &mut reasons);
    let by_name = match place {
        Some(place) => (name * NAME_POINTS + 50) / EQUAL + place,
        None => (name * NAME_POINTS_WITHOUT_PLACE + 50) / EQUAL,
    };
    let points = match (row.ein, nonprofit.ein) {
        (Some(ein), Some(own)) if ein == own => {
            reasons.add(Reason::SameEin);
            if row.name.is_empty() || name >= SIMILAR {
                MAX_SCORE
            } else {
                EIN_WITH_OTHER_NAME
            }
        }
        (Some(_), Some(_)) => {
            reasons.add(Reason::DifferentEin);
            by_name.min(MAX_WITH_OTHER_EIN)
        }
        _ => by_name,
    };
    Score {
        points,
        name,
        has_words: compared.only_here == 0 && compared.only_there <= 1,
        reasons,
    }
}

/// Compares the name with the best of the names of a nonprofit.
fn compare_names(
    row: &PreparedRow,
    nonprofit: &Nonprofit<'_>,
    scratch: &mut Scratch,
    reasons: &mut Reasons,
) -> Comparison {
    if row.name.is_empty() {
        return Comparison::default();
    }
    let mut compare = |name: &str| {
        scratch.name.set(name);
        row.name.compare(&scratch.name)
    };
    let first = compare(nonprofit.name);
    if first.similarity == EQUAL {
        reasons.add(Reason::NameEqual);
        return first;
    }
    let others = [nonprofit.legal_name, nonprofit.chapter];
    let others = others.into_iter().chain(nonprofit.aliases.lines());
    let mut other = others
        .filter(|name| !name.is_empty())
        .map(&mut compare)
        .max_by_key(|other| other.similarity)
        .unwrap_or_default();
    if other.similarity < EQUAL && !nonprofit.chapter.is_empty() {
        // Lists name a chapter after its organization.
        let both = compare(&[nonprofit.name, " ", nonprofit.chapter].concat());
        if both.similarity > other.similarity {
            other = both;
        }
    }
    let is_equal = other.similarity == EQUAL;
    if is_equal {
        reasons.add(Reason::OtherNameEqual);
    }
    other.similarity = other.similarity.saturating_sub(OTHER_NAME_DEDUCTION);
    let best = if first.similarity >= other.similarity {
        first
    } else {
        other
    };
    if best.similarity < SIMILAR {
        reasons.add(Reason::DifferentName);
    } else if !is_equal {
        reasons.add(Reason::NameSimilar);
    }
    best
}

/// Returns the points for the place. `None` if the row has none.
fn place_points(
    row: &PreparedRow,
    nonprofit: &Nonprofit<'_>,
    scratch: &mut Scratch,
    reasons: &mut Reasons,
) -> Option<u32> {
    let (mut given, mut same) = (0, 0);
    if !row.state.is_empty() {
        given += STATE_WEIGHT;
        if nonprofit.state.eq_ignore_ascii_case(&row.state) {
            same += STATE_WEIGHT;
            reasons.add(Reason::SameState);
        } else {
            reasons.add(Reason::DifferentState);
        }
    }
    if !row.city.is_empty() {
        given += CITY_WEIGHT;
        scratch.city.set(nonprofit.city);
        if row.city.similarity(&scratch.city) >= 85 {
            same += CITY_WEIGHT;
            reasons.add(Reason::SameCity);
        } else {
            reasons.add(Reason::DifferentCity);
        }
    }
    if !row.zip.is_empty() {
        given += ZIP_WEIGHT;
        if nonprofit.zip.starts_with(&row.zip) {
            same += ZIP_WEIGHT;
            reasons.add(Reason::SameZip);
        } else if row
            .zip
            .get(..3)
            .is_some_and(|area| nonprofit.zip.starts_with(area))
        {
            same += ZIP_WEIGHT / 2;
        }
    }
    let is_same_site = || {
        let own = nonprofit.website_url.and_then(parse_domain);
        own.is_some_and(|own| own == row.domain)
    };
    if !row.domain.is_empty() {
        if is_same_site() {
            given += WEBSITE_WEIGHT;
            same += WEBSITE_WEIGHT;
            reasons.add(Reason::SameWebsite);
        } else if given > 0 {
            // Many websites are unknown, so another one says nothing by itself, but less than the same one.
            given += WEBSITE_WEIGHT;
        }
    }
    (given > 0).then(|| PLACE_POINTS * same / given)
}
