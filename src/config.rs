//! Loads the settings from built-in defaults, a file, the environment and flags.
//!
//! The settings structs belong to the crates that read them; this module assembles and checks them.

pub mod export;
pub mod security_contact;

use crate::config::security_contact::SecurityContact;
use access::accounts::{AccountSettings, SignUp};
use access::keys::Limits;
use access::origins::settings::{AllowPrivate, OriginSettings};
use anyhow::{Context, bail};
use config::{Environment, File, FileFormat, Map, Source, Value, ValueKind};
use directory::DirectorySettings;
use giving::fundraisers::review::FundraiserSettings;
use giving::ledger::anchors::AnchorSettings;
use giving::ledger::outbox::OutboxSettings;
use giving::payments::CheckoutSettings;
use giving::payments::provider::{Provider, ProviderSettings};
use ipnet::IpNet;
use listener::{ServeSettings, parse_network};
use platform::email_address::domain_to_ascii;
use platform::mail::{Delivery, MailSettings};
use platform::public_url::PublicUrl;
use platform::redis::{RedisSettings, Servers};
use platform::secret;
use platform::settings::{APPLICATION_NAME, DatabaseSettings};
use secrecy::SecretString;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that documents every setting and gives its default.
pub const DEFAULTS: &str = include_str!("../config.default.toml");

/// The prefix of environment variables that are settings.
const VARIABLE_PREFIX: &str = "CAUSEWAY_";
/// The prefix of variables of the test suite, which the servers it starts inherit.
const TEST_PREFIX: &str = "CAUSEWAY_TEST_";

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
    pub directory: DirectorySettings,
    pub import: ImportSettings,
    pub search: SearchSettings,
    pub log: LogSettings,
    pub telemetry: TelemetrySettings,
    pub accounts: AccountSettings,
    pub mail: MailSettings,
    pub giving: Provider,
    pub checkout: CheckoutSettings,
    pub fundraisers: FundraiserSettings,
    pub origins: OriginSettings,
    pub outbox: OutboxSettings,
    pub anchors: AnchorSettings,
    pub security_contact: SecurityContact,
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

/// How searches are cached.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// The size of the cache, in bytes.
    pub recent_answers: usize,
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

/// The settings from the command line, which override the file and the environment.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub config: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub listen: Option<String>,
    pub metrics_listen: Option<String>,
    pub database_url: Option<String>,
    pub public_url: Option<String>,
}

/// The settings as they are written.
#[derive(Deserialize)]
struct RawConfig {
    data: PathBuf,
    listen: String,
    metrics_listen: String,
    public_url: String,
    database_url: String,
    redis_url: String,
    blobs_url: String,
    secret_file: String,
    limits: Limits,
    serve: RawServe,
    database: RawDatabase,
    redis: RawRedis,
    directory: RawDirectory,
    import: RawImport,
    search: RawSearch,
    log: RawLog,
    telemetry: RawTelemetry,
    accounts: RawAccounts,
    mail: RawMail,
    giving: ProviderSettings,
    checkout: CheckoutSettings,
    fundraisers: FundraiserSettings,
    origins: RawOrigins,
    outbox: OutboxSettings,
    anchors: AnchorSettings,
    security_contact: SecurityContact,
}

#[derive(Deserialize)]
struct RawAccounts {
    sign_up: SignUp,
    mail_domains: Vec<String>,
}

#[derive(Deserialize)]
struct RawOrigins {
    allow_private: AllowPrivate,
    dns_server: String,
}

#[derive(Deserialize)]
struct RawMail {
    smtp_url: String,
    from: String,
}

#[derive(Deserialize)]
struct RawServe {
    header_timeout: f64,
    idle_timeout: f64,
    request_timeout: f64,
    write_timeout: f64,
    stop_timeout: f64,
    drain: f64,
    max_stale: f64,
    max_stale_reads: f64,
    max_connections: usize,
    max_connections_per_address: usize,
    max_unsent_bytes: usize,
    max_unsent_bytes_per_address: usize,
    max_streams_per_address: usize,
    max_body: usize,
    trusted_proxies: Vec<String>,
}

#[derive(Deserialize)]
struct RawDatabase {
    listen_url: String,
    connections: u32,
    acquire_timeout: f64,
    probe_timeout: f64,
}

#[derive(Deserialize)]
struct RawRedis {
    timeout: f64,
}

#[derive(Deserialize)]
struct RawSearch {
    recent_answers: usize,
}

#[derive(Deserialize)]
struct RawDirectory {
    poll_interval: u64,
    overlay_limit: usize,
    build_lease: f64,
}

#[derive(Deserialize)]
struct RawImport {
    irs_url: String,
    teos_url: String,
    timeout: f64,
    retry_delay: f64,
}

#[derive(Deserialize)]
struct RawTelemetry {
    otlp_endpoint: String,
    sample_ratio: f64,
}

#[derive(Deserialize)]
struct RawLog {
    format: LogFormat,
    filter: String,
    requests: LoggedRequests,
}

impl Config {
    /// Loads the settings: each source overrides the one before it (defaults, file, environment, flags).
    pub fn load(overrides: &Overrides) -> anyhow::Result<Config> {
        Ok(Config::load_with_values(overrides)?.0)
    }

    /// Loads the settings, and returns them also as they are written, so that a reload can tell what changed.
    pub fn load_with_values(overrides: &Overrides) -> anyhow::Result<(Config, SettingValues)> {
        let invalid = "a setting is invalid; config.default.toml shows the format of every setting";
        let built = read_sources(overrides)?;
        let values = SettingValues::new(&built.collect().context(invalid)?);
        let raw: RawConfig = built.try_deserialize().context(invalid)?;
        Ok((Config::check(raw)?, values))
    }

    /// Returns the default settings for tests, with a data folder in `folder`, a port that the system picks, and the test
    /// provider.
    pub fn for_tests(folder: &Path) -> Config {
        let config = Config::load(&Overrides {
            data: Some(folder.join("data")),
            listen: Some("127.0.0.1:0".to_owned()),
            metrics_listen: Some("off".to_owned()),
            public_url: Some("http://causeway.test".to_owned()),
            ..Overrides::default()
        })
        .expect("the defaults are valid");
        Config {
            giving: Provider::Test,
            ..config
        }
    }

    /// Returns the settings with the address that the server listens on, which differs if the port was 0.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr) -> Config {
        if self.public_url == format!("http://{}", self.listen) {
            self.public_url = format!("http://{address}");
        }
        self.listen = address;
        self
    }

    fn check(raw: RawConfig) -> anyhow::Result<Config> {
        let listen = address("listen", &raw.listen)?;
        let metrics_listen = match raw.metrics_listen.as_str() {
            "off" => None,
            text => Some(address("metrics_listen", text)?),
        };
        let public_url = match raw.public_url.trim().trim_end_matches('/') {
            "" => format!("http://{listen}"),
            url if url.starts_with("http://") || url.starts_with("https://") => url.to_owned(),
            url => bail!("public_url is {url:?}; it must begin with http:// or https://"),
        };
        let giving = raw.giving.resolve(&PublicUrl::new(&public_url))?;
        let serve = ServeSettings {
            header_timeout: seconds("serve.header_timeout", raw.serve.header_timeout)?,
            idle_timeout: seconds("serve.idle_timeout", raw.serve.idle_timeout)?,
            request_timeout: seconds("serve.request_timeout", raw.serve.request_timeout)?,
            write_timeout: seconds("serve.write_timeout", raw.serve.write_timeout)?,
            stop_timeout: seconds("serve.stop_timeout", raw.serve.stop_timeout)?,
            max_connections: raw.serve.max_connections,
            max_connections_per_address: raw.serve.max_connections_per_address,
            max_unsent_bytes: raw.serve.max_unsent_bytes,
            max_unsent_bytes_per_address: raw.serve.max_unsent_bytes_per_address,
            max_streams_per_address: raw.serve.max_streams_per_address,
            trusted_proxies: networks(&raw.serve.trusted_proxies)?,
        };
        let availability = availability(&raw.serve, serve.stop_timeout)?;
        let mail = mail(&raw.mail)?;
        let is_postgres = |url: &str| url.starts_with("postgres://") || url.starts_with("postgresql://");
        let url = raw.database_url.trim();
        if !url.is_empty() && !is_postgres(url) {
            bail!(
                "database_url is not a PostgreSQL URL; set it to postgres://user:password@host/database, or leave it empty for SQLite"
            );
        }
        let listen_url = raw.database.listen_url.trim();
        if !listen_url.is_empty() && !is_postgres(listen_url) {
            bail!(
                "database.listen_url is not a PostgreSQL URL; set it to postgres://user:password@host/database, or leave it empty to use database_url"
            );
        }
        Ok(Config {
            secret_file: match raw.secret_file.trim() {
                "" => raw.data.join(secret::FILE_NAME),
                path => path.into(),
            },
            data: raw.data,
            listen,
            metrics_listen,
            public_url,
            database: DatabaseSettings {
                url: (!url.is_empty()).then(|| SecretString::from(url)),
                listen_url: (!listen_url.is_empty()).then(|| SecretString::from(listen_url)),
                application_name: APPLICATION_NAME.to_owned(),
                connections: raw.database.connections.max(1),
                acquire_timeout: seconds("database.acquire_timeout", raw.database.acquire_timeout)?,
                probe_timeout: seconds("database.probe_timeout", raw.database.probe_timeout)?,
            },
            redis: redis(raw.redis_url.trim(), &raw.redis)?,
            blobs_url: raw.blobs_url.trim().to_owned(),
            limits: raw.limits,
            serve,
            availability,
            max_body: raw.serve.max_body,
            directory: DirectorySettings {
                poll_interval: Duration::from_millis(raw.directory.poll_interval.max(10)),
                overlay_limit: raw.directory.overlay_limit,
                build_lease: seconds("directory.build_lease", raw.directory.build_lease)?,
            },
            import: import(&raw.import)?,
            search: SearchSettings {
                recent_answers: raw.search.recent_answers.saturating_mul(1 << 20),
            },
            log: LogSettings {
                format: raw.log.format,
                filter: raw.log.filter,
                requests: raw.log.requests,
            },
            telemetry: telemetry(&raw.telemetry, standard_endpoint())?,
            accounts: accounts(&raw.accounts, &mail)?,
            mail,
            giving,
            checkout: raw.checkout,
            fundraisers: raw.fundraisers,
            origins: OriginSettings {
                allow_private: raw.origins.allow_private,
                dns_server: match raw.origins.dns_server.as_str() {
                    "" => None,
                    text => Some(address("origins.dns_server", text)?),
                },
            },
            outbox: raw.outbox,
            anchors: anchors(&raw.anchors)?,
            security_contact: raw.security_contact,
        })
    }
}

/// Merges the sources of settings: defaults, file, environment, flags.
fn read_sources(overrides: &Overrides) -> anyhow::Result<config::Config> {
    let mut sources = config::Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
    if let Some(path) = &overrides.config {
        if !path.is_file() {
            bail!("there is no settings file {}; check --config", path.display());
        }
        let file = File::from(path.as_path()).format(FileFormat::Toml);
        reject_unknown(&file, path)?;
        sources = sources.add_source(file);
    }
    let environment = Environment::with_prefix("CAUSEWAY")
        .prefix_separator("_")
        .separator("__")
        .list_separator(",")
        .with_list_parse_key("serve.trusted_proxies")
        .with_list_parse_key("accounts.mail_domains")
        .try_parsing(true);
    sources = sources.add_source(environment);
    let flags = [
        (
            "data",
            overrides.data.as_ref().map(|path| path.display().to_string()),
        ),
        ("listen", overrides.listen.clone()),
        ("metrics_listen", overrides.metrics_listen.clone()),
        ("database_url", overrides.database_url.clone()),
        ("public_url", overrides.public_url.clone()),
    ];
    for (name, value) in flags {
        sources = sources.set_override_option(name, value)?;
    }
    sources
        .build()
        .context("a setting is invalid; config.default.toml shows the format of every setting")
}

/// The values of all settings as they are written, by name. Some are secrets, so this cannot be printed.
pub struct SettingValues(BTreeMap<String, String>);

impl SettingValues {
    fn new(table: &Map<String, Value>) -> SettingValues {
        let mut values = BTreeMap::new();
        add_values(table, "", &mut values);
        SettingValues(values)
    }

    /// Returns the value of a setting.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns the names of the settings whose values differ in `other`.
    pub fn changed_in(&self, other: &SettingValues) -> Vec<String> {
        let known = known_settings().into_iter();
        known.filter(|name| self.get(name) != other.get(name)).collect()
    }

    /// Copies the value of a setting.
    pub fn copy_from(&mut self, other: &SettingValues, name: &str) {
        self.0.insert(name.to_owned(), other.get(name).to_owned());
    }
}

/// Adds the values in a table with their dotted names.
fn add_values(table: &Map<String, Value>, prefix: &str, values: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        match &value.kind {
            ValueKind::Table(inner) => add_values(inner, &format!("{prefix}{name}."), values),
            _ => _ = values.insert(format!("{prefix}{name}"), value.to_string()),
        }
    }
}

/// Returns the names of all settings, such as `limits.search`.
fn known_settings() -> Vec<String> {
    let defaults = File::from_str(DEFAULTS, FileFormat::Toml);
    setting_names(&defaults.collect().expect("the defaults are valid TOML"))
}

/// Returns the dotted names of all values in a table.
fn setting_names(table: &Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in table {
        match &value.kind {
            ValueKind::Table(inner) => {
                names.extend(
                    setting_names(inner)
                        .into_iter()
                        .map(|inner| format!("{name}.{inner}")),
                );
            }
            _ => names.push(name.clone()),
        }
    }
    names.sort_unstable();
    names
}

/// Fails if a file contains an unknown setting, so that typos are not silently ignored.
fn reject_unknown(file: &impl Source, path: &Path) -> anyhow::Result<()> {
    let table = file.collect().with_context(|| {
        format!(
            "cannot read the settings file {}; check that it is valid TOML",
            path.display()
        )
    })?;
    let known = known_settings();
    let mut unknown = setting_names(&table);
    unknown.retain(|name| !known.contains(name));
    let file = path.display();
    match unknown.as_slice() {
        [] => Ok(()),
        [name] => match nearest(name, &known) {
            Some(nearest) => bail!("{file}: unknown setting {name}; did you mean {nearest}?"),
            None => bail!("{file}: unknown setting {name}; config.default.toml lists every setting"),
        },
        several => {
            let described = several.iter().map(|name| match nearest(name, &known) {
                Some(nearest) => format!("{name} (did you mean {nearest}?)"),
                None => name.clone(),
            });
            let described = described.collect::<Vec<_>>().join(", ");
            bail!("{file}: unknown settings {described}; config.default.toml lists every setting")
        }
    }
}

/// Returns the most similar known name, if one is similar enough.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let candidates = known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate));
    let (similarity, nearest) = candidates.max_by(|(left, _), (right, _)| left.total_cmp(right))?;
    (similarity > 0.8).then_some(nearest)
}

/// Returns warnings about the environment variables of this process.
pub fn environment_warnings() -> Vec<String> {
    unknown_variables(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

/// Returns a warning for each `CAUSEWAY_` variable that is not a setting.
///
/// Unlike unknown settings in a file, they do not stop the server: orchestrators add variables of their own.
fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let known = known_settings();
    let variables = names.filter(|name| name.starts_with(VARIABLE_PREFIX) && !name.starts_with(TEST_PREFIX));
    let mut warnings: Vec<String> = variables
        .filter_map(|variable| {
            let name = variable[VARIABLE_PREFIX.len()..]
                .to_lowercase()
                .replace("__", ".");
            if known.contains(&name) {
                return None;
            }
            Some(match nearest(&name, &known) {
                Some(nearest) => {
                    let nearest = nearest.to_uppercase().replace('.', "__");
                    format!("unknown variable {variable}; did you mean {VARIABLE_PREFIX}{nearest}?")
                }
                None => format!("unknown variable {variable}; config.default.toml lists every setting"),
            })
        })
        .collect();
    warnings.sort_unstable();
    warnings
}

fn address(name: &str, text: &str) -> anyhow::Result<SocketAddr> {
    text.parse().with_context(|| {
        format!("{name} is {text:?}; set it to an address and a port, such as 127.0.0.1:8080")
    })
}

fn seconds(name: &str, value: f64) -> anyhow::Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => bail!("{name} is {value}; set it to a number of seconds greater than zero"),
    }
}

fn redis(url: &str, raw: &RawRedis) -> anyhow::Result<RedisSettings> {
    if !url.is_empty() {
        Servers::parse(url)?;
    }
    Ok(RedisSettings {
        url: (!url.is_empty()).then(|| SecretString::from(url)),
        timeout: seconds("redis.timeout", raw.timeout)?,
    })
}

/// Parses a number of seconds that may be zero.
fn seconds_or_zero(name: &str, value: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| anyhow::anyhow!("{name} is {value}; set it to a number of seconds, or 0"))
}

fn availability(raw: &RawServe, stop_timeout: Duration) -> anyhow::Result<AvailabilitySettings> {
    let settings = AvailabilitySettings {
        drain: seconds_or_zero("serve.drain", raw.drain)?,
        max_stale: seconds("serve.max_stale", raw.max_stale)?,
        max_stale_reads: seconds("serve.max_stale_reads", raw.max_stale_reads)?,
    };
    if settings.drain >= stop_timeout {
        bail!(
            "serve.drain is {}, but it must be less than serve.stop_timeout ({}); set a shorter drain or a longer stop_timeout",
            raw.drain,
            raw.stop_timeout
        );
    }
    if settings.max_stale_reads < settings.max_stale {
        bail!(
            "serve.max_stale_reads is {}, less than serve.max_stale ({}); set it to a longer time",
            raw.max_stale_reads,
            raw.max_stale
        );
    }
    Ok(settings)
}

fn mail(raw: &RawMail) -> anyhow::Result<MailSettings> {
    let delivery = match raw.smtp_url.trim() {
        "" => Delivery::Folder,
        "off" => Delivery::Off,
        url if url.starts_with("smtp://") || url.starts_with("smtps://") => {
            Delivery::Smtp(SecretString::from(url))
        }
        _ => bail!(
            "mail.smtp_url is not the URL of an SMTP server; set it to smtps://user:password@host, or off"
        ),
    };
    let from = raw.from.parse().map_err(|_| {
        anyhow::anyhow!(
            "mail.from is {:?}; set it to a sender such as Causeway <no-reply@example.org>",
            raw.from
        )
    })?;
    Ok(MailSettings { delivery, from })
}

fn import(raw: &RawImport) -> anyhow::Result<ImportSettings> {
    let url = |name: &str, url: &str| {
        let url = url.trim().trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            bail!("import.{name} is {url:?}; it must begin with http:// or https://");
        }
        Ok(url.to_owned())
    };
    Ok(ImportSettings {
        irs_url: url("irs_url", &raw.irs_url)?,
        teos_url: url("teos_url", &raw.teos_url)?,
        timeout: seconds("import.timeout", raw.timeout)?,
        retry_delay: seconds("import.retry_delay", raw.retry_delay)?,
    })
}

fn anchors(raw: &AnchorSettings) -> anyhow::Result<AnchorSettings> {
    let url = raw.second_url.trim();
    let is_known = ["/", "file:///", "s3://"]
        .iter()
        .any(|start| url.starts_with(start));
    if !url.is_empty() && !is_known {
        bail!(
            "anchors.second_url is {url:?}; set it to a folder such as /mnt/anchors, to s3://bucket/prefix, or leave it empty"
        );
    }
    Ok(AnchorSettings {
        second_url: url.to_owned(),
    })
}

/// Returns the endpoint in the variable that all OpenTelemetry programs read.
fn standard_endpoint() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "this module reads the settings")]
    std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok()
}

/// `standard` is used if the setting is empty. "off" turns traces off in any case.
fn telemetry(raw: &RawTelemetry, standard: Option<String>) -> anyhow::Result<TelemetrySettings> {
    let endpoint = match raw.otlp_endpoint.trim() {
        "" => standard.unwrap_or_default(),
        text => text.to_owned(),
    };
    let otlp_endpoint = match endpoint.trim().trim_end_matches('/') {
        "" | "off" => None,
        url if url.starts_with("http://") || url.starts_with("https://") => Some(url.to_owned()),
        url => bail!(
            "telemetry.otlp_endpoint is {url:?}; set it to the URL of an OpenTelemetry collector, such as http://localhost:4318"
        ),
    };
    if !(0.0..=1.0).contains(&raw.sample_ratio) {
        bail!(
            "telemetry.sample_ratio is {}; set it to a number from 0 to 1",
            raw.sample_ratio
        );
    }
    Ok(TelemetrySettings {
        otlp_endpoint,
        sample_ratio: raw.sample_ratio,
    })
}

fn accounts(raw: &RawAccounts, mail: &MailSettings) -> anyhow::Result<AccountSettings> {
    let mail_domains: Vec<String> = raw
        .mail_domains
        .iter()
        .map(|domain| domain.trim())
        .filter(|domain| !domain.is_empty())
        .map(|domain| domain_to_ascii(domain).unwrap_or_else(|| domain.to_lowercase()))
        .collect();
    if !mail_domains.is_empty() && matches!(mail.delivery, Delivery::Off) {
        bail!("accounts.mail_domains requires email to confirm addresses; set mail.smtp_url");
    }
    Ok(AccountSettings {
        sign_up: raw.sign_up,
        mail_domains,
    })
}

fn networks(raw: &[String]) -> anyhow::Result<Vec<IpNet>> {
    let parse = |text: &String| {
        let invalid = || {
            format!(
                "serve.trusted_proxies contains {text:?}; use addresses or networks, such as ::1 or 10.0.0.0/8"
            )
        };
        parse_network(text).map_err(|_| anyhow::anyhow!(invalid()))
    };
    raw.iter()
        .filter(|text| !text.trim().is_empty())
        .map(parse)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        let config = Config::load(&Overrides::default()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.public_url, "http://127.0.0.1:8080");
        assert_eq!(config.limits.search, 500);
        assert!(config.database.url.is_none());
    }

    #[test]
    fn flags_override_the_file_and_the_file_overrides_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.toml");
        std::fs::write(&file, "listen = \"127.0.0.1:9000\"\n[limits]\nsearch = 7\n").unwrap();
        let overrides = Overrides {
            config: Some(file),
            listen: Some("127.0.0.1:9001".to_owned()),
            ..Overrides::default()
        };
        let config = Config::load(&overrides).unwrap();
        assert_eq!(config.listen.port(), 9001);
        assert_eq!((config.limits.search, config.limits.details), (7, 100));
    }

    #[test]
    fn the_provider_follows_from_the_public_url_unless_it_is_set() {
        let load = |public_url: &str| {
            let overrides = Overrides {
                public_url: Some(public_url.to_owned()),
                ..Overrides::default()
            };
            Config::load(&overrides).unwrap().giving
        };
        assert_eq!(
            Config::load(&Overrides::default()).unwrap().giving,
            Provider::Test
        );
        assert_eq!(load("http://localhost:8080/"), Provider::Test);
        for public in [
            "https://giving.example.org",
            "http://giving.example.org",
            "https://localhost",
        ] {
            assert_eq!(load(public), Provider::Off, "{public}");
        }
        let everywhere = load_file("listen = \"0.0.0.0:8080\"").unwrap();
        assert_eq!(everywhere.giving, Provider::Off);
        let link = "[giving]\nprovider = \"link\"\nlink = \"https://pay.example.org\"\n";
        let link = load_file(link).unwrap().giving;
        assert_eq!(link, Provider::Link("https://pay.example.org".to_owned()));
        for (provider, expected) in [
            ("stripe", "not available yet"),
            ("sandbox", "auto, off, test or link"),
        ] {
            let error = load_file(&format!("[giving]\nprovider = \"{provider}\"\n")).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
    }

    #[test]
    fn traces_go_to_the_setting_or_to_the_standard_variable() {
        let endpoint = |setting: &str, standard: Option<&str>| {
            let raw = RawTelemetry {
                otlp_endpoint: setting.to_owned(),
                sample_ratio: 1.0,
            };
            telemetry(&raw, standard.map(str::to_owned)).map(|telemetry| telemetry.otlp_endpoint)
        };
        let standard = Some("http://standard:4318/");
        assert_eq!(endpoint("", None).unwrap(), None);
        assert_eq!(endpoint("off", standard).unwrap(), None);
        assert_eq!(
            endpoint("", standard).unwrap().as_deref(),
            Some("http://standard:4318")
        );
        let own = endpoint("https://own", standard).unwrap();
        assert_eq!(own.as_deref(), Some("https://own"));
        assert!(endpoint("localhost:4318", None).is_err());
        let ratio = load_file("[telemetry]\nsample_ratio = 1.5\n").unwrap_err();
        assert!(format!("{ratio:#}").contains("telemetry.sample_ratio is 1.5"));
    }

    fn load_file(text: &str) -> anyhow::Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.toml");
        std::fs::write(&file, text).unwrap();
        Config::load(&Overrides {
            config: Some(file),
            ..Overrides::default()
        })
    }

    #[test]
    fn a_drain_is_shorter_than_the_stop_and_reads_last_longer_than_writes() {
        let availability = load_file("[serve]\ndrain = 0\n").unwrap().availability;
        assert_eq!(availability.drain, Duration::ZERO);
        for (text, name) in [
            ("drain = 14", "serve.drain"),
            ("drain = -1", "serve.drain"),
            ("stop_timeout = 5", "serve.drain"),
            ("max_stale = 0", "serve.max_stale"),
            ("max_stale_reads = 29", "serve.max_stale_reads"),
        ] {
            let error = load_file(&format!("[serve]\n{text}\n")).unwrap_err();
            assert!(error.to_string().starts_with(name), "{error:#}");
        }
    }

    #[test]
    fn only_changed_settings_are_named() {
        let values = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("own.toml");
            std::fs::write(&file, text).unwrap();
            let overrides = Overrides {
                config: Some(file),
                ..Overrides::default()
            };
            Config::load_with_values(&overrides).unwrap().1
        };
        let mut before = values("[limits]\nsearch = 7\n");
        let after = values("listen = \"127.0.0.1:9000\"\n[limits]\nsearch = 8\nbrowse = 500\n");
        assert_eq!(before.changed_in(&after), ["limits.search", "listen"]);
        assert_eq!(
            (before.get("limits.search"), after.get("limits.search")),
            ("7", "8")
        );
        before.copy_from(&after, "limits.search");
        assert_eq!(before.changed_in(&after), ["listen"]);
    }

    #[test]
    fn an_unknown_setting_is_rejected_with_a_suggestion() {
        for (text, expected) in [
            (
                "[limits]\nserch = 7\n",
                "unknown setting limits.serch; did you mean limits.search?",
            ),
            (
                "listn = \"127.0.0.1:9000\"\n",
                "unknown setting listn; did you mean listen?",
            ),
            (
                "[mail]\nsmtp = \"off\"\n",
                "unknown setting mail.smtp; did you mean mail.smtp_url?",
            ),
            ("xyzzy = 1\n", "unknown setting xyzzy; config.default.toml lists"),
            (
                "[limits]\nserch = 7\nbrows = 8\n",
                "unknown settings limits.brows (did you mean limits.browse?), limits.serch (did you mean limits.search?);",
            ),
        ] {
            let error = format!("{:#}", load_file(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(
            load_file("[serve]\ntrusted_proxies = [\"::1\"]\n")
                .unwrap()
                .serve
                .trusted_proxies
                .len(),
            1
        );
    }

    #[test]
    fn only_unknown_variables_cause_warnings() {
        let names = [
            "CAUSEWAY_LIMITS__SERCH",
            "CAUSEWAY_LISTEN",
            "CAUSEWAY_LIMITS__SEARCH",
            "CAUSEWAY_TEST_X",
            "PATH",
        ];
        let warnings = unknown_variables(names.into_iter().map(str::to_owned));
        assert_eq!(
            warnings,
            ["unknown variable CAUSEWAY_LIMITS__SERCH; did you mean CAUSEWAY_LIMITS__SEARCH?"]
        );
    }

    #[test]
    fn a_redis_url_with_another_scheme_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.toml");
        let load = |url: &str| {
            std::fs::write(&file, format!("redis_url = \"{url}\"\n")).unwrap();
            Config::load(&Overrides {
                config: Some(file.clone()),
                ..Overrides::default()
            })
        };
        assert!(load("").unwrap().redis.url.is_none());
        assert!(
            load("rediss://:hunter2@redis.example.org")
                .unwrap()
                .redis
                .url
                .is_some()
        );
        let error = load("memcached://:hunter2@redis.example.org")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("redis_url begins with \"memcached\"://"),
            "{error}"
        );
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn an_invalid_setting_is_named_in_the_error() {
        for (overrides, name) in [
            (
                Overrides {
                    listen: Some("here".to_owned()),
                    ..Overrides::default()
                },
                "listen",
            ),
            (
                Overrides {
                    public_url: Some("ftp://x".to_owned()),
                    ..Overrides::default()
                },
                "public_url",
            ),
            (
                Overrides {
                    database_url: Some("mysql://x".to_owned()),
                    ..Overrides::default()
                },
                "database_url",
            ),
            (
                Overrides {
                    config: Some("missing.toml".into()),
                    ..Overrides::default()
                },
                "missing.toml",
            ),
        ] {
            let error = Config::load(&overrides).unwrap_err();
            assert!(format!("{error:#}").contains(name), "{error:#}");
        }
    }
}
