//! Removes old events, deliveries and answers, and what belonged to endpoints that were deleted.

use super::store;
use crate::webhooks::endpoints::store as endpoints;
use crate::webhooks::events::{donation_subject, monthly_gift_subject};
use crate::webhooks::{DAY_MILLIS, Webhooks, events};
use platform::db::Tx;
use platform::lease::Lease;
use std::time::Duration;
use uuid::Uuid;

/// How long answers of receivers are kept, and deliveries that are finished.
const RETENTION_MILLIS: i64 = 30 * DAY_MILLIS;
/// Whoever holds this lease removes what is too old.
const LEASE: &str = "old events";
const LEASE_DURATION: Duration = Duration::from_secs(10);
/// The rows that one transaction removes.
const BATCH_SIZE: i64 = 500;

/// Erases what receivers answered to events about donations and monthly gifts of a donor, because it may repeat the body.
/// The answer to an attempt in progress is not stored.
pub(crate) async fn erase_answers(tx: &mut Tx, entries: &[i64], gifts: &[Uuid]) -> sqlx::Result<()> {
    let donations = entries.iter().map(|entry| donation_subject(*entry));
    let gifts = gifts.iter().map(|gift| monthly_gift_subject(*gift));
    let subjects: Vec<String> = donations.chain(gifts).collect();
    let mut busy = Vec::new();
    for subject in &subjects {
        busy.extend(store::list_busy(tx, subject).await?);
    }
    endpoints::lock_all(tx, busy).await?;
    for subject in &subjects {
        store::replace_leases(tx, subject, Uuid::now_v7()).await?;
        store::erase_answers(tx, subject).await?;
    }
    Ok(())
}

impl Webhooks {
    /// Removes what is too old, unless another server does. Returns the number of events.
    pub async fn clean_up(&self) -> sqlx::Result<u64> {
        let Some(lease) = Lease::try_acquire(&self.db, LEASE, LEASE_DURATION).await? else {
            return Ok(0);
        };
        let removed = lease.hold(self.remove_old()).await;
        lease.release().await?;
        removed
    }

    async fn remove_old(&self) -> sqlx::Result<u64> {
        let now = self.clock.millis();
        let mut tx = self.db.write().await?;
        store::remove_old_attempts(&mut tx, now - RETENTION_MILLIS).await?;
        tx.commit().await?;
        loop {
            let finished = store::list_finished(&self.db, now - RETENTION_MILLIS, BATCH_SIZE).await?;
            if finished.is_empty() {
                break;
            }
            let mut tx = self.db.write().await?;
            endpoints::lock_all(&mut tx, finished.iter().map(|(endpoint, _)| *endpoint)).await?;
            for (_, id) in finished {
                store::remove_finished(&mut tx, id).await?;
            }
            tx.commit().await?;
        }
        for endpoint in endpoints::list_deleted(&self.db).await? {
            while self
                .remove_deliveries(&store::list_of_endpoint(&self.db, endpoint, BATCH_SIZE).await?)
                .await?
            {}
            let mut tx = self.db.write().await?;
            endpoints::remove(&mut tx, endpoint).await?;
            tx.commit().await?;
        }
        self.remove_old_events().await
    }

    /// Removes deliveries to an endpoint that was deleted, and returns whether there were any.
    async fn remove_deliveries(&self, ids: &[Uuid]) -> sqlx::Result<bool> {
        if ids.is_empty() {
            return Ok(false);
        }
        let mut tx = self.db.write().await?;
        for id in ids {
            store::remove(&mut tx, *id).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Removes events that can no longer be replayed, with their deliveries.
    async fn remove_old_events(&self) -> sqlx::Result<u64> {
        let Some(before) = self.retained_since() else {
            return Ok(0);
        };
        let mut removed = 0;
        loop {
            let old = events::store::list_old(&self.db, before, BATCH_SIZE).await?;
            if old.is_empty() {
                return Ok(removed);
            }
            let mut tx = self.db.write().await?;
            let mut deliveries = Vec::new();
            for sequence in &old {
                let of_event = endpoints::list_of_event(&mut tx, *sequence).await?;
                deliveries.extend(of_event.into_iter().map(|endpoint| (endpoint, *sequence)));
            }
            endpoints::lock_all(&mut tx, deliveries.iter().map(|(endpoint, _)| *endpoint)).await?;
            for (endpoint, sequence) in deliveries {
                store::remove_of_event(&mut tx, endpoint, sequence).await?;
            }
            for sequence in &old {
                events::store::remove(&mut tx, *sequence).await?;
            }
            tx.commit().await?;
            removed += old.len() as u64;
        }
    }
}
