//! Servers that share a database: one builds the snapshot, and the others fetch it from the blob store.

use crate::client::Client;
use crate::files::{bmf, nonprofit_row};
use crate::s3::empty_store;
use crate::world::World;
use causeway::app::App;
use causeway::config::Config;
use directory::snapshot::refresh::RefreshOutcome;
use futures_util::TryStreamExt;
use platform::blobs::{Blob, Blobs};
use platform::lease::Lease;
use std::net::TcpListener;
use std::time::Duration;
use tokio::time::sleep;

on_both_databases!(
    only_one_process_holds_a_lease_until_it_is_released,
    a_lease_that_is_not_renewed_is_taken_over,
    a_lease_is_renewed_while_its_holder_works,
    a_renewal_in_flight_when_the_work_ends_leaves_no_transaction_open,
);

/// Runs each of the given stories on PostgreSQL, which several servers need.
macro_rules! on_postgres {
    ($($story:ident),* $(,)?) => {
        $(mod $story {
            #[test]
            fn postgres() {
                crate::world::run_story(crate::world::Database::Postgres, super::$story);
            }
        })*
    };
}

on_postgres!(
    one_server_builds_and_the_others_fetch,
    servers_share_snapshots_through_a_folder,
    a_server_that_joins_fetches_the_snapshot,
    a_damaged_or_missing_snapshot_is_not_used,
    a_server_takes_over_from_one_that_died_while_building,
    old_published_snapshots_are_removed,
    a_server_builds_its_own_snapshot_while_the_blob_store_is_away,
    servers_without_a_shared_blob_store_build_their_own,
    a_snapshot_of_another_store_or_version_is_left_alone,
);

const EIN: &str = "020240383";
const LONG: Duration = Duration::from_mins(10);
const SHORT: Duration = Duration::from_millis(300);
const LEASES: &str = "select name from leases";

/// A server with its own data folder. Every import needs a new snapshot.
async fn start(world: &World, blobs_url: &str, name: &str) -> App {
    let mut config = Config {
        data: world.data().join(name),
        blobs_url: blobs_url.to_owned(),
        ..world.app.config.clone()
    };
    config.directory.overlay_limit = 0;
    // A slow machine must not lose its lease.
    config.directory.build_lease = LONG;
    App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap()
}

/// Refreshes the directory of a server until it shows the store, and returns how many snapshots the server built.
async fn catch_up(app: &App) -> usize {
    let mut built = 0;
    while app.directory.refresh(0).await.unwrap() == RefreshOutcome::NeedsRebuild {
        built += usize::from(app.directory.rebuild().await.unwrap().is_some());
    }
    built
}

async fn import(app: &App, world: &World, name: &str) {
    let file = world.file("eo.csv", bmf(&[nonprofit_row(EIN, name)]));
    app.importer().import_irs(&[file], true).await.unwrap();
}

/// The name that a server shows.
async fn shown(app: &App, world: &World) -> String {
    let details = Client::new(app, &world.client.key).details(200, EIN).await;
    details.nonprofit()["name"].as_str().unwrap().to_owned()
}

async fn published(app: &App, suffix: &str) -> Vec<Blob> {
    let list = app.pictures.blobs().list("snapshots");
    let mut blobs: Vec<Blob> = list.try_collect().await.unwrap();
    blobs.retain(|blob| blob.name.ends_with(suffix));
    blobs
}

async fn one_server_builds_and_the_others_fetch(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    Box::pin(share_snapshots(world, &url)).await;
}

async fn servers_share_snapshots_through_a_folder(world: &World) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", folder.path().display());
    Box::pin(share_snapshots(world, &url)).await;
}

async fn share_snapshots(world: &World, url: &str) {
    let servers = [
        start(world, url, "a").await,
        start(world, url, "b").await,
        start(world, url, "c").await,
    ];
    let [a, b, c] = &servers;
    for name in ["Granite Town Library", "Pine River Friends"] {
        import(a, world, &name.to_uppercase()).await;
        let built = tokio::join!(catch_up(a), catch_up(b), catch_up(c));
        assert_eq!(built.0 + built.1 + built.2, 1, "{built:?}");
        for server in &servers {
            assert_eq!(shown(server, world).await, name);
        }
    }
    assert_eq!(world.texts(LEASES).await, [""; 0], "the lease is released");
    // The same bytes everywhere.
    let newest = |server: &App| {
        let folder = server.config.data.join("directory");
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let newest = files.filter(|path| path.extension().is_some_and(|suffix| suffix == "snapshot"));
        std::fs::read(newest.max().unwrap()).unwrap()
    };
    assert!(newest(a) == newest(b) && newest(b) == newest(c));
}

async fn a_server_that_joins_fetches_the_snapshot(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    let a = start(world, &url, "a").await;
    import(&a, world, "GRANITE TOWN LIBRARY").await;
    // As `causeway import` does.
    assert!(a.directory.build_after_import().await.unwrap().is_some());
    let b = start(world, &url, "b").await;
    assert!(
        b.directory.build_after_import().await.unwrap().is_none(),
        "what another server built contains the import"
    );
    assert_eq!(shown(&b, world).await, "Granite Town Library");
    let c = start(world, &url, "c").await;
    assert_eq!(catch_up(&c).await, 0);
    assert_eq!(shown(&c, world).await, "Granite Town Library");
    // After a restart it has its own copy.
    let c = start(world, "", "c").await;
    assert_eq!(catch_up(&c).await, 0);
}

async fn a_damaged_or_missing_snapshot_is_not_used(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    let a = start(world, &url, "a").await;
    import(&a, world, "GRANITE TOWN LIBRARY").await;
    assert_eq!(catch_up(&a).await, 1);
    let blobs = a.pictures.blobs();
    let file = published(&a, ".snapshot").await.remove(0).name;
    let mut bytes = blobs.find(&file).await.unwrap().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    blobs.put(&file, bytes).await.unwrap();
    let b = start(world, &url, "b").await;
    assert_eq!(catch_up(&b).await, 1, "it builds its own");
    assert_eq!(shown(&b, world).await, "Granite Town Library");

    let c = start(world, &url, "c").await;
    assert_eq!(catch_up(&c).await, 0, "it uses the one that is not damaged");
    for blob in published(&a, ".snapshot").await {
        blobs.remove(&blob.name).await.unwrap();
    }
    for blob in published(&a, ".json").await.iter().skip(1) {
        blobs.put(&blob.name, b"{".to_vec()).await.unwrap();
    }
    let d = start(world, &url, "d").await;
    assert_eq!(catch_up(&d).await, 1);
    assert_eq!(shown(&d, world).await, "Granite Town Library");
    let leftovers = std::fs::read_dir(d.config.data.join("directory")).unwrap();
    let leftovers = leftovers.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let leftovers: Vec<String> = leftovers.filter(|name| name.starts_with("building-")).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

async fn a_server_takes_over_from_one_that_died_while_building(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    let a = start(world, &url, "a").await;
    import(&a, world, "GRANITE TOWN LIBRARY").await;
    let died = Lease::try_acquire(&a.db, "snapshot", LONG).await.unwrap();
    assert!(died.is_some());
    for _ in 0..2 {
        let built = a.directory.rebuild().await.unwrap();
        assert!(built.is_none(), "another server builds");
    }
    world.execute("update leases set expires_at = 0").await;
    assert_eq!(catch_up(&a).await, 1);
    assert_eq!(shown(&a, world).await, "Granite Town Library");
}

async fn old_published_snapshots_are_removed(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    let a = start(world, &url, "a").await;
    a.pictures
        .blobs()
        .put("snapshots/notes.json", b"{}".to_vec())
        .await
        .unwrap();
    for name in ["ONE HOUSE", "TWO HOUSE", "THREE HOUSE", "FOUR HOUSE"] {
        import(&a, world, name).await;
        assert_eq!(catch_up(&a).await, 1);
    }
    assert_eq!(published(&a, ".snapshot").await.len(), 2);
    let manifests = published(&a, ".json").await;
    assert_eq!(
        manifests.len(),
        3,
        "the newest two, and a foreign file: {manifests:?}"
    );
    let b = start(world, &url, "b").await;
    assert_eq!(catch_up(&b).await, 0);
    assert_eq!(shown(&b, world).await, "Four House");
}

async fn a_server_builds_its_own_snapshot_while_the_blob_store_is_away(world: &World) {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("s3://snapshots?endpoint=http://{address}");
    let a = start(world, &url, "a").await;
    import(&a, world, "GRANITE TOWN LIBRARY").await;
    assert_eq!(catch_up(&a).await, 1);
    assert_eq!(shown(&a, world).await, "Granite Town Library");
    assert_eq!(world.texts(LEASES).await, [""; 0]);
}

async fn servers_without_a_shared_blob_store_build_their_own(world: &World) {
    let (a, b) = (start(world, "", "a").await, start(world, "", "b").await);
    import(&a, world, "GRANITE TOWN LIBRARY").await;
    assert_eq!(tokio::join!(catch_up(&a), catch_up(&b)), (1, 1));
    for server in [&a, &b] {
        assert_eq!(shown(server, world).await, "Granite Town Library");
    }
}

async fn a_snapshot_of_another_store_or_version_is_left_alone(world: &World) {
    let Some(url) = empty_store() else {
        return;
    };
    let a = start(world, &url, "a").await;
    import(&a, world, "GRANITE TOWN LIBRARY").await;
    assert_eq!(catch_up(&a).await, 1);
    let blobs: &Blobs = a.pictures.blobs();
    let manifest = published(&a, ".json").await.remove(0).name;
    let text = String::from_utf8(blobs.find(&manifest).await.unwrap().unwrap()).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["rules"] = (value["rules"].as_u64().unwrap() ^ 1).into();
    blobs
        .put(&manifest, value.to_string().into_bytes())
        .await
        .unwrap();
    let b = start(world, &url, "b").await;
    assert_eq!(catch_up(&b).await, 1);
    assert_eq!(
        published(&a, ".json").await.len(),
        2,
        "servers of the other version use it"
    );
}

async fn only_one_process_holds_a_lease_until_it_is_released(world: &World) {
    let db = &world.app.db;
    let first = Lease::try_acquire(db, "test", LONG).await.unwrap().unwrap();
    assert!(Lease::try_acquire(db, "test", LONG).await.unwrap().is_none());
    assert!(Lease::try_acquire(db, "other", LONG).await.unwrap().is_some());
    first.release().await.unwrap();
    assert!(Lease::try_acquire(db, "test", LONG).await.unwrap().is_some());
}

async fn a_lease_that_is_not_renewed_is_taken_over(world: &World) {
    let db = &world.app.db;
    let lapsed = Lease::try_acquire(db, "test", SHORT).await.unwrap().unwrap();
    while Lease::try_acquire(db, "test", LONG).await.unwrap().is_none() {
        sleep(SHORT / 3).await;
    }
    // It does not renew or release the lease of another process.
    lapsed.hold(sleep(SHORT)).await;
    lapsed.release().await.unwrap();
    assert!(Lease::try_acquire(db, "test", LONG).await.unwrap().is_none());
}

async fn a_lease_is_renewed_while_its_holder_works(world: &World) {
    const EXPIRES_AT: &str = "select cast(expires_at as text) from leases";
    let lease = Lease::try_acquire(&world.app.db, "test", Duration::from_secs(3))
        .await
        .unwrap();
    let lease = lease.unwrap();
    let first = world.texts(EXPIRES_AT).await;
    let renewal = async {
        while world.texts(EXPIRES_AT).await == first {
            sleep(SHORT / 3).await;
        }
    };
    lease.hold(renewal).await;
    lease.release().await.unwrap();
}

async fn a_renewal_in_flight_when_the_work_ends_leaves_no_transaction_open(world: &World) {
    let db = &world.app.db;
    for round in 0..300 {
        let lease = Lease::try_acquire(db, "test", Duration::from_millis(3))
            .await
            .unwrap();
        let lease = lease.unwrap();
        lease.hold(sleep(Duration::from_micros(1_000 + round * 10))).await;
        lease.release().await.unwrap();
        // A connection that is still in a transaction cannot begin this one.
        drop(db.view().await.unwrap());
    }
}
