//! The summary of an import, and what it records.

use crate::files::{bmf, gzip, nonprofit_row, nonprofit_rows};
use crate::world::World;
use ingest::Summary;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::Duration;

on_both_databases!(
    new_changed_gone_unchanged_and_returning_nonprofits_are_counted,
    a_nonprofit_missing_from_the_file_is_kept_but_cannot_receive_donations,
    every_import_is_recorded_with_its_files_and_their_hashes,
    an_import_without_changes_is_recorded_too,
);

fn counts(summary: &Summary) -> [u64; 5] {
    [
        summary.new,
        summary.changed,
        summary.gone,
        summary.unchanged,
        summary.refused,
    ]
}

async fn new_changed_gone_unchanged_and_returning_nonprofits_are_counted(world: &World) {
    let mut rows = nonprofit_rows(100);
    let first = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(counts(&first), [100, 0, 0, 0, 0]);
    assert_eq!((first.lines, first.report), (100, None));

    let removed = rows.pop().unwrap();
    rows[7] = rows[7].clone().with("CITY", "KEENE");
    rows.push(nonprofit_row("020240383", "GRANITE TOWN LIBRARY"));
    let second = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(counts(&second), [1, 1, 1, 98, 0]);

    rows.push(removed);
    let third = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(counts(&third), [0, 1, 0, 100, 0]);
    assert_eq!(
        world.client.details(200, "100000100").await.nonprofit()["isDisbursable"],
        true
    );

    let fourth = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(counts(&fourth), [0, 0, 0, 101, 0]);
}

async fn a_nonprofit_missing_from_the_file_is_kept_but_cannot_receive_donations(world: &World) {
    let rows = nonprofit_rows(40);
    world.import_irs(bmf(&rows)).await.unwrap();
    let before = world.client.details(200, "100000040").await;
    assert_eq!(before.nonprofit()["isDisbursable"], true);
    let began = world.app.clock.millis();
    assert_eq!(
        counts(&world.import_irs(bmf(&rows[..39])).await.unwrap()),
        [0, 0, 1, 39, 0]
    );
    let after = world.client.details(200, "shelter-100000040-house").await;
    assert_eq!(after.nonprofit()["isDisbursable"], false);
    assert_eq!(after.nonprofit()["id"], before.nonprofit()["id"]);
    let gone = world
        .texts("select cast(gone_at as text) from nonprofits where gone_at is not null")
        .await;
    let [gone] = gone.try_into().unwrap();
    assert!((began..=world.app.clock.millis()).contains(&gone.parse().unwrap()));

    // The nonprofit is counted once, and the time when it was first missing is kept.
    world.app.clock.advance(Duration::from_hours(1));
    assert_eq!(
        counts(&world.import_irs(bmf(&rows[..39])).await.unwrap()),
        [0, 0, 0, 39, 0]
    );
    assert_eq!(
        world
            .texts("select cast(gone_at as text) from nonprofits where gone_at is not null")
            .await,
        [gone]
    );
}

async fn every_import_is_recorded_with_its_files_and_their_hashes(world: &World) {
    let (one, other) = (
        bmf(&nonprofit_rows(20)[..12]),
        gzip(bmf(&nonprofit_rows(20)[12..]).as_bytes()),
    );
    let files = [world.file("eo1.csv", &one), world.file("eo2.csv.gz", &other)];
    let began = world.app.clock.millis();
    let summary = world.import_irs_files(&files, false).await.unwrap();
    assert_eq!(summary.revision, 1);
    let recorded = "select kind || ' ' || cast(lines as text) || ' ' || cast(added as text) || ' ' || \
         cast(changed as text) || ' ' || cast(gone as text) || ' ' || cast(refused as text) from imports";
    assert_eq!(world.texts(recorded).await, ["irs 20 20 0 0 0"]);
    let times = "select cast(started_at as text) || ' ' || cast(finished_at as text) from imports";
    let times = world.texts(times).await.concat();
    let times: Vec<i64> = times.split(' ').map(|time| time.parse().unwrap()).collect();
    assert!(
        began <= times[0] && times[0] <= times[1] && times[1] <= world.app.clock.millis(),
        "{times:?}"
    );
    let hash = |bytes: &[u8]| {
        Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
    };
    let expected = [
        format!("1 {} {} 12", files[0].display(), hash(one.as_bytes())),
        format!("2 {} {} 8", files[1].display(), hash(&other)),
    ];
    let recorded = "select cast(position as text) || ' ' || name || ' ' || sha256 || ' ' || cast(lines as text) \
         from import_files where revision = 1 order by position";
    assert_eq!(world.texts(recorded).await, expected);
}

async fn an_import_without_changes_is_recorded_too(world: &World) {
    let file = bmf(&nonprofit_rows(5));
    for _ in 0..3 {
        world.import_irs(&file).await.unwrap();
    }
    assert_eq!(world.imports().await, 3);
}
