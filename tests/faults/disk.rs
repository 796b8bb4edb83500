//! A disk without room fails an import with a clear word and leaves the directory as it was.
//!
//! A small file system of its own shows it as it is, where one may be mounted. A limit on the size of files fails
//! writes in the same places for anybody.

use crate::files::Files;
use crate::place::{BINARY, Place, SOON, eventually, told};
use crate::server::Server;
use crate::store::Kind;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROWS: usize = 1_500;
const OVERLAY_LIMIT: usize = 300;
const ROUNDS: usize = 10;
/// Holds the directory twice, with the log of the database.
const DISK: &str = "48m";

#[test]
fn a_full_disk_fails_an_import_and_nothing_else_on_sqlite() {
    fill_disk(Kind::Sqlite);
}

#[test]
fn a_full_disk_fails_an_import_and_nothing_else_on_postgres() {
    fill_disk(Kind::Postgres);
}

#[test]
fn a_file_that_cannot_grow_fails_an_import_and_nothing_else_on_sqlite() {
    limit_files(Kind::Sqlite);
}

#[test]
fn a_file_that_cannot_grow_fails_an_import_and_nothing_else_on_postgres() {
    limit_files(Kind::Postgres);
}

fn fill_disk(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let Some(_disk) = Disk::mount(&data) else {
        println!("not run: no file system may be mounted here; the tests with limited files stand in for it");
        return;
    };
    let filler = data.join("filler");
    let mut tried = Tried::new(Place::at(kind, OVERLAY_LIMIT, folder, data));
    for round in 0..ROUNDS {
        // A server that starts anew begins with an empty log of the database, which has to grow then.
        tried.restart();
        let room = tried.room(round);
        fill(&filler, room);
        tried.import_in_need(|place, file| {
            place
                .command(&["import", "irs", "--force"])
                .arg(file)
                .output()
                .expect("the binary runs")
        });
        fs::remove_file(&filler).expect("a file");
        tried.import_in_plenty();
    }
    assert!(tried.failed > 0, "no import ran out of room");
}

fn limit_files(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let mut tried = Tried::new(Place::new(kind, OVERLAY_LIMIT));
    for round in 0..ROUNDS {
        let blocks = tried.room(round) / 512;
        tried.import_in_need(|place, file| {
            // In blocks of 512 bytes; without the signal the write fails like one on a full disk.
            let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
            let mut command = Command::new("sh");
            place.settle(&mut command);
            command
                .args(["-c", &limited, "sh", BINARY, "import", "irs", "--force"])
                .arg(file);
            command.output().expect("a shell")
        });
        tried.import_in_plenty();
    }
    assert!(tried.failed > 0, "no import ran out of room");
}

/// A server, and the two files that are imported in turn.
struct Tried {
    server: Server,
    place: Place,
    files: Files,
    eins: Vec<String>,
    shown: [Vec<String>; 2],
    newest: usize,
    failed: usize,
}

impl Tried {
    fn new(place: Place) -> Tried {
        let files = Files::new(place.folder.path(), ROWS);
        let eins = files.sample(8);
        let server = place.serve();
        let shown = place.learn(&server, &files, &eins);
        Tried {
            server,
            place,
            files,
            eins,
            shown,
            newest: 1,
            failed: 0,
        }
    }

    /// How much room there is in a round: none in the first, then more often little than much.
    fn room(&mut self, round: usize) -> u64 {
        let most = 1 << (15 + self.place.dice.below(8));
        if round == 0 {
            0
        } else {
            self.place.dice.below(most)
        }
    }

    fn restart(&mut self) {
        self.server.terminate();
        eventually(SOON, "the server stops", || self.server.ended().is_some());
        self.server = self.place.serve();
    }

    fn file(&self) -> PathBuf {
        [&self.files.a, &self.files.b][1 - self.newest].clone()
    }

    /// An import that may fail: then it says why, and the server goes on as before.
    fn import_in_need(&mut self, import: impl FnOnce(&Place, &Path) -> Output) {
        let revision = self.place.store.revision();
        let output = import(&self.place, &self.file());
        let is_stored = self.place.store.revision() > revision;
        let said = self.place.ask_all(&self.server, &self.eins);
        match output.status.code() {
            Some(0) => assert!(is_stored),
            Some(1) => {
                self.failed += 1;
                is_clear(&told(&output), is_stored);
                // What is stored may show before there is room, and nothing else may.
                let is_as_it_was = said == self.shown[self.newest];
                assert!(is_as_it_was || is_stored && said == self.shown[1 - self.newest]);
            }
            other => panic!("{other:?}: {}", told(&output)),
        }
    }

    /// With room again the server catches up by itself, and the next import works.
    fn import_in_plenty(&mut self) {
        let file = self.file();
        self.newest = 1 - self.newest;
        self.place.import(&file);
        eventually(SOON, "the server shows the newest import", || {
            self.place.ask_all(&self.server, &self.eins) == self.shown[self.newest]
        });
        self.place.check();
    }
}

/// One line why, one line what to do about it.
fn is_clear(told: &str, is_stored: bool) {
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("causeway: "),
        "not one line and another: {told}"
    );
    assert!(told.contains("room"), "what is missing is room: {told}");
    assert_eq!(
        told.contains("is stored"),
        is_stored,
        "whether the import stands: {told}"
    );
}

/// Leaves `room` bytes on a disk.
pub fn fill(path: &Path, room: u64) {
    let mut file = File::create(path).expect("room for a name");
    let block = [1; 4096];
    let mut written = 0u64;
    while file.write_all(&block).is_ok() {
        written += block.len() as u64;
    }
    file.set_len(written.saturating_sub(room))
        .expect("a file can shrink");
}

/// A small disk.
pub struct Disk(PathBuf);

impl Disk {
    pub fn mount(at: &Path) -> Option<Disk> {
        fs::create_dir(at).expect("a folder");
        let options = format!("size={DISK}");
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
