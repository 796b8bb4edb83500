//! Deliveries: at least once, in order for one subject, on schedule, and held back by nothing else.

use super::Partner;
use crate::api::fundraisers::donate;
use crate::world::World;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases!(
    events_arrive_in_order_with_what_happened,
    a_failing_event_holds_back_only_those_of_its_subject,
    a_dead_endpoint_fails_is_disabled_and_can_be_replayed,
    a_receiver_that_is_gone_is_disabled_and_one_that_asks_for_a_pause_gets_it,
    an_event_is_sent_again_with_the_same_id,
    a_lease_that_lapsed_is_taken_over,
    the_partner_format_is_flat_and_has_a_fixed_token,
    a_suspended_account_gets_nothing,
    servers_that_disable_endpoints_of_one_account_do_not_block_each_other,
);

fn types(received: &[super::Received]) -> Vec<String> {
    received
        .iter()
        .map(|received| received.json()["type"].as_str().unwrap().to_owned())
        .collect()
}

async fn events_arrive_in_order_with_what_happened(world: &World) {
    let partner = Partner::new(world).await;
    partner.create("/all", json!({})).await;
    partner
        .create("/donations", json!({"events": ["donation.succeeded"]}))
        .await;
    let fundraiser = partner.organizer.create_fundraiser(json!({"goal": 1_000})).await;
    donate(world, &fundraiser, "p-1", "ana", 400).await.unwrap();
    donate(world, &fundraiser, "p-2", "ben", 700).await.unwrap();
    partner.deliver().await;
    let all = partner.receiver.take("/all");
    let mut sorted = types(&all);
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "donation.succeeded",
            "donation.succeeded",
            "fundraiser.created",
            "fundraiser.goal_reached"
        ]
    );
    let of_fundraiser: Vec<_> = types(&all)
        .into_iter()
        .filter(|name| name.starts_with("fundraiser"))
        .collect();
    assert_eq!(of_fundraiser, ["fundraiser.created", "fundraiser.goal_reached"]);
    let mut donations = partner.receiver.take("/donations");
    assert_eq!(donations.len(), 2);
    donations.sort_by_key(|received| received.json()["data"]["amount"].as_i64());
    let data = &donations[0].json()["data"];
    assert_eq!(
        (&data["amount"], &data["status"], &data["livemode"]),
        (&json!(400), &json!("succeeded"), &json!(true))
    );
    assert_eq!(data["fundraiser"]["id"], fundraiser["id"]);
    assert_eq!(data["nonprofits"][0]["ein"], "530196605");
    assert_eq!(data["nonprofits"][0]["amount"], 400);
    assert_eq!(
        (&data["donor"], &data["frequency"]),
        (&Value::Null, &json!("once"))
    );
    // The same event has the same ID for both endpoints, and in the log.
    let id = donations[0].id();
    assert!(
        all.iter()
            .any(|received| received.id() == id && received.body == donations[0].body)
    );
    let events = partner
        .get(200, "/v0.2/events?type=donation.succeeded")
        .await
        .json;
    assert_eq!(events["events"][0]["id"], id);
    assert_eq!(events["events"][0]["data"], *data);
    let donation = partner
        .get(200, &format!("/v0.2/donation/{}", data["id"].as_str().unwrap()))
        .await
        .json;
    assert_eq!(donation, *data);
    partner.app.db.close().await;
}

async fn a_failing_event_holds_back_only_those_of_its_subject(world: &World) {
    let partner = Partner::new(world).await;
    let endpoint = partner.create("/hook", json!({})).await;
    partner.deliver().await;
    partner.receiver.answer("/hook", "500 Oops");
    let one = partner.organizer.create_fundraiser(json!({"title": "One"})).await;
    partner.deliver().await;
    assert_eq!(types(&partner.receiver.take("/hook")), ["fundraiser.created"]);
    partner.receiver.answer("/hook", "200 OK");
    // The first fundraiser waits five seconds, and what happens to it waits too.
    let close = format!("/v0.2/fundraiser/{}/close", one["id"].as_str().unwrap());
    partner.post(200, &close, &json!({})).await;
    partner.organizer.create_fundraiser(json!({"title": "Two"})).await;
    partner.deliver().await;
    let received = partner.receiver.take("/hook");
    // The success releases what waited for its next attempt.
    let titles: Vec<_> = received
        .iter()
        .map(|received| received.json()["data"]["title"].clone())
        .collect();
    assert_eq!(titles, ["Two", "One", "One"]);
    assert_eq!(
        types(&received),
        ["fundraiser.created", "fundraiser.created", "fundraiser.closed"]
    );
    let path = format!("/v0.2/webhook/{}", endpoint["id"].as_str().unwrap());
    let deliveries = partner.get(200, &format!("{path}/deliveries")).await.json;
    let statuses: Vec<_> = deliveries["deliveries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["status"].clone())
        .collect();
    assert_eq!(statuses, ["delivered", "delivered", "delivered"]);
    assert_eq!(deliveries["deliveries"][2]["attempts"], 2);
    partner.app.db.close().await;
}

async fn a_dead_endpoint_fails_is_disabled_and_can_be_replayed(world: &World) {
    let partner = Partner::new(world).await;
    let endpoint = partner.create("/dead", json!({})).await;
    partner.create("/alive", json!({})).await;
    let path = format!("/v0.2/webhook/{}", endpoint["id"].as_str().unwrap());
    partner.receiver.answer("/dead", "500 Oops");
    for title in 0..12 {
        partner
            .organizer
            .create_fundraiser(json!({"title": format!("Run {title}")}))
            .await;
    }
    partner.deliver().await;
    assert_eq!(partner.receiver.take("/alive").len(), 12);
    // Ten failures in a row: from now on only the oldest is tried.
    partner.deliver().await;
    let failing = partner.get(200, &path).await.json;
    assert_eq!(failing["status"], "failing");
    let tried = partner.receiver.take("/dead").len();
    assert!((10..=12).contains(&tried), "{tried}");
    let mut attempts = 0;
    for _ in 0..6 {
        world.app.clock.advance(Duration::from_hours(25));
        partner.deliver().await;
        let received = partner.receiver.take("/dead");
        assert!(received.len() <= 1);
        attempts += received.len();
    }
    assert!(attempts >= 4, "{attempts}");
    let disabled = partner.get(200, &path).await.json;
    assert_eq!(disabled["status"], "disabled");
    assert_eq!(disabled["disabledReason"], "Every attempt failed for five days.");
    partner
        .organizer
        .create_fundraiser(json!({"title": "Missed"}))
        .await;
    world.app.clock.advance(Duration::from_hours(48));
    partner.deliver().await;
    assert_eq!(partner.receiver.take("/dead").len(), 0);
    partner.receiver.answer("/dead", "200 OK");
    let since = json!({"since": platform::clock::rfc3339(world.app.clock.millis() - 30 * 24 * 3_600_000)});
    let refused = partner.post(400, &format!("{path}/replay"), &since).await;
    assert_eq!(crate::api::fundraisers::fields(&refused), ["status"]);
    partner.post(200, &format!("{path}/enable"), &json!({})).await;
    let replayed = partner.post(200, &format!("{path}/replay"), &since).await.json;
    assert!(replayed["events"].as_i64().unwrap() >= 13, "{replayed}");
    partner.deliver().await;
    let received = partner.receiver.take("/dead");
    let mut titles: Vec<_> = received
        .iter()
        .filter_map(|received| received.json()["data"]["title"].as_str().map(str::to_owned))
        .collect();
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), 13);
    partner.app.db.close().await;
}

async fn a_receiver_that_is_gone_is_disabled_and_one_that_asks_for_a_pause_gets_it(world: &World) {
    let partner = Partner::new(world).await;
    let gone = partner.create("/gone", json!({})).await;
    let busy = partner.create("/busy", json!({})).await;
    partner.receiver.answer("/gone", "410 Gone");
    partner.receiver.answer("/busy", "429 Busy\r\nRetry-After: 3600");
    let now = world.app.clock.millis();
    partner.organizer.create_fundraiser(json!({})).await;
    partner.deliver().await;
    let status = async |endpoint: &Value| {
        let path = format!("/v0.2/webhook/{}", endpoint["id"].as_str().unwrap());
        partner.get(200, &path).await.json["status"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (status(&gone).await.as_str(), status(&busy).await.as_str()),
        ("disabled", "enabled")
    );
    let path = format!("/v0.2/webhook/{}/deliveries", busy["id"].as_str().unwrap());
    let delivery = partner.get(200, &path).await.json["deliveries"][0].clone();
    let next: jiff::Timestamp = delivery["nextAttemptAt"].as_str().unwrap().parse().unwrap();
    assert!(next.as_millisecond() >= now + 3_600_000, "{delivery}");
    assert_eq!(delivery["lastAttempt"]["responseStatus"], 429);
    partner.app.db.close().await;
}

async fn an_event_is_sent_again_with_the_same_id(world: &World) {
    let partner = Partner::new(world).await;
    let endpoint = partner.create("/hook", json!({})).await;
    let path = format!("/v0.2/webhook/{}/deliveries", endpoint["id"].as_str().unwrap());
    partner.organizer.create_fundraiser(json!({})).await;
    partner.deliver().await;
    let first = partner.receiver.take("/hook").pop().unwrap();
    let delivery = partner.get(200, &path).await.json["deliveries"][0].clone();
    assert_eq!(
        (&delivery["eventId"], &delivery["status"]),
        (&json!(first.id()), &json!("delivered"))
    );
    let retry = format!("{path}/{}/retry", delivery["id"].as_str().unwrap());
    let waiting = partner.post(200, &retry, &json!({})).await.json;
    assert_eq!(waiting["status"], "waiting");
    partner.deliver().await;
    let again = partner.receiver.take("/hook").pop().unwrap();
    assert_eq!((again.id(), &again.body), (first.id(), &first.body));
    partner.app.db.close().await;
}

async fn a_lease_that_lapsed_is_taken_over(world: &World) {
    let partner = Partner::new(world).await;
    partner.create("/hook", json!({})).await;
    partner.organizer.create_fundraiser(json!({})).await;
    while partner.app.fan_out_events().await.unwrap() {}
    // Another server leases the event and dies.
    let mut other = partner.app.event_sender();
    other.round().await.unwrap();
    drop(other);
    partner.receiver.take("/hook");
    partner.deliver().await;
    assert_eq!(partner.receiver.take("/hook").len(), 0, "it is leased");
    world.app.clock.advance(Duration::from_mins(2));
    partner.deliver().await;
    assert_eq!(partner.receiver.take("/hook").len(), 1);
    partner.app.db.close().await;
}

async fn the_partner_format_is_flat_and_has_a_fixed_token(world: &World) {
    let partner = Partner::new(world).await;
    let created = partner
        .create(
            "/hook",
            json!({"format": "partner", "bearerToken": "Bearer s3cret"}),
        )
        .await;
    assert_eq!(
        (&created["events"], &created["hasBearerToken"]),
        (&json!(["donation.succeeded"]), &json!(true))
    );
    let fundraiser = partner.organizer.create_fundraiser(json!({})).await;
    donate(world, &fundraiser, "p-1", "ana", 2_505).await.unwrap();
    partner.deliver().await;
    let received = partner.receiver.take("/hook").pop().unwrap();
    assert_eq!(received.headers["authorization"], "Bearer s3cret");
    assert!(received.verify(created["secret"].as_str().unwrap()));
    let body = received.json();
    for (name, value) in [
        ("amount", json!("25.05")),
        ("netAmount", json!("25.05")),
        ("currency", json!("USD")),
        ("frequency", json!("One-time")),
        ("partnerMetadata", json!({})),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    assert_eq!(body["toNonprofit"]["ein"], "530196605");
    assert_eq!(body["fromFundraiser"]["id"], fundraiser["id"]);
    assert!(body["donationDate"].as_str().unwrap().ends_with('Z') && body["chargeId"].is_string());
    let text = partner.get(200, "/v0.2/webhooks").await.text();
    assert!(!text.contains("s3cret"), "{text}");
    partner.app.db.close().await;
}

async fn a_suspended_account_gets_nothing(world: &World) {
    let partner = Partner::new(world).await;
    partner.create("/hook", json!({})).await;
    partner.organizer.create_fundraiser(json!({})).await;
    let actor = access::audit::Actor::Command;
    let account = access::accounts::store::find_by_id(&world.app.db, world.account).await;
    let account = account.unwrap().unwrap();
    let moderation = partner.app.moderation();
    moderation.suspend(&account, "spam", actor).await.unwrap();
    partner.deliver().await;
    assert_eq!(partner.receiver.take("/hook").len(), 0);
    let now = world.app.clock.millis();
    access::accounts::suspension::restore(&world.app.db, (world.account, "ada"), actor, now)
        .await
        .unwrap();
    partner.deliver().await;
    assert_eq!(
        types(&partner.receiver.take("/hook")),
        ["fundraiser.created", "fundraiser.closed"]
    );
    partner.app.db.close().await;
}

async fn servers_that_disable_endpoints_of_one_account_do_not_block_each_other(world: &World) {
    let partner = Partner::new(world).await;
    let set_email = "update accounts set email = 'ada@example.org' where username = 'ada'";
    world.execute(set_email).await;
    let one = partner.organizer.create_fundraiser(json!({"title": "One"})).await;
    while partner.app.fan_out_events().await.unwrap() {}
    partner.receiver.answer("/gone", "410 Gone");
    partner
        .create("/gone", json!({"events": ["fundraiser.created"]}))
        .await;
    partner.create("/gone", json!({})).await;
    // The first server sends to both endpoints, and the second one to the second endpoint.
    let (mut first, mut second) = (partner.app.event_sender(), partner.app.event_sender());
    partner.organizer.create_fundraiser(json!({"title": "Two"})).await;
    while partner.app.fan_out_events().await.unwrap() {}
    first.round().await.unwrap();
    let close = format!("/v0.2/fundraiser/{}/close", one["id"].as_str().unwrap());
    partner.post(200, &close, &json!({})).await;
    while partner.app.fan_out_events().await.unwrap() {}
    second.round().await.unwrap();
    first.ended().await;
    first.ended().await;
    second.ended().await;
    // Each locks what it records: endpoints, and the limit on emails to their owner.
    let (first, second) = tokio::join!(first.round(), second.round());
    first.unwrap();
    second.unwrap();
    assert_eq!(
        world.texts("select status from webhook_endpoints").await,
        ["disabled", "disabled"]
    );
    let emails = "select lines || sent_at from notice_windows where kind = 'webhook-disabled'";
    assert_eq!(world.texts(emails).await.len(), 1);
    partner.app.db.close().await;
}
