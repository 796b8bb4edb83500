//! Comments: the names and messages that donors show on the page of a fundraiser. Operators can remove them; the donation
//! stays.

use crate::ledger::store;
use access::audit::{self, Action, Actor};
use platform::db::Db;
use platform::ids::FundraiserId;

/// A comment on a fundraiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The sequence number of the donation in the ledger.
    pub sequence: i64,
    pub name: String,
    pub message: Option<String>,
    pub recorded_at: i64,
}

/// Removes a comment from public pages, with an audit entry. Returns `false` if the fundraiser has no such comment.
pub async fn remove(
    db: &Db,
    fundraiser: FundraiserId,
    sequence: i64,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    if store::find_fundraiser(db, sequence).await? != Some(fundraiser) {
        return Ok(false);
    }
    let mut tx = db.write().await?;
    if !store::hide_name(&mut tx, sequence, now).await? {
        return Ok(false);
    }
    let detail = format!("entry {sequence}");
    let action = Action::new(actor, "comment remove", &fundraiser.to_string(), detail);
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}
