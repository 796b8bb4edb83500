//! Changes that other servers make: PostgreSQL notifies servers of them, and SQLite is checked for them.

use crate::wait::eventually;
use crate::world::World;
use access::keys::{Kind, store};
use causeway::app::App;
use causeway::server::background;
use platform::db::{Db, Revision, Topic};
use secrecy::SecretString;
use std::time::{Duration, Instant};
use uuid::Uuid;

on_both_databases!(
    a_revoked_key_stops_working_on_other_servers,
    a_notification_is_enough,
    a_server_without_notifications_checks_for_changes,
    a_busy_database_is_waited_for_as_long_as_the_operator_allows,
    idle_servers_run_few_transactions,
);

/// The key is checked before the nonprofit is looked up.
const PATH: &str = "/v0.2/nonprofit/nobody";

/// Runs the background jobs of a second server with other settings, and waits until it has seen the database.
async fn start(world: &World, listen_url: Option<String>) -> (App, tokio::task::JoinHandle<()>) {
    let mut config = world.app.config.clone();
    config.database.listen_url = listen_url.map(SecretString::from);
    let app = App::build(config).await.unwrap();
    let running = app.clone();
    let jobs = tokio::spawn(async move { _ = background::run(running).await });
    eventually("the server has seen the database", async || {
        app.changes.latest(Topic::Keys)
    })
    .await;
    (app, jobs)
}

async fn stop(app: App, jobs: tokio::task::JoinHandle<()>) {
    jobs.abort();
    let _ = jobs.await;
    app.db.close().await;
}

/// Revokes a new key and waits until a server refuses it.
async fn revoke_and_wait(world: &World, app: &App) {
    let (id, key) = world.create_key(Kind::Public).await;
    let client = crate::client::Client::new(app, &key);
    client.get(404, PATH).await;
    assert!(store::revoke(&world.app.db, id, 0).await.unwrap());
    eventually("the other server refuses the key", async || {
        (client.get_any(PATH).await.0 == 401).then_some(())
    })
    .await;
}

async fn a_revoked_key_stops_working_on_other_servers(world: &World) {
    let (app, jobs) = start(world, None).await;
    revoke_and_wait(world, &app).await;
    stop(app, jobs).await;
}

/// Sends a notification about a revision that the tables do not have. Only a server that listens can see it.
async fn a_notification_is_enough(world: &World) {
    let Db::Postgres(postgres) = &world.app.db else {
        return;
    };
    let (app, jobs) = start(world, None).await;
    let notified = Revision {
        number: 9_000,
        token: Uuid::from_u128(5),
    };
    let payload = format!("events {} {}", notified.number, notified.token);
    let mut events = app.changes.follow(Topic::Events);
    let first = events.changed().await;
    events.mark_handled(first);
    // Repeated, because a check of the tables undoes it, and because the server may not listen yet.
    let notify = async {
        loop {
            let query = sqlx::query("select pg_notify('causeway', $1)").bind(&payload);
            query.execute(&postgres.pool()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        () = notify => {}
        seen = events.changed() => assert_eq!(seen, notified),
    }
    // A connection that is lost is replaced.
    let listeners = "select pg_terminate_backend(pid) from pg_stat_activity \
         where datname = current_database() and query like 'LISTEN%'";
    eventually("the connection that listens is closed", async || {
        let closed: Vec<bool> = sqlx::query_scalar(listeners)
            .fetch_all(&postgres.pool())
            .await
            .unwrap();
        closed.contains(&true).then_some(())
    })
    .await;
    revoke_and_wait(world, &app).await;
    stop(app, jobs).await;
}

/// The URL for notifications leads to another database, as through a pooler that does not pass notifications on.
async fn a_server_without_notifications_checks_for_changes(world: &World) {
    let Db::Postgres(_) = &world.app.db else {
        return;
    };
    for url in [
        std::env::var("CAUSEWAY_TEST_POSTGRES_URL").unwrap(),
        "postgres://nobody@127.0.0.1:1/nothing".to_owned(),
    ] {
        let (app, jobs) = start(world, Some(url)).await;
        revoke_and_wait(world, &app).await;
        stop(app, jobs).await;
    }
}

/// Longer than the default timeouts.
const BUSY_DURATION: Duration = Duration::from_secs(7);

async fn a_busy_database_is_waited_for_as_long_as_the_operator_allows(world: &World) {
    let Db::Postgres(postgres) = &world.app.db else {
        return;
    };
    let app = App::build(world.app.config.clone()).await.unwrap();
    // The other server has to look up this key.
    let (_, key) = world.create_key(Kind::Public).await;
    let client = crate::client::Client::new(&app, &key);
    let mut lock = postgres.pool().begin().await.unwrap();
    let query = sqlx::query("lock table revisions in access exclusive mode");
    query.execute(&mut *lock).await.unwrap();
    let unlock = async {
        tokio::time::sleep(BUSY_DURATION).await;
        lock.commit().await.unwrap();
    };
    tokio::join!(client.get(404, PATH), unlock);
    app.db.close().await;
}

const TRANSACTIONS: &str =
    "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()";
const SERVERS: usize = 3;
/// It is 2, because the sender of webhooks looks every second for what other servers queued. Before changes were notified it was 31.
const MAX_TRANSACTIONS_PER_SERVER_AND_SECOND: f64 = 3.0;

async fn idle_servers_run_few_transactions(world: &World) {
    let Db::Postgres(postgres) = &world.app.db else {
        return;
    };
    world.load_demo().await;
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(start(world, None).await);
    }
    for (app, _) in &servers {
        eventually("the server shows the directory", async || {
            let latest = app.changes.latest(Topic::Directory);
            latest.filter(|latest| app.directory.view().shows(*latest))
        })
        .await;
    }
    let count = async || -> i64 {
        let query = sqlx::query_scalar(TRANSACTIONS);
        query.fetch_one(&postgres.pool()).await.unwrap()
    };
    // PostgreSQL counts the transactions of a connection when it has been idle for ten seconds, so the first interval
    // includes what the servers did when they started.
    eventually("idle servers run few transactions", async || {
        let (before, start) = (count().await, Instant::now());
        tokio::time::sleep(Duration::from_secs(12)).await;
        let (after, elapsed) = (count().await, start.elapsed().as_secs_f64());
        let per_second = (after - before) as f64 / elapsed;
        println!("{SERVERS} idle servers: {per_second:.1} transactions a second");
        (per_second < SERVERS as f64 * MAX_TRANSACTIONS_PER_SERVER_AND_SECOND).then_some(())
    })
    .await;
    for (app, jobs) in servers {
        stop(app, jobs).await;
    }
}
