//! A nonprofit as an item of a list.

use crate::app::urls::Urls;
use crate::site::highlight::{Part, highlight};
use crate::site::profile::facts::format_dollars_short;
use crate::site::snippet;
use crate::web::texts::{PUBLIC_EN, SearchTexts, fill};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::{Cause, Causes};

const MAX_CAUSES: usize = 3;

/// An item of a list of nonprofits; `site/card.html` renders it.
#[derive(Debug)]
pub struct Card<'a> {
    pub slug: &'a str,
    pub name: Vec<Part<'a>>,
    /// The chapter, if it distinguishes this nonprofit from others of the same name.
    pub chapter: Option<&'a str>,
    pub logo: String,
    pub location: String,
    /// How far away it is, if the list is one of nonprofits near a place.
    pub distance: Option<String>,
    /// The yearly revenue, which tells nonprofits of the same name apart.
    pub size: Option<String>,
    /// What the nonprofit does, in its own words or those of its return: the part that a search found, or the start. Empty
    /// if only codes are known: the other fields show what those mean.
    pub description: Vec<Part<'a>>,
    pub causes: Vec<&'a Cause>,
}

impl<'a> Card<'a> {
    /// Creates the item; matches of the search words in the name and in the mission are highlighted.
    pub fn new(nonprofit: &Nonprofit<'a>, words: &[String], causes: &'a Causes) -> Card<'a> {
        let location = nonprofit.location();
        let revenue = nonprofit.revenue().filter(|revenue| *revenue > 0);
        let size = revenue.map(|revenue| {
            let amount = format_dollars_short(revenue, &PUBLIC_EN.profile);
            fill(PUBLIC_EN.search.revenue, &[("amount", &amount)])
        });
        Card {
            slug: nonprofit.slug,
            name: highlight(nonprofit.name, words),
            chapter: nonprofit.distinguishing_chapter(),
            logo: Urls::logo_path(nonprofit),
            location,
            distance: None,
            size,
            description: snippet::describe(nonprofit, words),
            causes: causes.of_set(nonprofit.causes).take(MAX_CAUSES).collect(),
        }
    }

    /// Adds how far away the nonprofit is.
    #[must_use]
    pub fn at_distance(mut self, miles: Option<f64>, t: &SearchTexts) -> Card<'a> {
        // ZIP codes are a few miles wide, so more digits would say more than is known.
        self.distance = miles.map(|miles| match miles.round() {
            miles if miles < 1.0 => t.distance_none.to_owned(),
            miles if miles < 2.0 => t.distance_one.to_owned(),
            miles => fill(t.distance, &[("miles", &miles.to_string())]),
        });
        self
    }
}
