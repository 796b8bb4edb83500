//! The SQL of the fingerprint of the secret.

use crate::db::{Db, Tx, read, run};

const FIND: &str = "select secret_fingerprint from store";
/// Changes nothing, but locks the row until the transaction ends.
const LOCK: &str = "update store set secret_fingerprint = secret_fingerprint returning secret_fingerprint";
const UPDATE: &str = "update store set secret_fingerprint = $1";

/// Finds the fingerprint of the secret. Returns `None` if the store has no secret yet.
pub(super) async fn find(db: &Db) -> sqlx::Result<Option<String>> {
    let stored: Option<Option<String>> = read!(db, c => sqlx::query_scalar(FIND).fetch_optional(c).await)?;
    Ok(stored.flatten())
}

/// Locks the fingerprint until the transaction ends, and returns it.
pub(super) async fn lock(tx: &mut Tx) -> sqlx::Result<Option<String>> {
    run!(tx, c => sqlx::query_scalar(LOCK).fetch_one(c).await)
}

/// Stores the fingerprint of a new secret.
pub(super) async fn update(tx: &mut Tx, fingerprint: &str) -> sqlx::Result<()> {
    run!(tx, c => sqlx::query(UPDATE).bind(fingerprint).execute(c).await.map(|_| ()))
}
