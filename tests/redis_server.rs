//! A Redis server of one test, which can be killed, frozen and flushed without disturbing other tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Ends a wait that would otherwise last forever.
const TIMEOUT: Duration = Duration::from_mins(10);

pub struct RedisServer {
    process: Option<Child>,
    arguments: Vec<String>,
    folder: TempDir,
    pub port: u16,
}

impl RedisServer {
    /// Starts a server without persistence on a free port, with more arguments.
    pub fn start(arguments: &[&str]) -> RedisServer {
        // Another process may take the port before Redis does.
        for _ in 0..20 {
            let mut server = RedisServer {
                process: None,
                arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
                folder: tempfile::tempdir().unwrap(),
                port: free_port(),
            };
            if server.try_resume() {
                return server;
            }
        }
        panic!("Redis does not start");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts the server again after [`kill`](Self::kill). It is empty.
    pub fn resume(&mut self) {
        let start = Instant::now();
        while !self.try_resume() {
            assert!(start.elapsed() < TIMEOUT, "Redis does not start");
        }
    }

    fn try_resume(&mut self) -> bool {
        let mut command = Command::new("redis-server");
        let port = self.port.to_string();
        // A configuration file comes first; that of a sentinel is rewritten by it.
        if self
            .arguments
            .first()
            .is_some_and(|argument| argument == "--sentinel")
        {
            let file = self.folder.path().join("sentinel.conf");
            std::fs::write(&file, &self.arguments[1]).unwrap();
            command.arg(file).arg("--sentinel");
        } else {
            command
                .args(&self.arguments)
                .args(["--save", "", "--appendonly", "no"]);
        }
        let process = command
            .args(["--port", &port, "--bind", "127.0.0.1", "--dir"])
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let process = process.expect("redis-server is not installed: use make test");
        let process = self.process.insert(process);
        let start = Instant::now();
        loop {
            if process.try_wait().unwrap().is_some() {
                return false;
            }
            if command_of(self.port, "PING").is_ok_and(|pong| pong == "+PONG") {
                return true;
            }
            assert!(start.elapsed() < TIMEOUT, "Redis does not respond");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends one command and returns the response: its first line, or the text that it announces.
    pub fn command(&self, line: &str) -> String {
        command_of(self.port, line).unwrap()
    }

    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.process.as_ref().unwrap().id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nobody uses now.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn command_of(port: u16, line: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(format!("{line}\r\n").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let first = first.trim_end();
    match first.strip_prefix('$') {
        Some(length) => {
            let mut text = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut text)?;
            Ok(String::from_utf8(text).unwrap())
        }
        None => Ok(first.to_owned()),
    }
}
