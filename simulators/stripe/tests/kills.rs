//! Kills the simulator at random moments while clients charge cards, and counts what its state file has afterwards.

use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const KILLS: u64 = 10;
const CLIENTS: u64 = 4;

fn start(address: SocketAddr, state: &Path, webhooks: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stripe-simulator"))
        .args([
            "--listen",
            &address.to_string(),
            "--webhook-url",
            webhooks,
            "--state",
        ])
        .arg(state)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert!(line.contains("http://"), "{line}");
    child
}

/// Sends a request, and returns the body if the whole response arrived.
fn send(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: simulator\r\nAuthorization: Bearer sk_test_1\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

/// Accepts events and notes which charges succeeded. Returns its URL.
fn receive(charges: Arc<Mutex<HashSet<String>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut length = 0;
            let mut line = String::new();
            // A process that is killed breaks off.
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_ok()
                && let Ok(event) = serde_json::from_slice::<Value>(&body)
            {
                if event["type"] == "charge.succeeded" {
                    let id = event["data"]["object"]["id"].as_str().unwrap();
                    charges.lock().unwrap().insert(id.to_owned());
                }
                let _ = reader
                    .get_mut()
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    url
}

/// Charges a card again and again with the same key until an answer arrives.
fn charge(address: SocketAddr, key: &str, amount: u64) {
    let body = format!("amount={amount}&currency=usd&payment_method=pm_card_visa&confirm=true");
    let headers = format!("Idempotency-Key: {key}\r\n");
    loop {
        match send(address, "POST", "/v1/payment_intents", &headers, &body) {
            Some(intent) => {
                assert_eq!(intent["status"], "succeeded", "{intent}");
                return;
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[test]
fn every_charge_exists_once_however_often_the_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let delivered = Arc::new(Mutex::new(HashSet::new()));
    let webhooks = receive(delivered.clone());
    let mut child = start(address, &state, &webhooks);
    let is_done = Arc::new(AtomicBool::new(false));
    let (count, sum) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (is_done, count, sum) = (is_done.clone(), count.clone(), sum.clone());
            thread::spawn(move || {
                for number in 0.. {
                    if is_done.load(Ordering::Relaxed) {
                        return;
                    }
                    let amount = 100 + number * CLIENTS + client;
                    charge(address, &format!("{client}-{number}"), amount);
                    count.fetch_add(1, Ordering::Relaxed);
                    sum.fetch_add(amount, Ordering::Relaxed);
                    // The state file stays small, and so does the time of a start.
                    thread::sleep(Duration::from_millis(10));
                }
            })
        })
        .collect();
    for round in 0..KILLS {
        thread::sleep(Duration::from_millis(20 + round * 37 % 60));
        child.kill().unwrap();
        child.wait().unwrap();
        child = start(address, &state, &webhooks);
    }
    is_done.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    // The balance transactions of the last charges are due within a second.
    let idle = send(address, "POST", "/simulator/idle", "", "{\"timeout_ms\": 60000}").unwrap();
    assert_eq!(idle["idle"], true, "{idle}");
    let totals = send(address, "GET", "/simulator/totals", "", "").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let scope = &totals["scopes"][0];
    let (count, sum) = (count.load(Ordering::Relaxed), sum.load(Ordering::Relaxed));
    assert!(count > KILLS, "only {count} charges");
    assert_eq!(scope["charges"]["succeeded"]["count"], count);
    assert_eq!(scope["charges"]["succeeded"]["amount"], sum);
    assert_eq!(scope["transactions"]["charge"]["count"], count);
    assert_eq!(
        delivered.lock().unwrap().len() as u64,
        count,
        "an event for every charge"
    );
    let fees = scope["fees"].as_u64().unwrap();
    assert_eq!(scope["balance"]["total"], sum - fees);
}
