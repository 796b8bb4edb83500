//! The check reports inconsistent rows by name.

use super::create::PIXEL;
use super::{Organizer, donate, donate_in};
use crate::world::World;
use giving::check::check;
use giving::check::list_lost_covers;
use giving::ledger::entry::Mode;
use serde_json::json;

on_both_databases!(
    entries_of_a_missing_fundraiser_are_reported,
    postings_and_entries_outside_the_ledger_are_reported,
    a_changed_mode_is_reported,
    a_cover_without_a_stored_picture_is_reported,
);

async fn check_ledger(world: &World) -> Vec<String> {
    check(&world.app.db).await.unwrap().errors
}

async fn entries_of_a_missing_fundraiser_are_reported(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"raisedOffline": 500})).await;
    donate(world, &created, "p-1", "ana", 700).await.unwrap();
    let remaining = organizer
        .create_fundraiser(json!({"title": "Another", "raisedOffline": 5}))
        .await;
    donate(world, &remaining, "p-2", "ana", 7).await.unwrap();
    assert!(check_ledger(world).await.is_empty());
    world.execute("delete from fundraiser_nonprofits where fundraiser_id in (select id from fundraisers where title <> 'Another')").await;
    world
        .execute("delete from fundraisers where title <> 'Another'")
        .await;
    let errors = check_ledger(world).await;
    assert_eq!(errors.len(), 2, "{errors:?}");
    let gone = format!(
        "belongs to fundraiser {}, which does not exist",
        created["id"].as_str().unwrap()
    );
    for (error, entry) in errors.iter().zip(["entry 1 (offline", "entry 2 (donation p-1"]) {
        assert!(error.starts_with(entry) && error.ends_with(&gone), "{error}");
    }
}

async fn postings_and_entries_outside_the_ledger_are_reported(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    donate(world, &created, "p-1", "ana", 700).await.unwrap();
    world.execute("insert into ledger_postings (sequence, position, party, party_id, amount) values (9, 0, 'donor', 'ana', 5)").await;
    world.execute("insert into ledger_postings (sequence, position, party, party_id, amount) values (-9, 0, 'donor', 'ana', 5)").await;
    assert_eq!(
        check_ledger(world).await,
        [
            "entry -9 has postings but is not in the ledger",
            "entry 9 has postings but is not in the ledger"
        ]
    );
    world
        .execute("delete from ledger_postings where sequence <> 1")
        .await;
    assert!(check_ledger(world).await.is_empty());
    world.execute("insert into ledger_entries (sequence, kind, mode, source, external_id, nonprofit_id, amount, recorded_at, hash) \
        select -3, kind, mode, source, 'forged', nonprofit_id, amount, recorded_at, hash from ledger_entries").await;
    assert_eq!(
        check_ledger(world).await,
        ["entry -3 comes before the first entry"]
    );
}

async fn a_changed_mode_is_reported(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"raisedOffline": 500})).await;
    donate_in(Mode::Test, world, &created, "p-1", "ana", 700)
        .await
        .unwrap();
    let changed = "does not match its hash: it or the entry before it was changed";
    world
        .execute("update ledger_entries set mode = 'live' where sequence = 2")
        .await;
    let errors = check_ledger(world).await;
    let expected = format!("entry 2 (donation p-1 of test) {changed}");
    assert!(errors.contains(&expected), "{errors:?}");
    world
        .execute("update ledger_entries set mode = 'unknown' where sequence = 2")
        .await;
    let errors = check_ledger(world).await;
    assert!(errors.contains(&expected), "{errors:?}");
    world
        .execute("update ledger_entries set mode = 'test' where sequence = 2")
        .await;
    assert!(check_ledger(world).await.is_empty());
    world
        .execute("update ledger_entries set mode = 'test' where sequence = 1")
        .await;
    let errors = check_ledger(world).await;
    for expected in [changed, "is a test entry but must be a live entry"] {
        let is_first = |error: &String| error.starts_with("entry 1 (offline") && error.ends_with(expected);
        assert!(errors.iter().any(is_first), "{expected}: {errors:?}");
    }
}

async fn a_cover_without_a_stored_picture_is_reported(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({"imageBase64": PIXEL})).await;
    assert!(list_lost_covers(&world.app.db).await.unwrap().is_empty());
    world.execute("delete from pictures").await;
    let differences = list_lost_covers(&world.app.db).await.unwrap();
    let [difference] = differences.as_slice() else {
        panic!("{differences:?}")
    };
    for field in ["id", "coverImageHostedId"] {
        assert!(
            difference.contains(created[field].as_str().unwrap()),
            "{difference}"
        );
    }
}
