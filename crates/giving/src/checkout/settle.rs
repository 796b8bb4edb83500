//! Records paid donations in the ledger, once, however often it is tried.

use super::receipt::{self, Donee, Receipt};
use super::store::{self, CompletionEmails, LimitedEmail};
use super::{Donation, State, donor_id, notice};
use crate::donations::store as donations;
use crate::donations::{
    DonationError, Label, NewDonation, RecipientName, RecordedEntry, SITE, find_recipient,
};
use crate::fundraisers::store as fundraisers;
use crate::ledger::store::{self as ledger, Remaining};
use crate::monthly::token;
use crate::providers::test;
use crate::recorder::Recorder;
use access::notices::Notices;
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef};
use jiff::tz::TimeZone;
use platform::clock::Clock;
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};
use platform::mail::{Email, Mailer};
use platform::money::Cents;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;

/// The parts that settling payments uses.
#[derive(Clone, Copy, Debug)]
pub struct Settlement<'a> {
    pub db: &'a Db,
    pub directory: &'a Directory,
    pub recorder: &'a Recorder,
    pub clock: &'a Clock,
    pub mailer: &'a Mailer,
    pub public_url: &'a PublicUrl,
    pub secret: &'a StoreSecret,
    /// The time zone of the dates on receipts.
    pub time_zone: &'a TimeZone,
    /// The nonprofit to which donations by Stripe are made.
    pub recipient: Option<&'a Donee>,
    /// Receipts that are emailed to one address per hour.
    pub receipts_per_hour: u32,
    /// Notices of dedications that are emailed to one address per day.
    pub notices_per_day: u32,
    /// How often the provider tries to collect a payment of a monthly gift.
    pub payment_attempts: i64,
}

impl<'a> Settlement<'a> {
    /// Returns the parts that email the owners of accounts.
    pub(crate) fn notices(self) -> Notices<'a> {
        Notices {
            mailer: self.mailer,
            clock: self.clock,
            secret: self.secret,
            public_url: self.public_url,
        }
    }

    /// Records a paid donation in the ledger, or notes that a recorded one was refunded or disputed, or that this was
    /// reversed. Steps that were done before, also
    /// by a server that stopped in between, are not done again.
    ///
    /// Returns what the ledger says about the donation, if it is in the ledger.
    pub async fn settle(self, donation: Donation) -> Result<Donation, DonationError> {
        let settled = Box::pin(self.settle_state(donation)).await?;
        Ok(donations::as_recorded(self.db, settled).await?)
    }

    async fn settle_state(self, donation: Donation) -> Result<Donation, DonationError> {
        let (db, now) = (self.db, self.clock.millis());
        match (donation.state, donation.entry) {
            (State::Pending, _) => {
                let recorded = self.record(&donation).await.inspect_err(log)?;
                if donation.starts_monthly_gift() && donation.provider == test::NAME {
                    self.start_test_gift(&donation).await?;
                }
                let emails = Box::pin(self.emails(&donation, recorded.sequence)).await?;
                store::complete(db, &donation, recorded.sequence, emails, now).await?;
            }
            (state @ (State::Completed | State::Refunded | State::Disputed), Some(entry)) => {
                let outcome = outcome(ledger::find_remaining(db, entry).await?);
                if outcome == state {
                    return Ok(donation);
                }
                store::set_outcome(db, donation.id, outcome, now).await?;
            }
            _ => return Ok(donation),
        }
        let settled = store::find(db, donation.id).await?;
        settled.ok_or_else(|| sqlx::Error::RowNotFound.into())
    }

    /// Settles the payments that a server left pending when it stopped. One that fails does not hold up the others; the
    /// first error is returned.
    pub async fn settle_pending(self) -> Result<(), DonationError> {
        let mut outcome = Ok(());
        for id in store::list_pending(self.db).await? {
            if let Some(donation) = store::find(self.db, id).await? {
                outcome = outcome.and(self.settle(donation).await.map(drop));
            }
        }
        outcome
    }

    async fn emails(&self, donation: &Donation, entry: i64) -> sqlx::Result<CompletionEmails<'_>> {
        let limited = |limit| move |email| LimitedEmail { email, limit };
        Ok(CompletionEmails {
            mailer: self.mailer,
            receipt: self
                .receipt(donation, entry)
                .await?
                .map(limited(self.receipts_per_hour)),
            notice: self.notice(donation).await?.map(limited(self.notices_per_day)),
        })
    }

    /// Returns the email to the person who is told about the donation, if the donor asked for one.
    async fn notice(self, donation: &Donation) -> sqlx::Result<Option<Email>> {
        let dedication = donation.dedication.as_ref();
        if dedication.is_none_or(|dedication| dedication.notice.is_none()) || !self.mailer.is_on() {
            return Ok(None);
        }
        let found = self.directory.find(&Identifier::Id(donation.nonprofit)).await?;
        let Some(nonprofit) = found.as_ref().and_then(NonprofitRef::nonprofit) else {
            return Ok(None);
        };
        let mut name = nonprofit.name.to_owned();
        let mut path = format!("/{}", nonprofit.slug);
        if let Some(id) = donation.fundraiser
            && let Some(fundraiser) = fundraisers::find(self.db, id).await?
        {
            path = format!("{path}/f/{}", fundraiser.slug);
            name = fundraiser.title;
        }
        Ok(notice::email(self.public_url, donation, (&name, &path)))
    }

    /// Returns the email with the receipt, if the donor left an address and emails are sent.
    async fn receipt(self, donation: &Donation, entry: i64) -> sqlx::Result<Option<Email>> {
        if donation.email.is_none() || !self.mailer.is_on() {
            return Ok(None);
        }
        let dated = (self.time_zone, self.recipient);
        let receipt = Receipt::find(self.db, self.directory, dated, donation, entry).await?;
        let manage = donation.monthly_gift.map(|gift| {
            let paid_at = donation.payment.paid_at.unwrap_or_else(|| self.clock.millis());
            token::link(self.public_url, self.secret, gift, paid_at)
        });
        Ok(
            receipt
                .and_then(|receipt| receipt::email(self.public_url, donation, &receipt, manage.as_deref())),
        )
    }

    /// Returns the name of the fundraiser or nonprofit that a donation is for.
    pub(crate) async fn recipient_name(
        self,
        nonprofit: NonprofitId,
        fundraiser: Option<FundraiserId>,
    ) -> sqlx::Result<String> {
        if let Some(id) = fundraiser
            && let Some(fundraiser) = fundraisers::find(self.db, id).await?
        {
            return Ok(fundraiser.title);
        }
        let found = self.directory.find(&Identifier::Id(nonprofit)).await?;
        let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
        Ok(nonprofit.map_or_else(String::new, |nonprofit| nonprofit.name.to_owned()))
    }

    async fn record(self, donation: &Donation) -> Result<RecordedEntry, DonationError> {
        let to = RecipientName::of_ids(donation.nonprofit, donation.fundraiser);
        let to = find_recipient(self.db, self.directory, &to).await?;
        let donation = NewDonation {
            source: label(SITE),
            external_id: label(&donation.id.to_string()),
            mode: donation.mode,
            to,
            amount: donation.amount,
            donor: label(&donor_id::of_donation(
                self.secret,
                donation.id,
                donation.email.as_ref(),
            )),
            name: donation.name.as_deref().and_then(|name| Label::parse(name).ok()),
            is_public: donation.is_public,
        };
        self.recorder.record_checkout(donation).await
    }
}

/// The state of a donation of which this much is left.
fn outcome(remaining: Remaining) -> State {
    if remaining.amount > Cents::ZERO {
        State::Completed
    } else if remaining.disputed > Cents::ZERO {
        State::Disputed
    } else {
        State::Refunded
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("our own IDs are valid labels")
}

/// Logs an error that the donor can do nothing about.
fn log(error: &DonationError) {
    match error {
        DonationError::Store(_) | DonationError::NoSuchNonprofit(_) | DonationError::NoSuchFundraiser(_) => {}
        error => tracing::error!(%error, "a donation could not be recorded"),
    }
}
