//! Payments by Stripe while servers and Stripe are killed at random moments, and Stripe loses answers and events.
//!
//! Eight donors pay on the page of the simulator, some of them twice, and an operator refunds parts. What the simulator has in
//! the end is the truth: each donation that was paid is in the ledger and settled once, to the cent, before anything is
//! reconciled, and whatever was charged twice went back. The same holds for donations that are charged on the nonprofit's own account,
//! which our books do not settle.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually, rounds};
use crate::ledger::Workload;
use crate::payment_truth::Truth;
use crate::random::Random;
use crate::server::Server;
use crate::simulator::{self, CONNECT_SECRET, SECRET_KEY, StripeSimulator, WEBHOOK_SECRET};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::Duration;
use uuid::Uuid;

/// Kills for each database, unless `CAUSEWAY_PAYMENT_ROUNDS` is set.
const ROUNDS: u64 = 6;
/// Rounds between two lines of progress.
const PROGRESS_INTERVAL: u64 = 50;
const DONORS: u64 = 8;
/// The range of times between two kills, in milliseconds.
const LIFETIME_MILLIS: std::ops::Range<u64> = 100..500;
/// The range of pauses of a donor, in milliseconds.
const PAUSE_MILLIS: std::ops::Range<u64> = 50..350;
/// The nonprofit's own account at Stripe.
const ACCOUNT: &str = "acct_faults";
/// What the operator refunds of a donation, in cents. Every donation is larger.
const REFUND: &str = "100";
/// Stripe's clock is ahead of ours or behind it by an hour: its events look forged then.
const CLOCK_OFFSETS: [i64; 4] = [0, 3_600, 0, -3_600];
/// Servers that are started one after another to finish what is open; each looks after a hundred donations.
const MAX_STARTS: usize = 60;

/// The donations that are due to be looked at, and the events.
const DUE: &str = "select (select count(*) from donations where check_at < 1000000) \
     + (select count(*) from provider_events where handled_at is null and retry_at < 1000000)";
/// Lets everything be due now that would be due some time later, in the same order.
const LET_TIME_PASS: [&str; 3] = [
    "update donations set check_at = check_at - 4000000000000 where check_at > 1000000",
    "update provider_events set retry_at = retry_at - 4000000000000 where handled_at is null and retry_at > 1000000",
    "update refund_requests set asked_at = asked_at - 3600000 where answered_at is null",
];
const OPEN_EVENTS: &str = "select count(*) from provider_events where handled_at is null";
const OPEN_REQUESTS: &str = "select count(*) from refund_requests where answered_at is null";
const REFUSED_REQUESTS: &str = "select count(*) from refund_requests where error is not null";
const REQUESTS: &str = "select count(*) from refund_requests";
const COMPLETED: &str = "select count(*) from donations where entry is not null";
const DONATIONS: &str = "select count(*) from ledger_entries where kind = 'donation'";
const DONATED: &str =
    "select cast(coalesce(sum(amount), 0) as bigint) from ledger_entries where kind = 'donation'";
const SETTLED: &str = "select count(*) from ledger_entries s join ledger_entries d on d.sequence = s.origin \
     where s.kind = 'settlement' and d.kind = 'donation'";
const SETTLED_CENTS: &str = "select cast(coalesce(sum(d.amount), 0) as bigint) from ledger_entries s \
     join ledger_entries d on d.sequence = s.origin where s.kind = 'settlement' and d.kind = 'donation'";
const REFUNDS: &str = "select count(*) from ledger_entries where kind = 'refund'";
const REFUNDED: &str =
    "select cast(coalesce(sum(-amount), 0) as bigint) from ledger_entries where kind = 'refund'";

#[test]
fn killed_servers_and_a_killed_stripe_lose_and_double_no_payment_on_sqlite() {
    kill(Database::Sqlite, 1, None);
}

#[test]
fn killed_servers_and_a_killed_stripe_lose_and_double_no_payment_on_postgres() {
    kill(Database::Postgres, 2, None);
}

#[test]
fn killed_servers_and_a_killed_stripe_lose_and_double_no_payment_on_a_connected_account_on_sqlite() {
    kill(Database::Sqlite, 1, Some(ACCOUNT));
}

#[test]
fn killed_servers_and_a_killed_stripe_lose_and_double_no_payment_on_a_connected_account_on_postgres() {
    kill(Database::Postgres, 2, Some(ACCOUNT));
}

/// Kills servers and the simulator while donors pay on our own account, or on that of the nonprofit.
fn kill(database: Database, servers: usize, account: Option<&'static str>) {
    if !database.is_available() {
        return;
    }
    let rounds = rounds("CAUSEWAY_PAYMENT_ROUNDS", ROUNDS);
    let mut workload = Workload::new(Instance::new(database, 1_000));
    let mut stripe = StripeSimulator::start(workload.instance.folder.path());
    workload.instance.settings = settings(&stripe, account);
    let mut servers: Vec<Server> = (0..servers)
        .map(|_| Server::start_at(&workload.instance, simulator::free_address()))
        .collect();
    workload.begin(servers[0].address);
    if let Some(account) = account {
        connect(&workload, account);
    }
    let give = format!("{}/give", workload.profile(&servers[0]));
    // Bank debits are confirmed soon.
    stripe.control("tuning", &json!({ "debit_delay": 1 }));
    stripe.send_events_to(servers[0].address);

    let mut random = workload.instance.random.fork();
    let world = World {
        instance: &workload.instance,
        account,
        give: &give,
        stripe: stripe.address,
        servers: RwLock::new(addresses(&servers)),
        is_over: AtomicBool::new(false),
        started: AtomicU64::new(0),
        paid: Mutex::default(),
    };
    thread::scope(|scope| {
        // Ends the donors also if an assertion fails here.
        let _guard = SetOnDrop(&world.is_over);
        for _ in 0..DONORS {
            let (world, random) = (&world, random.fork());
            scope.spawn(move || world.donate_until_over(random));
        }
        scope.spawn(|| world.refund_until_over());
        for round in 0..rounds {
            arm(&stripe, &mut random, round, rounds);
            let span = LIFETIME_MILLIS.end - LIFETIME_MILLIS.start;
            thread::sleep(Duration::from_millis(LIFETIME_MILLIS.start + random.below(span)));
            let victim = random.below(servers.len() as u64 + 1) as usize;
            match servers.get_mut(victim) {
                Some(server) => {
                    server.kill();
                    *server = Server::start_at(world.instance, server.address);
                }
                None => stripe.kill_and_restart(),
            }
            *world.servers.write().expect("a list") = addresses(&servers);
            let receiver = random.below(servers.len() as u64) as usize;
            stripe.send_events_to(servers[receiver].address);
            let kills = round + 1;
            if kills % PROGRESS_INTERVAL == 0 || kills == rounds {
                let (started, paid) = (world.started.load(Ordering::Relaxed), world.paid());
                println!(
                    "{database:?}: {kills} kills, {started} donations were started, {} donors have paid",
                    paid.len()
                );
            }
        }
        stripe.remove_faults();
    });
    finish(&world, &stripe, &mut servers);
    verify(&world, &stripe);
}

/// Imports the account of the nonprofit that receives the donations.
fn connect(workload: &Workload, account: &str) {
    let file = workload.instance.folder.path().join("accounts.jsonl");
    let line = json!({ "id": workload.nonprofit(), "stripeAccount": account });
    fs::write(&file, line.to_string()).expect("a writable file");
    workload
        .instance
        .run(&["import", "nonprofits", &file.display().to_string()]);
}

fn settings(stripe: &StripeSimulator, account: Option<&str>) -> Vec<(&'static str, String)> {
    let accounts = if account.is_some() { "connect" } else { "platform" };
    [
        ("CAUSEWAY_GIVING__PROVIDER", "stripe".to_owned()),
        ("CAUSEWAY_STRIPE__SECRET_KEY", SECRET_KEY.to_owned()),
        ("CAUSEWAY_STRIPE__WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
        ("CAUSEWAY_STRIPE__ACCOUNT", accounts.to_owned()),
        (
            "CAUSEWAY_STRIPE__CONNECT_WEBHOOK_SECRET",
            CONNECT_SECRET.to_owned(),
        ),
        ("CAUSEWAY_STRIPE__API_BASE", stripe.url()),
        // It is in the address to which Stripe sends donors back, so all servers have the same.
        ("CAUSEWAY_PUBLIC_URL", "http://localhost".to_owned()),
        ("CAUSEWAY_RECIPIENT__LEGAL_NAME", "Causeway Foundation".to_owned()),
        ("CAUSEWAY_RECIPIENT__EIN", "12-3456789".to_owned()),
        // Cards are declined on purpose, all from one address.
        ("CAUSEWAY_GIVING__MAX_DECLINES_PER_ADDRESS", "1000000".to_owned()),
        (
            "CAUSEWAY_GIVING__MAX_DECLINES_PER_NONPROFIT",
            "1000000".to_owned(),
        ),
        ("CAUSEWAY_GIVING__MAX_DECLINES_PER_CARD", "1000000".to_owned()),
        ("CAUSEWAY_GIVING__MAX_DECLINES", "1000000".to_owned()),
    ]
    .into()
}

fn addresses(servers: &[Server]) -> Vec<SocketAddr> {
    servers.iter().map(|server| server.address).collect()
}

/// Arms faults for a round. They end when the simulator is killed.
fn arm(stripe: &StripeSimulator, random: &mut Random, round: u64, rounds: u64) {
    let mut faults = vec![
        json!({ "kind": "hang_up_after", "method": "POST", "path": "/v1/checkout", "count": 2 }),
        json!({ "kind": "hang_up_after", "path": "/v1/refunds", "count": 2 }),
        json!({ "kind": "error_after", "method": "POST", "path": "/v1/refunds", "count": 1 }),
        json!({ "kind": "error_after", "method": "POST", "path": "/v1/checkout", "count": 1 }),
        json!({ "kind": "error_before", "method": "GET", "count": 2 }),
        json!({ "kind": "rate_limit", "count": 4 }),
        json!({ "kind": "unavailable", "count": 2 }),
        json!({ "kind": "drop_event", "count": 8 }),
        json!({ "kind": "double_event", "count": 8 }),
        json!({ "kind": "delay_event", "count": 8, "seconds": 1 }),
        json!({ "kind": "reorder_events", "count": 16, "seconds": 1.5 }),
    ];
    // Longer than a call may take. A few of these make a run long, not thorough.
    if rounds > ROUNDS {
        faults.push(json!({ "kind": "timeout_after", "method": "POST", "count": 1, "seconds": 11 }));
    }
    for _ in 0..3 {
        let fault = random.below(faults.len() as u64) as usize;
        stripe.control("faults", &json!([faults[fault]]));
    }
    let offset = CLOCK_OFFSETS[round as usize % CLOCK_OFFSETS.len()];
    stripe.control("clock", &json!({ "offset": offset }));
    if random.below(10) == 0 {
        stripe.control("down", &json!({ "down": true }));
        thread::sleep(Duration::from_millis(50 + random.below(200)));
        stripe.control("down", &json!({ "down": false }));
    }
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What donors and the operator share.
struct World<'a> {
    instance: &'a Instance,
    /// The nonprofit's own account, if that is charged.
    account: Option<&'static str>,
    give: &'a str,
    stripe: SocketAddr,
    servers: RwLock<Vec<SocketAddr>>,
    is_over: AtomicBool,
    started: AtomicU64,
    /// The donations of which the page of Stripe has said that they are paid.
    paid: Mutex<Vec<String>>,
}

impl World<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn paid(&self) -> Vec<String> {
        self.paid.lock().expect("a list").clone()
    }

    /// How many donations our books have to settle, and their amounts together. The money on the nonprofit's own account is its own.
    fn settled(&self, truth: &Truth) -> (i64, i64) {
        match self.account {
            None => (truth.donations, truth.donated),
            Some(_) => (0, 0),
        }
    }

    fn server(&self, random: &mut Random) -> SocketAddr {
        let servers = self.servers.read().expect("a list");
        servers[random.below(servers.len() as u64) as usize]
    }

    fn donate_until_over(&self, mut random: Random) {
        while !self.is_over() {
            let _ = self.donate(&mut random);
            let span = PAUSE_MILLIS.end - PAUSE_MILLIS.start;
            thread::sleep(Duration::from_millis(PAUSE_MILLIS.start + random.below(span)));
        }
    }

    /// Repeats a step until it succeeds. `None` if the run ends before.
    fn retry<T>(&self, mut step: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            if let Some(done) = step() {
                return Some(done);
            }
            if self.is_over() {
                return None;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Gives as a person does: sends the form, again if nothing comes back, pays on the page of Stripe, and perhaps returns.
    fn donate(&self, random: &mut Random) -> Option<()> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let once = Uuid::from_u128((1 << 64) | u128::from(number));
        let fields = format!("amount={}&public=no&once={once}", 5 + random.below(500));
        let mut path = self.give.to_owned();
        let url = self.retry(|| {
            let response = client::post_form(self.server(random), &path, &fields).ok()?;
            let location = response.header("location").filter(|_| response.status == 303)?;
            if location.starts_with("http") {
                return Some(location.to_owned());
            }
            // The answer of Stripe was lost. The page of the donation leads to the payment.
            location.clone_into(&mut path);
            None
        })?;
        let page = url
            .strip_prefix(&format!("http://{}", self.stripe))
            .expect("a page of Stripe")
            .to_owned();
        if random.below(10) == 0 {
            // Closes the page.
            return None;
        }
        if random.below(8) == 0 {
            let declined = "card_number=4000000000000002&email=ada%40example.org";
            self.retry(|| client::post_form(self.stripe, &page, declined).ok())?;
        }
        let form = match random.below(8) {
            0 => "account_number=000123456789&email=ada%40example.org",
            _ => "card_number=4242424242424242&email=ada%40example.org",
        };
        // A page that was paid before, because its answer was lost, says so.
        self.retry(|| {
            let response = client::post_form(self.stripe, &page, form).ok()?;
            let is_paid =
                response.status == 303 || String::from_utf8_lossy(&response.body).contains("complete");
            is_paid.then_some(())
        })?;
        let session = page.rsplit('/').next().expect("a path");
        let paid = self.retry(|| {
            let path = format!("/v1/checkout/sessions/{session}");
            let found = simulator::read(self.stripe, self.account, &path).ok()?;
            (found.status == 200).then(|| found.json())
        })?;
        let metadata = &paid["metadata"];
        let donation = metadata["donation"].as_str().expect("an ID");
        // The reconciliation, which finds second charges whose events are lost, compares our own account alone.
        if self.account.is_none() && random.below(6) == 0 {
            self.pay_again(
                donation,
                metadata["store"].as_str().expect("an ID"),
                &paid["amount_total"],
            );
        }
        self.paid.lock().expect("a list").push(donation.to_owned());
        if random.below(2) == 0 {
            let (_, receipt) = paid["success_url"]
                .as_str()
                .expect("a URL")
                .split_once("/donations/")
                .expect("a page");
            let _ = client::get(self.server(random), &format!("/donations/{receipt}"));
        }
        Some(())
    }

    /// Charges a card a second time for a donation.
    fn pay_again(&self, donation: &str, store: &str, amount: &Value) {
        let form = format!(
            "amount={amount}&currency=usd&confirm=true&payment_method=pm_card_visa&metadata[donation]={donation}\
             &metadata[store]={store}&automatic_payment_methods[enabled]=true\
             &automatic_payment_methods[allow_redirects]=never"
        );
        let headers = format!(
            "{}Idempotency-Key: again-{donation}\r\n",
            simulator::authorization()
        );
        self.retry(|| {
            let charged = client::post_form_with(self.stripe, "/v1/payment_intents", &headers, &form).ok()?;
            (charged.status == 200).then_some(())
        });
    }

    /// Asks for refunds as an operator does, once for a donation: when an answer is lost, the server asks again.
    fn refund_until_over(&self) {
        let mut asked = HashSet::new();
        while !self.is_over() {
            let next = self.paid().into_iter().find(|id| !asked.contains(id));
            if let Some(id) = next {
                let arguments = [
                    "donation",
                    "refund",
                    "--source",
                    "site",
                    "--external-id",
                    &id,
                    "--amount",
                    REFUND,
                ];
                let mut command = self.instance.command(&arguments);
                // It is refused while the donation is not in the ledger.
                let asking = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
                asking.expect("the binary runs");
                asked.insert(id);
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Lets an hour pass again and again for new servers, until they have found out what became of every payment.
fn finish(world: &World<'_>, stripe: &StripeSimulator, servers: &mut [Server]) {
    let database = &world.instance.database;
    stripe.control("clock", &json!({ "offset": 7_200 }));
    stripe.control("clock", &json!({ "offset": 0 }));
    for _ in 0..MAX_STARTS {
        servers.iter_mut().for_each(Server::kill);
        for statement in LET_TIME_PASS {
            database.change(statement);
        }
        for server in servers.iter_mut() {
            *server = Server::start_at(world.instance, server.address);
        }
        stripe.send_events_to(servers[0].address);
        let idle = stripe.control("idle", &json!({ "timeout_ms": 60_000 }));
        assert_eq!(idle["idle"], true, "{idle}");
        eventually("servers look after what is due", || database.number(DUE) == 0);
        let truth = Truth::find(stripe, world.account);
        let is_finished = || {
            database.number(COMPLETED) == truth.donations
                && database.number(SETTLED) == world.settled(&truth).0
                && database.number(OPEN_EVENTS) == 0
                && database.number(OPEN_REQUESTS) == 0
        };
        if is_finished() {
            return;
        }
    }
    println!("servers did not find out what became of every payment");
}

/// Compares the ledger with the simulator, to the cent.
fn verify(world: &World<'_>, stripe: &StripeSimulator) {
    let (database, truth) = (&world.instance.database, Truth::find(stripe, world.account));
    println!(
        "{} donations were paid, {} of them twice, and {} refunded in part",
        truth.donations, truth.seconds, truth.refunds
    );
    let lost: Vec<String> = world
        .paid()
        .into_iter()
        .filter(|id| !truth.paid.contains(id))
        .collect();
    assert!(lost.is_empty(), "Stripe lost {lost:?}");
    assert_eq!(
        database.number(DONATIONS),
        truth.donations,
        "donations in the ledger"
    );
    assert_eq!(
        database.number(DONATED),
        truth.donated,
        "cents of donations in the ledger"
    );
    assert_eq!(database.number(COMPLETED), truth.donations, "completed donations");
    let (settled, cents) = world.settled(&truth);
    assert_eq!(database.number(SETTLED), settled, "settlements");
    assert_eq!(database.number(SETTLED_CENTS), cents, "cents of settlements");
    assert_eq!(database.number(OPEN_REQUESTS), 0, "refunds without an answer");
    assert_eq!(database.number(REFUSED_REQUESTS), 0, "refused refunds");
    assert_eq!(database.number(REQUESTS), truth.refunds, "refunds at Stripe");
    assert_eq!(database.number(REFUNDS), truth.refunds, "refunds in the ledger");
    assert_eq!(
        database.number(REFUNDED),
        truth.refunded,
        "cents of refunds in the ledger"
    );
    if world.account.is_some() {
        let own = stripe.list(None, "charges");
        assert!(own.is_empty(), "charged on our own account: {own:?}");
    }
    let sessions = stripe.list(world.account, "checkout/sessions");
    let donations: HashSet<&str> = sessions
        .iter()
        .filter_map(|session| session["client_reference_id"].as_str())
        .collect();
    assert_eq!(donations.len(), sessions.len(), "a donation has two sessions");
    assert!(truth.donations > 0, "nobody has paid");

    // The comparison finds second charges of which no event has told, and refunds them. It lists and enters second charges and
    // their refunds, and nothing else.
    let output = world
        .instance
        .command(&["payments", "reconcile", "--json"])
        .output()
        .expect("the binary runs");
    let compared: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let differences = compared["differences"].as_array().expect("a list");
    assert!(
        differences
            .iter()
            .all(|difference| difference["kind"] == "second charge"),
        "{differences:?}"
    );
    assert_eq!(differences.len() as i64, truth.seconds);
    assert_eq!(compared["entered"], 2 * truth.seconds, "{compared}");
    assert_eq!(compared["balance"], compared["ledgerBalance"]);
    let truth = Truth::find(stripe, world.account);
    assert_eq!(truth.refunded_whole, truth.seconds, "refunded second charges");
    world.instance.check();
}
