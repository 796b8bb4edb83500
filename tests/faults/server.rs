//! A running server.

use crate::client::{self, Answer};
use crate::place::{Place, SOON, eventually};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Server {
    process: Child,
    pub address: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Starts a server with these variables of the environment beside those of the place.
    pub fn start(place: &Place, environment: &[(&str, &str)]) -> Server {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = place.folder.path().join(format!("server-{number}.log"));
        let greeting = log.with_extension("out");
        let mut command = place.command(&["serve", "--empty", "--listen", "127.0.0.1:0"]);
        command
            .envs(environment.iter().copied())
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
            .arg(format!("kill -TERM {}", self.process.id()))
            .status();
        assert!(sent.is_ok_and(|sent| sent.success()));
    }

    /// Ends it at once, with no word.
    pub fn kill(&mut self) {
        self.process.kill().expect("a process that can be killed");
        self.process.wait().expect("a process");
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("a process")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            println!("the log of the server:\n{}", self.log());
        }
    }
}
