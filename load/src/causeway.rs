//! Runs the `causeway` binary under test through its commands: import, generate, key, limit and serve.

use std::ffi::OsStr;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::cleanup::{ChildProcess, ScratchDir};
use crate::connection::Connection;
use crate::cores::Cores;
use crate::import_summary::ImportSummary;
use crate::process::{CompletedCommand, create, last_lines, resident_memory, run, run_to_file, tool};
use crate::requests::get_request;

const ACCOUNT: &str = "bench";
const READY_TIMEOUT: Duration = Duration::from_mins(2);
const SITEMAPS_TIMEOUT: Duration = Duration::from_mins(10);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct Causeway<'a> {
    binary: PathBuf,
    data: PathBuf,
    database_url: Option<String>,
    /// More settings, as environment variables.
    settings: Vec<(&'static str, String)>,
    scratch: &'a ScratchDir,
}

impl<'a> Causeway<'a> {
    pub(crate) fn new(binary: &Path, data: &Path, scratch: &'a ScratchDir) -> Result<Self> {
        let binary = fs::canonicalize(binary).with_context(|| {
            format!(
                "{} does not exist: run `cargo build --release`, or pass the path of the binary with --causeway",
                binary.display()
            )
        })?;
        ensure!(data.is_dir(), "the data folder {} does not exist", data.display());
        Ok(Self {
            binary,
            data: data.to_path_buf(),
            database_url: None,
            settings: Vec::new(),
            scratch,
        })
    }

    pub(crate) fn with_database(self, url: &str) -> Self {
        Self {
            database_url: Some(url.to_owned()),
            ..self
        }
    }

    /// Sets more settings, as environment variables.
    pub(crate) fn set_settings(&mut self, settings: Vec<(&'static str, String)>) {
        self.settings = settings;
    }

    /// The file of the SQLite database.
    pub(crate) fn database(&self) -> PathBuf {
        self.data.join("causeway.db")
    }

    /// Compares the ledger with Stripe. There must be no difference.
    pub(crate) fn reconcile(&self) -> Result<CompletedCommand> {
        run(
            &mut self.command(["payments", "reconcile", "--json"]),
            self.scratch,
        )
    }

    pub(crate) fn import_irs(&self, file: &Path) -> Result<(CompletedCommand, ImportSummary)> {
        let mut command = self.command(["import", "irs"]);
        let import = run(command.arg(file).arg("--json"), self.scratch)?;
        let summary = ImportSummary::parse(&import.stdout)?;
        Ok((import, summary))
    }

    pub(crate) fn import_returns(&self, files: &[PathBuf]) -> Result<(CompletedCommand, ImportSummary)> {
        let mut command = self.command(["import", "990"]);
        let import = run(command.args(files).arg("--json"), self.scratch)?;
        let summary = ImportSummary::parse(&import.stdout)?;
        Ok((import, summary))
    }

    /// Generates bundles of returns of the nonprofits that [`generate`](Causeway::generate) writes for the same count.
    pub(crate) fn generate_returns(&self, returns: u64, nonprofits: u64, folder: &Path) -> Result<()> {
        let mut command = self.command(["generate", "--seed", "1"]);
        command.args(["--returns", &returns.to_string()]);
        command.args(["--count", &nonprofits.to_string()]);
        command.arg("--out").arg(folder);
        run(&mut command, self.scratch)?;
        Ok(())
    }

    pub(crate) fn generate(&self, count: u64, file: &Path) -> Result<()> {
        let mut command = self.command(["generate", "--seed", "1", "--count"]);
        run_to_file(command.arg(count.to_string()), self.scratch, file)?;
        Ok(())
    }

    /// Creates a public key that may send `limit` requests per minute.
    pub(crate) fn create_public_key(&self, limit: u64) -> Result<Key<'_>> {
        // The account may exist from an earlier run. If this fails for another reason, creating the key
        // reports it.
        let _ = run(
            &mut self.command(["account", "create", ACCOUNT, "--json"]),
            self.scratch,
        );
        let (id, value) = self.create_key("public")?;
        let key = Key {
            id,
            value,
            causeway: self,
        };
        let mut set_limits = self.command(["limit", "set", &key.id]);
        let classes = ["details", "search", "browse", "causes", "fundraisers", "create"];
        set_limits.args(classes.map(|class| format!("{class}={limit}")));
        run(&mut set_limits, self.scratch)?;
        Ok(key)
    }

    /// Creates a private key of the same account and returns its value.
    pub(crate) fn create_private_key(&self) -> Result<String> {
        Ok(self.create_key("private")?.1)
    }

    /// Creates a key and returns its ID and its value.
    fn create_key(&self, kind: &str) -> Result<(String, String)> {
        let arguments = [
            "key",
            "create",
            "--account",
            ACCOUNT,
            "--name",
            "load",
            "--json",
            "--kind",
            kind,
        ];
        let output = run(&mut self.command(arguments), self.scratch)?;
        let key: Value = serde_json::from_str(&output.stdout)
            .with_context(|| format!("`key create --json` printed {:?}", output.stdout))?;
        let field = |name: &str| {
            let value = key[name]
                .as_str()
                .with_context(|| format!("`key create --json` printed no {name}"))?;
            Ok::<_, anyhow::Error>(value.to_owned())
        };
        Ok((field("id")?, field("key")?))
    }

    /// Creates a webhook endpoint of the same account that gets one kind of events, and returns its ID.
    pub(crate) fn create_webhook(&self, url: &str, event: &str) -> Result<String> {
        let arguments = [
            "webhook",
            "create",
            "--json",
            "--account",
            ACCOUNT,
            "--url",
            url,
            "--event",
            event,
        ];
        let output = run(&mut self.command(arguments), self.scratch)?;
        let created: Value = serde_json::from_str(&output.stdout)
            .with_context(|| format!("`webhook create --json` printed {:?}", output.stdout))?;
        let id = created["id"].as_str();
        Ok(id.context("`webhook create --json` printed no ID")?.to_owned())
    }

    /// Deletes a webhook endpoint.
    pub(crate) fn delete_webhook(&self, id: &str) -> Result<()> {
        run(
            &mut self.command(["webhook", "delete", id, "--account", ACCOUNT]),
            self.scratch,
        )?;
        Ok(())
    }

    /// Imports a file of donations, `concurrency` at a time, and returns the rate in donations per second.
    pub(crate) fn import_donations(&self, file: &Path, concurrency: u16) -> Result<f64> {
        let mut command = self.command(["donation", "import", "--json"]);
        command.args(["--at-once", &concurrency.to_string()]).arg(file);
        let import = run(&mut command, self.scratch)?;
        let summary: Value = serde_json::from_str(&import.stdout)
            .with_context(|| format!("`donation import --json` printed {:?}", import.stdout))?;
        match (summary["new"].as_f64(), summary["seconds"].as_f64()) {
            (Some(new), Some(seconds)) if new > 0.0 && seconds > 0.0 => Ok(new / seconds),
            _ => bail!("`donation import --json` recorded nothing: {}", import.stdout),
        }
    }

    /// Starts a server once and waits until it has written the sitemaps, which the servers that are measured then find.
    pub(crate) fn write_sitemaps(&self) -> Result<()> {
        let server = self.serve_unpinned()?;
        let request = get_request(server.address, "/sitemap.xml");
        let started = Instant::now();
        loop {
            // The response comes when the sitemaps exist; with many nonprofits, that is later than a client waits.
            let response = Connection::open(server.address)
                .and_then(|mut connection| Ok(connection.request(request.as_bytes())?.status));
            if matches!(response, Ok(200)) {
                return server.stop(self.scratch);
            }
            ensure!(
                started.elapsed() < SITEMAPS_TIMEOUT,
                "the sitemaps are not written after {} minutes",
                SITEMAPS_TIMEOUT.as_secs() / 60
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Starts `causeway serve` on the server's core and waits until it is ready.
    pub(crate) fn serve(&self, cores: Cores) -> Result<Server> {
        self.start_server(cores.server_command(self.binary.as_os_str())?, &[])
    }

    /// Starts a server on all cores.
    pub(crate) fn serve_unpinned(&self) -> Result<Server> {
        self.start_server(Command::new(&self.binary), &[])
    }

    /// Starts a server without an answer cache, so that every request runs a search.
    pub(crate) fn serve_without_cache(&self, cores: Cores) -> Result<Server> {
        let command = cores.server_command(self.binary.as_os_str())?;
        self.start_server(command, &[("CAUSEWAY_SEARCH__RECENT_ANSWERS", "0")])
    }

    /// Starts a server without an answer cache that does not compare meanings.
    pub(crate) fn serve_without_meaning(&self, cores: Cores) -> Result<Server> {
        let command = cores.server_command(self.binary.as_os_str())?;
        self.start_server(
            command,
            &[
                ("CAUSEWAY_SEARCH__RECENT_ANSWERS", "0"),
                ("CAUSEWAY_SEARCH__BY_MEANING", "false"),
            ],
        )
    }

    fn start_server(&self, mut command: Command, environment: &[(&str, &str)]) -> Result<Server> {
        let address = free_address()?;
        let log = self.scratch.path(&format!("serve-{}.log", address.port()));
        let output = create(&log)?;
        self.set_environment(&mut command);
        command.envs(environment.iter().copied());
        command.args(["serve", "--listen", &address.to_string()]);
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let started = Instant::now();
        let process = ChildProcess::start(&mut command)?;
        let request = get_request(address, "/readyz");
        loop {
            let is_ready = Connection::open(address)
                .and_then(|mut connection| Ok(connection.request(request.as_bytes())?.status == 200));
            if matches!(is_ready, Ok(true)) {
                return Ok(Server {
                    process,
                    address,
                    startup_time: started.elapsed(),
                });
            }
            if let Some(status) = process.exit_status()? {
                bail!("`causeway serve` ended with {status}{}", last_lines(&log));
            }
            ensure!(
                started.elapsed() < READY_TIMEOUT,
                "`causeway serve` is not ready after {} s{}",
                READY_TIMEOUT.as_secs(),
                last_lines(&log)
            );
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Drops the files of the data folder from the page cache, so that the next start reads the disk.
    pub(crate) fn drop_page_cache(&self) -> Result<()> {
        run(
            tool("sync", "coreutils")?.arg("--file-system").arg(&self.data),
            self.scratch,
        )?;
        let mut folders = vec![self.data.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    let mut input = OsStr::new("if=").to_owned();
                    input.push(entry.path());
                    let mut command = tool("dd", "coreutils")?;
                    run(
                        command
                            .arg(input)
                            .args(["iflag=nocache", "count=0", "status=none"]),
                        self.scratch,
                    )?;
                }
            }
        }
        Ok(())
    }

    fn command<'s>(&self, arguments: impl IntoIterator<Item = &'s str>) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments);
        self.set_environment(&mut command);
        command
    }

    /// Passes settings through the environment, which every command reads, and removes those that the calling
    /// shell set for another installation.
    fn set_environment(&self, command: &mut Command) {
        for name in ["DATABASE_URL", "REDIS_URL", "BLOBS_URL", "LISTEN"] {
            command.env_remove(format!("CAUSEWAY_{name}"));
        }
        command
            .env("CAUSEWAY_DATA", &self.data)
            .env("CAUSEWAY_METRICS_LISTEN", "off")
            // The same in every run: a server with a new URL writes all sitemaps again, beside the measurements.
            .env("CAUSEWAY_PUBLIC_URL", "http://localhost")
            .env("CAUSEWAY_SERVE__DRAIN", "0");
        if let Some(url) = &self.database_url {
            command.env("CAUSEWAY_DATABASE_URL", url);
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
    }
}

/// An API key that is revoked when this is dropped.
pub(crate) struct Key<'a> {
    id: String,
    pub value: String,
    causeway: &'a Causeway<'a>,
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        let _ = run(
            &mut self.causeway.command(["key", "revoke", &self.id]),
            self.causeway.scratch,
        );
    }
}

/// A running `causeway serve`.
pub(crate) struct Server {
    process: ChildProcess,
    pub address: SocketAddr,
    /// Time from the start of the process to the first status 200 of `/readyz`.
    pub startup_time: Duration,
}

impl Server {
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn resident_memory(&self) -> Result<u64> {
        resident_memory(self.process.id())
    }

    /// Stops the server with SIGTERM. If it does not exit in time, dropping `self` kills it.
    pub(crate) fn stop(self, scratch: &ScratchDir) -> Result<()> {
        let requested = Instant::now();
        run(
            Command::new("sh").args(["-c", &format!("kill -TERM {}", self.process.id())]),
            scratch,
        )?;
        while self.process.exit_status()?.is_none() && requested.elapsed() < STOP_TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free on 127.0.0.1")?;
    Ok(listener.local_addr()?)
}
