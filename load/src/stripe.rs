//! The Stripe simulator as a process, and events that are signed as Stripe signs them.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::causeway::free_address;
use crate::cleanup::{ChildProcess, ScratchDir};
use crate::connection::Connection;
use crate::process::create;
use crate::requests::Requests;

const SECRET_KEY: &str = "sk_test_load";
const WEBHOOK_SECRET: &str = "whsec_load";
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A running simulator, which is killed when this is dropped.
pub(crate) struct StripeSimulator {
    _process: ChildProcess,
    address: SocketAddr,
}

impl StripeSimulator {
    /// Starts the simulator on the core of the client.
    pub(crate) fn start(binary: &Path, core: usize, scratch: &ScratchDir) -> Result<Self> {
        ensure!(
            binary.is_file(),
            "{} does not exist: run `cargo build --release --workspace`, or pass its path with --simulator",
            binary.display()
        );
        let address = free_address()?;
        let output = create(&scratch.path("simulator.log"))?;
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &core.to_string()]).arg(binary);
        command.args(["--listen", &address.to_string(), "--api-key", SECRET_KEY]);
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let process = ChildProcess::start(&mut command)?;
        let started = Instant::now();
        while Connection::open(address).is_err() {
            ensure!(started.elapsed() < START_TIMEOUT, "the simulator does not start");
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Self {
            _process: process,
            address,
        })
    }

    /// The settings of a server that takes payments with it.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("CAUSEWAY_GIVING__PROVIDER", "stripe".to_owned()),
            ("CAUSEWAY_STRIPE__SECRET_KEY", SECRET_KEY.to_owned()),
            ("CAUSEWAY_STRIPE__WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
            ("CAUSEWAY_STRIPE__API_BASE", format!("http://{}", self.address)),
            ("CAUSEWAY_RECIPIENT__LEGAL_NAME", "Load Foundation".to_owned()),
            ("CAUSEWAY_RECIPIENT__EIN", "12-3456789".to_owned()),
            // One address starts all donations.
            ("CAUSEWAY_CHECKOUT__STARTS_PER_MINUTE", "1000000000".to_owned()),
        ]
    }

    /// Lets every call of the API wait so long, or none.
    pub(crate) fn be_silent_for(&self, silence: Option<Duration>) -> Result<()> {
        let mut clear = format!("DELETE /simulator/faults HTTP/1.1\r\nHost: {}\r\n", self.address);
        clear.push_str("Content-Length: 0\r\n\r\n");
        let mut connection = Connection::open(self.address)?;
        connection.request(clear.as_bytes())?;
        match silence {
            Some(silence) => {
                let seconds = silence.as_secs_f64();
                self.control(
                    "faults",
                    &json!({ "kind": "timeout_before", "path": "/v1/", "seconds": seconds }),
                )
            }
            None => Ok(()),
        }
    }

    /// Enters so many fees of one cent each.
    pub(crate) fn charge_fees(&self, count: u32) -> Result<()> {
        let fees = json!({ "amount": -1, "type": "stripe_fee", "category": "fee", "count": count });
        self.control("transactions", &fees)
    }

    fn control(&self, command: &str, body: &Value) -> Result<()> {
        let mut requests = Requests::new(self.address);
        requests.push_post(&format!("/simulator/{command}"), "", &body.to_string());
        let mut connection = Connection::open(self.address)?;
        let status = connection.request(requests.get(0))?.status;
        ensure!(
            status == 200,
            "the simulator answered {command} with status {status}"
        );
        Ok(())
    }
}

/// Adds the event that a charge has paid a donation, as Stripe sends it: its fee is not known yet.
pub(crate) fn push_event(requests: &mut Requests, donation: &str, store: &str, amount: u32) -> Result<()> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the clock is before 1970")?;
    let now = now.as_secs();
    let event = json!({
        "id": format!("evt_{donation}"),
        "object": "event",
        "type": "charge.succeeded",
        "created": now,
        "livemode": false,
        "data": { "object": {
            "id": format!("ch_{donation}"),
            "object": "charge",
            "amount": amount,
            "amount_refunded": 0,
            "currency": "usd",
            "created": now,
            "livemode": false,
            "paid": true,
            "status": "succeeded",
            "metadata": { "donation": donation, "store": store },
            "balance_transaction": null,
        } },
    });
    let body = event.to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(WEBHOOK_SECRET.as_bytes()).context("any key fits")?;
    mac.update(format!("{now}.{body}").as_bytes());
    let mut signature = String::new();
    for byte in mac.finalize().into_bytes() {
        write!(signature, "{byte:02x}")?;
    }
    requests.push_post(
        "/webhooks/stripe",
        &format!("Stripe-Signature: t={now},v1={signature}\r\n"),
        &body,
    );
    Ok(())
}
