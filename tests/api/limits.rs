//! Rate limits: the exact number of calls per minute, and the headers that describe it.

use crate::client::Response;
use crate::world::World;
use access::audit::Actor;
use access::keys::{Class, Kind, store};
use listener::client_network;
use std::time::{Duration, Instant};

on_both_databases!(
    of_501_concurrent_searches_500_succeed_and_one_is_refused,
    a_restart_does_not_reset_the_quota,
    one_visitor_cannot_exhaust_a_key_while_others_wait,
    the_101st_call_in_a_minute_is_refused_until_retry_after,
    a_refused_call_does_not_extend_the_wait,
    each_key_has_its_own_count_which_includes_errors,
    a_new_limit_applies_after_the_next_refresh,
    a_call_without_a_valid_key_does_not_use_the_quota,
    alternative_url_spellings_do_not_bypass_the_limit,
);

const PATH: &str = "/v0.2/nonprofit/530196605";

/// A numeric parameter of the `RateLimit` header.
fn parameter(response: &Response, name: &str) -> u32 {
    let fields = response.header("ratelimit").split(';');
    let mut values = fields.filter_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    values.next_back().unwrap().parse().unwrap()
}

async fn of_501_concurrent_searches_500_succeed_and_one_is_refused(world: &World) {
    world.load_demo().await;
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
    let start = Instant::now();
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
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    let elapsed = start.elapsed().as_secs();
    assert!((59 - elapsed.min(59)..=60).contains(&wait), "{wait}");
    third.clock.advance(Duration::from_secs(61));
    assert_eq!(parameter(&client.get(200, PATH).await, "r"), 99);
    app.db.close().await;
    third.db.close().await;
}

async fn one_visitor_cannot_exhaust_a_key_while_others_wait(world: &World) {
    world.load_demo().await;
    store::set_limits(
        &world.app.db,
        world.key_id,
        &[(Class::Details, 20)],
        Actor::Command,
        0,
    )
    .await
    .unwrap();
    world.app.keys.refresh().await.unwrap();
    // The limiter puts IP addresses into 255 buckets: find one in another bucket.
    let visitor = |host: u8| {
        world
            .app
            .limiter
            .visitor(&Some(client_network([192, 0, 2, host].into())))
    };
    let other = (2..=u8::MAX).find(|host| visitor(*host) != visitor(1)).unwrap();
    let [greedy, modest] = [1, other].map(|host| world.client.at([192, 0, 2, host]));
    for left in (0..20).rev() {
        assert_eq!(
            parameter(&greedy.get(200, PATH).await, "r"),
            left,
            "a single visitor has the whole limit"
        );
    }
    modest.get(429, PATH).await;
    world.app.clock.advance(Duration::from_secs(61));
    let mut served = 0;
    loop {
        let (status, response) = greedy.get_any(PATH).await;
        if status == 429 {
            assert_eq!(parameter(&response, "r"), 0);
            break;
        }
        served += 1;
    }
    assert_eq!(served, 17, "three calls are reserved for the waiting visitor");
    modest.get(200, PATH).await;
    modest.get(200, PATH).await;
}

async fn the_101st_call_in_a_minute_is_refused_until_retry_after(world: &World) {
    world.load_demo().await;
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
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    world.app.clock.advance(Duration::from_secs(wait));
    world.client.get(200, PATH).await;
}

async fn a_refused_call_does_not_extend_the_wait(world: &World) {
    world.load_demo().await;
    store::set_limits(
        &world.app.db,
        world.key_id,
        &[(Class::Details, 2)],
        Actor::Command,
        0,
    )
    .await
    .unwrap();
    world.app.keys.refresh().await.unwrap();
    let start = Instant::now();
    world.client.get(200, PATH).await;
    world.app.clock.advance(Duration::from_secs(30));
    world.client.get(200, PATH).await;
    for _ in 0..5 {
        let refused = world.client.get(429, PATH).await;
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        let elapsed = start.elapsed().as_secs();
        assert!((29 - elapsed.min(29)..=30).contains(&wait), "{wait}");
    }
    world.app.clock.advance(Duration::from_secs(30));
    world.client.get(200, PATH).await;
    world.client.get(429, PATH).await;
}

async fn each_key_has_its_own_count_which_includes_errors(world: &World) {
    world.load_demo().await;
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
    for (limit, left) in [(5, 4), (3, 1), (10, 7)] {
        store::set_limits(
            &world.app.db,
            world.key_id,
            &[(Class::Details, limit)],
            Actor::Command,
            0,
        )
        .await
        .unwrap();
        world.app.keys.refresh().await.unwrap();
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
    store::set_limits(
        &world.app.db,
        world.key_id,
        &[(Class::Details, 1)],
        Actor::Command,
        0,
    )
    .await
    .unwrap();
    world.app.keys.refresh().await.unwrap();
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
