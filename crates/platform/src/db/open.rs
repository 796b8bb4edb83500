//! Opens the database: pools, pragmas, migrations, and a check that commits are durable.
//!
//! A macro of ten lines embeds the migrations. Those of sqlx would compile both drivers a second time for the build machine,
//! which took half of a clean build.

use super::{Db, PING_TIMEOUT, Postgres, query};
use crate::data_folder;
use crate::settings::DatabaseSettings;
use anyhow::{Context, bail};
use futures_util::future::BoxFuture;
use sqlx::Connection as _;
use sqlx::SqlStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// Embeds the migrations in the binary.
macro_rules! migrations {
    ($($number:literal $file:literal,)*) => {
        [$((
            $number,
            $file,
            include_str!(concat!("../../../../migrations/sqlite/", $file, ".sql")),
            include_str!(concat!("../../../../migrations/postgres/", $file, ".sql")),
        ),)*]
    };
}

const MIGRATIONS: [MigrationSource; 36] = migrations! {
    1 "0001_directory",
    2 "0002_keys",
    3 "0003_usage",
    4 "0004_accounts",
    5 "0005_fundraisers",
    6 "0006_pictures",
    7 "0007_donations",
    8 "0008_partners",
    9 "0009_outbox",
    10 "0010_moderation",
    11 "0011_revision_tokens",
    12 "0012_leases",
    13 "0013_mail_queue",
    14 "0014_checkpoints",
    15 "0015_backups",
    16 "0016_facts",
    17 "0017_public_profiles",
    // No migration ever had the number 18. Databases record the numbers that ran, so the gap stays.
    19 "0019_sign_in",
    20 "0020_usage",
    21 "0021_change_feed",
    22 "0022_unused_pictures",
    23 "0023_changes_without_ein",
    24 "0024_ledger_names",
    25 "0025_lists",
    26 "0026_picture_quota",
    27 "0027_books",
    28 "0028_payments",
    29 "0029_monthly_gifts",
    30 "0030_guard",
    31 "0031_webhooks",
    32 "0032_notices",
    33 "0033_sharing",
    34 "0034_anchor_places",
    35 "0035_disbursement",
    36 "0036_eligibility",
    37 "0037_claims",
};

const BAD_URL: &str = "database_url is not a PostgreSQL URL; write postgres://user:password@host/database";
const RUNBOOK: &str = "; follow the runbook \"The database is damaged\" in docs/operate.md";
/// Counts 0 if the cluster was created without checksums.
const CHECKSUM_FAILURES: &str =
    "select coalesce(checksum_failures, 0) from pg_stat_database where datname = current_database()";
const STORE_ID: &str = "select id from store";
const INSERT_STORE_ID: &str = "insert into store (id, created_at) values ($1, $2)";
/// Changes nothing, but locks the row until the transaction ends.
const LOCK: &str = "update revisions set revision = revision where topic = 'directory'";

/// How long to wait for the write lock of SQLite. An import of all nonprofits holds it for less.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);
/// The value of `pragma synchronous` with which every commit is on disk before it is acknowledged.
const SYNCHRONOUS_FULL: i64 = 2;

impl Db {
    /// Opens the database that the settings name and runs pending migrations.
    pub fn open<'a>(data: &'a Path, settings: &'a DatabaseSettings) -> BoxFuture<'a, anyhow::Result<Db>> {
        Box::pin(async move {
            data_folder::open(data)?;
            let url = settings.exposed_url();
            // PostgreSQL serializes migrations by itself.
            let lock = match url {
                None => Some(lock_file(data.join("opening")).await?),
                Some(_) => None,
            };
            let db = match url {
                None => open_sqlite(&data.join(data_folder::DATABASE), settings).await?,
                Some(url) => open_postgres(url, settings).await?,
            };
            let migrated = match &db {
                Db::Sqlite { writer, .. } => migrator(|(_, _, sqlite, _)| sqlite).run(writer).await,
                Db::Postgres(_) => migrate_postgres(url.unwrap_or_default(), settings).await?,
            };
            match migrated {
                Ok(()) => {}
                Err(MigrateError::VersionMissing(version)) => bail!(
                    "the database was written by a newer version of Causeway (migration {version}); \
                     run that version, or restore a backup made by this one"
                ),
                Err(error) => return Err(error).context("could not migrate the database"),
            }
            drop(lock);
            Ok(db)
        })
    }

    /// Creates a PostgreSQL database without a connection, for a server that starts while it is down. Queries fail at once
    /// until [`adopt`](Db::adopt) is called. Returns `None` for SQLite.
    pub fn disconnected(settings: &DatabaseSettings) -> anyhow::Result<Option<Db>> {
        let Some(url) = settings.exposed_url() else {
            return Ok(None);
        };
        let (options, pool_options) = postgres_options(url, settings)?;
        let postgres = Postgres::disconnected(options, pool_options, settings.probe_timeout);
        Ok(Some(Db::Postgres(postgres)))
    }

    /// Makes SQLite read every page of its file and compare every index with its table. On PostgreSQL, asks whether it has
    /// read damaged pages.
    ///
    /// # Errors
    ///
    /// If there is damage.
    pub fn check_integrity(&self) -> BoxFuture<'_, anyhow::Result<()>> {
        self.check_pages("pragma integrity_check")
    }

    /// Checks the same, but leaves out the indexes of SQLite.
    pub fn check_integrity_quickly(&self) -> BoxFuture<'_, anyhow::Result<()>> {
        self.check_pages("pragma quick_check")
    }

    fn check_pages(&self, pragma: &'static str) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(async move {
            let Db::Sqlite { readers, .. } = self else {
                return self.check_checksums().await;
            };
            let path = readers.connect_options().get_filename().display().to_string();
            let report: Vec<String> = sqlx::query_scalar(pragma)
                .fetch_all(readers)
                .await
                .with_context(|| format!("could not read the database {path}{RUNBOOK}"))?;
            match report.first().map(String::as_str) {
                Some("ok") => Ok(()),
                first => bail!(
                    "the database {path} is damaged: {}{RUNBOOK}",
                    first.unwrap_or("the integrity check returned nothing")
                ),
            }
        })
    }

    async fn check_checksums(&self) -> anyhow::Result<()> {
        let failures: i64 = self.fetch_scalar(query(CHECKSUM_FAILURES)).await?;
        if failures > 0 {
            bail!("PostgreSQL has read {failures} damaged pages of this database{RUNBOOK}");
        }
        Ok(())
    }

    /// Returns the ID of this database, which is generated at its first use.
    pub fn identity(&self, now: i64) -> BoxFuture<'_, sqlx::Result<Uuid>> {
        Box::pin(async move {
            let stored: Option<Uuid> = self.fetch_optional_scalar(query(STORE_ID)).await?;
            if let Some(id) = stored {
                return Ok(id);
            }
            let mut tx = self.write().await?;
            // If several processes start at once, one generates the ID and the others wait for it here.
            tx.execute(query(LOCK)).await?;
            let stored: Option<Uuid> = tx.fetch_optional_scalar(query(STORE_ID)).await?;
            let id = stored.unwrap_or_else(Uuid::now_v7);
            if stored.is_none() {
                tx.execute(query(INSERT_STORE_ID).bind(id).bind(now)).await?;
            }
            tx.commit().await?;
            Ok(id)
        })
    }
}

/// Waits for an exclusive lock on a file. The lock is released when the file is dropped or the process ends.
///
/// Only one process at a time may open the embedded database: two that create its tables at once would fail.
async fn lock_file(path: PathBuf) -> anyhow::Result<File> {
    let context = format!("could not lock {}", path.display());
    let lock = tokio::task::spawn_blocking(move || {
        let file = data_folder::open_file(&path)?;
        file.lock().map(|()| file)
    });
    lock.await?.context(context)
}

/// Number, name, SQL for SQLite, SQL for PostgreSQL.
type MigrationSource = (i64, &'static str, &'static str, &'static str);

/// Returns the number of the last migration.
pub(super) fn newest_migration() -> i64 {
    MIGRATIONS.last().map_or(0, |(number, ..)| *number)
}

/// Returns the numbers of all migrations.
pub(crate) fn migration_numbers() -> Vec<i64> {
    MIGRATIONS.iter().map(|(number, ..)| *number).collect()
}

fn migrator(sql: impl Fn(&MigrationSource) -> &'static str) -> Migrator {
    let migration = |source: &MigrationSource| {
        let (number, name, ..) = *source;
        Migration::new(
            number,
            name.into(),
            MigrationType::Simple,
            SqlStr::from_static(sql(source)),
            false,
        )
    };
    Migrator::with_migrations(MIGRATIONS.iter().map(migration).collect())
}

/// Runs pending migrations on a connection without limits: they may create an index of a large table, and they wait for
/// those of another server.
async fn migrate_postgres(
    url: &str,
    settings: &DatabaseSettings,
) -> anyhow::Result<Result<(), MigrateError>> {
    let options = PgConnectOptions::from_str(url)
        .context(BAD_URL)?
        .application_name(&settings.application_name);
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(settings.acquire_timeout)
        .connect_with(options)
        .await
        .context("could not connect to PostgreSQL")?;
    let migrated = migrator(|(_, _, _, postgres)| postgres).run(&pool).await;
    pool.close().await;
    Ok(migrated)
}

async fn open_sqlite(path: &Path, settings: &DatabaseSettings) -> anyhow::Result<Db> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .pragma("journal_size_limit", "67108864")
        // Overwrite deleted rows in pages that are written anyway.
        .pragma("secure_delete", "fast")
        .pragma("temp_store", "memory");
    let context = || format!("could not open the database {}", path.display());
    // SQLite gives its log and its index the mode of the database.
    data_folder::open_file(path).with_context(context)?;
    // A connection is tested when it returns to the pool, and nothing can break it while it is there.
    let pool = || {
        SqlitePoolOptions::new()
            .test_before_acquire(false)
            .after_release(|connection, _| {
                Box::pin(async move {
                    if connection.is_in_transaction() {
                        // Waits for the rollback of a transaction that was dropped.
                        connection.ping().await?;
                    }
                    // After a commit that failed on disk, the driver still believes that the connection is inside the
                    // lost transaction and would refuse to begin another. Such a connection is closed.
                    Ok(!connection.is_in_transaction())
                })
            })
    };
    let writer = pool()
        .max_connections(1)
        .acquire_timeout(BUSY_TIMEOUT)
        // Creating an index sorts on two threads.
        .connect_with(
            options
                .clone()
                .pragma("cache_size", "-131072")
                .pragma("threads", "2"),
        )
        .await
        .with_context(context)?;
    let synchronous: i64 = sqlx::query_scalar("pragma synchronous")
        .fetch_one(&writer)
        .await?;
    if synchronous != SYNCHRONOUS_FULL {
        bail!("SQLite would acknowledge commits that are not on disk (pragma synchronous = {synchronous})");
    }
    let readers = pool()
        .max_connections(settings.connections)
        .acquire_timeout(settings.acquire_timeout)
        .connect_with(options)
        .await
        .with_context(context)?;
    Ok(Db::Sqlite { readers, writer })
}

/// Returns whether [`Db::open`] failed because PostgreSQL does not respond. A wrong password or a schema that is too new
/// is a response.
pub fn is_away(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| match cause.downcast_ref() {
        // `Protocol`: a proxy that lost its database accepts connections and closes them.
        Some(sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_)) => true,
        Some(sqlx::Error::Io(error)) => error.kind() != ErrorKind::PermissionDenied,
        // Connection lost, starting or stopping.
        Some(sqlx::Error::Database(error)) => error
            .code()
            .is_some_and(|code| matches!(code.get(..2), Some("08" | "57"))),
        _ => false,
    })
}

fn postgres_options(
    url: &str,
    settings: &DatabaseSettings,
) -> anyhow::Result<(PgConnectOptions, PgPoolOptions)> {
    let options = PgConnectOptions::from_str(url)
        .context(BAD_URL)?
        .application_name(&settings.application_name);
    let limits = settings.statement_limits();
    let options = if limits.is_empty() {
        options
    } else {
        options.options(limits)
    };
    let pool_options = PgPoolOptions::new()
        .max_connections(settings.connections.max(4))
        .acquire_timeout(settings.acquire_timeout)
        // A transaction that was dropped leaves a rollback to send. If the database does not answer that, close the
        // connection: otherwise it would occupy its slot in the pool forever.
        .after_release(|connection, _| {
            Box::pin(async move {
                if connection.should_flush() {
                    let pong = timeout(PING_TIMEOUT, connection.ping()).await;
                    pong.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
                }
                Ok(true)
            })
        });
    Ok((options, pool_options))
}

async fn open_postgres(url: &str, settings: &DatabaseSettings) -> anyhow::Result<Db> {
    let (options, pool_options) = postgres_options(url, settings)?;
    let postgres = Postgres::connect(options, pool_options, settings.probe_timeout)
        .await
        .context("could not connect to PostgreSQL; check database_url and that the server is running")?;
    let synchronous: String = sqlx::query_scalar("show synchronous_commit")
        .fetch_one(&postgres.pool())
        .await?;
    if synchronous == "off" {
        bail!("PostgreSQL would acknowledge commits that are not on disk; set synchronous_commit = on");
    }
    Ok(Db::Postgres(postgres))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const BESIDE: &str = "-- The previous version may run beside this migration.";
    const STOP: &str = "-- Stop the previous version before this migration: ";

    #[test]
    fn every_migration_file_is_in_the_list() {
        for database in ["sqlite", "postgres"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../migrations")
                .join(database);
            let mut files: Vec<_> = fs::read_dir(folder)
                .expect("the folder exists")
                .map(|entry| {
                    entry
                        .expect("the folder can be read")
                        .file_name()
                        .into_string()
                        .expect("UTF-8")
                })
                .collect();
            files.sort();
            let listed = MIGRATIONS.map(|(number, name, ..)| {
                assert!(name.starts_with(&format!("{number:04}_")), "{number} {name}");
                format!("{name}.sql")
            });
            assert_eq!(files, listed, "{database}");
        }
    }

    #[test]
    fn every_migration_states_whether_the_previous_version_may_run_beside_it() {
        for (number, name, sqlite, postgres) in MIGRATIONS {
            let [first, other] = [sqlite, postgres].map(|sql| sql.lines().next().unwrap_or_default());
            let reason = first.strip_prefix(STOP).and_then(|rest| rest.strip_suffix('.'));
            assert!(
                first == BESIDE || reason.is_some_and(|reason| !reason.is_empty()),
                "migration {number} ({name}) begins with {first:?}; write {BESIDE:?}, or {STOP:?} and the reason"
            );
            assert_eq!(first, other, "both databases state the same about {name}");
        }
    }
}
