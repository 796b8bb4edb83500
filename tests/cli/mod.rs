//! The binary as people call it.

mod check;
mod database;
pub mod directory;
mod donation;
mod exit_codes;
mod import;
mod keys;
mod live;
mod person;
mod secrets;
mod server;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A data folder and a shell in it.
pub struct Shell {
    pub folder: TempDir,
}

/// What a command left behind.
pub struct Done {
    pub out: String,
    pub err: String,
}

impl Shell {
    pub fn new() -> Shell {
        Shell {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `causeway ARGUMENTS --data FOLDER` and expects an exit code.
    pub fn run(&self, expected: i32, arguments: &[&str]) -> Done {
        let data = self.data().join("data");
        let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
            .args(arguments)
            .args(["--data", data.to_str().unwrap()])
            .env_remove("CAUSEWAY_DATABASE_URL")
            .current_dir(self.data())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let done = Done {
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert_eq!(
            output.status.code(),
            Some(expected),
            "{arguments:?}\n{}\n{}",
            done.out,
            done.err
        );
        done
    }

    /// Runs a command that prints one JSON object.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let done = self.run(0, &[arguments, &["--json"]].concat());
        assert_eq!(done.out.lines().count(), 1, "{}", done.out);
        serde_json::from_str(&done.out).unwrap()
    }

    /// Runs a command that fails: one line why, one line what to do.
    pub fn fail(&self, arguments: &[&str]) -> String {
        let done = self.run(1, arguments);
        let lines: Vec<_> = done.err.lines().collect();
        assert_eq!(lines.len(), 2, "{}", done.err);
        assert!(
            lines[0].starts_with("causeway: ") && lines[1].starts_with("  "),
            "{}",
            done.err
        );
        done.err
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.data().join(name), content).unwrap();
    }
}
