//! The Stripe simulator as a process with a state file, which can be killed and goes on where it was.

use crate::client::{self, Response};
use crate::instance::{BINARY, eventually};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub const SECRET_KEY: &str = "sk_test_faults";
pub const WEBHOOK_SECRET: &str = "whsec_faults";
pub const CONNECT_SECRET: &str = "whsec_faults_of_accounts";

pub struct StripeSimulator {
    process: Child,
    pub address: SocketAddr,
    folder: PathBuf,
}

impl StripeSimulator {
    /// Starts a simulator whose state is in this folder.
    pub fn start(folder: &Path) -> StripeSimulator {
        let address = free_address();
        StripeSimulator {
            process: run(address, folder),
            address,
            folder: folder.to_owned(),
        }
    }

    /// The URL of its API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Kills it and starts it again at the same address.
    pub fn kill_and_restart(&mut self) {
        self.stop();
        self.process = run(self.address, &self.folder);
    }

    fn stop(&mut self) {
        self.process.kill().expect("a process that can be killed");
        self.process.wait().expect("a process");
    }

    /// Sends a command to the control interface, which must succeed.
    pub fn control(&self, path: &str, body: &Value) -> Value {
        let path = format!("/simulator/{path}");
        let response = client::post(self.address, &path, "", &body.to_string()).expect("a response");
        assert_eq!(
            response.status,
            200,
            "{path}: {}",
            String::from_utf8_lossy(&response.body)
        );
        response.json()
    }

    /// Removes all faults.
    pub fn remove_faults(&self) {
        let removed = client::send_json("DELETE", self.address, "/simulator/faults", "", "");
        assert_eq!(removed.expect("a response").status, 200);
    }

    /// Sends events to a server.
    pub fn send_events_to(&self, server: SocketAddr) {
        let url = format!("http://{server}/webhooks/stripe");
        let endpoint = json!({ "url": url, "secret": WEBHOOK_SECRET, "connect_secret": CONNECT_SECRET });
        self.control("webhooks", &endpoint);
    }

    /// Lists all objects of a kind on our own account or on a connected one, newest first.
    pub fn list(&self, account: Option<&str>, kind: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().and_then(|last| last["id"].as_str());
            let after = after.map_or_else(String::new, |id| format!("&starting_after={id}"));
            let path = format!("/v1/{kind}?limit=100{after}");
            let page = read(self.address, account, &path).expect("a response");
            let page = page.json();
            all.extend(page["data"].as_array().expect("a list").iter().cloned());
            if page["has_more"] == false {
                return all;
            }
        }
    }
}

impl Drop for StripeSimulator {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(address: SocketAddr, folder: &Path) -> Child {
    let binary = Path::new(BINARY).with_file_name("stripe-simulator");
    assert!(
        binary.exists(),
        "{} is missing: cargo build --workspace --bin stripe-simulator",
        binary.display()
    );
    let greeting = folder.join("simulator.out");
    let process = Command::new(binary)
        .args(["--listen", &address.to_string(), "--api-key", SECRET_KEY])
        .arg("--state")
        .arg(folder.join("simulator-state"))
        .stdin(Stdio::null())
        .stdout(File::create(&greeting).expect("a log file"))
        .spawn()
        .expect("the simulator runs");
    eventually("the simulator listens", || {
        fs::read_to_string(&greeting).is_ok_and(|text| text.contains("http://"))
    });
    process
}

/// An address that nothing listens on.
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}

/// Reads from the API what belongs to our own account or to a connected one, as another program with the same key would.
pub fn read(simulator: SocketAddr, account: Option<&str>, path: &str) -> std::io::Result<Response> {
    let account = account.map_or_else(String::new, |account| format!("Stripe-Account: {account}\r\n"));
    client::get_with(simulator, path, &format!("{}{account}", authorization()))
}

/// The header with the key, with its line ending.
pub fn authorization() -> String {
    format!("Authorization: Bearer {SECRET_KEY}\r\n")
}
