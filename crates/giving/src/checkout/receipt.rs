//! The receipt of a donation, shown on a page and sent by email, with what tax authorities require.

use super::Donation;
use crate::ledger::entry::Mode;
use crate::ledger::store;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::own_fields::store::find_thanks;
use directory::{Directory, NonprofitRef};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use platform::db::Db;
use platform::ids::NonprofitId;
use platform::mail::{Email, EmailText};
use platform::money::Cents;
use platform::public_url::PublicUrl;
use std::fmt::Write;

/// The statement that the IRS asks for in every receipt of $250 or more.
pub const NO_GOODS_OR_SERVICES: &str =
    "No goods or services were provided in exchange for this contribution.";

/// The sentence about taxes, if donations are made to the nonprofit that runs the site.
pub const DONEE_IS_CHARITY: &str =
    "It is a 501(c)(3) organization. Contributions to it are tax-deductible to the extent allowed by law.";

/// What the ledger says about a donation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What people can read to each other, such as `2026-000123`.
    pub number: String,
    /// The date on which it was paid, in the time zone of the operator, such as November 17, 2026.
    pub date: String,
    /// The nonprofit to which it was made, if that passes it on to the others.
    pub donee: Option<Donee>,
    /// Its parts, one for each nonprofit.
    pub shares: Vec<Share>,
}

/// A nonprofit to which donations are made, and which passes them on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Donee {
    pub legal_name: String,
    pub ein: Ein,
    pub address: String,
}

impl Donee {
    /// Returns the EIN as the IRS writes it, such as 53-0196605.
    pub fn formatted_ein(&self) -> String {
        self.ein.dashed()
    }
}

/// The part of a donation that one nonprofit receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub amount: Cents,
    /// The name in the files of the IRS.
    pub legal_name: String,
    pub ein: Option<Ein>,
    /// City, state and ZIP code.
    pub address: String,
    pub is_deductible: bool,
    /// What the nonprofit says to its donors.
    pub thanks: Option<String>,
}

impl Receipt {
    /// Reads the receipt of a donation whose ledger entry is `entry`. `recipient` is the nonprofit to which donations by Stripe are
    /// made.
    pub async fn find(
        db: &Db,
        directory: &Directory,
        (time_zone, recipient): (&TimeZone, Option<&Donee>),
        donation: &Donation,
        entry: i64,
    ) -> sqlx::Result<Option<Receipt>> {
        let Some(recorded_at) = store::find_recorded_at(db, entry).await? else {
            return Ok(None);
        };
        let paid_at = donation.payment.paid_at.unwrap_or(recorded_at);
        let mut shares = Vec::new();
        for (id, amount) in store::list_shares(db, entry).await? {
            let thanks = find_thanks(db, id).await?;
            shares.push(Share {
                thanks,
                ..share(directory, id, amount).await?
            });
        }
        Ok(Some(Receipt {
            number: number(entry, paid_at, time_zone),
            date: format_date(paid_at, time_zone),
            donee: recipient
                .filter(|_| donation.provider == crate::providers::stripe::NAME && donation.account.is_none())
                .cloned(),
            shares,
        }))
    }
}

/// Returns the number of the receipt of a donation: the year in which it was paid, and the number of its entry in the ledger,
/// which no other donation has.
pub(crate) fn number(entry: i64, paid_at: i64, time_zone: &TimeZone) -> String {
    let time = Timestamp::from_millisecond(paid_at).unwrap_or_default();
    let year = time.to_zoned(time_zone.clone()).year();
    format!("{year}-{entry:06}")
}

/// Returns the entry of a donation by the number of its receipt.
pub fn entry_of(number: &str) -> Option<i64> {
    let (year, entry) = number.split_once('-')?;
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (year.len() == 4 && entry.len() >= 6 && are_digits(year) && are_digits(entry))
        .then(|| entry.parse().ok())?
}

/// Formats a date on a receipt, such as November 17, 2026.
pub fn format_date(millis: i64, time_zone: &TimeZone) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    let time = time.to_zoned(time_zone.clone());
    time.strftime("%B %-d, %Y").to_string()
}

async fn share(directory: &Directory, id: NonprofitId, amount: Cents) -> sqlx::Result<Share> {
    let found = directory.find(&Identifier::Id(id)).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    Ok(nonprofit.map_or_else(
        || Share {
            amount,
            legal_name: id.to_string(),
            ein: None,
            address: String::new(),
            is_deductible: false,
            thanks: None,
        },
        |nonprofit| Share::new(&nonprofit, amount),
    ))
}

impl Share {
    fn new(nonprofit: &Nonprofit<'_>, amount: Cents) -> Share {
        let location = nonprofit.location();
        Share {
            amount,
            legal_name: match nonprofit.legal_name {
                "" => nonprofit.name.to_owned(),
                name => name.to_owned(),
            },
            ein: nonprofit.ein,
            address: match nonprofit.zip {
                "" => location,
                zip => format!("{location} {zip}"),
            },
            is_deductible: nonprofit.is_deductible(),
            thanks: None,
        }
    }

    /// Returns the EIN as the IRS writes it, such as 53-0196605.
    pub fn formatted_ein(&self) -> String {
        self.ein.map(Ein::dashed).unwrap_or_default()
    }

    /// Returns the sentence about taxes.
    pub fn deductibility(&self) -> &'static str {
        if self.is_deductible {
            "Contributions to this organization are tax-deductible to the extent allowed by law."
        } else {
            "Contributions to this organization are not tax-deductible."
        }
    }
}

/// Returns the email with the receipt, if the donor left an address. `manage` is the link to the page of a monthly gift.
pub fn email(
    public_url: &PublicUrl,
    donation: &Donation,
    receipt: &Receipt,
    manage: Option<&str>,
) -> Option<Email> {
    let to = donation.email.as_ref()?;
    let (amount, id) = (donation.amount, donation.receipt_id);
    let (prefix, notice) = match donation.mode {
        Mode::Live => ("", ""),
        Mode::Test => ("Test mode: ", "Test mode: no money was charged.\n\n"),
    };
    let mut text = format!("{notice}Thank you for your donation of {amount}.\n\n");
    let _ = writeln!(text, "Date: {}", receipt.date);
    if let Some(name) = &donation.name {
        let _ = writeln!(text, "Donor: {name}");
    }
    let _ = writeln!(text, "Amount: {amount}");
    if let Some(dedication) = &donation.dedication {
        let _ = writeln!(text, "Dedication: {dedication}");
    }
    if donation.covered > Cents::ZERO {
        let _ = writeln!(text, "This includes {} to cover the fees.", donation.covered);
    }
    if let Some(donee) = &receipt.donee {
        let _ = write!(
            text,
            "\nMade to {}\nEIN {}\n",
            donee.legal_name,
            donee.formatted_ein()
        );
        if !donee.address.is_empty() {
            let _ = writeln!(text, "{}", donee.address);
        }
        let _ = writeln!(text, "{DONEE_IS_CHARITY}\n\nMeant for:");
    }
    for share in &receipt.shares {
        let _ = write!(text, "\n{}: {}\n", share.legal_name, share.amount);
        if share.ein.is_some() {
            let _ = writeln!(text, "EIN {}", share.formatted_ein());
        }
        if !share.address.is_empty() {
            let _ = writeln!(text, "{}", share.address);
        }
        if receipt.donee.is_none() {
            let _ = writeln!(text, "{}", share.deductibility());
        }
        if let Some(thanks) = &share.thanks {
            // Marked like a quotation, so that it cannot pass for our own words.
            let thanks = EmailText::default().quote(thanks).into_string();
            let _ = write!(text, "\n{} writes:\n\n{thanks}", share.legal_name);
        }
    }
    let (number, donation_id) = (&receipt.number, donation.id);
    let _ = write!(
        text,
        "\n{NO_GOODS_OR_SERVICES}\n\nReceipt number: {number}\nDonation ID: {donation_id}\nYour receipt as a page: {public_url}/donations/{id}\n"
    );
    if let Some(manage) = manage {
        let _ = write!(
            text,
            "\nThis is a monthly donation. Change, pause or cancel it, or enter a new card (the link works for 60 days):\n\n{manage}\n"
        );
    }
    Some(Email::new(
        to.to_string(),
        format!("{prefix}Your donation of {amount}"),
        text,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_donation_on_new_years_eve_is_in_the_year_of_the_operator() {
        let new_york = TimeZone::get("America/New_York").unwrap();
        let half_past_eleven: Timestamp = "2026-12-31T23:30:00-05:00".parse().unwrap();
        let millis = half_past_eleven.as_millisecond();
        assert_eq!(format_date(millis, &new_york), "December 31, 2026");
        assert_eq!(format_date(millis, &TimeZone::UTC), "January 1, 2027");
        assert_eq!(number(123, millis, &new_york), "2026-000123");
        assert_eq!(number(7_654_321, millis, &TimeZone::UTC), "2027-7654321");
    }

    #[test]
    fn an_entry_is_found_by_the_number_of_its_receipt() {
        assert_eq!(entry_of("2026-000123"), Some(123));
        assert_eq!(entry_of("2026-7654321"), Some(7_654_321));
        for other in [
            "123",
            "2026-123",
            "2026-00012x",
            "26-000123",
            "2026-",
            "53-0196605",
            "2026-99999999999999999999",
        ] {
            assert_eq!(entry_of(other), None, "{other}");
        }
    }
}
