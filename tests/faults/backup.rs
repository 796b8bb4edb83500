//! A backup that is taken while donations are written as fast as possible contains everything that was acknowledged
//! before it began, and can be restored elsewhere.
//!
//! `CAUSEWAY_BACKUP_ROUNDS` sets the number of backups.

use crate::database::Database;
use crate::instance::{Instance, eventually, rounds, scaled, stderr_of};
use crate::ledger::Workload;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Rounds for each database, unless `CAUSEWAY_BACKUP_ROUNDS` is set.
const ROUNDS: u32 = 1;
/// Donations in one file. A file is acknowledged as a whole.
const DONATIONS_PER_FILE: usize = 500;
/// Pictures that are added in each round.
const PICTURES_PER_ROUND: u32 = 3;
/// Backups that are killed for each database, unless `CAUSEWAY_BACKUP_ROUNDS` is set.
const KILLS: u32 = 3;

#[test]
fn a_backup_under_writes_restores_to_the_state_at_its_point_on_sqlite() {
    back_up_under_writes(Database::Sqlite);
}

#[test]
fn a_backup_under_writes_restores_to_the_state_at_its_point_on_postgres() {
    back_up_under_writes(Database::Postgres);
}

#[test]
fn a_killed_backup_is_not_restored_on_sqlite() {
    kill_backups(Database::Sqlite);
}

#[test]
fn a_killed_backup_is_not_restored_on_postgres() {
    kill_backups(Database::Postgres);
}

fn back_up_under_writes(database: Database) {
    if !database.is_available() {
        return;
    }
    let rounds = rounds("CAUSEWAY_BACKUP_ROUNDS", ROUNDS);
    let mut workload = Workload::new(Instance::new(database, 1_000));
    let server = workload.instance.serve();
    workload.begin(server.address);
    let (workload, instance) = (&workload, &workload.instance);
    let (is_over, is_paused) = (AtomicBool::new(false), AtomicBool::new(true));
    let acknowledged = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let _guard = StopGuard(&is_over);
        // While one of them starts or reads its file, the other writes.
        for importer in ["a", "b"] {
            let (is_over, is_paused, acknowledged) = (&is_over, &is_paused, &acknowledged);
            scope.spawn(move || import_donations(workload, importer, is_over, is_paused, acknowledged));
        }
        scope.spawn(|| create_fundraisers(workload, server.address, &is_over, &is_paused, &acknowledged));
        for round in 0..rounds {
            add_pictures(instance, round);
            // Between rounds nobody writes, so that the time of a round does not grow with what is written meanwhile.
            let written = acknowledged.lock().expect("a list").len();
            is_paused.store(false, Ordering::Relaxed);
            eventually("a file was imported", || {
                acknowledged.lock().expect("a list").len() > written + scaled(DONATIONS_PER_FILE)
            });
            let before = acknowledged.lock().expect("a list").clone();
            let backup = instance.folder.path().join(format!("backup-{}", round % 2));
            let start = Instant::now();
            let first = instance.database.entries();
            let taken = instance.run(&["backup", text(&backup)]);
            let last = instance.database.entries();
            let rate = (last - first) as f64 / start.elapsed().as_secs_f64();
            is_paused.store(true, Ordering::Relaxed);
            let restored = restore(database, &backup);
            verify(workload, &restored, &taken, &before);
            println!(
                "{database:?}: round {}: {} acknowledged before, {} entries in the backup, {rate:.0} entries per second \
                 while it was taken",
                round + 1,
                before.len(),
                taken["ledger"]["entries"],
            );
        }
    });
}

/// Ends the writers when a check fails, so that the test does not wait for them forever.
struct StopGuard<'a>(&'a AtomicBool);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Imports file after file of donations, and adds the external IDs of each file that was acknowledged.
fn import_donations(
    workload: &Workload,
    importer: &str,
    is_over: &AtomicBool,
    is_paused: &AtomicBool,
    acknowledged: &Mutex<Vec<String>>,
) {
    let instance = &workload.instance;
    let (nonprofit, fundraiser) = (workload.nonprofit(), workload.fundraiser());
    let file = instance.folder.path().join(format!("donations-{importer}.jsonl"));
    for number in 0.. {
        let ids: Vec<String> = (0..scaled(DONATIONS_PER_FILE))
            .map(|line| format!("donation-{importer}-{number}-{line}"))
            .collect();
        let lines = ids.iter().map(|id| {
            format!(
                "{{\"nonprofit\":\"{nonprofit}\",\"fundraiser\":\"{fundraiser}\",\"amount\":250,\"donor\":\"{id}\",\
                 \"externalId\":\"{id}\",\"name\":\"Ana\"}}\n"
            )
        });
        fs::write(&file, lines.collect::<String>()).expect("a writable test file");
        if !may_write(is_over, is_paused) {
            return;
        }
        // A busy machine may not commit a batch in time. Then the command says so, and continues when it is repeated.
        eventually("a file is imported", || {
            let output = instance.command(&["donation", "import", text(&file)]).output();
            let output = output.expect("the binary runs");
            let error = stderr_of(&output);
            assert!(
                output.status.success() || error.contains("run this again"),
                "{error}"
            );
            output.status.success()
        });
        acknowledged.lock().expect("a list").extend(ids);
    }
}

/// Waits while writers are paused. Returns `false` when the test is over.
fn may_write(is_over: &AtomicBool, is_paused: &AtomicBool) -> bool {
    while is_paused.load(Ordering::Relaxed) && !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(5));
    }
    !is_over.load(Ordering::Relaxed)
}

/// Creates fundraisers through the API, and adds the external ID of the entry of each one.
fn create_fundraisers(
    workload: &Workload,
    server: std::net::SocketAddr,
    is_over: &AtomicBool,
    is_paused: &AtomicBool,
    acknowledged: &Mutex<Vec<String>>,
) {
    for number in 0.. {
        if !may_write(is_over, is_paused) {
            return;
        }
        let response = workload.create_when_available(server, &format!("create-{number}"));
        let body = response.json();
        let id = body["data"]["fundraiser"]["id"].as_str().expect("an ID");
        acknowledged.lock().expect("a list").push(format!("{id} 1"));
    }
}

fn add_pictures(instance: &Instance, round: u32) {
    let file = instance.folder.path().join("pictures.jsonl");
    let lines = (0..PICTURES_PER_ROUND).map(|line| {
        let number = round * PICTURES_PER_ROUND + line;
        let logo = BASE64_STANDARD.encode(png_of(number));
        format!(
            "{{\"ein\":\"{:09}\",\"name\":\"Nonprofit {number}\",\"logo\":\"data:image/png;base64,{logo}\"}}\n",
            20_000_000 + number
        )
    });
    fs::write(&file, lines.collect::<String>()).expect("a writable file");
    instance.run(&["import", "nonprofits", text(&file)]);
}

fn png_of(number: u32) -> Vec<u8> {
    const SIDE: u32 = 48;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIDE, SIDE);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("memory takes all bytes");
    let [red, green, blue, _] = number.to_le_bytes();
    writer
        .write_image_data(&[red, green, blue].repeat((SIDE * SIDE) as usize))
        .expect("the size fits");
    writer.finish().expect("memory takes all bytes");
    bytes
}

/// Restores a backup to a new instance, which checks it.
fn restore(database: Database, backup: &Path) -> Instance {
    let restored = Instance::uninitialized(database, 1_000);
    restored.run(&["restore", text(backup)]);
    restored
}

/// Asserts that a restored instance is a state of the source, with everything that was acknowledged before.
fn verify(workload: &Workload, restored: &Instance, taken: &Value, before: &[String]) {
    let source = &workload.instance;
    let checked = restored.run(&["check"]);
    assert_eq!(checked["entries"], taken["ledger"]["entries"]);
    // The source has more entries by now. Those of the backup are its first ones.
    let (copy, original) = (export(restored), export(source));
    assert_eq!(copy.len() as u64, checked["entries"].as_u64().expect("a number"));
    assert!(original.len() >= copy.len());
    assert!(original.iter().zip(&copy).all(|(one, other)| one == other));
    let ids: std::collections::HashSet<String> = copy
        .iter()
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("a JSON object");
            line["externalId"].as_str().expect("an ID").to_owned()
        })
        .collect();
    for id in before {
        assert!(
            ids.contains(id),
            "{id} was acknowledged before the backup began, and is not in it"
        );
    }
    let (pictures, originals) = (pictures(restored), pictures(source));
    assert_eq!(
        pictures.len() as u64,
        taken["pictures"].as_u64().expect("a number")
    );
    for (name, bytes) in &pictures {
        assert_eq!(originals.get(name), Some(bytes), "{name}");
    }
    // A server on the restored instance answers, and goes on writing.
    let server = restored.serve();
    let path = format!("/v0.2/nonprofit/{}?apiKey={}", workload.nonprofit(), source.key);
    assert_eq!(server.get(&path).status, 200);
    let created = workload
        .create(server.address, "after the restore")
        .expect("a response");
    assert_eq!(created.status, 200, "{}", String::from_utf8_lossy(&created.body));
    server.stop();
    restored.check();
}

/// The ledger as JSON Lines.
fn export(instance: &Instance) -> Vec<String> {
    let output = instance
        .command(&["donation", "export"])
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", stderr_of(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

/// The original pictures of an instance, by name.
fn pictures(instance: &Instance) -> BTreeMap<String, Vec<u8>> {
    let root = instance.data.join("blobs");
    let mut found = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).expect("a file in the folder");
            let name = name.display().to_string();
            // Scaled pictures are made again when they are needed.
            if !name.contains(".w") {
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of plain characters")
}

fn kill_backups(database: Database) {
    if !database.is_available() {
        return;
    }
    let mut instance = Instance::new(database, 1_000);
    for round in 0..8 {
        add_pictures(&instance, round);
    }
    let start = Instant::now();
    let complete = instance.folder.path().join("complete");
    instance.run(&["backup", text(&complete)]);
    let usual_duration = start.elapsed();
    let kills = rounds("CAUSEWAY_BACKUP_ROUNDS", KILLS);
    let mut killed = 0;
    for round in 0..kills {
        let backup: PathBuf = instance.folder.path().join(format!("killed-{round}"));
        let mut command = instance.command(&["backup", text(&backup)]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().expect("the binary runs");
        let moment = instance.random.below(usual_duration.as_micros() as u64);
        thread::sleep(Duration::from_micros(moment));
        process.kill().expect("a process that can be killed");
        let status = process.wait().expect("a process");
        if status.success() || backup.join("manifest.json").exists() {
            continue;
        }
        killed += 1;
        let target = Instance::uninitialized(database, 1_000);
        let refused = target.command(&["restore", text(&backup)]).output();
        let refused = refused.expect("the binary runs");
        let error = stderr_of(&refused);
        assert_eq!(refused.status.code(), Some(1), "{error}");
        assert!(
            error.contains("no complete backup") || error.contains("there is no folder"),
            "{error}"
        );
        assert!(!target.data.exists(), "a refused restore creates nothing");
        // The next backup to the same place is complete.
        instance.run(&["backup", text(&backup)]);
        target.run(&["restore", text(&backup)]);
    }
    println!("{database:?}: killed {killed} of {kills} backups");
    instance.check();
}
