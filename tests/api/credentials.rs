//! Basic authentication: which pairs of keys are accepted, and that all others get the same response.

use crate::client::{Client, Response};
use crate::world::World;
use access::accounts::{self, Username};
use access::audit::Actor;
use access::keys::{Class, KeyText, Kind, Overlap, store};
use axum::Router;
use axum::http::Method;
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::http::credentials::Credentials;
use causeway::http::public_key::{Create, Fundraisers};
use causeway::server::requests::RequestLayer;
use platform::ids::{AccountId, KeyId};
use std::time::Duration;

on_both_databases!(
    any_public_key_works_with_any_private_key_of_the_same_account,
    creates_are_limited_per_account_and_updates_per_key,
    a_request_without_credentials_is_challenged,
    every_invalid_pair_gets_the_same_refusal,
    a_blocked_key_is_only_revealed_to_the_holder_of_both_keys,
    a_rotated_private_key_works_until_its_overlap_ends,
);

/// A client of two routes that need credentials; the first returns the IDs of the account and its keys.
fn client(world: &World) -> Client {
    let create =
        async |who: Credentials<Create>| format!("{} {} {}", who.account, who.public_key, who.private_key);
    let change = async |_: Credentials<Fundraisers>| "changed";
    let router = Router::new()
        .route("/v0.2/create", post(create))
        .route("/v0.2/change", post(change))
        .layer(RequestLayer::new(world.app.clone()))
        .with_state(world.app.clone());
    Client::with_router(router.into(), "")
}

fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

async fn call(client: &Client, expected: u16, path: &str, authorization: &str) -> Response {
    let headers = [("authorization", authorization)];
    client.send(expected, &Method::POST, path, &headers).await
}

/// The detail of the refusal of an invalid pair.
async fn refusal(client: &Client, authorization: &str) -> String {
    let response = call(client, 401, "/v0.2/create", authorization).await;
    assert_eq!(response.header("www-authenticate"), "Basic realm=\"causeway\"");
    assert_eq!(response.code(), "invalid_credentials");
    assert!(!response.headers.contains_key("ratelimit"));
    response.json["detail"].as_str().unwrap().to_owned()
}

async fn other_account(world: &World) -> AccountId {
    let name = Username::parse("bob").unwrap();
    let created = accounts::store::insert_without_password(&world.app.db, &name, None, false, 0).await;
    created.unwrap().unwrap()
}

async fn create_key(world: &World, account: AccountId, kind: Kind) -> (KeyId, String) {
    let text = KeyText::generate(kind);
    let id = store::insert(&world.app.db, account, "", &text, 0).await.unwrap();
    (id, text.expose().to_owned())
}

async fn any_public_key_works_with_any_private_key_of_the_same_account(world: &World) {
    let client = client(world);
    for _ in 0..2 {
        let (public_id, public) = world.create_key(Kind::Public).await;
        let (private_id, private) = world.create_key(Kind::Private).await;
        for (id, name) in [(public_id, &public), (world.key_id, &world.client.key)] {
            let response = call(&client, 200, "/v0.2/create", &basic(name, &private)).await;
            assert_eq!(response.text(), format!("{} {id} {private_id}", world.account));
        }
    }
}

async fn creates_are_limited_per_account_and_updates_per_key(world: &World) {
    world.app.clock.stop();
    let client = client(world);
    let (_, other) = world.create_key(Kind::Public).await;
    let (private_id, private) = world.create_key(Kind::Private).await;
    let pairs = [basic(&world.client.key, &private), basic(&other, &private)];
    for left in (0..30).rev() {
        let response = call(&client, 200, "/v0.2/create", &pairs[left % 2]).await;
        assert_eq!(response.header("ratelimit-policy"), "\"create\";q=30;w=60");
        assert!(
            response
                .header("ratelimit")
                .starts_with(&format!("\"create\";r={left};"))
        );
    }
    for pair in &pairs {
        assert_eq!(
            call(&client, 429, "/v0.2/create", pair).await.code(),
            "rate_limited"
        );
        let response = call(&client, 200, "/v0.2/change", pair).await;
        assert!(response.header("ratelimit").starts_with("\"fundraisers\";r=499;"));
    }
    store::set_limits(
        &world.app.db,
        private_id,
        &[(Class::Create, 40)],
        Actor::Command,
        0,
    )
    .await
    .unwrap();
    world.app.access.keys.refresh().await.unwrap();
    let response = call(&client, 200, "/v0.2/create", &pairs[0]).await;
    assert!(response.header("ratelimit").starts_with("\"create\";r=9;"));
}

async fn a_request_without_credentials_is_challenged(world: &World) {
    let response = client(world).send(401, &Method::POST, "/v0.2/create", &[]).await;
    assert_eq!(response.code(), "missing_credentials");
    assert_eq!(response.header("www-authenticate"), "Basic realm=\"causeway\"");
    let by_query = format!("/v0.2/create?apiKey={}", world.client.key);
    assert_eq!(
        client(world)
            .send(401, &Method::POST, &by_query, &[])
            .await
            .code(),
        "missing_credentials"
    );
}

async fn every_invalid_pair_gets_the_same_refusal(world: &World) {
    let client = client(world);
    let public = world.client.key.clone();
    let (private_id, private) = world.create_key(Kind::Private).await;
    let right = basic(&public, &private);
    call(&client, 200, "/v0.2/create", &right).await;
    let bob = other_account(world).await;
    let (_, public_of_bob) = create_key(world, bob, Kind::Public).await;
    let (_, private_of_bob) = create_key(world, bob, Kind::Private).await;
    let unknown = [Kind::Public, Kind::Private].map(KeyText::generate);
    let mut refusals = Vec::new();
    for wrong in [
        basic(&public, &private_of_bob),
        basic(&public_of_bob, &private),
        basic(&private, &public),
        basic(&public, &public),
        basic(&private, &private),
        basic(&public, unknown[1].expose()),
        basic(unknown[0].expose(), &private),
        basic(&public, ""),
        basic("", &private),
        basic(&public, &private.to_lowercase()),
        basic(&public.to_uppercase(), &private),
        basic(&format!(" {public}"), &private),
        basic(&public, &format!("{private} ")),
        basic(
            &public,
            &format!(
                "{}{}",
                &private[..40],
                if private.ends_with('0') { '1' } else { '0' }
            ),
        ),
        format!("Basic {public}:{private}"),
        format!("Basic {}", STANDARD.encode(format!("{public}{private}"))),
        right.replace("Basic", "Bearer"),
        right.replace("Basic ", "Basic"),
        format!("{right}x"),
        "Basic".to_owned(),
        "Basic \u{e9}".to_owned(),
        format!("Basic {}", "A".repeat(65_536)),
    ] {
        refusals.push(refusal(&client, &wrong).await);
    }
    store::revoke(&world.app.db, private_id, 0).await.unwrap();
    world.app.access.keys.refresh().await.unwrap();
    refusals.push(refusal(&client, &right).await);
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(!refusals[0].contains("cwpk") && !refusals[0].contains("cwsk"));
}

async fn a_blocked_key_is_only_revealed_to_the_holder_of_both_keys(world: &World) {
    let client = client(world);
    let public = world.client.key.clone();
    let (private_id, private) = world.create_key(Kind::Private).await;
    let bob = other_account(world).await;
    let (_, private_of_bob) = create_key(world, bob, Kind::Private).await;
    for id in [world.key_id, private_id] {
        store::block(&world.app.db, id, "abuse", Actor::Command, 0)
            .await
            .unwrap();
        world.app.access.keys.refresh().await.unwrap();
        assert_eq!(
            call(&client, 403, "/v0.2/create", &basic(&public, &private))
                .await
                .code(),
            "blocked_key"
        );
        refusal(&client, &basic(&public, &private_of_bob)).await;
        refusal(
            &client,
            &basic(&public, KeyText::generate(Kind::Private).expose()),
        )
        .await;
        store::unblock(&world.app.db, id, Actor::Command, 0)
            .await
            .unwrap();
        world.app.access.keys.refresh().await.unwrap();
        call(&client, 200, "/v0.2/create", &basic(&public, &private)).await;
    }
}

async fn a_rotated_private_key_works_until_its_overlap_ends(world: &World) {
    let client = client(world);
    let (old_id, old) = world.create_key(Kind::Private).await;
    let text = KeyText::generate(Kind::Private);
    let now = world.app.clock.millis();
    store::rotate(&world.app.db, old_id, &text, Overlap::Hour, None, now)
        .await
        .unwrap();
    world.app.access.keys.refresh().await.unwrap();
    let pairs = [&old, text.expose()].map(|private| basic(&world.client.key, private));
    for pair in &pairs {
        call(&client, 200, "/v0.2/create", pair).await;
    }
    world.app.clock.advance(Duration::from_hours(1));
    refusal(&client, &pairs[0]).await;
    call(&client, 200, "/v0.2/create", &pairs[1]).await;
}
