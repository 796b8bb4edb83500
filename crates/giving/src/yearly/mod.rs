//! Yearly statements for donors: what they gave in a year, for their taxes, and the email in January that links to it.
//!
//! The year is that of the payment, in the time zone of the operator. Donations that were refunded or disputed count with what
//! is left. A statement is computed when it is opened, so it also has what was entered late.

pub mod link;
mod store;

use crate::checkout::receipt::{Donee, Receipt, format_date};
use crate::checkout::{Donation, donor_id, store as checkout};
use crate::disbursement::statements::{csv_row, decimal};
use directory::Directory;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use platform::clock::Clock;
use platform::db::Db;
use platform::email_address::EmailAddress;
use platform::mail::{Email, EmailText, Mailer};
use platform::money::{AmountOverflow, Cents};
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use thiserror::Error;
use uuid::Uuid;

/// Emails that are queued in one transaction.
const MAX_BATCH_SIZE: i64 = 200;
/// The days of January on which emails are queued. Late events of December have arrived by then.
const EMAIL_DAYS: std::ops::RangeInclusive<i8> = 6..=31;
/// How long the link in the email works: until taxes are due, with an extension.
const LINK_MILLIS: i64 = 300 * 24 * 60 * 60 * 1_000;

/// The parts that statements need.
#[derive(Clone, Copy, Debug)]
pub struct YearlyStatements<'a> {
    pub db: &'a Db,
    pub directory: &'a Directory,
    pub clock: &'a Clock,
    pub secret: &'a StoreSecret,
    pub mailer: &'a Mailer,
    pub public_url: &'a PublicUrl,
    pub time_zone: &'a TimeZone,
    /// The nonprofit to which donations by Stripe are made.
    pub recipient: Option<&'a Donee>,
    /// Whether donations of test mode count.
    pub counts_test: bool,
    pub site_name: &'a str,
}

/// A nonprofit to which a donation was made, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YearlyPart {
    /// The nonprofit to which it was made, as the IRS knows it.
    pub donee: String,
    /// Such as 53-0196605.
    pub ein: String,
    pub address: String,
    /// The nonprofit it is meant for, if that is another one.
    pub meant_for: Option<String>,
    pub is_deductible: bool,
    pub amount: Cents,
}

/// A donation of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YearlyItem {
    /// The receipt number.
    pub donation: Uuid,
    pub receipt: Uuid,
    /// Such as November 17, 2026.
    pub date: String,
    pub paid_at: i64,
    /// What was paid.
    pub amount: Cents,
    /// What is left after refunds and disputes.
    pub left: Cents,
    pub parts: Vec<YearlyPart>,
    pub is_test: bool,
}

/// What a donor gave in a year.
#[derive(Clone, Debug)]
pub struct YearlyStatement {
    pub year: i16,
    pub email: EmailAddress,
    /// The name with the last donation.
    pub name: Option<String>,
    pub items: Vec<YearlyItem>,
    pub total: Cents,
    /// The sums by the nonprofit to which donations were made: name, EIN and amount.
    pub donees: Vec<(String, String, Cents)>,
    /// The years in which something was given, the newest first.
    pub years: Vec<i16>,
}

/// Why there is no statement.
#[derive(Debug, Error)]
pub enum YearlyError {
    #[error("{0}; check the amounts")]
    Overflow(#[from] AmountOverflow),
    #[error(transparent)]
    Store(#[from] sqlx::Error),
}

impl YearlyStatement {
    /// Writes the statement as CSV (RFC 4180). No cell is a formula.
    pub fn to_csv(&self) -> String {
        let mut text =
            String::from("date,receipt,donee,ein,meant_for,amount,tax_deductible,goods_or_services,test\r\n");
        for item in &self.items {
            for part in &item.parts {
                let cells = [
                    item.date.clone(),
                    item.donation.to_string(),
                    part.donee.clone(),
                    part.ein.clone(),
                    part.meant_for.clone().unwrap_or_default(),
                    decimal(part.amount),
                    if part.is_deductible { "yes" } else { "no" }.to_owned(),
                    "none".to_owned(),
                    if item.is_test { "yes" } else { "no" }.to_owned(),
                ];
                text.push_str(&csv_row(&cells));
            }
        }
        text
    }
}

impl YearlyStatements<'_> {
    /// Returns the year of a time in the time zone of the operator.
    pub fn year_of(self, millis: i64) -> i16 {
        let time = Timestamp::from_millisecond(millis).unwrap_or_default();
        time.to_zoned(self.time_zone.clone()).year()
    }

    /// Finds what was given with an email address in a year. Without donations it has no items.
    pub async fn find(self, email: &EmailAddress, year: i16) -> Result<YearlyStatement, YearlyError> {
        let mut found = YearlyStatement {
            year,
            email: email.clone(),
            name: None,
            items: Vec::new(),
            total: Cents::ZERO,
            donees: Vec::new(),
            years: Vec::new(),
        };
        for donation in checkout::list_by_email(self.db, email).await? {
            let Some(entry) = donation
                .entry
                .filter(|_| self.counts_test || !donation.mode.is_test())
            else {
                continue;
            };
            let Some((recorded_at, held)) = store::find_left(self.db, entry).await? else {
                continue;
            };
            let paid_at = donation.payment.paid_at.unwrap_or(recorded_at);
            let year_of = self.year_of(paid_at);
            if !found.years.contains(&year_of) {
                found.years.push(year_of);
            }
            if year_of != year {
                continue;
            }
            if let Some(item) = self.item(&donation, (entry, paid_at), &held).await? {
                found.total = found.total.plus(item.left)?;
                found.items.push(item);
            }
            found.name = donation.name.or(found.name);
        }
        found.items.sort_by_key(|item| (item.paid_at, item.donation));
        found.years.sort_unstable_by(|one, other| other.cmp(one));
        for part in found.items.iter().flat_map(|item| &item.parts) {
            let known = found
                .donees
                .iter_mut()
                .find(|(name, ein, _)| *name == part.donee && *ein == part.ein);
            match known {
                Some((.., sum)) => *sum = sum.plus(part.amount)?,
                None => found
                    .donees
                    .push((part.donee.clone(), part.ein.clone(), part.amount)),
            }
        }
        Ok(found)
    }

    /// Returns what is left of a donation. `held` is what each nonprofit holds of it.
    async fn item(
        self,
        donation: &Donation,
        (entry, paid_at): (i64, i64),
        held: &[Cents],
    ) -> Result<Option<YearlyItem>, YearlyError> {
        let parts = (self.time_zone, self.recipient);
        let receipt = Receipt::find(self.db, self.directory, parts, donation, entry).await?;
        let Some(receipt) = receipt else {
            return Ok(None);
        };
        let mut item = YearlyItem {
            donation: donation.id,
            receipt: donation.receipt_id,
            date: format_date(paid_at, self.time_zone),
            paid_at,
            amount: donation.amount,
            left: Cents::sum(held.iter().copied())?,
            parts: Vec::new(),
            is_test: donation.mode.is_test(),
        };
        for (share, amount) in receipt.shares.iter().zip(held) {
            let part = match &receipt.donee {
                Some(donee) => YearlyPart {
                    donee: donee.legal_name.clone(),
                    ein: donee.formatted_ein(),
                    address: donee.address.clone(),
                    meant_for: Some(share.legal_name.clone()),
                    is_deductible: true,
                    amount: *amount,
                },
                None => YearlyPart {
                    donee: share.legal_name.clone(),
                    ein: share.formatted_ein(),
                    address: share.address.clone(),
                    meant_for: None,
                    is_deductible: share.is_deductible,
                    amount: *amount,
                },
            };
            item.parts.push(part);
        }
        Ok(Some(item))
    }

    /// Queues the email about the year before for each donor, once, if it is January. Returns how many were queued. It can be
    /// interrupted, and several servers can do it.
    pub async fn queue_emails(self) -> anyhow::Result<usize> {
        let now = self.clock.millis();
        let today = Timestamp::from_millisecond(now)
            .unwrap_or_default()
            .to_zoned(self.time_zone.clone());
        if today.month() != 1 || !EMAIL_DAYS.contains(&today.day()) || !self.mailer.is_on() {
            return Ok(0);
        }
        let year = today.year() - 1;
        let start = |year: i16| -> anyhow::Result<i64> {
            let start = Date::new(year, 1, 1)?.to_zoned(self.time_zone.clone())?;
            Ok(start.timestamp().as_millisecond())
        };
        let period = (start(year)?, start(year + 1)?);
        let (mut queued, mut last) = (0, String::new());
        loop {
            let emails = store::list_donors(self.db, period, self.counts_test, &last, MAX_BATCH_SIZE).await?;
            let Some(end) = emails.last() else {
                return Ok(queued);
            };
            last.clone_from(end);
            let mut tx = self.db.write().await?;
            let mut prepared = Vec::new();
            for email in &emails {
                let Ok(email) = EmailAddress::parse(email) else {
                    continue;
                };
                let donor = donor_id::of_email(self.secret, &email);
                if store::insert(&mut tx, &donor, year, now).await? {
                    prepared.push(
                        self.mailer
                            .prepare(&mut tx, self.email(&email, year, now))
                            .await?,
                    );
                }
            }
            tx.commit().await?;
            queued += prepared.len();
            self.mailer.hand_over(prepared).await?;
        }
    }

    /// The email with the link to a statement. Donors cannot stop it, because it is for their taxes.
    fn email(self, to: &EmailAddress, year: i16, now: i64) -> Email {
        let token = link::token(self.secret, to, now + LINK_MILLIS);
        let url = format!("{}{}", self.public_url, link::path(&token, year));
        let site = self.site_name;
        let text = EmailText::new(&format!("Thank you for your donations in {year}."))
            .paragraph(&format!(
                "Your statement lists every donation that you made on {site} in {year}, with what the IRS asks for. You can print it \
                 or open it as a spreadsheet."
            ))
            .link("Open your statement", &url)
            .footer("Whoever has this link can read the statement. It works until October.");
        Email::new(
            to.to_string(),
            format!("Your donations in {year}"),
            text.into_string(),
        )
    }
}
