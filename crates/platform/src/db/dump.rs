//! Copies a database to a file while it is in use, and creates a database from such a file.
//!
//! SQLite copies itself with `vacuum into`, which reads one state and does not block writers. PostgreSQL exports the
//! snapshot of a transaction, and `pg_dump` dumps exactly that state.

use super::postgres_tools::Tool;
use super::{Db, Topic, Tx, open, query};
use crate::data_folder;
use crate::settings::DatabaseSettings;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, PgConnection};
use std::path::Path;
use std::str::FromStr;
use uuid::Uuid;

const COPY_SQLITE: &str = "vacuum into $1";
const EXPORT_SNAPSHOT: &str = "select pg_export_snapshot()";
/// The transaction waits for `pg_dump`, however long that takes.
const WAIT_FOR_DUMP: &str = "set local idle_in_transaction_session_timeout = 0";
const SERVER_VERSION: &str = "select current_setting('server_version_num')::bigint";
const STORE_ID: &str = "select id from store";
const LAST_MIGRATION: &str = "select max(version) from _sqlx_migrations";
const COUNT_RELATIONS: &str = "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace \
     where c.relkind in ('r', 'p', 'v', 'm', 'S') and n.nspname = any (current_schemas(false))";

/// Which database a store is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

/// The format of a copy in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DumpFormat {
    /// A database file of SQLite.
    Sqlite,
    /// The custom format of `pg_dump`, and its major version.
    Postgres { version: u32 },
}

/// The facts that identify a state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFacts {
    pub id: Uuid,
    pub migration: i64,
    pub directory_revision: i64,
    pub keys_revision: i64,
}

impl DumpFormat {
    pub fn kind(&self) -> DatabaseKind {
        match self {
            DumpFormat::Sqlite => DatabaseKind::Sqlite,
            DumpFormat::Postgres { .. } => DatabaseKind::Postgres,
        }
    }
}

impl DatabaseKind {
    /// Returns the name that people know.
    pub fn name(self) -> &'static str {
        match self {
            DatabaseKind::Sqlite => "SQLite",
            DatabaseKind::Postgres => "PostgreSQL",
        }
    }

    /// Returns the ending of the file with a copy.
    pub fn extension(self) -> &'static str {
        match self {
            DatabaseKind::Sqlite => "db",
            DatabaseKind::Postgres => "dump",
        }
    }
}

impl DatabaseSettings {
    /// Returns which database these settings name.
    pub fn kind(&self) -> DatabaseKind {
        match self.url {
            None => DatabaseKind::Sqlite,
            Some(_) => DatabaseKind::Postgres,
        }
    }
}

impl Db {
    /// Copies the database to a file that does not exist yet, and calls `read` with a transaction that sees exactly the
    /// state of the copy.
    pub async fn dump<T>(
        &self,
        settings: &DatabaseSettings,
        path: &Path,
        read: impl AsyncFnOnce(&mut Tx) -> anyhow::Result<T>,
    ) -> anyhow::Result<(DumpFormat, T)> {
        match self {
            Db::Sqlite { readers, .. } => {
                let copy = path.to_str().context("the path of the backup is not UTF-8")?;
                sqlx::query(COPY_SQLITE)
                    .bind(copy)
                    .execute(readers)
                    .await
                    .with_context(|| format!("could not copy the database to {copy}"))?;
                let copy = open_copy(path).await?;
                let facts = read(&mut copy.view().await?).await;
                copy.close().await;
                Ok((DumpFormat::Sqlite, facts?))
            }
            Db::Postgres(_) => {
                let mut tx = self.view().await?;
                let url = settings.exposed_url().context("PostgreSQL has a URL")?.to_owned();
                let (server, snapshot) = export_snapshot(&mut tx).await?;
                let facts = read(&mut tx).await?;
                let path = path
                    .to_str()
                    .context("the path of the backup is not UTF-8")?
                    .to_owned();
                let version = run_blocking(move || {
                    let tool = Tool::find("pg_dump", server)?;
                    let (file, snapshot) = (format!("--file={path}"), format!("--snapshot={snapshot}"));
                    tool.run(&url, &["--format=custom", &file, &snapshot])?;
                    Ok(tool.version)
                })
                .await?;
                Ok((DumpFormat::Postgres { version }, facts))
            }
        }
    }

    /// Returns the number of the last migration that this version knows.
    pub fn newest_migration() -> i64 {
        open::newest_migration()
    }

    /// Fails unless the settings name a place without a store: no database file, or a database without tables.
    pub async fn refuse_unless_absent(data: &Path, settings: &DatabaseSettings) -> anyhow::Result<()> {
        let Some(url) = settings.exposed_url() else {
            let path = data.join(data_folder::DATABASE);
            if path.exists() {
                bail!(
                    "the data folder {} already has a database; choose an empty folder with --data",
                    data.display()
                );
            }
            return Ok(());
        };
        let mut connection = connect(url).await?;
        let relations: i64 = sqlx::query_scalar(COUNT_RELATIONS)
            .fetch_one(&mut connection)
            .await?;
        connection.close().await?;
        if relations > 0 {
            bail!(
                "the database is not empty: it has {relations} tables and sequences; create a new one with createdb, and \
                 set database_url"
            );
        }
        Ok(())
    }

    /// Creates the database that the settings name from a copy. The file moves away from its path.
    pub async fn restore(
        data: &Path,
        settings: &DatabaseSettings,
        format: &DumpFormat,
        copy: &Path,
    ) -> anyhow::Result<()> {
        match (format, settings.exposed_url()) {
            (DumpFormat::Sqlite, None) => {
                let (from, to) = (copy.to_owned(), data.join(data_folder::DATABASE));
                let folder = data.to_owned();
                run_blocking(move || {
                    let file = std::fs::File::open(&from)?;
                    file.sync_all()?;
                    std::fs::rename(&from, &to)?;
                    std::fs::File::open(folder)?.sync_all()?;
                    Ok(())
                })
                .await
                .context("could not move the database to its place")
            }
            (DumpFormat::Postgres { version }, Some(url)) => {
                let (version, url) = (*version, url.to_owned());
                let path = copy.to_owned();
                run_blocking(move || {
                    let tool = Tool::find("pg_restore", version)?;
                    let file = path.to_str().context("the path of the backup is not UTF-8")?;
                    let options = [
                        "--single-transaction",
                        "--exit-on-error",
                        "--no-owner",
                        "--no-privileges",
                    ];
                    tool.run(&url, &[&options[..], &[file]].concat())?;
                    std::fs::remove_file(&path)?;
                    Ok(())
                })
                .await
            }
            (format, _) => bail!(
                "the copy is of {}, and the settings name {}; set database_url accordingly",
                format.kind().name(),
                settings.kind().name()
            ),
        }
    }
}

impl Tx {
    /// Reads the facts that identify the state that this transaction sees.
    pub async fn store_facts(&mut self) -> sqlx::Result<StoreFacts> {
        Ok(StoreFacts {
            id: self.fetch_scalar(query(STORE_ID)).await?,
            migration: self.fetch_scalar(query(LAST_MIGRATION)).await?,
            directory_revision: self.revision(Topic::Directory).await?,
            keys_revision: self.revision(Topic::Keys).await?,
        })
    }
}

/// A database on the server of another one that exists until [`remove`](ScratchDatabase::remove).
#[derive(Debug)]
pub struct ScratchDatabase {
    admin_url: String,
    name: String,
    pub url: String,
}

impl ScratchDatabase {
    /// Creates an empty database on the server of a URL.
    pub async fn create(url: &str) -> anyhow::Result<ScratchDatabase> {
        let name = format!("causeway_verify_{}", Uuid::now_v7().simple());
        let scratch = ScratchDatabase {
            url: with_database(url, &name),
            admin_url: url.to_owned(),
            name,
        };
        let create = format!("create database {} template template0", scratch.name);
        scratch.administer(create).await.context(
            "could not create a database to verify the backup; give the user the right to create databases \
             (alter role … createdb), or back up without --verify and restore it elsewhere",
        )?;
        Ok(scratch)
    }

    pub async fn remove(self) -> anyhow::Result<()> {
        let drop = format!("drop database {} with (force)", self.name);
        let dropped = self.administer(drop).await;
        dropped.with_context(|| {
            format!(
                "could not remove the database {0}; remove it with dropdb {0}",
                self.name
            )
        })
    }

    async fn administer(&self, sql: String) -> anyhow::Result<()> {
        let mut connection = connect(&self.admin_url).await?;
        sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }
}

/// Opens a copy of SQLite without changing its file.
async fn open_copy(path: &Path) -> anyhow::Result<Db> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .immutable(true);
    let readers = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await
        .with_context(|| format!("could not open the copy {}", path.display()))?;
    let writer = readers.clone();
    Ok(Db::Sqlite { readers, writer })
}

/// Returns the major version of the server, and the name of the state that the transaction sees.
async fn export_snapshot(tx: &mut Tx) -> anyhow::Result<(u32, String)> {
    let Tx::Postgres(tx) = tx else {
        bail!("only PostgreSQL exports snapshots");
    };
    let connection = tx.parts().1;
    sqlx::query(WAIT_FOR_DUMP).execute(&mut *connection).await?;
    let version: i64 = sqlx::query_scalar(SERVER_VERSION)
        .fetch_one(&mut *connection)
        .await?;
    let snapshot = sqlx::query_scalar(EXPORT_SNAPSHOT)
        .fetch_one(&mut *connection)
        .await?;
    Ok(((version / 10_000) as u32, snapshot))
}

async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    let options = PgConnectOptions::from_str(url)
        .context("database_url is not a PostgreSQL URL; write postgres://user:password@host/database")?;
    let connected = options.application_name("causeway").connect().await;
    connected.context("could not connect to PostgreSQL; check database_url and that the server is running")
}

/// Returns the URL of another database on the same server.
fn with_database(url: &str, name: &str) -> String {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, format!("?{query}")),
        None => (url, String::new()),
    };
    let host = base.find("://").map_or(0, |scheme| scheme + 3);
    let end = base[host..].find('/').map_or(base.len(), |slash| host + slash);
    format!("{}/{name}{query}", &base[..end])
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_of_a_url_is_replaced() {
        for (url, other) in [
            ("postgres://a:b@h:5/d", "postgres://a:b@h:5/x"),
            ("postgres://h", "postgres://h/x"),
            ("postgres:///d?host=/run/pg", "postgres:///x?host=/run/pg"),
        ] {
            assert_eq!(with_database(url, "x"), other);
        }
    }
}
