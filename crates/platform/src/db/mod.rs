//! The store, and the only place that knows there are two databases.
//!
//! A statement is one text for both: `run!` expands a call once for SQLite and once for PostgreSQL, so the compiler
//! checks both. Writes go through [`Db::write`], which takes the write lock at once.

mod open;
mod row;
mod store_error;

pub use crate::{from_row, read, run};
pub use store_error::StoreError;

use sqlx::{PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool, Transaction};
use std::time::Duration;
use tokio::time::timeout;

/// An open store.
#[derive(Clone, Debug)]
pub enum Db {
    Sqlite { readers: SqlitePool, writer: SqlitePool },
    Postgres(PgPool),
}

/// A transaction on either database.
#[derive(Debug)]
pub enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// A connection inside a transaction, for code that differs between the two.
#[derive(Debug)]
pub enum Connection<'a> {
    Sqlite(&'a mut SqliteConnection),
    Postgres(&'a mut PgConnection),
}

/// Runs an expression on a transaction: `run!(tx, c => sqlx::query(SQL).execute(c)).await`.
#[macro_export]
macro_rules! run {
    ($tx:expr, $c:ident => $call:expr) => {
        match $tx {
            $crate::db::Tx::Sqlite(tx) => {
                let $c = &mut **tx;
                $call
            }
            $crate::db::Tx::Postgres(tx) => {
                let $c = &mut **tx;
                $call
            }
        }
    };
}

/// Runs an expression on a reading pool: `read!(db, c => sqlx::query(SQL).fetch_one(c)).await`.
#[macro_export]
macro_rules! read {
    ($db:expr, $c:ident => $call:expr) => {
        match $db {
            $crate::db::Db::Sqlite { readers: $c, .. } => $call,
            $crate::db::Db::Postgres($c) => $call,
        }
    };
}

/// How long the database may say nothing to a question that takes no work.
const SILENCE: Duration = Duration::from_secs(5);

const BEGIN: &str = "begin immediate";
const REVISION: &str = "select revision from revisions where topic = $1";
const RAISE_REVISION: &str =
    "update revisions set revision = revision + 1 where topic = $1 returning revision";

impl Db {
    /// A transaction that writes.
    pub async fn write(&self) -> sqlx::Result<Tx> {
        match self {
            // SQLite takes its write lock at once, so two writers queue here instead of failing at commit.
            Db::Sqlite { writer, .. } => match writer.begin_with(BEGIN).await {
                // After a commit that the disk refused, the connection still counts itself inside the transaction
                // that is gone, and would refuse every other from then on. A new one takes its place.
                Err(sqlx::Error::InvalidSavePointStatement) => {
                    writer.acquire().await?.close().await?;
                    Ok(Tx::Sqlite(writer.begin_with(BEGIN).await?))
                }
                begun => Ok(Tx::Sqlite(begun?)),
            },
            Db::Postgres(pool) => Ok(Tx::Postgres(pool.begin().await?)),
        }
    }

    /// A transaction that reads one moment of the store, however long it takes.
    pub async fn view(&self) -> sqlx::Result<Tx> {
        match self {
            Db::Sqlite { readers, .. } => Ok(Tx::Sqlite(readers.begin().await?)),
            Db::Postgres(pool) => {
                let begin = "begin isolation level repeatable read, read only";
                Ok(Tx::Postgres(pool.begin_with(begin).await?))
            }
        }
    }

    /// The current number of a topic.
    pub async fn revision(&self, topic: Topic) -> sqlx::Result<i64> {
        let asked =
            async { read!(self, c => sqlx::query_scalar(REVISION).bind(topic.name()).fetch_one(c).await) };
        // Running servers ask this all the time; over a connection that fell silent they would wait for ever.
        timeout(SILENCE, asked)
            .await
            .unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// Ends all connections.
    pub async fn close(&self) {
        match self {
            Db::Sqlite { readers, writer } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Postgres(pool) => pool.close().await,
        }
    }
}

impl Tx {
    /// Makes what was written stand.
    pub async fn commit(self) -> sqlx::Result<()> {
        match self {
            Tx::Sqlite(tx) => tx.commit().await,
            Tx::Postgres(tx) => tx.commit().await,
        }
    }

    /// The connection inside.
    pub fn connection(&mut self) -> Connection<'_> {
        match self {
            Tx::Sqlite(tx) => Connection::Sqlite(tx),
            Tx::Postgres(tx) => Connection::Postgres(tx),
        }
    }

    /// The number of a topic as this transaction sees it.
    pub async fn revision(&mut self, topic: Topic) -> sqlx::Result<i64> {
        run!(self, c => sqlx::query_scalar(REVISION).bind(topic.name()).fetch_one(c).await)
    }

    /// Raises the number of a topic. On PostgreSQL this also makes writers of one topic queue.
    pub async fn increment_revision(&mut self, topic: Topic) -> sqlx::Result<i64> {
        run!(self, c => sqlx::query_scalar(RAISE_REVISION).bind(topic.name()).fetch_one(c).await)
    }
}

/// What a running server watches for changes.
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
