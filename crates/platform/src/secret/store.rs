//! The SQL of the fingerprint of the secret.

use crate::db::{Db, Tx, query};

const FIND: &str = "select secret_fingerprint from store";
/// Changes nothing, but locks the row until the transaction ends.
const LOCK: &str = "update store set secret_fingerprint = secret_fingerprint returning secret_fingerprint";
const UPDATE: &str = "update store set secret_fingerprint = $1";

/// Finds the fingerprint of the secret. Returns `None` if the store has no secret yet.
pub(super) async fn find(db: &Db) -> sqlx::Result<Option<String>> {
    let stored: Option<Option<String>> = db.fetch_optional_scalar(query(FIND)).await?;
    Ok(stored.flatten())
}

/// Locks the fingerprint until the transaction ends, and returns it.
pub(super) async fn lock(tx: &mut Tx) -> sqlx::Result<Option<String>> {
    tx.fetch_scalar(query(LOCK)).await
}

/// Stores the fingerprint of a new secret.
pub(super) async fn update(tx: &mut Tx, fingerprint: &str) -> sqlx::Result<()> {
    tx.execute(query(UPDATE).bind(fingerprint)).await.map(|_| ())
}
