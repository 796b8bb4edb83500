//! Snapshots older than the database: not used after a large import, which does not record what it changed.

use crate::files::{bmf, nonprofit_rows};
use crate::world::World;
use crate::world::check_directory;
use causeway::app::App;

on_both_databases!(
    a_server_serves_from_the_database_until_its_snapshot_is_built,
    a_running_server_shows_a_large_import_by_another_process,
);

/// Imports like a process that exits before it builds a snapshot, with an overlay limit of 10 changes.
async fn import_and_exit(world: &World, city: &str) {
    let mut config = world.app.config.clone();
    config.directory.overlay_limit = 10;
    let app = App::build(config).await.unwrap();
    let rows: Vec<_> = nonprofit_rows(50)
        .into_iter()
        .map(|row| row.with("CITY", city))
        .collect();
    let file = world.file("eo.csv", bmf(&rows));
    assert_eq!(
        app.importer().import_irs(&[file], false).await.unwrap().changed,
        50
    );
    app.db.close().await;
}

async fn a_server_serves_from_the_database_until_its_snapshot_is_built(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(50))).await.unwrap();
    let before = world.client.details(200, "100000007").await;
    import_and_exit(world, "KEENE").await;
    let (app, client) = world.restart().await;
    let at_start = client.details(200, "100000007").await;
    assert_eq!(at_start.nonprofit()["locationAddress"], "Keene, NH");
    assert!(
        !at_start.headers.contains_key("etag"),
        "a response from the database has an ETag"
    );
    app.refresh_directory().await.unwrap();
    let after = client.details(200, "100000007").await;
    assert_eq!(after.nonprofit()["locationAddress"], "Keene, NH");
    assert_ne!(after.header("etag"), before.header("etag"));
    assert_eq!(check_directory(&app).await.unwrap().differences, [""; 0]);
    app.db.close().await;
}

async fn a_running_server_shows_a_large_import_by_another_process(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(50))).await.unwrap();
    import_and_exit(world, "KEENE").await;
    world
        .import_nonprofits(r#"{"ein":"100000007","description":"Open all night."}"#)
        .await
        .unwrap();
    let response = world.client.details(200, "100000007").await;
    assert_eq!(response.nonprofit()["locationAddress"], "Keene, NH");
    assert_eq!(response.nonprofit()["description"], "Open all night.");
    assert_eq!(check_directory(&world.app).await.unwrap().differences, [""; 0]);
}
