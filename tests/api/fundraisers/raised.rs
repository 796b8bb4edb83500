//! `GET /v0.2/nonprofit/{nonprofit}/fundraiser/{fundraiser}/raised`, and the donations and refunds behind it.

use super::{NYU, Organizer, PENN, RED_CROSS, SPECIAL, assert_ledger, donate, id_of};
use crate::world::World;
use giving::donations::{
    DonationError, Label, Recipient, RecipientName, RecordedEntry, Refund, find_recipient,
};
use giving::ledger::writer::{WriteError, Writer};
use platform::money::Cents;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

on_both_databases!(
    a_new_fundraiser_has_raised_nothing,
    donations_and_offline_amounts_are_summed_immediately,
    a_donation_delivered_twice_is_recorded_once,
    a_donation_to_several_nonprofits_is_split_and_the_shares_add_up,
    a_refund_is_its_own_entry_and_never_exceeds_the_donation,
    a_donation_needs_a_fundraiser_of_its_nonprofit,
    a_donation_recorded_by_another_process_appears_after_a_refresh,
    concurrent_donations_on_two_servers_leave_no_gap_and_lose_nothing,
    hundreds_of_concurrent_donations_are_all_counted,
    every_event_has_an_outbox_row,
    a_panicking_write_fails_alone_and_the_writer_survives,
    a_canceled_write_is_not_run,
);

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

pub async fn refund_donation(
    world: &World,
    external_id: &str,
    cents: Option<i64>,
    refund_id: Option<&str>,
) -> Result<RecordedEntry, DonationError> {
    let request = Refund {
        source: label("test"),
        external_id: label(external_id),
        amount: cents.map(Cents::new),
        refund_id: refund_id.map(label),
    };
    world.app.giving.recorder.refund(request).await
}

/// Creates a fundraiser for three nonprofits with equal weights.
async fn create_for_several(organizer: &Organizer) -> Value {
    let body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": ([NYU, RED_CROSS, PENN].map(id_of))});
    organizer.create(200, &body).await.json["data"]["fundraiser"].clone()
}

const NONPROFIT_POSTINGS: &str = "select cast(sum(amount) as text) from ledger_postings where party = 'nonprofit' group by position order by position";
const SUM_OF_POSTINGS: &str = "select cast(sum(amount) as text) from ledger_postings";

async fn a_new_fundraiser_has_raised_nothing(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    assert_eq!(
        organizer.raised(&created).await,
        json!({
            "currency": "USD", "raised": 0, "supporters": 0, "goalAmount": 100_000, "goalType": "AUTOMATIC",
            "livemode": false
        })
    );
    let custom = organizer.create_fundraiser(json!({"goal": 1})).await;
    assert_eq!(
        organizer.raised(&custom).await,
        json!({
            "currency": "USD", "raised": 0, "supporters": 0, "goalAmount": 1, "goalType": "CUSTOM",
            "livemode": false
        })
    );
}

async fn donations_and_offline_amounts_are_summed_immediately(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer
        .create_fundraiser(json!({"raisedOffline": 400_000}))
        .await;
    assert_eq!(organizer.raised(&created).await["raised"], 400_000);
    assert_eq!(organizer.raised(&created).await["supporters"], 0);
    for (external_id, donor, cents) in [("p-1", "ana", 60_000), ("p-2", "ben", 2_400), ("p-3", "ana", 100)] {
        let before = organizer.raised(&created).await["raised"].as_i64().unwrap();
        let recorded = donate(world, &created, external_id, donor, cents).await.unwrap();
        assert!(recorded.is_new);
        let raised = organizer.raised(&created).await;
        assert_eq!(raised["raised"], before + cents);
        assert_eq!(recorded.totals.unwrap().raised.get(), before + cents);
    }
    assert_eq!(
        organizer.raised(&created).await,
        json!({
            "currency": "USD", "raised": 462_500, "supporters": 2, "goalAmount": 750_000, "goalType": "AUTOMATIC",
            "livemode": false
        })
    );
    assert_ledger(world, 4).await;
}

async fn a_donation_delivered_twice_is_recorded_once(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let first = donate(world, &created, "p-1", "ana", 500).await.unwrap();
    let again = donate(world, &created, "p-1", "ana", 500).await.unwrap();
    assert_eq!(
        (again.sequence, again.is_new, again.totals),
        (first.sequence, false, first.totals)
    );
    for (donor, cents) in [("ana", 501), ("ben", 500)] {
        let refused = donate(world, &created, "p-1", donor, cents).await.unwrap_err();
        assert!(matches!(refused, DonationError::Conflict { .. }), "{refused}");
        assert!(
            refused.to_string().contains("entry 1, a donation of $5.00"),
            "{refused}"
        );
    }
    assert_eq!(organizer.raised(&created).await["raised"], 500);
    assert_ledger(world, 1).await;
}

async fn a_donation_to_several_nonprofits_is_split_and_the_shares_add_up(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = create_for_several(&organizer).await;
    donate(world, &created, "p-1", "ana", 100).await.unwrap();
    assert_eq!(world.texts(NONPROFIT_POSTINGS).await, ["34", "33", "33"]);
    donate(world, &created, "p-2", "ben", 101).await.unwrap();
    assert_eq!(world.texts(NONPROFIT_POSTINGS).await, ["68", "67", "66"]);
    assert_eq!(world.texts(SUM_OF_POSTINGS).await, ["0"]);
    assert_eq!(organizer.raised(&created).await["raised"], 201);
    assert_ledger(world, 2).await;
}

async fn a_refund_is_its_own_entry_and_never_exceeds_the_donation(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = create_for_several(&organizer).await;
    donate(world, &created, "p-1", "ana", 1_000).await.unwrap();
    donate(world, &created, "p-2", "ben", 500).await.unwrap();
    let part = refund_donation(world, "p-1", Some(301), None).await.unwrap();
    assert_eq!((part.amount, part.is_new), (Cents::new(-301), true));
    assert_eq!(
        (
            &organizer.raised(&created).await["raised"],
            &organizer.raised(&created).await["supporters"]
        ),
        (&json!(1_199), &json!(2))
    );
    assert!(
        !refund_donation(world, "p-1", Some(301), None)
            .await
            .unwrap()
            .is_new
    );
    assert!(matches!(
        refund_donation(world, "p-1", Some(302), None).await,
        Err(DonationError::Conflict { .. })
    ));
    assert!(matches!(
        refund_donation(world, "p-1", Some(700), Some("r-2")).await,
        Err(DonationError::MoreThanLeft { left }) if left == Cents::new(699)
    ));
    refund_donation(world, "p-1", None, Some("r-2")).await.unwrap();
    assert!(
        !refund_donation(world, "p-1", None, Some("r-2"))
            .await
            .unwrap()
            .is_new
    );
    assert!(matches!(
        refund_donation(world, "p-1", None, Some("r-3")).await,
        Err(DonationError::MoreThanLeft { left }) if left == Cents::new(0)
    ));
    assert!(matches!(
        refund_donation(world, "p-9", None, None).await,
        Err(DonationError::NoSuchDonation { .. })
    ));
    assert!(matches!(
        refund_donation(world, "r-2", None, None).await,
        Err(DonationError::NoSuchDonation { .. })
    ));
    let raised = organizer.raised(&created).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"]),
        (&json!(500), &json!(1))
    );
    assert_eq!(world.texts(SUM_OF_POSTINGS).await, ["0"]);
    assert_ledger(world, 4).await;
}

async fn a_donation_needs_a_fundraiser_of_its_nonprofit(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let mut elsewhere = created.clone();
    elsewhere["nonprofitId"] = json!(id_of(NYU));
    assert!(matches!(
        donate(world, &elsewhere, "p-1", "ana", 5).await,
        Err(DonationError::NoSuchFundraiser(_))
    ));
    elsewhere["nonprofitId"] = json!("nobody-at-all");
    assert!(matches!(
        donate(world, &elsewhere, "p-1", "ana", 5).await,
        Err(DonationError::NoSuchNonprofit(_))
    ));
    let plain = json!({"nonprofitId": id_of(NYU)});
    assert_eq!(donate(world, &plain, "p-1", "ana", 5).await.unwrap().totals, None);
    assert!(
        donate(world, &json!({"nonprofitId": SPECIAL}), "p-2", "ana", 5)
            .await
            .is_err()
    );
    assert_ledger(world, 1).await;
}

async fn a_donation_recorded_by_another_process_appears_after_a_refresh(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let (other, client) = world.restart().await;
    let elsewhere = organizer.at(&client);
    assert_eq!(elsewhere.raised(&created).await["raised"], 0);
    donate(world, &created, "p-1", "ana", 500).await.unwrap();
    if matches!(world.app.db, platform::db::Db::Sqlite { .. }) {
        assert_eq!(
            elsewhere.raised(&created).await["raised"],
            500,
            "SQLite notices the change without a refresh"
        );
    }
    organizer
        .write(
            200,
            &axum::http::Method::PATCH,
            &format!("/v0.2/fundraiser/{}", created["id"].as_str().unwrap()),
            r#"{"goal": 5}"#,
            &[],
        )
        .await;
    other.giving.fundraisers.refresh().await.unwrap();
    let raised = elsewhere.raised(&created).await;
    assert_eq!(
        (&raised["raised"], &raised["goalAmount"]),
        (&json!(500), &json!(5))
    );
    other.db.close().await;
}

async fn spring_run(world: &World) -> Recipient {
    let name = RecipientName::parse(RED_CROSS, Some("spring-run")).unwrap();
    find_recipient(&world.app.db, &world.app.directory, &name)
        .await
        .unwrap()
}

async fn concurrent_donations_on_two_servers_leave_no_gap_and_lose_nothing(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let (other, _) = world.restart().await;
    let to = spring_run(world).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..120 {
        let app = if number % 2 == 0 {
            world.app.clone()
        } else {
            other.clone()
        };
        let donation = giving::donations::NewDonation {
            source: label("test"),
            // Each donation is delivered three times.
            external_id: label(&format!("p-{}", number % 40)),
            mode: giving::ledger::entry::Mode::Live,
            to: to.clone(),
            amount: Cents::new(100),
            donor: label(&format!("d-{}", number % 10)),
            name: None,
            is_public: false,
        };
        tasks.spawn(async move { app.giving.recorder.record(donation).await.unwrap().is_new });
    }
    let new = tasks
        .join_all()
        .await
        .into_iter()
        .filter(|is_new| *is_new)
        .count();
    assert_eq!(new, 40);
    let raised = organizer.raised(&created).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"]),
        (&json!(4_000), &json!(10))
    );
    assert_ledger(world, 40).await;
    other.db.close().await;
}

async fn hundreds_of_concurrent_donations_are_all_counted(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let mut tasks = tokio::task::JoinSet::new();
    let to = spring_run(world).await;
    for number in 0..700 {
        let app = world.app.clone();
        let donation = giving::donations::NewDonation {
            source: label("test"),
            external_id: label(&format!("p-{number}")),
            mode: giving::ledger::entry::Mode::Live,
            to: to.clone(),
            amount: Cents::new(number + 1),
            donor: label(&format!("d-{}", number % 300)),
            name: (number % 3 == 0).then(|| label("Ana")),
            is_public: number % 2 == 0,
        };
        tasks.spawn(async move { app.giving.recorder.record(donation).await.unwrap().is_new });
    }
    assert!(tasks.join_all().await.into_iter().all(|is_new| is_new));
    let raised = organizer.raised(&created).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"]),
        (&json!(700 * 701 / 2), &json!(300))
    );
    assert_eq!(world.texts("select name from donor_names").await.len(), 234);
    assert_ledger(world, 700).await;
}

async fn every_event_has_an_outbox_row(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"raisedOffline": 7})).await;
    donate(world, &created, "p-1", "ana", 500).await.unwrap();
    refund_donation(world, "p-1", None, None).await.unwrap();
    let id = created["id"].as_str().unwrap();
    organizer
        .write(
            200,
            &axum::http::Method::PATCH,
            &format!("/v0.2/fundraiser/{id}"),
            r#"{"title": "New"}"#,
            &[],
        )
        .await;
    organizer
        .write(
            200,
            &axum::http::Method::POST,
            &format!("/v0.2/fundraiser/{id}/close"),
            "",
            &[],
        )
        .await;
    organizer
        .write(
            200,
            &axum::http::Method::POST,
            &format!("/v0.2/fundraiser/{id}/reopen"),
            "",
            &[],
        )
        .await;
    assert_eq!(
        world.texts("select kind from outbox order by sequence").await,
        [
            "offline",
            "fundraiser_created",
            "donation",
            "refund",
            "fundraiser_changed",
            "fundraiser_closed",
            "fundraiser_reopened"
        ]
    );
    let facts = world
        .texts("select body from outbox where kind = 'donation'")
        .await;
    let fact: Value = serde_json::from_str(&facts[0]).unwrap();
    assert_eq!(
        (&fact["amount"], &fact["fundraiserId"], &fact["mode"]),
        (&json!(500), &created["id"], &json!("live"))
    );
    assert!(!facts[0].contains("ana"), "the donor is revealed: {}", facts[0]);
}

async fn a_panicking_write_fails_alone_and_the_writer_survives(world: &World) {
    let writer = Writer::start(world.app.db.clone());
    let succeed = || writer.run::<_, WriteError>(|_| Box::pin(async { Ok(7) }));
    let panic = writer.run::<(), WriteError>(|_| Box::pin(async { panic!("on purpose") }));
    let (first, panicked, second) = tokio::join!(succeed(), panic, succeed());
    assert_eq!((first.unwrap(), second.unwrap()), (7, 7));
    assert!(panicked.is_err());
    assert_eq!(succeed().await.unwrap(), 7);
}

async fn a_canceled_write_is_not_run(world: &World) {
    let writer = Writer::start(world.app.db.clone());
    let (started, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let blocked = tokio::spawn({
        let (writer, started, gate) = (writer.clone(), Arc::clone(&started), Arc::clone(&gate));
        async move {
            writer
                .run::<_, WriteError>(move |_| {
                    let (started, gate) = (Arc::clone(&started), Arc::clone(&gate));
                    Box::pin(async move {
                        started.notify_one();
                        gate.notified().await;
                        Ok(())
                    })
                })
                .await
        }
    });
    started.notified().await;
    let has_run = Arc::new(AtomicBool::new(false));
    let canceled = writer.run::<_, WriteError>({
        let has_run = Arc::clone(&has_run);
        move |_| {
            has_run.store(true, Ordering::SeqCst);
            Box::pin(async { Ok(()) })
        }
    });
    assert!(
        tokio::time::timeout(Duration::from_millis(1), canceled)
            .await
            .is_err()
    );
    gate.notify_one();
    blocked.await.unwrap().unwrap();
    writer
        .run::<_, WriteError>(|_| Box::pin(async { Ok(()) }))
        .await
        .unwrap();
    assert!(!has_run.load(Ordering::SeqCst));
}
