//! The SQL of what nonprofits decide about fundraisers for them.

use super::NonprofitRule;
use platform::db::{Db, Tx, query};
use platform::ids::NonprofitId;

const FIND: &str = "select rule from fundraiser_rules where nonprofit_id = $1";
const SET: &str = "insert into fundraiser_rules (nonprofit_id, rule, changed_at) values ($1, $2, $3) \
     on conflict (nonprofit_id) do update set rule = excluded.rule, changed_at = excluded.changed_at \
     where fundraiser_rules.rule <> excluded.rule";

/// Finds the rule of a nonprofit.
pub async fn find(db: &Db, nonprofit: NonprofitId) -> sqlx::Result<NonprofitRule> {
    find_in(&mut db.view().await?, nonprofit).await
}

/// Finds the rule of a nonprofit within a transaction.
pub(crate) async fn find_in(tx: &mut Tx, nonprofit: NonprofitId) -> sqlx::Result<NonprofitRule> {
    let rule: Option<String> = tx.fetch_optional_scalar(query(FIND).bind(nonprofit.0)).await?;
    let rule = rule.as_deref().and_then(NonprofitRule::find);
    Ok(rule.unwrap_or(NonprofitRule::Open))
}

/// Sets the rule of a nonprofit. Returns `false` if it was the same.
pub async fn set(tx: &mut Tx, nonprofit: NonprofitId, rule: NonprofitRule, now: i64) -> sqlx::Result<bool> {
    let changed = tx
        .execute(query(SET).bind(nonprofit.0).bind(rule.as_str()).bind(now))
        .await?;
    Ok(changed > 0)
}
