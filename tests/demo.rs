//! The demo directory of stories. The first story that needs it imports it into a store of its own, and the others get
//! its rows and its snapshot, because an import takes longer than most stories.

use crate::database::{PostgresDatabase, create_sqlite};
use crate::world::World;
use causeway::app::App;
use causeway::config::Config;
use futures_util::TryStreamExt;
use platform::data_folder;
use platform::db::Db;
use platform::db::tables::SEEDED;
use secrecy::SecretString;
use sqlx::postgres::{PgPool, PgPoolCopyExt};
use sqlx::sqlite::SqlitePool;
use sqlx::{AssertSqlSafe, Executor};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

/// What an import of the demo directory into an empty store leaves.
struct Demo<Rows> {
    rows: Rows,
    /// The tables with rows of the import. Each follows those that it refers to.
    tables: Vec<&'static str>,
    /// The name of the snapshot, and its content.
    snapshot: (PathBuf, Vec<u8>),
}

/// The database of SQLite.
type SqliteRows = Vec<u8>;
/// The rows of each table, as PostgreSQL copies them.
type PostgresRows = Vec<Vec<u8>>;

/// Copies the demo directory to a store in which nothing was imported yet.
pub async fn copy_to(world: &World) {
    static SQLITE: OnceCell<Demo<SqliteRows>> = OnceCell::const_new();
    static POSTGRES: OnceCell<Demo<PostgresRows>> = OnceCell::const_new();
    let now = world.app.clock.millis();
    let (name, snapshot) = match &world.app.db {
        Db::Sqlite { writer, .. } => {
            let demo = SQLITE.get_or_init(import_to_sqlite).await;
            let file = world.file("demo.db", &demo.rows);
            copy_to_sqlite(writer, demo, &file, now).await.unwrap();
            &demo.snapshot
        }
        Db::Postgres(postgres) => {
            let demo = POSTGRES.get_or_init(import_to_postgres).await;
            copy_to_postgres(&postgres.pool(), demo, now).await.unwrap();
            &demo.snapshot
        }
    };
    let folder = world.data().join("directory");
    data_folder::create_folder(&folder).unwrap();
    std::fs::write(folder.join(name), snapshot).unwrap();
}

async fn import_to_sqlite() -> Demo<SqliteRows> {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::for_tests(folder.path());
    create_sqlite(&config.data).await;
    let app = import(config).await;
    let tables = list_tables(&app).await;
    app.db.close().await;
    Demo {
        rows: std::fs::read(app.config.data.join(data_folder::DATABASE)).unwrap(),
        tables,
        snapshot: read_snapshot(&app.config.data),
    }
}

async fn import_to_postgres() -> Demo<PostgresRows> {
    let folder = tempfile::tempdir().unwrap();
    let database = PostgresDatabase::create().await;
    let mut config = Config::for_tests(folder.path());
    config.database.url = Some(SecretString::from(database.url()));
    let app = import(config).await;
    let Db::Postgres(postgres) = &app.db else {
        unreachable!("the settings name PostgreSQL")
    };
    let tables = list_tables(&app).await;
    let mut rows = Vec::new();
    for source in tables.iter().copied().chain([TOKEN]) {
        let statement = format!("copy {source} to stdout");
        let pool = postgres.pool();
        let copied = pool.copy_out_raw(&statement).await.unwrap();
        rows.push(copied.try_collect::<Vec<_>>().await.unwrap().concat());
    }
    app.db.close().await;
    database.remove().await;
    Demo {
        rows,
        tables,
        snapshot: read_snapshot(&app.config.data),
    }
}

/// The token of the import, without which a store does not recognize the snapshot.
const TOKEN: &str = "(select * from revision_tokens where topic = 'directory' and revision = 1)";

async fn import(config: Config) -> App {
    let app = App::build(config).await.unwrap();
    let summary = app.importer().import_demo().await.unwrap();
    assert_eq!(summary.revision, 1);
    app.refresh_directory().await.unwrap();
    app
}

async fn list_tables(app: &App) -> Vec<&'static str> {
    let tables = app.db.hash_tables(&mut |_| {}).await.unwrap();
    let imported = tables.into_iter().filter(|table| table.rows > 0);
    imported
        .map(|table| table.name)
        .filter(|name| *name != "store" && !SEEDED.contains(name))
        .collect()
}

fn read_snapshot(data: &Path) -> (PathBuf, Vec<u8>) {
    let files = std::fs::read_dir(data.join("directory")).unwrap();
    let mut paths = files.map(|file| file.unwrap().path());
    let path = paths.find(|path| path.extension().is_some_and(|extension| extension == "snapshot"));
    let path = path.unwrap();
    (path.file_name().unwrap().into(), std::fs::read(&path).unwrap())
}

async fn copy_to_sqlite(
    writer: &SqlitePool,
    demo: &Demo<SqliteRows>,
    file: &Path,
    now: i64,
) -> sqlx::Result<()> {
    let mut script = "begin immediate;\n".to_owned();
    for table in &demo.tables {
        let _ = writeln!(script, "insert into {table} select * from demo.{table};");
    }
    // A trigger records a new token, which is not the one of the snapshot.
    let _ = write!(
        script,
        "update imports set started_at = {now}, finished_at = {now};
        update revisions set revision = 1 where topic = 'directory';
        delete from revision_tokens where topic = 'directory' and revision = 1;
        insert into revision_tokens select * from demo.revision_tokens where topic = 'directory' and revision = 1;
        commit;"
    );
    let mut connection = writer.acquire().await?;
    let attach = sqlx::query("attach database $1 as demo").bind(file.to_str());
    attach.execute(&mut *connection).await?;
    connection.execute(sqlx::raw_sql(AssertSqlSafe(script))).await?;
    connection.execute("detach database demo").await?;
    Ok(())
}

async fn copy_to_postgres(pool: &PgPool, demo: &Demo<PostgresRows>, now: i64) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    // The trigger would record a new token, which is not the one of the snapshot.
    let begin = "begin; alter table revisions disable trigger revisions_token";
    connection.execute(sqlx::raw_sql(begin)).await?;
    for (table, rows) in demo.tables.iter().chain([&"revision_tokens"]).zip(&demo.rows) {
        let statement = format!("copy {table} from stdin");
        let mut copy = connection.copy_in_raw(&statement).await?;
        copy.send(rows.as_slice()).await?;
        copy.finish().await?;
    }
    let commit = format!(
        "update imports set started_at = {now}, finished_at = {now};
        update revisions set revision = 1 where topic = 'directory';
        alter table revisions enable trigger revisions_token;
        select pg_notify('causeway', topic || ' ' || revision || ' ' || token) from revision_tokens
            where topic = 'directory' and revision = 1;
        commit"
    );
    connection.execute(sqlx::raw_sql(AssertSqlSafe(commit))).await?;
    Ok(())
}
