//! `GET .../raised`, and the gifts and refunds behind it.

use super::{NYU, Organiser, PENN, RED_CROSS, SPECIAL, assert_sound, give, id_of};
use crate::world::World;
use causeway::donations::{Label, Recorded, Refund, Refused, refund};
use causeway::money::Cents;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

on_both_databases!(
    a_new_fundraiser_has_raised_nothing,
    gifts_and_what_came_in_elsewhere_add_up_at_once,
    a_gift_delivered_twice_is_recorded_once,
    a_gift_to_several_is_shared_and_the_shares_add_up,
    a_refund_is_an_entry_of_its_own_and_no_more_than_was_given,
    a_gift_needs_a_fundraiser_of_its_nonprofit,
    what_another_process_records_shows_at_the_next_look,
    many_at_once_on_two_servers_leave_no_gap_and_lose_nothing,
    a_crowd_that_gives_at_once_is_counted_to_the_last_one,
    every_fact_is_in_the_outbox_too,
    work_that_panics_fails_alone_and_the_writer_lives_on,
    what_nobody_waits_for_any_more_is_not_written,
);

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

async fn take_back(
    world: &World,
    external_id: &str,
    cents: Option<i64>,
    own: Option<&str>,
) -> Result<Recorded, Refused> {
    let back = Refund {
        source: label("test"),
        external_id: label(external_id),
        amount: cents.map(Cents),
        refund_id: own.map(label),
    };
    refund(&world.app, back).await
}

/// Several nonprofits with weights 1, 1 and 1.
async fn for_several(organiser: &Organiser) -> Value {
    let body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": ([NYU, RED_CROSS, PENN].map(id_of))});
    organiser.create(200, &body).await.json["data"]["fundraiser"].clone()
}

const NONPROFIT_LEGS: &str = "select cast(sum(amount) as text) from journal_legs where party = 'nonprofit' group by position order by position";
const SUM_OF_LEGS: &str = "select cast(sum(amount) as text) from journal_legs";

async fn a_new_fundraiser_has_raised_nothing(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    assert_eq!(
        organiser.raised(&made).await,
        json!({
            "currency": "USD", "raised": 0, "supporters": 0, "goalAmount": 100_000, "goalType": "AUTOMATIC"
        })
    );
    let set = organiser.make(json!({"goal": 1})).await;
    assert_eq!(
        organiser.raised(&set).await,
        json!({
            "currency": "USD", "raised": 0, "supporters": 0, "goalAmount": 1, "goalType": "CUSTOM"
        })
    );
}

async fn gifts_and_what_came_in_elsewhere_add_up_at_once(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({"raisedOffline": 400_000})).await;
    assert_eq!(organiser.raised(&made).await["raised"], 400_000);
    assert_eq!(organiser.raised(&made).await["supporters"], 0);
    for (external_id, donor, cents) in [("p-1", "ana", 60_000), ("p-2", "ben", 2_400), ("p-3", "ana", 100)] {
        let before = organiser.raised(&made).await["raised"].as_i64().unwrap();
        let recorded = give(world, &made, external_id, donor, cents).await.unwrap();
        assert!(recorded.is_new);
        let raised = organiser.raised(&made).await;
        assert_eq!(raised["raised"], before + cents);
        assert_eq!(recorded.totals.unwrap().raised.0, before + cents);
    }
    assert_eq!(
        organiser.raised(&made).await,
        json!({
            "currency": "USD", "raised": 462_500, "supporters": 2, "goalAmount": 750_000, "goalType": "AUTOMATIC"
        })
    );
    assert_sound(world, 4).await;
}

async fn a_gift_delivered_twice_is_recorded_once(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    let first = give(world, &made, "p-1", "ana", 500).await.unwrap();
    let again = give(world, &made, "p-1", "ana", 500).await.unwrap();
    assert_eq!(
        (again.sequence, again.is_new, again.totals),
        (first.sequence, false, first.totals)
    );
    for (donor, cents) in [("ana", 501), ("ben", 500)] {
        let refused = give(world, &made, "p-1", donor, cents).await.unwrap_err();
        assert!(matches!(refused, Refused::Conflict { .. }), "{refused}");
        assert!(
            refused.to_string().contains("entry 1, a gift of $5.00"),
            "{refused}"
        );
    }
    assert_eq!(organiser.raised(&made).await["raised"], 500);
    assert_sound(world, 1).await;
}

async fn a_gift_to_several_is_shared_and_the_shares_add_up(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = for_several(&organiser).await;
    give(world, &made, "p-1", "ana", 100).await.unwrap();
    assert_eq!(world.texts(NONPROFIT_LEGS).await, ["34", "33", "33"]);
    give(world, &made, "p-2", "ben", 101).await.unwrap();
    assert_eq!(world.texts(NONPROFIT_LEGS).await, ["68", "67", "66"]);
    assert_eq!(world.texts(SUM_OF_LEGS).await, ["0"]);
    assert_eq!(organiser.raised(&made).await["raised"], 201);
    assert_sound(world, 2).await;
}

async fn a_refund_is_an_entry_of_its_own_and_no_more_than_was_given(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = for_several(&organiser).await;
    give(world, &made, "p-1", "ana", 1_000).await.unwrap();
    give(world, &made, "p-2", "ben", 500).await.unwrap();
    let part = take_back(world, "p-1", Some(301), None).await.unwrap();
    assert_eq!((part.amount, part.is_new), (Cents(-301), true));
    assert_eq!(
        (
            &organiser.raised(&made).await["raised"],
            &organiser.raised(&made).await["supporters"]
        ),
        (&json!(1_199), &json!(2))
    );
    assert!(!take_back(world, "p-1", Some(301), None).await.unwrap().is_new);
    assert!(matches!(
        take_back(world, "p-1", Some(302), None).await,
        Err(Refused::Conflict { .. })
    ));
    assert!(matches!(
        take_back(world, "p-1", Some(700), Some("r-2")).await,
        Err(Refused::MoreThanLeft { left: Cents(699) })
    ));
    take_back(world, "p-1", None, Some("r-2")).await.unwrap();
    assert!(!take_back(world, "p-1", None, Some("r-2")).await.unwrap().is_new);
    assert!(matches!(
        take_back(world, "p-1", None, Some("r-3")).await,
        Err(Refused::MoreThanLeft { left: Cents(0) })
    ));
    assert!(matches!(
        take_back(world, "p-9", None, None).await,
        Err(Refused::NoSuchGift { .. })
    ));
    assert!(matches!(
        take_back(world, "r-2", None, None).await,
        Err(Refused::NoSuchGift { .. })
    ));
    let raised = organiser.raised(&made).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"]),
        (&json!(500), &json!(1))
    );
    assert_eq!(world.texts(SUM_OF_LEGS).await, ["0"]);
    assert_sound(world, 4).await;
}

async fn a_gift_needs_a_fundraiser_of_its_nonprofit(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    let mut elsewhere = made.clone();
    elsewhere["nonprofitId"] = json!(id_of(NYU));
    assert!(matches!(
        give(world, &elsewhere, "p-1", "ana", 5).await,
        Err(Refused::NoSuchFundraiser(_))
    ));
    elsewhere["nonprofitId"] = json!("nobody-at-all");
    assert!(matches!(
        give(world, &elsewhere, "p-1", "ana", 5).await,
        Err(Refused::NoSuchNonprofit(_))
    ));
    let plain = json!({"nonprofitId": id_of(NYU)});
    assert_eq!(give(world, &plain, "p-1", "ana", 5).await.unwrap().totals, None);
    assert!(
        give(world, &json!({"nonprofitId": SPECIAL}), "p-2", "ana", 5)
            .await
            .is_err()
    );
    assert_sound(world, 1).await;
}

async fn what_another_process_records_shows_at_the_next_look(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    let (other, client) = world.restart().await;
    let elsewhere = organiser.at(&client);
    assert_eq!(elsewhere.raised(&made).await["raised"], 0);
    give(world, &made, "p-1", "ana", 500).await.unwrap();
    if matches!(world.app.db, causeway::db::Db::Sqlite { .. }) {
        assert_eq!(
            elsewhere.raised(&made).await["raised"],
            500,
            "the log of SQLite tells without a look"
        );
    }
    organiser
        .write(
            200,
            &axum::http::Method::PATCH,
            &format!("/v0.2/fundraiser/{}", made["id"].as_str().unwrap()),
            r#"{"goal": 5}"#,
            &[],
        )
        .await;
    other.fundraisers.refresh().await.unwrap();
    let raised = elsewhere.raised(&made).await;
    assert_eq!(
        (&raised["raised"], &raised["goalAmount"]),
        (&json!(500), &json!(5))
    );
    other.db.close().await;
}

async fn many_at_once_on_two_servers_leave_no_gap_and_lose_nothing(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    let (other, _) = world.restart().await;
    let to = causeway::donations::find_recipient(&world.app, RED_CROSS, Some("spring-run"))
        .await
        .unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..120 {
        let app = if number % 2 == 0 {
            world.app.clone()
        } else {
            other.clone()
        };
        let gift = causeway::donations::Gift {
            source: label("test"),
            // Each is delivered three times.
            external_id: label(&format!("p-{}", number % 40)),
            to: to.clone(),
            amount: Cents(100),
            donor: label(&format!("d-{}", number % 10)),
            name: None,
            is_public: false,
        };
        tasks.spawn(async move { causeway::donations::record(&app, gift).await.unwrap().is_new });
    }
    let new = tasks
        .join_all()
        .await
        .into_iter()
        .filter(|is_new| *is_new)
        .count();
    assert_eq!(new, 40);
    let raised = organiser.raised(&made).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"]),
        (&json!(4_000), &json!(10))
    );
    assert_sound(world, 40).await;
    other.db.close().await;
}

async fn a_crowd_that_gives_at_once_is_counted_to_the_last_one(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    let mut tasks = tokio::task::JoinSet::new();
    let to = causeway::donations::find_recipient(&world.app, RED_CROSS, Some("spring-run"))
        .await
        .unwrap();
    for number in 0..700 {
        let app = world.app.clone();
        let gift = causeway::donations::Gift {
            source: label("test"),
            external_id: label(&format!("p-{number}")),
            to: to.clone(),
            amount: Cents(number + 1),
            donor: label(&format!("d-{}", number % 300)),
            name: (number % 3 == 0).then(|| label("Ana")),
            is_public: number % 2 == 0,
        };
        tasks.spawn(async move { causeway::donations::record(&app, gift).await.unwrap().is_new });
    }
    assert!(tasks.join_all().await.into_iter().all(|is_new| is_new));
    let raised = organiser.raised(&made).await;
    assert_eq!(
        (&raised["raised"], &raised["supporters"]),
        (&json!(700 * 701 / 2), &json!(300))
    );
    assert_eq!(world.texts("select name from gift_names").await.len(), 234);
    assert_sound(world, 700).await;
}

async fn every_fact_is_in_the_outbox_too(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({"raisedOffline": 7})).await;
    give(world, &made, "p-1", "ana", 500).await.unwrap();
    take_back(world, "p-1", None, None).await.unwrap();
    let id = made["id"].as_str().unwrap();
    organiser
        .write(
            200,
            &axum::http::Method::PATCH,
            &format!("/v0.2/fundraiser/{id}"),
            r#"{"title": "New"}"#,
            &[],
        )
        .await;
    organiser
        .write(
            200,
            &axum::http::Method::POST,
            &format!("/v0.2/fundraiser/{id}/close"),
            "",
            &[],
        )
        .await;
    organiser
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
            "gift",
            "refund",
            "fundraiser_changed",
            "fundraiser_closed",
            "fundraiser_reopened"
        ]
    );
    let facts = world.texts("select body from outbox where kind = 'gift'").await;
    let fact: Value = serde_json::from_str(&facts[0]).unwrap();
    assert_eq!(
        (&fact["amount"], &fact["fundraiserId"]),
        (&json!(500), &made["id"])
    );
    assert!(!facts[0].contains("ana"), "who gave is not told: {}", facts[0]);
}

async fn work_that_panics_fails_alone_and_the_writer_lives_on(world: &World) {
    let writer = &world.app.writer;
    let good = || writer.run(|_| Box::pin(async { Ok(7) }));
    let bad = writer.run::<()>(|_| Box::pin(async { panic!("on purpose") }));
    let (first, bad, second) = tokio::join!(good(), bad, good());
    assert_eq!((first.unwrap(), second.unwrap()), (7, 7));
    assert!(bad.is_err());
    assert_eq!(good().await.unwrap(), 7);
}

async fn what_nobody_waits_for_any_more_is_not_written(world: &World) {
    let (begun, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let held = tokio::spawn({
        let (app, begun, gate) = (world.app.clone(), Arc::clone(&begun), Arc::clone(&gate));
        async move {
            app.writer
                .run(move |_| {
                    let (begun, gate) = (Arc::clone(&begun), Arc::clone(&gate));
                    Box::pin(async move {
                        begun.notify_one();
                        gate.notified().await;
                        Ok(())
                    })
                })
                .await
        }
    });
    begun.notified().await;
    let was_done = Arc::new(AtomicBool::new(false));
    let late = world.app.writer.run({
        let was_done = Arc::clone(&was_done);
        move |_| {
            was_done.store(true, Ordering::SeqCst);
            Box::pin(async { Ok(()) })
        }
    });
    assert!(
        tokio::time::timeout(Duration::from_millis(1), late)
            .await
            .is_err()
    );
    gate.notify_one();
    held.await.unwrap().unwrap();
    world
        .app
        .writer
        .run(|_| Box::pin(async { Ok(()) }))
        .await
        .unwrap();
    assert!(!was_done.load(Ordering::SeqCst));
}
