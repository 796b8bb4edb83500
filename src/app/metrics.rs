//! The metrics of one server, in the format of Prometheus.
//!
//! A part of the server gets the handles that it sets. What is cheaper to read than to keep up to date is read when
//! Prometheus asks: ages and the process here, the rest in `server/scrape.rs`.

pub mod definitions;
pub mod gauges;
pub mod process;
pub mod registry;

use access::limits::Class;
use axum::http::StatusCode;
use definitions as names;
use gauges::{AgeGauge, OptionalGauge};
use giving::donations::counters::{Counters, DonationCounters};
use giving::ledger::entry::Mode;
use giving::webhooks::deliveries::sender::SendCounters;
use metrics::{Counter, Gauge, Histogram};
use platform::clock::Clock;
use platform::mail::DeliveryCounters;
use process::ProcessMetrics;
use registry::Registry;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The class of refusals by a limit that is not the limit of a key: sign-in, checkout, pages.
const OTHER_CLASS: &str = "other";

/// The metrics of one server.
pub struct Metrics {
    registry: Arc<Registry>,
    clock: Clock,
    process: ProcessMetrics,
    requests: RwLock<HashMap<(String, u16), (Counter, Histogram)>>,
    /// One counter for each class, and the last one for other limits.
    refusals: Vec<Counter>,
    /// Counts password checks, which shows guessing.
    pub password_hashes: Counter,
    pub ready: Gauge,
    pub write_ready: Gauge,
    /// How far the clock of this machine is ahead of the database, or behind if negative.
    pub clock_skew: Gauge,
    /// The age of the last answer of the database.
    pub store_age: AgeGauge,
    pub pool: PoolMetrics,
    pub nonprofits: Gauge,
    /// Required lists that are missing or too old.
    pub outdated_lists: Gauge,
    pub overlay: Gauge,
    /// The revision of the directory that is shown.
    pub revision: Gauge,
    /// The revision of the directory in the database, when it was last read.
    pub store_revision: Gauge,
    pub snapshot: SnapshotMetrics,
    pub donations: DonationCounters,
    pub payments: PaymentMetrics,
    pub emails: EmailMetrics,
    pub webhooks: WebhookMetrics,
    pub anchor: AnchorMetrics,
    /// Donations of the checkout that differ from their entries in the ledger.
    pub receipt_differences: OptionalGauge,
    /// The age of the last complete backup.
    pub backup_age: AgeGauge,
    /// Counts failed operations of the blob store.
    pub blob_errors: Counter,
    pub spans: SpanMetrics,
    pub disk: DiskMetrics,
}

/// The connections for reading the database.
pub struct PoolMetrics {
    pub connections: Gauge,
    pub idle: Gauge,
    /// Only set with PostgreSQL.
    pub waiting: OptionalGauge,
    /// Statements in the whole database that wait for a lock. Only set with PostgreSQL.
    pub lock_waits: OptionalGauge,
}

/// The snapshot that is shown.
pub struct SnapshotMetrics {
    pub revision: Gauge,
    pub age: AgeGauge,
    /// The duration of the last build in seconds.
    pub build: OptionalGauge,
}

/// Payments by Stripe. Servers with another provider export none of them.
pub struct PaymentMetrics {
    /// The sum of the amounts of open differences, each without its sign.
    pub unreconciled_cents: OptionalGauge,
    /// What is owed to nonprofits, and for how long.
    pub owed_cents: OptionalGauge,
    pub oldest_unpaid_days: OptionalGauge,
    pub waiting_events: OptionalGauge,
    pub unanswered_disputes: OptionalGauge,
    /// In the last hour: declined payments, donations that were held, and those of them that were let through.
    pub declined: OptionalGauge,
    pub held: OptionalGauge,
    pub let_through: OptionalGauge,
    pub monthly_active: OptionalGauge,
    pub monthly_past_due: OptionalGauge,
}

/// The queue of emails.
pub struct EmailMetrics {
    /// Emails that the mail server has not accepted yet.
    pub waiting: OptionalGauge,
    pub deliveries: DeliveryCounters,
}

/// Events for webhook endpoints.
pub struct WebhookMetrics {
    pub attempts: SendCounters,
    pub backlog_age: OptionalGauge,
    pub failing: OptionalGauge,
    pub disabled: OptionalGauge,
}

/// The anchors of the ledger.
pub struct AnchorMetrics {
    /// Reset when an anchor is written, and when the last one still covers the whole ledger.
    pub age: AgeGauge,
    /// The number of entries that an anchor names and the ledger does not contain.
    pub missing: OptionalGauge,
    /// The number of places that cannot be read, or should have anchors and do not.
    pub failing_places: OptionalGauge,
}

/// The export of traces.
pub struct SpanMetrics {
    pub exported: Counter,
    pub dropped: Counter,
}

/// The disk of the data folder, in bytes.
pub struct DiskMetrics {
    pub available: OptionalGauge,
    pub size: OptionalGauge,
}

impl Metrics {
    pub fn new(clock: Clock) -> anyhow::Result<Metrics> {
        let registry = Arc::new(Registry::new()?);
        let optional = |definition| OptionalGauge::new(&registry, definition);
        let age = |definition| AgeGauge::new(&registry, definition);
        let classes = Class::ALL.map(Class::name).into_iter().chain([OTHER_CLASS]);
        let refusals = classes.map(|class| registry.labeled_counter(names::REFUSALS, &[class]));
        registry
            .labeled_gauge(names::BUILD_INFO, &[env!("CARGO_PKG_VERSION")])
            .set(1.0);
        Ok(Metrics {
            process: ProcessMetrics::new(&registry, clock.millis()),
            requests: RwLock::default(),
            refusals: refusals.collect(),
            password_hashes: registry.counter(names::PASSWORD_HASHES),
            ready: registry.gauge(names::READY),
            write_ready: registry.gauge(names::WRITE_READY),
            clock_skew: registry.gauge(names::CLOCK_SKEW),
            store_age: age(names::STORE_AGE),
            pool: PoolMetrics {
                connections: registry.gauge(names::POOL_CONNECTIONS),
                idle: registry.gauge(names::POOL_IDLE),
                waiting: optional(names::POOL_WAITING),
                lock_waits: optional(names::LOCK_WAITS),
            },
            nonprofits: registry.gauge(names::NONPROFITS),
            overlay: registry.gauge(names::OVERLAY),
            outdated_lists: registry.gauge(names::OUTDATED_LISTS),
            revision: registry.gauge(names::DIRECTORY_REVISION),
            store_revision: registry.gauge(names::STORE_REVISION),
            snapshot: SnapshotMetrics {
                revision: registry.gauge(names::SNAPSHOT_REVISION),
                age: age(names::SNAPSHOT_AGE),
                build: optional(names::SNAPSHOT_BUILD),
            },
            donations: donation_counters(&registry),
            payments: PaymentMetrics {
                unreconciled_cents: optional(names::UNRECONCILED),
                owed_cents: optional(names::OWED),
                oldest_unpaid_days: optional(names::OLDEST_UNPAID),
                waiting_events: optional(names::EVENTS_WAITING),
                unanswered_disputes: optional(names::DISPUTES_UNANSWERED),
                declined: optional(names::DECLINED),
                held: optional(names::HELD),
                let_through: optional(names::LET_THROUGH),
                monthly_active: optional(names::MONTHLY_ACTIVE),
                monthly_past_due: optional(names::MONTHLY_PAST_DUE),
            },
            emails: EmailMetrics {
                waiting: optional(names::EMAILS_WAITING),
                deliveries: DeliveryCounters {
                    sent: registry.counter(names::EMAILS_SENT),
                    failed: registry.counter(names::EMAILS_FAILED),
                },
            },
            webhooks: WebhookMetrics {
                attempts: SendCounters {
                    delivered: registry.counter(names::WEBHOOKS_DELIVERED),
                    failed: registry.counter(names::WEBHOOKS_FAILED),
                },
                backlog_age: optional(names::WEBHOOK_BACKLOG_AGE),
                failing: optional(names::WEBHOOK_ENDPOINTS_FAILING),
                disabled: optional(names::WEBHOOK_ENDPOINTS_DISABLED),
            },
            anchor: AnchorMetrics {
                age: age(names::ANCHOR_AGE),
                missing: optional(names::ANCHOR_MISSING),
                failing_places: optional(names::ANCHOR_PLACES_FAILING),
            },
            receipt_differences: optional(names::RECEIPT_DIFFERENCES),
            backup_age: age(names::BACKUP_AGE),
            blob_errors: registry.counter(names::BLOB_ERRORS),
            spans: SpanMetrics {
                exported: registry.counter(names::SPANS_EXPORTED),
                dropped: registry.counter(names::SPANS_DROPPED),
            },
            disk: DiskMetrics {
                available: optional(names::DATA_AVAILABLE),
                size: optional(names::DATA_SIZE),
            },
            registry,
            clock,
        })
    }

    /// Registers the gauge of the connection to Redis. Servers without Redis have none.
    pub fn redis_up(&self) -> Gauge {
        self.registry.gauge(names::REDIS_UP)
    }

    /// Registers the counter of calls about which Redis could not be asked. Servers without Redis have none.
    pub fn local_limit_decisions(&self) -> Counter {
        self.registry.counter(names::LOCAL_LIMIT_DECISIONS)
    }

    /// Counts one request. `route` is the pattern of the route, never the path that was sent.
    pub fn request(&self, route: &str, status: StatusCode, took: Duration) {
        let status = status.as_u16();
        {
            let handles = self.requests.read().unwrap_or_else(PoisonError::into_inner);
            // The map is keyed by owned text: scanning a handful of entries costs less than allocating a key.
            let found = handles
                .iter()
                .find(|((name, code), _)| *code == status && name == route);
            if let Some((_, (counter, histogram))) = found {
                counter.increment(1);
                histogram.record(took.as_secs_f64());
                return;
            }
        }
        let registry = &self.registry;
        let counter = registry.labeled_counter(names::REQUESTS, &[route, &status.to_string()]);
        let histogram = registry.labeled_histogram(names::REQUEST_SECONDS, &[route]);
        counter.increment(1);
        histogram.record(took.as_secs_f64());
        let mut handles = self.requests.write().unwrap_or_else(PoisonError::into_inner);
        handles.insert((route.to_owned(), status), (counter, histogram));
    }

    /// Counts a request that a rate limit refused: the limit of a class, or another one.
    pub fn refusal(&self, class: Option<Class>) {
        let index = Class::ALL.iter().position(|known| Some(*known) == class);
        self.refusals[index.unwrap_or(Class::ALL.len())].increment(1);
    }

    /// Returns the text that Prometheus scrapes.
    pub fn render(&self) -> String {
        let now = self.clock.millis();
        for age in [
            &self.store_age,
            &self.snapshot.age,
            &self.anchor.age,
            &self.backup_age,
        ] {
            age.update(now);
        }
        self.process.render_with(|| self.registry.render())
    }

    /// Folds recorded samples into the buckets; without it the exporter keeps every sample. Call it every few seconds.
    pub fn run_upkeep(&self) {
        self.registry.run_upkeep();
    }
}

fn donation_counters(registry: &Registry) -> DonationCounters {
    let counters = |mode: Mode| {
        let counter = |definition| registry.labeled_counter(definition, &[mode.as_str()]);
        Counters {
            donations: counter(names::DONATIONS),
            donated_cents: counter(names::DONATED_CENTS),
            refunds: counter(names::REFUNDS),
            refunded_cents: counter(names::REFUNDED_CENTS),
        }
    };
    DonationCounters {
        live: counters(Mode::Live),
        test: counters(Mode::Test),
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
