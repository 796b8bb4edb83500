//! The nonprofit: its identifiers, readable name and location, IRS facts, causes and prominence.

pub mod aliases;
pub(crate) mod assemble;
pub mod bulk;
pub(crate) mod capitalization;
mod cause_rules;
pub mod cause_set;
pub mod causes;
mod chapter;
pub(crate) mod describe;
pub mod ein;
pub mod filing;
pub mod identifier;
pub mod irs;
pub(crate) mod kinds;
pub mod lists;
pub mod location;
pub mod name;
pub mod ntee;
pub mod own_fields;
pub(crate) mod position;
pub(crate) mod precedence;
pub mod prominence;
pub mod rows;
pub mod sentence;
pub mod size;
pub mod slug;
pub mod sources;
pub mod store;
pub mod tax_facts;
pub(crate) mod tax_record;
pub mod web_url;
pub mod zip_codes;

use cause_set::CauseSet;
use ein::Ein;
use irs::IrsFacts;
use ntee::Ntee;
use platform::ids::NonprofitId;
use std::borrow::Cow;
use tax_facts::TaxFacts;

/// Everything known about one nonprofit, borrowed from its record.
///
/// Combines what the IRS files say with the profile; see [`assemble`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub struct Nonprofit<'a> {
    pub id: NonprofitId,
    /// Foreign organizations may have none.
    pub ein: Option<Ein>,
    pub slug: &'a str,
    pub name: &'a str,
    /// The name in the IRS files, in readable form. Empty if it is the same as `name`.
    pub legal_name: &'a str,
    /// The second name line in the IRS files, such as a chapter, a lodge or a trade name. May be empty.
    pub chapter: &'a str,
    /// Other names, one per line.
    pub aliases: &'a str,
    pub city: &'a str,
    /// Two letters; empty outside the United States.
    pub state: &'a str,
    pub zip: &'a str,
    pub country: &'a str,
    pub ntee: Option<Ntee>,
    pub causes: CauseSet,
    /// `None` if the IRS files never listed the nonprofit.
    pub facts: Option<IrsFacts>,
    /// What the other files of the IRS say.
    pub tax: TaxFacts,
    /// The description in the profile or in a return. Without one, [`Nonprofit::description`] generates one from the facts.
    pub own_description: Option<&'a str>,
    pub description_long: Option<&'a str>,
    /// The texts of the programs in the latest return, one per line. Only search reads them.
    pub programs: &'a str,
    pub website_url: Option<&'a str>,
    /// Whether the website is the one in a file of the IRS. Search ranks it below the others.
    pub is_website_filed: bool,
    pub logo: Option<&'a str>,
    pub cover: Option<&'a str>,
    /// Whether it consents to be listed and to receive donations through this site.
    pub has_consented: bool,
    /// Whether it receives no donations, at its own request.
    pub is_closed: bool,
    /// When an import first found it missing from the IRS files, in milliseconds since 1970.
    pub gone_at: Option<i64>,
    /// The sort key of lists; see [`prominence`].
    pub prominence: u32,
    /// Whether a list or an operator stops donations to it, whatever its record says; see
    /// [`eligibility`](crate::eligibility).
    pub is_held: bool,
}

impl<'a> Nonprofit<'a> {
    /// Returns whether the nonprofit can receive donations. One that is no longer in the IRS files, whose tax exemption
    /// was revoked that a required list stops, or that does not want any
    /// cannot.
    #[inline]
    pub fn is_disbursable(&self) -> bool {
        !self.is_closed && self.can_be_paid()
    }

    /// Returns whether it can be paid what was given to it. It can also if it receives no donations at its own request.
    pub fn can_be_paid(&self) -> bool {
        !self.is_held
            && self.gone_at.is_none()
            && !self.tax.is_revoked()
            && self.facts.is_some_and(|facts| facts.is_disbursable())
    }

    /// Returns whether donations are tax-deductible. Publication 78 does not decide, because it never lists the
    /// subordinates of a group.
    pub fn is_deductible(&self) -> bool {
        self.gone_at.is_none()
            && !self.tax.is_revoked()
            && self.facts.is_some_and(|facts| facts.is_deductible())
    }

    /// Returns the yearly revenue in dollars: that of the latest return, or else that in the master file.
    pub fn revenue(&self) -> Option<i64> {
        let latest = self.tax.latest_return.and_then(|latest| latest.revenue);
        latest.or_else(|| self.facts?.revenue)
    }

    /// Returns the location as one line.
    pub fn location(&self) -> String {
        match (self.city, self.state, self.country) {
            (city, state, "") if !state.is_empty() && !city.is_empty() => [city, ", ", state].concat(),
            (city, state, country) => location::location_line(city, state, country),
        }
    }

    /// Returns the chapter, if it distinguishes the nonprofit from others with the same name.
    pub fn distinguishing_chapter(&self) -> Option<&'a str> {
        let in_group = self.facts.is_some_and(|facts| facts.group != 0);
        chapter::distinguishing(self.chapter, self.name, self.city, in_group)
    }

    /// Returns the short description: the one in the profile or in a return, or one generated from the facts that
    /// starts with the chapter.
    ///
    /// `location` is [`Nonprofit::location`], which most callers need anyway.
    pub fn description(&self, location: &str) -> Cow<'a, str> {
        match self.own_description {
            Some(own) => Cow::Borrowed(own),
            None => Cow::Owned(self.describe(self.distinguishing_chapter(), location)),
        }
    }

    fn describe(&self, chapter: Option<&str>, location: &str) -> String {
        let latest = self.tax.latest_return;
        let facts = self.facts.map(|facts| match latest {
            Some(latest) if latest.is_private_foundation => facts.as_private_foundation(),
            _ => facts,
        });
        describe::describe(chapter, facts.as_ref(), self.ntee, location)
    }
}
