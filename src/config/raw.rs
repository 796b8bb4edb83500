//! The settings as they are written, before they are checked.

use crate::config::security_contact::SecurityContact;
use crate::config::settings::{CompatSettings, LogFormat, LoggedRequests};
use access::accounts::SignUp;
use access::claims::settings::ClaimSettings;
use access::keys::Limits;
use access::origins::settings::AllowPrivate;
use giving::checkout::CheckoutSettings;
use giving::fundraisers::review::FundraiserSettings;
use giving::ledger::anchors::AnchorSettings;
use giving::ledger::outbox::OutboxSettings;
use giving::webhooks::WebhookSettings;
use platform::hosted::PictureSettings;
use serde::Deserialize;
use std::path::PathBuf;

/// All settings.
#[derive(Deserialize)]
pub(super) struct RawConfig {
    pub data: PathBuf,
    pub listen: String,
    pub metrics_listen: String,
    pub public_url: String,
    pub database_url: String,
    pub redis_url: String,
    pub blobs_url: String,
    pub secret_file: String,
    pub limits: Limits,
    pub serve: RawServe,
    pub database: RawDatabase,
    pub redis: RawRedis,
    pub directory: RawDirectory,
    pub import: RawImport,
    pub search: RawSearch,
    pub site: RawSite,
    pub log: RawLog,
    pub telemetry: RawTelemetry,
    pub accounts: RawAccounts,
    pub mail: RawMail,
    pub giving: RawGiving,
    pub recipient: RawRecipient,
    pub eligibility: RawEligibility,
    pub disburse: RawDisburse,
    pub stripe: RawStripe,
    pub checkout: CheckoutSettings,
    pub fundraisers: FundraiserSettings,
    pub pictures: PictureSettings,
    pub origins: RawOrigins,
    pub claims: ClaimSettings,
    pub webhooks: WebhookSettings,
    pub outbox: OutboxSettings,
    pub anchors: AnchorSettings,
    pub compat: CompatSettings,
    pub security_contact: SecurityContact,
}

#[derive(Deserialize)]
pub(super) struct RawGiving {
    pub provider: String,
    pub link: String,
    /// In cents.
    pub min_amount: i64,
    /// In cents.
    pub max_amount: i64,
    pub time_zone: String,
    pub fees_paid_by: String,
    pub fee: String,
    pub max_declines_per_card: u32,
    pub max_declines_per_address: u32,
    pub max_declines_per_nonprofit: u32,
    pub max_declines: u32,
    pub proof_bits: u32,
    pub statements: String,
    pub link_secret: String,
    pub link_secret_file: String,
}

#[derive(Deserialize)]
pub(super) struct RawRecipient {
    pub legal_name: String,
    pub ein: String,
    pub address: String,
}

#[derive(Deserialize)]
pub(super) struct RawEligibility {
    pub require: Vec<String>,
    pub max_age_days: u32,
    pub grace_days: u32,
}

#[derive(Deserialize)]
pub(super) struct RawDisburse {
    /// In cents.
    pub minimum: i64,
    pub hold_days: u32,
    pub change_hold_days: u32,
    pub max_days: u32,
    pub second_operator: bool,
    pub ach: RawAch,
}

#[derive(Deserialize)]
pub(super) struct RawAch {
    pub destination: String,
    pub origin: String,
    pub company_id: String,
    pub company_name: String,
}

#[derive(Deserialize)]
pub(super) struct RawStripe {
    pub secret_key: String,
    pub secret_key_file: String,
    pub webhook_secret: String,
    pub webhook_secret_file: String,
    pub connect_webhook_secret: String,
    pub connect_webhook_secret_file: String,
    pub payment_attempts: i64,
    pub account: String,
    pub api_base: String,
}

#[derive(Deserialize)]
pub(super) struct RawAccounts {
    pub sign_up: SignUp,
    pub mail_domains: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct RawSite {
    pub name: String,
    pub logo: String,
    pub accent_color: String,
    pub operator: String,
    pub contact_email: String,
    pub privacy_file: String,
    pub terms_file: String,
    pub about_file: String,
}

#[derive(Deserialize)]
pub(super) struct RawOrigins {
    pub allow_private: AllowPrivate,
    pub dns_server: String,
}

#[derive(Deserialize)]
pub(super) struct RawMail {
    pub smtp_url: String,
    pub from: String,
}

#[derive(Deserialize)]
pub(super) struct RawServe {
    pub header_timeout: f64,
    pub idle_timeout: f64,
    pub request_timeout: f64,
    pub write_timeout: f64,
    pub stop_timeout: f64,
    pub drain: f64,
    pub max_stale: f64,
    pub max_stale_reads: f64,
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    pub max_unsent_bytes: usize,
    pub max_body: usize,
    pub max_body_memory: usize,
    pub max_heavy_requests: usize,
    pub trusted_proxies: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct RawDatabase {
    pub listen_url: String,
    pub connections: u32,
    pub acquire_timeout: f64,
    pub probe_timeout: f64,
    pub statement_timeout: f64,
    pub lock_timeout: f64,
}

#[derive(Deserialize)]
pub(super) struct RawRedis {
    pub timeout: f64,
}

#[derive(Deserialize)]
pub(super) struct RawSearch {
    pub recent_answers: usize,
    pub by_meaning: bool,
}

#[derive(Deserialize)]
pub(super) struct RawDirectory {
    pub poll_interval: u64,
    pub overlay_limit: usize,
    pub build_lease: f64,
}

#[derive(Deserialize)]
pub(super) struct RawImport {
    pub irs_url: String,
    pub teos_url: String,
    pub timeout: f64,
    pub retry_delay: f64,
}

#[derive(Deserialize)]
pub(super) struct RawTelemetry {
    pub otlp_endpoint: String,
    pub sample_ratio: f64,
}

#[derive(Deserialize)]
pub(super) struct RawLog {
    pub format: LogFormat,
    pub filter: String,
    pub requests: LoggedRequests,
}
