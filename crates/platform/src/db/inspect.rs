//! Looks at a database without changing it: no file is created and no migration runs. For `causeway doctor`.

use super::{DatabaseKind, Db, Postgres, open, query};
use crate::clock::Clock;
use crate::data_folder;
use crate::settings::DatabaseSettings;
use anyhow::Context;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::timeout;

/// How long the database may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const PING: &str = "select cast(1 as bigint)";
const SQLITE_VERSION: &str = "select sqlite_version()";
const POSTGRES_VERSION: &str = "select current_setting('server_version')";
const POSTGRES_CLOCK: &str = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
const SYNCHRONOUS_COMMIT: &str = "select current_setting('synchronous_commit')";
const IS_REPLICA: &str = "select pg_is_in_recovery()";
const MIGRATIONS: &str = "select version from _sqlx_migrations order by version";

/// What a database says about itself.
#[derive(Clone, Debug)]
pub struct Inspection {
    pub kind: DatabaseKind,
    pub version: String,
    /// How many milliseconds this clock is ahead of that of PostgreSQL, or behind it if negative. The time that the answer
    /// took does not count.
    pub clock_skew: Option<i64>,
    /// The setting `synchronous_commit` of PostgreSQL.
    pub synchronous_commit: Option<String>,
    /// Whether this is a replica, which accepts no writes.
    pub is_replica: bool,
    /// The migrations of this version that have not run.
    pub pending_migrations: usize,
    /// The migrations that this version does not know.
    pub unknown_migrations: Vec<i64>,
}

/// Compares the clocks. The database reads its own at some moment between our two readings.
async fn find_skew(pool: &sqlx::PgPool) -> sqlx::Result<i64> {
    let before = Clock::default().millis();
    let database: i64 = sqlx::query_scalar(POSTGRES_CLOCK).fetch_one(pool).await?;
    let after = Clock::default().millis();
    Ok((before - database).max(0) + (after - database).min(0))
}

impl Inspection {
    /// Returns the major version.
    pub fn major_version(&self) -> u32 {
        let digits = self.version.split(|letter: char| !letter.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }
}

impl Db {
    /// Opens an existing database for reading. Returns `None` if the data folder has none yet.
    pub async fn open_existing(data: &Path, settings: &DatabaseSettings) -> anyhow::Result<Option<Db>> {
        let Some(url) = settings.exposed_url() else {
            return open_existing_sqlite(&data.join(data_folder::DATABASE)).await;
        };
        let options = PgConnectOptions::from_str(url)
            .context("database_url is not a PostgreSQL URL")?
            .application_name("causeway doctor");
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(CONNECT_TIMEOUT);
        let connected = Postgres::connect(options, pool, settings.probe_timeout);
        let connected = timeout(CONNECT_TIMEOUT, connected).await;
        let connected = connected.context("it does not answer")?;
        Ok(Some(Db::Postgres(connected?)))
    }

    /// Asks the database about itself.
    pub async fn inspect(&self) -> sqlx::Result<Inspection> {
        let mut inspection = match self {
            Db::Sqlite { readers, .. } => Inspection {
                kind: DatabaseKind::Sqlite,
                version: sqlx::query_scalar(SQLITE_VERSION).fetch_one(readers).await?,
                clock_skew: None,
                synchronous_commit: None,
                is_replica: false,
                pending_migrations: 0,
                unknown_migrations: Vec::new(),
            },
            Db::Postgres(postgres) => {
                let pool = &postgres.pool();
                Inspection {
                    kind: DatabaseKind::Postgres,
                    version: sqlx::query_scalar(POSTGRES_VERSION).fetch_one(pool).await?,
                    clock_skew: Some(find_skew(pool).await?),
                    synchronous_commit: Some(sqlx::query_scalar(SYNCHRONOUS_COMMIT).fetch_one(pool).await?),
                    is_replica: sqlx::query_scalar(IS_REPLICA).fetch_one(pool).await?,
                    pending_migrations: 0,
                    unknown_migrations: Vec::new(),
                }
            }
        };
        // A new database does not have the table yet.
        let applied: Vec<i64> = self.fetch_scalars(query(MIGRATIONS)).await.unwrap_or_default();
        let known = open::migration_numbers();
        inspection.pending_migrations = known.iter().filter(|number| !applied.contains(number)).count();
        inspection.unknown_migrations = applied
            .into_iter()
            .filter(|number| !known.contains(number))
            .collect();
        Ok(inspection)
    }

    /// Runs a query that does nothing.
    pub async fn ping(&self) -> sqlx::Result<()> {
        let _: i64 = self.fetch_scalar(query(PING)).await?;
        Ok(())
    }
}

async fn open_existing_sqlite(path: &Path) -> anyhow::Result<Option<Db>> {
    if !path.exists() {
        return Ok(None);
    }
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let readers = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await?;
    let writer = readers.clone();
    Ok(Some(Db::Sqlite { readers, writer }))
}
