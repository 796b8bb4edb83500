//! PostgreSQL is lost and returns. Meanwhile the directory is served from the snapshot.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually};
use crate::proxy::Proxy;
use crate::server::Server;
use std::time::{Duration, Instant};

/// The shortest time that the server waits for a database that does not respond.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(5);
/// Ends statements that the silent database does not answer: a server that waits for one of them may hold the lock of the
/// data folder, for which the import waits. Longer than a healthy database needs on any machine.
const PROBE_TIMEOUT: (&str, &str) = ("CAUSEWAY_DATABASE__PROBE_TIMEOUT", "10");
const REQUESTS: u32 = 20;

#[test]
fn details_are_served_while_postgres_is_unreachable() {
    lose_database(Proxy::disconnect);
}

#[test]
fn details_are_served_while_postgres_does_not_respond() {
    lose_database(Proxy::silence);
}

fn lose_database(lose: fn(&Proxy)) {
    if !Database::Postgres.is_available() {
        return;
    }
    let instance = Instance::new(Database::Postgres, 200);
    let files = Files::new(instance.folder.path(), 800);
    let eins = files.sample(10);
    let (proxy, proxy_url) = Proxy::new(&instance.database);
    let timeout = DATABASE_TIMEOUT.as_secs().to_string();
    let environment = [
        ("CAUSEWAY_DATABASE_URL", proxy_url.as_str()),
        ("CAUSEWAY_DATABASE__ACQUIRE_TIMEOUT", &timeout),
        PROBE_TIMEOUT,
    ];
    let server = Server::start(&instance, &environment);
    let facts = instance.learn_facts(&server, &files, &eins);

    for newest in [0, 1] {
        lose(&proxy);
        // These commands connect to the database directly, so the server cannot see their changes.
        instance.import([&files.a, &files.b][newest]);
        let (id, _) = instance.create_key();
        assert_no_waiting(&server, || {
            assert_eq!(instance.all_facts(&server, &eins[..2]), facts[1 - newest][..2]);
            assert_eq!(server.get("/readyz").status, 200);
        });
        let unknown_key = instance.create_key().1;
        let path = format!("/v0.2/nonprofit/nobody?apiKey={unknown_key}");
        let response = server.get(&path);
        assert_eq!(response.status, 503, "the key cannot be looked up");
        assert!(response.header("retry-after").is_some());

        proxy.restore();
        eventually("the import shows", || {
            instance.all_facts(&server, &eins) == facts[newest]
        });
        eventually("the new key works", || server.get(&path).status == 404);
        instance.run(&["key", "revoke", &id]);
    }
}

/// Asserts that requests do not wait for the database.
///
/// If they did, each would take at least `DATABASE_TIMEOUT`. The time of health checks, which never use the database,
/// is the allowance for a slow machine.
fn assert_no_waiting(server: &Server, request: impl Fn()) {
    let (mut requests, mut health_checks) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..REQUESTS {
        let start = Instant::now();
        request();
        requests += start.elapsed();
        let start = Instant::now();
        assert_eq!(server.get("/healthz").status, 200);
        health_checks += start.elapsed();
    }
    let allowed = DATABASE_TIMEOUT * REQUESTS / 4 + health_checks * 20;
    assert!(
        requests < allowed,
        "requests waited for the database: they took {requests:?}, health checks {health_checks:?}"
    );
}
