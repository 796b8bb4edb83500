//! Events of payments: what a partner is told about disputes and monthly gifts, and the examples in `openapi.json`.

use super::bank::{Bank, VALID_CARD, session_of};
use super::monthly::{let_card_fail, new_link, pass};
use crate::api::fundraisers::RED_CROSS;
use crate::api::openapi::{record, shape};
use crate::api::webhooks::{Partner, Received};
use crate::dashboard::visitor::hidden;
use crate::world::World;
use access::audit::Actor;
use axum::http::Method;
use causeway::api::openapi;
use directory::eligibility::Check;
use directory::eligibility::changes::NewDecision;
use directory::nonprofits::ein::Ein;
use giving::disbursement::batches::{ExportFormat, Mark};
use giving::fundraisers::moderate::Decision;
use giving::webhooks::EventKind;
use platform::ids::{AccountId, FundraiserId};
use platform::money::Cents;
use serde_json::{Map, Value, json};
use std::time::Duration;
use uuid::Uuid;

on_both_databases!(
    examples_have_the_shape_of_real_events,
    a_lost_dispute_is_told_once,
);

/// Longer than money is held before it is paid.
const HOLD: Duration = Duration::from_hours(20 * 24);
const ORGANIZER_PAGE: &str = "/american-red-cross/f/spring-run";

/// Gives $25 by a link of the partner, to be paid on the page of Stripe.
async fn give(bank: &Bank, page: &str, endpoint: &Value, frequency: &str) {
    let token = endpoint["webhookToken"].as_str().unwrap();
    let link = "partner_donation_id=order-17&partner_metadata=%7B%22customer%22%3A42%7D&designation=boats";
    let url = format!("{page}/give?{link}&webhook_token={token}");
    let form = bank.visitor.get(200, &url).await.text();
    let once = hidden(&form, "once");
    let fields = [
        ("amount", "25"),
        ("frequency", frequency),
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
        ("share_contact", "yes"),
        ("once", &once),
    ];
    let response = bank.visitor.post(303, &url, &fields).await;
    bank.pay(&session_of(response.header("location")), VALID_CARD)
        .await;
}

/// Takes what arrived since the last time.
async fn receive(partner: &Partner) -> Vec<Value> {
    partner.deliver().await;
    let received = partner.receiver.take("/hook");
    received.iter().map(Received::json).collect()
}

async fn dispute(bank: &Bank, world: &World) -> String {
    let charges = world
        .texts("select charge from donations where charge is not null")
        .await;
    let path = format!("charges/{}/dispute", charges[0]);
    let dispute = bank.control(&path, json!({ "reason": "fraudulent" })).await;
    bank.settle(world).await;
    dispute["id"].as_str().unwrap().to_owned()
}

async fn examples_have_the_shape_of_real_events(world: &World) {
    let bank = Bank::open(world).await;
    let partner = Partner::new(world).await;
    let endpoint = partner.create("/hook", json!({})).await;
    let mut events = Vec::new();
    let fundraiser = partner.organizer.create_fundraiser(json!({"goal": 2_000})).await;
    let path = format!("/v0.2/fundraiser/{}", fundraiser["id"].as_str().unwrap());

    give(&bank, ORGANIZER_PAGE, &endpoint, "once").await;
    bank.settle(world).await;
    events.extend(receive(&partner).await);
    let payments = bank.app.payments().unwrap();
    let donation = super::refunds::donation(world).await;
    payments.refund(donation, Some(Cents::new(500))).await.unwrap();
    bank.settle(world).await;
    events.extend(receive(&partner).await);
    let id = dispute(&bank, world).await;
    events.extend(receive(&partner).await);
    bank.control(&format!("disputes/{id}/win"), json!({})).await;
    bank.settle(world).await;
    events.extend(receive(&partner).await);

    give(&bank, ORGANIZER_PAGE, &endpoint, "monthly").await;
    bank.settle(world).await;
    events.extend(receive(&partner).await);
    let amount = [("action", "amount"), ("amount", "40"), ("cover", "no")];
    bank.visitor
        .post(303, &new_link(world, &bank).await, &amount)
        .await;
    events.extend(receive(&partner).await);
    let_card_fail(&bank).await;
    pass(world, &bank, 32).await;
    events.extend(receive(&partner).await);
    bank.visitor
        .post(303, &new_link(world, &bank).await, &[("action", "cancel")])
        .await;

    pay_nonprofit(&bank, world).await;
    events.extend(receive(&partner).await);

    partner
        .organizer
        .write(
            200,
            &Method::PATCH,
            &path,
            json!({"title": "Autumn run"}).to_string(),
            &[],
        )
        .await;
    let id = FundraiserId(fundraiser["id"].as_str().unwrap().parse().unwrap());
    for decision in [Decision::Hide("It is not true.".to_owned()), Decision::Show] {
        let decided = partner.app.moderation().decide(id, decision, Actor::Command);
        decided.await.unwrap();
        events.extend(receive(&partner).await);
    }
    for act in ["close", "reopen"] {
        partner.post(200, &format!("{path}/{act}"), &json!({})).await;
        events.extend(receive(&partner).await);
    }
    let line = json!({"ein": RED_CROSS, "name": "Red Cross of Everywhere"});
    world.import_nonprofits(&line.to_string()).await.unwrap();
    let decision = NewDecision {
        ein: Ein::parse("530196605").unwrap(),
        check: Check::Operator,
        passes: false,
        note: "It wants no donations".to_owned(),
        decided_by: None,
    };
    let decided = world.app.decide_eligibility(Actor::Command, decision).await;
    decided.unwrap().unwrap();
    partner.app.refresh_directory().await.unwrap();
    let test = format!("/v0.2/webhook/{}/test", endpoint["id"].as_str().unwrap());
    partner.post(200, &test, &json!({})).await;
    events.extend(receive(&partner).await);

    let recorded = first_of_each_type(&events);
    verify(&recorded, &events);
    if std::env::var_os("CAUSEWAY_RECORD_EXAMPLES").is_some() {
        let text = Value::Object(recorded).to_string();
        let public = world.app.site.urls.public();
        record(
            "webhook-events",
            &text.replace(public, "https://causeway.example"),
        );
        return;
    }
    compare_with_examples(recorded);
    partner.app.db.close().await;
}

/// Verifies what the events say.
fn verify(recorded: &Map<String, Value>, events: &[Value]) {
    let changed = &recorded["monthly_gift.changed"]["data"];
    assert_eq!(
        (&changed["changed"], &changed["amount"]),
        (&json!(["amount"]), &json!(4_000))
    );
    let failed = &recorded["monthly_gift.payment_failed"]["data"];
    assert_eq!(
        (&failed["status"], &failed["byYourLink"]),
        (&json!("past_due"), &json!(true))
    );
    assert_eq!(recorded["monthly_gift.canceled"]["data"]["status"], "canceled");
    let first = events
        .iter()
        .rfind(|event| event["type"] == "donation.succeeded")
        .unwrap();
    assert_eq!(
        (&first["data"]["frequency"], &first["data"]["monthlyGift"]),
        (&json!("monthly"), &recorded["monthly_gift.started"]["data"]["id"])
    );
    assert_eq!(
        recorded["donation.dispute_closed"]["data"]["dispute"]["status"],
        "won"
    );
    let (sent, returned) = (&recorded["disbursement.sent"], &recorded["disbursement.returned"]);
    let donations = sent["data"]["donations"].as_array().unwrap();
    let ids: Vec<&Value> = donations.iter().map(|donation| &donation["id"]).collect();
    assert_eq!(ids.len(), 2);
    assert!(
        ids.contains(&&recorded["donation.succeeded"]["data"]["id"]) && ids.contains(&&first["data"]["id"])
    );
    let sum: i64 = donations
        .iter()
        .map(|paid| paid["amount"].as_i64().unwrap())
        .sum();
    assert_eq!(sent["data"]["amount"], sum);
    assert_eq!(
        (&sent["data"]["status"], &returned["data"]["status"]),
        (&json!("sent"), &json!("returned"))
    );
    assert!(sent["timestamp"].as_str() < returned["timestamp"].as_str());
}

/// Pays the nonprofit for what was given, which its bank sends back.
async fn pay_nonprofit(bank: &Bank, world: &World) {
    let disbursements = bank.app.disbursements();
    let payee = format!("ein,method,street,city,state,zip\n{RED_CROSS},check,1 Main St,Keene,NH,03431\n");
    let imported = disbursements.import_payees(payee.as_bytes(), Actor::Command);
    imported.await.unwrap();
    world.app.clock.advance(HOLD);
    bank.reconcile().await;
    let batch = disbursements.prepare(None, Actor::Command).await.unwrap();
    let approver = Actor::Account(AccountId(Uuid::from_u128(9)));
    disbursements.approve(batch.number, approver).await.unwrap();
    let export = disbursements.export(batch.number, ExportFormat::Checks, approver);
    export.await.unwrap();
    let line = (batch.number, 1);
    disbursements
        .mark(line, Mark::Returned, Some("R03"), approver)
        .await
        .unwrap();
}

fn first_of_each_type(events: &[Value]) -> Map<String, Value> {
    let mut first = Map::new();
    for kind in EventKind::ALL {
        let event = events.iter().find(|event| event["type"] == kind.name());
        let event = event.unwrap_or_else(|| panic!("no {} in {events:?}", kind.name()));
        first.insert(kind.name().to_owned(), event.clone());
    }
    first
}

fn compare_with_examples(events: Map<String, Value>) {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    for (name, event) in events {
        let operation = &description["webhooks"][&name]["post"];
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        assert_eq!(
            shape(example),
            shape(&event),
            "{name} in src/api/examples/webhook-events.json: run this story with CAUSEWAY_RECORD_EXAMPLES=1, then make openapi"
        );
    }
}

async fn a_lost_dispute_is_told_once(world: &World) {
    let bank = Bank::open(world).await;
    let partner = Partner::new(world).await;
    let endpoint = partner.create("/hook", json!({})).await;
    give(&bank, super::bank::PROFILE, &endpoint, "once").await;
    bank.settle(world).await;
    let id = dispute(&bank, world).await;
    bank.control(&format!("disputes/{id}/lose"), json!({})).await;
    bank.settle(world).await;
    let reported = bank.read("events?limit=100").await;
    for event in reported["data"].as_array().unwrap() {
        let id = event["id"].as_str().unwrap();
        bank.control(&format!("events/{id}/resend"), json!({})).await;
    }
    bank.settle(world).await;
    bank.reconcile().await;
    let events = receive(&partner).await;
    let types: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(
        types,
        [
            "donation.succeeded",
            "donation.disputed",
            "donation.dispute_closed"
        ]
    );
    let data = &events[2]["data"];
    assert_eq!(
        (&data["status"], &data["dispute"]),
        (
            &json!("disputed"),
            &json!({"id": id, "amount": 2_500, "status": "lost"})
        )
    );
    assert_eq!(events[1]["data"]["dispute"]["status"], "open");
    partner.app.db.close().await;
}
