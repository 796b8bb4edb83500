//! Snapshots that are older than the store: not shown after a large import, of which nobody knows what it touched.

use crate::files::{bmf, bodies};
use crate::world::World;
use causeway::app::App;
use causeway::directory::proof::prove;
use causeway::import::irs;

on_both_databases!(
    a_server_that_starts_after_a_large_import_shows_it_from_the_store_until_its_snapshot_is_built,
    a_running_server_shows_a_large_import_of_another_process,
);

/// Imports as a process that dies before it builds a snapshot, for which ten changes are many.
async fn import_and_die(world: &World, city: &str) {
    let mut config = world.app.config.clone();
    config.directory.overlay_limit = 10;
    let app = App::build(config).await.unwrap();
    let rows: Vec<_> = bodies(50).into_iter().map(|row| row.with("CITY", city)).collect();
    let file = world.file("eo.csv", bmf(&rows));
    assert_eq!(irs::import(&app, &[file], false).await.unwrap().changed, 50);
    app.db.close().await;
}

async fn a_server_that_starts_after_a_large_import_shows_it_from_the_store_until_its_snapshot_is_built(
    world: &World,
) {
    world.import_irs(bmf(&bodies(50))).await.unwrap();
    let before = world.client.details(200, "100000007").await;
    import_and_die(world, "KEENE").await;
    let (app, client) = world.restart().await;
    let at_start = client.details(200, "100000007").await;
    assert_eq!(at_start.nonprofit()["locationAddress"], "Keene, NH");
    assert!(
        !at_start.headers.contains_key("etag"),
        "the store may change with every answer"
    );
    app.refresh_directory().await.unwrap();
    let after = client.details(200, "100000007").await;
    assert_eq!(after.nonprofit()["locationAddress"], "Keene, NH");
    assert_ne!(after.header("etag"), before.header("etag"));
    assert_eq!(prove(&app).await.unwrap().differences, [""; 0]);
    app.db.close().await;
}

async fn a_running_server_shows_a_large_import_of_another_process(world: &World) {
    world.import_irs(bmf(&bodies(50))).await.unwrap();
    import_and_die(world, "KEENE").await;
    world
        .import_nonprofits(r#"{"ein":"100000007","description":"Open all night."}"#)
        .await
        .unwrap();
    let answer = world.client.details(200, "100000007").await;
    assert_eq!(answer.nonprofit()["locationAddress"], "Keene, NH");
    assert_eq!(answer.nonprofit()["description"], "Open all night.");
    assert_eq!(prove(&world.app).await.unwrap().differences, [""; 0]);
}
