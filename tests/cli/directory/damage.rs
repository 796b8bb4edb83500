//! Snapshot files that are missing, cut or flipped: the service answers from the store and builds anew.

use crate::files::{bmf, bodies};
use crate::world::World;
use std::fs;
use std::path::{Path, PathBuf};

on_both_databases!(
    a_missing_snapshot_is_built_anew,
    a_truncated_snapshot_is_set_aside_and_built_anew,
    an_empty_snapshot_is_set_aside_and_built_anew,
    a_snapshot_with_a_flipped_byte_is_set_aside_and_built_anew,
    a_snapshot_of_another_store_is_not_used,
    no_flipped_byte_anywhere_goes_unnoticed,
);

fn damaged_files(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.data().join("directory")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "damaged"))
        .collect()
}

/// Spoils the snapshot, starts again, and follows the service until it has a new one.
async fn recovers_from(world: &World, is_set_aside: bool, spoil: impl Fn(&Path)) {
    world.import_irs(bmf(&bodies(50))).await.unwrap();
    let before = world.client.details(200, "100000007").await;
    let [snapshot] = world.snapshots().try_into().unwrap();
    let good = fs::read(&snapshot).unwrap();
    spoil(&snapshot);
    let (app, client) = world.restart().await;
    assert!(app.directory.view().snapshot.is_none());
    assert_eq!(damaged_files(world).len(), usize::from(is_set_aside));
    assert_eq!(client.get_plain(200, "/readyz").await.json["status"], "ready");
    let from_store = client.details(200, "100000007").await;
    assert_eq!(from_store.body, before.body);
    client.details(200, "shelter-100000007-house").await;
    client.details(404, "no-such-body").await;
    app.refresh_directory().await.unwrap();
    assert_eq!(app.directory.view().snapshot.as_ref().unwrap().len(), 50);
    let from_snapshot = client.details(200, "100000007").await;
    assert_eq!(from_snapshot.body, before.body);
    assert_eq!(from_snapshot.header("etag"), before.header("etag"));
    assert_eq!(
        fs::read(&snapshot).unwrap(),
        good,
        "the same store gives the same file"
    );
    app.db.close().await;
}

async fn a_missing_snapshot_is_built_anew(world: &World) {
    recovers_from(world, false, |path| fs::remove_file(path).unwrap()).await;
}

async fn a_truncated_snapshot_is_set_aside_and_built_anew(world: &World) {
    recovers_from(world, true, |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 100]).unwrap();
    })
    .await;
}

async fn an_empty_snapshot_is_set_aside_and_built_anew(world: &World) {
    recovers_from(world, true, |path| fs::write(path, "").unwrap()).await;
}

async fn a_snapshot_with_a_flipped_byte_is_set_aside_and_built_anew(world: &World) {
    recovers_from(world, true, |path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
    })
    .await;
}

async fn a_snapshot_of_another_store_is_not_used(world: &World) {
    recovers_from(world, false, |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[16..32].fill(7);
        let end = crate::cli::directory::damage::header_checksum_at(&bytes);
        let checksum = crc32fast::hash(&bytes[..end]);
        bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
        fs::write(path, bytes).unwrap();
    })
    .await;
}

async fn no_flipped_byte_anywhere_goes_unnoticed(world: &World) {
    use causeway::directory::snapshot::Snapshot;
    world.import_irs(bmf(&bodies(3))).await.unwrap();
    let [snapshot] = world.snapshots().try_into().unwrap();
    let good = fs::read(&snapshot).unwrap();
    let copy = world.data().join("copy");
    let mut unnoticed = Vec::new();
    for place in 0..good.len() {
        let mut bytes = good.clone();
        bytes[place] ^= 0x10;
        fs::write(&copy, bytes).unwrap();
        if Snapshot::open(&copy).is_ok() {
            unnoticed.push(place);
        }
    }
    // Padding between sections holds nothing: at most seven bytes for each of seven parts.
    assert!(unnoticed.len() <= 49, "{unnoticed:?}");
}

/// Where the checksum of the header stands: after 52 bytes and 12 for each section.
pub fn header_checksum_at(bytes: &[u8]) -> usize {
    52 + 12 * u32::from_le_bytes(bytes[48..52].try_into().unwrap()) as usize
}
