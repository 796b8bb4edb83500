//! A server as a process of its own, over the store of a story, and commands beside it.

use crate::world::World;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a machine under load may take for what takes no time.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Server {
    process: Child,
    pub address: String,
    pub metrics: String,
    log: PathBuf,
}

/// The binary over the store of a story.
fn binary(world: &World) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_causeway"));
    command
        .arg("--data")
        .arg(world.data())
        .env_remove("CAUSEWAY_DATABASE_URL");
    if let Some(url) = world.app.config.database.exposed_url() {
        command.env("CAUSEWAY_DATABASE_URL", url);
    }
    command
}

/// Runs a command beside the server, with `--json`.
pub fn command(world: &World, arguments: &[&str]) -> Value {
    command_with(world, arguments, "")
}

/// The same with a line of input.
pub fn command_with(world: &World, arguments: &[&str], input: &str) -> Value {
    let mut command = binary(world);
    command.args(arguments).arg("--json").stdin(Stdio::piped());
    let mut process = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads nothing may have ended.
    _ = writeln!(process.stdin.take().unwrap(), "{input}");
    let output = process.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

impl Server {
    /// Starts a server that logs all it can.
    pub fn start(world: &World, name: &str) -> Server {
        let log = world.data().join(format!("{name}.log"));
        let greeting = log.with_extension("out");
        let metrics = free_address();
        let process = binary(world)
            .args([
                "serve",
                "--empty",
                "--listen",
                "127.0.0.1:0",
                "--metrics-listen",
                &metrics,
            ])
            .env("CAUSEWAY_LOG__REQUESTS", "all")
            .env("CAUSEWAY_LOG__FILTER", "trace")
            .stdin(Stdio::null())
            .stdout(File::create(&greeting).unwrap())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut server = Server {
            process,
            address: String::new(),
            metrics,
            log,
        };
        eventually("the server listens", || {
            let text = fs::read_to_string(&greeting).unwrap();
            let address = text
                .lines()
                .find_map(|line| line.strip_prefix("Causeway listens on http://"));
            address.unwrap_or_default().clone_into(&mut server.address);
            !server.address.is_empty()
        });
        server
    }

    /// The status of a GET.
    pub fn status(&self, path: &str) -> u16 {
        let answer = self.send("GET", path, "");
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// The whole answer to a request.
    pub fn send(&self, method: &str, path: &str, headers: &str) -> String {
        exchange(&self.address, method, path, headers)
    }

    /// What it wrote to the log and to the terminal.
    pub fn log(&self) -> String {
        [&self.log, &self.log.with_extension("out")]
            .map(|file| fs::read_to_string(file).unwrap())
            .concat()
    }

    /// Stops it as an operator does, and waits for its end.
    pub fn stop(mut self) {
        let id = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(self.process.wait().unwrap().success(), "{}", self.log());
    }

    /// Ends it without a word.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One request on a connection of its own.
pub fn exchange(address: &str, method: &str, path: &str, headers: &str) -> String {
    exchange_body(address, method, path, headers, "")
}

/// The same with a body.
pub fn exchange_body(address: &str, method: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = match body {
        "" => String::new(),
        body => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: causeway.test\r\nConnection: close\r\n{length}{headers}\r\n{body}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Waits for another process; a story of one process moves its clock instead.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it never came true that {what}");
        sleep(Duration::from_millis(10));
    }
    begun.elapsed()
}

fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}
