//! Bodies that do not end: they use a limited amount of memory, and make way for others.

use super::fundraisers::Organizer;
use crate::client::{Client, Response};
use crate::world::World;
use axum::body::{Body, Bytes};
use axum::http::Method;
use causeway::app::App;
use futures_util::{StreamExt, stream};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

on_both_databases!(
    unfinished_bodies_of_one_address_leave_memory_for_others,
    unfinished_bodies_of_50_addresses_make_way_for_an_honest_one,
    a_wrong_key_and_a_large_length_are_answered_before_the_body_is_read,
    a_form_with_too_many_fields_is_refused,
);

const KIB: usize = 1024;
const MEMORY: usize = 1024 * KIB;
const PART: usize = 64 * KIB;
const FORM_HEADERS: [(&str, &str); 2] = [
    ("sec-fetch-site", "same-origin"),
    ("content-type", "application/x-www-form-urlencoded"),
];
const JSON_HEADERS: [(&str, &str); 1] = [("content-type", "application/json")];

/// Returns another app of the world, with a mebibyte for the bodies of all requests.
async fn small_app(world: &World) -> (App, Client) {
    let mut config = world.app.config.clone();
    config.max_body = 256 * KIB;
    config.admission.max_body_memory = MEMORY;
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let client = Client::new(&app, &world.client.key);
    (app, client)
}

/// Requests to the sign-in form and to `/mcp` that have sent a part of their bodies and then stall.
struct Flood {
    requests: JoinSet<(u16, Response)>,
    /// The number of bodies whose part was read.
    begun: Arc<Semaphore>,
}

impl Flood {
    fn new() -> Flood {
        Flood {
            requests: JoinSet::new(),
            begun: Arc::new(Semaphore::new(0)),
        }
    }

    fn add(&mut self, client: Client) {
        let begun = Arc::clone(&self.begun);
        let part = stream::once(async move {
            begun.add_permits(1);
            Ok::<_, Infallible>(Bytes::from(vec![b' '; PART]))
        });
        let body = Body::from_stream(part.chain(stream::pending()));
        let is_form = self.requests.len().is_multiple_of(2);
        self.requests.spawn(async move {
            if is_form {
                client
                    .send_any(&Method::POST, "/dashboard/sign-in", &FORM_HEADERS, body)
                    .await
            } else {
                let url = format!("/mcp?apiKey={}", client.key);
                client.send_any(&Method::POST, &url, &JSON_HEADERS, body).await
            }
        });
    }

    /// Waits until all parts were read, and until as many requests as do not fit were refused.
    async fn refuse(&mut self, refused: usize) {
        let all = self.requests.len() as u32;
        self.begun.acquire_many(all).await.unwrap().forget();
        for _ in 0..refused {
            let (status, response) = self.requests.join_next().await.unwrap().unwrap();
            assert!(matches!(status, 429 | 503), "{status}: {}", response.text());
            assert_eq!(response.header("retry-after"), "1");
            assert_eq!(response.header("connection"), "close");
        }
    }
}

/// Sends a form and a message, and checks that both are answered.
async fn post_honestly(client: &Client) {
    let form = "username=nobody&password=river%2Bstone";
    let (status, _) = client
        .send_any(&Method::POST, "/dashboard/sign-in", &FORM_HEADERS, form)
        .await;
    assert!(status < 500 && status != 429, "{status}");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let url = format!("/mcp?apiKey={}", client.key);
    let tools = client
        .send_body(200, &Method::POST, &url, &JSON_HEADERS, message.to_string())
        .await;
    assert!(tools.json["result"]["tools"].is_array(), "{}", tools.json);
}

async fn unfinished_bodies_of_one_address_leave_memory_for_others(world: &World) {
    let (app, client) = small_app(world).await;
    let mut flood = Flood::new();
    for _ in 0..20 {
        flood.add(client.at([192, 0, 2, 1]));
    }
    let fitting = MEMORY / 2 / PART;
    flood.refuse(20 - fitting).await;
    assert_eq!(app.admission.body_bytes(), MEMORY / 2);
    post_honestly(&client.at([192, 0, 2, 2])).await;
    // At the same address, an unfinished body makes way.
    post_honestly(&client.at([192, 0, 2, 1])).await;
    flood.requests.shutdown().await;
    assert_eq!(app.admission.body_bytes(), 0);
    app.db.close().await;
}

async fn unfinished_bodies_of_50_addresses_make_way_for_an_honest_one(world: &World) {
    let (app, client) = small_app(world).await;
    // One key may use a quarter, so each of four keys has some.
    let mut keys = vec![client.key.clone()];
    for _ in 0..3 {
        keys.push(world.create_key(access::keys::Kind::Public).await.1);
    }
    let mut flood = Flood::new();
    for number in 0..50 {
        let key = &keys[usize::from(number / 2) % keys.len()];
        flood.add(client.with_key(key).at([192, 0, 2, number]));
    }
    flood.refuse(50 - MEMORY / PART).await;
    assert_eq!(app.admission.body_bytes(), MEMORY);
    post_honestly(&client.at([192, 0, 2, 200])).await;
    assert!(app.admission.body_bytes() < MEMORY);
    flood.requests.shutdown().await;
    assert_eq!(app.admission.body_bytes(), 0);
    app.db.close().await;
}

async fn a_wrong_key_and_a_large_length_are_answered_before_the_body_is_read(world: &World) {
    let organizer = Organizer::new(world).await;
    let valid = format!("apiKey={}", world.client.key);
    let json = "application/json";
    let form = "application/x-www-form-urlencoded";
    let cases = [
        (401, "/mcp", "", json, 1_000),
        (401, "/mcp", "apiKey=cwpk_wrong", json, 1_000),
        (413, "/mcp", valid.as_str(), json, 2_000_000),
        (401, "/reconcile", "apiKey=cwpk_wrong", form, 1_000),
        (413, "/reconcile", valid.as_str(), form, 2_000_000),
        (413, "/dashboard/sign-in", "", form, 300_000),
        (401, "/v0.2/fundraiser", "", json, 1_000),
        (401, "/v0.2/match", "", json, 1_000),
    ];
    for (expected, path, query, media_type, length) in cases {
        let unread = Body::from_stream(stream::poll_fn(
            |_| -> std::task::Poll<Option<Result<Bytes, Infallible>>> { panic!("the body is read") },
        ));
        let length = length.to_string();
        let headers = [
            ("sec-fetch-site", "same-origin"),
            ("content-type", media_type),
            ("content-length", length.as_str()),
        ];
        organizer
            .client
            .send_body(
                expected,
                &Method::POST,
                &format!("{path}?{query}"),
                &headers,
                unread,
            )
            .await;
    }
}

async fn a_form_with_too_many_fields_is_refused(world: &World) {
    let fields = "a&".repeat(1_000);
    world
        .client
        .send_body(415, &Method::POST, "/dashboard/sign-in", &FORM_HEADERS, fields)
        .await;
}
