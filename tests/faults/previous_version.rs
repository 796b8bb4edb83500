//! The previous version runs beside the current schema, as during a rolling upgrade.
//!
//! A migration whose first line says "Stop the previous version" is exempt: then servers have to be stopped first.

use crate::database::Database;
use crate::files::Files;
use crate::instance::{BINARY, Instance, eventually};
use crate::server::Server;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const STOP: &str = "-- Stop the previous version";

#[test]
fn the_previous_version_runs_beside_the_current_schema() {
    let Some(tag) = newest_tag() else {
        println!("skipped: no tag yet");
        return;
    };
    let migrations = new_migrations(&tag);
    if let Some(line) = migrations.iter().find(|line| line.starts_with(STOP)) {
        println!("skipped: {line}");
        return;
    }
    let previous = build(&tag);
    for database in [Database::Sqlite, Database::Postgres] {
        if database.is_available() {
            run_beside(&previous, database);
        }
    }
}

/// Starts a server of the previous version, migrates the database under it, and uses both versions.
fn run_beside(previous: &Path, database: Database) {
    let instance = Instance::uninitialized(database, 100);
    let files = Files::new(instance.folder.path(), 400);
    let eins = files.sample(20);
    let run = |binary: &Path, arguments: &[&str]| {
        let mut command = Command::new(binary);
        instance.configure(&mut command);
        let output = command
            .args(arguments)
            .arg("--json")
            .output()
            .expect("the binary runs");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            crate::instance::stderr_of(&output)
        );
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("one JSON object")
    };
    run(previous, &["account", "create", "ada"]);
    let key = run(
        previous,
        &["key", "create", "--account", "ada", "--kind", "public"],
    );
    let path = |ein: &str| {
        let key = key["key"].as_str().expect("a text");
        format!("/v0.2/nonprofit/{ein}?apiKey={key}")
    };
    let old = Server::start_binary(&instance, previous);
    let current = Path::new(BINARY);
    let file = files.a.display().to_string();
    run(current, &["import", "irs", "--force", &file]);
    let new = Server::start(&instance, &[]);
    for server in [&old, &new] {
        eventually("both versions show an import of the new one", || {
            eins.iter()
                .all(|ein| server.get(&path(ein)).status == new.get(&path(ein)).status)
                && server.get(&path(&eins[1])).status == 200
        });
    }
    run(current, &["key", "revoke", key["id"].as_str().expect("a text")]);
    for server in [&old, &new] {
        eventually("both versions refuse a revoked key", || {
            server.get(&path(&eins[0])).status == 401
        });
    }
    run(current, &["check"]);
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .current_dir(ROOT)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The newest tag of a version before this commit.
fn newest_tag() -> Option<String> {
    let tags = git(&[
        "tag",
        "--merged",
        "HEAD",
        "--sort=-version:refname",
        "--list",
        "v*",
    ])?;
    tags.lines().next().map(str::to_owned)
}

/// The first lines of the migrations that a version does not have.
fn new_migrations(tag: &str) -> Vec<String> {
    let folder = Path::new(ROOT).join("migrations/postgres");
    let listed = git(&["ls-tree", "--name-only", tag, "migrations/postgres/"]).unwrap_or_default();
    let before: BTreeSet<&str> = listed
        .lines()
        .filter_map(|path| path.rsplit('/').next())
        .collect();
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let new = entries.filter(|entry| !before.contains(entry.file_name().to_str().unwrap_or_default()));
    let texts = new.map(|entry| std::fs::read_to_string(entry.path()).expect("a migration"));
    texts
        .map(|text| text.lines().next().unwrap_or_default().to_owned())
        .collect()
}

/// Builds the binary of a version, once.
fn build(tag: &str) -> PathBuf {
    let folder = Path::new(ROOT).join("target/previous-version").join(tag);
    let source = folder.join("source");
    std::fs::create_dir_all(&source).expect("a folder");
    let extract = format!(
        "git -C '{ROOT}' archive '{tag}' | tar -x -C '{}'",
        source.display()
    );
    run(Command::new("sh").args(["-c", &extract]));
    let target = folder.join("target");
    run(Command::new("cargo")
        .args(["build", "--locked", "--bin", "causeway"])
        .current_dir(&source)
        .env("CARGO_TARGET_DIR", &target));
    target.join("debug/causeway")
}

fn run(command: &mut Command) {
    let status = command.status().expect("a command");
    assert!(status.success(), "{command:?}");
}
