//! `causeway backup` and `causeway restore`

use super::binary;
use super::server::wait_for_database;
use crate::database::PostgresDatabase;
use crate::s3::empty_store;
use crate::world::World;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use platform::db::Db;
use secrecy::ExposeSecret;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

on_both_databases!(
    a_restored_backup_is_the_same_store,
    another_backup_to_the_same_place_copies_only_new_pictures,
    a_verified_backup_was_restored_to_a_scratch_place,
    a_backup_that_fails_its_check_does_not_replace_the_last_one,
    a_restore_refuses_a_target_that_is_not_empty,
    a_restore_refuses_a_damaged_backup,
    a_backup_without_a_manifest_is_incomplete,
    a_destination_belongs_to_one_store,
    a_lost_picture_does_not_prevent_a_backup,
    a_backup_in_a_bucket_is_restored,
);

/// A place for a store: a data folder, and a database on PostgreSQL.
struct Place {
    folder: TempDir,
    database: Option<PostgresDatabase>,
}

impl Place {
    /// An empty place for a store like that of a world.
    async fn empty_for(world: &World) -> Place {
        Place {
            folder: tempfile::tempdir().unwrap(),
            database: match &world.app.db {
                Db::Sqlite { .. } => None,
                Db::Postgres(_) => Some(PostgresDatabase::create_empty().await),
            },
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, expected: i32, arguments: &[&str]) -> (Value, String) {
        let url = self.database.as_ref().map(PostgresDatabase::url);
        run_at(&self.data(), url.as_deref(), expected, arguments)
    }

    async fn remove(self) {
        if let Some(database) = self.database {
            database.remove().await;
        }
    }
}

/// Runs a command on the store of a world, and returns its JSON output and its error.
fn run(world: &World, expected: i32, arguments: &[&str]) -> (Value, String) {
    let url = world.app.config.database.url.as_ref();
    run_at(
        world.data(),
        url.map(ExposeSecret::expose_secret),
        expected,
        arguments,
    )
}

fn run_at(data: &Path, url: Option<&str>, expected: i32, arguments: &[&str]) -> (Value, String) {
    let mut command = binary();
    command
        .args(arguments)
        .arg("--json")
        .arg("--data")
        .arg(data)
        .stdin(Stdio::null());
    if let Some(url) = url {
        command.args(["--database-url", url]);
        wait_for_database(&mut command);
    }
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {error}");
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), error)
}

/// Adds nonprofits with a picture each, which depends on `number`.
async fn add_pictures(world: &World, numbers: std::ops::Range<u8>) {
    let mut lines = String::new();
    for number in numbers {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 8, 8);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[number; 8 * 8 * 3]).unwrap();
        writer.finish().unwrap();
        let logo = BASE64_STANDARD.encode(&bytes);
        lines.extend([format!(
            "{{\"ein\":\"20000000{number}\",\"name\":\"Nonprofit {number}\",\"logo\":\"data:image/png;base64,{logo}\"}}\n"
        )]);
    }
    world.import_nonprofits(&lines).await.unwrap();
}

fn donate(world: &World, number: u32) {
    let id = format!("d-{number}");
    run(
        world,
        0,
        &[
            "donation",
            "record",
            "--nonprofit",
            "530196605",
            "--amount",
            "2500",
            "--donor",
            &id,
            "--external-id",
            &id,
            "--name",
            "Ana",
        ],
    );
}

async fn fill(world: &World) {
    world.load_demo().await;
    add_pictures(world, 1..4).await;
    donate(world, 1);
    donate(world, 2);
}

/// All files in a folder, by their path in it.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, path));
            }
        }
    }
    found.sort();
    found
}

/// Finds a file of a backup by a part of its name.
fn find(backup: &Path, part: &str) -> PathBuf {
    let mut found = files(backup).into_iter();
    found.find(|(name, _)| name.contains(part)).unwrap().1
}

fn place_for_backup() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup").display().to_string();
    (folder, backup)
}

async fn a_restored_backup_is_the_same_store(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    let (before, _) = run(world, 0, &["check", "--full"]);
    let (taken, _) = run(world, 0, &["backup", &backup]);
    assert_eq!(
        (&taken["pictures"], &taken["ledger"]["entries"]),
        (&3.into(), &2.into())
    );
    let last = platform::backup::store::find(&world.app.db)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (last.destination.as_str(), last.verified_at),
        (backup.as_str(), None)
    );
    assert_eq!(last.bytes, taken["bytes"].as_i64().unwrap());
    // What happens afterwards is not part of the backup.
    donate(world, 3);
    add_pictures(world, 4..5).await;

    let mode_of = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode_of(Path::new(&backup)), 0o700);
    for (name, path) in files(Path::new(&backup)) {
        assert_eq!(mode_of(&path), 0o600, "{name}");
        assert_eq!(mode_of(path.parent().unwrap()), 0o700, "{name}");
    }

    let target = Place::empty_for(world).await;
    let (restored, _) = target.run(0, &["restore", &backup]);
    assert_eq!(restored["ledger"], taken["ledger"]);
    let (after, _) = target.run(0, &["check", "--full"]);
    assert_eq!(after, before);
    let secret = |data: &Path| fs::read(data.join("secret")).unwrap();
    assert_eq!(secret(&target.data()), secret(world.data()));
    assert_eq!(mode_of(&target.data().join("secret")), 0o600);
    let blobs = files(&target.data().join("blobs"));
    assert_eq!(blobs.len(), 3);
    for (name, path) in blobs {
        let original = world.data().join("blobs").join(&name);
        assert_eq!(fs::read(path).unwrap(), fs::read(original).unwrap(), "{name}");
    }
    let settings = fs::read_to_string(target.data().join("restored.toml")).unwrap();
    assert!(
        settings.contains(&world.data().display().to_string()),
        "{settings}"
    );
    let (accounts, _) = target.run(0, &["account", "list"]);
    assert_eq!(accounts, run(world, 0, &["account", "list"]).0);
    target.remove().await;
}

async fn a_backup_in_a_bucket_is_restored(world: &World) {
    let Some(bucket) = empty_store() else {
        return;
    };
    fill(world).await;
    let (before, _) = run(world, 0, &["check", "--full"]);
    let (taken, _) = run(world, 0, &["backup", &bucket, "--verify"]);
    assert_eq!(
        (&taken["pictures"], &taken["verified"]),
        (&3.into(), &true.into())
    );
    let target = Place::empty_for(world).await;
    target.run(0, &["restore", &bucket]);
    let (after, _) = target.run(0, &["check", "--full"]);
    assert_eq!(after, before);
    assert_eq!(files(&target.data().join("blobs")).len(), 3);
    // A later backup replaces it.
    donate(world, 3);
    let (taken, _) = run(world, 0, &["backup", &bucket]);
    assert_eq!(taken["ledger"]["entries"], 3);
    let other = Place::empty_for(world).await;
    let (restored, _) = other.run(0, &["restore", &bucket]);
    assert_eq!(restored["ledger"], taken["ledger"]);
    // A bucket that cannot be reached is noticed before anything is copied.
    let (address, parameters) = bucket.split_once('?').unwrap();
    let missing = format!(
        "{}-missing?{parameters}",
        address.replace('/', "-").replacen("s3:--", "s3://", 1)
    );
    let (_, error) = run(world, 1, &["backup", &missing]);
    assert!(error.contains("bucket"), "{error}");
    target.remove().await;
    other.remove().await;
}

async fn another_backup_to_the_same_place_copies_only_new_pictures(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    let (first, _) = run(world, 0, &["backup", &backup]);
    assert_eq!(
        (&first["picturesCopied"], &first["picturesSkipped"]),
        (&3.into(), &0.into())
    );
    let old_secret = find(Path::new(&backup), "secret");
    donate(world, 3);
    add_pictures(world, 4..6).await;
    let (second, _) = run(world, 0, &["backup", &backup]);
    assert_eq!(
        (&second["picturesCopied"], &second["picturesSkipped"]),
        (&2.into(), &3.into())
    );
    assert!(!old_secret.exists(), "the replaced backup was removed");
    // Without a manifest, pictures are recognized by their content.
    fs::remove_file(Path::new(&backup).join("manifest.json")).unwrap();
    let damaged = find(Path::new(&backup), "blobs/");
    fs::write(&damaged, "damaged").unwrap();
    let (third, _) = run(world, 0, &["backup", &backup]);
    assert_eq!(
        (&third["picturesCopied"], &third["picturesSkipped"]),
        (&1.into(), &4.into())
    );
    let target = Place::empty_for(world).await;
    let (restored, _) = target.run(0, &["restore", &backup]);
    assert_eq!(restored["ledger"]["entries"], 3);
    target.remove().await;
}

async fn a_verified_backup_was_restored_to_a_scratch_place(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    let (taken, _) = run(world, 0, &["backup", &backup, "--verify"]);
    assert_eq!(taken["verified"], true);
    let last = platform::backup::store::find(&world.app.db)
        .await
        .unwrap()
        .unwrap();
    assert!(last.verified_at.is_some_and(|at| at >= last.created_at));
    assert_no_scratch(world);
}

/// Asserts that no scratch folder is left. Other stories may be using a scratch database.
fn assert_no_scratch(world: &World) {
    let mut names = fs::read_dir(world.data()).unwrap();
    assert!(!names.any(|entry| {
        entry
            .unwrap()
            .file_name()
            .to_str()
            .unwrap()
            .starts_with("verify-")
    }));
}

async fn a_backup_that_fails_its_check_does_not_replace_the_last_one(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    run(world, 0, &["backup", &backup, "--verify"]);
    let manifest = fs::read(Path::new(&backup).join("manifest.json")).unwrap();
    world
        .execute("update ledger_entries set amount = 1 where sequence = 1")
        .await;
    let (_, error) = run(world, 1, &["backup", &backup, "--verify"]);
    assert!(
        error.contains("the last one was kept") && error.contains("ledger"),
        "{error}"
    );
    assert_no_scratch(world);
    assert_eq!(
        fs::read(Path::new(&backup).join("manifest.json")).unwrap(),
        manifest
    );
    let target = Place::empty_for(world).await;
    target.run(0, &["restore", &backup]);
    target.remove().await;
}

async fn a_restore_refuses_a_target_that_is_not_empty(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    run(world, 0, &["backup", &backup]);
    let (before, _) = run(world, 0, &["check", "--full"]);
    let (_, error) = run(world, 1, &["restore", &backup]);
    let expected = match &world.app.db {
        Db::Sqlite { .. } => "already has a database",
        Db::Postgres(_) => "the database is not empty",
    };
    assert!(error.contains(expected), "{error}");
    assert_eq!(run(world, 0, &["check", "--full"]).0, before);

    let target = Place::empty_for(world).await;
    platform::data_folder::create_folder(&target.data()).unwrap();
    fs::write(target.data().join("secret"), "mine").unwrap();
    let (_, error) = target.run(1, &["restore", &backup]);
    assert!(error.contains("a restore overwrites nothing"), "{error}");
    assert_eq!(fs::read_to_string(target.data().join("secret")).unwrap(), "mine");

    // A backup of one database is not restored to the other.
    let folder = tempfile::tempdir().unwrap();
    let other = PostgresDatabase::create_empty().await;
    let url = matches!(world.app.db, Db::Sqlite { .. }).then(|| other.url());
    let (_, error) = run_at(
        &folder.path().join("data"),
        url.as_deref(),
        1,
        &["restore", &backup],
    );
    assert!(error.contains("causeway store copy"), "{error}");
    other.remove().await;
    target.remove().await;
}

async fn a_restore_refuses_a_damaged_backup(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    run(world, 0, &["backup", &backup]);
    let target = Place::empty_for(world).await;
    let store = match &world.app.db {
        Db::Sqlite { .. } => "store.db",
        Db::Postgres(_) => "store.dump",
    };
    for part in [store, "secret", "settings.toml", "blobs/"] {
        let path = find(Path::new(&backup), part);
        let original = fs::read(&path).unwrap();
        let mut damaged = original.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(&path, damaged).unwrap();
        let (_, error) = target.run(1, &["restore", &backup]);
        assert!(error.contains("is damaged") && error.contains(part), "{error}");
        fs::remove_file(&path).unwrap();
        let (_, error) = target.run(1, &["restore", &backup]);
        assert!(error.contains("is missing") && error.contains(part), "{error}");
        fs::write(&path, original).unwrap();
    }
    let manifest = Path::new(&backup).join("manifest.json");
    let original = fs::read_to_string(&manifest).unwrap();
    for (damaged, expected) in [
        (original[..original.len() / 2].to_owned(), "is damaged"),
        (
            original.replace("\"format\": 1", "\"format\": 2"),
            "another version",
        ),
        (
            original.replace("\"migration\": ", "\"migration\": 9"),
            "newer version",
        ),
    ] {
        fs::write(&manifest, damaged).unwrap();
        let (_, error) = target.run(1, &["restore", &backup]);
        assert!(error.contains(expected), "{error}");
    }
    fs::write(&manifest, original).unwrap();
    // None of the refused restores has left anything in the way.
    target.run(0, &["restore", &backup]);
    target.remove().await;
}

async fn a_backup_without_a_manifest_is_incomplete(world: &World) {
    fill(world).await;
    let (folder, backup) = place_for_backup();
    run(world, 0, &["backup", &backup]);
    fs::remove_file(Path::new(&backup).join("manifest.json")).unwrap();
    let target = Place::empty_for(world).await;
    let (_, error) = target.run(1, &["restore", &backup]);
    assert!(error.contains("no complete backup"), "{error}");
    let missing = folder.path().join("nowhere").display().to_string();
    let (_, error) = target.run(1, &["restore", &missing]);
    assert!(error.contains("there is no folder"), "{error}");
    assert!(!Path::new(&missing).exists() && !target.data().exists());
    target.remove().await;
}

async fn a_destination_belongs_to_one_store(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    run(world, 0, &["backup", &backup]);
    let other = Place::empty_for(world).await;
    let (_, error) = other.run(1, &["backup", &backup]);
    assert!(error.contains("the backup of another store"), "{error}");
    other.remove().await;
}

async fn a_lost_picture_does_not_prevent_a_backup(world: &World) {
    fill(world).await;
    let (_folder, backup) = place_for_backup();
    let (name, lost) = files(&world.data().join("blobs")).remove(0);
    fs::remove_file(lost).unwrap();
    let (taken, error) = run(world, 1, &["backup", &backup]);
    assert!(
        error.contains("lacks 1 pictures") && error.contains(&name),
        "{error}"
    );
    assert_eq!(taken["damagedPictures"], serde_json::json!([name]));
    let target = Place::empty_for(world).await;
    let (_, error) = target.run(1, &["restore", &backup]);
    assert!(error.contains("1 pictures are damaged"), "{error}");
    assert_eq!(
        target.run(0, &["donation", "list"]).0["donations"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    target.remove().await;
}
