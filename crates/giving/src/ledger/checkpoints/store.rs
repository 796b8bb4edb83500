//! The SQL of checkpoints. Reads the balances at a checkpoint from the entries and postings of the ledger.

use super::{Checkpoint, PriorBalances, mac};
use crate::ledger::entry::{Mode, Party};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::FundraiserId;
use platform::money::Cents;
use platform::secret::StoreSecret;
use uuid::Uuid;

const FIND: &str = "select entries, hash, sums, checked_at, mac from ledger_checkpoint where id = 1";
const REMOVE: &str = "delete from ledger_checkpoint";
const INSERT: &str =
    "insert into ledger_checkpoint (id, entries, hash, sums, checked_at, mac) values (1, $1, $2, $3, $4, $5)";
const DONORS: &str = "select d.fundraiser_id, d.mode, d.donor, cast(sum(e.amount) as bigint) from \
     (select distinct fundraiser_id, mode, donor from ledger_entries \
     where sequence > $1 and fundraiser_id is not null and donor is not null) d \
     join ledger_entries e on e.fundraiser_id = d.fundraiser_id and e.mode = d.mode and e.donor = d.donor and e.sequence <= $1 \
     group by d.fundraiser_id, d.mode, d.donor";
const REFUNDED_AFTER: &str = "select sequence, mode from ledger_entries where sequence in \
     (select refunds from ledger_entries where sequence > $1 and refunds <= $1)";
const HELD: &str = "select cast(p.position as bigint), p.party_id, cast(sum(p.amount) as bigint) from ledger_entries e \
     join ledger_postings p on p.sequence = e.sequence \
     where (e.sequence = $1 or e.refunds = $1) and e.sequence <= $2 and p.party = 'nonprofit' \
     group by p.position, p.party_id order by p.position";

struct CheckpointRow {
    entries: i64,
    hash: Vec<u8>,
    sums: String,
    checked_at: i64,
    mac: Vec<u8>,
}

from_row!(CheckpointRow {
    entries,
    hash,
    sums,
    checked_at,
    mac,
});

/// Finds the checkpoint. One with a wrong HMAC is not used.
pub async fn find(db: &Db, secret: &StoreSecret) -> sqlx::Result<Option<Checkpoint>> {
    let row: Option<CheckpointRow> = db.fetch_optional(query(FIND)).await?;
    let valid = row.filter(|row| {
        let expected = mac(secret, row.entries, &row.hash, &row.sums, row.checked_at);
        expected[..] == row.mac
    });
    Ok(valid.and_then(|row| {
        let (sums, balances) = Checkpoint::sums_from_json(&row.sums)?;
        Some(Checkpoint {
            entries: row.entries,
            hash: row.hash.try_into().ok()?,
            sums,
            balances,
        })
    }))
}

/// Replaces the checkpoint.
pub async fn save(db: &Db, secret: &StoreSecret, checkpoint: &Checkpoint, now: i64) -> sqlx::Result<()> {
    let sums = checkpoint.sums_to_json();
    let mac = mac(secret, checkpoint.entries, &checkpoint.hash, &sums, now);
    let mut tx = db.write().await?;
    remove(&mut tx).await?;
    tx.execute(
        query(INSERT)
            .bind(checkpoint.entries)
            .bind(checkpoint.hash.as_slice())
            .bind(&sums)
            .bind(now)
            .bind(mac.as_slice()),
    )
    .await?;
    tx.commit().await
}

/// Removes the checkpoint, so that the next check verifies the whole ledger.
pub async fn remove(tx: &mut Tx) -> sqlx::Result<()> {
    tx.execute(query(REMOVE)).await.map(|_| ())
}

/// Reads the balances at a checkpoint that the entries after it change.
pub(crate) async fn find_prior_balances(tx: &mut Tx, entries: i64) -> sqlx::Result<PriorBalances> {
    let mut prior = PriorBalances::default();
    let donors: Vec<(Uuid, String, String, i64)> = tx.fetch_all(query(DONORS).bind(entries)).await?;
    for (fundraiser, mode, donor, net) in donors {
        if let Some(mode) = Mode::find(&mode) {
            let key = (FundraiserId(fundraiser), mode, donor);
            prior.donors.insert(key, Cents::new(net));
        }
    }
    let refunded: Vec<(i64, String)> = tx.fetch_all(query(REFUNDED_AFTER).bind(entries)).await?;
    for (donation, mode) in refunded {
        let postings: Vec<(i64, String, i64)> =
            tx.fetch_all(query(HELD).bind(donation).bind(entries)).await?;
        let held = postings.into_iter().filter_map(|(_, id, cents)| {
            let Party::Nonprofit(id) = Party::find("nonprofit", &id)? else {
                return None;
            };
            Some((id, Cents::new(cents)))
        });
        prior.held.insert(donation, held.collect());
        if Mode::find(&mode) == Some(Mode::Test) {
            prior.refunded_tests.insert(donation);
        }
    }
    Ok(prior)
}
