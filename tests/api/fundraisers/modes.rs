//! Live and test donations: totals by mode, and which of them a server counts.

use super::raised::refund_donation;
use super::{Organizer, RED_CROSS, assert_ledger, donate, donate_in};
use crate::world::World;
use giving::check::check;
use giving::donations::DonationError;
use giving::ledger::entry::{Mode, Totals};
use giving::providers::Provider;
use platform::money::Cents;
use serde_json::{Value, json};

on_both_databases!(
    a_server_counts_test_donations_only_in_test_mode,
    a_refund_has_the_mode_of_its_donation,
    a_donation_is_live_or_test_but_not_both,
    every_entry_and_event_has_a_mode,
);

const LINK: &str = "https://pay.example.org/";

fn totals(raised: i64, supporters: i64) -> Totals {
    Totals {
        raised: Cents::new(raised),
        supporters,
    }
}

async fn a_server_counts_test_donations_only_in_test_mode(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"raisedOffline": 1_000})).await;
    assert_eq!(created["livemode"], false);
    donate(world, &created, "p-1", "ana", 500).await.unwrap();
    // Ten billion dollars that nobody paid.
    for (external_id, donor, cents) in [
        ("t-1", "ana", 1_000_000_000_000),
        ("t-2", "ben", 7),
        ("t-3", "ana", 5),
    ] {
        let recorded = donate_in(Mode::Test, world, &created, external_id, donor, cents).await;
        assert_eq!(recorded.unwrap().mode, Mode::Test);
    }
    let recorded = donate(world, &created, "p-2", "ben", 250).await.unwrap();
    assert_eq!(
        recorded.totals,
        Some(totals(1_750, 2)),
        "totals of the mode of the entry"
    );
    // A test donor and a live donor are different supporters.
    let raised = organizer.raised(&created).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"], &raised["livemode"]),
        (&json!(1_000_000_001_762_i64), &json!(4), &json!(false))
    );
    let path = format!("{RED_CROSS}/fundraiser/{}", created["slug"].as_str().unwrap());
    for provider in [Provider::Link(LINK.to_owned()), Provider::Off] {
        let (app, client) = world.with_provider(provider).await;
        let elsewhere = organizer.at(&client);
        assert_eq!(
            elsewhere.raised(&created).await,
            json!({
                "currency": "USD", "raised": 1_750, "supporters": 2, "goalAmount": 100_000, "goalType": "AUTOMATIC",
                "livemode": true
            })
        );
        let detail = elsewhere.read(200, &path).await.json;
        assert_eq!(detail["data"]["fundraiser"]["livemode"], true);
        let new = elsewhere.create_fundraiser(json!({})).await;
        assert_eq!(new["livemode"], true);
        app.db.close().await;
    }
    let detail = organizer.read(200, &path).await.json;
    assert_eq!(detail["data"]["fundraiser"]["livemode"], false);
    assert_ledger(world, 6).await;
    let check = check(&world.app.db).await.unwrap();
    assert_eq!(
        (check.live, check.live_and_test),
        (totals(1_750, 2), totals(1_000_000_001_762, 4))
    );
}

async fn a_refund_has_the_mode_of_its_donation(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    donate(world, &created, "p-1", "ana", 500).await.unwrap();
    donate_in(Mode::Test, world, &created, "t-1", "ana", 900)
        .await
        .unwrap();
    let refunded = refund_donation(world, "t-1", Some(300), None).await.unwrap();
    assert_eq!(
        (refunded.mode, refunded.totals),
        (Mode::Test, Some(totals(600, 1)))
    );
    let (app, client) = world.with_provider(Provider::Off).await;
    let live = organizer.at(&client);
    assert_eq!(live.raised(&created).await["raised"], 500);
    let refunded = refund_donation(world, "t-1", None, Some("r-2")).await.unwrap();
    assert_eq!(refunded.totals, Some(totals(0, 0)));
    let refunded = refund_donation(world, "p-1", Some(100), None).await.unwrap();
    assert_eq!(
        (refunded.mode, refunded.totals),
        (Mode::Live, Some(totals(400, 1)))
    );
    app.giving.fundraisers.refresh().await.unwrap();
    assert_eq!(live.raised(&created).await["raised"], 400);
    assert_eq!(organizer.raised(&created).await["supporters"], 1);
    app.db.close().await;
    assert_ledger(world, 5).await;
}

async fn a_donation_is_live_or_test_but_not_both(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let mut first = donate_in(Mode::Test, world, &created, "p-1", "ana", 500)
        .await
        .unwrap();
    let again = donate_in(Mode::Test, world, &created, "p-1", "ana", 500).await;
    first.is_new = false;
    assert_eq!(again.unwrap(), first);
    let refused = donate(world, &created, "p-1", "ana", 500).await.unwrap_err();
    assert!(matches!(refused, DonationError::Conflict { .. }), "{refused}");
    assert!(
        refused.to_string().contains("entry 1, a test donation of $5.00"),
        "{refused}"
    );
    assert_ledger(world, 1).await;
}

async fn every_entry_and_event_has_a_mode(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"raisedOffline": 7})).await;
    donate_in(Mode::Test, world, &created, "t-1", "ana", 500)
        .await
        .unwrap();
    refund_donation(world, "t-1", None, None).await.unwrap();
    donate(world, &created, "p-1", "ana", 500).await.unwrap();
    let expected = ["offline live", "donation test", "refund test", "donation live"];
    let entries = world
        .texts("select kind || ' ' || mode from ledger_entries order by sequence")
        .await;
    assert_eq!(entries, expected);
    let events = world
        .texts("select body from outbox where kind <> 'fundraiser_created' order by sequence")
        .await;
    let events: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let modes: Vec<&Value> = events.iter().map(|event| &event["mode"]).collect();
    assert_eq!(modes, ["live", "test", "test", "live"]);
    // Totals in an event are those of its mode.
    assert_eq!(
        (&events[2]["raised"], &events[3]["raised"]),
        (&json!(0), &json!(507))
    );
    let mut out = Vec::new();
    giving::export::export(&world.app.db, giving::export::Format::JsonLines, &mut out)
        .await
        .unwrap();
    let exported: Vec<String> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            format!(
                "{} {}",
                line["kind"].as_str().unwrap(),
                line["mode"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(exported, expected);
}
