//! Three servers on one PostgreSQL database, and on Redis and S3-compatible storage if the tests have them. `make
//! cluster` does the same with failovers, behind HAProxy.

use crate::client;
use crate::database::Database;
use crate::files::Files;
use crate::instance::{Instance, eventually};
use crate::ledger::Workload;
use crate::server::Server;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use uuid::Uuid;

const SERVERS: usize = 3;
const WORKERS: usize = 6;
/// Calls that are answered before each restart, and after the last one.
const CALLS: usize = WORKERS * 20;
/// How often the balancer looks at `/readyz`.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// A drain that is longer than any test: a second signal ends it when the balancer has noticed.
const ENDLESS_DRAIN: [(&str, &str); 2] = [
    ("CAUSEWAY_SERVE__DRAIN", "100000"),
    ("CAUSEWAY_SERVE__STOP_TIMEOUT", "100001"),
];

#[test]
fn a_rolling_restart_fails_no_call() {
    if !Database::Postgres.is_available() {
        return;
    }
    let mut workload = Workload::new(shared_instance(1_000));
    let mut servers: Vec<Server> = (0..SERVERS)
        .map(|number| start(&workload.instance, number))
        .collect();
    workload.begin(servers[0].address);
    let balancer = Balancer::new(&servers);
    let (is_over, answered, created) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        Mutex::new(Vec::new()),
    );
    thread::scope(|scope| {
        scope.spawn(|| balancer.check_health_until(&is_over));
        for worker in 0..WORKERS {
            let (workload, balancer, is_over) = (&workload, &balancer, &is_over);
            let (answered, created) = (&answered, &created);
            scope.spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    // One worker writes, the others read.
                    let response = if worker == 0 {
                        let key = format!("restart-{number}");
                        created.lock().expect("a list").push(key.clone());
                        balancer.call(|server| workload.create(server, &key))
                    } else {
                        let path = workload.instance.path(workload.nonprofit());
                        balancer.call(|server| client::get(server, &path))
                    };
                    let response = response.expect("a call through the balancer is answered");
                    assert_eq!(
                        response.status,
                        200,
                        "{}",
                        String::from_utf8_lossy(&response.body)
                    );
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // Ends the workers also if an assertion fails here.
        let _guard = SetOnDrop(&is_over);
        let continue_calls = || {
            let before = answered.load(Ordering::SeqCst);
            eventually("calls are answered", || {
                answered.load(Ordering::SeqCst) >= before + CALLS
            });
        };
        for (number, server) in servers.iter_mut().enumerate() {
            balancer.wait_until_ready(SERVERS);
            continue_calls();
            server.terminate();
            eventually("the balancer sends no more calls to the server", || {
                balancer.is_unused(number)
            });
            server.terminate();
            eventually("the server exits", || server.exit_status().is_some());
            assert_eq!(server.exit_status().and_then(|status| status.code()), Some(0));
            *server = start(&workload.instance, number);
            balancer.replace(number, server.address);
        }
        balancer.wait_until_ready(SERVERS);
        continue_calls();
    });
    for _ in created.into_inner().expect("a list") {
        workload.count_create();
    }
    for server in &servers {
        workload.verify(server.address);
    }
}

#[test]
fn every_server_shows_an_import() {
    if !Database::Postgres.is_available() {
        return;
    }
    // First as an overlay on the first snapshot, then as a new snapshot.
    for overlay_limit in [5_000, 100] {
        let instance = shared_instance(overlay_limit);
        let files = Files::new(instance.folder.path(), 1_000);
        let eins = files.sample(10);
        let servers: Vec<Server> = (0..SERVERS).map(|number| start(&instance, number)).collect();
        instance.import(&files.a);
        for server in &servers {
            server.wait_for_revision(&instance.path(&eins[0]), instance.database.revision());
        }
        let before = instance.all_facts(&servers[0], &eins);
        instance.import(&files.b);
        for server in &servers {
            eventually("every sample is from the second file", || {
                let now = instance.all_facts(server, &eins);
                now.iter().zip(&before).all(|(now, before)| now != before)
            });
        }
        let shown = instance.all_facts(&servers[0], &eins);
        for server in &servers {
            assert_eq!(instance.all_facts(server, &eins), shown);
        }
        instance.check();
    }
}

/// An instance on PostgreSQL, and on Redis and an empty S3-compatible store if the tests have them.
fn shared_instance(overlay_limit: usize) -> Instance {
    let mut instance = Instance::new(Database::Postgres, overlay_limit);
    if let Ok(url) = std::env::var("CAUSEWAY_TEST_REDIS_URL") {
        instance.settings.push(("CAUSEWAY_REDIS_URL", url));
    }
    if let Ok(url) = std::env::var("CAUSEWAY_TEST_S3_URL") {
        let (bucket, parameters) = url.split_once('?').expect("an endpoint");
        let url = format!("{bucket}/{}?{parameters}", Uuid::now_v7().simple());
        instance.settings.push(("CAUSEWAY_BLOBS_URL", url));
    }
    instance
}

/// Starts a server with a data folder of its own; the secret is that of the instance.
fn start(instance: &Instance, number: usize) -> Server {
    let folder = instance.folder.path();
    let data = folder.join(format!("data-{number}")).display().to_string();
    let secret = instance.data.join("secret").display().to_string();
    let mut environment = vec![
        ("CAUSEWAY_DATA", data.as_str()),
        ("CAUSEWAY_SECRET_FILE", secret.as_str()),
    ];
    environment.extend(ENDLESS_DRAIN);
    Server::start(instance, &environment)
}

/// Sends calls to the servers in turn, as long as its last look at `/readyz` was good.
struct Balancer {
    servers: Mutex<Vec<Backend>>,
    next: AtomicUsize,
}

struct Backend {
    address: SocketAddr,
    is_ready: bool,
    calls: usize,
}

impl Balancer {
    fn new(servers: &[Server]) -> Balancer {
        let backend = |server: &Server| Backend {
            address: server.address,
            is_ready: false,
            calls: 0,
        };
        Balancer {
            servers: Mutex::new(servers.iter().map(backend).collect()),
            next: AtomicUsize::new(0),
        }
    }

    /// Sends a call to the next server that is ready.
    fn call<T>(&self, call: impl FnOnce(SocketAddr) -> T) -> T {
        let (number, address) = loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed) % SERVERS;
            let backend = &mut self.servers.lock().expect("a list")[number];
            if backend.is_ready {
                backend.calls += 1;
                break (number, backend.address);
            }
        };
        let result = call(address);
        self.servers.lock().expect("a list")[number].calls -= 1;
        result
    }

    fn check_health_until(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::SeqCst) {
            for number in 0..SERVERS {
                let address = self.servers.lock().expect("a list")[number].address;
                let is_ready = client::get(address, "/readyz").is_ok_and(|response| response.status == 200);
                let backend = &mut self.servers.lock().expect("a list")[number];
                // The server may have been replaced meanwhile.
                backend.is_ready = is_ready && backend.address == address;
            }
            thread::sleep(HEALTH_CHECK_INTERVAL);
        }
    }

    /// Waits until this many servers are ready.
    fn wait_until_ready(&self, count: usize) {
        eventually("the servers are ready", || {
            let servers = self.servers.lock().expect("a list");
            servers.iter().filter(|backend| backend.is_ready).count() == count
        });
    }

    /// Whether a server gets no calls and has answered all.
    fn is_unused(&self, number: usize) -> bool {
        let backend = &self.servers.lock().expect("a list")[number];
        !backend.is_ready && backend.calls == 0
    }

    fn replace(&self, number: usize, address: SocketAddr) {
        let backend = &mut self.servers.lock().expect("a list")[number];
        (backend.address, backend.is_ready) = (address, false);
    }
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
