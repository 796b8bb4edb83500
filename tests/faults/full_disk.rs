//! An import on a full disk fails with a clear message and leaves the directory unchanged.
//!
//! Where a file system can be mounted, the tests fill a small one. A limit on the file size fails writes in the same
//! places without special permissions.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{BINARY, Instance, eventually, rounds, stderr_of};
use crate::server::Server;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROWS: usize = 1_500;
const OVERLAY_LIMIT: usize = 300;
/// Rounds for each database, unless `CAUSEWAY_DISK_ROUNDS` is set.
const ROUNDS: usize = 4;
/// Large enough for two copies of the directory and the write-ahead log.
const DISK_SIZE: &str = "48m";

#[test]
fn a_full_disk_only_fails_the_import_on_sqlite() {
    fill_disk(Database::Sqlite);
}

#[test]
fn a_full_disk_only_fails_the_import_on_postgres() {
    fill_disk(Database::Postgres);
}

#[test]
fn a_file_size_limit_only_fails_the_import_on_sqlite() {
    limit_file_size(Database::Sqlite);
}

#[test]
fn a_file_size_limit_only_fails_the_import_on_postgres() {
    limit_file_size(Database::Postgres);
}

fn fill_disk(database: Database) {
    if !database.is_available() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let Some(_disk) = Disk::mount(&data) else {
        println!(
            "skipped: no file system can be mounted here; the tests with a file size limit cover the same code"
        );
        return;
    };
    let filler = data.join("filler");
    let mut test = ImportTest::new(Instance::at(database, OVERLAY_LIMIT, folder, data));
    for round in 0..rounds("CAUSEWAY_DISK_ROUNDS", ROUNDS) {
        // A restarted server begins with an empty write-ahead log, which then has to grow.
        test.restart();
        let free = test.free_bytes(round);
        fill(&filler, free);
        test.import_on_full_disk(|instance, file| {
            instance
                .command(&["import", "irs", "--force"])
                .arg(file)
                .output()
                .expect("the binary runs")
        });
        fs::remove_file(&filler).expect("a file");
        test.import_with_free_disk();
    }
    assert!(test.failed > 0, "no import failed");
}

fn limit_file_size(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut test = ImportTest::new(Instance::new(database, OVERLAY_LIMIT));
    for round in 0..rounds("CAUSEWAY_DISK_ROUNDS", ROUNDS) {
        let blocks = test.free_bytes(round) / 512;
        test.import_on_full_disk(|instance, file| {
            // In blocks of 512 bytes. Without the signal, the write fails like one on a full disk.
            let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
            let mut command = Command::new("sh");
            instance.configure(&mut command);
            command
                .args(["-c", &limited, "sh", BINARY, "import", "irs", "--force"])
                .arg(file);
            command.output().expect("a shell")
        });
        test.import_with_free_disk();
    }
    assert!(test.failed > 0, "no import failed");
}

/// A server, and two files that are imported in turn.
struct ImportTest {
    server: Server,
    instance: Instance,
    files: Files,
    eins: Vec<String>,
    facts: [Vec<String>; 2],
    newest: usize,
    failed: usize,
}

impl ImportTest {
    fn new(instance: Instance) -> ImportTest {
        let files = Files::new(instance.folder.path(), ROWS);
        let eins = files.sample(8);
        let server = instance.serve();
        let facts = instance.learn_facts(&server, &files, &eins);
        ImportTest {
            server,
            instance,
            files,
            eins,
            facts,
            newest: 1,
            failed: 0,
        }
    }

    /// The space left on the disk in a round: none in the first, then small amounts more often than large ones.
    fn free_bytes(&mut self, round: usize) -> u64 {
        let most = 1 << (15 + self.instance.random.below(8));
        if round == 0 {
            0
        } else {
            self.instance.random.below(most)
        }
    }

    fn restart(&mut self) {
        self.server.terminate();
        eventually("the server stops", || self.server.exit_status().is_some());
        self.server = self.instance.serve();
    }

    fn next_file(&self) -> PathBuf {
        [&self.files.a, &self.files.b][1 - self.newest].clone()
    }

    /// Runs an import that may fail. If it does, it says why, and the server continues as before.
    fn import_on_full_disk(&mut self, import: impl FnOnce(&Instance, &Path) -> Output) {
        let revision = self.instance.database.revision();
        let output = import(&self.instance, &self.next_file());
        let is_stored = self.instance.database.revision() > revision;
        let shown = self.instance.all_facts(&self.server, &self.eins);
        match output.status.code() {
            Some(0) => assert!(is_stored),
            Some(1) => {
                self.failed += 1;
                assert_clear_error(&stderr_of(&output), is_stored);
                // An import that was stored may already be shown.
                let is_unchanged = shown == self.facts[self.newest];
                assert!(is_unchanged || is_stored && shown == self.facts[1 - self.newest]);
            }
            other => panic!("{other:?}: {}", stderr_of(&output)),
        }
    }

    /// With free space, the server catches up by itself, and the next import succeeds.
    fn import_with_free_disk(&mut self) {
        let file = self.next_file();
        self.newest = 1 - self.newest;
        self.instance.import(&file);
        eventually("the server shows the newest import", || {
            self.instance.all_facts(&self.server, &self.eins) == self.facts[self.newest]
        });
        self.instance.check();
    }
}

/// Asserts one line with the reason, one line with what to do, and whether the import is stored.
fn assert_clear_error(stderr: &str, is_stored: bool) {
    // An import that takes long reports its progress before.
    let error = stderr.lines().skip_while(|line| !line.starts_with("causeway: "));
    assert_eq!(error.count(), 2, "not two lines: {stderr}");
    assert!(stderr.contains("disk"), "the reason is missing: {stderr}");
    assert_eq!(
        stderr.contains("is stored"),
        is_stored,
        "whether the import is stored: {stderr}"
    );
}

/// Fills a disk up to `free` bytes.
pub fn fill(path: &Path, free: u64) {
    let mut file = File::create(path).expect("a new file");
    let block = [1; 4096];
    let mut written = 0u64;
    while file.write_all(&block).is_ok() {
        written += block.len() as u64;
    }
    file.set_len(written.saturating_sub(free))
        .expect("a file can shrink");
}

/// A small file system in memory.
pub struct Disk(PathBuf);

impl Disk {
    pub fn mount(at: &Path) -> Option<Disk> {
        fs::create_dir(at).expect("a folder");
        let options = format!("size={DISK_SIZE},mode=700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(at)
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then(|| Disk(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
