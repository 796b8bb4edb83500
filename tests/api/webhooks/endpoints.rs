//! Webhook endpoints: created, changed, rotated, disabled and deleted by their owner alone.

use super::{Partner, Received};
use crate::api::fundraisers::fields;
use crate::world::World;
use axum::http::Method;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases!(
    an_account_manages_its_endpoints,
    invalid_fields_are_named_all_at_once,
    an_account_has_at_most_20_endpoints,
    events_are_signed_by_both_secrets_during_a_rotation,
    nobody_else_sees_or_uses_an_endpoint,
);

async fn an_account_manages_its_endpoints(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner
        .create("/hook", json!({"description": " Donations "}))
        .await;
    let (id, secret) = (
        created["id"].as_str().unwrap(),
        created["secret"].as_str().unwrap(),
    );
    assert!(secret.starts_with("whsec_"), "{created}");
    assert_eq!(created["webhookToken"].as_str().unwrap().len(), 32);
    assert_eq!(
        (&created["status"], &created["format"]),
        (&json!("enabled"), &json!("standard"))
    );
    assert_eq!(created["description"], "Donations");
    let path = format!("/v0.2/webhook/{id}");
    let read = partner.get(200, &path).await.json;
    assert_eq!(read["secret"], Value::Null);
    assert_eq!(
        read["traffic"],
        json!({"waiting": 0, "delivered": 0, "failed": 0, "p99": null})
    );
    let change = json!({"events": ["donation.succeeded"], "description": null, "status": "disabled"});
    let changed = partner
        .organizer
        .write(200, &Method::PATCH, &path, change.to_string(), &[])
        .await
        .json;
    assert_eq!(
        (&changed["events"], &changed["status"], &changed["disabledReason"]),
        (
            &json!(["donation.succeeded"]),
            &json!("disabled"),
            &json!("You disabled it.")
        )
    );
    let test = partner.post(400, &format!("{path}/test"), &json!({})).await;
    assert_eq!(fields(&test), ["status"]);
    let enabled = partner
        .post(200, &format!("{path}/enable"), &json!({}))
        .await
        .json;
    assert_eq!(
        (&enabled["status"], &enabled["disabledReason"]),
        (&json!("enabled"), &Value::Null)
    );
    let listed = partner.get(200, "/v0.2/webhooks").await.json;
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1);
    partner
        .organizer
        .write(204, &Method::DELETE, &path, "", &[])
        .await;
    assert_eq!(partner.get(404, &path).await.code(), "webhook_not_found");
    assert_eq!(
        partner.get(200, "/v0.2/webhooks").await.json,
        json!({"webhooks": []})
    );
    partner.app.giving.webhooks.clean_up().await.unwrap();
    assert_eq!(world.texts("select url from webhook_endpoints").await, [""; 0]);
    assert_eq!(
        world
            .texts("select act from audit where act like 'webhook%' order by id")
            .await,
        [
            "webhook create",
            "webhook change",
            "webhook disable",
            "webhook enable",
            "webhook delete"
        ]
    );
    let secrets = world.texts("select detail from audit").await.concat();
    assert!(!secrets.contains("whsec_"), "{secrets}");
    partner.app.db.close().await;
}

async fn invalid_fields_are_named_all_at_once(world: &World) {
    let partner = Partner::new(world).await;
    let body = json!({"url": "ftp://x", "events": [], "format": "x", "description": "x".repeat(201), "bearerToken": "a b"});
    let refused = partner.post(400, "/v0.2/webhook", &body).await;
    assert_eq!(
        fields(&refused),
        ["url", "format", "events", "description", "bearerToken"]
    );
    let refused = partner.post(400, "/v0.2/webhook", &json!({})).await;
    assert_eq!(fields(&refused), ["url"]);
    let url = partner.receiver.url("/hook");
    for (body, field) in [
        (json!({"url": 7}), "url"),
        (json!({"url": url, "events": "ping"}), "events"),
        (json!({"url": url, "events": ["ping", 7]}), "events"),
        (json!({"url": url, "events": ["ping", "ping"]}), "events"),
        (json!({"url": url, "events": ["donation.lost"]}), "events"),
        (
            json!({"url": url, "events": ["ping"], "format": "partner"}),
            "events",
        ),
        (json!({"url": url, "bearerToken": "x"}), "bearerToken"),
        (json!({"url": "https://no-such-name.invalid/hook"}), "url"),
    ] {
        let refused = partner.post(400, "/v0.2/webhook", &body).await;
        assert_eq!(fields(&refused), [field], "{body}");
    }
    let created = partner.create("/hook", json!({})).await;
    let path = format!("/v0.2/webhook/{}", created["id"].as_str().unwrap());
    for (change, field) in [
        (json!({"url": "http://example.org/", "status": "gone"}), "status"),
        (json!({"url": null}), "url"),
    ] {
        let refused = partner
            .organizer
            .write(400, &Method::PATCH, &path, change.to_string(), &[])
            .await;
        assert_eq!(fields(&refused), [field], "{change}");
    }
    for since in [
        json!("soon"),
        json!(7),
        json!(null),
        json!("2999-01-01T00:00:00Z"),
        json!("1999-01-01T00:00:00Z"),
    ] {
        let refused = partner
            .post(400, &format!("{path}/replay"), &json!({"since": since}))
            .await;
        assert_eq!(fields(&refused), ["since"], "{since}");
    }
    let wrong = partner
        .organizer
        .write(400, &Method::POST, "/v0.2/webhook", "{", &[])
        .await;
    assert_eq!(wrong.code(), "invalid_json");
    partner.app.db.close().await;
}

async fn an_account_has_at_most_20_endpoints(world: &World) {
    let partner = Partner::new(world).await;
    for _ in 0..20 {
        partner.create("/hook", json!({})).await;
    }
    let body = json!({"url": partner.receiver.url("/hook")});
    let refused = partner.post(400, "/v0.2/webhook", &body).await;
    assert_eq!(fields(&refused), ["url"]);
    assert!(refused.text().contains("at most 20"), "{}", refused.text());
    partner.app.db.close().await;
}

async fn events_are_signed_by_both_secrets_during_a_rotation(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner.create("/hook", json!({})).await;
    let (id, old) = (
        created["id"].as_str().unwrap(),
        created["secret"].as_str().unwrap(),
    );
    let path = format!("/v0.2/webhook/{id}");
    let receive = async || -> Received {
        partner.post(200, &format!("{path}/test"), &json!({})).await;
        partner.deliver().await;
        partner.receiver.take("/hook").pop().unwrap()
    };
    let received = receive().await;
    assert!(received.verify(old));
    assert!(received.id().starts_with("evt_") && received.json()["type"] == "ping");
    let changed = Received {
        body: format!("{} ", received.body),
        ..received
    };
    assert!(!changed.verify(old));
    let rotated = partner
        .post(200, &format!("{path}/rotate"), &json!({}))
        .await
        .json;
    let new = rotated["secret"].as_str().unwrap();
    assert_ne!(new, old);
    let received = receive().await;
    assert!(received.verify(old) && received.verify(new));
    world.app.clock.advance(Duration::from_hours(24));
    let received = receive().await;
    assert!(!received.verify(old) && received.verify(new));
    let stored = world
        .texts("select url || description || events || token || reason from webhook_endpoints")
        .await;
    assert!(!stored.concat().contains("whsec_"), "{stored:?}");
    partner.app.db.close().await;
}

async fn nobody_else_sees_or_uses_an_endpoint(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner.create("/hook", json!({})).await;
    let path = format!("/v0.2/webhook/{}", created["id"].as_str().unwrap());
    partner.post(200, &format!("{path}/test"), &json!({})).await;
    let deliveries = partner.get(200, &format!("{path}/deliveries")).await.json;
    let delivery = deliveries["deliveries"][0]["id"].as_str().unwrap();
    let eve = partner.stranger().await;
    let replay = json!({"since": "2026-01-01T00:00:00Z"}).to_string();
    for (method, path, body) in [
        (Method::GET, path.clone(), "{}"),
        (Method::PATCH, path.clone(), "{}"),
        (Method::DELETE, path.clone(), "{}"),
        (Method::POST, format!("{path}/rotate"), "{}"),
        (Method::POST, format!("{path}/test"), "{}"),
        (Method::POST, format!("{path}/enable"), "{}"),
        (Method::POST, format!("{path}/replay"), replay.as_str()),
        (Method::GET, format!("{path}/deliveries"), "{}"),
        (Method::POST, format!("{path}/deliveries/{delivery}/retry"), "{}"),
    ] {
        let refused = eve.write(404, &method, &path, body.to_owned(), &[]).await;
        assert_eq!(refused.code(), "webhook_not_found", "{method} {path}");
    }
    let events = eve
        .write(200, &Method::GET, "/v0.2/events?type=ping", "", &[])
        .await
        .json;
    assert_eq!(events["events"], json!([]));
    partner.app.db.close().await;
}
