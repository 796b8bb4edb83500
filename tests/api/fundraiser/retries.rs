//! `Idempotency-Key`: what is sent again is done once and answered the same.

use super::{Organiser, RED_CROSS, assert_sound, id_of};
use crate::world::World;
use causeway::error::Error;
use causeway::http::idempotency::Asked;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    a_create_sent_again_is_answered_to_the_byte,
    another_body_under_the_same_key_is_refused,
    a_key_is_free_again_after_a_day,
    a_body_that_was_refused_leaves_the_key_free,
    while_the_first_is_under_way_the_second_is_told_to_wait,
    of_many_at_once_one_is_made_and_all_that_are_answered_have_its_answer,
    a_key_has_1_to_255_characters,
);

fn body(title: &str) -> serde_json::Value {
    json!({"nonprofitId": id_of(RED_CROSS), "title": title, "raisedOffline": 700})
}

async fn a_create_sent_again_is_answered_to_the_byte(world: &World) {
    let organiser = Organiser::new(world).await;
    let key = [("idempotency-key", "order-1")];
    let first = organiser.create_with(200, &body("Run"), &key).await;
    world.app.clock.advance(Duration::from_hours(1));
    let (other, client) = world.restart().await;
    for organiser in [&organiser, &organiser.at(&client)] {
        let again = organiser.create_with(200, &body("Run"), &key).await;
        assert_eq!(
            (again.text(), again.header("location")),
            (first.text(), first.header("location"))
        );
    }
    other.db.close().await;
    assert_eq!(world.texts("select slug from fundraisers").await, ["run"]);
    assert_sound(world, 1).await;
}

async fn another_body_under_the_same_key_is_refused(world: &World) {
    let organiser = Organiser::new(world).await;
    let key = [("idempotency-key", "order-1")];
    organiser.create_with(200, &body("Run"), &key).await;
    let refused = organiser.create_with(422, &body("Walk"), &key).await;
    assert_eq!(refused.code(), "idempotency_mismatch");
    organiser
        .create_with(200, &body("Walk"), &[("idempotency-key", "order-2")])
        .await;
}

async fn a_key_is_free_again_after_a_day(world: &World) {
    let organiser = Organiser::new(world).await;
    let key = [("idempotency-key", "order-1")];
    let first = organiser.create_with(200, &body("Run"), &key).await;
    world.app.clock.advance(Duration::from_mins(24 * 60 - 1));
    assert_eq!(
        organiser.create_with(200, &body("Run"), &key).await.text(),
        first.text()
    );
    world.app.clock.advance(Duration::from_mins(2));
    let later = organiser.create_with(200, &body("Walk"), &key).await;
    assert_ne!(later.text(), first.text());
    assert_eq!(
        world.texts("select name from idempotency_keys").await,
        ["order-1"]
    );
}

async fn a_body_that_was_refused_leaves_the_key_free(world: &World) {
    let organiser = Organiser::new(world).await;
    let key = [("idempotency-key", "order-1")];
    organiser.create_with(400, &json!({"title": "Run"}), &key).await;
    organiser.create_with(200, &body("Run"), &key).await;
}

async fn while_the_first_is_under_way_the_second_is_told_to_wait(world: &World) {
    let organiser = Organiser::new(world).await;
    let asked = Asked {
        account: world.account,
        name: "order-1".to_owned(),
        hash: [0; 32],
    };
    let turn = world.app.under_way.begin(&asked).unwrap();
    assert!(matches!(
        world.app.under_way.begin(&asked),
        Err(Error::IdempotencyInProgress)
    ));
    let key = [("idempotency-key", "order-1")];
    let refused = organiser.create_with(409, &body("Run"), &key).await;
    assert_eq!(
        (refused.code(), refused.header("retry-after")),
        ("idempotency_in_progress", "1")
    );
    organiser
        .create_with(200, &body("Run"), &[("idempotency-key", "order-2")])
        .await;
    drop(turn);
    organiser.create_with(200, &body("Run"), &key).await;
}

async fn of_many_at_once_one_is_made_and_all_that_are_answered_have_its_answer(world: &World) {
    let organiser = Organiser::new(world).await;
    let (other, client) = world.restart().await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..40 {
        let organiser = if number % 2 == 0 {
            organiser.at(&world.client)
        } else {
            organiser.at(&client)
        };
        tasks.spawn(async move {
            for _ in 0..2_000 {
                match organiser.try_create(&body("Run"), "order-1").await {
                    (200, text) => return text,
                    (409, _) => tokio::time::sleep(Duration::from_millis(5)).await,
                    (status, text) => panic!("{status}: {text}"),
                }
            }
            panic!("never answered");
        });
    }
    let mut answers = tasks.join_all().await;
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(world.texts("select slug from fundraisers").await, ["run"]);
    assert_sound(world, 1).await;
    other.db.close().await;
}

async fn a_key_has_1_to_255_characters(world: &World) {
    let organiser = Organiser::new(world).await;
    let long = "k".repeat(256);
    for bad in ["", " ", &long, "é"] {
        let refused = organiser
            .create_with(400, &body("Run"), &[("idempotency-key", bad)])
            .await;
        assert_eq!(refused.code(), "invalid_parameter", "{bad}");
    }
    let twice = [("idempotency-key", "a"), ("idempotency-key", "b")];
    organiser.create_with(400, &body("Run"), &twice).await;
    organiser
        .create_with(200, &body("Run"), &[("idempotency-key", &long[1..])])
        .await;
    organiser
        .create_with(200, &body("Walk"), &[("idempotency-key", "!")])
        .await;
}

impl Organiser {
    /// A create that may be answered in any way.
    async fn try_create(&self, body: &serde_json::Value, key: &str) -> (u16, String) {
        let headers = [
            ("authorization", self.basic.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let (status, answer) = self
            .client
            .send_any(
                &axum::http::Method::POST,
                "/v0.2/fundraiser",
                &headers,
                body.to_string(),
            )
            .await;
        (status, answer.text())
    }
}
