//! What a nonprofit is: its identifiers, its readable name and place, what the IRS says of it, its causes.

pub mod aliases;
pub mod assemble;
pub mod capitalization;
mod cause_rules;
pub mod cause_set;
pub mod causes;
mod chapter;
pub mod describe;
pub mod ein;
pub mod filing;
pub mod identifier;
pub mod irs;
pub mod location;
pub mod name;
pub mod ntee;
pub mod prominence;
pub mod rows;
pub mod slug;
pub mod store;

use cause_set::CauseSet;
use ein::Ein;
use irs::IrsFacts;
use ntee::Ntee;
use platform::ids::NonprofitId;
use std::borrow::Cow;

/// All that is known of one nonprofit, borrowed from wherever it is kept.
///
/// What the IRS filed and what people told us beyond it are one here; see [`assemble`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nonprofit<'a> {
    pub id: NonprofitId,
    /// A foreign body may have none.
    pub ein: Option<Ein>,
    pub slug: &'a str,
    pub name: &'a str,
    /// The name on file, readable, where it differs from `name`; else empty.
    pub legal_name: &'a str,
    /// The second name line on file: a chapter, a lodge, a trade name; or empty.
    pub chapter: &'a str,
    /// Other names, one a line.
    pub aliases: &'a str,
    pub city: &'a str,
    /// Two letters; empty outside the United States.
    pub state: &'a str,
    pub zip: &'a str,
    pub country: &'a str,
    pub ntee: Option<Ntee>,
    pub causes: CauseSet,
    /// Nothing, where no file of the IRS ever named it.
    pub facts: Option<IrsFacts>,
    /// As told to us; without one, [`Nonprofit::description`] makes one from the facts.
    pub own_description: Option<&'a str>,
    pub description_long: Option<&'a str>,
    pub website_url: Option<&'a str>,
    pub logo: Option<&'a str>,
    pub cover: Option<&'a str>,
    /// When it left the files of the IRS, in milliseconds.
    pub gone_at: Option<i64>,
    /// By which lists are ordered; see [`prominence`].
    pub prominence: u32,
}

impl<'a> Nonprofit<'a> {
    /// May gifts be passed on to it? A body that left the files of the IRS gets none.
    #[inline]
    pub fn is_disbursable(&self) -> bool {
        self.gone_at.is_none() && self.facts.is_some_and(|facts| facts.is_disbursable())
    }

    /// City and state, as one line.
    pub fn location(&self) -> String {
        match (self.city, self.state, self.country) {
            (city, state, "") if !state.is_empty() && !city.is_empty() => [city, ", ", state].concat(),
            (city, state, country) => location::location_line(city, state, country),
        }
    }

    /// The chapter, where it tells this one apart from others of its name.
    pub fn distinguishing_chapter(&self) -> Option<&'a str> {
        let in_group = self.facts.is_some_and(|facts| facts.group != 0);
        chapter::distinguishing(self.chapter, self.name, self.city, in_group)
    }

    /// The short description: its own, or a sentence from the facts, with the chapter before it. `location` is
    /// [`Nonprofit::location`], which most callers need anyway.
    pub fn description(&self, location: &str) -> Cow<'a, str> {
        match self.own_description {
            Some(own) => Cow::Borrowed(own),
            None => Cow::Owned(self.describe(self.distinguishing_chapter(), location)),
        }
    }

    /// The same where the chapter has a line of its own.
    pub fn description_without_chapter(&self, location: &str) -> Cow<'a, str> {
        match self.own_description {
            Some(own) => Cow::Borrowed(own),
            None => Cow::Owned(self.describe(None, location)),
        }
    }

    fn describe(&self, chapter: Option<&str>, location: &str) -> String {
        describe::describe(chapter, self.facts.as_ref(), self.ntee, location)
    }
}
