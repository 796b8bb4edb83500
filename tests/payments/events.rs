//! Events that are not Stripe's, or not for this server, change nothing.

use super::bank::{Bank, PROFILE, VALID_CARD, WEBHOOK_SECRET, session_of};
use crate::client::Response;
use crate::world::World;
use axum::body::Body;
use axum::http::Method;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

on_both_databases!(
    forged_and_damaged_events_are_refused,
    events_of_others_are_acknowledged_and_ignored,
    a_repeated_event_changes_nothing,
    a_charge_with_another_amount_is_listed_and_not_entered,
    the_page_of_a_donation_ignores_the_session_of_another,
);

/// Signs a body as Stripe does.
pub(super) fn sign(body: &str, secret: &str, time: i64) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}.{body}").as_bytes());
    let hex = platform::text::hex(&mac.finalize().into_bytes());
    format!("t={time},v1={hex}")
}

pub(super) async fn send(bank: &Bank, expected: u16, body: &str, signature: &str) -> Response {
    let headers = [
        ("content-type", "application/json"),
        ("stripe-signature", signature),
    ];
    bank.client
        .send_body(
            expected,
            &Method::POST,
            "/webhooks/stripe",
            &headers,
            Body::from(body.to_owned()),
        )
        .await
}

/// Sends an event that is signed as it should be.
async fn deliver(bank: &Bank, expected: u16, event: &Value) -> Response {
    let (body, now) = (event.to_string(), bank.app.clock.millis() / 1_000);
    send(bank, expected, &body, &sign(&body, WEBHOOK_SECRET, now)).await
}

fn event(id: &str, kind: &str, object: &Value) -> Value {
    json!({
        "id": id, "object": "event", "type": kind, "created": 1_790_000_000, "livemode": false,
        "data": { "object": object },
    })
}

/// A charge that claims to have paid a donation.
fn charge(donation: &str, store: &str, amount: i64) -> Value {
    json!({
        "id": "ch_forged", "object": "charge", "amount": amount, "amount_refunded": 0, "currency": "usd",
        "created": 1_790_000_000, "livemode": false, "paid": true, "status": "succeeded",
        "metadata": { "donation": donation, "store": store }, "balance_transaction": null,
    })
}

/// Starts a donation, and returns its ID and that of the store.
async fn started(bank: &Bank) -> (String, String) {
    let session = session_of(&bank.start(PROFILE, &[("amount", "25")]).await);
    let session = bank.read(&format!("checkout/sessions/{session}")).await;
    let text = |name: &str| session["metadata"][name].as_str().unwrap().to_owned();
    (text("donation"), text("store"))
}

async fn assert_untouched(world: &World) {
    assert_eq!(world.texts("select state from donations").await, ["started"]);
    assert!(world.texts("select kind from ledger_entries").await.is_empty());
}

async fn forged_and_damaged_events_are_refused(world: &World) {
    let bank = Bank::open(world).await;
    let (donation, store) = started(&bank).await;
    let body = event("evt_1", "charge.succeeded", &charge(&donation, &store, 2_500)).to_string();
    let now = world.app.clock.millis() / 1_000;
    let good = sign(&body, WEBHOOK_SECRET, now);
    for signature in [
        String::new(),
        "t=1,v1=00".to_owned(),
        sign(&body, "whsec_other", now),
        sign(&body, WEBHOOK_SECRET, now - 301),
        good.replace("v1=", "v0="),
    ] {
        let response = send(&bank, 400, &body, &signature).await;
        assert_eq!(response.code(), "invalid_signature", "{signature}");
    }
    // A body that was cut off, or changed by one byte, is not the one that was signed.
    send(&bank, 400, &body[..body.len() - 1], &good).await;
    send(&bank, 400, &body.replace("2500", "9500"), &good).await;
    let garbage = "{\"id\":";
    let response = send(&bank, 400, garbage, &sign(garbage, WEBHOOK_SECRET, now)).await;
    assert_eq!(response.code(), "invalid_json");
    let large = " ".repeat(1 << 20);
    let response = send(&bank, 413, &large, &sign(&large, WEBHOOK_SECRET, now)).await;
    assert_eq!(response.code(), "too_large");
    assert!(
        world
            .texts("select id from provider_events where id = 'evt_1'")
            .await
            .is_empty()
    );
    assert_untouched(world).await;
}

async fn events_of_others_are_acknowledged_and_ignored(world: &World) {
    let bank = Bank::open(world).await;
    let (donation, store) = started(&bank).await;
    let own = charge(&donation, &store, 2_500);
    let mut live = event("evt_live", "charge.succeeded", &own);
    live["livemode"] = json!(true);
    let mut connected = event("evt_connected", "charge.succeeded", &own);
    connected["account"] = json!("acct_other");
    let other_store = charge(&donation, "0190f5a0-0000-7000-8000-000000000001", 2_500);
    for event in [
        live,
        connected,
        event("evt_store", "charge.succeeded", &other_store),
        event(
            "evt_none",
            "charge.succeeded",
            &json!({ "id": "ch_x", "amount": 1, "amount_refunded": 0,
            "currency": "usd", "created": 1, "livemode": false, "paid": true, "status": "succeeded" }),
        ),
        event("evt_kind", "customer.created", &json!({ "id": "cus_1" })),
    ] {
        deliver(&bank, 200, &event).await;
    }
    bank.settle(world).await;
    assert_untouched(world).await;
    let stored = world
        .texts("select id from provider_events where handled_at is not null")
        .await;
    for id in ["evt_live", "evt_connected", "evt_store", "evt_none", "evt_kind"] {
        assert!(stored.iter().any(|stored| stored == id), "{id}: {stored:?}");
    }
}

async fn a_repeated_event_changes_nothing(world: &World) {
    let bank = Bank::open(world).await;
    bank.control("faults", json!({ "kind": "double_event" })).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let events = bank.read("events?limit=100").await;
    for event in events["data"].as_array().unwrap() {
        deliver(&bank, 200, event).await;
    }
    bank.settle(world).await;
    let kinds = world
        .texts("select kind from ledger_entries order by sequence")
        .await;
    assert_eq!(kinds, ["donation", "settlement"]);
    bank.assert_reconciled().await;
}

async fn a_charge_with_another_amount_is_listed_and_not_entered(world: &World) {
    let bank = Bank::open(world).await;
    let (donation, store) = started(&bank).await;
    deliver(
        &bank,
        200,
        &event("evt_1", "charge.succeeded", &charge(&donation, &store, 2_499)),
    )
    .await;
    let mut euros = charge(&donation, &store, 2_500);
    euros["currency"] = json!("eur");
    euros["id"] = json!("ch_euros");
    deliver(&bank, 200, &event("evt_2", "charge.succeeded", &euros)).await;
    let unknown = charge("0190f5a0-0000-8000-8000-000000000001", &store, 2_500);
    deliver(&bank, 200, &event("evt_3", "charge.succeeded", &unknown)).await;
    bank.settle(world).await;
    assert_untouched(world).await;
    let listed = "select kind || ' ' || object from payment_differences order by kind, object";
    assert_eq!(
        world.texts(listed).await,
        [
            "no donation ch_forged",
            "other amount ch_euros",
            "other amount ch_forged"
        ]
    );
}

async fn the_page_of_a_donation_ignores_the_session_of_another(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    let page = async |session: &str| {
        let session = bank.read(&format!("checkout/sessions/{session}")).await;
        let url = session["success_url"].as_str().unwrap().to_owned();
        format!("/donations/{}", url.split_once("/donations/").unwrap().1)
    };
    let unpaid = session_of(&bank.start(PROFILE, &[("amount", "25")]).await);
    let paid = bank.give("25", VALID_CARD).await;
    let unpaid = page(&unpaid).await;
    for name in ["session", "session_id", "id"] {
        let shown = bank
            .visitor
            .get(200, &format!("{unpaid}&{name}={paid}"))
            .await
            .text();
        assert!(shown.contains("Continue to payment"), "{shown}");
    }
    let states = "select state from donations order by state";
    assert_eq!(world.texts(states).await, ["started", "started"]);
    let shown = bank.visitor.get(200, &page(&paid).await).await.text();
    assert!(shown.contains("Thank you"), "{shown}");
    assert_eq!(world.texts(states).await, ["completed", "started"]);
}
