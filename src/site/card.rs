//! A nonprofit as one of many on a page.

use crate::app::urls::Urls;
use crate::site::marked::{Part, mark};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::{Cause, Causes};
use platform::text::cut;

/// Characters of a description.
const LONGEST: usize = 180;
/// Causes that are named.
const MOST_CAUSES: usize = 3;

/// What a list shows of it; drawn by `nonprofits/card.html`.
#[derive(Debug)]
pub struct Card<'a> {
    pub slug: &'a str,
    pub name: Vec<Part<'a>>,
    /// The chapter, where it tells this one apart from others of its name.
    pub chapter: Option<&'a str>,
    pub logo: String,
    pub location: String,
    pub description: String,
    pub causes: Vec<&'a Cause>,
}

impl<'a> Card<'a> {
    /// `words` are those that were searched for.
    pub fn new(nonprofit: &Nonprofit<'a>, words: &[String], causes: &'a Causes) -> Card<'a> {
        let location = nonprofit.location();
        let description = nonprofit.description_without_chapter(&location).into_owned();
        let short = cut(&description, LONGEST);
        let is_cut = short.len() < description.len();
        Card {
            slug: nonprofit.slug,
            name: mark(nonprofit.name, words),
            chapter: nonprofit.distinguishing_chapter(),
            logo: Urls::logo_path(nonprofit),
            location,
            description: if is_cut {
                format!("{short}…")
            } else {
                description
            },
            causes: causes.of_set(nonprofit.causes).take(MOST_CAUSES).collect(),
        }
    }
}
