//! `Idempotency-Key`: a repeated request is executed once and gets the same response.

use super::{Organizer, RED_CROSS, assert_ledger, id_of};
use crate::world::World;
use giving::error::Error;
use giving::idempotency::IdempotentRequest;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    a_retried_create_gets_the_identical_response,
    a_different_body_with_the_same_key_is_refused,
    a_key_can_be_reused_after_a_day,
    a_rejected_body_does_not_use_the_key,
    a_request_is_refused_while_another_with_its_key_is_in_progress,
    of_many_concurrent_creates_one_succeeds_and_all_get_its_response,
    a_key_has_1_to_255_characters,
);

fn fundraiser_body(title: &str) -> serde_json::Value {
    json!({"nonprofitId": id_of(RED_CROSS), "title": title, "raisedOffline": 700})
}

async fn a_retried_create_gets_the_identical_response(world: &World) {
    let organizer = Organizer::new(world).await;
    let key = [("idempotency-key", "order-1")];
    let first = organizer.create_with(200, &fundraiser_body("Run"), &key).await;
    world.app.clock.advance(Duration::from_hours(1));
    let (other, client) = world.restart().await;
    for organizer in [&organizer, &organizer.at(&client)] {
        let again = organizer.create_with(200, &fundraiser_body("Run"), &key).await;
        assert_eq!(
            (again.text(), again.header("location")),
            (first.text(), first.header("location"))
        );
    }
    other.db.close().await;
    assert_eq!(world.texts("select slug from fundraisers").await, ["run"]);
    assert_ledger(world, 1).await;
}

async fn a_different_body_with_the_same_key_is_refused(world: &World) {
    let organizer = Organizer::new(world).await;
    let key = [("idempotency-key", "order-1")];
    organizer.create_with(200, &fundraiser_body("Run"), &key).await;
    let refused = organizer.create_with(422, &fundraiser_body("Walk"), &key).await;
    assert_eq!(refused.code(), "idempotency_mismatch");
    organizer
        .create_with(200, &fundraiser_body("Walk"), &[("idempotency-key", "order-2")])
        .await;
}

async fn a_key_can_be_reused_after_a_day(world: &World) {
    let organizer = Organizer::new(world).await;
    let key = [("idempotency-key", "order-1")];
    let first = organizer.create_with(200, &fundraiser_body("Run"), &key).await;
    world.app.clock.advance(Duration::from_mins(24 * 60 - 1));
    assert_eq!(
        organizer
            .create_with(200, &fundraiser_body("Run"), &key)
            .await
            .text(),
        first.text()
    );
    world.app.clock.advance(Duration::from_mins(2));
    let later = organizer.create_with(200, &fundraiser_body("Walk"), &key).await;
    assert_ne!(later.text(), first.text());
    assert_eq!(
        world.texts("select name from idempotency_keys").await,
        ["order-1"]
    );
}

async fn a_rejected_body_does_not_use_the_key(world: &World) {
    let organizer = Organizer::new(world).await;
    let key = [("idempotency-key", "order-1")];
    organizer.create_with(400, &json!({"title": "Run"}), &key).await;
    organizer.create_with(200, &fundraiser_body("Run"), &key).await;
}

async fn a_request_is_refused_while_another_with_its_key_is_in_progress(world: &World) {
    let organizer = Organizer::new(world).await;
    let request = IdempotentRequest {
        account: world.account,
        name: "order-1".to_owned(),
        hash: [0; 32],
    };
    let guard = world.app.giving.in_flight.begin(&request).unwrap();
    assert!(matches!(
        world.app.giving.in_flight.begin(&request),
        Err(Error::InProgress)
    ));
    let key = [("idempotency-key", "order-1")];
    let refused = organizer.create_with(409, &fundraiser_body("Run"), &key).await;
    assert_eq!(
        (refused.code(), refused.header("retry-after")),
        ("idempotency_in_progress", "1")
    );
    organizer
        .create_with(200, &fundraiser_body("Run"), &[("idempotency-key", "order-2")])
        .await;
    drop(guard);
    organizer.create_with(200, &fundraiser_body("Run"), &key).await;
}

async fn of_many_concurrent_creates_one_succeeds_and_all_get_its_response(world: &World) {
    let organizer = Organizer::new(world).await;
    let (other, client) = world.restart().await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..40 {
        let organizer = if number % 2 == 0 {
            organizer.at(&world.client)
        } else {
            organizer.at(&client)
        };
        tasks.spawn(async move {
            loop {
                match organizer.try_create(&fundraiser_body("Run"), "order-1").await {
                    (200, text) => return text,
                    (409, _) => tokio::time::sleep(Duration::from_millis(5)).await,
                    (status, text) => panic!("{status}: {text}"),
                }
            }
        });
    }
    let mut responses = tasks.join_all().await;
    responses.dedup();
    assert_eq!(responses.len(), 1);
    assert_eq!(world.texts("select slug from fundraisers").await, ["run"]);
    assert_ledger(world, 1).await;
    other.db.close().await;
}

async fn a_key_has_1_to_255_characters(world: &World) {
    let organizer = Organizer::new(world).await;
    let long = "k".repeat(256);
    for bad in ["", " ", &long, "é"] {
        let refused = organizer
            .create_with(400, &fundraiser_body("Run"), &[("idempotency-key", bad)])
            .await;
        assert_eq!(refused.code(), "invalid_parameter", "{bad}");
    }
    let twice = [("idempotency-key", "a"), ("idempotency-key", "b")];
    organizer.create_with(400, &fundraiser_body("Run"), &twice).await;
    organizer
        .create_with(200, &fundraiser_body("Run"), &[("idempotency-key", &long[1..])])
        .await;
    organizer
        .create_with(200, &fundraiser_body("Walk"), &[("idempotency-key", "!")])
        .await;
}

impl Organizer {
    /// Sends a create and returns any response.
    async fn try_create(&self, body: &serde_json::Value, key: &str) -> (u16, String) {
        let headers = [
            ("authorization", self.basic.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let (status, response) = self
            .client
            .send_any(
                &axum::http::Method::POST,
                "/v0.2/fundraiser",
                &headers,
                body.to_string(),
            )
            .await;
        (status, response.text())
    }
}
