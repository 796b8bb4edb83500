//! Operators, who may block keys and set limits.

use super::{Username, store};
use crate::audit::{self, Action, Actor};
use crate::keys;
use platform::db::Db;

/// Sets whether an account is an operator. Returns `false` if there is no such account.
pub async fn set(db: &Db, username: &Username, operator: bool, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let Some(id) = store::set_operator_in(&mut tx, username, operator).await? else {
        return Ok(false);
    };
    keys::store::touch_all_in(&mut tx, id).await?;
    let detail = if operator { "on" } else { "off" };
    let action = Action::new(actor, "account operator", username.as_str(), detail);
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}
