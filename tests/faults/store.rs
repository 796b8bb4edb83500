//! The database under test, looked at from outside.

use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::runtime::Runtime;

const REVISION: &str = "select revision from revisions where topic = 'directory'";
const IDENTITIES: &str = "select count(*) from store";
const ADMIN: &str = "CAUSEWAY_TEST_POSTGRES_URL";

/// Which database a place uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    /// False where there is no PostgreSQL to test with, which is said.
    pub fn is_here(self) -> bool {
        let is_here = self == Kind::Sqlite || std::env::var_os(ADMIN).is_some();
        if !is_here {
            println!("not run: {ADMIN} is not set; tests/with-services.sh starts PostgreSQL and sets it");
        }
        is_here
    }
}

/// An open database. That of PostgreSQL is dropped with it.
pub enum Store {
    Sqlite(PathBuf),
    Postgres { name: String, url: String },
}

impl Store {
    pub fn new(kind: Kind, data: &Path) -> Store {
        static MADE: AtomicU32 = AtomicU32::new(0);
        match kind {
            Kind::Sqlite => Store::Sqlite(data.join("causeway.db")),
            Kind::Postgres => {
                let number = MADE.fetch_add(1, Ordering::Relaxed);
                let name = format!("faults_{}_{number}", std::process::id());
                administer(&format!("create database {name}"));
                let admin = admin_url();
                let (server, _) = admin.rsplit_once('/').expect("an address");
                Store::Postgres {
                    url: format!("{server}/{name}"),
                    name,
                }
            }
        }
    }

    /// Where a command finds it, if not in the data folder.
    pub fn url(&self) -> Option<&str> {
        match self {
            Store::Sqlite(_) => None,
            Store::Postgres { url, .. } => Some(url),
        }
    }

    /// How many imports it has taken.
    pub fn revision(&self) -> i64 {
        self.number(REVISION)
    }

    /// How many ids it has, which is to be one.
    pub fn identities(&self) -> i64 {
        self.number(IDENTITIES)
    }

    fn number(&self, sql: &'static str) -> i64 {
        block_on(async {
            match self {
                Store::Sqlite(path) => {
                    let options = SqliteConnectOptions::new().filename(path).read_only(true);
                    let mut connection = options.connect().await?;
                    let number = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
                    SqliteConnection::close(connection).await?;
                    Ok(number)
                }
                Store::Postgres { url, .. } => {
                    let mut connection = PgConnection::connect(url).await?;
                    let number = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
                    connection.close().await?;
                    Ok(number)
                }
            }
        })
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Store::Postgres { name, .. } = self {
            administer(&format!("drop database {name} with (force)"));
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
    std::env::var(ADMIN).expect("PostgreSQL is there")
}

fn block_on<T>(work: impl Future<Output = sqlx::Result<T>>) -> T {
    Runtime::new()
        .expect("a runtime")
        .block_on(work)
        .expect("the database answers")
}
