//! A snapshot that was damaged while no server was running is never used.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually, rounds};
use crate::random::Random;
use std::fs;
use std::path::{Path, PathBuf};

const ROWS: usize = 400;
const OVERLAY_LIMIT: usize = 50;
const SAMPLES: usize = 8;
/// Rounds for each database, unless `CAUSEWAY_SNAPSHOT_ROUNDS` is set: each kind of damage twice.
const ROUNDS: usize = 10;
/// The position of the format number in the file. A snapshot of another format is replaced, not set aside.
const FORMAT: std::ops::Range<u64> = 8..12;

#[test]
fn a_damaged_snapshot_is_set_aside_and_rebuilt_on_sqlite() {
    damage_snapshots(Database::Sqlite);
}

#[test]
fn a_damaged_snapshot_is_set_aside_and_rebuilt_on_postgres() {
    damage_snapshots(Database::Postgres);
}

fn damage_snapshots(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut instance = Instance::new(database, OVERLAY_LIMIT);
    let files = Files::new(instance.folder.path(), ROWS);
    let eins = files.sample(SAMPLES);
    // The folder also contains the snapshot of an older directory, which must not be shown either.
    let facts = instance.learn_facts(&instance.serve(), &files, &eins);
    let revision = instance.database.revision();
    for round in 0..rounds("CAUSEWAY_SNAPSHOT_ROUNDS", ROUNDS) {
        let newest = newest_snapshot(&instance.data);
        let set_aside = newest.with_extension("snapshot.damaged");
        let _ = fs::remove_file(&set_aside);
        let is_set_aside = damage(&newest, round, &mut instance.random);
        let server = instance.serve();
        assert_eq!(
            instance.all_facts(&server, &eins),
            facts[1],
            "at startup in round {round}"
        );
        server.wait_for_revision(&instance.path(&eins[0]), revision);
        assert_eq!(
            instance.all_facts(&server, &eins),
            facts[1],
            "from the new snapshot in round {round}"
        );
        eventually("the snapshot exists again", || {
            newest_snapshot(&instance.data) == newest
        });
        assert_eq!(set_aside.exists(), is_set_aside, "in round {round}");
        drop(server);
    }
    instance.check();
}

/// Damages a file in a way that depends on the round. Returns whether the file will be set aside.
fn damage(path: &Path, round: usize, random: &mut Random) -> bool {
    let mut bytes = fs::read(path).expect("a snapshot");
    let length = bytes.len() as u64;
    let mut is_set_aside = true;
    match round % 5 {
        // Header and tables are a small part of the file, so every second flip goes there.
        0 | 1 => {
            let end = if round.is_multiple_of(2) {
                length
            } else {
                length.min(200)
            };
            let at = random.below(end);
            bytes[at as usize] ^= 1 << random.below(8);
            is_set_aside = !FORMAT.contains(&at);
        }
        2 => bytes.truncate(random.below(length) as usize),
        3 => bytes.clear(),
        _ => {
            fs::remove_file(path).expect("a snapshot");
            return false;
        }
    }
    fs::write(path, bytes).expect("a writable snapshot");
    is_set_aside
}

fn newest_snapshot(data: &Path) -> PathBuf {
    let entries = fs::read_dir(data.join("directory")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "snapshot"))
        .max()
        .expect("a snapshot")
}
