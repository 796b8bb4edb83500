//! The two databases hold the same tables.

use crate::world::{Store, World, play};
use causeway::db::Db;
use std::cell::RefCell;

on_both_databases!(
    opening_a_store_again_changes_nothing,
    a_store_of_a_newer_version_is_refused_in_one_sentence,
);

/// Every column as `table.column type nullable`, in words of PostgreSQL.
async fn columns(world: &World) -> Vec<String> {
    let mut columns = match &world.app.db {
        Db::Sqlite { .. } => world
            .texts(SQLITE)
            .await
            .iter()
            .map(|line| in_words_of_postgres(line))
            .collect(),
        Db::Postgres(_) => world.texts(POSTGRES).await,
    };
    columns.sort();
    columns
}

const SQLITE: &str = "select t.name || '.' || c.name || ' ' || lower(c.type) || ' ' || \
     case when c.\"notnull\" = 1 or c.pk > 0 then 'no' else 'yes' end \
     from sqlite_master t join pragma_table_info(t.name) c \
     where t.type = 'table' and t.name not like 'sqlite_%' and t.name <> '_sqlx_migrations'";
const POSTGRES: &str = "select table_name || '.' || column_name || ' ' || data_type || ' ' || lower(is_nullable) \
     from information_schema.columns where table_schema = 'public' and table_name <> '_sqlx_migrations'";

/// SQLite has no names for uuid and boolean, so for these the column tells.
fn in_words_of_postgres(line: &str) -> String {
    let [column, kind, nullable] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let kind = match (kind, column.rsplit('.').next().unwrap()) {
        ("integer", "operator" | "listed" | "is_public") => "boolean",
        ("integer", _) => "bigint",
        ("real", _) => "double precision",
        ("blob", "hash" | "sha256") => "bytea",
        ("blob", _) => "uuid",
        (kind, _) => kind,
    };
    format!("{column} {kind} {nullable}")
}

const INDEXES_OF_SQLITE: &str =
    "select name from sqlite_master where type = 'index' and name not like 'sqlite_%'";
const INDEXES_OF_POSTGRES: &str = "select indexname::text from pg_indexes where schemaname = 'public' \
     and indexname not like '%_pkey' and indexname not like '%_key' and indexname not like '\\_sqlx%'";

async fn indexes(world: &World) -> Vec<String> {
    let mut indexes = match &world.app.db {
        Db::Sqlite { .. } => world.texts(INDEXES_OF_SQLITE).await,
        Db::Postgres(_) => world.texts(INDEXES_OF_POSTGRES).await,
    };
    indexes.sort();
    indexes
}

#[test]
fn both_databases_have_the_same_tables_columns_and_indexes() {
    let seen = RefCell::new(Vec::new());
    for store in [Store::Sqlite, Store::Postgres] {
        play(store, async |world| {
            let found = (columns(world).await, indexes(world).await);
            seen.borrow_mut().push(found);
        });
    }
    let [sqlite, postgres] = seen.into_inner().try_into().unwrap();
    assert!(sqlite.0.len() > 50, "{} columns", sqlite.0.len());
    assert_eq!(sqlite, postgres);
}

async fn opening_a_store_again_changes_nothing(world: &World) {
    let before = columns(world).await;
    let (app, _) = world.restart().await;
    let other = app.db.identity(0).await.unwrap();
    assert_eq!(other, world.app.db.identity(1).await.unwrap());
    assert_eq!(columns(world).await, before);
    app.db.close().await;
}

async fn a_store_of_a_newer_version_is_refused_in_one_sentence(world: &World) {
    world
        .execute("update _sqlx_migrations set version = 9999 where version = 2")
        .await;
    let fault = causeway::app::App::build(world.app.config.clone())
        .await
        .unwrap_err();
    let text = format!("{fault:#}");
    assert!(text.contains("newer version") && text.contains("9999"), "{text}");
}
