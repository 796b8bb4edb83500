//! Only the owner of the data folder can read what is in it.

use super::Cli;
use crate::files::{bmf, nonprofit_rows};
use crate::wait::wait_until;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A transparent picture of one pixel.
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn a_data_folder_is_private_whatever_the_umask() {
    let cli = Cli::new();
    let file = bmf(&nonprofit_rows(300));
    cli.write("eo.csv", format!("{file}not a row\r\n"));
    cli.write(
        "more.jsonl",
        format!("{{\"ein\":\"100000001\",\"name\":\"A\",\"logo\":\"{PICTURE}\"}}\n"),
    );
    let data = cli.path().join("data");
    let permissive = |arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "umask 000; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_causeway"),
        ]);
        command.args(arguments).arg("--data").arg(&data);
        command.current_dir(cli.path()).stdin(Stdio::null());
        command
    };
    for arguments in [
        &["import", "irs", "eo.csv", "--force"][..],
        &["import", "nonprofits", "more.jsonl"],
        &["account", "create", "ada", "--email", "ada@example.org"],
    ] {
        let output = permissive(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
    }
    let arguments = [
        "serve",
        "--empty",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "off",
    ];
    let server = permissive(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _server = Running(server.unwrap());
    let expected = [
        "causeway.db",
        "causeway.db-shm",
        "causeway.db-wal",
        "opening",
        "reports/",
        "blobs/pictures/",
        ".snapshot",
        ".sitemaps",
    ];
    let mut found = Vec::new();
    wait_until("the server has written its files", || {
        found = list(&data);
        let names = found.iter().map(|path| path.display().to_string());
        let names: Vec<_> = names.collect();
        expected
            .iter()
            .all(|part| names.iter().any(|name| name.contains(part)))
    });
    assert_eq!(mode_of(&data), 0o700);
    for path in found.iter().filter(|path| path.exists()) {
        assert_eq!(mode_of(path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn every_command_refuses_a_data_folder_that_others_can_read() {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&nonprofit_rows(3)));
    let data = cli.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["import", "irs", "eo.csv"],
        &["search", "food"],
        &["account", "list"],
        &["key", "list"],
        &["limit", "list"],
        &["donation", "export"],
        &["check"],
    ] {
        let error = cli.fail(arguments);
        let remedy = format!("\n  run: chmod 700 {}\n", data.display());
        assert!(error.ends_with(&remedy), "{arguments:?}: {error}");
        assert_eq!(list(&data), Vec::<PathBuf>::new(), "{arguments:?} created files");
    }
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
    cli.run(0, &["account", "list"]);
}

#[test]
fn files_with_other_permissions_are_restricted_at_the_next_start() {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&nonprofit_rows(3)));
    cli.run(0, &["import", "irs", "eo.csv"]);
    let data = cli.path().join("data");
    let notes = data.join("notes.txt");
    fs::write(&notes, "of the operator").unwrap();
    for path in list(&data) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    cli.run(0, &["account", "list"]);
    for path in list(&data).iter().filter(|path| **path != notes) {
        assert_eq!(mode_of(path) & 0o077, 0, "{}", path.display());
    }
    assert_eq!(mode_of(&notes), 0o644, "a file that is not ours was changed");
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Everything in a folder, at any depth.
fn list(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(list(&path));
        }
        found.push(path);
    }
    found
}

fn mode_of(path: &Path) -> u32 {
    // A temporary file may be gone by now.
    fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o7777)
}
