//! The servers under test, and the commands that use the same store.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::http;
use super::services::Services;
use super::wait::wait_for;
use crate::base64::base64;
use crate::cleanup::{ChildProcess, ScratchDir};
use crate::interference::cpu_time;
use crate::process::{create, last_lines, run, run_to_file};
use crate::requests::encode_segment;

const ACCOUNT: &str = "cluster";
const UNLIMITED: &str = "1000000000";
/// More than the balancer needs for two health checks.
const BALANCER_DELAY: Duration = Duration::from_secs(4);

pub(super) struct Fleet<'a> {
    pub services: &'a Services,
    scratch: &'a ScratchDir,
    binary: PathBuf,
    servers: Vec<Option<ChildProcess>>,
}

/// When a server that joins was ready.
pub(super) struct Joined {
    pub after_start: Duration,
    /// The time from the first snapshot in its data folder, if one was seen before the server was ready.
    pub after_fetch: Option<Duration>,
}

/// Keys of one account.
pub(super) struct Keys {
    pub public: String,
    /// The `Authorization` header with both keys, with its line ending.
    pub authorization: String,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(services: &'a Services, binary: &Path, scratch: &'a ScratchDir) -> Result<Self> {
        let binary = fs::canonicalize(binary).with_context(|| {
            format!(
                "{} does not exist: run `cargo build --release`, or pass the path of the binary with --causeway",
                binary.display()
            )
        })?;
        for number in 0..=services.servers.len() {
            scratch.create_empty_dir(&format!("data-{number}"))?;
        }
        Ok(Self {
            services,
            scratch,
            binary,
            servers: services.servers.iter().map(|_| None).collect(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }

    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.services.servers
    }

    /// Starts a server without waiting for it.
    pub(super) fn start(&mut self, index: usize) -> Result<()> {
        let log = self.log(index);
        let output = fs::OpenOptions::new().create(true).append(true).open(&log)?;
        let mut command = Command::new(&self.binary);
        self.set_environment(&mut command, index + 1);
        command.args([
            "serve",
            "--empty",
            "--listen",
            &self.addresses()[index].to_string(),
        ]);
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        self.servers[index] = Some(ChildProcess::start(&mut command)?);
        Ok(())
    }

    /// Starts a server and waits until it is ready.
    pub(super) fn start_ready(&mut self, index: usize) -> Result<Joined> {
        let started = Instant::now();
        self.start(index)?;
        let folder = self.scratch.path(&format!("data-{}/directory", index + 1));
        let mut fetched = None;
        loop {
            if self.is_ready(index) {
                break;
            }
            if fetched.is_none() && has_snapshot(&folder) {
                fetched = Some(Instant::now());
            }
            self.require_running(index)?;
            ensure!(
                started.elapsed() < Duration::from_mins(2),
                "server {} is not ready after two minutes{}",
                index + 1,
                last_lines(&self.log(index))
            );
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Joined {
            after_start: started.elapsed(),
            after_fetch: fetched.map(|fetched| fetched.elapsed()),
        })
    }

    /// Starts a server and waits until the balancer sends requests to it.
    pub(super) fn rejoin(&mut self, index: usize) -> Result<()> {
        self.start_ready(index)?;
        thread::sleep(BALANCER_DELAY);
        Ok(())
    }

    pub(super) fn is_ready(&self, index: usize) -> bool {
        http::get(self.addresses()[index], "/readyz/write").is_ok_and(|response| response.status == 200)
    }

    fn require_running(&self, index: usize) -> Result<()> {
        let process = self.process(index)?;
        if let Some(status) = process.exit_status()? {
            anyhow::bail!(
                "server {} ended with {status}{}",
                index + 1,
                last_lines(&self.log(index))
            );
        }
        Ok(())
    }

    /// Stops a server with SIGTERM and waits until it has exited.
    pub(super) fn terminate(&mut self, index: usize) -> Result<()> {
        let id = self.process(index)?.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status()?;
        ensure!(sent.success(), "server {} does not run", index + 1);
        wait_for("the server exits", || {
            self.process(index)
                .and_then(ChildProcess::exit_status)
                .is_ok_and(|status| status.is_some())
        })?;
        let status = self.process(index)?.exit_status()?;
        ensure!(
            status.is_some_and(|status| status.success()),
            "server {} did not stop cleanly{}",
            index + 1,
            last_lines(&self.log(index))
        );
        self.servers[index] = None;
        Ok(())
    }

    /// Kills a server with SIGKILL.
    pub(super) fn kill(&mut self, index: usize) {
        self.servers[index] = None;
    }

    /// Returns the CPU time that a server has used.
    pub(super) fn cpu_time(&self, index: usize) -> Result<Duration> {
        cpu_time(self.process(index)?.id()).context("the server has exited")
    }

    fn process(&self, index: usize) -> Result<&ChildProcess> {
        self.servers[index]
            .as_ref()
            .with_context(|| format!("server {} does not run", index + 1))
    }

    fn log(&self, index: usize) -> PathBuf {
        self.scratch.path(&format!("server-{}.log", index + 1))
    }

    /// Runs a command of causeway that must succeed, and returns its JSON output.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Value> {
        let output = run(&mut self.command(arguments, true), self.scratch)?;
        serde_json::from_str(&output.stdout)
            .with_context(|| format!("{arguments:?} printed {:?}", output.stdout))
    }

    /// Generates a directory.
    pub(super) fn generate(&self, count: u64) -> Result<PathBuf> {
        let file = self.scratch.path("generated.csv");
        let mut command = self.command(&["generate", "--seed", "1", "--count"], false);
        run_to_file(command.arg(count.to_string()), self.scratch, &file)?;
        Ok(file)
    }

    /// Imports names of nonprofits, by EIN.
    pub(super) fn import_names(&self, eins: &[String], name: &str) -> Result<()> {
        let file = self.scratch.path("names.jsonl");
        let lines = eins
            .iter()
            .map(|ein| format!("{{\"ein\":\"{ein}\",\"name\":\"{name}\"}}\n"));
        fs::write(&file, lines.collect::<String>())?;
        self.run(&["import", "nonprofits", &file.display().to_string()])
            .map(drop)
    }

    /// Creates a public key with the limits of the settings, and returns its ID and its value.
    pub(super) fn create_key(&self) -> Result<(String, String)> {
        let key = self.run(&["key", "create", "--account", ACCOUNT, "--kind", "public"])?;
        let text = |name: &str| key[name].as_str().map(str::to_owned);
        text("id").zip(text("key")).context("`key create` printed no key")
    }

    /// Creates the account, and keys without limits.
    pub(super) fn create_keys(&self) -> Result<Keys> {
        self.run(&["account", "create", ACCOUNT])?;
        let (id, public) = self.create_key()?;
        let classes = ["details", "search", "browse", "causes", "fundraisers", "create"];
        let limits: Vec<String> = classes.map(|class| format!("{class}={UNLIMITED}")).into();
        let arguments: Vec<&str> = ["limit", "set", &id]
            .into_iter()
            .chain(limits.iter().map(String::as_str))
            .collect();
        run(&mut self.command(&arguments, false), self.scratch)?;
        let private = self.run(&["key", "create", "--account", ACCOUNT, "--kind", "private"])?;
        let private = private["key"].as_str().context("`key create` printed no key")?;
        let pair = base64(format!("{public}:{private}").as_bytes());
        Ok(Keys {
            public,
            authorization: format!("Authorization: Basic {pair}\r\n"),
        })
    }

    fn command(&self, arguments: &[&str], json: bool) -> Command {
        let mut command = Command::new(&self.binary);
        self.set_environment(&mut command, 0);
        command.args(arguments);
        if json {
            command.arg("--json");
        }
        command
    }

    /// Passes settings through the environment. Servers and commands have a data folder each and share the rest.
    fn set_environment(&self, command: &mut Command, number: usize) {
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CAUSEWAY_")) {
                command.env_remove(name);
            }
        }
        let services = self.services;
        command
            .env("CAUSEWAY_DATA", self.scratch.path(&format!("data-{number}")))
            .env("CAUSEWAY_DATABASE_URL", &services.database_url)
            .env("CAUSEWAY_SECRET_FILE", self.scratch.path("secret"))
            .env("CAUSEWAY_PUBLIC_URL", format!("http://{}", services.balancer))
            .env("CAUSEWAY_METRICS_LISTEN", "off")
            .env("CAUSEWAY_LIMITS__CREATE", UNLIMITED)
            .env("CAUSEWAY_CHECKOUT__STARTS_PER_MINUTE", UNLIMITED);
        for (name, url) in [
            ("REDIS_URL", &services.redis_url),
            ("BLOBS_URL", &services.blobs_url),
        ] {
            if !url.is_empty() {
                command.env(format!("CAUSEWAY_{name}"), url);
            }
        }
    }

    /// Copies the logs of the servers to a folder.
    pub(super) fn save_logs(&self, folder: &Path) {
        for index in 0..self.len() {
            let _ = fs::copy(self.log(index), folder.join(format!("server-{}.log", index + 1)));
        }
    }

    /// Creates a file in the scratch folder.
    pub(super) fn create_file(&self, name: &str) -> Result<(PathBuf, fs::File)> {
        let path = self.scratch.path(name);
        let file = create(&path)?;
        Ok((path, file))
    }
}

impl Keys {
    /// Returns the path of an API request. `rest` is a path without the version.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/v0.2/{rest}?apiKey={}", self.public)
    }

    pub(super) fn search_path(&self, term: &str) -> String {
        self.path(&format!("search/{}", encode_segment(term)))
    }
}

/// Whether a folder has a complete snapshot. Incomplete ones have another extension.
fn has_snapshot(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "snapshot")
    })
}
