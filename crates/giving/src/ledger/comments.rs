//! Comments: the names and messages that donors let everybody read on the page of a fundraiser. Operators can remove
//! them; the donation stays.

use access::audit::{self, Action, Actor};
use platform::db::{Db, from_row, read, run};
use platform::ids::FundraiserId;
use uuid::Uuid;

const LIST: &str = "select n.sequence, n.name, d.message, e.recorded_at from ledger_entries e \
     join donor_names n on n.sequence = e.sequence left join donations d on d.entry = e.sequence \
     where e.fundraiser_id = $1 and n.consented_at is not null and n.removed_at is null \
     order by e.sequence desc limit $2";
const FUNDRAISER: &str =
    "select fundraiser_id from ledger_entries where sequence = $1 and fundraiser_id is not null";
const REMOVE: &str = "update donor_names set removed_at = $2 \
     where sequence = $1 and consented_at is not null and removed_at is null";

/// A comment on a fundraiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The sequence number of the donation in the ledger.
    pub sequence: i64,
    pub name: String,
    pub message: Option<String>,
    pub recorded_at: i64,
}

from_row!(Comment {
    sequence,
    name,
    message,
    recorded_at,
});

/// Lists the comments on a fundraiser, newest first.
pub async fn list(db: &Db, id: FundraiserId, take: i64) -> sqlx::Result<Vec<Comment>> {
    read!(db, c => sqlx::query_as(LIST).bind(id.0).bind(take).fetch_all(c).await)
}

/// Finds the fundraiser that a donation was given to.
pub async fn find_fundraiser(db: &Db, sequence: i64) -> sqlx::Result<Option<FundraiserId>> {
    let id: Option<Uuid> =
        read!(db, c => sqlx::query_scalar(FUNDRAISER).bind(sequence).fetch_optional(c).await)?;
    Ok(id.map(FundraiserId))
}

/// Removes a comment from public pages, with an audit entry. Returns `false` if there is no such comment.
pub async fn remove(
    db: &Db,
    fundraiser: FundraiserId,
    sequence: i64,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    if find_fundraiser(db, sequence).await? != Some(fundraiser) {
        return Ok(false);
    }
    let mut tx = db.write().await?;
    let removed = run!(&mut tx, c => sqlx::query(REMOVE)
        .bind(sequence)
        .bind(now)
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    if removed == 0 {
        return Ok(false);
    }
    let detail = format!("entry {sequence}");
    let action = Action::new(actor, "comment remove", &fundraiser.to_string(), detail);
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}
