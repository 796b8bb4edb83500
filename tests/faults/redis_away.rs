//! Redis is killed, frozen, flushed or restarted under load: no call fails, and all servers together admit no more than the
//! limit, but for calls in flight and calls of which a server has not heard. A while after its return, the limit is exact
//! again.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually};
use crate::redis_server::RedisServer;
use crate::server::Server;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: usize = 40;
const SERVERS: usize = 3;
const CLIENTS_PER_SERVER: usize = 2;
/// What all servers may admit around an outage. A busy machine may let a server hear late of the calls of others; servers that
/// did not share the limit would admit three times as much.
const MAX_ADMITTED: usize = 2 * LIMIT;
const WINDOW: Duration = Duration::from_mins(1);
/// Longer than Redis needs on any machine, so that only an outage exceeds it.
const REDIS_TIMEOUT: &str = "3";

const GOES: &str = "Redis does not respond";
const RETURNS: &str = "Redis responds again";

#[test]
fn limits_hold_while_redis_is_killed() {
    lose_redis(RedisServer::kill, RedisServer::resume);
}

#[test]
fn limits_hold_while_redis_is_frozen() {
    lose_redis(|redis| redis.freeze(), |redis| redis.thaw());
}

#[test]
fn limits_hold_when_redis_is_flushed_and_restarted_under_load() {
    let Some((mut redis, instance, servers)) = start() else {
        return;
    };
    let (_, key) = instance.create_key();
    let load = Load::new(&servers, &key);
    load.run(|| {
        load.wait_for_calls(30);
        for _ in 0..5 {
            redis.command("FLUSHALL");
            redis.command("SCRIPT FLUSH");
            load.wait_for_calls(30);
        }
        redis.kill();
        redis.resume();
        load.wait_for_calls(100);
        // Calls that are refused from memory do not need Redis, so a server may notice only at its next probe.
        eventually("every server notices", || {
            servers.iter().all(|server| server.log().contains(GOES))
        });
    });
    load.check(MAX_ADMITTED);
    wait_for_redis(&servers);
    expect_exact(&instance, &servers);
}

fn start() -> Option<(RedisServer, Instance, Vec<Server>)> {
    if !Database::Postgres.is_available() {
        return None;
    }
    let redis = RedisServer::start(&[]);
    let instance = Instance::new(Database::Postgres, 100);
    let (url, limit) = (redis.url(), LIMIT.to_string());
    let environment = [
        ("CAUSEWAY_REDIS_URL", url.as_str()),
        ("CAUSEWAY_REDIS__TIMEOUT", REDIS_TIMEOUT),
        ("CAUSEWAY_LIMITS__DETAILS", limit.as_str()),
    ];
    let servers: Vec<Server> = (0..SERVERS)
        .map(|_| Server::start(&instance, &environment))
        .collect();
    let counted = format!("{SERVERS} servers share their limits");
    eventually("the servers have counted each other", || {
        servers.iter().all(|server| server.log().contains(&counted))
    });
    Some((redis, instance, servers))
}

fn lose_redis(lose: impl FnOnce(&mut RedisServer), restore: impl FnOnce(&mut RedisServer)) {
    let Some((mut redis, instance, servers)) = start() else {
        return;
    };
    expect_exact(&instance, &servers);
    let (_, key) = instance.create_key();
    let load = Load::new(&servers, &key);
    load.run(|| {
        load.wait_for_calls(20);
        lose(&mut redis);
        eventually("every server notices", || {
            servers.iter().all(|server| server.log().contains(GOES))
        });
        load.wait_for_calls(200);
        restore(&mut redis);
        wait_for_redis(&servers);
        load.wait_for_calls(200);
    });
    load.check(MAX_ADMITTED);
    for server in &servers {
        let log = server.log();
        let lines = [GOES, RETURNS].map(|text| log.matches(text).count());
        assert_eq!(lines, [1, 1], "one line when Redis goes and one when it returns");
    }
    expect_exact(&instance, &servers);
}

/// Waits until every server uses Redis: it has returned as often as it went.
fn wait_for_redis(servers: &[Server]) {
    eventually("every server uses Redis", || {
        servers.iter().all(|server| {
            let log = server.log();
            log.matches(GOES).count() == log.matches(RETURNS).count()
        })
    });
}

/// Waits until exactly the limit is admitted with a new key, and expects that no key is admitted more.
fn expect_exact(instance: &Instance, servers: &[Server]) {
    eventually("the limit is exact", || {
        let (_, key) = instance.create_key();
        let start = Instant::now();
        let load = Load::new(servers, &key);
        load.run(|| load.wait_for_calls(3 * LIMIT));
        load.check(LIMIT);
        // On a slow machine, calls may have left the window. Then another key is tried.
        let is_fast = start.elapsed() + Duration::from_secs(5) < WINDOW;
        is_fast && load.admitted.lock().unwrap().len() == LIMIT
    });
}

/// Two clients for each server, which call it with one key.
struct Load<'a> {
    servers: &'a [Server],
    path: String,
    is_over: AtomicBool,
    calls: AtomicUsize,
    /// When each admitted call began and ended.
    admitted: Mutex<Vec<(Instant, Instant)>>,
}

impl Load<'_> {
    fn new<'a>(servers: &'a [Server], key: &str) -> Load<'a> {
        Load {
            servers,
            path: format!("/v0.2/nonprofit/nobody?apiKey={key}"),
            is_over: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            admitted: Mutex::default(),
        }
    }

    /// Sends calls until `during` returns.
    fn run(&self, during: impl FnOnce()) {
        thread::scope(|scope| {
            let clients = std::iter::repeat_n(self.servers, CLIENTS_PER_SERVER).flatten();
            for server in clients {
                scope.spawn(|| {
                    while !self.is_over.load(Ordering::SeqCst) {
                        self.call(server);
                    }
                });
            }
            during();
            self.is_over.store(true, Ordering::SeqCst);
        });
    }

    fn call(&self, server: &Server) {
        let start = Instant::now();
        let response = client::get(server.address, &self.path).expect("a response");
        match response.status {
            // There is no such nonprofit.
            404 => self.admitted.lock().unwrap().push((start, Instant::now())),
            429 => {}
            status => panic!("{status}: {}", String::from_utf8_lossy(&response.body)),
        }
        self.calls.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits for more calls.
    fn wait_for_calls(&self, calls: usize) {
        let before = self.calls.load(Ordering::SeqCst);
        eventually("the servers respond", || {
            self.calls.load(Ordering::SeqCst) >= before + calls
        });
    }

    /// Checks that no minute contains more admitted calls than `limit`. A call counts if all of it was in the minute.
    fn check(&self, limit: usize) {
        let admitted = self.admitted.lock().unwrap();
        for (begin, _) in admitted.iter() {
            let is_within = |(start, end): &&(Instant, Instant)| start >= begin && *end < *begin + WINDOW;
            let count = admitted.iter().filter(is_within).count();
            assert!(count <= limit, "{count} calls in a minute");
        }
    }
}
