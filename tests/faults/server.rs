//! A server process.

use crate::client::{self, Response};
use crate::instance::{BINARY, Instance, eventually};
use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Server {
    process: Child,
    /// The process ID of the server, also where `process` is the tracer.
    id: u32,
    pub address: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Starts a server with more environment variables than those of the instance.
    pub fn start(instance: &Instance, environment: &[(&str, &str)]) -> Server {
        let mut command = instance.command(&["serve", "--empty", "--listen", "127.0.0.1:0"]);
        command.envs(environment.iter().copied());
        Server::run(instance, command)
    }

    /// Starts a server at an address of our choice, so that it can be at the same one after a kill.
    pub fn start_at(instance: &Instance, address: SocketAddr) -> Server {
        let command = instance.command(&["serve", "--empty", "--listen", &address.to_string()]);
        Server::run_at(instance, command, Some(address))
    }

    /// Starts a server of another version.
    pub fn start_binary(instance: &Instance, binary: &Path) -> Server {
        let mut command = Command::new(binary);
        instance.configure(&mut command);
        command.args(["serve", "--empty", "--listen", "127.0.0.1:0"]);
        Server::run(instance, command)
    }

    /// Starts a server with a settings file, and colors wherever a program decides to use them.
    pub fn start_with_file(instance: &Instance, settings: &Path, environment: &[(&str, &str)]) -> Server {
        let mut command = instance.command(&["serve", "--empty", "--listen", "127.0.0.1:0"]);
        command.arg("--config").arg(settings).env_remove("NO_COLOR");
        command.envs(environment.iter().copied());
        Server::run(instance, command)
    }

    /// Starts a server that may have this many files open.
    pub fn start_with_open_files(instance: &Instance, files: usize, environment: &[(&str, &str)]) -> Server {
        let mut command = Command::new("sh");
        instance.configure(&mut command);
        command.envs(environment.iter().copied());
        let limited = format!("ulimit -n {files}; exec \"$@\"");
        command.args(["-c", &limited, "sh", BINARY]);
        command.args(["serve", "--empty", "--listen", "127.0.0.1:0"]);
        Server::run(instance, command)
    }

    /// Starts a server under `strace` with these options.
    pub fn start_traced(instance: &Instance, options: &[&str]) -> Server {
        let mut command = Command::new("strace");
        instance.configure(&mut command);
        command.arg("-f").args(options);
        command.args([BINARY, "serve", "--empty", "--listen", "127.0.0.1:0"]);
        let mut server = Server::run(instance, command);
        let tracer = server.id;
        let children = fs::read_to_string(format!("/proc/{tracer}/task/{tracer}/children"));
        let children = children.expect("a process");
        let child = children.split(' ').next().and_then(|id| id.parse().ok());
        server.id = child.expect("a traced server");
        server
    }

    /// Starts a server that chooses its address and prints it.
    fn run(instance: &Instance, command: Command) -> Server {
        Server::run_at(instance, command, None)
    }

    fn run_at(instance: &Instance, mut command: Command, chosen: Option<SocketAddr>) -> Server {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = instance.folder.path().join(format!("server-{number}.log"));
        let greeting = log.with_extension("out");
        command
            .stdout(File::create(&greeting).expect("a log file"))
            .stderr(File::create(&log).expect("a log file"));
        let mut process = command.spawn().expect("the binary runs");
        let mut address = None;
        eventually("the server listens", || {
            let text = fs::read_to_string(&greeting).expect("a log file");
            address = match chosen {
                Some(chosen) => TcpStream::connect(chosen).is_ok().then_some(chosen),
                None => text
                    .lines()
                    .find_map(|line| line.split_once("http://")?.1.parse().ok()),
            };
            let exited = process.try_wait().expect("a process");
            assert!(
                exited.is_none(),
                "the server exited: {}",
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

    /// Sends a request that must get a response, whatever its status.
    pub fn get(&self, path: &str) -> Response {
        match client::get(self.address, path) {
            Ok(response) => response,
            Err(error) => panic!("no response to {path}: {error}\n{}", self.log()),
        }
    }

    /// Waits until responses come from a snapshot of this revision. Only a snapshot gives responses an `ETag`.
    pub fn wait_for_revision(&self, path: &str, revision: i64) {
        eventually("the server shows the newest import", || {
            let response = self.get(path);
            let tag = response
                .header("etag")
                .and_then(|tag| tag.trim_end_matches('"').rsplit_once('-'));
            tag.is_some_and(|(_, shown)| i64::from_str_radix(shown, 16).is_ok_and(|shown| shown >= revision))
        });
    }

    /// The number of files and connections that the server has open.
    pub fn open_files(&self) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", self.id));
        files.expect("a process").count()
    }

    /// The memory of the server in bytes.
    pub fn resident_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id)).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes: Option<u64> = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        kibibytes.expect("its memory") * 1024
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("sh")
            .arg("-c")
            .arg(format!("kill -{name} {}", self.id))
            .status();
        assert!(sent.is_ok_and(|sent| sent.success()));
    }

    /// Stops the server with SIGTERM and waits for it to exit.
    pub fn stop(mut self) {
        self.terminate();
        eventually("the server stops", || self.exit_status().is_some());
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        self.send_kill();
        self.process.wait().expect("a process");
    }

    /// Sends SIGKILL to the server. A tracer exits with the process that it traces.
    fn send_kill(&mut self) {
        let id = self.id.to_string();
        let sent = Command::new("kill")
            .args(["-KILL", &id])
            .stderr(Stdio::null())
            .status();
        sent.expect("a command");
    }

    /// The exit status, if the process has exited.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("a process")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.exit_status().is_none() {
            self.send_kill();
            let _ = self.process.wait();
        }
        if std::thread::panicking() {
            println!("the log of the server:\n{}", self.log());
        }
    }
}
