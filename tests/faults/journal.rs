//! A server that is killed while it writes gifts and fundraisers: nothing acknowledged is lost, nothing is doubled.
//!
//! Eight writers keep a log of what was acknowledged, on disk before it counts. After each kill a new server answers
//! every create of the round again, to the byte, and `causeway check` proves the journal.

use crate::client;
use crate::files;
use crate::giving::{GIFT, Giving, Way};
use crate::place::Place;
use crate::server::Server;
use crate::store::Kind;
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

/// Rounds where `CAUSEWAY_JOURNAL_ROUNDS` says nothing else.
const ROUNDS: u64 = 50;
/// Rounds between two lines that tell how far it is.
const TOLD_EVERY: u64 = 100;
const CREATORS: usize = 4;
const GIVERS: [Way; 4] = [Way::Command, Way::File, Way::Site, Way::Site];
const LONGEST_MILLIS: u64 = 300;

#[test]
fn a_server_killed_at_any_moment_loses_and_doubles_nothing_on_sqlite() {
    kill_writers(Kind::Sqlite);
}

#[test]
fn a_server_killed_at_any_moment_loses_and_doubles_nothing_on_postgres() {
    kill_writers(Kind::Postgres);
}

fn kill_writers(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let rounds = std::env::var("CAUSEWAY_JOURNAL_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(ROUNDS);
    let mut written = Written::new(Place::new(kind, 1_000));
    let mut server = written.place.serve();
    written.begin(server.address);
    for round in 0..rounds {
        let alive = Duration::from_millis(5 + written.place.dice.below(LONGEST_MILLIS));
        let tried = written.write_until(round, &mut server, alive);
        server = written.place.serve();
        written.prove(server.address, &tried);
        let kills = round + 1;
        if kills % TOLD_EVERY == 0 || kills == rounds {
            println!(
                "{kind:?}: {kills} kills, {} creates and {} gifts, {} of them not acknowledged at first",
                written.creates, written.gifts, written.unsure
            );
        }
    }
    assert!(
        written.creates > rounds && written.gifts > 0,
        "nothing was written"
    );
}

/// Everything that stands, by the log of the clients.
pub struct Written {
    pub place: Place,
    /// The header of the private key, with its end of line.
    pub basic: String,
    /// A nonprofit that can be given to, and the fundraiser of the gifts.
    nonprofit: String,
    fundraiser: String,
    creates: u64,
    gifts: u64,
    unsure: u64,
}

/// What the writers of one round tried, and what they were told before it ended.
struct Tried {
    creates: BTreeMap<String, Option<String>>,
    gifts: BTreeMap<u128, (Way, bool)>,
}

/// A log on disk: a line counts once it is there to stay.
struct Log(Mutex<File>);

impl Log {
    fn new(path: &PathBuf) -> Log {
        Log(Mutex::new(File::create(path).expect("a log file")))
    }

    fn note(&self, line: &str) {
        let mut file = self.0.lock().expect("a log file");
        writeln!(file, "{line}").expect("room for a log");
        file.sync_data().expect("a disk");
    }
}

impl Written {
    /// A place with some nonprofits and the private key of its account.
    pub fn new(place: Place) -> Written {
        let file = place.folder.path().join("bodies.csv");
        fs::write(&file, files::generated(200, 7).join("\r\n")).expect("room for a test file");
        place.import(&file);
        let made = place.run(&["key", "create", "--account", "ada", "--kind", "private"]);
        let pair = format!("{}:{}", place.key, made["key"].as_str().expect("a key"));
        Written {
            basic: format!("Authorization: Basic {}\r\n", STANDARD.encode(pair)),
            place,
            nonprofit: String::new(),
            fundraiser: String::new(),
            creates: 0,
            gifts: 0,
            unsure: 0,
        }
    }

    /// Chooses a nonprofit and makes the fundraiser of the gifts.
    pub fn begin(&mut self, server: SocketAddr) {
        let eins = files::generated(200, 7);
        let eins = eins[1..].iter().filter_map(|line| line.split(',').next());
        let found = eins
            .map(|ein| {
                client::get(server, &self.place.path(ein))
                    .expect("an answer")
                    .json()
            })
            .find(|body| body["data"]["nonprofit"]["isDisbursable"] == true);
        let found = found.expect("a nonprofit that can be given to");
        let id = found["data"]["nonprofit"]["id"].as_str();
        id.expect("an id").clone_into(&mut self.nonprofit);
        let made = self.create(server, "first").expect("an answer");
        assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.body));
        let body = made.json();
        let id = body["data"]["fundraiser"]["id"].as_str();
        id.expect("an id").clone_into(&mut self.fundraiser);
        self.creates = 1;
    }

    /// Makes a fundraiser with a cent from elsewhere; the key names it.
    pub fn create(&self, server: SocketAddr, key: &str) -> std::io::Result<client::Answer> {
        let headers = format!("{}Idempotency-Key: {key}\r\n", self.basic);
        let body = format!(
            r#"{{"nonprofitId":"{}","title":"Run {key}","raisedOffline":1}}"#,
            self.nonprofit
        );
        client::post(server, "/v0.2/fundraiser", &headers, &body)
    }

    fn giving(&self) -> Giving<'_> {
        Giving {
            place: &self.place,
            nonprofit: &self.nonprofit,
            fundraiser: &self.fundraiser,
        }
    }

    /// All writers at once, until the server is killed and every gift under way with it.
    fn write_until(&self, round: u64, server: &mut Server, alive: Duration) -> Tried {
        let (over, address) = (AtomicBool::new(false), server.address);
        let log_path = self.place.folder.path().join("acknowledged.log");
        let log = Log::new(&log_path);
        let tried = Mutex::new(Vec::new());
        let given = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for writer in 0..CREATORS {
                let (over, log, tried) = (&over, &log, &tried);
                scope.spawn(move || {
                    for number in 0.. {
                        let key = format!("{round}-{writer}-{number}");
                        tried.lock().expect("a list").push(key.clone());
                        match self.create(address, &key) {
                            Ok(answer) if answer.status == 200 => {
                                let body = String::from_utf8(answer.body).expect("text");
                                log.note(&format!("create {key} {body}"));
                            }
                            Ok(answer) => panic!("{}: {:?}", answer.status, answer.body),
                            Err(_) => return,
                        }
                        if over.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                });
            }
            for (writer, way) in (0..).zip(GIVERS) {
                let (over, log, given) = (&over, &log, &given);
                scope.spawn(move || {
                    for number in 0.. {
                        let number = (u128::from(round) << 64) | (writer << 32) | number;
                        given.lock().expect("a list").push((number, way));
                        if !self.giving().give_until(way, address, number, over) {
                            return;
                        }
                        log.note(&format!("gift {number}"));
                    }
                });
            }
            thread::sleep(alive);
            server.kill();
            over.store(true, Ordering::Relaxed);
        });
        let acknowledged = fs::read_to_string(log_path).expect("a log file");
        let mut creates: BTreeMap<_, _> = tried
            .into_inner()
            .expect("a list")
            .into_iter()
            .map(|key| (key, None))
            .collect();
        let mut gifts: BTreeMap<_, _> = given
            .into_inner()
            .expect("a list")
            .into_iter()
            .map(|(number, way)| (number, (way, false)))
            .collect();
        for line in acknowledged.lines() {
            match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
                ["create", key, body] => _ = creates.insert(key.to_owned(), Some(body.to_owned())),
                ["gift", number] => {
                    let number = number.parse().expect("a number");
                    gifts.get_mut(&number).expect("a gift that was tried").1 = true;
                }
                _ => panic!("a line of the log cannot be read: {line}"),
            }
        }
        Tried { creates, gifts }
    }

    /// What was acknowledged is there as it was told; what was not is done now, once.
    fn prove(&mut self, server: SocketAddr, tried: &Tried) {
        for (key, acknowledged) in &tried.creates {
            let again = self.create(server, key).expect("an answer");
            assert_eq!(
                again.status,
                200,
                "{key}: {}",
                String::from_utf8_lossy(&again.body)
            );
            match acknowledged {
                Some(first) => assert_eq!(&String::from_utf8_lossy(&again.body), first, "{key}"),
                None => self.unsure += 1,
            }
        }
        for (number, (way, acknowledged)) in &tried.gifts {
            if !acknowledged {
                self.unsure += way.gifts();
                self.giving().give(*way, server, *number);
            }
            self.gifts += way.gifts();
        }
        self.creates += tried.creates.len() as u64;
        self.agree(server);
    }

    /// The server, the journal and the log of the clients say the same.
    pub fn agree(&self, server: SocketAddr) {
        let listed = client::get_with(server, "/v0.2/fundraisers?take=1", &self.basic).expect("an answer");
        assert_eq!(listed.json()["pagination"]["total_results"], self.creates);
        let checked: Value = self.place.run(&["check"]);
        assert_eq!(checked["entries"], self.creates + self.gifts);
        assert_eq!(checked["fundraisers"], self.creates);
        let path = format!(
            "/v0.2/nonprofit/{}/fundraiser/{}/raised?apiKey={}",
            self.nonprofit, self.fundraiser, self.place.key
        );
        crate::place::eventually(crate::place::SOON, "the server shows every gift", || {
            let raised = client::get(server, &path).expect("an answer").json();
            raised["raised"] == 1 + self.gifts as i64 * GIFT && raised["supporters"] == self.gifts
        });
    }

    /// That one more create was acknowledged.
    pub fn count_create(&mut self) {
        self.creates += 1;
    }

    /// Records a gift to the end.
    pub fn give_whole(&mut self, server: SocketAddr, number: u128) {
        self.giving().give(Way::Command, server, number);
        self.gifts += Way::Command.gifts();
    }
}
