//! Collects what new entries of the books owe to nonprofits.

use super::store;
use crate::disbursement::{DisburseError, Disbursements};
use crate::ledger::batch::Batch;

/// Entries of the ledger that are read in one transaction.
const MAX_ENTRIES: i64 = 2_000;

impl Disbursements<'_> {
    /// Collects what the entries of the books owe that were made since the last time. It can be interrupted.
    pub async fn refresh_owed(self) -> Result<(), DisburseError> {
        while store::has_new_entries(self.db).await? {
            let work = self
                .recorder
                .run(|batch| Box::pin(async move { Ok(collect_in(batch).await?) }));
            let done: Result<(), DisburseError> = work.await;
            done?;
        }
        Ok(())
    }
}

/// Collects the next entries within a transaction.
async fn collect_in(batch: &mut Batch) -> sqlx::Result<()> {
    batch.flush().await?;
    let after = store::find_position(&mut batch.tx).await?;
    let last = batch.head.entries.min(after + MAX_ENTRIES);
    if last > after {
        store::collect(&mut batch.tx, after, last).await?;
        store::set_position(&mut batch.tx, last).await?;
    }
    Ok(())
}

/// Collects all entries within a transaction. [`Disbursements::refresh_owed`] leaves only the newest.
pub(super) async fn collect_all_in(batch: &mut Batch) -> sqlx::Result<()> {
    loop {
        collect_in(batch).await?;
        if store::find_position(&mut batch.tx).await? >= batch.head.entries {
            return Ok(());
        }
    }
}
