//! The outbox: every fact once more, in the transaction that made it, for whoever is to be told of it.
//!
//! Its numbers have no gaps and come in the order of commits, so a reader that remembers the last one misses nothing.

use super::writer::Batch;
use crate::db::{Db, Tx, read, run};
use crate::ids::FundraiserId;
use serde_json::Value;
use uuid::Uuid;

const INSERT: &str =
    "insert into outbox (sequence, kind, fundraiser_id, body, created_at) values ($1, $2, $3, $4, $5)";
const LAST: &str = "select events from journal_head where id = 1";
const EXTENT: &str = "select count(*), coalesce(max(sequence), 0) from outbox";
const TOUCHED: &str = "select distinct fundraiser_id from outbox where sequence > $1 and sequence <= $2 \
     and fundraiser_id is not null";

impl Batch {
    /// Adds a fact.
    pub async fn tell(
        &mut self,
        kind: &'static str,
        fundraiser: Option<FundraiserId>,
        body: &Value,
        now: i64,
    ) -> sqlx::Result<()> {
        self.head.events += 1;
        let sequence = self.head.events;
        run!(&mut self.tx, c => sqlx::query(INSERT)
            .bind(sequence)
            .bind(kind)
            .bind(fundraiser.map(|id| id.0))
            .bind(body.to_string())
            .bind(now)
            .execute(c)
            .await
            .map(|_| ()))
    }
}

/// The number of the last fact.
pub async fn find_last(db: &Db) -> sqlx::Result<i64> {
    read!(db, c => sqlx::query_scalar(LAST).fetch_one(c).await)
}

/// How many facts there are, and the number of the last.
pub async fn find_extent(tx: &mut Tx) -> sqlx::Result<(i64, i64)> {
    run!(tx, c => sqlx::query_as(EXTENT).fetch_one(c).await)
}

/// The fundraisers that facts after one number, up to another, are about.
pub async fn list_touched(db: &Db, after: i64, last: i64) -> sqlx::Result<Vec<FundraiserId>> {
    let ids: Vec<Uuid> =
        read!(db, c => sqlx::query_scalar(TOUCHED).bind(after).bind(last).fetch_all(c).await)?;
    Ok(ids.into_iter().map(FundraiserId).collect())
}
