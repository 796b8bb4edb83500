//! Missing or damaged snapshot files: the app serves from the database and rebuilds the snapshot.

use crate::files::{bmf, nonprofit_rows};
use crate::world::World;
use std::fs;
use std::path::{Path, PathBuf};

on_both_databases!(
    a_missing_snapshot_is_rebuilt,
    a_truncated_snapshot_is_set_aside_and_rebuilt,
    an_empty_snapshot_is_set_aside_and_rebuilt,
    a_snapshot_with_a_flipped_bit_is_set_aside_and_rebuilt,
    a_snapshot_of_another_database_is_not_used,
    a_flipped_bit_is_detected_anywhere_in_the_file,
);

fn damaged_files(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.data().join("directory")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "damaged"))
        .collect()
}

/// Damages the snapshot, restarts, and asserts that the app serves the same until it has a new snapshot.
async fn assert_recovery(world: &World, is_set_aside: bool, damage: impl Fn(&Path)) {
    world.import_irs(bmf(&nonprofit_rows(50))).await.unwrap();
    let before = world.client.details(200, "100000007").await;
    let [snapshot] = world.snapshots().try_into().unwrap();
    let intact = fs::read(&snapshot).unwrap();
    damage(&snapshot);
    let (app, client) = world.restart().await;
    assert!(app.directory.view().snapshot.is_none());
    assert_eq!(damaged_files(world).len(), usize::from(is_set_aside));
    let not_ready = client.get_plain(503, "/readyz").await;
    assert_eq!(not_ready.json["reasons"][0]["reason"], "no_snapshot");
    let from_store = client.details(200, "100000007").await;
    assert_eq!(from_store.body, before.body);
    client.details(200, "shelter-100000007-house").await;
    client.details(404, "no-such-nonprofit").await;
    app.refresh_directory().await.unwrap();
    assert_eq!(app.directory.view().snapshot.as_ref().unwrap().len(), 50);
    assert_eq!(client.get_plain(200, "/readyz").await.json["status"], "ready");
    let from_snapshot = client.details(200, "100000007").await;
    assert_eq!(from_snapshot.body, before.body);
    assert_eq!(from_snapshot.header("etag"), before.header("etag"));
    assert_eq!(
        fs::read(&snapshot).unwrap(),
        intact,
        "the same database gives the same file"
    );
    app.db.close().await;
}

async fn a_missing_snapshot_is_rebuilt(world: &World) {
    assert_recovery(world, false, |path| fs::remove_file(path).unwrap()).await;
}

async fn a_truncated_snapshot_is_set_aside_and_rebuilt(world: &World) {
    assert_recovery(world, true, |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 100]).unwrap();
    })
    .await;
}

async fn an_empty_snapshot_is_set_aside_and_rebuilt(world: &World) {
    assert_recovery(world, true, |path| fs::write(path, "").unwrap()).await;
}

async fn a_snapshot_with_a_flipped_bit_is_set_aside_and_rebuilt(world: &World) {
    assert_recovery(world, true, |path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
    })
    .await;
}

async fn a_snapshot_of_another_database_is_not_used(world: &World) {
    assert_recovery(world, false, |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[16..32].fill(7);
        let end = header_checksum_at(&bytes);
        let checksum = crc32fast::hash(&bytes[..end]);
        bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
        fs::write(path, bytes).unwrap();
    })
    .await;
}

async fn a_flipped_bit_is_detected_anywhere_in_the_file(world: &World) {
    use directory::snapshot::Snapshot;
    world.import_irs(bmf(&nonprofit_rows(3))).await.unwrap();
    let [snapshot] = world.snapshots().try_into().unwrap();
    let intact = fs::read(&snapshot).unwrap();
    let copy = world.data().join("copy");
    let mut undetected = Vec::new();
    for index in 0..intact.len() {
        let mut bytes = intact.clone();
        bytes[index] ^= 0x10;
        fs::write(&copy, bytes).unwrap();
        if Snapshot::open(&copy).is_ok() {
            undetected.push(index);
        }
    }
    // Padding between sections is not covered: at most 7 bytes for each of 7 parts.
    assert!(undetected.len() <= 49, "{undetected:?}");
}

/// The offset of the header's checksum: after 68 bytes and 12 for each section.
pub fn header_checksum_at(bytes: &[u8]) -> usize {
    68 + 12 * u32::from_le_bytes(bytes[64..68].try_into().unwrap()) as usize
}
