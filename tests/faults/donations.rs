//! The ways to record donations. Each can be interrupted at any moment and repeated.

use crate::client;
use crate::instance::{Instance, stderr_of};
use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use uuid::Uuid;

/// The amount of every donation, in cents.
pub const AMOUNT: i64 = 250;
/// Donations in a file; eight of them are in progress at a time.
const DONATIONS_PER_FILE: u64 = 24;
/// The card number that the test provider accepts.
const CARD: &str = "4242424242424242";

/// Records donations to a fundraiser.
pub struct Donor<'a> {
    pub instance: &'a Instance,
    pub nonprofit: &'a str,
    pub fundraiser: &'a str,
}

/// How a donation is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `causeway donation record`
    Command,
    /// `causeway donation import`
    File,
    /// The two forms of the site, on the server that is killed.
    Site,
}

impl Method {
    /// The number of donations that one call records.
    pub const fn donations(self) -> u64 {
        match self {
            Method::File => DONATIONS_PER_FILE,
            Method::Command | Method::Site => 1,
        }
    }
}

impl Donor<'_> {
    /// Donates until `is_over` is set, and returns whether the donation was acknowledged.
    pub fn donate_until(
        &self,
        method: Method,
        server: SocketAddr,
        number: u128,
        is_over: &AtomicBool,
    ) -> bool {
        match method {
            Method::Site => self.donate_on_site(server, number),
            Method::Command | Method::File => succeeds_before(self.start(method, number), is_over),
        }
    }

    /// Donates successfully.
    pub fn donate(&self, method: Method, server: SocketAddr, number: u128) {
        match method {
            Method::Site => assert!(self.donate_on_site(server, number), "donation {number:x} failed"),
            Method::Command | Method::File => {
                let output = self.start(method, number).wait_with_output().expect("a process");
                assert!(output.status.success(), "{}", stderr_of(&output));
            }
        }
    }

    /// Sends both forms. A server that is gone acknowledges nothing.
    fn donate_on_site(&self, server: SocketAddr, number: u128) -> bool {
        let once = Uuid::from_u128(number);
        let start = format!("/{}/f/{}/give", self.nonprofit, self.fundraiser);
        let fields = format!("amount=2.50&public=no&once={once}");
        let Some(donation) = send_form(server, &start, &fields) else {
            return false;
        };
        match send_form(server, &donation, &format!("card={CARD}")) {
            Some(receipt) => {
                assert_eq!(receipt, donation);
                true
            }
            None => false,
        }
    }

    fn start(&self, method: Method, number: u128) -> Child {
        let mut command = match method {
            Method::File => self.import_command(number),
            Method::Command | Method::Site => self.record_command(number),
        };
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    fn record_command(&self, number: u128) -> Command {
        let (amount, id) = (AMOUNT.to_string(), format!("donation-{number:02x}"));
        self.instance.command(&[
            "donation",
            "record",
            "--nonprofit",
            self.nonprofit,
            "--fundraiser",
            self.fundraiser,
            "--amount",
            &amount,
            "--donor",
            &id,
            "--external-id",
            &id,
        ])
    }

    fn import_command(&self, number: u128) -> Command {
        let (nonprofit, fundraiser) = (self.nonprofit, self.fundraiser);
        let line = |line| {
            let id = format!("donation-{number:x}-{line}");
            format!(
                r#"{{"nonprofit":"{nonprofit}","fundraiser":"{fundraiser}","amount":{AMOUNT},"donor":"{id}","externalId":"{id}"}}"#
            )
        };
        let lines: Vec<_> = (0..DONATIONS_PER_FILE).map(line).collect();
        let file = self
            .instance
            .folder
            .path()
            .join(format!("donations-{number:x}.jsonl"));
        fs::write(&file, lines.join("\n")).expect("a writable test file");
        let mut command = self.instance.command(&["donation", "import", "--at-once", "8"]);
        command.arg(file);
        command
    }
}

/// Sends a form and returns the path that it redirects to, or nothing if the server is gone.
fn send_form(server: SocketAddr, path: &str, fields: &str) -> Option<String> {
    let response = client::post_form(server, path, fields).ok()?;
    let body = String::from_utf8_lossy(&response.body);
    assert_eq!(response.status, 303, "{path}: {body}");
    let location = response.header("location").expect("a location");
    assert!(location.starts_with("/donations/"), "{location}");
    Some(location.to_owned())
}

/// Waits for a process to succeed, and kills it when `is_over` is set. Returns whether it succeeded.
fn succeeds_before(mut process: Child, is_over: &AtomicBool) -> bool {
    loop {
        if let Some(status) = process.try_wait().expect("a process") {
            let output = process.wait_with_output().expect("a process");
            assert!(status.success(), "{}", stderr_of(&output));
            return true;
        }
        if is_over.load(Ordering::Relaxed) {
            process.kill().expect("a process that can be killed");
            process.wait().expect("a process");
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
