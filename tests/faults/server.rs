//! A running server.

use crate::client::{self, Answer};
use crate::place::{BINARY, Place, SOON, eventually};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Server {
    process: Child,
    /// Of the server itself, where `process` only watches it.
    id: u32,
    pub address: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Starts a server with these variables of the environment beside those of the place.
    pub fn start(place: &Place, environment: &[(&str, &str)]) -> Server {
        let mut command = place.command(&["serve", "--empty", "--listen", "127.0.0.1:0"]);
        command.envs(environment.iter().copied());
        Server::run(place, command)
    }

    /// Starts a server whose calls of the system go through `strace` with these options.
    pub fn start_traced(place: &Place, options: &[&str]) -> Server {
        let mut command = Command::new("strace");
        place.settle(&mut command);
        command.arg("-f").args(options);
        command.args([BINARY, "serve", "--empty", "--listen", "127.0.0.1:0"]);
        let mut server = Server::run(place, command);
        let watcher = server.id;
        let children = fs::read_to_string(format!("/proc/{watcher}/task/{watcher}/children"));
        let children = children.expect("a process");
        let child = children.split(' ').next().and_then(|id| id.parse().ok());
        server.id = child.expect("a server that is watched");
        server
    }

    fn run(place: &Place, mut command: Command) -> Server {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = place.folder.path().join(format!("server-{number}.log"));
        let greeting = log.with_extension("out");
        command
            .stdout(File::create(&greeting).expect("a log file"))
            .stderr(File::create(&log).expect("a log file"));
        let mut process = command.spawn().expect("the binary runs");
        let mut address = None;
        eventually(SOON, "the server listens", || {
            let text = fs::read_to_string(&greeting).expect("a log file");
            address = text
                .lines()
                .find_map(|line| line.strip_prefix("Causeway listens on http://")?.parse().ok());
            let ended = process.try_wait().expect("a process");
            assert!(
                ended.is_none(),
                "the server ended: {}",
                fs::read_to_string(&log).unwrap_or_default()
            );
            address.is_some()
        });
        Server {
            id: process.id(),
            process,
            address: address.expect("it listens"),
            log,
        }
    }

    /// A request that is to be answered, whatever the answer.
    pub fn get(&self, path: &str) -> Answer {
        match client::get(self.address, path) {
            Ok(answer) => answer,
            Err(fault) => panic!("no answer to {path}: {fault}\n{}", self.log()),
        }
    }

    /// Waits until answers come from a snapshot, which gives them a tag, of this state of the store.
    pub fn await_revision(&self, path: &str, revision: i64) {
        let ending = format!("-{revision:x}\"");
        eventually(SOON, "the server shows the newest import", || {
            self.get(path)
                .header("etag")
                .is_some_and(|tag| tag.ends_with(&ending))
        });
    }

    /// What it logged.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        let sent = Command::new("sh")
            .arg("-c")
            .arg(format!("kill -TERM {}", self.id))
            .status();
        assert!(sent.is_ok_and(|sent| sent.success()));
    }

    /// Stops it and waits for its end.
    pub fn stop(mut self) {
        self.terminate();
        eventually(SOON, "the server stops", || self.ended().is_some());
    }

    /// Ends it at once, with no word.
    pub fn kill(&mut self) {
        self.end();
        self.process.wait().expect("a process");
    }

    /// One that watches ends with what it watches.
    fn end(&mut self) {
        let id = self.id.to_string();
        let ended = Command::new("kill")
            .args(["-KILL", &id])
            .stderr(Stdio::null())
            .status();
        ended.expect("a command");
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("a process")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.end();
            let _ = self.process.wait();
        }
        if std::thread::panicking() {
            println!("the log of the server:\n{}", self.log());
        }
    }
}
