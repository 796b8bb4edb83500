//! Removes old events, deliveries and answers, and what belonged to endpoints that were deleted.

use super::store;
use crate::webhooks::endpoints::store as endpoints;
use crate::webhooks::{DAY_MILLIS, Webhooks, events};

/// How long answers of receivers are kept, and deliveries that are finished.
const RETENTION_MILLIS: i64 = 30 * DAY_MILLIS;
/// The rows that one transaction removes.
const BATCH_SIZE: i64 = 500;

impl Webhooks {
    /// Removes what is too old. Returns the number of events.
    pub async fn clean_up(&self) -> sqlx::Result<u64> {
        let now = self.clock.millis();
        let mut tx = self.db.write().await?;
        store::remove_old_attempts(&mut tx, now - RETENTION_MILLIS).await?;
        tx.commit().await?;
        loop {
            let finished = store::list_finished(&self.db, now - RETENTION_MILLIS, BATCH_SIZE).await?;
            if !self.remove_deliveries(&finished).await? {
                break;
            }
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

    /// Removes deliveries, and returns whether there were any.
    async fn remove_deliveries(&self, ids: &[uuid::Uuid]) -> sqlx::Result<bool> {
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
            for sequence in &old {
                for endpoint in endpoints::list_of_event(&mut tx, *sequence).await? {
                    store::remove_of_event(&mut tx, endpoint, *sequence).await?;
                }
                events::store::remove(&mut tx, *sequence).await?;
            }
            tx.commit().await?;
            removed += old.len() as u64;
        }
    }
}
