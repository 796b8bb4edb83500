//! What does not belong together in the store is found by its proof, and named.

use super::create::PIXEL;
use super::{Organiser, give};
use crate::world::World;
use causeway::media;
use giving::check::prove;
use serde_json::json;

async fn faults(world: &World) -> Vec<String> {
    prove(&world.app).await.unwrap().faults
}

on_both! {
    async fn entries_of_a_fundraiser_that_is_gone_are_found(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({"raisedOffline": 500})).await;
        give(world, &made, "p-1", "ana", 700).await.unwrap();
        let kept = organiser.make(json!({"title": "Another", "raisedOffline": 5})).await;
        give(world, &kept, "p-2", "ana", 7).await.unwrap();
        assert!(faults(world).await.is_empty());
        world.execute("delete from fundraiser_nonprofits where fundraiser_id in (select id from fundraisers where title <> 'Another')").await;
        world.execute("delete from fundraisers where title <> 'Another'").await;
        let faults = faults(world).await;
        assert_eq!(faults.len(), 2, "{faults:?}");
        let gone = format!("is of the fundraiser {}, which does not exist", made["id"].as_str().unwrap());
        for (fault, entry) in faults.iter().zip(["entry 1 (offline", "entry 2 (gift p-1"]) {
            assert!(fault.starts_with(entry) && fault.ends_with(&gone), "{fault}");
        }
    }

    async fn legs_and_entries_outside_the_journal_are_found(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({})).await;
        give(world, &made, "p-1", "ana", 700).await.unwrap();
        world.execute("insert into journal_legs (sequence, position, party, party_id, amount) values (9, 0, 'donor', 'ana', 5)").await;
        world.execute("insert into journal_legs (sequence, position, party, party_id, amount) values (-9, 0, 'donor', 'ana', 5)").await;
        assert_eq!(faults(world).await, ["entry -9 has legs and is not in the journal", "entry 9 has legs and is not in the journal"]);
        world.execute("delete from journal_legs where sequence <> 1").await;
        assert!(faults(world).await.is_empty());
        world.execute("insert into journal (sequence, kind, source, external_id, nonprofit_id, amount, recorded_at, hash) \
            select -3, kind, source, 'forged', nonprofit_id, amount, recorded_at, hash from journal").await;
        assert_eq!(faults(world).await, ["entry -3 stands before the first one"]);
    }

    async fn a_cover_that_is_no_picture_of_ours_is_found(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({"imageBase64": PIXEL})).await;
        assert!(platform::hosted::check::check(&world.app.pictures).await.unwrap().differences.is_empty());
        world.execute("delete from pictures").await;
        let differences = platform::hosted::check::check(&world.app.pictures).await.unwrap().differences;
        let [lost] = differences.as_slice() else { panic!("{differences:?}") };
        for named in ["id", "coverImageHostedId"] {
            assert!(lost.contains(made[named].as_str().unwrap()), "{lost}");
        }
    }
}
