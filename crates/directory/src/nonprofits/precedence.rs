//! Which of several statements about a nonprofit is shown: what it says itself comes before what an operator imported, that
//! before what the IRS published, and the newer before the older.
//!
//! Only this module decides, both for the record of a nonprofit and for the sources of its fields. The record holds the
//! values; the sources are read from the store when they are requested.

use super::filing::Filing;
use super::own_fields::OwnField;
use super::rows::Profile;
use super::tax_record::TaxRecord;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The nonprofit itself.
    Nonprofit,
    /// A file that an operator imported.
    Operator,
    /// A return of Form 990, 990-EZ or 990-PF.
    Return,
    /// Form 990-N.
    Epostcard,
    /// The master file.
    MasterFile,
}

/// A value and where it comes from.
pub(crate) type Stated<T> = (T, Origin);

/// All that is stated about a nonprofit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statements<'a> {
    pub filing: Filing<'a>,
    /// Whether the filing comes from the master file, and not from an operator.
    pub is_listed: bool,
    pub profile: Option<&'a Profile>,
    pub tax_record: TaxRecord<'a>,
}

impl<'a> Statements<'a> {
    /// Returns a text of the profile, unless it is empty.
    pub(crate) fn in_profile(&self, field: fn(&Profile) -> &Option<String>) -> Option<&'a str> {
        let text = self.profile.and_then(|profile| field(profile).as_deref());
        text.filter(|text| !text.is_empty())
    }

    fn by_operator(&self, field: fn(&Profile) -> &Option<String>) -> Option<Stated<&'a str>> {
        self.in_profile(field).map(|text| (text, Origin::Operator))
    }

    /// Returns a text that the nonprofit or an operator stated.
    fn by_either(&self, own: OwnField, field: fn(&Profile) -> &Option<String>) -> Option<Stated<&'a str>> {
        let text = self.in_profile(field)?;
        Some((text, self.profile_origin(own)))
    }

    /// Returns the origin of a field of the profile.
    pub(crate) fn profile_origin(&self, own: OwnField) -> Origin {
        if self.is_own(own) {
            Origin::Nonprofit
        } else {
            Origin::Operator
        }
    }

    /// Returns the origin of what the filing says.
    pub(crate) fn filing_origin(&self) -> Origin {
        if self.is_listed {
            Origin::MasterFile
        } else {
            Origin::Operator
        }
    }

    /// Returns the display name, or `None` if it is the legal name. A return decides only which letters are capitals,
    /// because a return may have the name of another unit of the nonprofit.
    pub(crate) fn name(&self) -> Option<Stated<&'a str>> {
        let name = self.tax_record.name;
        let is_same = self.is_listed && !name.is_empty() && name.eq_ignore_ascii_case(self.filing.name);
        self.by_operator(|profile| &profile.name)
            .or_else(|| is_same.then_some((name, Origin::Return)))
    }

    /// Returns the short description, or `None` if one has to be generated.
    pub(crate) fn description(&self) -> Option<Stated<&'a str>> {
        self.by_either(OwnField::Description, |profile| &profile.description)
            .or_else(|| in_return(self.tax_record.description))
    }

    /// Returns the long description.
    pub(crate) fn description_long(&self) -> Option<Stated<&'a str>> {
        self.by_either(OwnField::Mission, |profile| &profile.description_long)
            .or_else(|| in_return(self.tax_record.description_long))
    }

    /// Returns the website that is shown.
    pub(crate) fn website_url(&self) -> Option<Stated<&'a str>> {
        self.by_either(OwnField::Website, |profile| &profile.website_url)
            .or_else(|| self.filed_website())
    }

    /// Returns the website in the files of the IRS: of Form 990 and Form 990-N, that of the later period.
    pub(crate) fn filed_website(&self) -> Option<Stated<&'a str>> {
        let (in_return, return_period) = self.tax_record.return_website;
        let (in_epostcard, epostcard_period) = self.tax_record.epostcard_website;
        let is_in_return =
            !in_return.is_empty() && (in_epostcard.is_empty() || return_period >= epostcard_period);
        let filed = if is_in_return {
            (in_return, Origin::Return)
        } else {
            (in_epostcard, Origin::Epostcard)
        };
        Some(filed).filter(|(url, _)| !url.is_empty())
    }

    /// Returns the text of a field that a nonprofit can write itself, as it is shown.
    pub(crate) fn of_field(&self, field: OwnField) -> Option<String> {
        let text = match field {
            OwnField::Description => self.description(),
            OwnField::Mission => self.description_long(),
            OwnField::Website => self.website_url(),
            OwnField::Causes => self.by_either(field, |profile| &profile.causes),
            OwnField::Logo => self.by_either(field, |profile| &profile.logo),
            OwnField::Cover => self.by_either(field, |profile| &profile.cover),
            OwnField::Thanks | OwnField::Consent | OwnField::Closed => None,
        };
        text.map(|(text, _)| text.to_owned())
    }

    /// Returns whether the nonprofit itself states something.
    pub(crate) fn is_own(&self, field: OwnField) -> bool {
        self.profile.is_some_and(|profile| profile.own.contains(field))
    }

    /// Returns the latest revenue known, in dollars: that of the return, unless the master file has one of a later period
    /// or an operator stated one.
    pub(crate) fn revenue(&self) -> Option<Stated<i64>> {
        let facts = self.filing.facts.unwrap_or_default();
        let filed = facts.revenue.map(|dollars| (dollars, self.filing_origin()));
        if filed.is_some() && !self.is_listed {
            return filed;
        }
        let latest = self.tax_record.facts.latest_return;
        let latest = latest.filter(|latest| latest.period >= facts.tax_period || filed.is_none());
        let in_return = latest.and_then(|latest| latest.revenue);
        in_return.map(|dollars| (dollars, Origin::Return)).or(filed)
    }
}

fn in_return(text: &str) -> Option<Stated<&str>> {
    (!text.is_empty()).then_some((text, Origin::Return))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonprofits::irs::IrsFacts;
    use crate::nonprofits::tax_facts::{LatestReturn, TaxFacts};

    fn statements<'a>(tax_record: TaxRecord<'a>, profile: Option<&'a Profile>) -> Statements<'a> {
        Statements {
            filing: Filing {
                name: "FOOD FOR ALL MCKINNEY",
                facts: Some(IrsFacts {
                    tax_period: 202_212,
                    revenue: Some(100),
                    ..IrsFacts::default()
                }),
                ..Filing::default()
            },
            is_listed: true,
            profile,
            tax_record,
        }
    }

    fn with_return(period: u32, revenue: Option<i64>) -> TaxRecord<'static> {
        TaxRecord {
            facts: TaxFacts {
                latest_return: Some(LatestReturn {
                    period,
                    revenue,
                    ..LatestReturn::default()
                }),
                ..TaxFacts::default()
            },
            ..TaxRecord::default()
        }
    }

    #[test]
    fn an_operator_comes_before_the_irs() {
        let profile = Profile {
            description: Some("Ours.".to_owned()),
            description_long: Some(String::new()),
            website_url: Some("https://ours.example".to_owned()),
            ..Profile::default()
        };
        let record = TaxRecord {
            description: "Theirs.",
            description_long: "All of it.",
            return_website: ("https://theirs.example", 202_312),
            ..TaxRecord::default()
        };
        let both = statements(record, Some(&profile));
        assert_eq!(both.description(), Some(("Ours.", Origin::Operator)));
        assert_eq!(both.description_long(), Some(("All of it.", Origin::Return)));
        assert_eq!(
            both.website_url(),
            Some(("https://ours.example", Origin::Operator))
        );
        let filed = statements(record, None);
        assert_eq!(filed.description(), Some(("Theirs.", Origin::Return)));
        assert_eq!(statements(TaxRecord::default(), None).description(), None);
    }

    #[test]
    fn the_website_of_the_later_period_is_shown() {
        let of = |in_return, in_epostcard| {
            let record = TaxRecord {
                return_website: in_return,
                epostcard_website: in_epostcard,
                ..TaxRecord::default()
            };
            statements(record, None).website_url()
        };
        let (a, b) = ("https://a.example", "https://b.example");
        assert_eq!(of((a, 202_306), (b, 202_312)), Some((b, Origin::Epostcard)));
        assert_eq!(of((a, 202_312), (b, 202_312)), Some((a, Origin::Return)));
        assert_eq!(of((a, 202_306), ("", 202_312)), Some((a, Origin::Return)));
        assert_eq!(of(("", 202_406), (b, 202_312)), Some((b, Origin::Epostcard)));
        assert_eq!(of(("", 0), ("", 0)), None);
    }

    #[test]
    fn a_return_decides_only_the_capitals_of_a_name() {
        let of = |name| {
            let record = TaxRecord {
                name,
                ..TaxRecord::default()
            };
            statements(record, None).name()
        };
        assert_eq!(
            of("Food for ALL McKinney"),
            Some(("Food for ALL McKinney", Origin::Return))
        );
        assert_eq!(of("Food for Everyone"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn the_revenue_of_the_later_period_is_the_latest() {
        let of = |record| statements(record, None).revenue();
        assert_eq!(of(with_return(202_312, Some(7))), Some((7, Origin::Return)));
        assert_eq!(of(with_return(202_212, Some(7))), Some((7, Origin::Return)));
        assert_eq!(of(with_return(202_112, Some(7))), Some((100, Origin::MasterFile)));
        assert_eq!(of(with_return(202_312, None)), Some((100, Origin::MasterFile)));
        let unlisted = Statements {
            is_listed: false,
            ..statements(with_return(202_312, Some(7)), None)
        };
        assert_eq!(unlisted.revenue(), Some((100, Origin::Operator)));
    }
}
