//! A snapshot that was damaged while no server ran is never answered from.

use crate::dice::Dice;
use crate::files::Files;
use crate::place::{Place, SOON, eventually};
use crate::store::Kind;
use std::fs;
use std::path::{Path, PathBuf};

const ROWS: usize = 400;
const OVERLAY_LIMIT: usize = 50;
const SAMPLES: usize = 8;
/// Where the number of the format stands in the file. One with another format is replaced, not set aside.
const FORMAT: std::ops::Range<u64> = 8..12;

#[test]
fn a_damaged_snapshot_is_set_aside_and_built_anew_on_sqlite() {
    damage_snapshots(Kind::Sqlite, 50);
}

#[test]
fn a_damaged_snapshot_is_set_aside_and_built_anew_on_postgres() {
    damage_snapshots(Kind::Postgres, 15);
}

fn damage_snapshots(kind: Kind, rounds: usize) {
    if !kind.is_here() {
        return;
    }
    let mut place = Place::new(kind, OVERLAY_LIMIT);
    let files = Files::new(place.folder.path(), ROWS);
    let eins = files.sample(SAMPLES);
    // The folder holds the snapshot of an older directory beside the newest, which must not be shown either.
    let shown = place.learn(&place.serve(), &files, &eins);
    let revision = place.store.revision();
    for round in 0..rounds {
        let newest = newest_snapshot(&place.data);
        let aside = newest.with_extension("snapshot.damaged");
        let _ = fs::remove_file(&aside);
        let is_set_aside = damage(&newest, round, &mut place.dice);
        let server = place.serve();
        assert_eq!(
            place.ask_all(&server, &eins),
            shown[1],
            "at once, in round {round}"
        );
        server.await_revision(&place.path(&eins[0]), revision);
        assert_eq!(
            place.ask_all(&server, &eins),
            shown[1],
            "from the new snapshot, in round {round}"
        );
        eventually(SOON, "the snapshot is there again", || {
            newest_snapshot(&place.data) == newest
        });
        assert_eq!(aside.exists(), is_set_aside, "in round {round}");
        drop(server);
    }
    place.check();
}

/// Damages a file, each round in another way. Will it be set aside?
fn damage(path: &Path, round: usize, dice: &mut Dice) -> bool {
    let mut bytes = fs::read(path).expect("a snapshot");
    let length = bytes.len() as u64;
    let mut is_set_aside = true;
    match round % 5 {
        // Few bytes are of the header and the tables, so every other flip goes there.
        0 | 1 => {
            let end = if round.is_multiple_of(2) {
                length
            } else {
                length.min(200)
            };
            let at = dice.below(end);
            bytes[at as usize] ^= 1 << dice.below(8);
            is_set_aside = !FORMAT.contains(&at);
        }
        2 => bytes.truncate(dice.below(length) as usize),
        3 => bytes.clear(),
        _ => {
            fs::remove_file(path).expect("a snapshot");
            return false;
        }
    }
    fs::write(path, bytes).expect("room for a snapshot");
    is_set_aside
}

fn newest_snapshot(data: &Path) -> PathBuf {
    let entries = fs::read_dir(data.join("directory")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "snapshot"))
        .max()
        .expect("a snapshot")
}
