//! The only way to write donations, refunds and fundraisers.

use crate::donations::donation::{self, NewDonation};
use crate::donations::outcome::{DonationError, RecordedEntry};
use crate::donations::refund::{self, Refund};
use crate::error::Error;
use crate::fundraisers::Fundraiser;
use crate::fundraisers::cache::FundraiserCache;
use crate::fundraisers::write::{self, CreateFundraiser, UpdateFundraiser};
use crate::idempotency::StoredResponse;
use crate::ledger::batch::Batch;
use crate::ledger::prefetch::Prefetch;
use crate::ledger::writer::{WorkFuture, WriteError, Writer};
use platform::clock::Clock;
use platform::ids::{AccountId, FundraiserId};
use std::sync::Arc;

/// Writes donations, refunds and fundraisers, and drops the fundraisers that change from the cache, so that this
/// process never shows an older state than it has acknowledged. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    writer: Writer,
    cache: Arc<FundraiserCache>,
    clock: Clock,
}

impl Recorder {
    pub fn new(writer: Writer, cache: Arc<FundraiserCache>, clock: Clock) -> Recorder {
        Recorder { writer, cache, clock }
    }

    /// Records a donation that was made elsewhere, and returns once it is on disk. Recording it again changes nothing.
    pub async fn record(&self, donation: NewDonation) -> Result<RecordedEntry, DonationError> {
        donation::admit_source(&donation.source)?;
        self.record_checkout(donation).await
    }

    /// Does the same for a donation made on our own pages, whose source no other donation has.
    pub async fn record_checkout(&self, donation: NewDonation) -> Result<RecordedEntry, DonationError> {
        let (donation, clock) = (Arc::new(donation), self.clock.clone());
        self.write(donation::prefetch(&donation), move |batch| {
            let (donation, now) = (Arc::clone(&donation), clock.millis());
            Box::pin(async move { donation::write(batch, &donation, now).await })
        })
        .await
    }

    /// Records a refund, and returns once it is on disk. Recording it again changes nothing.
    pub async fn refund(&self, refund: Refund) -> Result<RecordedEntry, DonationError> {
        let (refund, clock) = (Arc::new(refund), self.clock.clone());
        let written = self.write(Prefetch::default(), move |batch| {
            let (refund, now) = (Arc::clone(&refund), clock.millis());
            Box::pin(async move { refund::write(batch, &refund, now).await })
        });
        // Only the entry of the donation tells which fundraiser the refund is about.
        let (recorded, fundraiser) = written.await?;
        if let Some(id) = fundraiser {
            self.cache.forget(id);
        }
        Ok(recorded)
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
