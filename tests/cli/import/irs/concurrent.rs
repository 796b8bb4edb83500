//! Readers and other imports while an import runs.

use crate::files::{Row, bmf, bodies};
use crate::world::World;
use causeway::import::irs;
use causeway::nonprofits::identifier::Identifier;
use std::sync::atomic::{AtomicBool, Ordering};

on_both_databases!(
    readers_see_one_state_or_the_next_and_never_a_mix,
    of_two_imports_at_once_one_is_told_to_run_again_or_both_stand,
);

fn in_city(rows: &[Row], city: &str) -> String {
    bmf(&rows
        .iter()
        .map(|row| row.clone().with("CITY", city))
        .collect::<Vec<_>>())
}

async fn readers_see_one_state_or_the_next_and_never_a_mix(world: &World) {
    let rows = bodies(60);
    let first = Identifier::parse("100000001").unwrap();
    let last = Identifier::parse("100000060").unwrap();
    world.import_irs(in_city(&rows, "CONCORD")).await.unwrap();
    let over = AtomicBool::new(false);
    let read = async {
        let mut states = 0;
        let mut seen = String::new();
        while !over.load(Ordering::Relaxed) {
            // A view is what one request reads.
            let view = world.app.directory.view();
            let (one, other) = (view.find(&first).unwrap(), view.find(&last).unwrap());
            assert_eq!(one.city, other.city);
            if seen != one.city {
                seen = one.city.to_owned();
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
        over.store(true, Ordering::Relaxed);
    };
    let (states, ()) = tokio::join!(read, write);
    assert!(states >= 2, "{states}");
    assert_eq!(
        world.client.details(200, "100000001").await.nonprofit()["locationAddress"],
        "Laconia, NH"
    );
}

async fn of_two_imports_at_once_one_is_told_to_run_again_or_both_stand(world: &World) {
    let files = [
        world.file("a.csv", in_city(&bodies(200), "KEENE")),
        world.file("b.csv", in_city(&bodies(200), "DOVER")),
    ];
    let (one, other) = tokio::join!(
        irs::import(&world.app, &files[..1], false),
        irs::import(&world.app, &files[1..], false)
    );
    let done = [&one, &other]
        .into_iter()
        .filter(|outcome| outcome.is_ok())
        .count();
    assert!(done >= 1);
    for fault in [one, other].into_iter().filter_map(Result::err) {
        assert!(fault.to_string().contains("run it again"), "{fault:#}");
    }
    assert_eq!(world.imports().await, done);
    let keene = world
        .texts("select slug from nonprofits where filed like '%KEENE%'")
        .await
        .len();
    assert!([0, 200].contains(&keene), "{keene} of 200 came from the first");
}
