//! Donations by a partner's link belong to the partner's account, and what donors did not share stays private.

use super::Partner;
use crate::cli::secrets::database_content;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases!(
    a_donation_by_a_link_with_the_token_is_an_event_of_the_partner,
    what_a_donor_had_erased_is_in_no_event_or_answer,
    the_answer_to_an_attempt_in_progress_is_not_stored_once_the_donor_is_erased,
);

const GIVE: &str = "/american-red-cross/give";
const VALID_CARD: &str = "4242424242424242";

/// Gives by a link.
async fn give(world: &World, query: &str, fields: &[(&str, &str)]) {
    let visitor = Visitor::new(world);
    let url = format!("{GIVE}?{query}");
    let form = visitor.get(200, &url).await.text();
    let once = hidden(&form, "once");
    let fields = [&[("amount", "20"), ("once", &once)], fields].concat();
    let started = visitor.post(303, &url, &fields).await;
    let donation = started.header("location").to_owned();
    visitor.post(303, &donation, &[("card", VALID_CARD)]).await;
}

async fn a_donation_by_a_link_with_the_token_is_an_event_of_the_partner(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner.create("/hook", json!({})).await;
    let token = created["webhookToken"].as_str().unwrap();
    let link = "partner_donation_id=order-17&partner_metadata=%7B%22a%22%3A1%7D&designation=boats";
    let contact = [("name", "Ada L"), ("email", "ada@example.org")];
    give(world, &format!("{link}&webhook_token={token}"), &contact).await;
    give(world, &format!("{link}&webhook_token=unknown"), &contact).await;
    let shared = [&contact[..], &[("share_contact", "yes")]].concat();
    give(world, &format!("webhook_token={token}"), &shared).await;
    partner.deliver().await;
    let mut received = partner.receiver.take("/hook");
    assert_eq!(received.len(), 2);
    received.sort_by_key(|received| received.json()["data"]["designation"].is_null());
    let data = received[0].json()["data"].clone();
    for (name, value) in [
        ("amount", json!(2_000)),
        ("partnerDonationId", json!("order-17")),
        ("partnerMetadata", json!("{\"a\":1}")),
        ("designation", json!("boats")),
        ("byYourLink", json!(true)),
        ("fundraiser", Value::Null),
        ("donor", Value::Null),
        ("livemode", json!(false)),
    ] {
        assert_eq!(data[name], value, "{name}");
    }
    let data = received[1].json()["data"].clone();
    assert_eq!(
        data["donor"],
        json!({"name": "Ada L", "email": "ada@example.org"})
    );
    let listed = partner.get(200, "/v0.2/donations").await.json;
    assert_eq!(listed["donations"].as_array().unwrap().len(), 2);
    // A refund reaches the partner too.
    let id = listed["donations"][0]["id"].as_str().unwrap().to_owned();
    let label = |text: &str| giving::donations::Label::parse(text).unwrap();
    let refund = giving::donations::Refund {
        source: label("site"),
        external_id: label(&id),
        amount: None,
        refund_id: None,
    };
    world.app.giving.recorder.refund(refund).await.unwrap();
    partner.deliver().await;
    let refunded = partner.receiver.take("/hook").pop().unwrap().json();
    assert_eq!(
        (&refunded["type"], &refunded["data"]["id"]),
        (&json!("donation.refunded"), &json!(id))
    );
    assert_eq!(
        (&refunded["data"]["status"], &refunded["data"]["refund"]["amount"]),
        (&json!("refunded"), &json!(2_000))
    );
    partner.app.db.close().await;
}

async fn forget(world: &World, email: &str) {
    let email = platform::email_address::EmailAddress::parse(email).unwrap();
    let actor = access::audit::Actor::Command;
    giving::donors::forget(world.app.settlement(), None, &email, actor)
        .await
        .unwrap();
}

async fn what_a_donor_had_erased_is_in_no_event_or_answer(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner.create("/echo", json!({})).await;
    let token = created["webhookToken"].as_str().unwrap();
    partner.receiver.answer("/echo", "500 Oops");
    let fields = [
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
        ("share_contact", "yes"),
    ];
    give(world, &format!("webhook_token={token}"), &fields).await;
    partner.deliver().await;
    let sent = partner.receiver.take("/echo").pop().unwrap();
    assert!(sent.body.contains("Lovelace"), "{}", sent.body);
    let answers = "select answer from webhook_attempts";
    assert!(world.texts(answers).await[0].contains("Lovelace"));
    forget(world, "ada@example.org").await;
    partner.receiver.answer("/echo", "200 OK");
    world.app.clock.advance(Duration::from_secs(10));
    partner.deliver().await;
    let mut texts = vec![partner.receiver.take("/echo").pop().unwrap().body];
    for path in ["/v0.2/events", "/v0.2/donations"] {
        texts.push(partner.get(200, path).await.text());
    }
    for text in texts {
        assert!(!text.contains("Lovelace") && !text.contains("ada@"), "{text}");
    }
    partner.app.db.close().await;
    world.app.db.truncate_log().await.unwrap();
    // Reading the file ends the locks of this process on it.
    let content = database_content(world).await;
    for personal in ["lovelace", "ada@example.org"] {
        let found = memchr::memmem::find(&content.to_ascii_lowercase(), personal.as_bytes());
        assert!(found.is_none(), "{personal}");
    }
}

async fn the_answer_to_an_attempt_in_progress_is_not_stored_once_the_donor_is_erased(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner.create("/echo", json!({})).await;
    let token = created["webhookToken"].as_str().unwrap();
    partner.receiver.hold("/echo");
    let fields = [
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
        ("share_contact", "yes"),
    ];
    give(world, &format!("webhook_token={token}"), &fields).await;
    let erase = async {
        let sent = loop {
            match partner.receiver.take("/echo").pop() {
                Some(sent) => break sent,
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        assert!(sent.body.contains("Lovelace"), "{}", sent.body);
        forget(world, "ada@example.org").await;
        partner.receiver.answer("/echo", "500 Oops");
    };
    tokio::join!(partner.deliver(), erase);
    assert_eq!(world.texts("select answer from webhook_attempts").await, [""]);
    // The attempt failed, so the event is sent again, without the donor.
    partner.receiver.answer("/echo", "200 OK");
    world.app.clock.advance(Duration::from_mins(2));
    partner.deliver().await;
    let sent = partner.receiver.take("/echo").pop().unwrap();
    assert!(!sent.body.contains("Lovelace"), "{}", sent.body);
    partner.app.db.close().await;
}
