//! Readers and other imports during an import.

use crate::files::{Row, bmf, nonprofit_rows};
use crate::world::World;
use directory::nonprofits::identifier::Identifier;
use std::sync::atomic::{AtomicBool, Ordering};

on_both_databases!(
    readers_see_either_the_old_or_the_new_directory,
    concurrent_imports_both_succeed_or_one_asks_to_be_repeated,
);

fn in_city(rows: &[Row], city: &str) -> String {
    bmf(&rows
        .iter()
        .map(|row| row.clone().with("CITY", city))
        .collect::<Vec<_>>())
}

async fn readers_see_either_the_old_or_the_new_directory(world: &World) {
    let rows = nonprofit_rows(60);
    let first = Identifier::parse("100000001").unwrap();
    let last = Identifier::parse("100000060").unwrap();
    world.import_irs(in_city(&rows, "CONCORD")).await.unwrap();
    let is_over = AtomicBool::new(false);
    let read = async {
        let mut states = 0;
        let mut city = String::new();
        while !is_over.load(Ordering::Relaxed) {
            // Each request reads from one view.
            let view = world.app.directory.view();
            let (one, other) = (view.find(&first).unwrap(), view.find(&last).unwrap());
            assert_eq!(one.city, other.city);
            if city != one.city {
                city = one.city.to_owned();
                states += 1;
            }
            tokio::task::yield_now().await;
        }
        states
    };
    let write = async {
        for city in ["KEENE", "DOVER", "NASHUA", "LACONIA"] {
            world.import_irs(in_city(&rows, city)).await.unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    };
    let (states, ()) = tokio::join!(read, write);
    assert!(states >= 2, "{states}");
    assert_eq!(
        world.client.details(200, "100000001").await.nonprofit()["locationAddress"],
        "Laconia, NH"
    );
}

async fn concurrent_imports_both_succeed_or_one_asks_to_be_repeated(world: &World) {
    let files = [
        world.file("a.csv", in_city(&nonprofit_rows(200), "KEENE")),
        world.file("b.csv", in_city(&nonprofit_rows(200), "DOVER")),
    ];
    let importer = world.app.importer();
    let (one, other) = tokio::join!(
        importer.import_irs(&files[..1], false),
        importer.import_irs(&files[1..], false)
    );
    let succeeded = [&one, &other]
        .into_iter()
        .filter(|outcome| outcome.is_ok())
        .count();
    assert!(succeeded >= 1);
    for error in [one, other].into_iter().filter_map(Result::err) {
        assert!(error.to_string().contains("run it again"), "{error:#}");
    }
    assert_eq!(world.imports().await, succeeded);
    let keene = world
        .texts("select slug from nonprofits where filed like '%KEENE%'")
        .await
        .len();
    assert!(
        [0, 200].contains(&keene),
        "{keene} of 200 rows are from the first file"
    );
}
