//! A server that is asked to stop answers all pending requests and exits successfully.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use crate::server::Server;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const WORKERS: usize = 16;
/// A drain that is longer than any test waits.
const ENDLESS_DRAIN: [(&str, &str); 2] = [
    ("CAUSEWAY_SERVE__DRAIN", "100000"),
    ("CAUSEWAY_SERVE__STOP_TIMEOUT", "100001"),
];

#[test]
fn stopping_under_load_loses_no_request_on_sqlite() {
    stop_under_load(Database::Sqlite);
}

#[test]
fn stopping_under_load_loses_no_request_on_postgres() {
    stop_under_load(Database::Postgres);
}

/// A load balancer sends requests to a server as long as its last look at `/readyz` was good. Both signals wait for what
/// the test has seen, so the drain is longer than any test.
#[test]
fn a_drained_server_fails_no_request() {
    let instance = Instance::new(Database::Sqlite, 100);
    let mut server = Server::start(&instance, &ENDLESS_DRAIN);
    eventually("the server is ready", || server.get("/readyz").status == 200);
    let (address, path) = (server.address, instance.path("nobody"));
    let (is_ready, answered) = (AtomicBool::new(true), AtomicUsize::new(0));
    let served_while = |condition: &dyn Fn() -> bool| {
        while condition() {
            let response = client::get(address, &path).expect("a response");
            assert_eq!(response.status, 404);
            answered.fetch_add(1, Ordering::SeqCst);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| served_while(&|| is_ready.load(Ordering::SeqCst)));
        }
        eventually("the server is under load", || {
            answered.load(Ordering::SeqCst) > WORKERS * 20
        });
        server.terminate();
        eventually("the server is not ready", || server.get("/readyz").status == 503);
        let not_ready = server.get("/readyz").json();
        assert_eq!(not_ready["reasons"][0]["reason"], "stopping", "{not_ready}");
        // The load balancer has not noticed yet.
        let before = answered.load(Ordering::SeqCst);
        eventually("requests are served during the drain", || {
            answered.load(Ordering::SeqCst) > before + WORKERS * 20
        });
        is_ready.store(false, Ordering::SeqCst);
    });
    server.terminate();
    eventually("a second signal ends the drain", || {
        server.exit_status().is_some()
    });
    assert_eq!(server.exit_status().and_then(|status| status.code()), Some(0));
}

#[test]
fn an_interrupted_server_does_not_drain() {
    let instance = Instance::new(Database::Sqlite, 100);
    let mut server = Server::start(&instance, &ENDLESS_DRAIN);
    server.signal("INT");
    eventually("the server exits", || server.exit_status().is_some());
    assert_eq!(server.exit_status().and_then(|status| status.code()), Some(0));
}

#[test]
fn readers_that_wait_for_events_are_answered_and_do_not_delay_the_stop() {
    let workload = Workload::new(Instance::new(Database::Sqlite, 100));
    let mut server = workload.instance.serve();
    let (address, authorization) = (server.address, workload.authorization.clone());
    let latest = client::get_with(address, "/v0.2/events?after=latest", &authorization).expect("a response");
    let cursor = latest.json()["cursor"].as_str().expect("a cursor").to_owned();
    let before = server.open_files();
    let reader = std::thread::spawn(move || {
        let path = format!("/v0.2/events?wait=25&after={cursor}");
        client::get_with(address, &path, &authorization)
    });
    eventually("the request arrives", || server.open_files() > before);
    std::thread::sleep(Duration::from_millis(500));
    server.signal("INT");
    let elapsed = eventually("the server exits", || server.exit_status().is_some());
    assert!(elapsed < Duration::from_secs(15), "{elapsed:?}");
    let answer = reader.join().expect("no panic").expect("a response");
    assert_eq!(
        (answer.status, &answer.json()["events"]),
        (200, &serde_json::json!([]))
    );
}

fn stop_under_load(database: Database) {
    if !database.is_available() {
        return;
    }
    let instance = Instance::new(database, 100);
    for _ in 0..3 {
        let mut server = instance.serve();
        let (address, path) = (server.address, instance.path("nobody"));
        let (is_stopping, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
        let request = || -> io::Result<()> {
            let mut stream = client::connect(address)?;
            client::send(&mut stream, &path)?;
            // A request sent before the signal must be answered.
            let is_owed = !is_stopping.load(Ordering::SeqCst);
            match client::receive(stream) {
                Ok(response) => {
                    assert_eq!(response.status, 404);
                    answered.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                }
                Err(error) => {
                    assert!(!is_owed, "a request from before the stop was lost: {error}");
                    Err(error)
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| while request().is_ok() {});
            }
            eventually("the server is under load", || {
                answered.load(Ordering::SeqCst) > WORKERS * 20
            });
            is_stopping.store(true, Ordering::SeqCst);
            server.terminate();
            // The stop timeout of the server is longer than this waits.
            eventually("the server exits", || server.exit_status().is_some());
            assert_eq!(
                server.exit_status().and_then(|status| status.code()),
                Some(0),
                "{}",
                server.log()
            );
        });
    }
}
