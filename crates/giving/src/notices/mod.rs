//! Emails to the owners of fundraisers and to donors about what happened to a fundraiser or a donation.
//!
//! Most of them are derived from the outbox, whose rows were written with what they announce. One transaction queues the
//! emails of some rows and moves the stored position behind them, so that each is queued once, whatever is killed and
//! however many servers there are. Emails about a dispute are queued in the transaction that stores the dispute.

mod donor;
mod owner;
mod store;

use crate::checkout::{Donation, store as checkout};
use crate::donations::SITE;
use crate::fundraisers::{Fundraiser, store as fundraisers};
use crate::ledger::entry::{Kind, Mode, Totals};
use crate::ledger::store as ledger;
use access::notices::{Notice, Notices};
use jiff::tz::TimeZone;
use owner::{About, Return};
use platform::db::{Db, Tx};
use platform::ids::{AccountId, FundraiserId};
use platform::mail::{Email, PreparedEmail};
use platform::money::Cents;
use serde::Deserialize;
use store::{Event, Once};
use uuid::Uuid;

/// The rows of the outbox whose emails are queued in one transaction.
const MAX_BATCH_SIZE: i64 = 200;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// Nobody is emailed about what happened longer ago, such as before emails were turned on.
const MAX_AGE_MILLIS: i64 = 3 * DAY_MILLIS;
/// How long before its end the owner of a fundraiser is reminded.
const ENDING_MILLIS: i64 = 3 * DAY_MILLIS;

/// The parts that emails about fundraisers and donations use.
#[derive(Clone, Copy, Debug)]
pub struct GivingNotices<'a> {
    pub db: &'a Db,
    pub notices: Notices<'a>,
    /// Whether test donations count, as on a server in test mode.
    pub counts_test: bool,
    /// The time zone of dates.
    pub time_zone: &'a TimeZone,
}

/// An email to be queued.
#[derive(Debug)]
enum Planned {
    Owner(AccountId, Notice),
    /// Only if it was not sent before.
    OwnerOnce(AccountId, Notice, FundraiserId, (Once, i64)),
    Donor(Email),
}

/// What the outbox says about an entry of the ledger.
#[derive(Deserialize)]
struct EntryEvent {
    entry: i64,
    mode: String,
    amount: i64,
    raised: Option<i64>,
    supporters: Option<i64>,
}

impl GivingNotices<'_> {
    /// Queues the emails about everything that the outbox has announced since the last call.
    pub async fn queue_events(self) -> sqlx::Result<()> {
        if !self.notices.mailer.is_on() {
            return Ok(());
        }
        loop {
            let position = store::find_position(self.db).await?;
            let events = store::list_events(self.db, position, MAX_BATCH_SIZE).await?;
            let Some(last) = events.last().map(|event| event.sequence) else {
                return Ok(());
            };
            let mut planned = Vec::new();
            for event in &events {
                self.plan(event, &mut planned).await?;
            }
            let mut tx = self.db.write().await?;
            // Another server may have queued the same emails.
            if store::advance(&mut tx, position, last).await? {
                let prepared = self.queue(&mut tx, planned).await?;
                tx.commit().await?;
                self.dispatch(prepared);
            }
        }
    }

    /// Queues the emails about fundraisers that end within three days.
    pub async fn queue_endings(self) -> sqlx::Result<()> {
        if !self.notices.mailer.is_on() {
            return Ok(());
        }
        let now = self.notices.clock.millis();
        let times = (now, now + ENDING_MILLIS);
        for (id, ends_at) in store::list_ending(self.db, times, ENDING_MILLIS).await? {
            let Some(fundraiser) = fundraisers::find(self.db, id).await? else {
                continue;
            };
            let notice = self.about(&fundraiser).await?.ending(ends_at);
            let planned = Planned::OwnerOnce(fundraiser.account, notice, id, (Once::Ending, ends_at));
            let mut tx = self.db.write().await?;
            let prepared = self.queue(&mut tx, vec![planned]).await?;
            tx.commit().await?;
            self.dispatch(prepared);
        }
        Ok(())
    }

    /// Queues the emails about a dispute that was opened or decided, in the transaction that stores it.
    pub(crate) async fn plan_dispute(
        self,
        donation: &Donation,
        amount: Cents,
        status: DisputeStatus,
    ) -> sqlx::Result<PlannedEmails> {
        let what = match status {
            DisputeStatus::Open => Return::DisputeOpened,
            DisputeStatus::Lost => Return::DisputeLost,
            DisputeStatus::Ended => Return::DisputeWon,
        };
        let mut planned = Vec::new();
        if let Some(id) = donation.fundraiser {
            self.plan_dispute_for_owner(id, (what, amount), donation.mode, &mut planned)
                .await?;
        }
        self.plan_donor_email(donation, (what, amount), &mut planned);
        Ok(PlannedEmails(planned))
    }

    /// Queues emails that were planned. After the commit they have to be dispatched.
    pub(crate) async fn queue_planned(
        self,
        tx: &mut Tx,
        planned: PlannedEmails,
    ) -> sqlx::Result<Vec<PreparedEmail>> {
        self.queue(tx, planned.0).await
    }

    pub(crate) fn dispatch(self, prepared: Vec<PreparedEmail>) {
        for email in prepared {
            self.notices.mailer.dispatch(email);
        }
    }

    /// Plans the emails about a row of the outbox.
    async fn plan(self, event: &Event, planned: &mut Vec<Planned>) -> sqlx::Result<()> {
        if event.created_at < self.notices.clock.millis() - MAX_AGE_MILLIS {
            return Ok(());
        }
        let fundraiser = event.fundraiser_id.map(FundraiserId);
        match (event.kind.as_str(), fundraiser) {
            ("fundraiser_hidden" | "fundraiser_shown", Some(id)) => {
                if let Some(fundraiser) = fundraisers::find(self.db, id).await? {
                    let notice = self.about(&fundraiser).await?.decision();
                    planned.push(Planned::Owner(fundraiser.account, notice));
                }
                Ok(())
            }
            (kind, fundraiser) => match Kind::find(kind).zip(parse(event)) {
                Some((kind, (entry, mode))) => self.plan_entry(kind, &entry, mode, fundraiser, planned).await,
                None => Ok(()),
            },
        }
    }

    /// Plans the emails about an entry of the ledger.
    async fn plan_entry(
        self,
        kind: Kind,
        entry: &EntryEvent,
        mode: Mode,
        fundraiser: Option<FundraiserId>,
        planned: &mut Vec<Planned>,
    ) -> sqlx::Result<()> {
        let amount = Cents::new(entry.amount);
        let returned = match kind {
            Kind::Refund => Some((Return::Refunded, amount.reversed())),
            Kind::RefundFailed => Some((Return::RefundFailed, amount)),
            _ => None,
        };
        if let Some(id) = fundraiser.filter(|_| self.counts(mode))
            && let Some(fundraiser) = fundraisers::find(self.db, id).await?
        {
            let mut about = self.about(&fundraiser).await?;
            about.totals = self.totals_after(entry, mode, id).await?;
            let owner = fundraiser.account;
            if kind == Kind::Donation {
                planned.push(Planned::Owner(owner, about.donation(amount, mode)));
            }
            if let Some((what, amount)) = returned {
                planned.push(Planned::Owner(owner, about.returned(what, amount, mode)));
            }
            let after = about.totals.raised.get();
            let before = after.saturating_sub(entry.amount);
            if let Some(goal) = fundraiser
                .goal
                .filter(|goal| before < goal.get() && goal.get() <= after)
            {
                let once = (Once::Goal, goal.get());
                planned.push(Planned::OwnerOnce(owner, about.goal_reached(goal), id, once));
            }
        }
        if let Some(returned) = returned
            && let Some((source, external_id)) = store::find_refunded(self.db, entry.entry).await?
            && source == SITE
            && let Ok(id) = Uuid::try_parse(&external_id)
            && let Some(donation) = checkout::find(self.db, id).await?
        {
            self.plan_donor_email(&donation, returned, planned);
        }
        Ok(())
    }

    /// Returns the totals of a fundraiser after an entry, which may have grown since.
    async fn totals_after(self, entry: &EntryEvent, mode: Mode, id: FundraiserId) -> sqlx::Result<Totals> {
        let mut totals = ledger::find_totals(self.db, id).await?;
        if let Some((raised, supporters)) = entry.raised.zip(entry.supporters) {
            *totals.of_mode_mut(mode) = Totals {
                raised: Cents::new(raised),
                supporters,
            };
        }
        Ok(totals.counted(self.counts_test))
    }

    async fn plan_dispute_for_owner(
        self,
        id: FundraiserId,
        (what, amount): (Return, Cents),
        mode: Mode,
        planned: &mut Vec<Planned>,
    ) -> sqlx::Result<()> {
        if !self.counts(mode) {
            return Ok(());
        }
        if let Some(fundraiser) = fundraisers::find(self.db, id).await? {
            let notice = self.about(&fundraiser).await?.returned(what, amount, mode);
            planned.push(Planned::Owner(fundraiser.account, notice));
        }
        Ok(())
    }

    fn plan_donor_email(self, donation: &Donation, returned: (Return, Cents), planned: &mut Vec<Planned>) {
        let email = donor::email(self.notices.public_url, self.time_zone, donation, returned);
        planned.extend(email.map(Planned::Donor));
    }

    async fn queue(self, tx: &mut Tx, planned: Vec<Planned>) -> sqlx::Result<Vec<PreparedEmail>> {
        let mut prepared = Vec::new();
        let now = self.notices.clock.millis();
        for email in planned {
            let (account, notice) = match email {
                Planned::Owner(account, notice) => (account, notice),
                Planned::OwnerOnce(account, notice, fundraiser, once) => {
                    if !store::mark(tx, fundraiser.0, once, now).await? {
                        continue;
                    }
                    (account, notice)
                }
                Planned::Donor(email) => {
                    if self.notices.mailer.is_on() {
                        prepared.push(self.notices.mailer.prepare(tx, email).await?);
                    }
                    continue;
                }
            };
            prepared.extend(self.notices.queue(tx, account, &notice).await?);
        }
        Ok(prepared)
    }

    async fn about<'f>(self, fundraiser: &'f Fundraiser) -> sqlx::Result<About<'f>>
    where
        Self: 'f,
    {
        let totals = ledger::find_totals(self.db, fundraiser.id).await?;
        Ok(About {
            fundraiser,
            totals: totals.counted(self.counts_test),
            public_url: self.notices.public_url,
            time_zone: self.time_zone,
        })
    }

    /// Returns whether amounts of a mode count.
    fn counts(self, mode: Mode) -> bool {
        mode == Mode::Live || self.counts_test
    }
}

/// Where a dispute or an inquiry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DisputeStatus {
    Open,
    /// The money went back to the donor.
    Lost,
    /// It was won, or ended without money being withdrawn.
    Ended,
}

impl DisputeStatus {
    /// Returns the status that Stripe names.
    pub(crate) fn of_stripe(status: &str) -> DisputeStatus {
        match status {
            "lost" => DisputeStatus::Lost,
            "won" | "warning_closed" | "prevented" => DisputeStatus::Ended,
            _ => DisputeStatus::Open,
        }
    }
}

/// Emails that are composed and not queued yet.
#[derive(Debug)]
pub(crate) struct PlannedEmails(Vec<Planned>);

/// Marks that the owner of a webhook endpoint was emailed about its failures since a time. Returns `false` if it was marked
/// before.
pub(crate) async fn mark_endpoint(
    tx: &mut Tx,
    endpoint: Uuid,
    failing_since: i64,
    now: i64,
) -> sqlx::Result<bool> {
    store::mark(tx, endpoint, (Once::EndpointFailing, failing_since), now).await
}

/// Marks that a dispute of a donation was announced as lost, by when it was opened. Returns `false` if it was marked before.
pub(crate) async fn mark_lost_dispute(
    tx: &mut Tx,
    donation: Uuid,
    opened_at: i64,
    now: i64,
) -> sqlx::Result<bool> {
    store::mark(tx, donation, (Once::DisputeLost, opened_at), now).await
}

/// Reads a row of the outbox about an entry.
fn parse(event: &Event) -> Option<(EntryEvent, Mode)> {
    let entry: EntryEvent = serde_json::from_str(&event.body).ok()?;
    let mode = Mode::find(&entry.mode)?;
    Some((entry, mode))
}
