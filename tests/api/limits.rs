//! Rate limits: the exact number of calls per minute, and the headers that describe it.

use crate::client::Response;
use crate::world::World;
use access::audit::Actor;
use access::keys::store::{AddressChange, RotateOutcome};
use access::keys::{Class, KeyText, Kind, Overlap, store};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

on_both_databases!(
    of_501_concurrent_searches_500_succeed_and_one_is_refused,
    a_restart_does_not_reset_the_quota,
    a_crash_after_a_burst_does_not_reset_the_quota,
    a_greedy_client_waits_for_its_address_limit_and_a_modest_one_is_served,
    an_address_limit_counts_all_classes_of_a_key_and_a_slash_64_as_one_address,
    an_address_limit_survives_a_restart_and_a_rotation,
    the_servers_of_the_owner_have_no_address_limit,
    the_101st_call_in_a_minute_is_refused_until_retry_after,
    a_refused_call_does_not_extend_the_wait,
    each_key_has_its_own_count_which_includes_errors,
    a_new_limit_applies_after_the_next_refresh,
    a_call_without_a_valid_key_does_not_use_the_quota,
    alternative_url_spellings_do_not_bypass_the_limit,
);

const PATH: &str = "/v0.2/nonprofit/530196605";

/// The remaining calls and the seconds until the next one leaves the window, as the `RateLimit` item of a limit says.
fn item(response: &Response, name: &str) -> (u32, u32) {
    let items = response.header("ratelimit").split(", ");
    let mut found = items.filter_map(|item| item.strip_prefix(&format!("\"{name}\";r=")));
    let (left, seconds) = found.next().unwrap().split_once(";t=").unwrap();
    (left.parse().unwrap(), seconds.parse().unwrap())
}

async fn set_limits(world: &World, limits: &[(Class, u32)], address: AddressChange) {
    let (db, key) = (&world.app.db, world.key_id);
    let is_found = store::set_limits_and_address(db, key, limits, address, Actor::Command, 0).await;
    assert!(is_found.unwrap());
    world.app.access.keys.refresh().await.unwrap();
}

/// A numeric parameter of the `RateLimit` header.
fn parameter(response: &Response, name: &str) -> u32 {
    let fields = response.header("ratelimit").split(';');
    let mut values = fields.filter_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    values.next_back().unwrap().parse().unwrap()
}

async fn of_501_concurrent_searches_500_succeed_and_one_is_refused(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    let mut left = Vec::new();
    let mut refused = Vec::new();
    let (responses, mut received) = tokio::sync::mpsc::unbounded_channel();
    for client in 0..8 {
        let calls = if client == 0 { 501 - 7 * 62 } else { 62 };
        let (client, responses) = (world.client.clone(), responses.clone());
        tokio::spawn(async move {
            for _ in 0..calls {
                let response = client.get_any("/v0.2/search/red?take=1").await;
                responses.send(response).unwrap();
            }
        });
    }
    drop(responses);
    while let Some((status, response)) = received.recv().await {
        assert_eq!(response.header("ratelimit-policy"), "\"search\";q=500;w=60");
        match status {
            200 => left.push(parameter(&response, "r")),
            429 => refused.push(response),
            _ => panic!("{status}"),
        }
    }
    left.sort_unstable();
    assert!(left.iter().copied().eq(0..500), "{left:?}");
    assert_eq!(refused.len(), 1);
    let wait = parameter(&refused[0], "t");
    assert_eq!(refused[0].header("retry-after"), wait.to_string());
    world.app.clock.advance(Duration::from_secs(wait.into()));
    world.client.get(200, "/v0.2/search/red?take=1").await;
}

async fn a_restart_does_not_reset_the_quota(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    for _ in 0..60 {
        world.client.get(200, PATH).await;
    }
    world.app.save_counts().await.unwrap();
    for _ in 0..20 {
        world.client.get(200, PATH).await;
    }
    world.app.save_counts().await.unwrap();
    let (app, restarted) = world.restart().await;
    assert_eq!(parameter(&restarted.get(200, PATH).await, "r"), 19);
    for _ in 0..19 {
        restarted.get(200, PATH).await;
    }
    restarted.get(429, PATH).await;
    // Other classes are unaffected.
    assert_eq!(parameter(&restarted.get(200, "/v0.2/search/red").await, "r"), 499);
    app.save_counts().await.unwrap();
    let (third, client) = world.restart().await;
    let refused = client.get(429, PATH).await;
    assert_eq!(refused.header("retry-after"), "60");
    third.clock.advance(Duration::from_secs(61));
    assert_eq!(parameter(&client.get(200, PATH).await, "r"), 99);
    app.db.close().await;
    third.db.close().await;
}

async fn a_crash_after_a_burst_does_not_reset_the_quota(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    let remaining = async || {
        // A server that was killed leaves behind what it had saved.
        let (app, client) = world.restart().await;
        let remaining = parameter(&client.get(200, PATH).await, "r");
        app.db.close().await;
        remaining
    };
    let call_and_save = async |calls: usize| {
        for _ in 0..calls {
            world.client.get(200, PATH).await;
        }
        world.app.save_counts_if_due().await.unwrap();
    };
    call_and_save(1).await;
    assert_eq!(remaining().await, 98);
    // Less than a quarter of the limit waits for ten seconds.
    call_and_save(24).await;
    assert_eq!(remaining().await, 98);
    call_and_save(1).await;
    assert_eq!(remaining().await, 73);
    call_and_save(10).await;
    assert_eq!(remaining().await, 73);
    world.app.clock.advance(Duration::from_secs(10));
    call_and_save(0).await;
    assert_eq!(remaining().await, 63);
}

async fn a_greedy_client_waits_for_its_address_limit_and_a_modest_one_is_served(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    set_limits(world, &[(Class::Details, 100)], AddressChange::Set(60)).await;
    let [greedy, modest] = [1, 2].map(|host| world.client.at([192, 0, 2, host]));
    // In every second the greedy client makes 17 calls. The modest one makes a call every other second.
    let mut admitted = Vec::new();
    for second in 0..120_u64 {
        for _ in 0..17 {
            let (status, response) = greedy.get_any(PATH).await;
            let own = admitted.iter().filter(|then| **then + 60 > second).count();
            assert_eq!(status, if own < 60 { 200 } else { 429 });
            if status == 200 {
                admitted.push(second);
                continue;
            }
            let oldest = admitted[admitted.len() - 60];
            let wait = (oldest + 60 - second).to_string();
            assert_eq!(response.header("retry-after"), wait, "at {second}");
            assert_eq!(item(&response, "address").0, 0);
        }
        if second % 2 == 0 {
            let response = modest.get(200, PATH).await;
            let own = (second / 2 + 1).min(30) as u32;
            let others = admitted.iter().filter(|then| **then + 60 > second).count() as u32;
            assert_eq!(item(&response, "address").0, 60 - own);
            assert_eq!(
                item(&response, "details").0,
                100 - others - own,
                "refused calls do not count"
            );
        }
        world.app.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(admitted.len(), 120);
}

async fn an_address_limit_counts_all_classes_of_a_key_and_a_slash_64_as_one_address(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    set_limits(world, &[(Class::Search, 1)], AddressChange::Set(3)).await;
    let at = |ip: &str| world.client.at_address(ip.parse().unwrap());
    let first = at("2001:db8::1").get(200, PATH).await;
    assert_eq!(
        first.header("ratelimit-policy"),
        "\"details\";q=100;w=60, \"address\";q=3;w=60"
    );
    assert_eq!(
        first.header("ratelimit"),
        "\"details\";r=99;t=60, \"address\";r=2;t=60"
    );
    world.app.clock.advance(Duration::from_secs(10));
    at("2001:db8::2").get(200, "/v0.2/search/red").await;
    // The class refuses this call, so it does not count for the address.
    let refused = at("2001:db8::3").get(429, "/v0.2/search/red").await;
    assert_eq!(refused.header("retry-after"), "60");
    assert_eq!(
        refused.header("ratelimit"),
        "\"search\";r=0;t=60, \"address\";r=1;t=50"
    );
    at("2001:db8:0:0:ffff::").get(200, PATH).await;
    // The address refuses this call, so it does not count for the class.
    let refused = at("2001:db8::1").get(429, PATH).await;
    assert_eq!(refused.code(), "rate_limited");
    assert!(refused.json["detail"].as_str().unwrap().contains("address"));
    assert_eq!(refused.header("retry-after"), "50");
    assert_eq!(
        refused.header("ratelimit"),
        "\"details\";r=98;t=50, \"address\";r=0;t=50"
    );
    // Another network, an IPv4 address and another key are not affected.
    at("2001:db8:0:1::1").get(200, PATH).await;
    at("192.0.2.1").get(200, PATH).await;
    let (_, key) = world.create_key(Kind::Public).await;
    at("2001:db8::1").with_key(&key).get(200, PATH).await;
    world.app.clock.advance(Duration::from_secs(49));
    at("2001:db8::1").get(429, PATH).await;
    world.app.clock.advance(Duration::from_secs(1));
    at("2001:db8::1").get(200, PATH).await;
    // Without the limit, the header has one item again.
    set_limits(world, &[], AddressChange::Remove).await;
    let free = at("2001:db8::1").get(200, PATH).await;
    assert_eq!(free.header("ratelimit-policy"), "\"details\";q=100;w=60");
}

async fn an_address_limit_survives_a_restart_and_a_rotation(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    set_limits(world, &[], AddressChange::Set(2)).await;
    let visitor = world.client.at([192, 0, 2, 1]);
    visitor.get(200, PATH).await;
    visitor.get(200, PATH).await;
    world.app.save_counts().await.unwrap();
    let (app, restarted) = world.restart().await;
    restarted.at([192, 0, 2, 1]).get(429, PATH).await;
    restarted.at([192, 0, 2, 2]).get(200, PATH).await;
    let text = KeyText::generate(Kind::Public);
    let rotated = store::rotate(
        &app.db,
        world.key_id,
        &text,
        Overlap::Day,
        None,
        app.clock.millis(),
    )
    .await;
    assert!(matches!(rotated, Ok(RotateOutcome::Rotated(_))));
    let new = restarted.with_key(text.expose()).get(200, PATH).await;
    assert_eq!(item(&new, "address").0, 1);
    app.db.close().await;
}

async fn the_servers_of_the_owner_have_no_address_limit(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    set_limits(world, &[], AddressChange::Set(1)).await;
    let (_, private) = world.create_key(Kind::Private).await;
    let pair = STANDARD.encode(format!("{}:{private}", world.client.key));
    let headers = [("authorization", format!("Basic {pair}"))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    for left in [499, 498, 497] {
        let response = world
            .client
            .send(200, &axum::http::Method::GET, "/v0.2/fundraisers", &headers)
            .await;
        assert_eq!(item(&response, "fundraisers").0, left);
    }
}

async fn the_101st_call_in_a_minute_is_refused_until_retry_after(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    for left in (0..100).rev() {
        let response = world.client.get(200, PATH).await;
        assert_eq!(response.header("ratelimit-policy"), "\"details\";q=100;w=60");
        assert!(
            response
                .header("ratelimit")
                .starts_with(&format!("\"details\";r={left};t="))
        );
        assert!(!response.headers.contains_key("retry-after"));
    }
    let refused = world.client.get(429, PATH).await;
    assert_eq!(refused.code(), "rate_limited");
    assert!(refused.header("ratelimit").starts_with("\"details\";r=0;t="));
    assert_eq!(refused.header("retry-after"), "60");
    world.app.clock.advance(Duration::from_secs(59));
    world.client.get(429, PATH).await;
    world.app.clock.advance(Duration::from_secs(1));
    world.client.get(200, PATH).await;
}

async fn a_refused_call_does_not_extend_the_wait(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    set_limits(world, &[(Class::Details, 2)], AddressChange::Keep).await;
    world.client.get(200, PATH).await;
    world.app.clock.advance(Duration::from_secs(30));
    world.client.get(200, PATH).await;
    for _ in 0..5 {
        let refused = world.client.get(429, PATH).await;
        assert_eq!(refused.header("retry-after"), "30");
    }
    world.app.clock.advance(Duration::from_secs(30));
    world.client.get(200, PATH).await;
    world.client.get(429, PATH).await;
}

async fn each_key_has_its_own_count_which_includes_errors(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    let (id, other) = world.create_key(Kind::Public).await;
    store::set_limits(&world.app.db, id, &[(Class::Details, 3)], Actor::Command, 0)
        .await
        .unwrap();
    let other = world.client.with_key(&other);
    let first = other.get(200, PATH).await;
    assert_eq!(first.header("ratelimit-policy"), "\"details\";q=3;w=60");
    let missing = other.get(404, "/v0.2/nonprofit/nobody").await;
    assert!(missing.header("ratelimit").starts_with("\"details\";r=1;"));
    let if_none_match = [("if-none-match", first.header("etag"))];
    assert!(
        other
            .get_with(304, PATH, &if_none_match)
            .await
            .header("ratelimit")
            .starts_with("\"details\";r=0;")
    );
    other.get_with(429, PATH, &if_none_match).await;
    other.get(429, "/v0.2/nonprofit/nobody").await;
    let response = world.client.get(200, PATH).await;
    assert!(response.header("ratelimit").starts_with("\"details\";r=99;"));
}

async fn a_new_limit_applies_after_the_next_refresh(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    for (limit, left) in [(5, 4), (3, 1), (10, 7)] {
        set_limits(world, &[(Class::Details, limit)], AddressChange::Keep).await;
        let response = world.client.get(200, PATH).await;
        assert!(
            response
                .header("ratelimit")
                .starts_with(&format!("\"details\";r={left};")),
            "{limit}"
        );
    }
}

async fn a_call_without_a_valid_key_does_not_use_the_quota(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    for _ in 0..200 {
        world.client.get_plain(401, PATH).await;
    }
    assert!(
        world
            .client
            .get(200, PATH)
            .await
            .header("ratelimit")
            .starts_with("\"details\";r=99;")
    );
}

async fn alternative_url_spellings_do_not_bypass_the_limit(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    set_limits(world, &[(Class::Details, 1)], AddressChange::Keep).await;
    world.client.get(200, PATH).await;
    let key = &world.client.key;
    for url in [
        format!("{PATH}?apiKey={}", key.replace("cwpk_", "%63wpk_")),
        format!("/v0.2/nonprofit/American-Red-Cross?x=1&apiKey={key}"),
        format!("/v0.2/nonprofit/%3530196605?apiKey={key}"),
    ] {
        world.client.get_plain(429, &url).await;
    }
    let head = axum::http::Method::HEAD;
    let headers = [("x-forwarded-for", "203.0.113.9")];
    world
        .client
        .send(429, &head, &format!("{PATH}?apiKey={key}"), &headers)
        .await;
}
