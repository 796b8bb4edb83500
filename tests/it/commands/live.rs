//! Commands beside a running server: they take effect within a second, and starting anew frees nobody.

use super::server::{Server, command, eventually};
use crate::world::World;
use std::time::Duration;

const PROMISED: Duration = Duration::from_secs(1);

fn path(world: &World) -> String {
    format!("/v0.2/nonprofit/nobody?apiKey={}", world.client.key)
}

on_both! {
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
        let server = Server::start(world, "first");
        for _ in 0..5 {
            assert_eq!(server.status(&path), 404);
        }
        assert_eq!(server.status(&path), 429);
        server.stop();
        let second = Server::start(world, "second");
        assert_eq!(second.status(&path), 429, "a stop freed it");
        // What was let through more than a second ago outlives a crash too.
        second.kill();
        let third = Server::start(world, "third");
        assert_eq!(third.status(&path), 429, "a crash freed it");
        third.stop();
    }
}
