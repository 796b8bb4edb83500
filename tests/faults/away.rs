//! PostgreSQL is stopped, frozen or restarted: writes fail at once instead of waiting for it, pages show what needs no
//! database, and everything recovers by itself without losing or repeating a write.

use crate::client::{self, Response};
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use crate::postgres_server::PostgresServer;
use crate::server::Server;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long the server waits for a connection. A write that waits for the database takes this long, or longer.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longer than a healthy database needs on any machine.
const PROBE_TIMEOUT: &str = "10";
const WRITES: u32 = 20;
const WRITERS: usize = 4;

#[test]
fn writes_fail_at_once_while_postgres_is_stopped() {
    lose_postgres(PostgresServer::stop, PostgresServer::resume);
}

#[test]
fn writes_fail_at_once_while_postgres_is_frozen() {
    lose_postgres(PostgresServer::freeze, PostgresServer::thaw);
}

fn start(instance: &Instance) -> Server {
    let acquire_timeout = DATABASE_TIMEOUT.as_secs().to_string();
    let environment = [
        ("CAUSEWAY_DATABASE__ACQUIRE_TIMEOUT", acquire_timeout.as_str()),
        ("CAUSEWAY_DATABASE__PROBE_TIMEOUT", PROBE_TIMEOUT),
    ];
    Server::start(instance, &environment)
}

fn lose_postgres(lose: fn(&PostgresServer), restore: fn(&PostgresServer)) {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let mut workload = Workload::new(Instance::on_server(&postgres, 1_000));
    let server = start(&workload.instance);
    workload.begin(server.address);
    let profile = workload.profile(&server);
    let shown = text(&server.get(&profile));
    assert!(shown.contains("/f/run-first"), "the profile shows its fundraiser");

    for round in 0..2 {
        lose(&postgres);
        let key = format!("away-{round}");
        assert_unavailable(&workload.create(server.address, &key).expect("a response"));
        // The database is known to be away now.
        let start = Instant::now();
        for number in 0..WRITES {
            let key = format!("away-{round}-{number}");
            assert_unavailable(&workload.create(server.address, &key).expect("a response"));
            let page = server.get(&profile);
            assert_eq!(page.status, 200, "{}", text(&page));
            assert!(text(&page).contains("Tax status and finances"));
            // A page with a query is not cached.
            let page = server.get(&format!("{profile}?amount=25"));
            assert_eq!(page.status, 200, "{}", text(&page));
            assert!(!text(&page).contains("/f/run"), "without its fundraisers");
        }
        // If they waited for the database, each write and each page would take `DATABASE_TIMEOUT`.
        let elapsed = start.elapsed();
        assert!(
            elapsed < DATABASE_TIMEOUT * WRITES / 4,
            "writes and pages waited for the database: {elapsed:?}"
        );
        assert_eq!(server.get(&workload.instance.path("000000000")).status, 404);
        assert_eq!(server.get("/readyz").status, 200);

        restore(&postgres);
        eventually("writes succeed again", || {
            let created = workload.create(server.address, &key).expect("a response");
            if created.status != 200 {
                assert_unavailable(&created);
            }
            created.status == 200
        });
        workload.count_create();
        for number in 0..WRITES {
            let key = format!("away-{round}-{number}");
            eventually("a refused write succeeds", || {
                workload
                    .create(server.address, &key)
                    .is_ok_and(|created| created.status == 200)
            });
            workload.count_create();
        }
        eventually("the profile shows its fundraisers again", || {
            text(&server.get(&profile)).contains("/f/run")
        });
        workload.verify(server.address);
    }
}

#[test]
fn writes_survive_restarts_of_postgres_under_load() {
    let Some(postgres) = PostgresServer::start() else {
        return;
    };
    let mut workload = Workload::new(Instance::on_server(&postgres, 1_000));
    let server = start(&workload.instance);
    workload.begin(server.address);
    let is_over = AtomicBool::new(false);
    let responses: Mutex<BTreeMap<String, Response>> = Mutex::default();
    let count = |status: u16| {
        let responses = responses.lock().expect("a list");
        responses
            .values()
            .filter(|response| response.status == status)
            .count()
    };
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (workload, responses, is_over) = (&workload, &responses, &is_over);
            let address = server.address;
            scope.spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let key = format!("load-{writer}-{number}");
                    let response = workload.create(address, &key).expect("a response");
                    if response.status != 200 {
                        assert_unavailable(&response);
                        thread::sleep(Duration::from_millis(20));
                    }
                    responses.lock().expect("a list").insert(key, response);
                }
            });
        }
        let written_on = |message: &str| {
            let before = count(200);
            eventually(message, || count(200) > before + WRITERS);
        };
        written_on("writes begin");
        for _ in 0..2 {
            postgres.stop();
            postgres.resume();
            written_on("writes continue after a restart");
            postgres.kill();
            postgres.resume();
            written_on("writes continue after PostgreSQL was killed");
            postgres.freeze();
            let refused = count(503);
            eventually("writes are refused", || count(503) > refused);
            postgres.thaw();
            written_on("writes continue after PostgreSQL was frozen");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    for (key, first) in responses.into_inner().expect("a list") {
        let repeated = workload.create(server.address, &key).expect("a response");
        assert_eq!(repeated.status, 200, "{}", text(&repeated));
        if first.status == 200 {
            assert_eq!(repeated.body, first.body, "{key} has the same response");
        }
        workload.count_create();
    }
    workload.verify(server.address);
    assert_eq!(
        client::get(server.address, "/readyz").expect("a response").status,
        200
    );
}

/// Asserts that a response says that the service is unavailable and when to try again.
fn assert_unavailable(response: &Response) {
    assert_eq!(response.status, 503, "{}", text(response));
    assert_eq!(response.json()["code"], "unavailable");
    assert!(response.header("retry-after").is_some());
}

fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}
