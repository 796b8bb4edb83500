//! Tells why an EIN is not in the directory: it was revoked, it is too new, or the IRS files do not have it.

use crate::eligibility::business_days::day_of;
use crate::eligibility::{Check, CheckResult, Outcome, Standings, Verdict};
use crate::history::imports::LastImports;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::store::{self, Filings};
use crate::nonprofits::tax_facts::{Day, Revocation};
use crate::snapshot::view::View;
use platform::clock::rfc3339;
use platform::db::Db;
use std::borrow::Cow;

/// What is known about an EIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EinStatus {
    pub ein: Ein,
    pub listing: Listing,
    /// The newest revocation of its tax exemption.
    pub revocation: Option<Revocation>,
    /// When the master file was last imported, in milliseconds since 1970.
    pub as_of: Option<i64>,
}

/// Whether an EIN is in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// It is.
    Listed,
    /// It was, until an import at this time, in milliseconds since 1970.
    Gone(i64),
    /// Other files of the IRS have it, but not yet the master file.
    TooNew,
    /// No file has it.
    NotListed,
}

impl EinStatus {
    /// Finds what is known about an EIN.
    pub async fn find(db: &Db, view: &View, imports: &LastImports, ein: Ein) -> sqlx::Result<EinStatus> {
        let found = view
            .find(&Identifier::Ein(ein))
            .map(|nonprofit| nonprofit.gone_at);
        let filings = store::find_filings(db, ein).await?;
        let last = imports.of_kind("irs").or(imports.0.last());
        Ok(EinStatus {
            ein,
            listing: Listing::new(found, &filings),
            revocation: revocation(&filings),
            as_of: last.map(|import| import.finished_at),
        })
    }

    /// Returns the verdict about an EIN that the directory does not have.
    pub fn verdict(&self, standings: &Standings, now: i64) -> Verdict {
        let ein = Some(self.ein.value());
        let revoked_on = self.revoked_on();
        let reason: Cow<'static, str> = match (self.listing, revoked_on) {
            (_, Some(day)) => {
                format!("The IRS files do not list this EIN: its tax exemption was revoked on {day}").into()
            }
            (Listing::TooNew, None) => {
                "The master file of the IRS does not list this EIN yet; other files of the IRS do".into()
            }
            (Listing::Gone(at), None) => format!(
                "The IRS files no longer list this EIN since {}",
                &rfc3339(at)[..10]
            )
            .into(),
            (Listing::Listed | Listing::NotListed, None) => {
                "No file of the IRS lists this EIN; check the number".into()
            }
        };
        let unknown = "Only an EIN in the directory can be checked";
        let listed = CheckResult {
            source: standings.source(Check::IrsListed),
            ..CheckResult::new(Check::IrsListed, Outcome::Fail, reason)
        };
        let revocation = match revoked_on {
            Some(day) => CheckResult {
                since: day.date(),
                source: standings.source(Check::IrsNotRevoked),
                ..CheckResult::new(
                    Check::IrsNotRevoked,
                    Outcome::Fail,
                    "The IRS revoked its tax exemption",
                )
            },
            None => CheckResult::new(Check::IrsNotRevoked, Outcome::Unknown, unknown),
        };
        let checks = vec![
            listed,
            CheckResult::new(Check::IrsDeductible, Outcome::Unknown, unknown),
            revocation,
            standings.listed(Check::CaliforniaRegistry, ein, now),
            standings.listed(Check::CaliforniaTaxBoard, ein, now),
            standings.listed(Check::Sanctions, ein, now),
            standings.operator(ein),
        ];
        Verdict::new(checks, &standings.settings, day_of(now))
    }

    /// Returns since when the tax exemption is revoked, if it was not reinstated.
    pub fn revoked_on(&self) -> Option<Day> {
        let revocation = self
            .revocation
            .filter(|revocation| revocation.reinstated_on.is_none());
        revocation.map(|revocation| revocation.revoked_on)
    }
}

impl Listing {
    /// `found` is when the nonprofit with this EIN went missing, if there is one.
    fn new(found: Option<Option<i64>>, filings: &Filings) -> Listing {
        match found {
            Some(None) => Listing::Listed,
            Some(Some(gone_at)) => Listing::Gone(gone_at),
            None if filings.is_in_other_files && filings.revoked_on.is_none() => Listing::TooNew,
            None => Listing::NotListed,
        }
    }
}

fn revocation(filings: &Filings) -> Option<Revocation> {
    Some(Revocation {
        revoked_on: Day::parse(filings.revoked_on.as_deref()?)?,
        reinstated_on: filings.reinstated_on.as_deref().and_then(Day::parse),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ein_in_other_files_alone_is_too_new_unless_it_was_revoked() {
        let new = Filings {
            is_in_other_files: true,
            ..Filings::default()
        };
        let revoked = Filings {
            revoked_on: Some("2015-05-15".to_owned()),
            ..new.clone()
        };
        assert_eq!(Listing::new(None, &new), Listing::TooNew);
        assert_eq!(Listing::new(None, &revoked), Listing::NotListed);
        assert_eq!(Listing::new(None, &Filings::default()), Listing::NotListed);
        assert_eq!(Listing::new(Some(None), &new), Listing::Listed);
        assert_eq!(Listing::new(Some(Some(7)), &new), Listing::Gone(7));
        assert_eq!(
            revocation(&revoked).unwrap().revoked_on,
            Day::parse("2015-05-15").unwrap()
        );
    }
}
