//! The SQL of consents.

use super::Consent;
use platform::db::{Db, Tx, from_row, query};
use platform::ids::{AccountId, NonprofitId};
use uuid::Uuid;

macro_rules! consents {
    ($rest:literal) => {
        concat!(
            "select nonprofit_id, account_id, officer, position, version, wording, given_at, withdrawn_at from consents ",
            $rest
        )
    };
}

const CURRENT: &str = consents!("where nonprofit_id = $1 and withdrawn_at is null");
const ALL: &str = consents!("order by given_at, id");
const INSERT: &str = "insert into consents (id, nonprofit_id, account_id, officer, position, version, wording, given_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing";
const WITHDRAW: &str =
    "update consents set withdrawn_at = $2 where nonprofit_id = $1 and withdrawn_at is null";

struct ConsentRow {
    nonprofit_id: Uuid,
    account_id: Uuid,
    officer: String,
    position: String,
    version: String,
    wording: String,
    given_at: i64,
    withdrawn_at: Option<i64>,
}

from_row!(ConsentRow {
    nonprofit_id,
    account_id,
    officer,
    position,
    version,
    wording,
    given_at,
    withdrawn_at,
});

fn consent(row: ConsentRow) -> Consent {
    Consent {
        nonprofit: NonprofitId(row.nonprofit_id),
        account: AccountId(row.account_id),
        officer: row.officer,
        position: row.position,
        version: row.version,
        wording: row.wording,
        given_at: row.given_at,
        withdrawn_at: row.withdrawn_at,
    }
}

/// Finds the consent of a nonprofit that is in force.
pub async fn find(db: &Db, nonprofit: NonprofitId) -> sqlx::Result<Option<Consent>> {
    let row: Option<ConsentRow> = db.fetch_optional(query(CURRENT).bind(nonprofit.0)).await?;
    Ok(row.map(consent))
}

/// Lists all consents, oldest first, also those that were withdrawn.
pub async fn list(db: &Db) -> sqlx::Result<Vec<Consent>> {
    let rows: Vec<ConsentRow> = db.fetch_all(query(ALL)).await?;
    Ok(rows.into_iter().map(consent).collect())
}

/// Inserts a consent. Returns `false` if one is in force.
pub async fn insert(tx: &mut Tx, new: &Consent) -> sqlx::Result<bool> {
    let inserted = tx
        .execute(
            query(INSERT)
                .bind(Uuid::now_v7())
                .bind(new.nonprofit.0)
                .bind(new.account.0)
                .bind(&new.officer)
                .bind(&new.position)
                .bind(&new.version)
                .bind(&new.wording)
                .bind(new.given_at),
        )
        .await?;
    Ok(inserted > 0)
}

/// Withdraws the consent of a nonprofit. Returns `false` if none is in force.
pub async fn withdraw(tx: &mut Tx, nonprofit: NonprofitId, now: i64) -> sqlx::Result<bool> {
    let withdrawn = tx.execute(query(WITHDRAW).bind(nonprofit.0).bind(now)).await?;
    Ok(withdrawn > 0)
}
