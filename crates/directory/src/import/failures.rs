//! Imports that failed, so that operators who do not see the command line know about it. An import that succeeds removes
//! the failure of the same command.

use platform::db::{Db, from_row, read, run};

const RECORD: &str = "insert into import_failures (command, failed_at, error) values ($1, $2, $3) \
     on conflict (command) do update set failed_at = excluded.failed_at, error = excluded.error";
const REMOVE: &str = "delete from import_failures where command = $1";
const REMOVE_ALL: &str = "delete from import_failures";
const LIST: &str = "select command, failed_at, error from import_failures order by failed_at desc";

/// The command that imports everything, and so supersedes all others.
const ALL: &str = "all";

/// The last failure of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFailure {
    /// Such as `irs`, for `causeway import irs`.
    pub command: String,
    pub failed_at: i64,
    pub error: String,
}

from_row!(ImportFailure {
    command,
    failed_at,
    error,
});

/// Records how an import ended.
pub async fn record(db: &Db, command: &str, error: Option<&str>, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    match error {
        Some(error) => run!(&mut tx, c => sqlx::query(RECORD)
            .bind(command)
            .bind(now)
            .bind(error)
            .execute(c)
            .await
            .map(|_| ()))?,
        None if command == ALL => {
            run!(&mut tx, c => sqlx::query(REMOVE_ALL).execute(c).await.map(|_| ()))?;
        }
        None => run!(&mut tx, c => sqlx::query(REMOVE).bind(command).execute(c).await.map(|_| ()))?,
    }
    tx.commit().await
}

/// Lists the failures, newest first.
pub async fn list(db: &Db) -> sqlx::Result<Vec<ImportFailure>> {
    read!(db, c => sqlx::query_as(LIST).fetch_all(c).await)
}
