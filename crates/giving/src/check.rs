//! Proving the journal of a store: chain, numbers, balance, shares and totals, entry by entry.

use crate::fundraisers;
use crate::ledger::audit::Audit;
use crate::ledger::entry::Beneficiaries;
use crate::ledger::{outbox, store};
use platform::db::{Db, Tx};
use platform::ids::FundraiserId;
use platform::money::Cents;
use std::collections::HashMap;

const AT_ONCE: i64 = 5_000;

/// What was proved, and what is wrong.
#[derive(Debug, Default)]
pub struct Proof {
    pub entries: i64,
    pub fundraisers: usize,
    /// One sentence each; a hundred at the most.
    pub faults: Vec<String>,
}

/// Proves the journal as it is at one moment.
pub async fn prove(db: &Db) -> sqlx::Result<Proof> {
    let mut tx = db.view().await?;
    let stored = fundraisers::store::list_supported(&mut tx).await?;
    let offline: Vec<(FundraiserId, Option<Cents>)> = fundraisers::store::list_offline(&mut tx).await?;
    let beneficiaries: HashMap<FundraiserId, Beneficiaries> = stored.into_iter().collect();
    let refunded = store::list_refunded(&mut tx).await?.into_iter().collect();
    let known = offline.iter().map(|(id, _)| *id).collect();
    let mut audit = Audit::new(known, beneficiaries, refunded);
    add_entries(&mut tx, &mut audit).await?;
    for sequence in store::list_before_first(&mut tx).await? {
        audit.note(format!("entry {sequence} stands before the first one"));
    }
    for sequence in store::list_stray_legs(&mut tx).await? {
        audit.note(format!("entry {sequence} has legs and is not in the journal"));
    }
    prove_ends(&mut tx, &mut audit).await?;
    for (id, told) in &offline {
        let proved = audit.offline(*id).unwrap_or_default();
        if told.unwrap_or_default() != proved {
            audit.note(format!(
                "fundraiser {id} says {} came in elsewhere, its entries {proved}",
                told.unwrap_or_default()
            ));
        }
    }
    Ok(Proof {
        entries: audit.head().0,
        fundraisers: offline.len(),
        faults: audit.faults(),
    })
}

/// Names the fundraisers whose cover is a hosted picture that does not exist, one sentence each.
pub async fn list_lost_covers(db: &Db) -> sqlx::Result<Vec<String>> {
    let lost = fundraisers::store::list_lost_covers(db).await?;
    let sentence = |(fundraiser, cover)| {
        format!("{cover} is not there, and is the cover of the fundraiser {fundraiser}")
    };
    Ok(lost.into_iter().map(sentence).collect())
}

/// Gives every entry to the audit. Where some cannot be read, one by one shows which.
async fn add_entries(tx: &mut Tx, audit: &mut Audit) -> sqlx::Result<()> {
    let mut most = AT_ONCE;
    loop {
        match store::list_after(tx, audit.head().0, most).await {
            Ok(entries) if entries.is_empty() => return Ok(()),
            Ok(entries) => entries.iter().for_each(|entry| audit.add(entry)),
            Err(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) if most > 1 => most = 1,
            Err(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => audit.skip(),
            Err(fault) => return Err(fault),
        }
    }
}

/// The head says where the journal and the outbox end, so that entries cut off at the end are missed too.
async fn prove_ends(tx: &mut Tx, audit: &mut Audit) -> sqlx::Result<()> {
    let head = store::find_head(tx).await?;
    let (entries, hash) = audit.head();
    if head.entries > entries {
        audit.note(format!(
            "entry {} is missing: the journal ends before it",
            entries + 1
        ));
    } else if head.entries < entries || head.hash != hash {
        audit.note(format!(
            "entry {entries} is not the one with which the journal ended"
        ));
    }
    let forgotten = outbox::find_forgotten(tx).await?;
    let expected = match head.events - forgotten {
        0 => (0, 0, 0),
        kept => (kept, forgotten + 1, head.events),
    };
    let (count, first, last) = outbox::find_extent(tx).await?;
    if (count, first, last) != expected {
        let (wanted, from, to) = expected;
        audit.note(format!(
            "the outbox holds {count} facts from {first} to {last}, and should hold {wanted} from {from} to {to}"
        ));
    }
    Ok(())
}
