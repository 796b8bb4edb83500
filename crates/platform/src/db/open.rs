//! Opening the store: pools, pragmas, migrations, and proof that commits are durable.

use super::{Db, SILENCE, read};
use crate::settings::DatabaseSettings;
use anyhow::{Context, bail};
use sqlx::Connection as _;
use sqlx::SqlStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// The migrations, read at build time.
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

const MIGRATIONS: [Versions; 9] = migrations! {
    1 "0001_directory",
    2 "0002_keys",
    3 "0003_usage",
    4 "0004_accounts",
    5 "0005_fundraisers",
    6 "0006_pictures",
    7 "0007_gifts",
    8 "0008_partners",
    9 "0009_outbox",
};

const STORE_ID: &str = "select id from store";
const NAME_STORE: &str = "insert into store (id, created_at) values ($1, $2)";
const QUEUE: &str = "update revisions set revision = revision where topic = 'directory'";

/// An import of all nonprofits holds the write lock of SQLite for this long at the most.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);
/// What `pragma synchronous` reads as when every commit is on disk before it is acknowledged.
const SYNCHRONOUS_FULL: i64 = 2;

impl Db {
    /// Opens the store that the settings name and brings its tables up to date.
    pub async fn open(data: &Path, settings: &DatabaseSettings) -> anyhow::Result<Db> {
        std::fs::create_dir_all(data)
            .with_context(|| format!("the data folder {} cannot be made", data.display()))?;
        let url = settings.exposed_url();
        // PostgreSQL makes those who change tables queue by itself.
        let turn = match url {
            None => Some(wait_for_turn(data.join("opening")).await?),
            Some(_) => None,
        };
        let db = match url {
            None => open_sqlite(&data.join("causeway.db"), settings).await?,
            Some(url) => open_postgres(url, settings).await?,
        };
        let migrated = match &db {
            Db::Sqlite { writer, .. } => migrator(|(_, _, sqlite, _)| sqlite).run(writer).await,
            Db::Postgres(pool) => migrator(|(_, _, _, postgres)| postgres).run(pool).await,
        };
        match migrated {
            Ok(()) => {}
            Err(MigrateError::VersionMissing(version)) => bail!(
                "the store has migration {version}, which this version does not know; \
                 it was written by a newer version: use that one"
            ),
            Err(fault) => {
                return Err(fault).context("the tables of the store could not be brought up to date");
            }
        }
        drop(turn);
        Ok(db)
    }

    /// Has SQLite read every page of its file; a damaged one is named. PostgreSQL looks after its own.
    pub async fn check_integrity(&self) -> anyhow::Result<()> {
        let Db::Sqlite { readers, .. } = self else {
            return Ok(());
        };
        let path = readers.connect_options().get_filename().display().to_string();
        let told: Vec<String> = sqlx::query_scalar("pragma integrity_check")
            .fetch_all(readers)
            .await
            .with_context(|| format!("the database {path} cannot be read; put it back from a backup"))?;
        match told.first().map(String::as_str) {
            Some("ok") => Ok(()),
            first => bail!(
                "the database {path} is damaged: {}; put it back from a backup",
                first.unwrap_or("it says nothing")
            ),
        }
    }

    /// The id of this store, given at its first use.
    pub async fn identity(&self, now: i64) -> sqlx::Result<Uuid> {
        let known: Option<Uuid> = read!(self, c => sqlx::query_scalar(STORE_ID).fetch_optional(c).await)?;
        if let Some(id) = known {
            return Ok(id);
        }
        let mut tx = self.write().await?;
        // Of several processes that come first, the others wait here for the one that names it.
        super::run!(&mut tx, c => sqlx::query(QUEUE).execute(c).await.map(|_| ()))?;
        let known: Option<Uuid> =
            super::run!(&mut tx, c => sqlx::query_scalar(STORE_ID).fetch_optional(c).await)?;
        let id = known.unwrap_or_else(Uuid::now_v7);
        if known.is_none() {
            super::run!(&mut tx, c => sqlx::query(NAME_STORE).bind(id).bind(now).execute(c).await.map(|_| ()))?;
        }
        tx.commit().await?;
        Ok(id)
    }
}

/// Lets one process after another open the embedded database: two that make its tables at once fail. The lock falls
/// with the file, or with the process.
async fn wait_for_turn(path: PathBuf) -> anyhow::Result<File> {
    let about = format!("{} cannot be locked", path.display());
    let lock = tokio::task::spawn_blocking(move || {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        file.lock().map(|()| file)
    });
    lock.await?.context(about)
}

/// Number, name, and the text for each database.
type Versions = (i64, &'static str, &'static str, &'static str);

fn migrator(text: impl Fn(&Versions) -> &'static str) -> Migrator {
    let migration = |each: &Versions| {
        let (number, name, ..) = *each;
        Migration::new(
            number,
            name.into(),
            MigrationType::Simple,
            SqlStr::from_static(text(each)),
            false,
        )
    };
    Migrator::with_migrations(MIGRATIONS.iter().map(migration).collect())
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
        .pragma("temp_store", "memory");
    let about = || format!("the database {} cannot be opened", path.display());
    // A connection is proved when it is given back, and nothing happens to it until it is taken again.
    let pool = || SqlitePoolOptions::new().test_before_acquire(false);
    let writer = pool()
        .max_connections(1)
        .acquire_timeout(BUSY_TIMEOUT)
        // Two threads sort when indexes are made.
        .connect_with(
            options
                .clone()
                .pragma("cache_size", "-131072")
                .pragma("threads", "2"),
        )
        .await
        .with_context(about)?;
    let synchronous: i64 = sqlx::query_scalar("pragma synchronous")
        .fetch_one(&writer)
        .await?;
    if synchronous != SYNCHRONOUS_FULL {
        bail!(
            "the database would acknowledge commits that are not on disk (pragma synchronous = {synchronous})"
        );
    }
    let readers = pool()
        .max_connections(settings.connections)
        .acquire_timeout(settings.acquire_timeout)
        .connect_with(options)
        .await
        .with_context(about)?;
    Ok(Db::Sqlite { readers, writer })
}

async fn open_postgres(url: &str, settings: &DatabaseSettings) -> anyhow::Result<Db> {
    let options = PgConnectOptions::from_str(url)
        .context("database_url cannot be read; write postgres://user:password@host/database")?
        .application_name("causeway");
    let pool = PgPoolOptions::new()
        .max_connections(settings.connections.max(4))
        .acquire_timeout(settings.acquire_timeout)
        // A transaction that was given up leaves a rollback to be sent. Where the database says nothing to that, the
        // connection is thrown away; it would keep its place in the pool for ever.
        .after_release(|connection, _| {
            Box::pin(async move {
                if connection.should_flush() {
                    let answered = timeout(SILENCE, connection.ping()).await;
                    answered.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await
        .context("PostgreSQL cannot be reached; check database_url and that the server runs")?;
    let synchronous: String = sqlx::query_scalar("show synchronous_commit")
        .fetch_one(&pool)
        .await?;
    if synchronous == "off" {
        bail!("PostgreSQL would acknowledge commits that are not on disk: set synchronous_commit = on");
    }
    Ok(Db::Postgres(pool))
}
