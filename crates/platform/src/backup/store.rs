//! The SQL of the last backup.

use crate::db::{Db, from_row, query};

/// The last complete backup of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastBackup {
    /// In milliseconds since the Unix epoch.
    pub created_at: i64,
    pub verified_at: Option<i64>,
    pub destination: String,
    pub bytes: i64,
}

from_row!(LastBackup {
    created_at,
    verified_at,
    destination,
    bytes,
});

const FIND: &str = "select created_at, verified_at, destination, bytes from backups where id = 1";
const UPSERT: &str = "insert into backups (id, created_at, verified_at, destination, bytes) values (1, $1, $2, $3, $4) \
     on conflict (id) do update set created_at = excluded.created_at, verified_at = excluded.verified_at, \
     destination = excluded.destination, bytes = excluded.bytes";

/// Finds the last backup.
pub async fn find(db: &Db) -> sqlx::Result<Option<LastBackup>> {
    db.fetch_optional(query(FIND)).await
}

/// Records a backup in place of the last one.
pub async fn update(db: &Db, backup: &LastBackup) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(
        query(UPSERT)
            .bind(backup.created_at)
            .bind(backup.verified_at)
            .bind(&backup.destination)
            .bind(backup.bytes),
    )
    .await?;
    tx.commit().await
}
