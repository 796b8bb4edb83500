//! An import killed at any moment leaves either the old directory or the new one.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually, rounds, stderr_of};
use crate::server::Server;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const ROWS: usize = 2_500;
const OVERLAY_LIMIT: usize = 500;
const SAMPLES: usize = 12;
/// Rounds for each database, unless `CAUSEWAY_FAULT_ROUNDS` is set.
const ROUNDS: u64 = 4;
/// The precision of the moment at which an import is killed. The rest of the time belongs to the import.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

#[test]
fn a_killed_import_leaves_the_old_or_the_new_directory_on_sqlite() {
    kill_imports(Database::Sqlite);
}

#[test]
fn a_killed_import_leaves_the_old_or_the_new_directory_on_postgres() {
    kill_imports(Database::Postgres);
}

fn kill_imports(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut instance = Instance::new(database, OVERLAY_LIMIT);
    let files = Files::new(instance.folder.path(), ROWS);
    let eins = files.sample(SAMPLES);
    let server = instance.serve();
    let facts = instance.learn_facts(&server, &files, &eins);
    assert!(
        facts[0].iter().zip(&facts[1]).all(|(a, b)| a != b),
        "the sample distinguishes the files"
    );

    let mut newest = 1;
    let mut usual_duration = Duration::ZERO;
    let (mut before_commit, mut after_commit, mut finished) = (0, 0, 0);
    for round in 0..rounds("CAUSEWAY_FAULT_ROUNDS", ROUNDS) {
        let other = 1 - newest;
        let file = [&files.a, &files.b][other];
        // The first round kills immediately. Then the last complete import shows how long one takes.
        let moment = if round == 0 {
            Duration::ZERO
        } else {
            let end = usual_duration.as_micros() as u64 * 5 / 4;
            Duration::from_micros(instance.random.below(end.max(1)))
        };
        let revision = instance.database.revision();
        let import = WatchedImport {
            instance: &instance,
            server: &server,
            eins: &eins,
            old: &facts[newest],
            new: &facts[other],
        };
        let is_finished = import.run_until(file, moment);
        instance.wait_until_idle();
        if is_finished {
            finished += 1;
        } else if instance.database.revision() > revision {
            after_commit += 1;
        } else {
            before_commit += 1;
        }
        instance.check();
        eventually("the server shows what the database contains", || {
            let expected = if instance.database.revision() > revision {
                other
            } else {
                newest
            };
            instance.all_facts(&server, &eins) == facts[expected]
        });
        let is_stored = instance.database.revision() > revision;
        let start = Instant::now();
        let summary = instance.import(file);
        if !is_stored {
            usual_duration = start.elapsed();
        }
        let touched = ["new", "changed", "gone"]
            .iter()
            .filter_map(|field| summary[field].as_u64())
            .sum::<u64>();
        assert_eq!(
            touched == 0,
            is_stored,
            "the summary matches what was stored: {summary}"
        );
        instance.wait_for_facts(&server, &eins, &facts[other]);
        assert_no_leftovers(&instance);
        newest = other;
    }
    println!(
        "{database:?}: {before_commit} killed before and {after_commit} after the commit, {finished} finished"
    );
}

/// An import next to a server that gets requests all the time.
struct WatchedImport<'a> {
    instance: &'a Instance,
    server: &'a Server,
    eins: &'a [String],
    old: &'a [String],
    new: &'a [String],
}

impl WatchedImport<'_> {
    /// Runs the import and kills it after a while. Returns whether it had finished.
    ///
    /// Asserts that the server switches from the old to the new directory at most once.
    fn run_until(&self, file: &Path, moment: Duration) -> bool {
        let start = Instant::now();
        let mut process = self.instance.start_import(file);
        let mut has_switched = false;
        for at in (0..self.eins.len()).cycle() {
            if start.elapsed() >= moment {
                process.kill().expect("a process that can be killed");
            }
            if process.try_wait().expect("a process").is_some() {
                break;
            }
            std::thread::sleep(POLL_INTERVAL.min(moment.saturating_sub(start.elapsed())));
            let shown = self.instance.facts(self.server, &self.eins[at]);
            if shown == self.new[at] {
                has_switched = true;
            } else {
                assert_eq!(shown, self.old[at], "a response from neither file");
                assert!(!has_switched, "the server went back to the old directory");
            }
        }
        let output = process.wait_with_output().expect("a process");
        assert!(
            output.status.success() || output.status.code().is_none(),
            "the import failed: {}",
            stderr_of(&output)
        );
        output.status.success()
    }
}

/// Asserts that killed imports leave no files that accumulate.
fn assert_no_leftovers(instance: &Instance) {
    let names = |folder: &Path| -> Vec<String> {
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
        "secret",
        "blobs",
        "directory",
        "reports",
    ];
    let data = names(&instance.data);
    assert!(
        data.iter().all(|name| known.contains(&name.as_str())),
        "leftovers in the data folder: {data:?}"
    );
    // The server may be writing the next snapshot or its sitemaps now, and deletes the previous ones afterwards. What a
    // killed import was writing remains until the next snapshot is built.
    eventually("only the current files are next to the snapshot", || {
        let directory = names(&instance.data.join("directory"));
        let snapshots = directory
            .iter()
            .filter(|name| name.ends_with(".snapshot"))
            .count();
        let others = directory
            .iter()
            .filter(|name| !name.ends_with(".snapshot"))
            .filter(|name| !["lock", "keys"].contains(&name.as_str()))
            .count();
        snapshots <= 2 && others <= 2
    });
}
