//! An import that is killed at any moment leaves the directory before it or after it, and nothing else.

use crate::files::Files;
use crate::place::{Place, SOON, eventually, told};
use crate::server::Server;
use crate::store::Kind;
use std::fs;
use std::time::{Duration, Instant};

const ROWS: usize = 2_500;
const OVERLAY_LIMIT: usize = 500;
const SAMPLES: usize = 12;
/// Rounds for each database, where `CAUSEWAY_FAULT_ROUNDS` says nothing else.
const ROUNDS: u64 = 25;

#[test]
fn an_import_killed_at_any_moment_leaves_the_old_directory_or_the_new_one_on_sqlite() {
    kill_imports(Kind::Sqlite);
}

#[test]
fn an_import_killed_at_any_moment_leaves_the_old_directory_or_the_new_one_on_postgres() {
    kill_imports(Kind::Postgres);
}

fn kill_imports(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let rounds = std::env::var("CAUSEWAY_FAULT_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(ROUNDS);
    let mut place = Place::new(kind, OVERLAY_LIMIT);
    let files = Files::new(place.folder.path(), ROWS);
    let eins = files.sample(SAMPLES);
    let server = place.serve();
    let shown = place.learn(&server, &files, &eins);
    assert!(
        shown[0].iter().zip(&shown[1]).all(|(a, b)| a != b),
        "the sample tells the files apart"
    );

    let mut newest = 1;
    let mut usual = Duration::ZERO;
    let (mut before_commit, mut after_commit, mut too_late) = (0, 0, 0);
    for round in 0..rounds {
        let other = 1 - newest;
        let file = [&files.a, &files.b][other];
        // The first round kills at once; from then on the last whole import shows how long one takes.
        let moment = match round {
            0 => Duration::ZERO,
            _ => Duration::from_micros(place.dice.below(usual.as_micros() as u64 * 5 / 4)),
        };
        let revision = place.store.revision();
        let watched = Watched {
            place: &place,
            server: &server,
            eins: &eins,
            old: &shown[newest],
            new: &shown[other],
        };
        let lived = watched.import_until(file, moment);
        match lived {
            true => too_late += 1,
            false if place.store.revision() > revision => after_commit += 1,
            false => before_commit += 1,
        }
        place.check();
        eventually(SOON, "the server shows what the store holds", || {
            let wanted = if place.store.revision() > revision {
                other
            } else {
                newest
            };
            place.ask_all(&server, &eins) == shown[wanted]
        });
        let came_through = place.store.revision() > revision;
        let begun = Instant::now();
        let summary = place.import(file);
        if !came_through {
            usual = begun.elapsed();
        }
        let touched = ["new", "changed", "gone"]
            .iter()
            .filter_map(|field| summary[field].as_u64())
            .sum::<u64>();
        assert_eq!(
            touched == 0,
            came_through,
            "the import says what it did: {summary}"
        );
        place.await_answers(&server, &eins, &shown[other]);
        no_leftovers(&place);
        newest = other;
    }
    println!(
        "{kind:?}: killed {before_commit} before and {after_commit} after the commit, {too_late} had ended"
    );
}

/// An import beside a server that is asked all the time.
struct Watched<'a> {
    place: &'a Place,
    server: &'a Server,
    eins: &'a [String],
    old: &'a [String],
    new: &'a [String],
}

impl Watched<'_> {
    /// Imports, and kills after a while. Did it end by itself?
    ///
    /// What the server says meanwhile goes from old to new once and never back.
    fn import_until(&self, file: &std::path::Path, moment: Duration) -> bool {
        let begun = Instant::now();
        let mut process = self.place.start_import(file);
        let mut turned = false;
        for at in (0..self.eins.len()).cycle() {
            if begun.elapsed() >= moment {
                process.kill().expect("a process that can be killed");
            }
            if process.try_wait().expect("a process").is_some() {
                break;
            }
            // Half a millisecond is what the moment is exact to; the rest of the time belongs to the import.
            std::thread::sleep(Duration::from_micros(500).min(moment.saturating_sub(begun.elapsed())));
            let said = self.place.ask(self.server, &self.eins[at]);
            if said == self.new[at] {
                turned = true;
            } else {
                assert_eq!(said, self.old[at], "an answer of neither file");
                assert!(!turned, "the server went back to the old directory");
            }
        }
        let output = process.wait_with_output().expect("a process");
        assert!(
            output.status.success() || output.status.code().is_none(),
            "the import failed: {}",
            told(&output)
        );
        output.status.success()
    }
}

/// Killed imports leave nothing that piles up.
fn no_leftovers(place: &Place) {
    let names = |folder: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a plain name")
            })
            .collect()
    };
    let known = [
        "causeway.db",
        "causeway.db-wal",
        "causeway.db-shm",
        "opening",
        "blobs",
        "directory",
        "reports",
    ];
    let data = names(&place.data);
    assert!(
        data.iter().all(|name| known.contains(&name.as_str())),
        "leftovers in the data folder: {data:?}"
    );
    let directory = names(&place.data.join("directory"));
    let snapshots = directory
        .iter()
        .filter(|name| name.ends_with(".snapshot"))
        .count();
    let others = directory
        .iter()
        .filter(|name| !name.ends_with(".snapshot") && *name != "lock")
        .count();
    assert!(
        snapshots <= 2 && others <= 1,
        "leftovers beside the snapshot: {directory:?}"
    );
}
