//! Checks the ledger of a database: chain, sequence numbers, balance, mode, shares and totals of every entry, the balances
//! of the books, or all of this after a checkpoint.

use crate::books::balances::Balances;
use crate::donations::receipts::StoredReceipt;
use crate::donations::store as donations;
use crate::fundraisers;
use crate::ledger::audit::Audit;
use crate::ledger::checkpoints::{self, Checkpoint};
use crate::ledger::entry::{Beneficiaries, Entry, Totals, TotalsByMode};
use crate::ledger::{outbox, store};
use platform::db::{Db, Tx};
use platform::hosted;
use platform::ids::FundraiserId;
use platform::money::Cents;
use std::collections::HashMap;
use uuid::Uuid;

const BATCH_SIZE: i64 = 5_000;
const MAX_RECEIPT_DIFFERENCES: usize = 100;

/// The result of a comparison of the donations of the checkout with the ledger.
#[derive(Debug, Default)]
pub struct ReceiptCheck {
    pub receipts: usize,
    /// The number of differences.
    pub count: usize,
    /// One sentence for each difference, up to 100.
    pub differences: Vec<String>,
}

impl ReceiptCheck {
    fn add(&mut self, difference: String) {
        self.count += 1;
        if self.differences.len() < MAX_RECEIPT_DIFFERENCES {
            self.differences.push(difference);
        }
    }
}

/// Compares every donation of the checkout that is in the ledger with its entry: amount, mode, recipient, state and refunds.
pub async fn check_receipts(db: &Db) -> sqlx::Result<ReceiptCheck> {
    let mut tx = db.long_view().await?;
    let mut check = ReceiptCheck::default();
    let mut last = Uuid::nil();
    loop {
        let batch = donations::list_receipts(&mut tx, last, BATCH_SIZE).await?;
        let Some(end) = batch.last() else {
            break;
        };
        last = end.id;
        check.receipts += batch.len();
        for difference in batch.iter().filter_map(StoredReceipt::find_difference) {
            check.add(difference);
        }
    }
    for (sequence, id) in donations::list_without_receipt(&mut tx).await? {
        check.add(format!(
            "entry {sequence} is donation {id}, which was made here, but its receipt is missing"
        ));
    }
    Ok(check)
}

/// The result of a check of the ledger.
#[derive(Debug, Default)]
pub struct LedgerCheck {
    pub entries: i64,
    /// The number of entries at the start of the ledger that were not read, because an earlier check verified them.
    pub verified_before: i64,
    pub fundraisers: usize,
    /// The totals of all fundraisers together, of live entries.
    pub live: Totals,
    /// The same of live and test entries, which a server in test mode shows.
    pub live_and_test: Totals,
    /// The balances of the books.
    pub balances: Balances,
    /// One sentence each, up to 100.
    pub errors: Vec<String>,
    /// From where the next check can continue. `None` if there are no entries, or errors.
    pub checkpoint: Option<Checkpoint>,
}

/// Checks a consistent snapshot of the whole ledger.
pub async fn check(db: &Db) -> sqlx::Result<LedgerCheck> {
    check_after(db, None).await
}

/// Checks the ledger after a checkpoint. If the ledger does not contain the checkpoint, that is an error, and the whole
/// ledger is checked.
pub async fn check_after(db: &Db, checkpoint: Option<Checkpoint>) -> sqlx::Result<LedgerCheck> {
    let mut tx = db.long_view().await?;
    let mut replaced = None;
    let checkpoint = match checkpoint {
        Some(checkpoint) if store::find_hash(&mut tx, checkpoint.entries).await? != Some(checkpoint.hash) => {
            replaced = Some(format!(
                "entry {} is not the one that an earlier check verified: it is missing, or the ledger was rewritten",
                checkpoint.entries
            ));
            None
        }
        checkpoint => checkpoint,
    };
    let resumed = match checkpoint {
        None => None,
        Some(checkpoint) => {
            match checkpoints::store::find_prior_balances(&mut tx, checkpoint.entries).await {
                Ok(prior) => Some((checkpoint, prior)),
                // An entry cannot be read. The whole check names it.
                Err(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => None,
                Err(error) => return Err(error),
            }
        }
    };
    let verified_before = resumed.as_ref().map_or(0, |(checkpoint, _)| checkpoint.entries);
    let stored = fundraisers::store::list_supported(&mut tx).await?;
    let offline: Vec<(FundraiserId, Option<Cents>)> = fundraisers::store::list_offline(&mut tx).await?;
    let beneficiaries: HashMap<FundraiserId, Beneficiaries> = stored.into_iter().collect();
    let refunded = store::list_refunded(&mut tx, verified_before).await?;
    let refunded = refunded.into_iter().collect();
    let known = offline.iter().map(|(id, _)| *id).collect();
    let mut audit = match resumed {
        None => Audit::new(known, beneficiaries, refunded),
        Some((checkpoint, prior)) => Audit::resume(known, beneficiaries, refunded, &checkpoint, prior),
    };
    if let Some(error) = replaced {
        audit.add_error(error);
    }
    add_entries(&mut tx, &mut audit).await?;
    for sequence in store::list_before_first(&mut tx).await? {
        audit.add_error(format!("entry {sequence} comes before the first entry"));
    }
    for sequence in store::list_stray_postings(&mut tx, verified_before).await? {
        audit.add_error(format!("entry {sequence} has postings but is not in the ledger"));
    }
    for sequence in store::list_followed_twice(&mut tx, verified_before).await? {
        audit.add_error(format!(
            "entry {sequence} settles or reverses an entry that an earlier one already settled or reversed"
        ));
    }
    check_ends(&mut tx, &mut audit).await?;
    for (id, reported) in &offline {
        let recorded = audit.offline(*id).unwrap_or_default();
        if reported.unwrap_or_default() != recorded {
            audit.add_error(format!(
                "fundraiser {id} reports {} raised offline, but its entries add up to {recorded}",
                reported.unwrap_or_default()
            ));
        }
    }
    let totals = || offline.iter().map(|(id, _)| audit.totals(*id));
    let live = sum(totals().map(|totals| totals.live));
    let live_and_test = sum(totals().map(TotalsByMode::live_and_test));
    Ok(LedgerCheck {
        entries: audit.head().0,
        verified_before,
        fundraisers: offline.len(),
        live,
        live_and_test,
        balances: audit.balances().clone(),
        checkpoint: audit.checkpoint(),
        errors: audit.into_errors(),
    })
}

/// Adds up the totals of fundraisers.
fn sum(totals: impl Iterator<Item = Totals>) -> Totals {
    totals.fold(Totals::default(), |sum, totals| Totals {
        raised: Cents::new(sum.raised.get().saturating_add(totals.raised.get())),
        supporters: sum.supporters + totals.supporters,
    })
}

/// Lists the fundraisers whose cover is a hosted picture that does not exist, one sentence each, up to 100.
pub async fn list_lost_covers(db: &Db) -> sqlx::Result<Vec<String>> {
    let mut lost = Vec::new();
    for (fundraiser, cover) in fundraisers::store::list_covers_by_fundraiser(db).await? {
        if lost.len() == 100 {
            break;
        }
        if hosted::store::find(db, &cover).await?.is_none() {
            lost.push(format!(
                "the picture {cover}, the cover of fundraiser {fundraiser}, does not exist"
            ));
        }
    }
    Ok(lost)
}

/// Adds every entry to the audit. If a batch cannot be read, reads entry by entry to find the damaged one.
async fn add_entries(tx: &mut Tx, audit: &mut Audit) -> sqlx::Result<()> {
    let mut limit = BATCH_SIZE;
    loop {
        match store::list_after(tx, audit.head().0, limit).await {
            Ok(entries) if entries.is_empty() => return Ok(()),
            Ok(entries) => add_batch(tx, audit, &entries).await?,
            Err(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) if limit > 1 => limit = 1,
            Err(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => audit.skip(),
            Err(error) => return Err(error),
        }
    }
}

/// Adds entries to the audit, each with the entry that it follows from.
async fn add_batch(tx: &mut Tx, audit: &mut Audit, entries: &[Entry]) -> sqlx::Result<()> {
    let mut origins = HashMap::new();
    if entries.iter().any(|entry| entry.draft.origin.is_some()) {
        let last = entries.last().map_or(0, |entry| entry.sequence);
        let found = store::list_origins(tx, audit.head().0, last).await?;
        origins = found.into_iter().map(|entry| (entry.sequence, entry)).collect();
    }
    for entry in entries {
        let origin = entry.draft.origin.and_then(|sequence| origins.get(&sequence));
        audit.add(entry, origin);
    }
    Ok(())
}

/// Compares the ends of the ledger and the outbox with the head, which reveals entries cut off at the end.
async fn check_ends(tx: &mut Tx, audit: &mut Audit) -> sqlx::Result<()> {
    let head = store::find_head(tx).await?;
    let (entries, hash) = audit.head();
    if head.entries > entries {
        audit.add_error(format!(
            "entry {} is missing: the ledger ends before it",
            entries + 1
        ));
    } else if head.entries < entries || head.hash != hash {
        audit.add_error(format!("entry {entries} does not match the head of the ledger"));
    }
    let pruned = outbox::store::find_last_pruned(tx).await?;
    let expected = match head.events - pruned {
        0 => (0, 0, 0),
        retained => (retained, pruned + 1, head.events),
    };
    let (count, first, last) = outbox::store::find_extent(tx).await?;
    if (count, first, last) != expected {
        let (expected_count, from, to) = expected;
        audit.add_error(format!(
            "the outbox has {count} rows from {first} to {last} but should have {expected_count} from {from} to {to}"
        ));
    }
    Ok(())
}
