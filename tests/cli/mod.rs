//! The binary, run as a command.

mod anchors;
mod backup;
mod blobs;
mod books;
mod check;
mod checkpoints;
mod database;
pub mod directory;
mod disburse;
mod doctor;
mod donation;
mod donor;
mod eligibility;
mod exit_codes;
mod history;
mod import;
mod keys;
mod matching;
mod mcp;
mod metrics;
mod moderation;
mod permissions;
mod receipts;
mod running_server;
mod scratch_server;
mod secret_file;
pub mod secrets;
pub mod server;
mod shared_snapshots;
mod store_copy;
mod traces;
mod user;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The binary, without the settings that the tests themselves read from the environment.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CAUSEWAY_")) {
            command.env_remove(name);
        }
    }
    // No load balancer has to notice that a server stops.
    command.env("CAUSEWAY_SERVE__DRAIN", "0");
    command
}

/// A folder in which commands are run, with a data folder in it.
pub struct Cli {
    pub folder: TempDir,
}

/// The output of a command.
pub struct Output {
    pub stdout: String,
    pub stderr: String,
}

impl Cli {
    pub fn new() -> Cli {
        Cli {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `causeway ARGUMENTS --data FOLDER` and asserts the exit code.
    pub fn run(&self, expected: i32, arguments: &[&str]) -> Output {
        let output = binary()
            .args(arguments)
            .arg("--data")
            .arg(self.path().join("data"))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            output.status.code(),
            Some(expected),
            "{arguments:?}\n{stdout}\n{stderr}"
        );
        Output { stdout, stderr }
    }

    /// Runs a command that prints one JSON object.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let stdout = self.run(0, &[arguments, &["--json"]].concat()).stdout;
        assert_eq!(stdout.lines().count(), 1, "{stdout}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// Runs a command that fails, and returns its error: one line with the reason, one line with what to do.
    pub fn fail(&self, arguments: &[&str]) -> String {
        let stderr = self.run(1, arguments).stderr;
        let lines: Vec<_> = stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{stderr}");
        assert!(
            lines[0].starts_with("causeway: ") && lines[1].starts_with("  "),
            "{stderr}"
        );
        stderr
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), content).unwrap();
    }
}
