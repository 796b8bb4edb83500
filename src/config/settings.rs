//! The validated settings of the server.
//!
//! The settings structs of a capability belong to its crate; those here are read by the entry points.

use crate::config::accent_color::AccentColor;
use crate::config::security_contact::SecurityContact;
use access::accounts::AccountSettings;
use access::claims::settings::ClaimSettings;
use access::keys::Limits;
use access::origins::settings::OriginSettings;
use directory::DirectorySettings;
use directory::eligibility::EligibilitySettings;
use giving::books::FeesPaidBy;
use giving::checkout::CheckoutSettings;
use giving::checkout::amounts::AmountLimits;
use giving::checkout::fee::Fee;
use giving::checkout::receipt::Donee;
use giving::disbursement::DisburseSettings;
use giving::fundraisers::review::FundraiserSettings;
use giving::guard::GuardSettings;
use giving::ledger::anchors::AnchorSettings;
use giving::ledger::outbox::OutboxSettings;
use giving::providers::Provider;
use giving::providers::stripe::settings::StripeSettings;
use giving::webhooks::WebhookSettings;
use jiff::tz::TimeZone;
use listener::ServeSettings;
use platform::hosted::PictureSettings;
use platform::mail::MailSettings;
use platform::redis::RedisSettings;
use platform::settings::DatabaseSettings;
use secrecy::SecretString;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// All settings, validated.
#[derive(Clone, Debug)]
pub struct Config {
    pub data: PathBuf,
    pub listen: SocketAddr,
    pub metrics_listen: Option<SocketAddr>,
    /// Without a trailing slash.
    pub public_url: String,
    pub database: DatabaseSettings,
    /// Redis, in which several servers share their limits.
    pub redis: RedisSettings,
    /// Empty for a folder in the data folder.
    pub blobs_url: String,
    /// The file of the store's secret.
    pub secret_file: PathBuf,
    pub limits: Limits,
    pub serve: ServeSettings,
    pub availability: AvailabilitySettings,
    pub max_body: usize,
    pub admission: AdmissionSettings,
    pub directory: DirectorySettings,
    pub import: ImportSettings,
    pub search: SearchSettings,
    pub site: SiteSettings,
    pub log: LogSettings,
    pub telemetry: TelemetrySettings,
    pub accounts: AccountSettings,
    pub mail: MailSettings,
    pub giving: Provider,
    pub stripe: StripeSettings,
    /// The secret of the processor behind the payment link. Empty if it reports nothing.
    pub link_secret: SecretString,
    /// The nonprofit to which donations by Stripe are made.
    pub recipient: Option<Donee>,
    /// The fee of Stripe that donors can cover.
    pub fee: Fee,
    /// Who pays the fees of Stripe.
    pub fees_paid_by: FeesPaidBy,
    /// What a nonprofit needs to receive donations.
    pub eligibility: EligibilitySettings,
    /// When nonprofits are paid, and how.
    pub disburse: DisburseSettings,
    /// Whether donors get an email with their yearly statement in January.
    pub yearly_statements: bool,
    /// When donors are asked to prove that they do not try out stolen cards.
    pub guard: GuardSettings,
    /// The amounts that people can give.
    pub amounts: AmountLimits,
    /// The time zone of the operator, for the dates of receipts and books.
    pub time_zone: TimeZone,
    pub checkout: CheckoutSettings,
    pub fundraisers: FundraiserSettings,
    pub pictures: PictureSettings,
    pub origins: OriginSettings,
    pub claims: ClaimSettings,
    pub webhooks: WebhookSettings,
    pub outbox: OutboxSettings,
    pub anchors: AnchorSettings,
    pub compat: CompatSettings,
    pub security_contact: SecurityContact,
}

/// What makes the site that of its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteSettings {
    pub name: String,
    /// A picture.
    pub logo: Option<PathBuf>,
    pub accent_color: Option<AccentColor>,
    /// Who runs the site. May be empty.
    pub operator: String,
    /// Where people can reach the operator. May be empty.
    pub contact_email: String,
    /// Markdown files that replace the default texts.
    pub privacy_file: Option<PathBuf>,
    pub terms_file: Option<PathBuf>,
    pub about_file: Option<PathBuf>,
}

impl Default for SiteSettings {
    fn default() -> SiteSettings {
        SiteSettings {
            name: "Causeway".to_owned(),
            logo: None,
            accent_color: None,
            operator: String::new(),
            contact_email: String::new(),
            privacy_file: None,
            terms_file: None,
            about_file: None,
        }
    }
}

/// The limits of what all requests together may cost.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionSettings {
    /// The maximum number of bytes of request bodies in memory.
    pub max_body_memory: usize,
    /// The maximum number of requests with heavy work in progress.
    pub max_heavy_requests: usize,
}

/// How a server stops, and what it answers while its store is unavailable.
#[derive(Clone, Copy, Debug)]
pub struct AvailabilitySettings {
    /// How long requests are served after SIGTERM, while load balancers notice that the server is not ready.
    pub drain: Duration,
    /// How long the store may be unavailable before the server is not ready and refuses private keys.
    pub max_stale: Duration,
    /// How long the store may be unavailable before the server refuses public keys.
    pub max_stale_reads: Duration,
}

/// Where the files of the IRS are downloaded from, and how.
#[derive(Clone, Debug)]
pub struct ImportSettings {
    /// The folder of the EO BMF files, without a trailing slash.
    pub irs_url: String,
    /// The folder of the lists and the returns, without a trailing slash.
    pub teos_url: String,
    /// How long a server may be silent.
    pub timeout: Duration,
    /// The pause after the first failure. Each further one takes twice as long.
    pub retry_delay: Duration,
}

/// What is done for clients that were written for the hosted service.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CompatSettings {
    /// Whether they can be used unchanged.
    pub existing_clients: bool,
}

/// How searches are answered and cached.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// The size of the cache, in bytes.
    pub recent_answers: usize,
    /// Whether kinds of nonprofits are found by the meaning of words.
    pub by_meaning: bool,
}

/// What is logged, and how.
#[derive(Clone, Debug)]
pub struct LogSettings {
    pub format: LogFormat,
    pub filter: String,
    pub requests: LoggedRequests,
}

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TelemetrySettings {
    /// The URL of an OpenTelemetry collector, without a trailing slash. `None`: no traces.
    pub otlp_endpoint: Option<String>,
    /// The fraction of the requests without a trace of their own that is traced.
    pub sample_ratio: f64,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Human,
    Json,
}

/// Which requests get a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoggedRequests {
    Failed,
    All,
}
