//! The name, kind, labels and meaning of every metric. docs/operate.md lists the same.

/// A metric as Prometheus sees it.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub kind: Kind,
    pub labels: &'static [&'static str],
    /// The text of its `# HELP` line.
    pub help: &'static str,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
}

const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Definition {
    Definition {
        name,
        kind: Kind::Counter,
        labels,
        help,
    }
}

const fn gauge(name: &'static str, help: &'static str) -> Definition {
    Definition {
        name,
        kind: Kind::Gauge,
        labels: &[],
        help,
    }
}

pub const REQUESTS: Definition = counter(
    "causeway_requests_total",
    &["route", "status"],
    "Requests by route and status.",
);
pub const REQUEST_SECONDS: Definition = Definition {
    name: "causeway_request_seconds",
    kind: Kind::Histogram,
    labels: &["route"],
    help: "Response times by route.",
};
pub const REFUSALS: Definition = counter(
    "causeway_limit_refusals_total",
    &["class"],
    "Requests refused by a rate limit, by class.",
);
pub const PASSWORD_HASHES: Definition = counter(
    "causeway_password_hashes_total",
    &[],
    "Passwords hashed to be stored or checked.",
);
pub const READY: Definition = gauge("causeway_ready", "Whether /readyz answers 200.");
pub const WRITE_READY: Definition = gauge("causeway_write_ready", "Whether /readyz/write answers 200.");
pub const CLOCK_SKEW: Definition = gauge(
    "causeway_clock_skew_seconds",
    "How far the clock of this machine is ahead of the database, or behind if negative.",
);
pub const BUILD_INFO: Definition = Definition {
    labels: &["version"],
    ..gauge(
        "causeway_build_info",
        "Always 1. The label is the version of Causeway.",
    )
};
pub const STORE_AGE: Definition = gauge(
    "causeway_store_age_seconds",
    "Time since the database last answered.",
);
pub const POOL_CONNECTIONS: Definition =
    gauge("causeway_pool_connections", "Open connections to the database.");
pub const POOL_IDLE: Definition = gauge("causeway_pool_idle_connections", "Those of them that are idle.");
pub const POOL_WAITING: Definition = gauge(
    "causeway_pool_waiting_queries",
    "Queries and transactions that wait for a connection to PostgreSQL.",
);
pub const LOCK_WAITS: Definition = gauge(
    "causeway_lock_waiting_queries",
    "Statements in the PostgreSQL database that wait for a lock.",
);
pub const NONPROFITS: Definition = gauge("causeway_nonprofits", "Nonprofits in the directory snapshot.");
pub const OVERLAY: Definition = gauge(
    "causeway_overlay_nonprofits",
    "Nonprofits changed since the snapshot was built.",
);
pub const DIRECTORY_REVISION: Definition = gauge(
    "causeway_directory_revision",
    "Revision of the directory that is shown.",
);
pub const STORE_REVISION: Definition = gauge(
    "causeway_store_directory_revision",
    "Revision of the directory in the database.",
);
pub const SNAPSHOT_REVISION: Definition = gauge(
    "causeway_snapshot_revision",
    "Revision of the directory in the snapshot.",
);
pub const SNAPSHOT_AGE: Definition = gauge(
    "causeway_snapshot_age_seconds",
    "Time since the snapshot was written.",
);
pub const SNAPSHOT_BUILD: Definition = gauge(
    "causeway_snapshot_build_seconds",
    "Duration of the last build of a snapshot by this server.",
);
pub const DONATIONS: Definition = counter(
    "causeway_donations_total",
    &["mode"],
    "Donations recorded by this server.",
);
pub const DONATED_CENTS: Definition = counter(
    "causeway_donated_cents_total",
    &["mode"],
    "Amount of these donations, in cents.",
);
pub const REFUNDS: Definition = counter(
    "causeway_refunds_total",
    &["mode"],
    "Refunds recorded by this server.",
);
pub const REFUNDED_CENTS: Definition = counter(
    "causeway_refunded_cents_total",
    &["mode"],
    "Amount of these refunds, in cents.",
);
pub const OUTDATED_LISTS: Definition = gauge(
    "causeway_eligibility_lists_outdated",
    "Required lists of nonprofits in good standing that are missing or too old. While there is one, nobody can give.",
);
pub const UNRECONCILED: Definition = gauge(
    "causeway_unreconciled_cents",
    "Amount of all unexplained differences between the payment provider and the ledger, in cents.",
);
pub const OWED: Definition = gauge(
    "causeway_owed_cents",
    "What is owed to nonprofits and in no batch, in cents.",
);
pub const OLDEST_UNPAID: Definition = gauge(
    "causeway_oldest_unpaid_days",
    "Days since the oldest donation was settled that is owed to a nonprofit and in no batch.",
);
pub const EVENTS_WAITING: Definition = gauge(
    "causeway_payment_events_waiting",
    "Events of the payment provider that were received and have yet to be handled.",
);
pub const DECLINED: Definition = gauge(
    "causeway_payments_declined",
    "Payments that were declined in the last hour.",
);
pub const HELD: Definition = gauge(
    "causeway_donations_held",
    "Donations of the last hour that were held until the donor proves not to be a program.",
);
pub const LET_THROUGH: Definition = gauge(
    "causeway_donations_let_through",
    "Those of them that were let through.",
);
pub const DISPUTES_UNANSWERED: Definition = gauge(
    "causeway_disputes_unanswered",
    "Disputes and inquiries that need a response.",
);
pub const MONTHLY_ACTIVE: Definition = gauge("causeway_monthly_gifts", "Monthly donations that are active.");
pub const MONTHLY_PAST_DUE: Definition = gauge(
    "causeway_monthly_gifts_past_due",
    "Monthly donations whose last payment failed.",
);
pub const EMAILS_WAITING: Definition = gauge(
    "causeway_emails_waiting",
    "Emails that the mail server has not accepted yet.",
);
pub const EMAILS_SENT: Definition = counter(
    "causeway_emails_sent_total",
    &[],
    "Emails that were delivered by this server.",
);
pub const EMAILS_FAILED: Definition = counter(
    "causeway_emails_failed_total",
    &[],
    "Attempts of this server to deliver an email that failed.",
);
pub const WEBHOOKS_DELIVERED: Definition = counter(
    "causeway_webhooks_delivered_total",
    &[],
    "Events that this server delivered to webhook endpoints.",
);
pub const WEBHOOKS_FAILED: Definition = counter(
    "causeway_webhooks_failed_total",
    &[],
    "Attempts of this server to deliver an event that failed.",
);
pub const WEBHOOK_BACKLOG_AGE: Definition = gauge(
    "causeway_webhook_backlog_age_seconds",
    "Time for which the oldest event waits that an endpoint in good health should have.",
);
pub const WEBHOOK_ENDPOINTS_FAILING: Definition = gauge(
    "causeway_webhook_endpoints_failing",
    "Webhook endpoints for which the last ten attempts or more failed.",
);
pub const WEBHOOK_ENDPOINTS_DISABLED: Definition = gauge(
    "causeway_webhook_endpoints_disabled",
    "Webhook endpoints that are disabled.",
);
pub const ANCHOR_AGE: Definition = gauge(
    "causeway_anchor_age_seconds",
    "Time since every entry of the ledger had an anchor.",
);
pub const ANCHOR_MISSING: Definition = gauge(
    "causeway_anchor_missing_entries",
    "Entries that an anchor names and the ledger does not contain.",
);
pub const ANCHOR_PLACES_FAILING: Definition = gauge(
    "causeway_anchor_places_failing",
    "Places of anchors that cannot be read, or should have anchors and do not.",
);
pub const RECEIPT_DIFFERENCES: Definition = gauge(
    "causeway_receipt_differences",
    "Donations whose receipt differs from the ledger, at the last comparison.",
);
pub const BACKUP_AGE: Definition = gauge(
    "causeway_backup_age_seconds",
    "Time since the last backup was completed.",
);
pub const REDIS_UP: Definition = gauge(
    "causeway_redis_up",
    "Whether Redis responds, so that servers share their rate limits.",
);
pub const LOCAL_LIMIT_DECISIONS: Definition = counter(
    "causeway_local_limit_decisions_total",
    &[],
    "Calls and attempts that this server decided by itself because Redis did not respond.",
);
pub const BLOB_ERRORS: Definition = counter(
    "causeway_blob_errors_total",
    &[],
    "Operations of the blob store that failed.",
);
pub const SPANS_EXPORTED: Definition = counter(
    "causeway_trace_spans_exported_total",
    &[],
    "Spans that the OpenTelemetry collector accepted.",
);
pub const SPANS_DROPPED: Definition = counter(
    "causeway_trace_spans_dropped_total",
    &[],
    "Spans lost because the queue was full or the collector refused them.",
);
pub const DATA_AVAILABLE: Definition = gauge(
    "causeway_data_available_bytes",
    "Space that is free for Causeway on the disk of the data folder.",
);
pub const DATA_SIZE: Definition = gauge("causeway_data_size_bytes", "Size of the disk of the data folder.");
pub const PROCESS_CPU: Definition = counter(
    "process_cpu_seconds_total",
    &[],
    "CPU time of the process in user and system mode.",
);
pub const PROCESS_RESIDENT: Definition =
    gauge("process_resident_memory_bytes", "Memory of the process in RAM.");
pub const PROCESS_VIRTUAL: Definition =
    gauge("process_virtual_memory_bytes", "Address space of the process.");
pub const PROCESS_FDS: Definition = gauge("process_open_fds", "Open file descriptors.");
pub const PROCESS_MAX_FDS: Definition = gauge("process_max_fds", "Limit on open file descriptors.");
pub const PROCESS_START: Definition = gauge(
    "process_start_time_seconds",
    "Start of the process, in seconds since the Unix epoch.",
);

/// All metrics, in the order of the documentation.
pub const ALL: [Definition; 61] = [
    REQUESTS,
    REQUEST_SECONDS,
    REFUSALS,
    PASSWORD_HASHES,
    READY,
    WRITE_READY,
    CLOCK_SKEW,
    BUILD_INFO,
    STORE_AGE,
    POOL_CONNECTIONS,
    POOL_IDLE,
    POOL_WAITING,
    LOCK_WAITS,
    NONPROFITS,
    OVERLAY,
    DIRECTORY_REVISION,
    STORE_REVISION,
    SNAPSHOT_REVISION,
    SNAPSHOT_AGE,
    SNAPSHOT_BUILD,
    DONATIONS,
    DONATED_CENTS,
    REFUNDS,
    REFUNDED_CENTS,
    UNRECONCILED,
    OWED,
    OLDEST_UNPAID,
    OUTDATED_LISTS,
    EVENTS_WAITING,
    DECLINED,
    HELD,
    LET_THROUGH,
    DISPUTES_UNANSWERED,
    MONTHLY_ACTIVE,
    MONTHLY_PAST_DUE,
    EMAILS_WAITING,
    EMAILS_SENT,
    EMAILS_FAILED,
    WEBHOOKS_DELIVERED,
    WEBHOOKS_FAILED,
    WEBHOOK_BACKLOG_AGE,
    WEBHOOK_ENDPOINTS_FAILING,
    WEBHOOK_ENDPOINTS_DISABLED,
    ANCHOR_AGE,
    ANCHOR_MISSING,
    ANCHOR_PLACES_FAILING,
    RECEIPT_DIFFERENCES,
    BACKUP_AGE,
    REDIS_UP,
    LOCAL_LIMIT_DECISIONS,
    BLOB_ERRORS,
    SPANS_EXPORTED,
    SPANS_DROPPED,
    DATA_AVAILABLE,
    DATA_SIZE,
    PROCESS_CPU,
    PROCESS_RESIDENT,
    PROCESS_VIRTUAL,
    PROCESS_FDS,
    PROCESS_MAX_FDS,
    PROCESS_START,
];
