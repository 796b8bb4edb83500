//! Commands next to a running server, and restarts of it.

use super::server::{Server, run};
use crate::wait::{eventually, wait_until};
use crate::world::World;
use platform::db::Db;
use std::time::{Duration, Instant};

on_both_databases!(
    a_second_server_suggests_what_servers_should_share,
    a_server_logs_its_payment_provider_and_warns_in_test_mode,
    blocks_limits_and_revocations_reach_a_running_server,
    the_log_line_of_a_request_names_its_trace,
    recent_calls_survive_a_crash_and_a_restart,
);

/// Calls count for a minute. Part of it is left for rounding to seconds.
const CALL_LIFETIME: Duration = Duration::from_secs(55);
const SAVED_CALLS: &str = "select cast(coalesce(sum(calls), 0) as text) from recent_calls";

fn path(world: &World) -> String {
    format!("/v0.2/nonprofit/nobody?apiKey={}", world.client.key)
}

async fn a_second_server_suggests_what_servers_should_share(world: &World) {
    let first = Server::start(world, "first");
    assert!(!first.log().contains("other servers use"), "{}", first.log());
    if matches!(world.app.db, Db::Postgres(_)) {
        let second = Server::start(world, "second").log();
        for setting in ["redis_url", "blobs_url"] {
            assert!(second.contains(&format!("{setting} is not set")), "{second}");
        }
    }
}

async fn a_server_logs_its_payment_provider_and_warns_in_test_mode(world: &World) {
    let public = ("CAUSEWAY_PUBLIC_URL", "http://giving.example.org");
    let test = ("CAUSEWAY_GIVING__PROVIDER", "test");
    for (name, variables, provider) in [
        ("local", &[][..], "test"),
        ("public", &[public], "off"),
        ("public-test", &[public, test], "test"),
    ] {
        let log = Server::start_with(world, name, variables).log();
        let line = log.lines().find(|line| line.contains("payment provider"));
        assert!(
            line.is_some_and(|line| line.contains(&format!("provider=\"{provider}\""))),
            "{name}: {log}"
        );
        assert!(!log.contains('\u{1b}'), "only a terminal gets colors: {log}");
        assert_eq!(log.contains("test mode: "), provider == "test", "{name}: {log}");
    }
}

async fn blocks_limits_and_revocations_reach_a_running_server(world: &World) {
    let server = Server::start(world, "server");
    let (path, id) = (path(world), world.key_id.to_string());
    let wait_for = |status: u16| {
        wait_until(&format!("the status is {status}"), || {
            server.status(&path) == status
        });
    };
    wait_for(404);
    run(world, &["key", "block", &id, "--reason", "too much"]);
    wait_for(403);
    run(world, &["key", "unblock", &id]);
    wait_for(404);
    run(world, &["limit", "set", &id, "details=1"]);
    wait_for(429);
    run(world, &["limit", "set", &id, "details=1000000"]);
    wait_for(404);
    run(world, &["limit", "set", &id, "address=1"]);
    wait_for(429);
    run(world, &["limit", "set", &id, "address=none"]);
    wait_for(404);
    run(world, &["key", "revoke", &id]);
    wait_for(401);
}

async fn the_log_line_of_a_request_names_its_trace(world: &World) {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let server = Server::start(world, "server");
    let traced = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n");
    server.send("GET", "/v0.2/traced", &traced);
    server.send("GET", "/v0.2/untraced", "traceparent: 00-not-a-trace-01\r\n");
    let line_of = |path: &str| {
        let log = server.log();
        let line = log
            .lines()
            .find(|line| line.contains(path) && line.contains("status"));
        line.map(str::to_owned)
    };
    wait_until("both requests are logged", || {
        line_of("/v0.2/traced").is_some() && line_of("/v0.2/untraced").is_some()
    });
    let line = line_of("/v0.2/traced").unwrap();
    assert!(line.contains("trace_id") && line.contains(TRACE), "{line}");
    let line = line_of("/v0.2/untraced").unwrap();
    assert!(!line.contains("trace_id"), "{line}");
}

async fn recent_calls_survive_a_crash_and_a_restart(world: &World) {
    let path = path(world);
    let id = world.key_id.to_string();
    run(world, &["limit", "set", &id, "details=5"]);
    // A slow machine may not get this done before the first calls expire; then it tries again.
    loop {
        world.execute("delete from recent_calls").await;
        let start = Instant::now();
        let first = Server::start(world, "first");
        for _ in 0..3 {
            assert_eq!(first.status(&path), 404);
        }
        // Calls are saved about once per second, and saved calls survive a crash.
        let is_saved = eventually("the calls are saved", async || {
            let is_saved = world.texts(SAVED_CALLS).await == ["3"];
            (is_saved || start.elapsed() > CALL_LIFETIME).then_some(is_saved)
        })
        .await;
        first.kill();
        let second = Server::start(world, "second");
        let after_crash = [(); 3].map(|()| second.status(&path));
        second.stop();
        let third = Server::start(world, "third");
        let after_stop = third.status(&path);
        if start.elapsed() < CALL_LIFETIME {
            assert!(is_saved);
            assert_eq!((after_crash, after_stop), ([404, 404, 429], 429));
            return;
        }
    }
}
