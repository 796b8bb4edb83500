//! What is shown is what is stored, for every record.

use crate::files::generated;
use crate::world::World;
use causeway::directory::proof::prove;
use causeway::directory::record;
use causeway::ids::NonprofitId;
use causeway::nonprofits::identifier::Identifier;
use causeway::nonprofits::slug::Slug;
use causeway::nonprofits::store::find;

on_both_databases!(
    the_snapshot_returns_what_the_store_holds_for_every_record,
    snapshot_and_overlay_together_return_what_the_store_holds,
    a_change_behind_the_back_of_the_app_is_found,
    a_record_survives_being_written_and_read,
    a_large_import_builds_a_snapshot_and_removes_the_old_one,
);

async fn the_snapshot_returns_what_the_store_holds_for_every_record(world: &World) {
    let summary = world.import_irs(generated(3_000, 11)).await.unwrap();
    assert_eq!(summary.new, 3_000);
    let proof = prove(&world.app).await.unwrap();
    assert_eq!((proof.nonprofits, proof.differences), (3_000, vec![]));
    let view = world.app.directory.view();
    let snapshot = view.snapshot.as_ref().unwrap();
    assert!(view.overlay.is_empty());
    assert_eq!(snapshot.len(), 3_000);
    let mut last = u32::MAX;
    for place in 0..snapshot.len() {
        let shown = snapshot.nonprofit(place).unwrap();
        assert!(shown.prominence <= last, "the most prominent stand first");
        last = shown.prominence;
        let ways = [
            Identifier::Id(NonprofitId(shown.id.0)),
            Identifier::Ein(shown.ein.unwrap()),
            Identifier::Slug(Slug::parse(shown.slug).unwrap()),
        ];
        for way in &ways {
            assert_eq!(view.find(way), Some(shown), "{way:?}");
        }
        // One in ten is asked of the store itself: each costs two statements.
        if place % 10 == 0 {
            let stored = find(
                &world.app.db,
                &ways[1],
                world.app.directory.causes(),
                |nonprofit| *nonprofit == shown,
            );
            assert_eq!(stored.await.unwrap(), Some(true), "{}", shown.slug);
        }
    }
}

async fn snapshot_and_overlay_together_return_what_the_store_holds(world: &World) {
    world.import_irs(generated(400, 12)).await.unwrap();
    let lines: Vec<String> = world
        .texts("select cast(ein as text) from nonprofits order by ein")
        .await
        .iter()
        .step_by(7)
        .map(|ein| format!("{{\"ein\":\"{ein}\",\"name\":\"Body {ein}\",\"causes\":[\"animals\"]}}"))
        .collect();
    world.import_nonprofits(&lines.join("\n")).await.unwrap();
    let view = world.app.directory.view();
    assert!(view.overlay.len() > 50 && view.snapshot.as_ref().unwrap().len() == 400);
    assert_eq!(prove(&world.app).await.unwrap().differences, [""; 0]);
    world.app.directory.rebuild().await.unwrap().unwrap();
    assert!(world.app.directory.view().overlay.is_empty());
    assert_eq!(prove(&world.app).await.unwrap().differences, [""; 0]);
}

async fn a_change_behind_the_back_of_the_app_is_found(world: &World) {
    world.import_irs(generated(50, 13)).await.unwrap();
    world
        .execute("update nonprofits set filed = 'NOBODY' where ein = (select min(ein) from nonprofits)")
        .await;
    let proof = prove(&world.app).await.unwrap();
    assert_eq!(
        proof.differences.len(),
        3,
        "by id, by EIN and by slug: {:?}",
        proof.differences
    );
}

async fn a_record_survives_being_written_and_read(world: &World) {
    world.load_demo().await;
    let view = world.app.directory.view();
    let snapshot = view.snapshot.as_ref().unwrap();
    for place in 0..snapshot.len() {
        let nonprofit = snapshot.nonprofit(place).unwrap();
        let mut bytes = Vec::new();
        record::write(&nonprofit, &mut bytes);
        assert_eq!(record::read(&bytes), Some(nonprofit));
        for length in 0..bytes.len().min(40) {
            let _ = record::read(&bytes[..length]);
        }
    }
}

async fn a_large_import_builds_a_snapshot_and_removes_the_old_one(world: &World) {
    world.import_irs(generated(100, 14)).await.unwrap();
    let first = world.snapshots();
    world
        .import_irs_files(&[world.file("eo.csv", generated(6_000, 15))], true)
        .await
        .unwrap();
    let view = world.app.directory.view();
    assert!(view.overlay.is_empty());
    assert_eq!(view.snapshot.as_ref().unwrap().len(), 6_100);
    let after = world.snapshots();
    assert!(after.len() <= 2 && after.last() != first.last(), "{after:?}");
    assert_eq!(prove(&world.app).await.unwrap().differences, [""; 0]);
}
