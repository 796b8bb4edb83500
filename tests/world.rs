//! An app with its own database for each story.

use crate::client::Client;
use crate::database::{PostgresDatabase, create_sqlite};
use crate::demo;
use crate::wait::TIMEOUT;
use access::accounts::{self, Username};
use access::keys::{self, KeyText, Kind};
use causeway::app::App;
use causeway::config::Config;
use directory::snapshot::check::{CheckReport, check};
use giving::providers::Provider;
use ingest::Summary;
use platform::db::{Db, Topic};
use platform::ids::{AccountId, KeyId};
use secrecy::SecretString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Runs each of the given stories as two tests, `sqlite` and `postgres`, in a module named after the story.
macro_rules! on_both_databases {
    ($($story:ident),* $(,)?) => {
        $(mod $story {
            #[test]
            fn sqlite() {
                crate::world::run_story(crate::world::Database::Sqlite, super::$story);
            }

            #[test]
            fn postgres() {
                crate::world::run_story(crate::world::Database::Postgres, super::$story);
            }
        })*
    };
}

/// The kind of database that a story runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// What a story starts with: an app with an empty directory, an account named ada, and its public key.
pub struct World {
    pub app: App,
    pub client: Client,
    pub account: AccountId,
    pub key_id: KeyId,
    /// Holds the data folder.
    _folder: TempDir,
    files: TempDir,
}

/// The URL of a Redis that stories share. Their keys have different names.
pub fn redis_url() -> String {
    std::env::var("CAUSEWAY_TEST_REDIS_URL").expect("Redis is not running: use make test")
}

/// Runs a story in its own world.
pub fn run_story(database: Database, story: impl AsyncFnOnce(&World)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let database = (database == Database::Postgres).then(|| runtime.block_on(PostgresDatabase::create()));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let world = World::build(database.as_ref()).await;
            story(&world).await;
            world.app.db.close().await;
        });
    }));
    if let Some(database) = database {
        runtime.block_on(database.remove());
    }
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
}

impl World {
    async fn build(database: Option<&PostgresDatabase>) -> World {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::for_tests(folder.path());
        if database.is_none() {
            create_sqlite(&config.data).await;
        }
        config.database.url = database.map(|database| SecretString::from(database.url()));
        // A slow machine must not run into the timeouts of the app.
        config.database.acquire_timeout = TIMEOUT;
        config.database.probe_timeout = TIMEOUT;
        config.serve.request_timeout = TIMEOUT;
        let app = App::build(config).await.unwrap();
        let username = Username::parse("ada").unwrap();
        let account =
            accounts::store::insert_without_password(&app.db, &username, None, false, app.clock.millis())
                .await
                .unwrap();
        let account = account.unwrap();
        let text = KeyText::generate(Kind::Public);
        let key_id = keys::store::insert(&app.db, account, "test", &text, app.clock.millis())
            .await
            .unwrap();
        let client = Client::new(&app, text.expose());
        World {
            app,
            client,
            account,
            key_id,
            _folder: folder,
            files: tempfile::tempdir().unwrap(),
        }
    }

    /// A second app with the same database, data folder and clock, as after a restart.
    pub async fn restart(&self) -> (App, Client) {
        let clock = self.app.clock.clone();
        let app = App::build_with_clock(self.app.config.clone(), clock)
            .await
            .unwrap();
        let client = Client::new(&app, &self.client.key);
        (app, client)
    }

    /// A second app with the same database and another provider, as after a restart with other settings.
    pub async fn with_provider(&self, provider: Provider) -> (App, Client) {
        let config = Config {
            giving: provider,
            ..self.app.config.clone()
        };
        let app = App::build(config).await.unwrap();
        let client = Client::new(&app, &self.client.key);
        (app, client)
    }

    /// Another server on the same database that shares its limits through Redis.
    pub async fn sharing_server(&self, redis_url: &str) -> App {
        let mut config = self.app.config.clone();
        config.redis.url = Some(SecretString::from(redis_url));
        // A slow machine must not run into this timeout.
        config.redis.timeout = Duration::from_secs(10);
        App::build(config).await.unwrap()
    }

    /// A second app with the same database, data folder and clock, and another blob store.
    pub async fn with_blobs(&self, url: &str) -> (App, Client) {
        let config = Config {
            blobs_url: url.to_owned(),
            ..self.app.config.clone()
        };
        let app = App::build_with_clock(config, self.app.clock.clone())
            .await
            .unwrap();
        let client = Client::new(&app, &self.client.key);
        (app, client)
    }

    /// A second app with the same database, data folder and clock, in which the pictures of an account may take `quota`
    /// bytes.
    pub async fn with_picture_quota(&self, quota: u64) -> (App, Client) {
        let mut config = self.app.config.clone();
        config.pictures.quota = quota;
        let app = App::build_with_clock(config, self.app.clock.clone())
            .await
            .unwrap();
        let client = Client::new(&app, &self.client.key);
        (app, client)
    }

    pub fn data(&self) -> &Path {
        &self.app.config.data
    }

    /// The snapshot files, oldest first.
    pub fn snapshots(&self) -> Vec<PathBuf> {
        list(&self.data().join("directory"), ".snapshot")
    }

    /// The report files of imports, oldest first.
    pub fn reports(&self) -> Vec<PathBuf> {
        list(&self.data().join("reports"), ".txt")
    }

    /// Creates a key for the account.
    pub async fn create_key(&self, kind: Kind) -> (KeyId, String) {
        let text = KeyText::generate(kind);
        let now = self.app.clock.millis();
        let id = keys::store::insert(&self.app.db, self.account, "another", &text, now)
            .await
            .unwrap();
        (id, text.expose().to_owned())
    }

    /// Fills the directory with the demo directory.
    pub async fn load_demo(&self) {
        if self.app.db.revision(Topic::Directory).await.unwrap() == 0 {
            demo::copy_to(self).await;
        } else {
            self.app.importer().import_demo().await.unwrap();
        }
        self.app.refresh_directory().await.unwrap();
    }

    /// Writes a file for an import.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Imports one EO BMF file and refreshes the directory.
    pub async fn import_irs(&self, content: impl AsRef<[u8]>) -> anyhow::Result<Summary> {
        self.import_irs_files(&[self.file("eo.csv", content)], false)
            .await
    }

    pub async fn import_irs_files(&self, files: &[PathBuf], force: bool) -> anyhow::Result<Summary> {
        let summary = self.app.importer().import_irs(files, force).await?;
        self.app.refresh_directory().await?;
        Ok(summary)
    }

    /// Imports JSON Lines and refreshes the directory.
    pub async fn import_nonprofits(&self, lines: &str) -> anyhow::Result<Summary> {
        let file = self.file("more.jsonl", lines);
        let summary = self.app.importer().import_nonprofits(&[file]).await?;
        self.app.refresh_directory().await?;
        Ok(summary)
    }

    /// Runs a query that both databases understand and returns its only column, which must be text.
    pub async fn texts(&self, sql: &'static str) -> Vec<String> {
        match &self.app.db {
            Db::Sqlite { readers, .. } => sqlx::query_scalar(sql).fetch_all(readers).await.unwrap(),
            Db::Postgres(postgres) => sqlx::query_scalar(sql).fetch_all(&postgres.pool()).await.unwrap(),
        }
    }

    /// Changes the database directly, without the app.
    pub async fn execute(&self, sql: &'static str) {
        match &self.app.db {
            Db::Sqlite { writer, .. } => _ = sqlx::query(sql).execute(writer).await.unwrap(),
            Db::Postgres(postgres) => _ = sqlx::query(sql).execute(&postgres.pool()).await.unwrap(),
        }
    }

    /// Does the same with a statement that is built from values of the test.
    pub async fn execute_owned(&self, sql: String) {
        let sql = sqlx::AssertSqlSafe(sql);
        match &self.app.db {
            Db::Sqlite { writer, .. } => _ = sqlx::query(sql).execute(writer).await.unwrap(),
            Db::Postgres(postgres) => _ = sqlx::query(sql).execute(&postgres.pool()).await.unwrap(),
        }
    }

    /// The directory as text. Two databases with the same dump contain the same directory.
    pub async fn dump(&self) -> Vec<String> {
        let mut dump = self.texts(NONPROFITS).await;
        dump.extend(self.texts(FORMER_SLUGS).await);
        let mut tx = self.app.db.view().await.unwrap();
        let profiles = directory::nonprofits::store::list_profiles(&mut tx)
            .await
            .unwrap();
        let mut profiles: Vec<String> = profiles.values().map(|profile| format!("{profile:?}")).collect();
        profiles.sort();
        dump.extend(profiles);
        dump
    }

    /// The number of recorded imports.
    pub async fn imports(&self) -> usize {
        self.texts("select kind from imports").await.len()
    }
}

const NONPROFITS: &str = "select coalesce(cast(ein as text), '') || '|' || slug || '|' || filed || '|' || \
     cast(listed as text) || '|' || coalesce(cast(gone_at as text), '') || '|' || cast(digest as text) \
     from nonprofits order by slug";
const FORMER_SLUGS: &str = "select f.slug || ' redirects to ' || n.slug from former_slugs f \
     join nonprofits n on n.id = f.nonprofit_id order by f.slug";

fn list(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_str().unwrap().ends_with(suffix));
    files.sort();
    files
}

/// Compares the directory that an app shows with its store.
pub async fn check_directory(app: &App) -> anyhow::Result<CheckReport> {
    check(&app.directory, &app.db, app.config.directory.overlay_limit).await
}
