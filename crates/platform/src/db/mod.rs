//! The database: SQLite or PostgreSQL. No other module distinguishes the two.
//!
//! One SQL text serves both: `run!` expands a call once for SQLite and once for PostgreSQL, so the compiler checks
//! both. Writes go through [`Db::write`], which takes the write lock at once.

mod breaker;
mod bulk;
mod changes;
mod copy;
mod dump;
mod inspect;
mod listen;
mod open;
mod pool;
mod postgres;
mod postgres_tools;
mod query;
mod revision;
mod row;
mod servers;
mod store_error;
pub mod tables;
mod watch;

pub use crate::{from_row, read, run};
pub use breaker::Permit;
pub use bulk::Value;
pub use changes::{Changes, Follower};
pub use copy::TableContent;
pub use dump::{DatabaseKind, DumpFormat, ScratchDatabase, StoreFacts};
pub use inspect::Inspection;
pub use open::is_away;
pub use pool::PoolStatus;
pub use postgres::{Postgres, PostgresTx};
pub use query::{Parameter, Query, Row, query};
pub use revision::{Revision, Topic};
pub use store_error::StoreError;

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Sqlite, SqliteConnection, SqlitePool, Transaction};
use std::time::Duration;

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
const PREFER_INDEXES: &str = "set local enable_seqscan = off";
const OVERWRITE_DELETED: &str = "pragma secure_delete = on";
const TRUNCATE_LOG: &str = "pragma wal_checkpoint(truncate)";
/// Writes wait for locks only as long as `database.lock_timeout`, but have no limit otherwise: if PostgreSQL cancels a commit
/// that waits for its standby, it acknowledges the commit although the standby does not have it.
const BEGIN_POSTGRES: &str = "begin; set local statement_timeout = 0";
const BEGIN_VIEW: &str = "begin isolation level repeatable read, read only";
const BEGIN_LONG_VIEW: &str =
    "begin isolation level repeatable read, read only; set local statement_timeout = 0";

// A future is compiled where it is awaited, and with it what it awaits. Those of these functions are boxed, so that the
// pools and connections of sqlx are compiled in this crate, and not again in every crate that has a transaction.
impl Db {
    /// Begins a transaction that writes.
    pub fn write(&self) -> BoxFuture<'_, sqlx::Result<Tx>> {
        Box::pin(async move {
            match self {
                // SQLite takes its write lock at once, so two writers queue here instead of failing at commit.
                Db::Sqlite { writer, .. } => Ok(Tx::Sqlite(writer.begin_with(BEGIN).await?)),
                Db::Postgres(postgres) => Ok(Tx::Postgres(postgres.begin(BEGIN_POSTGRES).await?)),
            }
        })
    }

    /// Begins a transaction that reads one consistent state of the database.
    pub fn view(&self) -> BoxFuture<'_, sqlx::Result<Tx>> {
        self.begin_view(BEGIN_VIEW)
    }

    /// Begins a transaction that reads one consistent state of the database, and whose statements may take any time.
    pub fn long_view(&self) -> BoxFuture<'_, sqlx::Result<Tx>> {
        self.begin_view(BEGIN_LONG_VIEW)
    }

    fn begin_view(&self, begin: &'static str) -> BoxFuture<'_, sqlx::Result<Tx>> {
        Box::pin(async move {
            match self {
                Db::Sqlite { readers, .. } => Ok(Tx::Sqlite(readers.begin().await?)),
                Db::Postgres(postgres) => Ok(Tx::Postgres(postgres.begin(begin).await?)),
            }
        })
    }

    /// Removes deleted data from SQLite's write-ahead log. Returns `false` if the log is in use. Does nothing on PostgreSQL,
    /// which has autovacuum.
    pub fn truncate_log(&self) -> BoxFuture<'_, sqlx::Result<bool>> {
        Box::pin(async move {
            match self {
                Db::Sqlite { writer, .. } => {
                    let is_busy: i64 = sqlx::query_scalar(TRUNCATE_LOG).fetch_one(writer).await?;
                    Ok(is_busy == 0)
                }
                Db::Postgres(_) => Ok(true),
            }
        })
    }

    /// Returns how long a trivial query may take, with the wait for a connection: never less than the operator lets
    /// requests wait for one.
    pub fn response_timeout(&self) -> Duration {
        let acquire_timeout = match self {
            Db::Sqlite { readers, .. } => readers.options().get_acquire_timeout(),
            Db::Postgres(postgres) => postgres.pool().options().get_acquire_timeout(),
        };
        acquire_timeout.max(PING_TIMEOUT)
    }

    /// Returns whether the database responds, if only with a refusal. SQLite always does.
    pub fn responds(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            match self {
                Db::Sqlite { .. } => true,
                Db::Postgres(postgres) => postgres.responds().await,
            }
        })
    }

    /// Uses the connections of `connected` in place of none, after [`disconnected`](Db::disconnected).
    pub fn adopt(&self, connected: &Db) {
        if let (Db::Postgres(this), Db::Postgres(connected)) = (self, connected) {
            this.adopt(connected);
        }
    }

    /// Closes all connections.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self {
                Db::Sqlite { readers, writer } => {
                    readers.close().await;
                    writer.close().await;
                }
                Db::Postgres(postgres) => postgres.pool().close().await,
            }
        })
    }
}

impl Tx {
    /// Commits the transaction.
    pub fn commit(self) -> BoxFuture<'static, sqlx::Result<()>> {
        Box::pin(async move {
            match self {
                Tx::Sqlite(tx) => tx.commit().await,
                Tx::Postgres(tx) => tx.commit().await,
            }
        })
    }

    /// Makes SQLite overwrite everything that is deleted from now on, even if that needs more writes.
    pub async fn overwrite_deleted(&mut self) -> sqlx::Result<()> {
        match self.connection() {
            Connection::Sqlite(c) => sqlx::query(OVERWRITE_DELETED).execute(c).await.map(|_| ()),
            Connection::Postgres(_) => Ok(()),
        }
    }

    /// Makes PostgreSQL look up rows by an index, for queries that each name a few hundred keys.
    ///
    /// It knows nothing about the keys of a table that was never analyzed, and would read all of it for every query.
    pub async fn prefer_indexes(&mut self) -> sqlx::Result<()> {
        match self.connection() {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(c) => sqlx::query(PREFER_INDEXES).execute(c).await.map(|_| ()),
        }
    }

    /// Returns the connection of the transaction.
    pub fn connection(&mut self) -> Connection<'_> {
        match self {
            Tx::Sqlite(tx) => Connection::Sqlite(tx),
            Tx::Postgres(tx) => Connection::Postgres(tx.parts().1),
        }
    }
}
