//! Looks at a database without changing it: no file is created and no migration runs. For `causeway doctor`.

use super::{DatabaseKind, Db, Postgres, open, query};
use crate::clock::Clock;
use crate::data_folder;
use crate::settings::DatabaseSettings;
use anyhow::{Context, anyhow};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Connection as _, PgConnection};
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long the database may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const PING: &str = "select cast(1 as bigint)";
const SQLITE_VERSION: &str = "select sqlite_version()";
const POSTGRES_VERSION: &str = "select current_setting('server_version')";
/// In microseconds.
const POSTGRES_CLOCK: &str = "select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)";
/// A slower answer says too little about the time.
const MAX_CLOCK_LATENCY: Duration = Duration::from_secs(1);
const SYNCHRONOUS_COMMIT: &str = "select current_setting('synchronous_commit')";
const IS_REPLICA: &str = "select pg_is_in_recovery()";
/// True of a database without tables, which the server creates.
const HAS_RIGHTS: &str = "select coalesce(bool_and(has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert') \
     and has_table_privilege(c.oid, 'update')), true) from pg_class c join pg_namespace n on n.oid = c.relnamespace \
     where n.nspname = 'public' and c.relkind = 'r' and c.relname in ('store', 'keys', 'donations', 'ledger_head')";
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
    /// Whether the role of PostgreSQL may read and write the tables.
    pub has_rights: bool,
    /// The migrations of this version that have not run.
    pub pending_migrations: usize,
    /// The migrations that this version does not know.
    pub unknown_migrations: Vec<i64>,
}

/// The clock of the database at a moment of the monotonic clock.
struct ClockReading {
    micros: i64,
    at: Instant,
    latency: Duration,
    /// How many milliseconds the clock of this machine is ahead, or behind if negative.
    skew: i64,
}

/// Compares the clocks. The database reads its own at some moment between our two readings.
async fn read_clock(pool: &sqlx::PgPool, clock: &Clock) -> sqlx::Result<ClockReading> {
    let running = Clock::default();
    let (before, begin) = (clock.machine_millis(), running.instant());
    let micros: i64 = sqlx::query_scalar(POSTGRES_CLOCK).fetch_one(pool).await?;
    let (after, latency) = (clock.machine_millis(), running.instant() - begin);
    let database = micros / 1_000;
    Ok(ClockReading {
        micros,
        at: begin + latency / 2,
        latency,
        skew: (before - database).max(0) + (after - database).min(0),
    })
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
        // First without a pool, which tries again until it gives up, and then does not say why.
        let connected = timeout(CONNECT_TIMEOUT, PgConnection::connect_with(&options)).await;
        match connected.context("PostgreSQL does not answer; check that it runs, and the network between")? {
            Ok(connection) => drop(connection.close().await),
            Err(error) => return Err(explain(&error)),
        }
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
                has_rights: true,
                pending_migrations: 0,
                unknown_migrations: Vec::new(),
            },
            Db::Postgres(postgres) => {
                let pool = &postgres.pool();
                Inspection {
                    kind: DatabaseKind::Postgres,
                    version: sqlx::query_scalar(POSTGRES_VERSION).fetch_one(pool).await?,
                    clock_skew: Some(read_clock(pool, &Clock::default()).await?.skew),
                    synchronous_commit: Some(sqlx::query_scalar(SYNCHRONOUS_COMMIT).fetch_one(pool).await?),
                    is_replica: sqlx::query_scalar(IS_REPLICA).fetch_one(pool).await?,
                    has_rights: sqlx::query_scalar(HAS_RIGHTS).fetch_one(pool).await?,
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

    /// Makes a clock follow that of PostgreSQL. Returns how many milliseconds the clock of this machine is ahead, or behind if
    /// negative; `None` if the database answers too slowly to tell, and on SQLite.
    pub async fn follow_clock(&self, clock: &Clock) -> sqlx::Result<Option<i64>> {
        let Db::Postgres(postgres) = self else {
            return Ok(None);
        };
        let reading = read_clock(&postgres.pool(), clock).await?;
        if reading.latency > MAX_CLOCK_LATENCY {
            return Ok(None);
        }
        clock.follow(reading.micros, reading.at);
        Ok(Some(reading.skew))
    }

    /// Runs a query that does nothing.
    pub async fn ping(&self) -> sqlx::Result<()> {
        let _: i64 = self.fetch_scalar(query(PING)).await?;
        Ok(())
    }
}

/// Says why a connection to PostgreSQL failed, and what to do.
fn explain(error: &sqlx::Error) -> anyhow::Error {
    match error {
        sqlx::Error::Database(error) => {
            let message = error.message();
            let advice = match error.code().as_deref() {
                Some("28P01" | "28000") => "correct the user and the password in database_url",
                Some("3D000") => "create the database, or correct its name in database_url",
                Some("53300") => "raise max_connections of PostgreSQL, or lower database.connections",
                _ => "see the log of PostgreSQL",
            };
            anyhow!("PostgreSQL refused the connection: {message}; {advice}")
        }
        sqlx::Error::Io(error) => anyhow!(
            "PostgreSQL cannot be reached: {error}; check that it runs, and the host and the port in database_url"
        ),
        error => anyhow!("PostgreSQL cannot be reached: {error}; check database_url"),
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
