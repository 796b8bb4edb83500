//! Events reach webhook endpoints at least once and in order, although the servers that send them are killed and receivers
//! fail: one refuses some, one is slow to accept, one is gone, and one works.
//!
//! Time does not pass here. Statements make everything due that waits for its next attempt and, while no server runs, lapse
//! the leases, as if the clock had moved by days.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually, rounds};
use crate::ledger::Workload;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How often a server is killed, unless `CAUSEWAY_WEBHOOK_ROUNDS` is set.
const ROUNDS: u64 = 3;
/// The changes of fundraisers in a round, unless `CAUSEWAY_WEBHOOK_EVENTS` is set.
const EVENTS: usize = 24;
const FUNDRAISERS: usize = 4;
/// The range of times that a server lives after the last change of a round, in milliseconds.
const MAX_LIFETIME_MILLIS: u64 = 60;

const LAPSE: &str = "update webhook_deliveries set due_at = 0, lease = null where lease is not null";
const MAKE_DUE: &str = "update webhook_deliveries set due_at = 0 where due_at is not null and lease is null";
const WAKE: &str = "update webhook_endpoints set due_at = 0 where status <> 'disabled'";

#[test]
fn events_survive_killed_servers_and_failing_receivers_on_sqlite() {
    deliver(Database::Sqlite);
}

#[test]
fn events_survive_killed_servers_and_failing_receivers_on_postgres() {
    deliver(Database::Postgres);
}

/// An event that a receiver accepted.
#[derive(Clone, Debug)]
struct Received {
    id: String,
    subject: String,
    timestamp: String,
}

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Behavior {
    Works,
    /// Refuses every third request.
    Refuses,
    /// Closes every third connection without an answer, after it has read the event.
    Resets,
    /// Answers with status 410.
    Gone,
}

const BEHAVIORS: [Behavior; 4] = [
    Behavior::Works,
    Behavior::Refuses,
    Behavior::Resets,
    Behavior::Gone,
];

#[derive(Clone, Default)]
struct Receivers {
    accepted: Arc<Mutex<BTreeMap<Behavior, Vec<Received>>>>,
}

impl Receivers {
    /// Starts a receiver and returns its URL.
    fn start(&self, behavior: Behavior) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let receivers = self.clone();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let receivers = receivers.clone();
                thread::spawn(move || receivers.serve(behavior, number, stream));
            }
        });
        format!("http://{address}/{behavior:?}")
    }

    fn serve(&self, behavior: Behavior, number: usize, stream: TcpStream) -> Option<()> {
        let mut requests = BufReader::new(stream.try_clone().ok()?);
        let mut stream = stream;
        for turn in number.. {
            let (id, body) = read_request(&mut requests)?;
            let fails = turn % 3 == 1;
            let status = match behavior {
                Behavior::Resets if fails => return None,
                Behavior::Refuses if fails => "500 Internal Server Error",
                Behavior::Gone => "410 Gone",
                _ => "204 No Content",
            };
            if status.starts_with('2') {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let received = Received {
                    id,
                    subject: text(&body["data"]["id"]),
                    timestamp: text(&body["timestamp"]),
                };
                let mut accepted = self.accepted.lock().expect("no panic");
                accepted.entry(behavior).or_default().push(received);
            }
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).ok()?;
        }
        None
    }

    fn accepted(&self, behavior: Behavior) -> Vec<Received> {
        let accepted = self.accepted.lock().expect("no panic");
        accepted.get(&behavior).cloned().unwrap_or_default()
    }
}

/// Reads the ID and the body of a request.
fn read_request(from: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let (mut id, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(": ") {
            match name.to_ascii_lowercase().as_str() {
                "webhook-id" => value.clone_into(&mut id),
                "content-length" => length = value.parse().ok()?,
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some((id, serde_json::from_slice(&body).ok()?))
}

fn deliver(database: Database) {
    if !database.is_available() {
        return;
    }
    let (rounds, events) = (
        rounds("CAUSEWAY_WEBHOOK_ROUNDS", ROUNDS),
        rounds("CAUSEWAY_WEBHOOK_EVENTS", EVENTS),
    );
    let mut instance = Instance::new(database, 1_000);
    instance
        .settings
        .push(("CAUSEWAY_WEBHOOKS__ALLOW_PRIVATE", "true".to_owned()));
    let mut workload = Workload::new(instance);
    let mut server = workload.instance.serve();
    workload.begin(server.address);
    let receivers = Receivers::default();
    for behavior in BEHAVIORS {
        let url = receivers.start(behavior);
        workload
            .instance
            .run(&["webhook", "create", "--account", "ada", "--url", &url]);
    }
    let fundraisers: Vec<String> = (0..FUNDRAISERS)
        .map(|number| workload.create_fundraiser(server.address, &format!("subject-{number}")))
        .collect();
    let mut changes = 0;
    for _ in 0..rounds {
        for _ in 0..events {
            let id = &fundraisers[changes % FUNDRAISERS];
            change(&workload, server.address, id, &format!("title {changes}"));
            changes += 1;
        }
        let millis = workload.instance.random.below(MAX_LIFETIME_MILLIS);
        thread::sleep(Duration::from_millis(millis));
        server.kill();
        workload.instance.wait_until_idle();
        for statement in [LAPSE, MAKE_DUE, WAKE] {
            workload.instance.database.change(statement);
        }
        server = workload.instance.serve();
    }
    let healthy = [Behavior::Works, Behavior::Refuses, Behavior::Resets];
    eventually("every event arrives", || {
        for statement in [MAKE_DUE, WAKE] {
            workload.instance.database.change_unless_locked(statement);
        }
        thread::sleep(Duration::from_millis(100));
        let waiting = "select count(*) from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id \
             where d.state = 'waiting' and e.status <> 'disabled'";
        let left = "select (select events from ledger_head) - (select outbox from event_sources)";
        workload.instance.database.number(waiting) == 0 && workload.instance.database.number(left) == 0
    });
    server.kill();
    let expected = changes + FUNDRAISERS;
    for behavior in healthy {
        let mut accepted = receivers.accepted(behavior);
        // An event from before the endpoints were created arrives if it was added only afterwards.
        accepted.retain(|received| fundraisers.contains(&received.subject));
        let ids: BTreeSet<&str> = accepted.iter().map(|received| received.id.as_str()).collect();
        assert_eq!(ids.len(), expected, "{database:?}: {behavior:?} misses events");
        let repeated = accepted.len() - ids.len();
        println!("{database:?}: {behavior:?} accepted {expected} events, {repeated} of them twice");
        // What a killed server had sent without recording it, at most the attempts that were in flight.
        assert!(
            repeated as u64 <= 8 * rounds,
            "{database:?}: {behavior:?} got {repeated} twice"
        );
        let mut last: BTreeMap<&str, &str> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for received in accepted.iter().filter(|received| seen.insert(&received.id)) {
            let before = last.insert(&received.subject, &received.timestamp);
            assert!(
                before.is_none_or(|before| before < received.timestamp.as_str()),
                "{database:?}: {behavior:?} got {received:?} after {before:?}"
            );
        }
    }
    assert!(receivers.accepted(Behavior::Gone).is_empty());
    workload.instance.check();
}

/// Changes the title of a fundraiser.
fn change(workload: &Workload, server: SocketAddr, id: &str, title: &str) {
    let path = format!("/v0.2/fundraiser/{id}");
    let body = json!({"title": title}).to_string();
    let response = client::send_json("PATCH", server, &path, &workload.authorization, &body);
    let response = response.expect("a response");
    assert_eq!(
        response.status,
        200,
        "{}",
        String::from_utf8_lossy(&response.body)
    );
}
