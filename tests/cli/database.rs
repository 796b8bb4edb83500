//! The schema of both databases, and opening an existing one.

use crate::world::{Database, World, run_story};
use platform::db::Db;
use std::cell::RefCell;

on_both_databases!(
    reopening_a_database_changes_nothing,
    a_database_of_a_newer_version_is_refused,
);

/// Every column as `table.column type nullable`, with PostgreSQL type names.
async fn columns(world: &World) -> Vec<String> {
    let mut columns = match &world.app.db {
        Db::Sqlite { .. } => world
            .texts(SQLITE_COLUMNS)
            .await
            .iter()
            .map(|line| as_postgres_column(line))
            .collect(),
        Db::Postgres(_) => world.texts(POSTGRES_COLUMNS).await,
    };
    columns.sort();
    columns
}

const SQLITE_COLUMNS: &str = "select t.name || '.' || c.name || ' ' || lower(c.type) || ' ' || \
     case when c.\"notnull\" = 1 or c.pk > 0 then 'no' else 'yes' end \
     from sqlite_master t join pragma_table_info(t.name) c \
     where t.type = 'table' and t.name not like 'sqlite_%' and t.name <> '_sqlx_migrations'";
const POSTGRES_COLUMNS: &str = "select table_name || '.' || column_name || ' ' || data_type || ' ' || lower(is_nullable) \
     from information_schema.columns where table_schema = 'public' and table_name <> '_sqlx_migrations'";

/// Translates a column of SQLite, which has no types for UUID and boolean: these are recognized by name.
fn as_postgres_column(line: &str) -> String {
    let [column, kind, nullable] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let kind = match (kind, column.rsplit('.').next().unwrap()) {
        ("integer", "operator" | "listed") => "boolean",
        ("integer", name) if name.starts_with("is_") || name.starts_with("has_") => "boolean",
        ("integer", _) => "bigint",
        ("real", _) => "double precision",
        ("blob", "hash" | "mac" | "secret" | "sha256") => "bytea",
        ("blob", _) => "uuid",
        (kind, _) => kind,
    };
    format!("{column} {kind} {nullable}")
}

const SQLITE_INDEXES: &str =
    "select name from sqlite_master where type = 'index' and name not like 'sqlite_%'";
const POSTGRES_INDEXES: &str = "select indexname::text from pg_indexes where schemaname = 'public' \
     and indexname not like '%_pkey' and indexname not like '%_key' and indexname not like '\\_sqlx%'";

async fn indexes(world: &World) -> Vec<String> {
    let mut indexes = match &world.app.db {
        Db::Sqlite { .. } => world.texts(SQLITE_INDEXES).await,
        Db::Postgres(_) => world.texts(POSTGRES_INDEXES).await,
    };
    indexes.sort();
    indexes
}

#[test]
fn both_databases_have_the_same_tables_columns_and_indexes() {
    let schemas = RefCell::new(Vec::new());
    for database in [Database::Sqlite, Database::Postgres] {
        run_story(database, async |world| {
            let schema = (columns(world).await, indexes(world).await);
            schemas.borrow_mut().push(schema);
        });
    }
    let [sqlite, postgres] = schemas.into_inner().try_into().unwrap();
    assert!(sqlite.0.len() > 50, "{} columns", sqlite.0.len());
    assert_eq!(sqlite, postgres);
}

async fn reopening_a_database_changes_nothing(world: &World) {
    let before = columns(world).await;
    let (app, _) = world.restart().await;
    let other = app.db.identity(0).await.unwrap();
    assert_eq!(other, world.app.db.identity(1).await.unwrap());
    assert_eq!(columns(world).await, before);
    app.db.close().await;
}

async fn a_database_of_a_newer_version_is_refused(world: &World) {
    world
        .execute("update _sqlx_migrations set version = 9999 where version = 2")
        .await;
    let error = causeway::app::App::build(world.app.config.clone())
        .await
        .unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("newer version") && text.contains("9999"), "{text}");
}
