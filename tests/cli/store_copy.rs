//! `causeway store copy`

use super::binary;
use super::server::wait_for_database;
use crate::database::PostgresDatabase;
use crate::world::World;
use platform::db::Db;
use platform::db::tables::{LEFT_OUT, SEEDED, TABLES};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

on_both_databases!(
    every_table_is_copied_or_left_out_on_purpose,
    a_store_with_unusual_values_moves_to_the_other_database_and_back,
    a_target_that_is_in_use_is_refused,
    a_damaged_store_is_not_copied,
);

const SQLITE_TABLES: &str =
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'";
const POSTGRES_TABLES: &str = "select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'";
const SQLITE_REFERENCES: &str = "select t.name || ' ' || f.\"table\" from sqlite_master t \
     join pragma_foreign_key_list(t.name) f where t.type = 'table'";

fn run(data: &Path, url: Option<&str>, expected: i32, arguments: &[&str]) -> (Value, String) {
    let mut command = binary();
    command
        .args(arguments)
        .arg("--json")
        .arg("--data")
        .arg(data)
        .stdin(Stdio::null());
    if let Some(url) = url {
        command.env("CAUSEWAY_DATABASE_URL", url);
        wait_for_database(&mut command);
    }
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {error}");
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), error)
}

async fn every_table_is_copied_or_left_out_on_purpose(world: &World) {
    let found = match &world.app.db {
        Db::Sqlite { .. } => world.texts(SQLITE_TABLES).await,
        Db::Postgres(_) => world.texts(POSTGRES_TABLES).await,
    };
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let listed: BTreeSet<&str> = TABLES.iter().chain(LEFT_OUT).copied().collect();
    assert_eq!(
        found, listed,
        "list new tables in crates/platform/src/db/tables.rs"
    );
    if matches!(world.app.db, Db::Sqlite { .. }) {
        let position = |table: &str| TABLES.iter().position(|name| *name == table);
        for reference in world.texts(SQLITE_REFERENCES).await {
            let (table, parent) = reference.split_once(' ').unwrap();
            assert!(position(parent) < position(table), "{table} refers to {parent}");
        }
    }
}

#[test]
fn the_tables_of_a_new_database_are_empty_except_for_the_seeded_ones() {
    let folder = tempfile::tempdir().unwrap();
    let config = causeway::config::Config::for_tests(folder.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db = Db::open(&config.data, &config.database).await.unwrap();
        db.refuse_unless_new().await.unwrap();
        for content in db.hash_tables(&mut |_| {}).await.unwrap() {
            assert_eq!(
                content.rows > 0,
                SEEDED.contains(&content.name),
                "{}",
                content.name
            );
        }
        db.close().await;
    });
}

/// Fills every kind of column with values that are easy to get wrong.
async fn fill(world: &World) {
    world.load_demo().await;
    let picture =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let line = format!(
        "{{\"ein\":\"530196605\",\"description\":\"Tab\\t, \\\\N, \\\\x00, line\\nbreak, \\u00e9, \\ud83c\\udf33\",\"logo\":\"data:image/png;base64,{picture}\"}}\n"
    );
    world.import_nonprofits(&line).await.unwrap();
    let url = world.app.config.database.exposed_url();
    for (id, name) in [("d-1", "Ana \\ \"Bo\""), ("d-2", "José")] {
        run(
            world.data(),
            url,
            0,
            &[
                "donation",
                "record",
                "--nonprofit",
                "530196605",
                "--amount",
                "2500",
                "--donor",
                id,
                "--external-id",
                id,
                "--name",
                name,
                "--public",
            ],
        );
    }
    run(world.data(), url, 0, &["account", "create", "olga", "--operator"]);
}

/// The tables and their hashes.
fn tables(copied: &Value) -> Vec<(String, String)> {
    let tables = copied["tables"].as_array().unwrap().iter();
    tables
        .map(|table| (table["name"].to_string(), table["sha256Sum"].to_string()))
        .collect()
}

async fn a_store_with_unusual_values_moves_to_the_other_database_and_back(world: &World) {
    fill(world).await;
    let (folder, other) = (
        tempfile::tempdir().unwrap(),
        PostgresDatabase::create_empty().await,
    );
    let (there, back) = (folder.path().join("there"), folder.path().join("back"));
    let (there, back) = (there.to_str().unwrap(), back.to_str().unwrap());
    let other_url = other.url();
    let source_url = world.app.config.database.exposed_url();
    let (before, _) = run(world.data(), source_url, 0, &["check", "--full"]);
    // From SQLite to PostgreSQL and to SQLite in another folder, or from PostgreSQL to SQLite and to PostgreSQL.
    let (first, second) = match source_url {
        None => {
            let (first, _) = run(world.data(), None, 0, &["store", "copy", "--to", &other_url]);
            let (second, _) = run(
                world.data(),
                Some(&other_url),
                0,
                &["store", "copy", "--to", back],
            );
            (first, second)
        }
        Some(url) => {
            let (first, _) = run(world.data(), Some(url), 0, &["store", "copy", "--to", there]);
            let (second, _) = run(Path::new(there), None, 0, &["store", "copy", "--to", &other_url]);
            (first, second)
        }
    };
    assert_eq!(first["sourceChanged"], false);
    assert_eq!(tables(&first), tables(&second));
    assert_eq!(tables(&first).len(), TABLES.len());
    let (folder_with_sqlite, data_of_copy, url_of_copy) = match source_url {
        None => (back, Path::new(back), None),
        Some(_) => (there, Path::new(there), Some(other_url.as_str())),
    };
    let (after, _) = run(data_of_copy, url_of_copy, 0, &["check", "--full"]);
    assert_eq!(after, before);
    let secret = |data: &Path| fs::read(data.join("secret")).unwrap();
    assert_eq!(secret(Path::new(folder_with_sqlite)), secret(world.data()));
    // The copy is the same store: it has the same accounts and keys, and new donations follow the old ones.
    let accounts = |data: &Path, url| run(data, url, 0, &["account", "list"]).0;
    assert_eq!(
        accounts(data_of_copy, url_of_copy),
        accounts(world.data(), source_url)
    );
    run(
        data_of_copy,
        url_of_copy,
        0,
        &[
            "donation",
            "record",
            "--nonprofit",
            "530196605",
            "--amount",
            "1",
            "--donor",
            "d",
            "--external-id",
            "d-3",
        ],
    );
    let (check, _) = run(data_of_copy, url_of_copy, 0, &["check", "--full"]);
    assert_eq!(check["entries"], 3);
    other.remove().await;
}

async fn a_target_that_is_in_use_is_refused(world: &World) {
    fill(world).await;
    let (folder, other) = (
        tempfile::tempdir().unwrap(),
        PostgresDatabase::create_empty().await,
    );
    let (data, url, source_url) = (
        folder.path().join("data"),
        other.url(),
        world.app.config.database.exposed_url(),
    );
    run(&data, None, 0, &["account", "create", "bo"]);
    run(&data.join("other"), Some(&url), 0, &["account", "create", "bo"]);
    for target in [data.to_str().unwrap(), &url] {
        let (_, error) = run(world.data(), source_url, 1, &["store", "copy", "--to", target]);
        assert!(error.contains("the target is not empty"), "{error}");
    }
    let own = match source_url {
        None => world.data().to_str().unwrap(),
        Some(url) => url,
    };
    let (_, error) = run(world.data(), source_url, 1, &["store", "copy", "--to", own]);
    assert!(error.contains("already in this"), "{error}");
    let (_, error) = run(
        world.data(),
        source_url,
        1,
        &["store", "copy", "--to", "mysql://x"],
    );
    assert!(error.contains("neither a PostgreSQL URL nor a folder"), "{error}");
    other.remove().await;
}

async fn a_damaged_store_is_not_copied(world: &World) {
    fill(world).await;
    world
        .execute("update ledger_entries set amount = 1 where sequence = 1")
        .await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("data");
    let url = world.app.config.database.exposed_url();
    let (_, error) = run(
        world.data(),
        url,
        1,
        &["store", "copy", "--to", target.to_str().unwrap()],
    );
    assert!(
        error.contains("because it is damaged") && error.contains("ledger"),
        "{error}"
    );
    assert!(!target.exists());
}
