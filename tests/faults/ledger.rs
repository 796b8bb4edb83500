//! A server killed while it writes donations and fundraisers neither loses nor duplicates anything acknowledged.
//!
//! Eight writers keep a log of what was acknowledged, which counts once it is on disk. After each kill a new server
//! repeats every create of the round with the identical response, and `causeway check` verifies the ledger.

use crate::client;
use crate::database::Database;
use crate::donations::{AMOUNT, Donor, Method};
use crate::files;
use crate::instance::{Instance, eventually, rounds};
use crate::server::Server;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Rounds for each database, unless `CAUSEWAY_LEDGER_ROUNDS` is set.
const ROUNDS: u64 = 6;
/// Rounds between two lines of progress.
const PROGRESS_INTERVAL: u64 = 100;
const CREATORS: usize = 4;
const DONORS: [Method; 4] = [Method::Command, Method::File, Method::Site, Method::Site];
/// The range of times that a server lives in a round, in milliseconds.
const LIFETIME_MILLIS: std::ops::Range<u64> = 5..305;

#[test]
fn a_killed_server_neither_loses_nor_duplicates_writes_on_sqlite() {
    kill_servers(Database::Sqlite);
}

#[test]
fn a_killed_server_neither_loses_nor_duplicates_writes_on_postgres() {
    kill_servers(Database::Postgres);
}

fn kill_servers(database: Database) {
    if !database.is_available() {
        return;
    }
    let rounds = rounds("CAUSEWAY_LEDGER_ROUNDS", ROUNDS);
    let mut workload = Workload::new(Instance::new(database, 1_000));
    let mut server = workload.instance.serve();
    workload.begin(server.address);
    for round in 0..rounds {
        let span = LIFETIME_MILLIS.end - LIFETIME_MILLIS.start;
        let millis = LIFETIME_MILLIS.start + workload.instance.random.below(span);
        let attempts = workload.write_until_killed(round, &mut server, Duration::from_millis(millis));
        server = workload.instance.serve();
        workload.repeat(server.address, &attempts);
        let kills = round + 1;
        if kills % PROGRESS_INTERVAL == 0 || kills == rounds {
            println!(
                "{database:?}: {kills} kills, {} creates and {} donations, {} of them not acknowledged at first",
                workload.creates, workload.donations, workload.unacknowledged
            );
        }
    }
    assert!(
        workload.creates > rounds && workload.donations > 0,
        "nothing was written"
    );
}

/// Clients of an instance that write fundraisers and donations, and count what the ledger must contain.
pub struct Workload {
    pub instance: Instance,
    /// The `Authorization` header with both keys, with its line ending.
    pub authorization: String,
    /// A nonprofit that can receive donations, and the fundraiser that receives them.
    nonprofit: String,
    fundraiser: String,
    creates: u64,
    donations: u64,
    unacknowledged: u64,
}

/// The writes of one round, and what was acknowledged before the server was killed.
struct Attempts {
    creates: BTreeMap<String, Option<String>>,
    donations: BTreeMap<u128, (Method, bool)>,
}

/// A log file in which a line counts once it is synced.
struct Log(Mutex<File>);

impl Log {
    fn new(path: &PathBuf) -> Log {
        Log(Mutex::new(File::create(path).expect("a log file")))
    }

    fn append(&self, line: &str) {
        let mut file = self.0.lock().expect("a log file");
        writeln!(file, "{line}").expect("a writable log");
        file.sync_data().expect("a disk");
    }
}

impl Workload {
    /// Imports some nonprofits and creates a private key.
    pub fn new(instance: Instance) -> Workload {
        let file = instance.folder.path().join("nonprofits.csv");
        fs::write(&file, files::generated(200, 7).join("\r\n")).expect("a writable test file");
        instance.import(&file);
        let created = instance.run(&["key", "create", "--account", "ada", "--kind", "private"]);
        let pair = format!("{}:{}", instance.key, created["key"].as_str().expect("a key"));
        Workload {
            authorization: format!("Authorization: Basic {}\r\n", STANDARD.encode(pair)),
            instance,
            nonprofit: String::new(),
            fundraiser: String::new(),
            creates: 0,
            donations: 0,
            unacknowledged: 0,
        }
    }

    /// Chooses a nonprofit and creates the fundraiser that receives the donations.
    pub fn begin(&mut self, server: SocketAddr) {
        let eins = files::generated(200, 7);
        let eins = eins[1..].iter().filter_map(|line| line.split(',').next());
        let found = eins
            .map(|ein| {
                client::get(server, &self.instance.path(ein))
                    .expect("a response")
                    .json()
            })
            .find(|body| body["data"]["nonprofit"]["isDisbursable"] == true);
        let found = found.expect("a nonprofit that can receive donations");
        let id = found["data"]["nonprofit"]["id"].as_str();
        id.expect("an ID").clone_into(&mut self.nonprofit);
        let created = self.create(server, "first").expect("a response");
        assert_eq!(created.status, 200, "{}", String::from_utf8_lossy(&created.body));
        let body = created.json();
        let id = body["data"]["fundraiser"]["id"].as_str();
        id.expect("an ID").clone_into(&mut self.fundraiser);
        self.creates = 1;
    }

    /// Creates a fundraiser with an offline amount of one cent under an idempotency key.
    pub fn create(&self, server: SocketAddr, key: &str) -> std::io::Result<client::Response> {
        let headers = format!("{}Idempotency-Key: {key}\r\n", self.authorization);
        client::post(server, "/v0.2/fundraiser", &headers, &self.create_body(key))
    }

    /// Creates a fundraiser, and returns its ID.
    pub fn create_fundraiser(&self, server: SocketAddr, key: &str) -> String {
        let created = self.create(server, key).expect("a response");
        assert_eq!(created.status, 200, "{}", String::from_utf8_lossy(&created.body));
        let id = created.json()["data"]["fundraiser"]["id"].clone();
        id.as_str().expect("an ID").to_owned()
    }

    /// The request that [`Workload::create`] sends.
    pub fn create_request(&self, key: &str) -> String {
        let body = self.create_body(key);
        format!(
            "POST /v0.2/fundraiser HTTP/1.1\r\nHost: causeway.test\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{}Idempotency-Key: {key}\r\n\r\n{body}",
            body.len(),
            self.authorization
        )
    }

    fn create_body(&self, key: &str) -> String {
        let nonprofit = &self.nonprofit;
        format!(r#"{{"nonprofitId":"{nonprofit}","title":"Run {key}","raisedOffline":1}}"#)
    }

    /// The ID of the nonprofit that receives the donations.
    pub fn nonprofit(&self) -> &str {
        &self.nonprofit
    }

    /// The ID of the fundraiser that receives the donations.
    pub fn fundraiser(&self) -> &str {
        &self.fundraiser
    }

    /// The path of the profile of the nonprofit that receives the donations.
    pub fn profile(&self, server: &Server) -> String {
        let details = server.get(&self.instance.path(&self.nonprofit)).json();
        let slug = details["data"]["nonprofit"]["primarySlug"].as_str();
        format!("/{}", slug.expect("a slug"))
    }

    fn donor(&self) -> Donor<'_> {
        Donor {
            instance: &self.instance,
            nonprofit: &self.nonprofit,
            fundraiser: &self.fundraiser,
        }
    }

    /// Runs all writers until the server is killed, together with the commands in progress.
    fn write_until_killed(&self, round: u64, server: &mut Server, lifetime: Duration) -> Attempts {
        let (is_over, address) = (AtomicBool::new(false), server.address);
        let log_path = self.instance.folder.path().join("acknowledged.log");
        let log = Log::new(&log_path);
        let created = Mutex::new(Vec::new());
        let donated = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for writer in 0..CREATORS {
                let (is_over, log, created) = (&is_over, &log, &created);
                scope.spawn(move || {
                    for number in 0.. {
                        let key = format!("{round}-{writer}-{number}");
                        created.lock().expect("a list").push(key.clone());
                        match self.create(address, &key) {
                            Ok(response) if response.status == 200 => {
                                let body = String::from_utf8(response.body).expect("text");
                                log.append(&format!("create {key} {body}"));
                            }
                            Ok(response) => panic!("{}: {:?}", response.status, response.body),
                            Err(_) => return,
                        }
                        if is_over.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                });
            }
            for (writer, method) in (0..).zip(DONORS) {
                let (is_over, log, donated) = (&is_over, &log, &donated);
                scope.spawn(move || {
                    for number in 0.. {
                        let number = (u128::from(round) << 64) | (writer << 32) | number;
                        donated.lock().expect("a list").push((number, method));
                        if !self.donor().donate_until(method, address, number, is_over) {
                            return;
                        }
                        log.append(&format!("donation {number}"));
                    }
                });
            }
            thread::sleep(lifetime);
            server.kill();
            is_over.store(true, Ordering::Relaxed);
        });
        let acknowledged = fs::read_to_string(log_path).expect("a log file");
        let mut creates: BTreeMap<_, _> = created
            .into_inner()
            .expect("a list")
            .into_iter()
            .map(|key| (key, None))
            .collect();
        let mut donations: BTreeMap<_, _> = donated
            .into_inner()
            .expect("a list")
            .into_iter()
            .map(|(number, method)| (number, (method, false)))
            .collect();
        for line in acknowledged.lines() {
            match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
                ["create", key, body] => _ = creates.insert(key.to_owned(), Some(body.to_owned())),
                ["donation", number] => {
                    let number = number.parse().expect("a number");
                    donations.get_mut(&number).expect("an attempted donation").1 = true;
                }
                _ => panic!("an invalid line in the log: {line}"),
            }
        }
        Attempts { creates, donations }
    }

    /// Repeats the writes of a round. Acknowledged creates must get the same response; what was not acknowledged is
    /// written now, once.
    fn repeat(&mut self, server: SocketAddr, attempts: &Attempts) {
        for (key, acknowledged) in &attempts.creates {
            let again = self.create_when_available(server, key);
            assert_eq!(
                again.status,
                200,
                "{key}: {}",
                String::from_utf8_lossy(&again.body)
            );
            match acknowledged {
                Some(first) => assert_eq!(&String::from_utf8_lossy(&again.body), first, "{key}"),
                None => self.unacknowledged += 1,
            }
        }
        for (number, (method, is_acknowledged)) in &attempts.donations {
            if !is_acknowledged {
                self.unacknowledged += method.donations();
                self.donor().donate(*method, server, *number);
            }
            self.donations += method.donations();
        }
        self.creates += attempts.creates.len() as u64;
        self.verify(server);
    }

    /// Creates a fundraiser. On a slow machine, a server starts before its database responds, and rejects writes until then.
    pub fn create_when_available(&self, server: SocketAddr, key: &str) -> client::Response {
        let mut response = None;
        eventually("the server writes", || {
            let created = self.create(server, key).expect("a response");
            let is_available = created.status != 503;
            response = Some(created);
            is_available
        });
        response.expect("a response")
    }

    /// Asserts that the server and the ledger contain exactly what was counted.
    pub fn verify(&self, server: SocketAddr) {
        let path = "/v0.2/fundraisers?take=1";
        let listed = client::get_with(server, path, &self.authorization).expect("a response");
        assert_eq!(listed.json()["pagination"]["total_results"], self.creates);
        let checked: Value = self.instance.run(&["check", "--full"]);
        assert_eq!(checked["entries"], self.creates + self.donations);
        assert_eq!(checked["fundraisers"], self.creates);
        let path = format!(
            "/v0.2/nonprofit/{}/fundraiser/{}/raised?apiKey={}",
            self.nonprofit, self.fundraiser, self.instance.key
        );
        eventually("the server shows every donation", || {
            let raised = client::get(server, &path).expect("a response").json();
            raised["raised"] == 1 + self.donations as i64 * AMOUNT && raised["supporters"] == self.donations
        });
    }

    /// Counts one more acknowledged create.
    pub fn count_create(&mut self) {
        self.creates += 1;
    }

    /// Records a donation by command.
    pub fn donate(&mut self, server: SocketAddr, number: u128) {
        self.donor().donate(Method::Command, server, number);
        self.donations += Method::Command.donations();
    }
}
