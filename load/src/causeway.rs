//! The binary under measurement, driven by its own commands alone: import, generate, keys, limits, serve.

use std::ffi::OsStr;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::cleanup::{Running, Workplace};
use crate::connection::Connection;
use crate::cores::Cores;
use crate::process::{Finished, create, last_lines, resident, run, run_into, tool};
use crate::requests::get;
use crate::summary::Summary;

const ACCOUNT: &str = "bench";
const READY_PATIENCE: Duration = Duration::from_mins(2);
const STOP_PATIENCE: Duration = Duration::from_secs(20);

pub struct Causeway<'a> {
    binary: PathBuf,
    data: PathBuf,
    database_url: Option<String>,
    workplace: &'a Workplace,
}

impl<'a> Causeway<'a> {
    pub fn new(binary: &Path, data: &Path, workplace: &'a Workplace) -> Result<Self> {
        let binary = fs::canonicalize(binary).with_context(|| {
            format!(
                "there is no {}: build it with `cargo build --release`, or name it with --causeway",
                binary.display()
            )
        })?;
        ensure!(data.is_dir(), "there is no data folder {}", data.display());
        Ok(Self {
            binary,
            data: data.to_path_buf(),
            database_url: None,
            workplace,
        })
    }

    pub fn with_database(self, url: &str) -> Self {
        Self {
            database_url: Some(url.to_owned()),
            ..self
        }
    }

    pub fn import_irs(&self, file: &Path) -> Result<(Finished, Summary)> {
        let mut command = self.command(["import", "irs"]);
        let finished = run(command.arg(file).arg("--json"), self.workplace)?;
        let summary = Summary::parse(&finished.output)?;
        Ok((finished, summary))
    }

    pub fn generate(&self, count: u64, file: &Path) -> Result<()> {
        let mut command = self.command(["generate", "--seed", "1", "--count"]);
        run_into(command.arg(count.to_string()), self.workplace, file)?;
        Ok(())
    }

    /// A public key that may make `limit` calls a minute.
    pub fn key(&self, limit: u64) -> Result<Key<'_>> {
        // The account stays from an earlier run; if it could not be made for another reason, the key says why.
        let _ = run(
            &mut self.command(["account", "create", ACCOUNT, "--json"]),
            self.workplace,
        );
        let (id, text) = self.make_key("public")?;
        let key = Key {
            id,
            text,
            causeway: self,
        };
        let mut raise = self.command(["limit", "set", &key.id]);
        let classes = ["details", "search", "browse", "causes", "fundraisers", "create"];
        raise.args(classes.map(|class| format!("{class}={limit}")));
        run(&mut raise, self.workplace)?;
        Ok(key)
    }

    /// A private key beside it, whose text is told once.
    pub fn private_key(&self) -> Result<String> {
        Ok(self.make_key("private")?.1)
    }

    fn make_key(&self, kind: &str) -> Result<(String, String)> {
        let words = [
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
        let made = run(&mut self.command(words), self.workplace)?;
        let made: Value = serde_json::from_str(&made.output)
            .with_context(|| format!("`key create --json` printed {:?}", made.output))?;
        let text = |name: &str| {
            let value = made[name]
                .as_str()
                .with_context(|| format!("`key create --json` gave no {name}"))?;
            Ok::<_, anyhow::Error>(value.to_owned())
        };
        Ok((text("id")?, text("key")?))
    }

    /// Records the gifts of a file, so many under way at a time: gifts a second, each acknowledged.
    pub fn import_gifts(&self, file: &Path, at_once: u16) -> Result<f64> {
        let mut command = self.command(["donation", "import", "--json"]);
        command.args(["--at-once", &at_once.to_string()]).arg(file);
        let finished = run(&mut command, self.workplace)?;
        let told: Value = serde_json::from_str(&finished.output)
            .with_context(|| format!("`donation import --json` printed {:?}", finished.output))?;
        match (told["new"].as_f64(), told["seconds"].as_f64()) {
            (Some(new), Some(seconds)) if new > 0.0 && seconds > 0.0 => Ok(new / seconds),
            _ => bail!("`donation import --json` recorded nothing: {}", finished.output),
        }
    }

    /// Starts `serve` on the server's core and waits until it says that it is ready.
    pub fn serve(&self, cores: Cores) -> Result<Server> {
        self.serve_with(cores, &[])
    }

    /// The same where nothing that was found is kept, so that every call is searched for.
    pub fn serve_keeping_nothing(&self, cores: Cores) -> Result<Server> {
        self.serve_with(cores, &[("CAUSEWAY_SEARCH__RECENT_ANSWERS", "0")])
    }

    fn serve_with(&self, cores: Cores, environment: &[(&str, &str)]) -> Result<Server> {
        let address = free_address()?;
        let log = self.workplace.path(&format!("serve-{}.log", address.port()));
        let output = create(&log)?;
        let mut command = cores.on_server_core(self.binary.as_os_str())?;
        self.settings(&mut command);
        command.envs(environment.iter().copied());
        command.args(["serve", "--listen", &address.to_string()]);
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let started = Instant::now();
        let running = Running::start(&mut command)?;
        let request = get(address, "/readyz");
        loop {
            let ready = Connection::open(address)
                .and_then(|mut connection| Ok(connection.call(request.as_bytes())?.status == 200));
            if matches!(ready, Ok(true)) {
                return Ok(Server {
                    running,
                    address,
                    ready: started.elapsed(),
                });
            }
            if let Some(status) = running.exited()? {
                bail!("`causeway serve` ended with {status}{}", last_lines(&log));
            }
            ensure!(
                started.elapsed() < READY_PATIENCE,
                "`causeway serve` is not ready after {} s{}",
                READY_PATIENCE.as_secs(),
                last_lines(&log)
            );
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes the files of the data folder out of the page cache, so that the next start reads the disk.
    pub fn forget_cached_files(&self) -> Result<()> {
        run(
            tool("sync", "coreutils")?.arg("--file-system").arg(&self.data),
            self.workplace,
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
                        self.workplace,
                    )?;
                }
            }
        }
        Ok(())
    }

    fn command<'s>(&self, words: impl IntoIterator<Item = &'s str>) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words);
        self.settings(&mut command);
        command
    }

    /// Settings go by the environment, which every command reads; what the caller's shell had set for another
    /// installation is taken out.
    fn settings(&self, command: &mut Command) {
        for name in ["DATABASE_URL", "REDIS_URL", "BLOBS_URL", "LISTEN", "PUBLIC_URL"] {
            command.env_remove(format!("CAUSEWAY_{name}"));
        }
        command
            .env("CAUSEWAY_DATA", &self.data)
            .env("CAUSEWAY_METRICS_LISTEN", "off");
        if let Some(url) = &self.database_url {
            command.env("CAUSEWAY_DATABASE_URL", url);
        }
    }
}

/// A key made for one measurement and revoked after it.
pub struct Key<'a> {
    id: String,
    pub text: String,
    causeway: &'a Causeway<'a>,
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        let _ = run(
            &mut self.causeway.command(["key", "revoke", &self.id]),
            self.causeway.workplace,
        );
    }
}

pub struct Server {
    running: Running,
    pub address: SocketAddr,
    /// From the start of the process to the first 200 of `/readyz`.
    pub ready: Duration,
}

impl Server {
    pub fn process(&self) -> u32 {
        self.running.id()
    }

    pub fn resident(&self) -> Result<u64> {
        resident(self.running.id())
    }

    /// Asks the server to stop and waits for it; one that does not listen is killed.
    pub fn stop(self, workplace: &Workplace) -> Result<()> {
        let asked = Instant::now();
        run(
            Command::new("sh").args(["-c", &format!("kill -TERM {}", self.running.id())]),
            workplace,
        )?;
        while self.running.exited()?.is_none() && asked.elapsed() < STOP_PATIENCE {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?)
}
