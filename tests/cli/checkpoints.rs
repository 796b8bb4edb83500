//! Checkpoints: `causeway check` continues where the last one ended, and `--full` starts at the first entry.

use super::server::{command, run};
use crate::api::fundraisers::{NYU, Organizer, RED_CROSS, SPECIAL, donate, donate_in, id_of};
use crate::world::World;
use axum::http::Method;
use giving::check::{check, check_after};
use giving::donations::{Label, Refund};
use giving::ledger::checkpoints::{Checkpoint, store};
use giving::ledger::entry::Mode;
use platform::money::Cents;
use serde_json::{Value, json};

on_both_databases!(
    a_check_continues_where_the_last_one_ended,
    damage_after_a_checkpoint_is_found_with_and_without_it,
    a_forged_checkpoint_is_not_used,
    a_rewritten_ledger_does_not_contain_its_checkpoint,
);

async fn refund(world: &World, external_id: &str, cents: i64, id: &str) {
    let label = |text: &str| Label::parse(text).unwrap();
    let refund = Refund {
        source: label("test"),
        external_id: label(external_id),
        amount: Cents::positive(cents),
        refund_id: Some(label(id)),
    };
    world.app.giving.recorder.refund(refund).await.unwrap();
}

/// Writes entries of all kinds, and more that depend on them: refunds of earlier donations, donors who give again, and
/// corrected amounts raised offline.
struct History {
    organizer: Organizer,
    shared: Value,
    own: Value,
}

impl History {
    async fn new(world: &World) -> History {
        let organizer = Organizer::new(world).await;
        let body = json!({"nonprofitId": SPECIAL, "title": "Together", "type": "MULTIPLE_NONPROFITS",
            "forNonprofits": [id_of(RED_CROSS), id_of(NYU)], "forNonprofitWeights": [2, 1]});
        let shared = organizer.create(200, &body).await.json["data"]["fundraiser"].clone();
        let own = organizer.create_fundraiser(json!({"raisedOffline": 500})).await;
        History {
            organizer,
            shared,
            own,
        }
    }

    async fn write(&self, world: &World, round: i64) {
        let id = |name: &str| format!("{name}-{round}");
        donate(world, &self.shared, &id("a"), "ana", 1_000).await.unwrap();
        donate(world, &self.own, &id("b"), "ana", 300).await.unwrap();
        donate_in(Mode::Test, world, &self.own, &id("c"), "ben", 200)
            .await
            .unwrap();
        refund(world, "a-0", 101, &id("r")).await;
        refund(world, "c-0", 30, &id("t")).await;
        let path = format!("/v0.2/fundraiser/{}", self.own["id"].as_str().unwrap());
        let body = json!({"raisedOffline": 600 + round}).to_string();
        self.organizer.write(200, &Method::PATCH, &path, body, &[]).await;
    }
}

async fn checkpoint(world: &World) -> Option<Checkpoint> {
    store::find(&world.app.db, &world.app.secret).await.unwrap()
}

fn fail(world: &World, arguments: &[&str]) -> String {
    let output = command(world).args(arguments).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    error
}

async fn a_check_continues_where_the_last_one_ended(world: &World) {
    let history = History::new(world).await;
    run(world, &["check"]);
    let mut before = run(world, &["check"])["entries"].clone();
    for round in 0..3 {
        history.write(world, round).await;
        let checked = run(world, &["check"]);
        assert_eq!(checked["verifiedBefore"], before, "{checked}");
        let full = run(world, &["check", "--full"]);
        assert_eq!(full["verifiedBefore"], 0);
        for name in ["entries", "totals", "fundraisers"] {
            assert_eq!(full[name], checked[name], "{name}");
        }
        // It is the same checkpoint that a check of the whole ledger arrives at.
        let whole = check(&world.app.db).await.unwrap().checkpoint;
        assert_eq!(checkpoint(world).await, whole);
        before = checked["entries"].clone();
    }
    let text = command(world).arg("check").output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    let expected = format!("entries up to {before} were verified by an earlier check; causeway check --full");
    assert!(text.contains(&expected), "{text}");
}

/// Statements that damage one entry.
const DAMAGE: [&str; 9] = [
    "update ledger_entries set amount = amount + 1 where sequence = ",
    "update ledger_entries set donor = 'somebody else' where sequence = ",
    "update ledger_entries set recorded_at = recorded_at + 1 where sequence = ",
    "update ledger_entries set raised = raised + 1 where sequence = ",
    "update ledger_entries set mode = case mode when 'live' then 'test' else 'live' end where sequence = ",
    "update ledger_postings set amount = amount + 1 where position = 0 and sequence = ",
    "delete from ledger_postings where position = 1 and sequence = ",
    "update ledger_postings set sequence = sequence + 1000 where sequence = ",
    "delete from ledger_entries where sequence = ",
];
/// The tables of the ledger, which are copied aside and restored after each damage.
const TABLES: [&str; 2] = ["ledger_entries", "ledger_postings"];

async fn damage_after_a_checkpoint_is_found_with_and_without_it(world: &World) {
    let history = History::new(world).await;
    history.write(world, 0).await;
    let first = check(&world.app.db).await.unwrap();
    let checkpoint = first.checkpoint.unwrap();
    history.write(world, 1).await;
    let last = check(&world.app.db).await.unwrap().entries;
    assert!(last > first.entries);
    for table in TABLES {
        world
            .execute_owned(format!("create table {table}_copy as select * from {table}"))
            .await;
    }
    for sequence in 1..=last {
        for statement in DAMAGE {
            world.execute_owned(format!("{statement}{sequence}")).await;
            let full = check(&world.app.db).await.unwrap().errors;
            assert!(!full.is_empty(), "{statement}{sequence}");
            let resumed = check_after(&world.app.db, Some(checkpoint.clone())).await;
            if sequence > checkpoint.entries {
                assert_eq!(resumed.unwrap().errors, full, "{statement}{sequence}");
            }
            for table in TABLES {
                world.execute_owned(format!("delete from {table}")).await;
                world
                    .execute_owned(format!("insert into {table} select * from {table}_copy"))
                    .await;
            }
        }
    }
    assert!(check(&world.app.db).await.unwrap().errors.is_empty());
    let resumed = check_after(&world.app.db, Some(checkpoint.clone()))
        .await
        .unwrap();
    assert_eq!(
        (resumed.errors, resumed.verified_before),
        (vec![], checkpoint.entries)
    );
}

async fn a_forged_checkpoint_is_not_used(world: &World) {
    let history = History::new(world).await;
    history.write(world, 0).await;
    let entries = run(world, &["check"])["entries"].clone();
    // Damage before a checkpoint is found by a whole check.
    world
        .execute("update ledger_entries set recorded_at = recorded_at + 1 where sequence = 2")
        .await;
    run(world, &["check"]);
    assert!(fail(world, &["check", "--full"]).contains("entry 2 "));
    // Somebody who can write to the database, but has no secret, cannot hide damage behind a checkpoint.
    for statement in [
        "update ledger_checkpoint set entries = entries - 1",
        "update ledger_checkpoint set sums = '[]'",
        "update ledger_checkpoint set checked_at = checked_at + 1",
        "update ledger_checkpoint set hash = (select hash from ledger_entries where sequence = 1)",
    ] {
        assert!(checkpoint(world).await.is_some());
        world
            .execute("create table checkpoint_copy as select * from ledger_checkpoint")
            .await;
        world.execute(statement).await;
        assert_eq!(checkpoint(world).await, None, "{statement}");
        assert!(fail(world, &["check"]).contains("entry 2 "), "{statement}");
        world.execute("delete from ledger_checkpoint").await;
        world
            .execute("insert into ledger_checkpoint select * from checkpoint_copy")
            .await;
        world.execute("drop table checkpoint_copy").await;
    }
    world
        .execute("update ledger_entries set recorded_at = recorded_at - 1 where sequence = 2")
        .await;
    let checked = run(world, &["check"]);
    assert_eq!(
        (&checked["entries"], &checked["verifiedBefore"]),
        (&entries, &entries)
    );
}

async fn a_rewritten_ledger_does_not_contain_its_checkpoint(world: &World) {
    let history = History::new(world).await;
    history.write(world, 0).await;
    let last = run(world, &["check"])["entries"].as_i64().unwrap();
    world
        .execute_owned(format!("delete from ledger_postings where sequence = {last}"))
        .await;
    world
        .execute_owned(format!("delete from ledger_entries where sequence = {last}"))
        .await;
    let error = fail(world, &["check"]);
    let expected = format!("entry {last} is not the one that an earlier check verified");
    assert!(error.contains(&expected), "{error}");
}
