//! What a server answers before it has a snapshot and after it lost its store.

use crate::api::fundraisers::{Organizer, donate};
use crate::client::Client;
use crate::world::{Database, World, run_story};
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::app::App;
use platform::clock::{Clock, rfc3339};
use platform::db::{Db, query};
use serde_json::json;
use std::time::{Duration, Instant};

on_both_databases!(
    a_server_is_ready_once_its_first_snapshot_is_open,
    a_stale_server_refuses_private_keys_and_later_public_ones,
    times_never_go_back_in_the_ledger,
);

const EIN: &str = "530196605";

async fn a_server_is_ready_once_its_first_snapshot_is_open(world: &World) {
    let not_ready = world.client.get_plain(503, "/readyz").await;
    assert_eq!(not_ready.json["status"], "not ready");
    assert_eq!(not_ready.json["reasons"][0]["reason"], "no_snapshot");
    world.client.get_plain(503, "/readyz/write").await;
    assert!(not_ready.json["reasons"][0]["since"].is_string());
    world.app.refresh_directory().await.unwrap();
    let ready = world.client.get_plain(200, "/readyz").await;
    assert_eq!(ready.text(), r#"{"status":"ready"}"#);
    let ready = world.client.get_plain(200, "/readyz/write").await;
    assert_eq!(ready.text(), r#"{"status":"ready"}"#);
}

async fn a_stale_server_refuses_private_keys_and_later_public_ones(world: &World) {
    world.load_demo().await;
    let (_, private) = world.create_key(Kind::Private).await;
    let authorization = STANDARD.encode(format!("{}:{private}", world.client.key));
    let own = async |expected: u16| {
        let headers = [("authorization", format!("Basic {authorization}"))];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        let url = "/v0.2/fundraisers";
        world.client.send(expected, &Method::GET, url, &headers).await
    };
    let (clock, seen) = (&world.app.clock, &world.app.availability.store_seen);
    clock.stop();
    seen.record(true);
    let seen_at = rfc3339(clock.millis());
    seen.record(false);
    clock.advance(Duration::from_millis(29_999));
    own(200).await;
    world.client.get_plain(200, "/readyz/write").await;

    clock.advance(Duration::from_millis(1));
    let refused = own(503).await;
    assert_eq!(refused.code(), "unavailable");
    assert_eq!(refused.header("retry-after"), "1");
    // Load balancers go on sending reads here, and nothing else.
    for (status, path) in [(200, "/readyz"), (503, "/readyz/write")] {
        let degraded = world.client.get_plain(status, path).await;
        assert_eq!(degraded.json["status"], "degraded");
        let reason = &degraded.json["reasons"][0];
        assert_eq!(reason["reason"], "store_unavailable");
        assert_eq!(reason["since"], seen_at);
    }
    world.client.details(200, EIN).await;
    world.client.get_plain(200, "/healthz").await;

    clock.advance(Duration::from_millis(3_569_999));
    world.client.details(200, EIN).await;
    clock.advance(Duration::from_millis(1));
    let refused = world.client.details(503, EIN).await;
    assert_eq!(refused.code(), "unavailable");
    assert_eq!(refused.header("retry-after"), "1");
    let not_ready = world.client.get_plain(503, "/readyz").await;
    assert_eq!(not_ready.json["status"], "not ready");

    world.app.record_response(true);
    world.client.details(200, EIN).await;
    own(200).await;
    world.client.get_plain(200, "/readyz/write").await;
}

#[test]
fn a_locked_table_delays_no_page_that_can_do_without_it() {
    run_story(Database::Postgres, async |world: &World| {
        world.load_demo().await;
        let mut config = world.app.config.clone();
        config.database = config.database.for_server();
        config.database.lock_timeout = Duration::from_secs(1);
        let app = App::build(config).await.unwrap();
        let client = Client::new(&app, &world.client.key);
        let fundraiser = format!("/v0.2/nonprofit/{EIN}/fundraiser/run?apiKey={}", client.key);
        client.get_plain(404, &fundraiser).await;

        let mut lock = world.app.db.write().await.unwrap();
        let tables =
            "lock table nonprofits, profiles, fundraisers, ledger_entries, imports in access exclusive mode";
        lock.execute(query(tables)).await.unwrap();
        let start = Instant::now();
        for path in [
            "/",
            "/american-red-cross",
            "/",
            "/american-red-cross",
            "/causes",
            "/search?q=red",
        ] {
            client.get_plain(200, path).await;
        }
        client.details(200, EIN).await;
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        let refused = client.get_plain(503, &fundraiser).await;
        assert_eq!(
            (refused.code(), refused.header("retry-after")),
            ("unavailable", "1")
        );
        assert_eq!(client.get_plain(200, "/readyz").await.json["status"], "ready");
        let waits = world.app.db.count_lock_waits().await.unwrap();
        assert!(waits.is_some());

        drop(lock);
        client.get_plain(404, &fundraiser).await;
        app.db.close().await;
    });
}

/// A clock that is an hour ahead when the server starts, and half an hour behind afterwards.
#[test]
fn stored_times_are_those_of_postgres() {
    run_story(Database::Postgres, async |world: &World| {
        world.load_demo().await;
        let clock = Clock::default();
        clock.set_machine_wrong(3_600_000);
        let app = App::build_with_clock(world.app.config.clone(), clock.clone())
            .await
            .unwrap();
        let real = world.app.clock.millis();
        assert!(
            (clock.millis() - real).abs() < 60_000,
            "the clock is that of the database"
        );
        app.check_clock().await.unwrap();
        let client = Client::new(&app, &world.client.key);
        let degraded = client.get_plain(503, "/readyz/write").await;
        assert_eq!(degraded.json["reasons"][0]["reason"], "clock_skew");
        client.get_plain(200, "/readyz").await;
        let skew = app.availability.clock_skew();
        assert!((3_590_000..3_610_000).contains(&skew), "{skew}");
        let before = clock.millis();
        clock.set_machine_wrong(-1_800_000);
        assert!(clock.millis() >= before);
        clock.set_machine_wrong(2_000);
        app.check_clock().await.unwrap();
        client.get_plain(200, "/readyz/write").await;
        app.db.close().await;
    });
}

async fn times_never_go_back_in_the_ledger(world: &World) {
    let organizer = Organizer::new(world).await;
    let fundraiser = organizer.create_fundraiser(json!({})).await;
    donate(world, &fundraiser, "first", "ana", 100).await.unwrap();
    // As if the clock had been ten minutes ahead.
    world
        .execute("update ledger_entries set recorded_at = recorded_at + 600000")
        .await;
    donate(world, &fundraiser, "second", "ana", 100).await.unwrap();
    let times = world
        .texts("select cast(recorded_at as text) from ledger_entries order by sequence")
        .await;
    assert_eq!(times[0], times[1]);
    if let Db::Sqlite { .. } = world.app.db {
        world.app.check_clock().await.unwrap();
        assert!(world.app.availability.clock_skew() < -500_000);
    }
}
