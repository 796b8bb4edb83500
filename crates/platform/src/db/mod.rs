//! The database: SQLite or PostgreSQL. No other module distinguishes the two.
//!
//! One SQL text serves both: `run!` expands a call once for SQLite and once for PostgreSQL, so the compiler checks
//! both. Writes go through [`Db::write`], which takes the write lock at once.

mod breaker;
mod open;
mod postgres;
mod row;
mod store_error;

pub use crate::{from_row, read, run};
pub use breaker::Permit;
pub use postgres::{Postgres, PostgresTx};
pub use store_error::StoreError;

use sqlx::{PgConnection, Sqlite, SqliteConnection, SqlitePool, Transaction};
use std::future::pending;
use std::time::Duration;
use tokio::time::timeout;

/// An open database.
#[derive(Clone, Debug)]
pub enum Db {
    Sqlite { readers: SqlitePool, writer: SqlitePool },
    Postgres(Postgres),
}

/// A transaction on either database.
#[derive(Debug)]
pub enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(PostgresTx),
}

/// A connection inside a transaction, for code that differs between the two databases.
#[derive(Debug)]
pub enum Connection<'a> {
    Sqlite(&'a mut SqliteConnection),
    Postgres(&'a mut PgConnection),
}

/// Runs an expression on a transaction: `run!(tx, c => sqlx::query(SQL).execute(c).await)?`. On PostgreSQL it fails as soon
/// as the database is known to be down.
#[macro_export]
macro_rules! run {
    ($tx:expr, $c:ident => $call:expr) => {
        match $tx {
            $crate::db::Tx::Sqlite(tx) => {
                let $c = &mut **tx;
                $call
            }
            $crate::db::Tx::Postgres(tx) => {
                let (permit, $c) = tx.parts();
                permit.run(async { $call }).await
            }
        }
    };
}

/// Runs an expression on the pool of readers: `read!(db, c => sqlx::query(SQL).fetch_one(c).await)?`. On PostgreSQL it fails
/// as soon as the database is known to be down.
#[macro_export]
macro_rules! read {
    ($db:expr, $c:ident => $call:expr) => {
        match $db {
            $crate::db::Db::Sqlite { readers: $c, .. } => $call,
            $crate::db::Db::Postgres(postgres) => {
                let (permit, pool) = (postgres.permit(), postgres.pool());
                let $c = &pool;
                permit.run(async { $call }).await
            }
        }
    };
}

/// How long the database may take to answer a trivial query.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

const BEGIN: &str = "begin immediate";
const OVERWRITE_DELETED: &str = "pragma secure_delete = on";
const TRUNCATE_LOG: &str = "pragma wal_checkpoint(truncate)";
const BEGIN_POSTGRES: &str = "begin";
const BEGIN_VIEW: &str = "begin isolation level repeatable read, read only";
const REVISION: &str = "select revision from revisions where topic = $1";
const INCREMENT_REVISION: &str =
    "update revisions set revision = revision + 1 where topic = $1 returning revision";

impl Db {
    /// Begins a transaction that writes.
    pub async fn write(&self) -> sqlx::Result<Tx> {
        match self {
            // SQLite takes its write lock at once, so two writers queue here instead of failing at commit.
            Db::Sqlite { writer, .. } => Ok(Tx::Sqlite(writer.begin_with(BEGIN).await?)),
            Db::Postgres(postgres) => Ok(Tx::Postgres(postgres.begin(BEGIN_POSTGRES).await?)),
        }
    }

    /// Begins a transaction that reads one consistent state of the database, however long it takes.
    pub async fn view(&self) -> sqlx::Result<Tx> {
        match self {
            Db::Sqlite { readers, .. } => Ok(Tx::Sqlite(readers.begin().await?)),
            Db::Postgres(postgres) => Ok(Tx::Postgres(postgres.begin(BEGIN_VIEW).await?)),
        }
    }

    /// Returns the current revision of a topic.
    pub async fn revision(&self, topic: Topic) -> sqlx::Result<i64> {
        let query =
            async { read!(self, c => sqlx::query_scalar(REVISION).bind(topic.name()).fetch_one(c).await) };
        // Running servers poll this. Without a timeout, a dead connection would block them forever.
        timeout(PING_TIMEOUT, query)
            .await
            .unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// Removes deleted data from SQLite's write-ahead log. Returns `false` if the log is in use. Does nothing on PostgreSQL,
    /// which has autovacuum.
    pub async fn truncate_log(&self) -> sqlx::Result<bool> {
        match self {
            Db::Sqlite { writer, .. } => {
                let is_busy: i64 = sqlx::query_scalar(TRUNCATE_LOG).fetch_one(writer).await?;
                Ok(is_busy == 0)
            }
            Db::Postgres(_) => Ok(true),
        }
    }

    /// Watches whether the database responds, until the task is dropped. While it does not, queries fail at once.
    ///
    /// Servers run this; a command waits for its database. SQLite is a file and needs no probe.
    pub async fn watch(&self) {
        match self {
            Db::Sqlite { .. } => pending().await,
            Db::Postgres(postgres) => postgres.watch().await,
        }
    }

    /// Closes all connections.
    pub async fn close(&self) {
        match self {
            Db::Sqlite { readers, writer } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Postgres(postgres) => postgres.pool().close().await,
        }
    }
}

impl Tx {
    /// Commits the transaction.
    pub async fn commit(self) -> sqlx::Result<()> {
        match self {
            Tx::Sqlite(tx) => tx.commit().await,
            Tx::Postgres(tx) => tx.commit().await,
        }
    }

    /// Makes SQLite overwrite everything that is deleted from now on, even if that needs more writes.
    pub async fn overwrite_deleted(&mut self) -> sqlx::Result<()> {
        match self.connection() {
            Connection::Sqlite(c) => sqlx::query(OVERWRITE_DELETED).execute(c).await.map(|_| ()),
            Connection::Postgres(_) => Ok(()),
        }
    }

    /// Returns the connection of the transaction.
    pub fn connection(&mut self) -> Connection<'_> {
        match self {
            Tx::Sqlite(tx) => Connection::Sqlite(tx),
            Tx::Postgres(tx) => Connection::Postgres(tx.parts().1),
        }
    }

    /// Returns the revision of a topic as this transaction sees it.
    pub async fn revision(&mut self, topic: Topic) -> sqlx::Result<i64> {
        run!(self, c => sqlx::query_scalar(REVISION).bind(topic.name()).fetch_one(c).await)
    }

    /// Increments the revision of a topic. On PostgreSQL this also serializes the writers of a topic.
    pub async fn increment_revision(&mut self, topic: Topic) -> sqlx::Result<i64> {
        run!(self, c => sqlx::query_scalar(INCREMENT_REVISION).bind(topic.name()).fetch_one(c).await)
    }
}

/// Data that running servers poll for changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Directory,
    Keys,
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Topic::Directory => "directory",
            Topic::Keys => "keys",
        }
    }
}
