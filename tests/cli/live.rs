//! Commands beside a running server: they take effect within a second, and starting anew frees nobody.

use super::server::{Server, command, eventually};
use crate::world::World;
use std::time::{Duration, Instant};

on_both_databases!(
    a_server_that_may_not_be_alone_is_told_where_pictures_belong,
    a_block_a_limit_and_a_revoke_hold_within_a_second,
    a_server_that_is_started_anew_remembers_who_called,
);

const PROMISED: Duration = Duration::from_secs(1);
const SAVED: &str = "select cast(coalesce(sum(calls), 0) as text) from recent_calls";

fn path(world: &World) -> String {
    format!("/v0.2/nonprofit/nobody?apiKey={}", world.client.key)
}

async fn a_server_that_may_not_be_alone_is_told_where_pictures_belong(world: &World) {
    let server = Server::start(world, "server");
    let is_told = server
        .log()
        .contains("name a folder that all of them see in blobs_url");
    assert_eq!(is_told, matches!(world.app.db, causeway::db::Db::Postgres(_)));
}

async fn a_block_a_limit_and_a_revoke_hold_within_a_second(world: &World) {
    let server = Server::start(world, "server");
    let (path, id) = (path(world), world.key_id.to_string());
    let becomes = |status: u16| {
        let took = eventually("the change holds", || server.status(&path) == status);
        assert!(took < PROMISED, "{status} after {took:?}");
    };
    becomes(404);
    command(world, &["key", "block", &id, "--reason", "too much"]);
    becomes(403);
    command(world, &["key", "unblock", &id]);
    becomes(404);
    command(world, &["limit", "set", &id, "details=1"]);
    becomes(429);
    command(world, &["limit", "set", &id, "details=1000"]);
    becomes(404);
    command(world, &["key", "revoke", &id]);
    becomes(401);
}

async fn a_server_that_is_started_anew_remembers_who_called(world: &World) {
    let path = path(world);
    let id = world.key_id.to_string();
    command(world, &["limit", "set", &id, "details=5"]);
    let first = Server::start(world, "first");
    for _ in 0..3 {
        assert_eq!(first.status(&path), 404);
    }
    // What was let through more than about a second ago outlives a crash.
    let begun = Instant::now();
    while world.texts(SAVED).await != ["3"] {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "the store was told nothing"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    first.kill();
    let second = Server::start(world, "second");
    for status in [404, 404, 429] {
        assert_eq!(second.status(&path), status, "after a crash");
    }
    second.stop();
    let third = Server::start(world, "third");
    assert_eq!(third.status(&path), 429, "after a stop");
}
