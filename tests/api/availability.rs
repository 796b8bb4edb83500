//! What a server answers before it has a snapshot and after it lost its store.

use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use platform::clock::rfc3339;
use std::time::Duration;

on_both_databases!(
    a_server_is_ready_once_its_first_snapshot_is_open,
    a_stale_server_refuses_private_keys_and_later_public_ones,
);

const EIN: &str = "530196605";

async fn a_server_is_ready_once_its_first_snapshot_is_open(world: &World) {
    let not_ready = world.client.get_plain(503, "/readyz").await;
    assert_eq!(not_ready.json["status"], "not ready");
    assert_eq!(not_ready.json["reasons"][0]["reason"], "no_snapshot");
    assert!(not_ready.json["reasons"][0]["since"].is_string());
    world.app.refresh_directory().await.unwrap();
    let ready = world.client.get_plain(200, "/readyz").await;
    assert_eq!(ready.text(), r#"{"status":"ready"}"#);
}

async fn a_stale_server_refuses_private_keys_and_later_public_ones(world: &World) {
    world.load_demo().await;
    let (_, private) = world.create_key(Kind::Private).await;
    let authorization = STANDARD.encode(format!("{}:{private}", world.client.key));
    let own = async |expected: u16| {
        let headers = [("authorization", format!("Basic {authorization}"))];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        let url = "/v0.2/fundraisers";
        world.client.send(expected, &Method::GET, url, &headers).await
    };
    let (clock, seen) = (&world.app.clock, &world.app.availability.store_seen);
    clock.stop();
    seen.record(true);
    let seen_at = rfc3339(clock.millis());
    seen.record(false);
    clock.advance(Duration::from_millis(29_999));
    own(200).await;
    world.client.get_plain(200, "/readyz").await;

    clock.advance(Duration::from_millis(1));
    let refused = own(503).await;
    assert_eq!(refused.code(), "unavailable");
    assert_eq!(refused.header("retry-after"), "1");
    let not_ready = world.client.get_plain(503, "/readyz").await;
    let reason = &not_ready.json["reasons"][0];
    assert_eq!(reason["reason"], "store_unavailable");
    assert_eq!(reason["since"], seen_at);
    world.client.details(200, EIN).await;
    world.client.get_plain(200, "/healthz").await;

    clock.advance(Duration::from_millis(3_569_999));
    world.client.details(200, EIN).await;
    clock.advance(Duration::from_millis(1));
    let refused = world.client.details(503, EIN).await;
    assert_eq!(refused.code(), "unavailable");
    assert_eq!(refused.header("retry-after"), "1");

    world.app.record_response(true);
    world.client.details(200, EIN).await;
    own(200).await;
    world.client.get_plain(200, "/readyz").await;
}
