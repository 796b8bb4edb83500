//! An older copy of the database is restored while servers run, and the history then takes another course: every server
//! shows it, whatever the numbers of its revisions.

use super::fundraisers::{Organizer, RED_CROSS, donate};
use crate::client::Client;
use crate::wait::eventually;
use crate::world::World;
use access::audit::Actor;
use access::keys::{Class, KeyText, Kind, store};
use causeway::server::background;
use platform::db::{Db, Topic};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use std::time::Duration;

on_both_databases!(
    servers_follow_another_history_with_the_same_numbers,
    servers_follow_another_history_with_higher_numbers,
    servers_follow_an_older_copy_with_lower_numbers,
    a_server_that_starts_does_not_open_a_snapshot_of_a_lost_history,
    tokens_of_old_revisions_are_removed,
    an_edit_reads_only_the_former_slugs_of_changed_nonprofits,
);

const SQLITE_TABLES: &str = "select name from main.sqlite_master where type = 'table' \
     and name not like 'sqlite%' and name not like '_sqlx%'";
const POSTGRES_TABLES: &str = "select table_name::text from information_schema.tables \
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '\\_sqlx%'";

/// Copies all rows of the database to another place.
pub(super) async fn save(world: &World) {
    match &world.app.db {
        Db::Sqlite { readers, .. } => {
            let copy = world.data().join("copy.db");
            let sql = AssertSqlSafe(format!("vacuum into '{}'", copy.display()));
            sqlx::query(sql).execute(readers).await.unwrap();
        }
        Db::Postgres(postgres) => {
            let mut connection = postgres.pool().acquire().await.unwrap();
            connection.execute("create schema saved").await.unwrap();
            for table in postgres_tables(&mut connection).await {
                let sql = format!("create table saved.{table} as table public.{table}");
                connection.execute(AssertSqlSafe(sql)).await.unwrap();
            }
        }
    }
}

/// Replaces all rows of the database by the saved ones, in one transaction.
pub(super) async fn restore(world: &World) {
    match &world.app.db {
        Db::Sqlite { writer, .. } => {
            let mut connection = writer.acquire().await.unwrap();
            let copy = world.data().join("copy.db");
            let attach = format!(
                "pragma foreign_keys = off; attach '{}' as saved; begin immediate",
                copy.display()
            );
            connection
                .execute(sqlx::raw_sql(AssertSqlSafe(attach)))
                .await
                .unwrap();
            for table in sqlite_tables(&mut connection).await {
                let sql =
                    format!("delete from main.{table}; insert into main.{table} select * from saved.{table}");
                connection
                    .execute(sqlx::raw_sql(AssertSqlSafe(sql)))
                    .await
                    .unwrap();
            }
            let end = "commit; detach saved; pragma foreign_keys = on";
            connection.execute(sqlx::raw_sql(end)).await.unwrap();
        }
        Db::Postgres(postgres) => {
            let mut connection = postgres.pool().acquire().await.unwrap();
            let tables = postgres_tables(&mut connection).await;
            let mut tx = connection.begin().await.unwrap();
            // Without foreign keys and triggers, like a restore of a backup: nobody is notified.
            tx.execute("set local session_replication_role = replica")
                .await
                .unwrap();
            for table in tables {
                let delete = format!("delete from public.{table}");
                tx.execute(AssertSqlSafe(delete)).await.unwrap();
                let insert = format!("insert into public.{table} select * from saved.{table}");
                tx.execute(AssertSqlSafe(insert)).await.unwrap();
            }
            tx.commit().await.unwrap();
        }
    }
}

async fn sqlite_tables(connection: &mut SqliteConnection) -> Vec<String> {
    sqlx::query_scalar(SQLITE_TABLES)
        .fetch_all(connection)
        .await
        .unwrap()
}

async fn postgres_tables(connection: &mut PgConnection) -> Vec<String> {
    sqlx::query_scalar(POSTGRES_TABLES)
        .fetch_all(connection)
        .await
        .unwrap()
}

/// What a course of history left behind.
struct History {
    /// A word in the name of the Red Cross.
    word: &'static str,
    /// A public key that only this history has.
    key: String,
    /// What the common fundraiser has raised.
    raised: i64,
}

/// Creates a key, renames a nonprofit, and records a donation.
async fn make_history(world: &World, common: &Value, word: &'static str, raised: i64) -> History {
    let (_, key) = world.create_key(Kind::Public).await;
    rename(world, word).await;
    donate(world, common, word, word, raised).await.unwrap();
    History { word, key, raised }
}

async fn rename(world: &World, word: &str) {
    let line = json!({"ein": RED_CROSS, "name": format!("Red Cross {word}")});
    world.import_nonprofits(&line.to_string()).await.unwrap();
}

async fn numbers(world: &World) -> Vec<i64> {
    let mut numbers = Vec::new();
    for topic in Topic::ALL {
        numbers.push(world.app.db.revision(topic).await.unwrap());
    }
    numbers
}

/// Whether a server shows a history in every way, and nothing of another.
async fn shows(client: &Client, common: &Value, history: &History, other: &History) -> bool {
    let status = async |key: &str| {
        let client = client.with_key(key);
        client.get_any("/v0.2/causes").await.0
    };
    let found = async |word: &str| {
        let response = client.get(200, &format!("/v0.2/search/{word}?take=5")).await;
        response.text().contains(&format!("Red Cross {word}"))
    };
    let details = client.details(200, RED_CROSS).await;
    let slug = common["slug"].as_str().unwrap();
    let raised = client
        .get(
            200,
            &format!("/v0.2/nonprofit/{RED_CROSS}/fundraiser/{slug}/raised"),
        )
        .await;
    status(&history.key).await == 200
        && status(&other.key).await == 401
        && details.nonprofit()["name"] == format!("Red Cross {}", history.word)
        && raised.json["raised"] == history.raised
        && found(history.word).await
        && !found(other.word).await
}

async fn wait_until_shown(clients: &[Client], common: &Value, history: &History, other: &History) {
    for client in clients {
        eventually("a server shows the current history", async || {
            // Within the rate limits of the keys.
            tokio::time::sleep(Duration::from_millis(200)).await;
            shows(client, common, history, other).await.then_some(())
        })
        .await;
    }
}

/// Two servers that follow the database, and a fundraiser that both histories have.
async fn start(world: &World) -> (Vec<Client>, Value, impl AsyncFnOnce()) {
    let organizer = Organizer::new(world).await;
    let common = organizer.create_fundraiser(json!({})).await;
    let limits = Class::ALL.map(|class| (class, 1_000_000));
    let changed = store::set_limits(&world.app.db, world.key_id, &limits, Actor::Command, 0).await;
    assert!(changed.unwrap());
    world.app.access.keys.refresh().await.unwrap();
    let (app, client) = world.restart().await;
    let jobs = [world.app.clone(), app.clone()].map(|app| tokio::spawn(background::run(app)));
    let stop = async move || {
        for job in jobs {
            job.abort();
            let _ = job.await;
        }
        app.db.close().await;
    };
    (vec![world.client.clone(), client], common, stop)
}

fn nothing(word: &'static str) -> History {
    History {
        word,
        key: KeyText::generate(Kind::Public).expose().to_owned(),
        raised: 0,
    }
}

/// The entity tag of the directory.
async fn tag(client: &Client) -> String {
    client.details(200, RED_CROSS).await.header("etag").to_owned()
}

async fn servers_follow_another_history_with_the_same_numbers(world: &World) {
    let (clients, common, stop) = start(world).await;
    save(world).await;
    let lost = make_history(world, &common, "Harborlost", 1_000).await;
    // The file of this snapshot has the name that the one of the other history will have.
    world.app.directory.rebuild().await.unwrap();
    wait_until_shown(&clients, &common, &lost, &nothing("Meadowfound")).await;
    let (lost_numbers, lost_tag) = (numbers(world).await, tag(&clients[1]).await);
    restore(world).await;
    let current = make_history(world, &common, "Meadowfound", 250).await;
    assert_eq!(numbers(world).await, lost_numbers);
    wait_until_shown(&clients, &common, &current, &lost).await;
    assert_ne!(tag(&clients[1]).await, lost_tag);
    stop().await;
    // A server that starts now finds a usable snapshot, or builds one.
    let (app, client) = world.restart().await;
    app.refresh_directory().await.unwrap();
    assert!(shows(&client, &common, &current, &lost).await);
    app.db.close().await;
}

async fn servers_follow_another_history_with_higher_numbers(world: &World) {
    let (clients, common, stop) = start(world).await;
    save(world).await;
    let lost = make_history(world, &common, "Harborlost", 1_000).await;
    wait_until_shown(&clients, &common, &lost, &nothing("Meadowfound")).await;
    let lost_numbers = numbers(world).await;
    restore(world).await;
    rename(world, "Meadowlost").await;
    world.create_key(Kind::Public).await;
    donate(world, &common, "p-0", "ben", 50).await.unwrap();
    let mut current = make_history(world, &common, "Meadowfound", 250).await;
    current.raised += 50;
    let current_numbers = numbers(world).await;
    assert!(
        current_numbers
            .iter()
            .zip(&lost_numbers)
            .all(|(now, then)| now > then)
    );
    wait_until_shown(&clients, &common, &current, &lost).await;
    stop().await;
}

async fn servers_follow_an_older_copy_with_lower_numbers(world: &World) {
    let (clients, common, stop) = start(world).await;
    let older = make_history(world, &common, "Meadowfound", 250).await;
    save(world).await;
    let mut lost = make_history(world, &common, "Harborlost", 1_000).await;
    lost.raised += older.raised;
    for client in &clients {
        eventually("a server shows the last change", async || {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let details = client.details(200, RED_CROSS).await;
            (details.nonprofit()["name"] == "Red Cross Harborlost").then_some(())
        })
        .await;
    }
    restore(world).await;
    wait_until_shown(&clients, &common, &older, &lost).await;
    stop().await;
}

async fn a_server_that_starts_does_not_open_a_snapshot_of_a_lost_history(world: &World) {
    let organizer = Organizer::new(world).await;
    let common = organizer.create_fundraiser(json!({})).await;
    save(world).await;
    let lost = make_history(world, &common, "Harborlost", 1_000).await;
    world.app.directory.rebuild().await.unwrap();
    let lost_revision = world.app.db.revision(Topic::Directory).await.unwrap();
    let name = world.snapshots().pop().unwrap().file_name().unwrap().to_owned();
    assert_eq!(
        name.to_str(),
        Some(format!("{lost_revision:012}.snapshot").as_str())
    );
    restore(world).await;
    let (app, _) = world.restart().await;
    let opened = app
        .directory
        .view()
        .snapshot
        .as_ref()
        .map(|open| open.meta().revision);
    assert!(opened.is_none_or(|opened| opened < lost_revision), "{opened:?}");
    app.db.close().await;
    // With the same number, the file has the same name.
    let current = make_history(world, &common, "Meadowfound", 250).await;
    let (app, client) = world.restart().await;
    app.refresh_directory().await.unwrap();
    assert!(shows(&client, &common, &current, &lost).await);
    assert_eq!(
        crate::world::check_directory(&app).await.unwrap().differences,
        Vec::<String>::new()
    );
    app.db.close().await;
}

const TOKENS: &str =
    "select topic || ' ' || cast(revision as text) from revision_tokens order by topic, revision";

async fn tokens_of_old_revisions_are_removed(world: &World) {
    let pruned = world.app.db.prune_revision_tokens().await.unwrap();
    assert_eq!(pruned, 0);
    let before = world.texts(TOKENS).await;
    assert!(before.contains(&"keys 1".to_owned()), "{before:?}");
    world
        .execute("update revisions set revision = 200000 where topic = 'keys'")
        .await;
    assert!(world.app.db.prune_revision_tokens().await.unwrap() > 0);
    assert_eq!(
        world.texts(TOKENS).await,
        ["directory 0", "events 0", "keys 200000"]
    );
}

async fn an_edit_reads_only_the_former_slugs_of_changed_nonprofits(world: &World) {
    world.load_demo().await;
    world
        .execute("insert into former_slugs (slug, nonprofit_id) select 'former-' || slug, id from nonprofits")
        .await;
    let since = world.app.directory.view().revision.number;
    rename(world, "Renamed").await;
    let mut tx = world.app.db.view().await.unwrap();
    let read = directory::nonprofits::store::list_changed_former_slugs(&mut tx, since).await;
    let slugs: Vec<String> = read.unwrap().into_iter().map(|(slug, _)| slug).collect();
    assert!(
        !slugs.is_empty() && slugs.iter().all(|slug| slug.contains("red-cross")),
        "{slugs:?}"
    );
    drop(tx);
    world.client.details(200, &slugs[0]).await;
}
