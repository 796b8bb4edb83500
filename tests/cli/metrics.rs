//! `/metrics`: what Prometheus scrapes.

use super::server::{Server, send};
use crate::api::fundraisers::donate_in;
use crate::wait::{eventually, wait_until};
use crate::world::World;
use access::audit::Actor;
use access::keys::store::{AddressChange, set_limits_and_address};
use access::limits::Class;
use causeway::app::metrics::definitions::{ALL, Kind};
use causeway::server::scrape::scrape;
use giving::donations::{Label, Refund};
use giving::ledger::entry::Mode;
use platform::db::Db;
use platform::money::Cents;
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;

on_both_databases!(
    a_server_exports_the_metrics_of_its_parts,
    refusals_are_counted_by_class,
    donations_and_refunds_are_counted_once_by_mode,
    the_directory_is_shown_with_its_revision_and_age,
    waiting_queries_are_counted,
    paths_that_clients_invent_add_no_labels,
    every_exported_metric_is_defined,
);

/// The value of a sample, by its name and labels as the page shows them.
fn value(page: &str, sample: &str) -> Option<f64> {
    let found = page
        .lines()
        .find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    found.map(|value| value.parse().unwrap())
}

async fn a_server_exports_the_metrics_of_its_parts(world: &World) {
    world.load_demo().await;
    let server = Server::start(world, "server");
    let page = || send(&server.metrics, "GET", "/metrics", "");
    wait_until("the server has seen the database and is ready", || {
        let page = page();
        value(&page, "causeway_ready") == Some(1.0) && value(&page, "causeway_store_age_seconds").is_some()
    });
    let page = page();
    assert!(page.contains("text/plain; version=0.0.4"), "{page}");
    let version = concat!("causeway_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}");
    assert_eq!(value(&page, version), Some(1.0), "{page}");
    assert!(value(&page, "causeway_nonprofits").unwrap() > 10.0);
    for positive in [
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_virtual_memory_bytes",
        "process_open_fds",
        "process_max_fds",
        "process_start_time_seconds",
        "causeway_pool_connections",
        "causeway_data_available_bytes",
    ] {
        assert!(
            value(&page, positive).is_some_and(|value| value > 0.0),
            "{positive}: {page}"
        );
    }
    let size = value(&page, "causeway_data_size_bytes").unwrap();
    assert!(value(&page, "causeway_data_available_bytes").unwrap() <= size);
    // Without Redis, anchors and backups nothing is exported that an alert could mistake for an outage.
    for absent in ["causeway_redis_up", "causeway_backup_age_seconds"] {
        assert_eq!(value(&page, absent), None, "{page}");
    }
}

async fn refusals_are_counted_by_class(world: &World) {
    let app = &world.app;
    let limits = [(Class::Details, 1), (Class::Search, 2)];
    let change = AddressChange::Keep;
    set_limits_and_address(&app.db, world.key_id, &limits, change, Actor::Command, 0)
        .await
        .unwrap();
    app.access.keys.refresh().await.unwrap();
    app.clock.stop();
    for _ in 0..4 {
        world.client.get_any("/v0.2/nonprofit/nobody").await;
        world.client.get_any("/v0.2/search/red").await;
        world.client.get_any("/v0.2/causes").await;
    }
    let page = scrape(app).await;
    let refused = |class: &str| {
        value(
            &page,
            &format!("causeway_limit_refusals_total{{class=\"{class}\"}}"),
        )
    };
    assert_eq!(
        ["details", "search", "causes", "other"].map(refused),
        [Some(3.0), Some(2.0), Some(0.0), Some(0.0)]
    );
}

async fn donations_and_refunds_are_counted_once_by_mode(world: &World) {
    world.load_demo().await;
    let red_cross = json!({"nonprofitId": "american-red-cross"});
    for (mode, id, cents) in [
        (Mode::Live, "a", 2_500),
        (Mode::Live, "a", 2_500),
        (Mode::Live, "b", 1_000),
        (Mode::Test, "c", 700),
    ] {
        donate_in(mode, world, &red_cross, id, "donor", cents)
            .await
            .unwrap();
    }
    let refund = Refund {
        source: Label::parse("test").unwrap(),
        external_id: Label::parse("a").unwrap(),
        amount: Some(Cents::new(400)),
        refund_id: Some(Label::parse("r").unwrap()),
    };
    for _ in 0..2 {
        world.app.giving.recorder.refund(refund.clone()).await.unwrap();
    }
    let page = scrape(&world.app).await;
    for (sample, expected) in [
        ("causeway_donations_total{mode=\"live\"}", 2.0),
        ("causeway_donated_cents_total{mode=\"live\"}", 3_500.0),
        ("causeway_donations_total{mode=\"test\"}", 1.0),
        ("causeway_donated_cents_total{mode=\"test\"}", 700.0),
        ("causeway_refunds_total{mode=\"live\"}", 1.0),
        ("causeway_refunded_cents_total{mode=\"live\"}", 400.0),
        ("causeway_refunds_total{mode=\"test\"}", 0.0),
    ] {
        assert_eq!(value(&page, sample), Some(expected), "{sample}: {page}");
    }
}

async fn the_directory_is_shown_with_its_revision_and_age(world: &World) {
    let app = &world.app;
    let page = scrape(app).await;
    assert_eq!(
        value(&page, "causeway_snapshot_age_seconds"),
        None,
        "there is no snapshot"
    );
    // Builds a snapshot, which a copy of the demo directory already has.
    app.importer().import_demo().await.unwrap();
    app.refresh_directory().await.unwrap();
    let revision = app.directory.view().revision.number as f64;
    app.clock.advance(Duration::from_hours(1));
    let page = scrape(app).await;
    for name in ["causeway_directory_revision", "causeway_store_directory_revision"] {
        assert_eq!(value(&page, name), Some(revision), "{name}: {page}");
    }
    let age = value(&page, "causeway_snapshot_age_seconds").unwrap();
    assert!(age >= 3_600.0, "{age}");
    let snapshot = app.directory.view().snapshot.clone().unwrap().meta().revision;
    assert_eq!(value(&page, "causeway_snapshot_revision"), Some(snapshot as f64));
    assert!(value(&page, "causeway_snapshot_build_seconds").is_some_and(|seconds| seconds > 0.0));
}

async fn waiting_queries_are_counted(world: &World) {
    world.load_demo().await;
    let waiting = async || value(&scrape(&world.app).await, "causeway_pool_waiting_queries");
    let Db::Postgres(postgres) = &world.app.db else {
        assert_eq!(waiting().await, None);
        return;
    };
    assert_eq!(waiting().await, Some(0.0));
    let max = postgres.pool().options().get_max_connections() as usize;
    let mut transactions = Vec::new();
    for _ in 0..max {
        transactions.push(world.app.db.view().await.unwrap());
    }
    assert_eq!(waiting().await, Some(0.0));
    let db = world.app.db.clone();
    let blocked = tokio::spawn(async move { db.view().await.unwrap() });
    eventually("a transaction waits", async || {
        (waiting().await == Some(1.0)).then_some(())
    })
    .await;
    drop(transactions);
    drop(blocked.await.unwrap());
    eventually("nothing waits", async || {
        (waiting().await == Some(0.0)).then_some(())
    })
    .await;
}

async fn paths_that_clients_invent_add_no_labels(world: &World) {
    let routes = async || {
        let page = scrape(&world.app).await;
        let lines = page
            .lines()
            .filter(|line| line.starts_with("causeway_requests_total{"));
        lines
            .map(|line| line.rsplit_once(' ').unwrap().0.to_owned())
            .collect::<HashSet<_>>()
    };
    for path in [
        "/v0.2/nonprofit/first",
        "/v0.2/one/two/three",
        "/one/two/three/four",
    ] {
        world.client.get_any(path).await;
    }
    let before = routes().await;
    for number in 0..20 {
        for path in ["/v0.2/nonprofit/x", "/v0.2/one/two/x", "/one/two/three/x"] {
            world.client.get_any(&format!("{path}{number}")).await;
        }
    }
    assert_eq!(routes().await, before);
}

async fn every_exported_metric_is_defined(world: &World) {
    let metrics = &world.app.telemetry.metrics;
    let now = world.app.clock.millis();
    // What depends on the settings.
    for age in [
        &metrics.store_age,
        &metrics.snapshot.age,
        &metrics.anchor.age,
        &metrics.backup_age,
    ] {
        age.set_time(now);
    }
    for gauge in [
        &metrics.emails.waiting,
        &metrics.payments.unreconciled_cents,
        &metrics.payments.owed_cents,
        &metrics.payments.oldest_unpaid_days,
        &metrics.payments.waiting_events,
        &metrics.payments.unanswered_disputes,
        &metrics.payments.monthly_active,
        &metrics.payments.monthly_past_due,
        &metrics.payments.declined,
        &metrics.payments.held,
        &metrics.payments.let_through,
        &metrics.anchor.missing,
        &metrics.receipt_differences,
        &metrics.pool.waiting,
        &metrics.pool.lock_waits,
        &metrics.snapshot.build,
    ] {
        gauge.set(1.0);
    }
    metrics.redis_up().set(1.0);
    metrics.local_limit_decisions().increment(1);
    world.client.get_any("/v0.2/causes").await;
    let defined: HashSet<(&str, &str)> = ALL
        .iter()
        .map(|definition| {
            let kind = match definition.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            (definition.name, kind)
        })
        .collect();
    // A scrape omits what a slow store does not answer in time.
    let page = eventually("every metric is exported", async || {
        let page = scrape(&world.app).await;
        let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let exported: HashSet<(&str, &str)> = types.filter_map(|line| line.split_once(' ')).collect();
        let is_complete = exported.is_superset(&defined);
        if is_complete {
            assert_eq!(exported, defined);
        }
        is_complete.then_some(page)
    })
    .await;
    for definition in ALL {
        let help = format!("# HELP {} {}\n", definition.name, definition.help);
        assert!(page.contains(&help), "{help}: {page}");
    }
}
