//! The only way to write donations, refunds and fundraisers.

use crate::donations::donation::{self, Gift};
use crate::donations::outcome::{Recorded, Refused};
use crate::donations::refund::{self, Refund};
use crate::error::Error;
use crate::fundraisers::Fundraiser;
use crate::fundraisers::cache::Shelf;
use crate::fundraisers::write::{self, Order, Wanted};
use crate::idempotency::StoredResponse;
use crate::ledger::batch::Batch;
use crate::ledger::entry::OFFLINE;
use crate::ledger::prefetch::Asks;
use crate::ledger::writer::{Working, WriteError, Writer};
use platform::clock::Clock;
use platform::ids::{AccountId, FundraiserId};
use std::sync::Arc;

/// Writes donations, refunds and fundraisers, and drops the fundraisers that change from the cache, so that this
/// process never shows an older state than it has acknowledged. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    writer: Writer,
    cache: Arc<Shelf>,
    clock: Clock,
}

impl Recorder {
    pub fn new(writer: Writer, cache: Arc<Shelf>, clock: Clock) -> Recorder {
        Recorder { writer, cache, clock }
    }

    /// Records a donation, and returns once it is on disk. Recording it again changes nothing.
    pub async fn record(&self, gift: Gift) -> Result<Recorded, Refused> {
        if gift.source.as_str() == OFFLINE {
            return Err(Refused::ReservedSource);
        }
        let (gift, clock) = (Arc::new(gift), self.clock.clone());
        self.write(donation::asks(&gift), move |batch| {
            let (gift, now) = (Arc::clone(&gift), clock.millis());
            Box::pin(async move { donation::write(batch, &gift, now).await })
        })
        .await
    }

    /// Records a refund, and returns once it is on disk. Recording it again changes nothing.
    pub async fn refund(&self, refund: Refund) -> Result<Recorded, Refused> {
        let (refund, clock) = (Arc::new(refund), self.clock.clone());
        let written = self.write(Asks::default(), move |batch| {
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
        order: Order,
        respond: impl Fn(&Fundraiser, i64) -> StoredResponse + Send + Sync + 'static,
    ) -> Result<StoredResponse, Error> {
        let asks = Asks::about(order.fundraiser.id);
        let (order, respond, clock) = (Arc::new(order), Arc::new(respond), self.clock.clone());
        self.write(asks, move |batch| {
            let (order, respond, now) = (Arc::clone(&order), Arc::clone(&respond), clock.millis());
            Box::pin(async move { write::write_new(batch, &order, &*respond, now).await })
        })
        .await
    }

    /// Changes a fundraiser of an account. One that belongs to another account is not found.
    pub async fn change(
        &self,
        account: AccountId,
        id: FundraiserId,
        wanted: Wanted,
    ) -> Result<Fundraiser, Error> {
        let (wanted, clock) = (Arc::new(wanted), self.clock.clone());
        self.write(Asks::about(id), move |batch| {
            let (wanted, now) = (Arc::clone(&wanted), clock.millis());
            Box::pin(async move { write::write_change(batch, account, id, &wanted, now).await })
        })
        .await
    }

    /// Runs `work`, then drops the fundraiser that it is about from the cache, even if the work failed: the commit may
    /// have succeeded nevertheless.
    async fn write<T, E>(
        &self,
        asks: Asks,
        work: impl for<'a> Fn(&'a mut Batch) -> Working<'a, T, E> + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<WriteError> + Send + 'static,
    {
        let fundraiser = asks.fundraiser;
        let outcome = self.writer.run_asking(asks, work).await;
        if let Some(id) = fundraiser {
            self.cache.forget(id);
        }
        outcome
    }
}
