//! Facts leave the outbox by their age, and the proof knows which have left.

use super::{Organiser, assert_sound, give};
use crate::world::World;
use causeway::donations::journal::outbox::{OutboxSettings, prune};
use causeway::donations::journal::proof::prove;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    facts_leave_the_outbox_by_their_age_and_the_journal_stays,
    a_fact_that_left_for_no_reason_is_missed,
);

const KINDS: &str = "select kind from outbox order by sequence";
const DAY: Duration = Duration::from_hours(24);

async fn pruned(world: &World, keep_days: u32) -> i64 {
    let now = world.app.clock.millis();
    prune(&world.app.db, OutboxSettings { keep_days }, now)
        .await
        .unwrap()
}

async fn facts_leave_the_outbox_by_their_age_and_the_journal_stays(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    give(world, &made, "p-1", "ana", 500).await.unwrap();
    world.app.clock.advance(40 * DAY);
    give(world, &made, "p-2", "ben", 700).await.unwrap();
    assert_eq!(pruned(world, 0).await, 0, "0 keeps all");
    assert_eq!(pruned(world, 41).await, 0);
    assert_eq!(pruned(world, 30).await, 2);
    assert_eq!(pruned(world, 30).await, 0);
    assert_eq!(world.texts(KINDS).await, ["gift"]);
    assert_sound(world, 2).await;

    world.app.clock.advance(31 * DAY);
    assert_eq!(pruned(world, 30).await, 1);
    assert!(world.texts(KINDS).await.is_empty());
    assert_sound(world, 2).await;
    give(world, &made, "p-3", "cy", 100).await.unwrap();
    world.app.clock.advance(29 * DAY);
    give(world, &made, "p-4", "cy", 100).await.unwrap();
    assert_eq!(pruned(world, 30).await, 0);
    assert_eq!(world.texts(KINDS).await, ["gift", "gift"]);
    assert_sound(world, 4).await;
    assert_eq!(organiser.raised(&made).await["raised"], 1_400);
}

async fn a_fact_that_left_for_no_reason_is_missed(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    for number in 0..4 {
        give(world, &made, &format!("p-{number}"), "ana", 500)
            .await
            .unwrap();
    }
    world.app.clock.advance(2 * DAY);
    give(world, &made, "p-new", "ana", 500).await.unwrap();
    assert_eq!(pruned(world, 1).await, 5);
    assert_sound(world, 5).await;
    world.execute("delete from outbox").await;
    let faults = prove(&world.app).await.unwrap().faults;
    assert_eq!(
        faults,
        ["the outbox holds 0 facts from 0 to 0, and should hold 1 from 6 to 6"]
    );
}
