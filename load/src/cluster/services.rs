//! The services that `tests/cluster.sh` starts: etcd, PostgreSQL under Patroni, Redis, the blob store, and HAProxy.
//!
//! Each has a file with its process ID and a script that starts it again, so that it can be killed and come back.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::http;
use super::wait::wait_for;

pub(super) struct Services {
    folder: PathBuf,
    pub database_url: String,
    /// Empty: the servers run without Redis.
    pub redis_url: String,
    /// Empty: the servers keep their blobs in folders of their own.
    pub blobs_url: String,
    /// The bucket of the blob store, as a URL path.
    bucket: String,
    blobs: SocketAddr,
    /// The REST addresses of Patroni.
    patroni: Vec<SocketAddr>,
    pub balancer: SocketAddr,
    /// The balancer that repeats no request.
    pub strict_balancer: SocketAddr,
    /// The addresses at which the balancer expects the servers.
    pub servers: Vec<SocketAddr>,
}

/// moto verifies no signature, but treats a request without one as anonymous.
const AUTHORIZATION: &str = "Authorization: AWS4-HMAC-SHA256 Credential=causeway/20260101/us-east-1/s3/aws4_request, \
     SignedHeaders=host, Signature=none\r\n";

/// A copy of the contents of the blob store.
pub(super) struct SavedBlobs(Vec<(String, Vec<u8>)>);

impl Services {
    pub(super) fn from_environment() -> Result<Self> {
        let text = |name: &str| {
            std::env::var(format!("CLUSTER_{name}"))
                .with_context(|| format!("CLUSTER_{name} is not set: run this through tests/cluster.sh"))
        };
        let addresses = |name: &str| {
            let list = text(name)?;
            let parsed: Result<Vec<SocketAddr>, _> = list.split(',').map(str::parse).collect();
            parsed.with_context(|| format!("CLUSTER_{name} is not a list of addresses: {list}"))
        };
        Ok(Self {
            folder: text("FOLDER")?.into(),
            database_url: text("DATABASE_URL")?,
            redis_url: text("REDIS_URL")?,
            blobs_url: text("BLOBS_URL")?,
            bucket: "/causeway".to_owned(),
            blobs: addresses("BLOBS_ADDRESS")?[0],
            patroni: addresses("PATRONI")?,
            balancer: addresses("BALANCER")?[0],
            strict_balancer: addresses("STRICT_BALANCER")?[0],
            servers: addresses("SERVERS")?,
        })
    }

    /// Kills a service with SIGKILL.
    pub(super) fn kill(&self, name: &str) -> Result<()> {
        kill(&[read_process_id(&self.folder.join(format!("{name}.pid")))?])
    }

    /// Starts a service again. `tests/cluster.sh` stops it by its new process ID.
    pub(super) fn start(&self, name: &str) -> Result<()> {
        Command::new("setsid")
            .arg("sh")
            .arg(self.folder.join(format!("{name}.run")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(())
    }

    /// Makes Redis forget everything.
    pub(super) fn empty_redis(&self) -> Result<()> {
        let address = self.redis_url.trim_start_matches("redis://");
        let mut redis = TcpStream::connect(address).context("cannot connect to Redis")?;
        redis.write_all(b"FLUSHALL\r\n")?;
        let mut answer = [0; 5];
        redis.read_exact(&mut answer)?;
        ensure!(answer == *b"+OK\r\n", "Redis did not forget");
        Ok(())
    }

    /// Returns the number of the PostgreSQL server that is the primary.
    pub(super) fn primary(&self) -> Result<usize> {
        self.member("primary").context("PostgreSQL has no primary")
    }

    /// Waits until there is a primary and a synchronous standby.
    pub(super) fn wait_for_standby(&self) -> Result<()> {
        wait_for("PostgreSQL has a synchronous standby", || {
            self.member("primary").is_some() && self.member("synchronous").is_some()
        })
        .map(drop)
    }

    fn member(&self, role: &str) -> Option<usize> {
        let is_in_role = |address: &SocketAddr| {
            http::get(*address, &format!("/{role}")).is_ok_and(|response| response.status == 200)
        };
        self.patroni.iter().position(is_in_role).map(|index| index + 1)
    }

    /// Kills the first process of a PostgreSQL server; Patroni decides what happens next.
    pub(super) fn kill_postgres(&self, number: usize) -> Result<()> {
        kill(&[self.postmaster(number)?])
    }

    /// Kills a PostgreSQL server with its Patroni, as if the machine had lost its power.
    pub(super) fn kill_machine(&self, number: usize) -> Result<()> {
        let postmaster = self.postmaster(number)?;
        self.kill(&format!("patroni-{number}"))?;
        let data = self.data(number);
        let entries = fs::read_dir("/proc")
            .context("cannot list the processes")?
            .flatten();
        let processes: Vec<u32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|id| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|folder| folder == data))
            .collect();
        ensure!(
            processes.contains(&postmaster),
            "PostgreSQL {number} does not run"
        );
        kill(&processes)
    }

    /// Starts the Patroni of a killed machine, and PostgreSQL with it.
    pub(super) fn start_machine(&self, number: usize) -> Result<()> {
        // What the next process with this ID would otherwise be taken for.
        let _ = fs::remove_file(self.data(number).join("postmaster.pid"));
        self.start(&format!("patroni-{number}"))
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folder.join(format!("postgres-{number}/data"))
    }

    fn postmaster(&self, number: usize) -> Result<u32> {
        read_process_id(&self.data(number).join("postmaster.pid"))
    }

    /// Runs one SQL statement on the primary and returns its output, one line per row.
    pub(super) fn sql(&self, statement: &str) -> Result<String> {
        let mut command = Command::new("psql");
        command.args([
            "-XAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statement,
            &self.database_url,
        ]);
        let output = run_tool(&mut command)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Writes a dump of the database.
    pub(super) fn dump(&self, file: &Path) -> Result<()> {
        let mut command = Command::new("pg_dump");
        command
            .args(["--format=custom", "--file"])
            .arg(file)
            .arg(&self.database_url);
        run_tool(&mut command).map(drop)
    }

    /// Replaces the contents of the database by those of a dump, in one transaction.
    pub(super) fn restore(&self, file: &Path) -> Result<()> {
        let mut command = Command::new("pg_restore");
        command
            .args([
                "--clean",
                "--if-exists",
                "--single-transaction",
                "--dbname",
                &self.database_url,
            ])
            .arg(file);
        run_tool(&mut command).map(drop)
    }

    /// Copies everything out of the blob store. moto keeps it in memory, while a real store has it on disks.
    pub(super) fn save_blobs(&self) -> Result<SavedBlobs> {
        let list = self.blob_request("GET", &format!("{}?list-type=2", self.bucket), b"")?;
        let list = String::from_utf8_lossy(&list.body).into_owned();
        let keys = list
            .split("<Key>")
            .skip(1)
            .filter_map(|rest| rest.split_once("</Key>"));
        let mut saved = Vec::new();
        for (key, _) in keys {
            let path = format!("{}/{key}", self.bucket);
            let blob = self.blob_request("GET", &path, b"")?;
            saved.push((path, blob.body));
        }
        Ok(SavedBlobs(saved))
    }

    fn blob_request(&self, method: &str, path: &str, body: &[u8]) -> Result<http::Response> {
        let response = http::send_bytes(self.blobs, method, path, AUTHORIZATION, body)?;
        ensure!(
            response.status == 200,
            "the blob store responds to {method} {path} with {}",
            response.status
        );
        Ok(response)
    }

    /// Starts the blob store again with these contents.
    pub(super) fn start_blobs(&self, saved: &SavedBlobs) -> Result<()> {
        self.start("moto")?;
        wait_for("the blob store answers", || http::get(self.blobs, "/").is_ok())?;
        self.blob_request("PUT", &self.bucket, b"")?;
        for (path, blob) in &saved.0 {
            self.blob_request("PUT", path, blob)?;
        }
        Ok(())
    }

    /// Returns the transactions of the database so far.
    pub(super) fn transactions(&self) -> Result<f64> {
        let count = self.sql(
            "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()",
        )?;
        count.trim().parse().context("no count of transactions")
    }

    /// Returns the state of the PostgreSQL servers, for messages.
    pub(super) fn members(&self) -> String {
        let members = self.patroni.iter().find_map(|address| {
            let cluster: Value = http::get(*address, "/cluster").ok()?.json();
            Some(cluster["members"].to_string())
        });
        members.unwrap_or_else(|| "Patroni does not answer".to_owned())
    }
}

fn run_tool(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

fn read_process_id(file: &Path) -> Result<u32> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let id = text.lines().next().and_then(|line| line.trim().parse().ok());
    id.with_context(|| format!("{} has no process ID", file.display()))
}

/// Kills processes with SIGKILL.
fn kill(processes: &[u32]) -> Result<()> {
    let mut command = Command::new("kill");
    command
        .arg("-KILL")
        .args(processes.iter().map(ToString::to_string));
    // One of several processes may have exited meanwhile.
    let status = command
        .stderr(Stdio::null())
        .status()
        .context("cannot run kill")?;
    ensure!(
        status.success() || processes.len() > 1,
        "no process {processes:?}"
    );
    Ok(())
}
