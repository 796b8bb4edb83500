//! A nonprofit as an item of a list.

use crate::app::urls::Urls;
use crate::site::highlight::{Part, highlight};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::{Cause, Causes};
use platform::text::cut;

/// The maximum length of a description in characters.
const MAX_DESCRIPTION_CHARS: usize = 180;
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
    pub description: String,
    pub causes: Vec<&'a Cause>,
}

impl<'a> Card<'a> {
    /// Creates the item; matches of the search words in the name are highlighted.
    pub fn new(nonprofit: &Nonprofit<'a>, words: &[String], causes: &'a Causes) -> Card<'a> {
        let location = nonprofit.location();
        let description = nonprofit.description_without_chapter(&location).into_owned();
        let short = cut(&description, MAX_DESCRIPTION_CHARS);
        let is_cut = short.len() < description.len();
        Card {
            slug: nonprofit.slug,
            name: highlight(nonprofit.name, words),
            chapter: nonprofit.distinguishing_chapter(),
            logo: Urls::logo_path(nonprofit),
            location,
            description: if is_cut {
                format!("{short}…")
            } else {
                description
            },
            causes: causes.of_set(nonprofit.causes).take(MAX_CAUSES).collect(),
        }
    }
}
