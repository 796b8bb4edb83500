//! A server process with the database of a story, and commands that run next to it.

use super::binary;
use crate::wait::{TIMEOUT, wait_until};
use crate::world::World;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// Ports that the system does not assign by itself, so that a port found free stays free.
const FIRST_PORT: u16 = 10_000;
const PORTS: u16 = 20_000;

pub struct Server {
    process: Child,
    pub address: String,
    pub metrics: String,
    log: PathBuf,
}

/// The binary with the database of a story.
pub fn command(world: &World) -> Command {
    let mut command = binary();
    command.arg("--data").arg(world.data());
    if let Some(url) = world.app.config.database.exposed_url() {
        command.env("CAUSEWAY_DATABASE_URL", url);
        wait_for_database(&mut command);
    }
    command
}

/// Gives the database as much time as the tests have: a slow machine must not run into the timeouts of the binary.
pub fn wait_for_database(command: &mut Command) {
    let timeout = TIMEOUT.as_secs().to_string();
    for name in ["ACQUIRE_TIMEOUT", "PROBE_TIMEOUT"] {
        command.env(format!("CAUSEWAY_DATABASE__{name}"), &timeout);
    }
}

/// Runs a command with `--json` and returns its output.
pub fn run(world: &World, arguments: &[&str]) -> Value {
    run_with_input(world, arguments, "")
}

/// Runs a command with `--json` and a line of input.
pub fn run_with_input(world: &World, arguments: &[&str], input: &str) -> Value {
    let mut process = command(world)
        .args(arguments)
        .arg("--json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input may have exited already.
    _ = writeln!(process.stdin.take().unwrap(), "{input}");
    let output = process.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

impl Server {
    /// Starts a server that logs everything.
    pub fn start(world: &World, name: &str) -> Server {
        Server::start_with(world, name, &[])
    }

    /// Starts a server with environment variables of its own.
    pub fn start_with(world: &World, name: &str, variables: &[(&str, &str)]) -> Server {
        let log = world.data().join(format!("{name}.log"));
        let greeting = log.with_extension("out");
        let metrics = free_address();
        let process = command(world)
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
            .envs(variables.iter().copied())
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
        wait_until("the server listens", || {
            let text = fs::read_to_string(&greeting).unwrap();
            let address = text.lines().find_map(|line| line.split_once("http://"));
            address.unwrap_or_default().1.clone_into(&mut server.address);
            !server.address.is_empty()
        });
        server
    }

    /// Sends a GET request and returns the status.
    pub fn status(&self, path: &str) -> u16 {
        let response = self.send("GET", path, "");
        response.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Sends a request and returns the response with its headers.
    pub fn send(&self, method: &str, path: &str, headers: &str) -> String {
        send(&self.address, method, path, headers)
    }

    /// Everything written to standard error and standard output.
    pub fn log(&self) -> String {
        [&self.log, &self.log.with_extension("out")]
            .map(|file| fs::read_to_string(file).unwrap())
            .concat()
    }

    /// Stops the server with SIGTERM and waits for it to exit.
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

    /// Kills the server.
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

/// Sends one request on its own connection and returns the response with its headers.
pub fn send(address: &str, method: &str, path: &str, headers: &str) -> String {
    send_body(address, method, path, headers, "")
}

/// Sends one request with a body.
pub fn send_body(address: &str, method: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let length = match body {
        "" => String::new(),
        body => format!("Content-Length: {}\r\n", body.len()),
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: causeway.test\r\nConnection: close\r\n{length}{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let offset = std::process::id() as u16 ^ NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{}", FIRST_PORT + offset % PORTS);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}
