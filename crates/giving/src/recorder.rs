//! The only way to write donations, refunds, disputes, the books and fundraisers.

use crate::books::{BooksError, Movement, record};
use crate::donations::counters::DonationCounters;
use crate::donations::donation::{self, NewDonation};
use crate::donations::outcome::{DonationError, RecordedEntry};
use crate::donations::refund::{self, Dispute, Refund};
use crate::donations::reversal::{self, Reversal};
use crate::error::Error;
use crate::fundraisers::Fundraiser;
use crate::fundraisers::cache::FundraiserCache;
use crate::fundraisers::moderate::{self, Decided, Decision, account_of};
use crate::fundraisers::write::{self, CreateFundraiser, UpdateFundraiser};
use crate::idempotency::StoredResponse;
use crate::ledger::batch::Batch;
use crate::ledger::entry::Kind;
use crate::ledger::prefetch::Prefetch;
use crate::ledger::writer::{WorkFuture, WriteError, Writer};
use crate::monthly::seen::{self, Seen};
use crate::notices::mark_lost_dispute;
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{changes, suspension};
use access::audit::Actor;
use platform::clock::Clock;
use platform::db::StoreError;
use platform::ids::{AccountId, FundraiserId};
use platform::mail::{Email, Mailer};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

/// Writes donations, refunds and fundraisers, and drops the fundraisers that change from the cache, so that this
/// process never shows an older state than it has acknowledged. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    writer: Writer,
    cache: Arc<FundraiserCache>,
    clock: Clock,
    counters: DonationCounters,
}

impl Recorder {
    pub fn new(
        writer: Writer,
        cache: Arc<FundraiserCache>,
        clock: Clock,
        counters: DonationCounters,
    ) -> Recorder {
        Recorder {
            writer,
            cache,
            clock,
            counters,
        }
    }

    /// Records a donation that was made elsewhere, and returns once it is on disk. Recording it again changes nothing.
    pub async fn record(&self, donation: NewDonation) -> Result<RecordedEntry, DonationError> {
        donation::admit_source(&donation.source)?;
        self.record_checkout(donation).await
    }

    /// Records a donation made at our own checkout, whose source is reserved.
    pub(crate) async fn record_checkout(
        &self,
        donation: NewDonation,
    ) -> Result<RecordedEntry, DonationError> {
        let (donation, clock) = (Arc::new(donation), self.clock.clone());
        let written = self.write(donation::prefetch(&donation), move |batch| {
            let (donation, now) = (Arc::clone(&donation), clock.millis());
            Box::pin(async move { donation::write(batch, &donation, now).await })
        });
        let recorded = written.await?;
        self.counters.count_donation(&recorded);
        Ok(recorded)
    }

    /// Records a refund, and returns once it is on disk. Recording it again changes nothing.
    pub async fn refund(&self, refund: Refund) -> Result<RecordedEntry, DonationError> {
        let (refund, clock) = (Arc::new(refund), self.clock.clone());
        let written = self.write(Prefetch::default(), move |batch| {
            let (refund, now) = (Arc::clone(&refund), clock.millis());
            Box::pin(async move { refund::write(batch, Kind::Refund, &refund, now).await })
        });
        let recorded = self.forget_refunded(written.await?);
        self.counters.count_refund(&recorded);
        Ok(recorded)
    }

    /// Records that the donor's bank withdrew a donation or a part of it. Recording it again changes nothing.
    pub async fn dispute(&self, dispute: Dispute) -> Result<RecordedEntry, DonationError> {
        let (refund, clock) = (Arc::new(Refund::from(dispute)), self.clock.clone());
        let written = self.write(Prefetch::default(), move |batch| {
            let (refund, now) = (Arc::clone(&refund), clock.millis());
            Box::pin(async move { refund::write(batch, Kind::Dispute, &refund, now).await })
        });
        Ok(self.forget_refunded(written.await?))
    }

    /// Records that a refund failed or that a dispute was won. Recording it again changes nothing.
    pub async fn reverse(&self, reversal: Reversal) -> Result<RecordedEntry, DonationError> {
        let (reversal, clock) = (Arc::new(reversal), self.clock.clone());
        let written = self.write(Prefetch::default(), move |batch| {
            let (reversal, now) = (Arc::clone(&reversal), clock.millis());
            Box::pin(async move { reversal::write(batch, &reversal, now).await })
        });
        Ok(self.forget_refunded(written.await?))
    }

    /// Announces that a dispute was lost. `entry` withdrew the donation. Doing it again changes nothing.
    pub(crate) async fn announce_lost_dispute(
        &self,
        donation: Uuid,
        opened_at: i64,
        entry: i64,
    ) -> Result<(), DonationError> {
        let clock = self.clock.clone();
        self.write(Prefetch::default(), move |batch| {
            let now = clock.millis();
            Box::pin(async move {
                if mark_lost_dispute(&mut batch.tx, donation, opened_at, now).await? {
                    batch.add_outbox_row("dispute_lost", None, &json!({"entry": entry}), now);
                }
                Ok(())
            })
        })
        .await
    }

    /// Enters a movement of money in the books. Entering it again changes nothing.
    pub async fn enter(&self, movement: Movement) -> Result<RecordedEntry, BooksError> {
        let (movement, clock) = (Arc::new(movement), self.clock.clone());
        self.write(Prefetch::default(), move |batch| {
            let (movement, now) = (Arc::clone(&movement), clock.millis());
            Box::pin(async move { record::write(batch, &movement, now).await })
        })
        .await
    }

    /// Runs work of disbursement in a transaction of the writer, so that operators and servers take turns.
    pub(crate) async fn run<T, E>(
        &self,
        work: impl for<'a> Fn(&'a mut Batch) -> WorkFuture<'a, T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<WriteError> + Send + 'static,
    {
        self.writer.run(work).await
    }

    /// Stores what a provider reports about a monthly gift, and tells its donor what changed. Storing it again changes nothing.
    pub(crate) async fn see_monthly_gift(&self, report: Seen) -> Result<(), WriteError> {
        let mailer = report.mailer.clone();
        let report = Arc::new(report);
        let emails = self.write(Prefetch::default(), move |batch| {
            let report = Arc::clone(&report);
            Box::pin(async move { seen::write(batch, &report).await })
        });
        for email in emails.await? {
            mailer.dispatch(email);
        }
        Ok(())
    }

    /// Drops the fundraiser of a refunded donation from the cache. Only the entry of the donation tells which one it is, so
    /// it is not known before the refund is written.
    fn forget_refunded(
        &self,
        (recorded, fundraiser): (RecordedEntry, Option<FundraiserId>),
    ) -> RecordedEntry {
        if let Some(id) = fundraiser {
            self.cache.forget(id);
        }
        recorded
    }

    /// Creates a fundraiser, or returns the response to the first request with its idempotency key.
    ///
    /// `respond` builds the response from the new fundraiser and the time. It is called inside the transaction, which
    /// also stores the response.
    pub async fn create(
        &self,
        command: CreateFundraiser,
        respond: impl Fn(&Fundraiser, i64) -> StoredResponse + Send + Sync + 'static,
    ) -> Result<StoredResponse, Error> {
        let prefetch = Prefetch::of_fundraiser(command.fundraiser.id);
        let (command, respond, clock) = (Arc::new(command), Arc::new(respond), self.clock.clone());
        self.write(prefetch, move |batch| {
            let (command, respond, now) = (Arc::clone(&command), Arc::clone(&respond), clock.millis());
            Box::pin(async move { write::write_new(batch, &command, &*respond, now).await })
        })
        .await
    }

    /// Changes a fundraiser of an account. One that belongs to another account is not found.
    pub async fn change(
        &self,
        account: AccountId,
        id: FundraiserId,
        command: UpdateFundraiser,
    ) -> Result<Fundraiser, Error> {
        let (command, clock) = (Arc::new(command), self.clock.clone());
        self.write(Prefetch::of_fundraiser(id), move |batch| {
            let (command, now) = (Arc::clone(&command), clock.millis());
            Box::pin(async move { write::write_update(batch, account, id, &command, now).await })
        })
        .await
    }

    /// Hides or shows a fundraiser on behalf of an operator.
    pub async fn decide(&self, id: FundraiserId, decision: Decision, actor: Actor) -> Result<Decided, Error> {
        let (decision, clock) = (Arc::new(decision), self.clock.clone());
        self.write(Prefetch::of_fundraiser(id), move |batch| {
            let (decision, now) = (Arc::clone(&decision), clock.millis());
            Box::pin(async move { moderate::write_decision(batch, id, &decision, actor, now).await })
        })
        .await
    }

    /// Suspends an account, closes its fundraisers and queues an email to its owner. Returns how many were open.
    pub(crate) async fn suspend(
        &self,
        (account, username): (AccountId, &str),
        reason: &str,
        actor: Actor,
        notice: Option<(&Mailer, Email)>,
    ) -> Result<usize, Error> {
        let texts = Arc::new((username.to_owned(), reason.to_owned()));
        let clock = self.clock.clone();
        let mailer = notice.as_ref().map(|(mailer, _)| (*mailer).clone());
        let notice = Arc::new(notice.map(|(mailer, email)| (mailer.clone(), email)));
        let written = self.write(Prefetch::default(), move |batch| {
            let (texts, now) = (Arc::clone(&texts), clock.millis());
            let notice = Arc::clone(&notice);
            Box::pin(async move {
                let (username, reason) = &*texts;
                let account_and_name = (account, username.as_str());
                if !suspension::suspend_in(&mut batch.tx, account_and_name, reason, actor, now).await? {
                    return Err(StoreError::Refused(Error::NotFound));
                }
                batch.forget_standing(account);
                let prepared = match &*notice {
                    Some((mailer, email)) => Some(mailer.prepare(&mut batch.tx, email.clone()).await?),
                    None => None,
                };
                let closed = moderate::close_all_of(batch, account, account_of(actor), now).await?;
                Ok::<_, StoreError<Error>>((closed, prepared))
            })
        });
        let (closed, prepared) = written.await?;
        if let (Some(mailer), Some(prepared)) = (mailer, prepared) {
            mailer.dispatch(prepared);
        }
        Ok(self.forget_all(&closed))
    }

    /// Deletes an account and closes its fundraisers. Returns `false` if the password has changed since it was verified.
    pub async fn remove_account(&self, verified: VerifiedPassword) -> Result<bool, Error> {
        let (verified, clock) = (Arc::new(verified), self.clock.clone());
        let closed = self.write(Prefetch::default(), move |batch| {
            let (verified, now) = (Arc::clone(&verified), clock.millis());
            Box::pin(async move {
                if !changes::remove_in(&mut batch.tx, &verified, now).await? {
                    return Ok(None);
                }
                let account = verified.account;
                batch.forget_standing(account);
                let closed = moderate::close_all_of(batch, account, Some(account), now).await?;
                Ok::<_, StoreError<Error>>(Some(closed))
            })
        });
        let closed = closed.await?;
        Ok(closed.map(|closed| self.forget_all(&closed)).is_some())
    }

    /// Drops fundraisers that changed from the cache, and returns how many they are.
    fn forget_all(&self, changed: &[FundraiserId]) -> usize {
        for id in changed {
            self.cache.forget(*id);
        }
        changed.len()
    }

    /// Runs `work`, then drops the fundraiser that it is about from the cache, even if the work failed: the commit may
    /// have succeeded nevertheless.
    async fn write<T, E>(
        &self,
        prefetch: Prefetch,
        work: impl for<'a> Fn(&'a mut Batch) -> WorkFuture<'a, T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<WriteError> + Send + 'static,
    {
        let fundraiser = prefetch.fundraiser;
        let outcome = self.writer.run_with_prefetch(prefetch, work).await;
        if let Some(id) = fundraiser {
            self.cache.forget(id);
        }
        outcome
    }
}
