//! Attempts to sign in at several servers that share Redis.

use super::visitor::{PASSWORD, Visitor};
use crate::client::Client;
use crate::world::{World, redis_url};
use access::accounts::attempts::PER_ACCOUNT_AND_NETWORK;

on_both_databases!(
    guesses_at_all_servers_count_together,
    a_sign_in_at_one_server_is_known_to_the_others,
);

const LIMIT: usize = PER_ACCOUNT_AND_NETWORK.attempts();

/// A visitor of each of two servers, from a network of its own.
async fn visitors(world: &World, address: [u8; 4]) -> [Visitor; 2] {
    let apps = [
        world.sharing_server(&redis_url()).await,
        world.sharing_server(&redis_url()).await,
    ];
    apps.map(|app| Visitor::with_client(&Client::new(&app, "").at(address)))
}

async fn guess(visitor: &Visitor) -> u16 {
    let fields = [("username", "grace"), ("password", "guess guess guess")];
    visitor.post_any("/dashboard/sign-in", &fields).await
}

async fn guesses_at_all_servers_count_together(world: &World) {
    Visitor::new(world).sign_up("grace").await;
    let thief = visitors(world, [192, 0, 2, 1]).await;
    let mut statuses = Vec::new();
    for attempt in 0..LIMIT + 4 {
        statuses.push(guess(&thief[attempt % 2]).await);
    }
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!(refused, 4, "{statuses:?}");
    assert!(
        statuses[LIMIT..].iter().all(|status| *status == 429),
        "{statuses:?}"
    );
    // Another network is not affected.
    let owner = visitors(world, [192, 0, 2, 2]).await;
    owner[0].sign_in(303, "grace", PASSWORD).await;
}

async fn a_sign_in_at_one_server_is_known_to_the_others(world: &World) {
    Visitor::new(world).sign_up("grace").await;
    let owner = visitors(world, [192, 0, 2, 3]).await;
    for attempt in 0..LIMIT - 1 {
        assert_ne!(guess(&owner[attempt % 2]).await, 429);
    }
    owner[0].sign_in(303, "grace", PASSWORD).await;
    // The failed attempts are forgotten on both servers.
    let mut statuses = Vec::new();
    for _ in 0..=LIMIT {
        statuses.push(guess(&owner[1]).await);
    }
    assert!(
        statuses[..LIMIT].iter().all(|status| *status != 429),
        "{statuses:?}"
    );
    assert_eq!(statuses[LIMIT], 429);
}
