//! Databases for stories. They are copies of a migrated template, which is faster than migrating each one.

use crate::wait::eventually;
use causeway::config::Config;
use platform::clock::Clock;
use platform::data_folder;
use platform::db::Db;
use secrecy::SecretString;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;
use uuid::Uuid;

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres");
/// Taken by the process that creates the template.
const LOCK: &str = "select pg_advisory_lock(1)";
const EXISTS: &str = "select exists (select from pg_database where datname = $1)";

/// Creates an empty SQLite database in a data folder.
pub async fn create_sqlite(data: &Path) {
    static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let template = TEMPLATE.get_or_init(async || {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::for_tests(folder.path());
        let database = config.data.join(data_folder::DATABASE);
        migrate(config).await;
        std::fs::read(database).unwrap()
    });
    data_folder::create_folder(data).unwrap();
    std::fs::write(data.join(data_folder::DATABASE), template.await).unwrap();
}

/// A PostgreSQL database for one story.
pub struct PostgresDatabase {
    admin_url: String,
    name: String,
}

impl PostgresDatabase {
    pub async fn create() -> PostgresDatabase {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(create_template).await;
        let database = PostgresDatabase::named(format!("causeway_{}", Uuid::now_v7().simple()));
        let sql = format!("create database {} template {template}", database.name);
        database.administer(sql).await.unwrap();
        database
    }

    /// A database without tables.
    pub async fn create_empty() -> PostgresDatabase {
        let database = PostgresDatabase::named(format!("causeway_{}", Uuid::now_v7().simple()));
        let sql = format!("create database {} template template0", database.name);
        database.administer(sql).await.unwrap();
        database
    }

    fn named(name: String) -> PostgresDatabase {
        let admin_url = std::env::var("CAUSEWAY_TEST_POSTGRES_URL");
        PostgresDatabase {
            admin_url: admin_url.expect("PostgreSQL is not running: use make test"),
            name,
        }
    }

    pub fn url(&self) -> String {
        let (server, _) = self.admin_url.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    pub async fn remove(&self) {
        let sql = format!("drop database {} with (force)", self.name);
        self.administer(sql).await.unwrap();
    }

    async fn administer(&self, sql: String) -> sqlx::Result<()> {
        let mut connection = PgConnection::connect(&self.admin_url).await?;
        sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await?;
        connection.close().await
    }
}

/// Creates the template, unless an earlier run has left one with the same migrations, and returns its name.
async fn create_template() -> String {
    let name = format!("causeway_template_{:08x}", hash_migrations());
    let draft = PostgresDatabase::named(format!("{name}_draft"));
    let mut connection = PgConnection::connect(&draft.admin_url).await.unwrap();
    sqlx::query(LOCK).execute(&mut connection).await.unwrap();
    let exists = sqlx::query_scalar(EXISTS).bind(&name);
    let exists: bool = exists.fetch_one(&mut connection).await.unwrap();
    if !exists {
        let draft_name = &draft.name;
        let remove = format!("drop database if exists {draft_name} with (force)");
        draft.administer(remove).await.unwrap();
        let create = format!("create database {draft_name} template template0");
        draft.administer(create).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::for_tests(folder.path());
        config.database.url = Some(SecretString::from(draft.url()));
        migrate(config).await;
        // PostgreSQL closes connections a moment later.
        eventually("the template has no connections", async || {
            let rename = format!("alter database {draft_name} rename to {name}");
            draft.administer(rename).await.ok()
        })
        .await;
    }
    connection.close().await.unwrap();
    name
}

/// Creates the tables, and the ID that all copies have: a snapshot of one of them is one of the others.
async fn migrate(config: Config) {
    let db = Db::open(&config.data, &config.database).await.unwrap();
    db.identity(Clock::default().millis()).await.unwrap();
    db.close().await;
}

fn hash_migrations() -> u32 {
    let entries = std::fs::read_dir(MIGRATIONS).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut hasher = crc32fast::Hasher::new();
    for file in files {
        hasher.update(&std::fs::read(file).unwrap());
    }
    hasher.finalize()
}
