//! The directory in memory matches the database, for every record.

use crate::files::generated;
use crate::world::World;
use crate::world::check_directory;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::slug::Slug;
use directory::nonprofits::store::find;
use directory::snapshot::record;
use platform::ids::NonprofitId;

on_both_databases!(
    every_record_of_the_snapshot_matches_the_database,
    the_snapshot_with_the_overlay_matches_the_database,
    a_change_made_outside_the_app_is_reported,
    a_record_is_unchanged_after_writing_and_reading,
    a_large_import_builds_a_snapshot_and_removes_the_old_one,
);

async fn every_record_of_the_snapshot_matches_the_database(world: &World) {
    let summary = world.import_irs(generated(3_000, 11)).await.unwrap();
    assert_eq!(summary.new, 3_000);
    let check = check_directory(&world.app).await.unwrap();
    assert_eq!((check.nonprofits, check.differences), (3_000, vec![]));
    let view = world.app.directory.view();
    let snapshot = view.snapshot.as_ref().unwrap();
    assert!(view.overlay.is_empty());
    assert_eq!(snapshot.len(), 3_000);
    let mut previous = u32::MAX;
    for index in 0..snapshot.len() {
        let shown = snapshot.nonprofit(index).unwrap();
        assert!(shown.prominence <= previous, "the most prominent come first");
        previous = shown.prominence;
        let identifiers = [
            Identifier::Id(NonprofitId(shown.id.0)),
            Identifier::Ein(shown.ein.unwrap()),
            Identifier::Slug(Slug::parse(shown.slug).unwrap()),
        ];
        for identifier in &identifiers {
            assert_eq!(view.find(identifier), Some(shown), "{identifier:?}");
        }
        // Only every tenth record is compared with the database, because each costs two statements.
        if index % 10 == 0 {
            let stored = find(
                &world.app.db,
                &identifiers[1],
                world.app.directory.causes(),
                |nonprofit| *nonprofit == shown,
            );
            assert_eq!(stored.await.unwrap(), Some(true), "{}", shown.slug);
        }
    }
}

async fn the_snapshot_with_the_overlay_matches_the_database(world: &World) {
    world.import_irs(generated(400, 12)).await.unwrap();
    let lines: Vec<String> = world
        .texts("select cast(ein as text) from nonprofits order by ein")
        .await
        .iter()
        .step_by(7)
        .map(|ein| format!("{{\"ein\":\"{ein}\",\"name\":\"Nonprofit {ein}\",\"causes\":[\"animals\"]}}"))
        .collect();
    world.import_nonprofits(&lines.join("\n")).await.unwrap();
    let view = world.app.directory.view();
    assert!(view.overlay.len() > 50 && view.snapshot.as_ref().unwrap().len() == 400);
    assert_eq!(check_directory(&world.app).await.unwrap().differences, [""; 0]);
    world.app.directory.rebuild().await.unwrap().unwrap();
    assert!(world.app.directory.view().overlay.is_empty());
    assert_eq!(check_directory(&world.app).await.unwrap().differences, [""; 0]);
}

async fn a_change_made_outside_the_app_is_reported(world: &World) {
    world.import_irs(generated(50, 13)).await.unwrap();
    world
        .execute("update nonprofits set filed = 'NOBODY' where ein = (select min(ein) from nonprofits)")
        .await;
    let check = check_directory(&world.app).await.unwrap();
    assert_eq!(
        check.differences.len(),
        3,
        "by id, by EIN and by slug: {:?}",
        check.differences
    );
}

async fn a_record_is_unchanged_after_writing_and_reading(world: &World) {
    world.load_demo().await;
    let view = world.app.directory.view();
    let snapshot = view.snapshot.as_ref().unwrap();
    for index in 0..snapshot.len() {
        let nonprofit = snapshot.nonprofit(index).unwrap();
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
    assert_eq!(check_directory(&world.app).await.unwrap().differences, [""; 0]);
}
