//! The database under test, inspected from outside.

use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::runtime::Runtime;

/// A server records changed verdicts a while after an import, which is a revision too.
const REVISION: &str =
    "select cast(coalesce(max(revision), 0) as bigint) from imports where kind <> 'eligibility'";
const IMPORTS: &str = "select count(*) from imports where kind <> 'eligibility'";
const LEASES: &str = "select count(*) from leases";
const ENTRIES: &str = "select entries from ledger_head";
const IDENTITIES: &str = "select count(*) from store";
const BUSY_SESSIONS: &str = "select count(*) from pg_stat_activity where datname = current_database() \
     and backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'";
const CHANGE_IDENTITY: &str = "update store set id = gen_random_uuid()";
const ADMIN_URL: &str = "CAUSEWAY_TEST_POSTGRES_URL";

/// The kind of database that a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    /// Whether the database can be used here. Prints the reason if not.
    pub fn is_available(self) -> bool {
        let is_available = self == Database::Sqlite || std::env::var_os(ADMIN_URL).is_some();
        if !is_available {
            println!("skipped: {ADMIN_URL} is not set; tests/with-services.sh starts PostgreSQL and sets it");
        }
        is_available
    }
}

/// The database of one test. A PostgreSQL database is dropped with it.
pub enum TestDatabase {
    Sqlite(PathBuf),
    Postgres {
        name: String,
        url: String,
    },
    /// The database of a server that belongs to the test.
    OwnServer {
        url: String,
    },
}

impl TestDatabase {
    /// A copy of the PostgreSQL database `template`, or an empty one. For SQLite, the caller copies the file.
    pub fn new(database: Database, data: &Path, template: Option<&str>) -> TestDatabase {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        match database {
            Database::Sqlite => TestDatabase::Sqlite(data.join("causeway.db")),
            Database::Postgres => {
                let number = CREATED.fetch_add(1, Ordering::Relaxed);
                let name = format!("faults_{}_{number}", std::process::id());
                administer(&format!(
                    "create database {name} template {}",
                    template.unwrap_or("template1")
                ));
                let admin = admin_url();
                let (server, _) = admin.rsplit_once('/').expect("a URL");
                TestDatabase::Postgres {
                    url: format!("{server}/{name}"),
                    name,
                }
            }
        }
    }

    /// The URL of the database, unless it is in the data folder.
    pub fn url(&self) -> Option<&str> {
        match self {
            TestDatabase::Sqlite(_) => None,
            TestDatabase::Postgres { url, .. } | TestDatabase::OwnServer { url } => Some(url),
        }
    }

    /// Copies a PostgreSQL database to one that stays until the server ends, and returns its name.
    pub fn to_template(&self) -> Option<String> {
        let TestDatabase::Postgres { name, .. } = self else {
            return None;
        };
        administer(&format!("create database {name}_template template {name}"));
        Some(format!("{name}_template"))
    }

    /// Copies the database. No process may use it.
    pub fn save(&self) {
        match self {
            TestDatabase::Sqlite(path) => copy_files(path, &path.with_extension("saved")),
            TestDatabase::Postgres { name, .. } => {
                administer(&format!("create database {name}_saved template {name}"));
            }
            TestDatabase::OwnServer { .. } => panic!("the database of a server is not copied"),
        }
    }

    /// Replaces the database by its copy. Processes that use PostgreSQL lose their connections; none may use SQLite.
    pub fn restore(&self) {
        match self {
            TestDatabase::Sqlite(path) => copy_files(&path.with_extension("saved"), path),
            TestDatabase::Postgres { name, .. } => {
                administer(&format!("drop database {name} with (force)"));
                administer(&format!("create database {name} template {name}_saved"));
            }
            TestDatabase::OwnServer { .. } => panic!("the database of a server is not copied"),
        }
    }

    /// The revision of the last import.
    pub fn revision(&self) -> i64 {
        self.number(REVISION)
    }

    /// The number of imports.
    pub fn imports(&self) -> i64 {
        self.number(IMPORTS)
    }

    /// The number of entries in the ledger.
    pub fn entries(&self) -> i64 {
        self.number(ENTRIES)
    }

    /// The number of IDs that the database has, which should be one.
    pub fn identities(&self) -> i64 {
        self.number(IDENTITIES)
    }

    /// The number of processes that build a snapshot or died while they did.
    pub fn leases(&self) -> i64 {
        self.number(LEASES)
    }

    /// The number of sessions of PostgreSQL that run a statement or have a transaction open. SQLite has none.
    pub fn busy_sessions(&self) -> i64 {
        self.url().map_or(0, |_| self.number(BUSY_SESSIONS))
    }

    /// Gives a PostgreSQL database another ID, as if it were replaced by another one.
    pub fn change_identity(&self) {
        let url = self.url().expect("PostgreSQL");
        block_on(async {
            let mut connection = PgConnection::connect(url).await?;
            connection.execute(CHANGE_IDENTITY).await?;
            connection.close().await
        });
    }

    /// Changes rows from outside.
    pub fn change(&self, sql: &'static str) {
        block_on(self.try_to_change(sql));
    }

    async fn try_to_change(&self, sql: &'static str) -> sqlx::Result<()> {
        match self {
            TestDatabase::Sqlite(path) => {
                let mut connection = SqliteConnectOptions::new().filename(path).connect().await?;
                connection.execute(sql).await?;
                SqliteConnection::close(connection).await
            }
            TestDatabase::Postgres { url, .. } | TestDatabase::OwnServer { url } => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(sql).await?;
                connection.close().await
            }
        }
    }

    /// The number that a query returns.
    pub fn number(&self, sql: &'static str) -> i64 {
        block_on(async {
            match self {
                TestDatabase::Sqlite(path) => {
                    let options = SqliteConnectOptions::new().filename(path).read_only(true);
                    let mut connection = options.connect().await?;
                    let number = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
                    SqliteConnection::close(connection).await?;
                    Ok(number)
                }
                TestDatabase::Postgres { url, .. } | TestDatabase::OwnServer { url } => {
                    let mut connection = PgConnection::connect(url).await?;
                    let number = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
                    connection.close().await?;
                    Ok(number)
                }
            }
        })
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let TestDatabase::Postgres { name, .. } = self {
            administer(&format!("drop database {name} with (force)"));
            administer(&format!("drop database if exists {name}_saved"));
        }
    }
}

/// Copies an SQLite database and its log, if it has one.
fn copy_files(from: &Path, to: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let with_suffix = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        let (from, to) = (with_suffix(from), with_suffix(to));
        let _ = fs::remove_file(&to);
        if from.exists() {
            fs::copy(&from, &to).expect("a file that can be copied");
        }
    }
}

/// Runs a statement as the administrator of PostgreSQL.
fn administer(sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    block_on(async {
        let mut connection = PgConnection::connect(&admin_url()).await?;
        connection.execute(sql).await?;
        connection.close().await
    });
}

fn admin_url() -> String {
    std::env::var(ADMIN_URL).expect("PostgreSQL is available")
}

fn block_on<T>(work: impl Future<Output = sqlx::Result<T>>) -> T {
    Runtime::new()
        .expect("a runtime")
        .block_on(work)
        .expect("the database responds")
}
