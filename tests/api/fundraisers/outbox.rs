//! Old rows are pruned from the outbox, and the check knows which ones should be gone.

use super::{Organizer, assert_ledger, donate};
use crate::world::World;
use giving::check::check;
use giving::ledger::outbox::{OutboxSettings, prune};
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    old_outbox_rows_are_pruned_and_the_ledger_stays,
    an_outbox_row_deleted_early_is_reported,
);

const KINDS: &str = "select kind from outbox order by sequence";
const DAY: Duration = Duration::from_hours(24);

async fn prune_outbox(world: &World, keep_days: u32) -> i64 {
    while world.app.fan_out_events().await.unwrap() {}
    let now = world.app.clock.millis();
    prune(&world.app.db, OutboxSettings { keep_days }, now)
        .await
        .unwrap()
}

async fn old_outbox_rows_are_pruned_and_the_ledger_stays(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    donate(world, &created, "p-1", "ana", 500).await.unwrap();
    world.app.clock.advance(40 * DAY);
    donate(world, &created, "p-2", "ben", 700).await.unwrap();
    assert_eq!(prune_outbox(world, 0).await, 0, "0 keeps everything");
    assert_eq!(prune_outbox(world, 41).await, 0);
    assert_eq!(prune_outbox(world, 30).await, 2);
    assert_eq!(prune_outbox(world, 30).await, 0);
    assert_eq!(world.texts(KINDS).await, ["donation"]);
    assert_ledger(world, 2).await;

    world.app.clock.advance(31 * DAY);
    assert_eq!(prune_outbox(world, 30).await, 1);
    assert!(world.texts(KINDS).await.is_empty());
    assert_ledger(world, 2).await;
    donate(world, &created, "p-3", "cy", 100).await.unwrap();
    world.app.clock.advance(29 * DAY);
    donate(world, &created, "p-4", "cy", 100).await.unwrap();
    assert_eq!(prune_outbox(world, 30).await, 0);
    assert_eq!(world.texts(KINDS).await, ["donation", "donation"]);
    assert_ledger(world, 4).await;
    assert_eq!(organizer.raised(&created).await["raised"], 1_400);
}

async fn an_outbox_row_deleted_early_is_reported(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    for number in 0..4 {
        donate(world, &created, &format!("p-{number}"), "ana", 500)
            .await
            .unwrap();
    }
    world.app.clock.advance(2 * DAY);
    donate(world, &created, "p-new", "ana", 500).await.unwrap();
    assert_eq!(prune_outbox(world, 1).await, 5);
    assert_ledger(world, 5).await;
    world.execute("delete from outbox").await;
    let errors = check(&world.app.db).await.unwrap().errors;
    assert_eq!(
        errors,
        ["the outbox has 0 rows from 0 to 0 but should have 1 from 6 to 6"]
    );
}
