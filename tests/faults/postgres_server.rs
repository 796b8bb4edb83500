//! A PostgreSQL server of one test, which can be stopped, killed and frozen without disturbing other tests.

use crate::instance::eventually;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use tempfile::TempDir;

/// The folders in which Debian installs PostgreSQL, one per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The data survives because the machine does not crash.
const OPTIONS: &str = "-c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories=";

pub struct PostgresServer {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
}

impl PostgresServer {
    /// Starts a server on a free port. Prints the reason if that is not possible here.
    pub fn start() -> Option<PostgresServer> {
        let Some(programs) = find_programs() else {
            println!("skipped: PostgreSQL is not installed; tests/with-services.sh installs it");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let port = free_port();
        let server = PostgresServer {
            programs,
            folder,
            port,
        };
        run(server.program("initdb").args([
            "-U",
            "causeway",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]));
        server.resume();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("postgres://causeway@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops the server at once, without waiting for its clients.
    pub fn stop(&self) {
        run(self
            .program("pg_ctl")
            .args(["-m", "immediate", "-s", "-t", "600", "stop"]));
    }

    /// Starts the server again after it was stopped or killed.
    pub fn resume(&self) {
        let log = self.folder.path().join("log");
        let options = format!("-p {} {OPTIONS}", self.port);
        run(self
            .program("pg_ctl")
            .args(["-w", "-s", "-t", "600", "-o", &options, "-l"])
            .arg(log)
            .arg("start"));
    }

    /// Kills the first process of the server. The others notice and exit.
    pub fn kill(&self) {
        let first = self.processes()[0];
        signal("KILL", &[first]);
        eventually("the processes of PostgreSQL exit", || {
            self.processes_of(first).is_empty()
        });
        // Where nobody waits for the killed process, PostgreSQL would believe that it still runs.
        fs::remove_file(self.folder.path().join("postgres/postmaster.pid")).expect("a file");
    }

    /// Stops all processes of the server: connections stay open, and nothing responds.
    pub fn freeze(&self) {
        // The first process creates the others, so it comes first.
        let first = self.processes()[0];
        signal("STOP", &[first]);
        signal("STOP", &self.processes());
    }

    pub fn thaw(&self) {
        signal("CONT", &self.processes());
    }

    /// The IDs of all processes of the server, the first one first.
    fn processes(&self) -> Vec<u32> {
        let file = self.folder.path().join("postgres/postmaster.pid");
        let text = fs::read_to_string(file).expect("a running server");
        let first = text.lines().next().and_then(|line| line.parse().ok());
        let first = first.expect("a process ID");
        let mut all = vec![first];
        all.extend(self.processes_of(first));
        all
    }

    /// The IDs of the processes that work in the data folder of the server, except `first`.
    fn processes_of(&self, first: u32) -> Vec<u32> {
        let data = self.folder.path().join("postgres");
        let entries = fs::read_dir("/proc").expect("a list of processes").flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        ids.filter(|id| *id != first)
            .filter(|id| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|folder| folder == data))
            .collect()
    }

    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        // PostgreSQL does not run as root.
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.arg("-D").arg(self.folder.path().join("postgres"));
        command.current_dir(self.folder.path());
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.folder.path().join("postgres/postmaster.pid").exists() {
            self.thaw();
            let mut stop = self.program("pg_ctl");
            stop.args(["-m", "immediate", "-s", "stop"]);
            let _ = stop.stderr(Stdio::null()).status();
        }
    }
}

fn find_programs() -> Option<PathBuf> {
    let versions = fs::read_dir(VERSIONS).ok()?.flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("initdb").exists()).max()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("a command");
    id.stdout.trim_ascii() == b"0"
}

/// A port outside the range from which the system assigns them, so that it stays free while the server is down.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let offset = (std::process::id() as u16).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 10_000 + offset % 9_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn signal(name: &str, processes: &[u32]) {
    let mut kill = Command::new("kill");
    kill.arg(format!("-{name}"))
        .args(processes.iter().map(ToString::to_string));
    // A connection may have ended meanwhile, with its process.
    let _ = kill.stderr(Stdio::null()).status().expect("a command");
}

fn run(command: &mut Command) {
    // A pipe would stay open in the server that the command starts.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
}
