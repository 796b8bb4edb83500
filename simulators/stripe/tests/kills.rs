//! Kills the simulator at random moments while clients charge cards, and counts what its state file has afterwards.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const KILLS: u64 = 10;
const CLIENTS: u64 = 4;

fn start(address: SocketAddr, state: &Path) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stripe-simulator"))
        .args(["--listen", &address.to_string(), "--state"])
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
    let mut child = start(address, &state);
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
        child = start(address, &state);
    }
    is_done.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    // The balance transactions of the last charges are due within a second.
    send(address, "POST", "/simulator/idle", "", "").unwrap();
    let totals = send(address, "GET", "/simulator/totals", "", "").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let scope = &totals["scopes"][0];
    let (count, sum) = (count.load(Ordering::Relaxed), sum.load(Ordering::Relaxed));
    assert!(count > KILLS, "only {count} charges");
    assert_eq!(scope["charges"]["succeeded"]["count"], count);
    assert_eq!(scope["charges"]["succeeded"]["amount"], sum);
    assert_eq!(scope["transactions"]["charge"]["count"], count);
    let fees = scope["fees"].as_u64().unwrap();
    assert_eq!(scope["balance"]["total"], sum - fees);
}
