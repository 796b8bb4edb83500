//! Payment links whose processor reports payments.

use super::bank::PROFILE;
use crate::client::{Client, Response};
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use axum::body::Body;
use axum::http::Method;
use causeway::app::App;
use giving::providers::Provider;
use platform::webhook_signature::WebhookSecret;
use serde_json::{Value, json};

on_both_databases!(
    a_reported_payment_completes_a_donation_once_and_a_refund_takes_it_back,
    reports_that_are_forged_or_do_not_match_change_nothing,
);

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const STATES: &str = "select state from donations";

/// A server with a payment link, and a started donation.
async fn start(world: &World) -> (App, Client, String) {
    world.load_demo().await;
    let mut config = world.app.config.clone();
    config.giving =
        Provider::Link("https://pay.example.org/?for={ein}&amount={amount}&ref={donation}".to_owned());
    config.link_secret = SECRET.into();
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let client = Client::new(&app, "");
    let visitor = Visitor::with_client(&client);
    let give = format!("{PROFILE}/give");
    let form = visitor.get(200, &give).await.text();
    let once = hidden(&form, "once");
    let response = visitor
        .post(303, &give, &[("amount", "25"), ("once", once.as_str())])
        .await;
    let page = visitor.get(200, response.header("location")).await.text();
    let (_, url) = page.split_once("https://pay.example.org").unwrap();
    let (_, rest) = url.split_once("ref=").unwrap();
    let donation = rest[..36].to_owned();
    (app, client, donation)
}

fn report(kind: &str, donation: &str, amount: i64, id: &str) -> Value {
    json!({
        "type": kind,
        "timestamp": "2026-11-17T10:00:00Z",
        "data": {
            "donation": donation, "amount": amount, "fee": 50, "externalId": id, "paidAt": "2026-11-17T10:00:00Z",
        },
    })
}

async fn send(client: &Client, expected: u16, app: &App, id: &str, report: &Value, secret: &str) -> Response {
    let (body, now) = (report.to_string(), app.clock.millis() / 1_000);
    let signature = sign(id, now, &body, secret);
    send_signed(client, expected, (id, now), &body, &signature).await
}

fn sign(id: &str, time: i64, body: &str, secret: &str) -> String {
    WebhookSecret::parse(secret)
        .unwrap()
        .sign(id, time, body.as_bytes())
}

async fn send_signed(
    client: &Client,
    expected: u16,
    (id, time): (&str, i64),
    body: &str,
    signature: &str,
) -> Response {
    let time = time.to_string();
    let headers = [
        ("content-type", "application/json"),
        ("webhook-id", id),
        ("webhook-timestamp", time.as_str()),
        ("webhook-signature", signature),
    ];
    client
        .send_body(
            expected,
            &Method::POST,
            "/webhooks/link",
            &headers,
            Body::from(body.to_owned()),
        )
        .await
}

async fn a_reported_payment_completes_a_donation_once_and_a_refund_takes_it_back(world: &World) {
    let (app, client, donation) = start(world).await;
    let failed = report("payment.failed", &donation, 2_500, "p_0");
    send(&client, 200, &app, "msg_0", &failed, SECRET).await;
    assert_eq!(world.texts(STATES).await, ["failed"]);
    let paid = report("payment.succeeded", &donation, 2_500, "p_1");
    for id in ["msg_1", "msg_1", "msg_2"] {
        send(&client, 200, &app, id, &paid, SECRET).await;
    }
    // A report that arrives late changes nothing.
    send(&client, 200, &app, "msg_3", &failed, SECRET).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    let part = report("payment.refunded", &donation, 500, "r_1");
    for id in ["msg_4", "msg_5"] {
        send(&client, 200, &app, id, &part, SECRET).await;
    }
    send(
        &client,
        200,
        &app,
        "msg_6",
        &report("payment.refunded", &donation, 2_000, "r_2"),
        SECRET,
    )
    .await;
    assert_eq!(world.texts(STATES).await, ["refunded"]);
    let entries =
        "select kind || ' ' || cast(amount as text) || ' ' || mode from ledger_entries order by sequence";
    assert_eq!(
        world.texts(entries).await,
        ["donation 2500 live", "refund -500 live", "refund -2000 live"]
    );
}

async fn reports_that_are_forged_or_do_not_match_change_nothing(world: &World) {
    let (app, client, donation) = start(world).await;
    let paid = report("payment.succeeded", &donation, 2_500, "p_1");
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let response = send(&client, 400, &app, "msg_1", &paid, other).await;
    assert_eq!(response.code(), "invalid_signature");
    let response = send(
        &client,
        400,
        &app,
        "msg_1",
        &json!({ "type": "payment.succeeded" }),
        SECRET,
    )
    .await;
    assert_eq!(response.code(), "invalid_json");
    // Old, cut off, changed by one byte, for another message, or too large.
    let (body, now) = (paid.to_string(), app.clock.millis() / 1_000);
    let good = sign("msg_1", now, &body, SECRET);
    let old = sign("msg_1", now - 301, &body, SECRET);
    let large = " ".repeat(1 << 20);
    for (expected, message, body, signature) in [
        (400, ("msg_1", now - 301), body.as_str(), &old),
        (400, ("msg_1", now), &body[..body.len() - 1], &good),
        (400, ("msg_1", now), &body.replace("2500", "9500"), &good),
        (400, ("msg_9", now), &body, &good),
        (413, ("msg_1", now), &large, &sign("msg_1", now, &large, SECRET)),
    ] {
        send_signed(&client, expected, message, body, signature).await;
    }
    assert_eq!(world.texts("select id from provider_events").await, [""; 0]);
    let less = report("payment.succeeded", &donation, 2_499, "p_2");
    send(&client, 200, &app, "msg_2", &less, SECRET).await;
    let unknown = report(
        "payment.succeeded",
        "0190f5a0-0000-8000-8000-000000000001",
        2_500,
        "p_3",
    );
    send(&client, 200, &app, "msg_3", &unknown, SECRET).await;
    let mut test = report("payment.succeeded", &donation, 2_500, "p_4");
    test["data"]["livemode"] = json!(false);
    send(&client, 200, &app, "msg_4", &test, SECRET).await;
    assert_eq!(world.texts(STATES).await, ["started"]);
    assert!(world.texts("select kind from ledger_entries").await.is_empty());
    let listed = "select kind || ' ' || object from payment_differences order by object";
    assert_eq!(
        world.texts(listed).await,
        ["other amount p_2", "no donation p_3", "other amount p_4"]
    );
    // Without a secret there is no such page.
    send(&world.client, 404, &app, "msg_5", &paid, SECRET).await;
}
