//! An instance of Causeway: a data folder, a database, and commands that use them.

use crate::client::Response;
use crate::database::{Database, TestDatabase};
use crate::files::Files;
use crate::postgres_server::PostgresServer;
use crate::random::Random;
use crate::server::Server;
use platform::data_folder;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const BINARY: &str = env!("CARGO_BIN_EXE_causeway");

/// Ends a wait that would otherwise last forever. No machine is so slow that it needs this long.
pub const TIMEOUT: Duration = Duration::from_mins(10);

pub struct Instance {
    // Dropped first, while its folder still exists.
    pub database: TestDatabase,
    pub data: PathBuf,
    pub folder: TempDir,
    pub key: String,
    pub random: Random,
    /// More settings, as environment variables.
    pub settings: Vec<(&'static str, String)>,
    overlay_limit: usize,
}

impl Instance {
    /// An instance with an account and a public key. An import that changes more than `overlay_limit` nonprofits
    /// builds a snapshot.
    pub fn new(database: Database, overlay_limit: usize) -> Instance {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        Instance::at(database, overlay_limit, folder, data)
    }

    /// An instance with the given data folder, an account and a public key.
    pub fn at(database: Database, overlay_limit: usize, folder: TempDir, data: PathBuf) -> Instance {
        let template = Template::of(database);
        let database = TestDatabase::new(database, &data, template.database.as_deref());
        data_folder::create_folder(&data).expect("a folder");
        for (name, content) in &template.files {
            data_folder::replace_file(&data.join(name), content).expect("a file");
        }
        let mut instance = Instance::with_folder(database, overlay_limit, folder, data);
        instance.key.clone_from(&template.key);
        instance
    }

    /// An instance on a PostgreSQL server of its own, with an account and a public key.
    pub fn on_server(server: &PostgresServer, overlay_limit: usize) -> Instance {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        let database = TestDatabase::OwnServer { url: server.url() };
        Instance::with_folder(database, overlay_limit, folder, data).with_key()
    }

    fn with_key(mut self) -> Instance {
        self.run(&["account", "create", "ada"]);
        self.key = self.create_key().1;
        self
    }

    /// An instance without a database schema: no command has run yet.
    pub fn uninitialized(database: Database, overlay_limit: usize) -> Instance {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        let database = TestDatabase::new(database, &data, None);
        Instance::with_folder(database, overlay_limit, folder, data)
    }

    fn with_folder(database: TestDatabase, overlay_limit: usize, folder: TempDir, data: PathBuf) -> Instance {
        Instance {
            database,
            data,
            folder,
            key: String::new(),
            random: Random::new(),
            settings: Vec::new(),
            overlay_limit,
        }
    }

    /// Creates a public key and returns its ID and its text.
    pub fn create_key(&self) -> (String, String) {
        let created = self.run(&["key", "create", "--account", "ada", "--kind", "public"]);
        let text = |name: &str| created[name].as_str().expect("a text").to_owned();
        (text("id"), text("key"))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        self.configure(&mut command);
        command.args(arguments);
        command
    }

    /// Sets the environment of a process that uses this instance.
    pub fn configure(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CAUSEWAY_")) {
                command.env_remove(name);
            }
        }
        let unlimited = "1000000000";
        command
            .env("CAUSEWAY_DATA", &self.data)
            .env(
                "CAUSEWAY_DIRECTORY__OVERLAY_LIMIT",
                self.overlay_limit.to_string(),
            )
            // Killed processes leave their lease behind, and tests kill many.
            .env("CAUSEWAY_DIRECTORY__BUILD_LEASE", "2")
            .env("CAUSEWAY_LIMITS__DETAILS", unlimited)
            .env("CAUSEWAY_LIMITS__FUNDRAISERS", unlimited)
            .env("CAUSEWAY_LIMITS__CREATE", unlimited)
            .env("CAUSEWAY_CHECKOUT__STARTS_PER_MINUTE", unlimited)
            .env("CAUSEWAY_METRICS_LISTEN", "off")
            .env("CAUSEWAY_SERVE__DRAIN", "0")
            .stdin(Stdio::null());
        // Longer than any test waits, so that a slow machine cannot run into the timeouts of the server.
        let timeout = (2 * TIMEOUT).as_secs().to_string();
        for name in [
            "SERVE__HEADER_TIMEOUT",
            "SERVE__IDLE_TIMEOUT",
            "SERVE__REQUEST_TIMEOUT",
            "SERVE__WRITE_TIMEOUT",
            "SERVE__STOP_TIMEOUT",
            "SERVE__MAX_STALE",
            "DATABASE__ACQUIRE_TIMEOUT",
            "DATABASE__PROBE_TIMEOUT",
        ] {
            command.env(format!("CAUSEWAY_{name}"), &timeout);
        }
        if let Some(url) = self.database.url() {
            command.env("CAUSEWAY_DATABASE_URL", url);
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
    }

    /// Runs a command that must succeed, and returns its JSON output.
    pub fn run(&self, arguments: &[&str]) -> Value {
        let output = self
            .command(arguments)
            .arg("--json")
            .output()
            .expect("the binary runs");
        assert!(
            output.status.success(),
            "{arguments:?} failed: {}",
            stderr_of(&output)
        );
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    }

    /// Imports an IRS file.
    pub fn import(&self, file: &Path) -> Value {
        self.run(&["import", "irs", "--force", &file.display().to_string()])
    }

    /// Waits until nothing runs in the database. PostgreSQL may still commit what a killed process sent last.
    pub fn wait_until_idle(&self) {
        eventually("no transaction is open", || self.database.busy_sessions() == 0);
    }

    /// Starts an import of an IRS file without waiting for it.
    pub fn start_import(&self, file: &Path) -> Child {
        let mut command = self.command(&["import", "irs", "--force"]);
        command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    pub fn serve(&self) -> Server {
        Server::start(self, &[])
    }

    /// Runs `causeway check`, which must find nothing wrong.
    pub fn check(&self) {
        self.run(&["check"]);
    }

    /// The path of a details request.
    pub fn path(&self, identifier: &str) -> String {
        format!("/v0.2/nonprofit/{identifier}?apiKey={}", self.key)
    }

    /// Requests the details of a nonprofit and returns its facts.
    pub fn facts(&self, server: &Server, ein: &str) -> String {
        facts(&server.get(&self.path(ein)), ein)
    }

    /// Requests the details of several nonprofits, one after another.
    pub fn all_facts(&self, server: &Server, eins: &[String]) -> Vec<String> {
        eins.iter().map(|ein| self.facts(server, ein)).collect()
    }

    /// Waits until the server shows these facts.
    pub fn wait_for_facts(&self, server: &Server, eins: &[String], expected: &[String]) {
        eventually("the server shows the directory of the database", || {
            self.all_facts(server, eins) == expected
        });
    }

    /// Imports both files in turn and returns the facts that the server shows for each of them.
    pub fn learn_facts(&self, server: &Server, files: &Files, eins: &[String]) -> [Vec<String>; 2] {
        for file in [&files.a, &files.b] {
            self.import(file);
        }
        [&files.a, &files.b].map(|file| {
            self.import(file);
            let revision = self.database.revision();
            server.wait_for_revision(&self.path(&eins[0]), revision);
            self.all_facts(server, eins)
        })
    }
}

/// An instance with an account and a public key. Most tests use copies of it, because creating one takes several commands.
struct Template {
    key: String,
    /// The files of the data folder.
    files: Vec<(&'static str, Vec<u8>)>,
    /// The name of the PostgreSQL database.
    database: Option<String>,
}

impl Template {
    fn of(database: Database) -> &'static Template {
        static SQLITE: OnceLock<Template> = OnceLock::new();
        static POSTGRES: OnceLock<Template> = OnceLock::new();
        let template = match database {
            Database::Sqlite => &SQLITE,
            Database::Postgres => &POSTGRES,
        };
        template.get_or_init(|| Template::create(database))
    }

    fn create(database: Database) -> Template {
        let instance = Instance::uninitialized(database, 1_000).with_key();
        instance.wait_until_idle();
        let names = ["secret", "causeway.db"].into_iter();
        let files = names.filter_map(|name| Some((name, fs::read(instance.data.join(name)).ok()?)));
        Template {
            key: instance.key.clone(),
            files: files.collect(),
            database: instance.database.to_template(),
        }
    }
}

/// The facts about a nonprofit in a response, without URLs and slugs, which depend on earlier imports.
fn facts(response: &Response, ein: &str) -> String {
    match response.status {
        200 => {
            let body = response.json();
            let nonprofit = &body["data"]["nonprofit"];
            assert_eq!(nonprofit["ein"], ein, "the response is about another nonprofit");
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
        status => panic!("{status}: {}", String::from_utf8_lossy(&response.body)),
    }
}

/// The number of rounds that an environment variable asks for.
pub fn rounds<T: std::str::FromStr>(variable: &str, default: T) -> T {
    std::env::var(variable)
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(default)
}

/// A number of rows: more of them in `make faults`, which sets `CAUSEWAY_FAULT_SIZE`.
pub fn scaled(rows: usize) -> usize {
    rows * rounds("CAUSEWAY_FAULT_SIZE", 1)
}

/// The standard error of a finished command.
pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Polls until `condition` holds, and returns how long that took.
pub fn eventually(description: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < TIMEOUT, "not within {TIMEOUT:?}: {description}");
        std::thread::sleep(Duration::from_millis(10));
    }
    start.elapsed()
}
