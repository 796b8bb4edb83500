//! Basic authentication: which pairs of keys are let in, and that the others all hear the same.

use crate::client::{Answer, Client};
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
use causeway::server::request_log::RequestLogLayer;
use platform::ids::{AccountId, KeyId};
use std::time::Duration;

/// A place that only an account may go to, and that says which.
fn client(world: &World) -> Client {
    let create =
        async |who: Credentials<Create>| format!("{} {} {}", who.account, who.public_key, who.private_key);
    let change = async |_: Credentials<Fundraisers>| "changed";
    let router = Router::new()
        .route("/v0.2/create", post(create))
        .route("/v0.2/change", post(change))
        .layer(RequestLogLayer {
            app: world.app.clone(),
        })
        .with_state(world.app.clone());
    Client::over(router, "")
}

fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

async fn call(client: &Client, expected: u16, path: &str, authorization: &str) -> Answer {
    let headers = [("authorization", authorization)];
    client.send(expected, &Method::POST, path, &headers).await
}

/// What is said to a pair that is not let in.
async fn refusal(client: &Client, authorization: &str) -> String {
    let answer = call(client, 401, "/v0.2/create", authorization).await;
    assert_eq!(answer.header("www-authenticate"), "Basic realm=\"causeway\"");
    assert_eq!(answer.code(), "invalid_credentials");
    assert!(!answer.headers.contains_key("ratelimit"));
    answer.json["detail"].as_str().unwrap().to_owned()
}

async fn other_account(world: &World) -> AccountId {
    let name = Username::parse("bob").unwrap();
    let made = accounts::store::insert_without_password(&world.app.db, &name, None, false, 0).await;
    made.unwrap().unwrap()
}

async fn make_key(world: &World, account: AccountId, kind: Kind) -> (KeyId, String) {
    let text = KeyText::generate(kind);
    let id = store::insert(&world.app.db, account, "", &text, 0).await.unwrap();
    (id, text.expose().to_owned())
}

on_both! {
    async fn any_public_key_goes_with_any_private_key_of_the_same_account(world: &World) {
        let client = client(world);
        for _ in 0..2 {
            let (public_id, public) = world.make_key(Kind::Public).await;
            let (private_id, private) = world.make_key(Kind::Private).await;
            for (id, name) in [(public_id, &public), (world.key_id, &world.client.key)] {
                let answer = call(&client, 200, "/v0.2/create", &basic(name, &private)).await;
                assert_eq!(answer.text(), format!("{} {id} {private_id}", world.account));
            }
        }
    }

    async fn creating_is_counted_for_the_account_and_changing_for_the_key(world: &World) {
        let client = client(world);
        let (_, other) = world.make_key(Kind::Public).await;
        let (private_id, private) = world.make_key(Kind::Private).await;
        let pairs = [basic(&world.client.key, &private), basic(&other, &private)];
        for left in (0..30).rev() {
            let answer = call(&client, 200, "/v0.2/create", &pairs[left % 2]).await;
            assert_eq!(answer.header("ratelimit-policy"), "\"create\";q=30;w=60");
            assert!(answer.header("ratelimit").starts_with(&format!("\"create\";r={left};")));
        }
        for pair in &pairs {
            assert_eq!(call(&client, 429, "/v0.2/create", pair).await.code(), "rate_limited");
            let answer = call(&client, 200, "/v0.2/change", pair).await;
            assert!(answer.header("ratelimit").starts_with("\"fundraisers\";r=499;"));
        }
        store::set_limits(&world.app.db, private_id, &[(Class::Create, 40)], Actor::Command, 0).await.unwrap();
        world.app.keys.refresh().await.unwrap();
        let answer = call(&client, 200, "/v0.2/create", &pairs[0]).await;
        assert!(answer.header("ratelimit").starts_with("\"create\";r=9;"));
    }

    async fn without_credentials_one_is_asked_for_them(world: &World) {
        let answer = client(world).send(401, &Method::POST, "/v0.2/create", &[]).await;
        assert_eq!(answer.code(), "missing_credentials");
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"causeway\"");
        let by_query = format!("/v0.2/create?apiKey={}", world.client.key);
        assert_eq!(client(world).send(401, &Method::POST, &by_query, &[]).await.code(), "missing_credentials");
    }

    async fn every_other_pair_is_refused_in_the_same_words(world: &World) {
        let client = client(world);
        let public = world.client.key.clone();
        let (private_id, private) = world.make_key(Kind::Private).await;
        let right = basic(&public, &private);
        call(&client, 200, "/v0.2/create", &right).await;
        let bob = other_account(world).await;
        let (_, public_of_bob) = make_key(world, bob, Kind::Public).await;
        let (_, private_of_bob) = make_key(world, bob, Kind::Private).await;
        let unknown = [Kind::Public, Kind::Private].map(KeyText::generate);
        let mut heard = Vec::new();
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
            basic(&public, &format!("{}{}", &private[..40], if private.ends_with('0') { '1' } else { '0' })),
            format!("Basic {public}:{private}"),
            format!("Basic {}", STANDARD.encode(format!("{public}{private}"))),
            right.replace("Basic", "Bearer"),
            right.replace("Basic ", "Basic"),
            format!("{right}x"),
            "Basic".to_owned(),
            "Basic \u{e9}".to_owned(),
            format!("Basic {}", "A".repeat(65_536)),
        ] {
            heard.push(refusal(&client, &wrong).await);
        }
        store::revoke(&world.app.db, private_id, 0).await.unwrap();
        world.app.keys.refresh().await.unwrap();
        heard.push(refusal(&client, &right).await);
        heard.dedup();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(!heard[0].contains("cwpk") && !heard[0].contains("cwsk"));
    }

    async fn that_a_key_is_blocked_is_told_only_to_who_has_both(world: &World) {
        let client = client(world);
        let public = world.client.key.clone();
        let (private_id, private) = world.make_key(Kind::Private).await;
        let bob = other_account(world).await;
        let (_, private_of_bob) = make_key(world, bob, Kind::Private).await;
        for id in [world.key_id, private_id] {
            store::block(&world.app.db, id, "abuse", Actor::Command, 0).await.unwrap();
            world.app.keys.refresh().await.unwrap();
            assert_eq!(call(&client, 403, "/v0.2/create", &basic(&public, &private)).await.code(), "blocked_key");
            refusal(&client, &basic(&public, &private_of_bob)).await;
            refusal(&client, &basic(&public, KeyText::generate(Kind::Private).expose())).await;
            store::unblock(&world.app.db, id, Actor::Command, 0).await.unwrap();
            world.app.keys.refresh().await.unwrap();
            call(&client, 200, "/v0.2/create", &basic(&public, &private)).await;
        }
    }

    async fn a_rolled_private_key_works_beside_the_new_one_until_its_overlap_is_over(world: &World) {
        let client = client(world);
        let (old_id, old) = world.make_key(Kind::Private).await;
        let text = KeyText::generate(Kind::Private);
        let now = world.app.clock.millis();
        store::rotate(&world.app.db, old_id, &text, Overlap::Hour, None, now).await.unwrap();
        world.app.keys.refresh().await.unwrap();
        let pairs = [&old, text.expose()].map(|private| basic(&world.client.key, private));
        for pair in &pairs {
            call(&client, 200, "/v0.2/create", pair).await;
        }
        world.app.clock.advance(Duration::from_hours(1));
        refusal(&client, &pairs[0]).await;
        call(&client, 200, "/v0.2/create", &pairs[1]).await;
    }
}
