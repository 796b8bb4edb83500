//! Events reach webhook endpoints at least once and in order, although the servers that send them are killed, PostgreSQL is
//! restarted, and receivers fail in many ways.
//!
//! Time does not pass here. Statements make everything due that waits for its next attempt and, while no server runs, lapse
//! the leases, as if the clock had moved by days.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually, rounds};
use crate::ledger::Workload;
use crate::postgres_server::PostgresServer;
use crate::server::Server;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

macro_rules! make_due {
    () => {
        "update webhook_deliveries set due_at = 0 where due_at is not null and lease is null; \
         update webhook_endpoints set due_at = 0 where status <> 'disabled'"
    };
}

/// How often the servers are killed, unless `CAUSEWAY_WEBHOOK_ROUNDS` is set.
const ROUNDS: u64 = 3;
/// The changes of fundraisers in a round, unless `CAUSEWAY_WEBHOOK_EVENTS` is set.
const EVENTS: usize = 24;
/// The endpoints besides the one that is gone, unless `CAUSEWAY_WEBHOOK_ENDPOINTS` is set.
const ENDPOINTS: usize = 7;
/// The most endpoints that an account may have.
const ENDPOINTS_OF_ACCOUNT: usize = 20;
const FUNDRAISERS: usize = 4;
/// The range of times that a server lives after the last change of a round, in milliseconds.
const MAX_LIFETIME_MILLIS: u64 = 60;
/// PostgreSQL is restarted in one of so many rounds.
const RESTART_INTERVAL: u64 = 3;
/// The attempts for one endpoint that are in flight at the same time.
const MAX_IN_FLIGHT: u64 = 8;

const LAPSE: &str = "update webhook_deliveries set due_at = 0, lease = null where lease is not null";
/// Servers change deliveries only while they hold the endpoints, which they lock in the order of their IDs.
const MAKE_DUE_ON_POSTGRES: &str = concat!(
    "select id from webhook_endpoints order by id for update; ",
    make_due!()
);
const MAKE_DUE_ON_SQLITE: &str = make_due!();
/// Three days pass.
const MOVE_CLOCK: &str = "update webhook_endpoints set failing_since = failing_since - 259200000; \
     update events set recorded_at = recorded_at - 259200000; \
     update webhook_deliveries set queued_at = queued_at - 259200000";
const GATHER: &str =
    "update webhook_endpoints set account_id = (select id from accounts where username = 'ada')";

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
    /// Redirects every third request.
    Redirects,
    /// Asks for a pause of an hour at every third request.
    Busy,
    /// Answers late.
    Late,
    /// Does not answer one of fifty requests.
    Hangs,
    /// Answers with status 410.
    Gone,
}

const BEHAVIORS: [Behavior; ENDPOINTS] = [
    Behavior::Works,
    Behavior::Refuses,
    Behavior::Resets,
    Behavior::Redirects,
    Behavior::Busy,
    Behavior::Late,
    Behavior::Hangs,
];

/// What receivers accepted, by the number of the receiver.
#[derive(Clone, Default)]
struct Receivers {
    accepted: Arc<Mutex<BTreeMap<usize, Vec<Received>>>>,
}

impl Receivers {
    /// Starts a receiver and returns its URL.
    fn start(&self, receiver: usize, behavior: Behavior) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let receivers = self.clone();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let receivers = receivers.clone();
                thread::spawn(move || receivers.serve(receiver, behavior, number, stream));
            }
        });
        format!("http://{address}/{behavior:?}")
    }

    fn serve(&self, receiver: usize, behavior: Behavior, number: usize, stream: TcpStream) -> Option<()> {
        let mut requests = BufReader::new(stream.try_clone().ok()?);
        let mut stream = stream;
        for turn in number.. {
            let (id, body) = read_request(&mut requests)?;
            let fails = turn % 3 == 1;
            let status = match behavior {
                Behavior::Resets if fails => return None,
                Behavior::Refuses if fails => "500 Internal Server Error",
                Behavior::Redirects if fails => "307 Temporary Redirect\r\nLocation: /elsewhere",
                Behavior::Busy if fails => "429 Too Many Requests\r\nRetry-After: 3600",
                Behavior::Gone => "410 Gone",
                Behavior::Hangs if turn % 50 == 49 => {
                    // Until the server gives up.
                    let _ = requests.read(&mut [0]);
                    return None;
                }
                Behavior::Late => {
                    thread::sleep(Duration::from_millis(50));
                    "204 No Content"
                }
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
                accepted.entry(receiver).or_default().push(received);
            }
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).ok()?;
        }
        None
    }

    fn accepted(&self, receiver: usize) -> Vec<Received> {
        let accepted = self.accepted.lock().expect("no panic");
        accepted.get(&receiver).cloned().unwrap_or_default()
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
    let postgres = match database {
        Database::Sqlite => None,
        Database::Postgres => {
            let Some(server) = PostgresServer::start() else {
                return;
            };
            Some(server)
        }
    };
    let (rounds, events, endpoints) = (
        rounds("CAUSEWAY_WEBHOOK_ROUNDS", ROUNDS),
        rounds("CAUSEWAY_WEBHOOK_EVENTS", EVENTS),
        rounds("CAUSEWAY_WEBHOOK_ENDPOINTS", ENDPOINTS),
    );
    let mut instance = match &postgres {
        None => Instance::new(database, 1_000),
        Some(server) => Instance::on_server(server, 1_000),
    };
    instance
        .settings
        .push(("CAUSEWAY_WEBHOOKS__ALLOW_PRIVATE", "true".to_owned()));
    let mut workload = Workload::new(instance);
    // Several servers can share PostgreSQL.
    let serve = |workload: &Workload| -> Vec<Server> {
        let servers = 1 + usize::from(postgres.is_some());
        (0..servers).map(|_| workload.instance.serve()).collect()
    };
    let make_due = match &postgres {
        Some(_) => MAKE_DUE_ON_POSTGRES,
        None => MAKE_DUE_ON_SQLITE,
    };
    let mut servers = serve(&workload);
    workload.begin(servers[0].address);
    let receivers = Receivers::default();
    create_endpoints(&workload, &receivers, endpoints);
    let fundraisers: Vec<String> = (0..FUNDRAISERS)
        .map(|number| workload.create_fundraiser(servers[0].address, &format!("subject-{number}")))
        .collect();
    let mut changes = 0;
    for round in 0..rounds {
        for _ in 0..events {
            let id = &fundraisers[changes % FUNDRAISERS];
            let server = &servers[changes % servers.len()];
            change(&workload, server.address, id, &format!("title {changes}"));
            changes += 1;
        }
        if let Some(postgres) = &postgres
            && round % RESTART_INTERVAL == 0
        {
            postgres.stop();
            postgres.resume();
        }
        let millis = workload.instance.random.below(MAX_LIFETIME_MILLIS);
        thread::sleep(Duration::from_millis(millis));
        kill(&mut servers);
        workload.instance.wait_until_idle();
        workload.instance.database.change(LAPSE);
        workload.instance.database.change(make_due);
        if round == rounds / 2 {
            workload.instance.database.change(MOVE_CLOCK);
        }
        servers = serve(&workload);
    }
    eventually("every event arrives", || {
        workload.instance.database.change(make_due);
        thread::sleep(Duration::from_millis(100));
        let waiting = "select count(*) from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id \
             where d.state = 'waiting' and e.status <> 'disabled'";
        let left = "select (select events from ledger_head) - (select outbox from event_sources)";
        workload.instance.database.number(waiting) == 0 && workload.instance.database.number(left) == 0
    });
    let attempts_in_flight = MAX_IN_FLIGHT * rounds;
    kill(&mut servers);
    let expected = changes + FUNDRAISERS;
    for receiver in 0..endpoints {
        let behavior = BEHAVIORS[receiver % BEHAVIORS.len()];
        let mut accepted = receivers.accepted(receiver);
        // An event from before the endpoints were created arrives if it was added only afterwards.
        accepted.retain(|received| fundraisers.contains(&received.subject));
        let ids: BTreeSet<&str> = accepted.iter().map(|received| received.id.as_str()).collect();
        assert_eq!(ids.len(), expected, "{database:?}: {behavior:?} misses events");
        let repeated = accepted.len() - ids.len();
        println!("{database:?}: {behavior:?} accepted {expected} events, {repeated} of them twice");
        // What a killed server had sent without recording it, at most the attempts that were in flight, and 0.1%.
        assert!(
            repeated as u64 <= attempts_in_flight + expected as u64 / 1_000,
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
    assert!(
        receivers.accepted(endpoints).is_empty(),
        "the endpoint that is gone accepted events"
    );
    workload.instance.check();
}

/// Creates endpoints of all behaviors, and one that is gone.
fn create_endpoints(workload: &Workload, receivers: &Receivers, endpoints: usize) {
    for receiver in 0..=endpoints {
        let behavior = if receiver == endpoints {
            Behavior::Gone
        } else {
            BEHAVIORS[receiver % BEHAVIORS.len()]
        };
        let account = match receiver / ENDPOINTS_OF_ACCOUNT {
            0 => "ada".to_owned(),
            number => format!("ada-{number}"),
        };
        if receiver > 0 && receiver % ENDPOINTS_OF_ACCOUNT == 0 {
            workload.instance.run(&["account", "create", &account]);
        }
        let url = receivers.start(receiver, behavior);
        workload
            .instance
            .run(&["webhook", "create", "--account", &account, "--url", &url]);
    }
    // One account owns the fundraisers. It has more endpoints than the commands allow.
    workload.instance.database.change(GATHER);
}

/// Kills servers, none of which may have met a deadlock.
fn kill(servers: &mut [Server]) {
    for server in servers {
        server.kill();
        let log = server.log();
        assert!(!log.contains("deadlock"), "{log}");
    }
}

/// Changes the title of a fundraiser. Repeats that while PostgreSQL is restarted.
fn change(workload: &Workload, server: SocketAddr, id: &str, title: &str) {
    let path = format!("/v0.2/fundraiser/{id}");
    let body = json!({"title": title}).to_string();
    eventually("the title is changed", || {
        let response = client::send_json("PATCH", server, &path, &workload.authorization, &body);
        let response = response.expect("a response");
        assert!(
            [200, 503].contains(&response.status),
            "{}",
            String::from_utf8_lossy(&response.body)
        );
        response.status == 200
    });
}
