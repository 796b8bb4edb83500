//! A place to work in: a data folder, a database, two files, and commands that run there.

use crate::client::Answer;
use crate::dice::Dice;
use crate::files::Files;
use crate::server::Server;
use crate::store::{Kind, Store};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const BINARY: &str = env!("CARGO_BIN_EXE_causeway");

/// How long anything may take that should happen soon, on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

pub struct Place {
    // Dropped first, while its folder is still there.
    pub store: Store,
    pub data: PathBuf,
    pub folder: TempDir,
    pub key: String,
    pub dice: Dice,
    overlay_limit: usize,
}

impl Place {
    /// A data folder with an account and a public key. Imports that touch more than `overlay_limit` bodies build a
    /// snapshot.
    pub fn new(kind: Kind, overlay_limit: usize) -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        Place::at(kind, overlay_limit, folder, data)
    }

    /// The same with a data folder of the caller's.
    pub fn at(kind: Kind, overlay_limit: usize, folder: TempDir, data: PathBuf) -> Place {
        let mut place = Place::made_of(kind, overlay_limit, folder, data);
        place.run(&["account", "create", "ada"]);
        place.key = place.make_key().1;
        place
    }

    /// A data folder that nothing has been in yet.
    pub fn bare(kind: Kind, overlay_limit: usize) -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        Place::made_of(kind, overlay_limit, folder, data)
    }

    fn made_of(kind: Kind, overlay_limit: usize, folder: TempDir, data: PathBuf) -> Place {
        let store = Store::new(kind, &data);
        Place {
            store,
            data,
            folder,
            key: String::new(),
            dice: Dice::new(),
            overlay_limit,
        }
    }

    /// Makes a public key: its id and the key itself.
    pub fn make_key(&self) -> (String, String) {
        let made = self.run(&["key", "create", "--account", "ada", "--kind", "public"]);
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        (text("id"), text("key"))
    }

    /// A command that works here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        self.settle(&mut command);
        command.args(arguments);
        command
    }

    /// Tells a process where it works.
    pub fn settle(&self, command: &mut Command) {
        command
            .env("CAUSEWAY_DATA", &self.data)
            .env(
                "CAUSEWAY_DIRECTORY__OVERLAY_LIMIT",
                self.overlay_limit.to_string(),
            )
            .env("CAUSEWAY_LIMITS__DETAILS", "1000000000")
            .env("CAUSEWAY_LIMITS__FUNDRAISERS", "1000000000")
            .env("CAUSEWAY_LIMITS__CREATE", "1000000000")
            .env("CAUSEWAY_METRICS_LISTEN", "off")
            .stdin(Stdio::null());
        if let Some(url) = self.store.url() {
            command.env("CAUSEWAY_DATABASE_URL", url);
        }
    }

    /// Runs a command that is to succeed, and reads what it says.
    pub fn run(&self, arguments: &[&str]) -> Value {
        let output = self
            .command(arguments)
            .arg("--json")
            .output()
            .expect("the binary runs");
        assert!(output.status.success(), "{arguments:?} failed: {}", told(&output));
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    }

    /// Imports a file of the IRS to the end.
    pub fn import(&self, file: &Path) -> Value {
        self.run(&["import", "irs", "--force", &file.display().to_string()])
    }

    /// Starts such an import and does not wait.
    pub fn start_import(&self, file: &Path) -> Child {
        let mut command = self.command(&["import", "irs", "--force"]);
        command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    /// Starts a server here.
    pub fn serve(&self) -> Server {
        Server::start(self, &[])
    }

    /// A new process finds nothing wrong.
    pub fn check(&self) {
        self.run(&["check"]);
    }

    /// The path that asks for a nonprofit.
    pub fn path(&self, identifier: &str) -> String {
        format!("/v0.2/nonprofit/{identifier}?apiKey={}", self.key)
    }

    /// Asks for a nonprofit and boils the answer down.
    pub fn ask(&self, server: &Server, ein: &str) -> String {
        boiled_down(&server.get(&self.path(ein)), ein)
    }

    /// Asks for many, one after another.
    pub fn ask_all(&self, server: &Server, eins: &[String]) -> Vec<String> {
        eins.iter().map(|ein| self.ask(server, ein)).collect()
    }

    /// Waits until the server says all of this.
    pub fn await_answers(&self, server: &Server, eins: &[String], wanted: &[String]) {
        eventually(SOON, "the server shows the directory of the store", || {
            self.ask_all(server, eins) == wanted
        });
    }

    /// Imports both files in turn until each has been the newer one: what the server then says of each.
    pub fn learn(&self, server: &Server, files: &Files, eins: &[String]) -> [Vec<String>; 2] {
        for file in [&files.a, &files.b] {
            self.import(file);
        }
        [&files.a, &files.b].map(|file| {
            self.import(file);
            let revision = self.store.revision();
            server.await_revision(&self.path(&eins[0]), revision);
            self.ask_all(server, eins)
        })
    }
}

/// What an answer says about a nonprofit, without addresses and slugs, which history decides.
pub fn boiled_down(answer: &Answer, ein: &str) -> String {
    match answer.status {
        200 => {
            let body = answer.json();
            let nonprofit = &body["data"]["nonprofit"];
            assert_eq!(nonprofit["ein"], ein, "the answer is about another nonprofit");
            let fields = [
                "name",
                "isDisbursable",
                "locationAddress",
                "nteeCode",
                "description",
            ];
            fields.map(|field| nonprofit[field].to_string()).join(" ")
        }
        404 => "unknown".to_owned(),
        status => panic!("{status}: {}", String::from_utf8_lossy(&answer.body)),
    }
}

/// What a command said when it failed.
pub fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Polls until something holds.
pub fn eventually(within: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
