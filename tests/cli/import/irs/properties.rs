//! Properties that hold for every file: importing twice is importing once, in any file format.

use crate::files::{generated, gzip, zip};
use crate::world::World;
use crate::world::check_directory;

on_both_databases!(
    a_repeated_import_changes_nothing,
    plain_gzip_and_zip_files_import_the_same_rows,
    the_listed_facts_do_not_depend_on_earlier_imports,
);

async fn a_repeated_import_changes_nothing(world: &World) {
    for (count, seed) in [(1, 1), (37, 2), (400, 3), (900, 4)] {
        let file = generated(count, seed);
        let first = world
            .import_irs_files(&[world.file("eo.csv", &file)], true)
            .await
            .unwrap();
        assert_eq!(first.new + first.changed + first.unchanged + first.refused, count);
        let once = world.dump().await;
        world.app.clock.advance(std::time::Duration::from_hours(24));
        let second = world.import_irs(&file).await.unwrap();
        assert_eq!(
            (second.total_changes(), second.unchanged),
            (0, count - second.refused),
            "seed {seed}"
        );
        assert_eq!(world.dump().await, once, "seed {seed}");
    }
}

async fn plain_gzip_and_zip_files_import_the_same_rows(world: &World) {
    let (one, other) = (generated(300, 5), generated(200, 6));
    let plain = [world.file("eo1.csv", &one), world.file("eo2.csv", &other)];
    let first = world.import_irs_files(&plain, false).await.unwrap();
    assert_eq!(first.new, 500);
    let once = world.dump().await;
    let packed = zip(&[
        ("read.me", b"nothing"),
        ("eo1.csv", &one),
        ("folder/eo2.CSV", &other),
    ]);
    // The format is recognized by the first bytes, not by the file name.
    let ways = [
        vec![
            world.file("eo1.csv.gz", gzip(&one)),
            world.file("eo2.csv", gzip(&other)),
        ],
        vec![world.file("eo.zip", &packed)],
        vec![world.file("eo2.csv", &other), world.file("eo1.bin", gzip(&one))],
    ];
    for files in ways {
        let again = world.import_irs_files(&files, false).await.unwrap();
        assert_eq!((again.total_changes(), again.unchanged), (0, 500), "{files:?}");
        assert_eq!(world.dump().await, once, "{files:?}");
    }
}

async fn the_listed_facts_do_not_depend_on_earlier_imports(world: &World) {
    // Slugs and former slugs depend on the history and are left out.
    let facts = "select cast(ein as text) || filed || cast(digest as text) from nonprofits where gone_at is null order by ein";
    let (one, other) = (generated(300, 7), generated(310, 8));
    world.import_irs(&other).await.unwrap();
    let direct = world.texts(facts).await;
    for file in [&one, &other] {
        world
            .import_irs_files(&[world.file("eo.csv", file)], true)
            .await
            .unwrap();
    }
    assert_eq!(world.texts(facts).await, direct);
    assert_eq!(check_directory(&world.app).await.unwrap().differences, [""; 0]);
}
