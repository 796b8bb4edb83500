//! The tables of a store, in one place for whatever has to treat all of them alike.

/// Every table whose rows belong to the store, each after the tables that it refers to.
pub const TABLES: &[&str] = &[
    "revisions",
    "revision_tokens",
    "store",
    "nonprofits",
    "former_slugs",
    "profiles",
    "imports",
    "import_files",
    "import_failures",
    "directory_changes",
    "returns",
    "return_profiles",
    "publication_78",
    "revocations",
    "epostcards",
    "nonprofit_history",
    "changes_without_ein",
    "accounts",
    "keys",
    "key_limits",
    "recent_calls",
    "key_usage",
    "key_usage_days",
    "audit",
    "sessions",
    "mail_links",
    "two_factor",
    "recovery_codes",
    "fundraisers",
    "fundraiser_nonprofits",
    "fundraiser_history",
    "ledger_head",
    "ledger_entries",
    "ledger_postings",
    "ledger_checkpoint",
    "ledger_anchor",
    "accepted_anchors",
    "donor_names",
    "outbox",
    "idempotency_keys",
    "pictures",
    "account_pictures",
    "donations",
    "provider_events",
    "refund_requests",
    "disputes",
    "payment_differences",
    "reconciliations",
    "partner_origins",
    "reports",
    "mail_queue",
    "backups",
];

/// Tables that belong to one database, not to the store in it: the migrations that ran there, and what its servers are
/// doing at the moment.
pub const LEFT_OUT: &[&str] = &["_sqlx_migrations", "leases"];

/// Tables in which a migration inserts rows.
pub const SEEDED: &[&str] = &["revisions", "revision_tokens", "ledger_head", "ledger_anchor"];
