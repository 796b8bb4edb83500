//! A store and a simulated Stripe, for property tests of payments.

use super::writer::run;
use crate::books::FeesPaidBy;
use crate::checkout::partner::Partner;
use crate::checkout::settle::Settlement;
use crate::checkout::start::StartDonation;
use crate::checkout::{Donation, store as checkout};
use crate::donations::counters::{Counters, DonationCounters};
use crate::fundraisers::cache::FundraiserCache;
use crate::guard::{Guard, GuardSettings};
use crate::ledger::entry::Mode;
use crate::ledger::writer::Writer;
use crate::payments::Payments;
use crate::providers::Provider;
use crate::providers::stripe::client::Client;
use crate::recorder::Recorder;
use directory::Directory;
use directory::nonprofits::causes::Causes;
use jiff::tz::TimeZone;
use metrics::Counter;
use platform::clock::Clock;
use platform::data_folder;
use platform::db::Db;
use platform::ids::NonprofitId;
use platform::mail::{Delivery, MailSettings, Mailer};
use platform::money::Cents;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use platform::settings::{APPLICATION_NAME, DatabaseSettings};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stripe_simulator::{Settings, Simulator};
use uuid::Uuid;

const KEY: &str = "sk_test_property";
const STORE: Uuid = Uuid::from_u128(77);
pub(super) const MODE: Mode = Mode::Test;
/// Nobody is asked for a proof of work.
const GUARD: GuardSettings = GuardSettings {
    per_card: u32::MAX,
    per_address: u32::MAX,
    per_nonprofit: u32::MAX,
    in_all: u32::MAX,
    proof_bits: 1,
};

/// One of the nonprofits to which donations are made.
pub(super) fn nonprofit(number: usize) -> NonprofitId {
    NonprofitId(Uuid::from_u128(number as u128 + 1))
}

/// A store that takes payments, and the simulator that it calls. Events are only delivered by the test.
pub(super) struct Bank {
    _folder: tempfile::TempDir,
    _simulator: Simulator,
    url: String,
    http: reqwest::Client,
    pub(super) db: Db,
    pub(super) clock: Clock,
    stripe: Client,
    directory: Directory,
    recorder: Recorder,
    mailer: Mailer,
    public_url: PublicUrl,
    secret: StoreSecret,
    time_zone: TimeZone,
    fees_paid_by: FeesPaidBy,
}

fn database() -> DatabaseSettings {
    DatabaseSettings {
        application_name: APPLICATION_NAME.to_owned(),
        url: None,
        listen_url: None,
        connections: 2,
        acquire_timeout: Duration::from_secs(30),
        probe_timeout: Duration::from_secs(30),
        statement_timeout: Duration::ZERO,
        lock_timeout: Duration::ZERO,
    }
}

/// A database with all tables and two nonprofits, and the secret of its store. Copies are made faster than new ones.
fn template() -> &'static (Vec<u8>, Vec<u8>) {
    static TEMPLATE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        // In a thread of its own, because a runtime cannot wait for another one.
        let created = std::thread::spawn(|| run(create_template()));
        created.join().unwrap()
    })
}

async fn create_template() -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let db = Db::open(&data, &database()).await.unwrap();
    let secret = data.join("secret");
    db.identity(0).await.unwrap();
    StoreSecret::open(&db, &secret).await.unwrap();
    let Db::Sqlite { writer, .. } = &db else {
        unreachable!("it is opened without an address")
    };
    for number in 0..2 {
        let insert = "insert into nonprofits (id, slug, filed, listed, digest) values ($1, $2, '', 1, 0)";
        let insert = sqlx::query(insert)
            .bind(nonprofit(number).0)
            .bind(format!("nonprofit-{number}"));
        insert.execute(writer).await.unwrap();
    }
    db.close().await;
    let read = |path: &Path| std::fs::read(path).unwrap();
    (read(&data.join(data_folder::DATABASE)), read(&secret))
}

/// A client for all tests of a thread, because creating one takes longer than most calls.
fn http() -> reqwest::Client {
    thread_local!(static CLIENT: reqwest::Client = reqwest::Client::new());
    CLIENT.with(reqwest::Client::clone)
}

impl Bank {
    pub(super) async fn open(fees_paid_by: FeesPaidBy) -> Bank {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let (file, secret) = template();
        data_folder::create_folder(&data).unwrap();
        std::fs::write(data.join(data_folder::DATABASE), file).unwrap();
        std::fs::write(data.join("secret"), secret).unwrap();
        let db = Db::open(&data, &database()).await.unwrap();
        let (simulator, clock) = (
            Simulator::start(Settings::default()).await.unwrap(),
            Clock::default(),
        );
        let url = simulator.url();
        let mail = MailSettings {
            delivery: Delivery::Off,
            from: "causeway@example.org".parse().unwrap(),
        };
        let counters = || Counters {
            donations: Counter::noop(),
            donated_cents: Counter::noop(),
            refunds: Counter::noop(),
            refunded_cents: Counter::noop(),
        };
        let counters = DonationCounters {
            live: counters(),
            test: counters(),
        };
        let cache = Arc::new(FundraiserCache::new(db.clone(), &data));
        Bank {
            stripe: Client::new(&url, KEY.into()).unwrap().without_pacing(),
            directory: Directory::new(db.clone(), STORE, &data, b"", Causes::built_in()),
            recorder: Recorder::new(Writer::start(db.clone()), cache, clock.clone(), counters),
            mailer: Mailer::new(&mail, &data, db.clone(), clock.clone()).unwrap(),
            public_url: PublicUrl::new("http://127.0.0.1:1"),
            secret: StoreSecret::read_unchecked(&data.join("secret")).unwrap(),
            time_zone: TimeZone::UTC,
            http: http(),
            _folder: folder,
            _simulator: simulator,
            url,
            db,
            clock,
            fees_paid_by,
        }
    }

    pub(super) fn payments(&self) -> Payments<'_> {
        Payments {
            settlement: Settlement {
                payment_attempts: 4,
                db: &self.db,
                directory: &self.directory,
                recorder: &self.recorder,
                clock: &self.clock,
                mailer: &self.mailer,
                public_url: &self.public_url,
                secret: &self.secret,
                time_zone: &self.time_zone,
                recipient: None,
                receipts_per_hour: 10,
                notices_per_day: 10,
            },
            stripe: &self.stripe,
            mode: MODE,
            store: STORE,
            fees_paid_by: self.fees_paid_by,
            guard: Guard {
                db: &self.db,
                clock: &self.clock,
                secret: &self.secret,
                settings: GUARD,
            },
        }
    }

    /// Starts a donation, and opens its session at Stripe. Returns both IDs.
    pub(super) async fn start(&self, number: usize, cents: i64, to: usize) -> (Uuid, String) {
        let form = StartDonation {
            is_monthly: false,
            token: Uuid::from_u128(number as u128),
            nonprofit: nonprofit(to),
            fundraiser: None,
            amount: Cents::new(cents),
            covered: Cents::ZERO,
            name: None,
            is_public: false,
            email: None,
            shares_contact: false,
            message: None,
            designation: None,
            dedication: None,
            partner: Partner::default(),
        };
        let now = self.clock.millis();
        let donation = form.into_donation(&self.secret, &Provider::Stripe(MODE), now);
        checkout::insert(&self.db, &donation).await.unwrap();
        self.payments().open_session(&donation).await.unwrap();
        let Donation { id, payment, .. } = self.find(donation.id).await;
        (id, payment.session.unwrap())
    }

    pub(super) async fn find(&self, id: Uuid) -> Donation {
        checkout::find(&self.db, id).await.unwrap().unwrap()
    }

    /// Calls the control interface of the simulator. `None` if it refuses, because that cannot happen now.
    pub(super) async fn control(&self, path: &str, body: &Value) -> Option<Value> {
        let request = self.http.post(format!("{}/simulator/{path}", self.url));
        read(request.body(body.to_string())).await
    }

    /// Moves Stripe's clock, so that everything that was due in this time has happened.
    pub(super) async fn wait(&self, seconds: i64) {
        let moved = self.control("clock", &json!({ "advance": seconds })).await;
        assert!(moved.is_some(), "the clock stands still");
    }

    /// Calls the API of the simulator, as Stripe's dashboard does. `None` if it refuses.
    pub(super) async fn post(&self, path: &str, form: &str) -> Option<Value> {
        let request = self.http.post(format!("{}/v1/{path}", self.url));
        let request = request
            .bearer_auth(KEY)
            .header("content-type", "application/x-www-form-urlencoded");
        read(request.body(form.to_owned())).await
    }

    /// Lists objects of the simulator, oldest first.
    pub(super) async fn list(&self, path: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().and_then(|last| last["id"].as_str());
            let after = after.map_or_else(String::new, |id| format!("&starting_after={id}"));
            let url = format!("{}/v1/{path}?limit=100{after}", self.url);
            let page = read(self.http.get(url).bearer_auth(KEY)).await.unwrap();
            all.extend(page["data"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                all.reverse();
                return all;
            }
        }
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}/v1/{path}", self.url));
        read(request.bearer_auth(KEY)).await.unwrap()
    }
}

async fn read(request: reqwest::RequestBuilder) -> Option<Value> {
    let response = request.send().await.unwrap();
    let is_success = response.status().is_success();
    let text = response.text().await.unwrap();
    is_success.then(|| serde_json::from_str(&text).unwrap())
}
