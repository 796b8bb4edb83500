//! Calls a minute: the limit to the letter, and headers that are true to the call.

use crate::client::Answer;
use crate::world::World;
use causeway::audit::Actor;
use causeway::http::client::Network;
use causeway::keys::{Class, Kind, store};
use std::time::Duration;

on_both_databases!(
    of_five_hundred_and_one_searches_at_once_five_hundred_are_answered_and_one_is_refused,
    starting_anew_is_no_way_to_a_second_quota,
    one_visitor_does_not_use_a_key_up_while_others_wait,
    the_hundred_and_first_call_of_a_minute_is_refused_until_the_time_it_is_told,
    a_refused_call_does_not_make_the_wait_longer,
    keys_are_counted_apart_and_errors_are_counted_too,
    a_new_limit_holds_from_the_next_look_at_the_store,
    a_call_that_is_not_admitted_by_its_key_uses_nothing_up,
    addresses_written_otherwise_do_not_get_around_the_limit,
);

const PATH: &str = "/v0.2/nonprofit/530196605";

/// The number that a field of the RateLimit header says.
fn number(answer: &Answer, name: &str) -> u32 {
    let fields = answer.header("ratelimit").split(';');
    let mut values = fields.filter_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    values.next_back().unwrap().parse().unwrap()
}

async fn of_five_hundred_and_one_searches_at_once_five_hundred_are_answered_and_one_is_refused(
    world: &World,
) {
    world.load_demo().await;
    let mut left = Vec::new();
    let mut refused = Vec::new();
    let (answers, mut taken) = tokio::sync::mpsc::unbounded_channel();
    for client in 0..8 {
        let calls = if client == 0 { 501 - 7 * 62 } else { 62 };
        let (client, answers) = (world.client.clone(), answers.clone());
        tokio::spawn(async move {
            for _ in 0..calls {
                let answer = client.get_any("/v0.2/search/red?take=1").await;
                answers.send(answer).unwrap();
            }
        });
    }
    drop(answers);
    while let Some((status, answer)) = taken.recv().await {
        assert_eq!(answer.header("ratelimit-policy"), "\"search\";q=500;w=60");
        match status {
            200 => left.push(number(&answer, "r")),
            429 => refused.push(answer),
            _ => panic!("{status}"),
        }
    }
    left.sort_unstable();
    assert!(left.iter().copied().eq(0..500), "{left:?}");
    assert_eq!(refused.len(), 1);
    let wait = number(&refused[0], "t");
    assert_eq!(refused[0].header("retry-after"), wait.to_string());
    world.app.clock.advance(Duration::from_secs(wait.into()));
    world.client.get(200, "/v0.2/search/red?take=1").await;
}

async fn starting_anew_is_no_way_to_a_second_quota(world: &World) {
    world.load_demo().await;
    for _ in 0..60 {
        world.client.get(200, PATH).await;
    }
    world.app.save_counts().await.unwrap();
    for _ in 0..20 {
        world.client.get(200, PATH).await;
    }
    world.app.save_counts().await.unwrap();
    let (app, restarted) = world.restart().await;
    assert_eq!(number(&restarted.get(200, PATH).await, "r"), 19);
    for _ in 0..19 {
        restarted.get(200, PATH).await;
    }
    restarted.get(429, PATH).await;
    // Other classes and keys are as they were.
    assert_eq!(number(&restarted.get(200, "/v0.2/search/red").await, "r"), 499);
    app.save_counts().await.unwrap();
    let (third, client) = world.restart().await;
    let refused = client.get(429, PATH).await;
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((50..=60).contains(&wait), "{wait}");
    third.clock.advance(Duration::from_secs(61));
    assert_eq!(number(&client.get(200, PATH).await, "r"), 99);
    app.db.close().await;
    third.db.close().await;
}

async fn one_visitor_does_not_use_a_key_up_while_others_wait(world: &World) {
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
    // Two addresses that this process tells apart; of 255 pairs it does not, of one.
    let visitor = |host: u8| {
        world
            .app
            .limiter
            .visitor(&Some(Network::of_client([192, 0, 2, host].into())))
    };
    let other = (2..=u8::MAX).find(|host| visitor(*host) != visitor(1)).unwrap();
    let [greedy, modest] = [1, other].map(|host| world.client.at([192, 0, 2, host]));
    for left in (0..20).rev() {
        assert_eq!(
            number(&greedy.get(200, PATH).await, "r"),
            left,
            "alone it has the whole limit"
        );
    }
    modest.get(429, PATH).await;
    world.app.clock.advance(Duration::from_secs(61));
    let mut served = 0;
    loop {
        let (status, answer) = greedy.get_any(PATH).await;
        if status == 429 {
            assert_eq!(number(&answer, "r"), 0);
            break;
        }
        served += 1;
    }
    assert_eq!(served, 17, "three calls are kept for the one who waits");
    modest.get(200, PATH).await;
    modest.get(200, PATH).await;
}

async fn the_hundred_and_first_call_of_a_minute_is_refused_until_the_time_it_is_told(world: &World) {
    world.load_demo().await;
    for left in (0..100).rev() {
        let answer = world.client.get(200, PATH).await;
        assert_eq!(answer.header("ratelimit-policy"), "\"details\";q=100;w=60");
        assert!(
            answer
                .header("ratelimit")
                .starts_with(&format!("\"details\";r={left};t="))
        );
        assert!(!answer.headers.contains_key("retry-after"));
    }
    let refused = world.client.get(429, PATH).await;
    assert_eq!(refused.code(), "rate_limited");
    assert!(refused.header("ratelimit").starts_with("\"details\";r=0;t="));
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    world.app.clock.advance(Duration::from_secs(wait));
    world.client.get(200, PATH).await;
}

async fn a_refused_call_does_not_make_the_wait_longer(world: &World) {
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
    world.client.get(200, PATH).await;
    world.app.clock.advance(Duration::from_secs(30));
    world.client.get(200, PATH).await;
    for _ in 0..5 {
        let refused = world.client.get(429, PATH).await;
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((29..=30).contains(&wait), "{wait}");
    }
    world.app.clock.advance(Duration::from_secs(30));
    world.client.get(200, PATH).await;
    world.client.get(429, PATH).await;
}

async fn keys_are_counted_apart_and_errors_are_counted_too(world: &World) {
    world.load_demo().await;
    let (id, other) = world.make_key(Kind::Public).await;
    store::set_limits(&world.app.db, id, &[(Class::Details, 3)], Actor::Command, 0)
        .await
        .unwrap();
    let other = world.client.with_key(&other);
    let first = other.get(200, PATH).await;
    assert_eq!(first.header("ratelimit-policy"), "\"details\";q=3;w=60");
    let missing = other.get(404, "/v0.2/nonprofit/nobody").await;
    assert!(missing.header("ratelimit").starts_with("\"details\";r=1;"));
    let known = [("if-none-match", first.header("etag"))];
    assert!(
        other
            .get_with(304, PATH, &known)
            .await
            .header("ratelimit")
            .starts_with("\"details\";r=0;")
    );
    other.get_with(429, PATH, &known).await;
    other.get(429, "/v0.2/nonprofit/nobody").await;
    let answer = world.client.get(200, PATH).await;
    assert!(answer.header("ratelimit").starts_with("\"details\";r=99;"));
}

async fn a_new_limit_holds_from_the_next_look_at_the_store(world: &World) {
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
        let answer = world.client.get(200, PATH).await;
        assert!(
            answer
                .header("ratelimit")
                .starts_with(&format!("\"details\";r={left};")),
            "{limit}"
        );
    }
}

async fn a_call_that_is_not_admitted_by_its_key_uses_nothing_up(world: &World) {
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

async fn addresses_written_otherwise_do_not_get_around_the_limit(world: &World) {
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
    for address in [
        format!("{PATH}?apiKey={}", key.replace("cwpk_", "%63wpk_")),
        format!("/v0.2/nonprofit/American-Red-Cross?x=1&apiKey={key}"),
        format!("/v0.2/nonprofit/%3530196605?apiKey={key}"),
    ] {
        world.client.get_plain(429, &address).await;
    }
    let head = axum::http::Method::HEAD;
    let headers = [("x-forwarded-for", "203.0.113.9")];
    world
        .client
        .send(429, &head, &format!("{PATH}?apiKey={key}"), &headers)
        .await;
}
