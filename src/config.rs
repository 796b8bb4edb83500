//! The settings: the defaults compiled in, then a file, then the environment, then flags.

use crate::access::accounts::{AccountSettings, SignUp};
use crate::access::keys::Limits;
use crate::directory::DirectorySettings;
use crate::giving::ledger::outbox::OutboxSettings;
use crate::giving::payments::provider::Provider;
use crate::platform::mail::{MailSettings, Way};
use crate::platform::settings::DatabaseSettings;
use crate::site::crawlers::SecurityContact;
use anyhow::{Context, bail};
use config::{Environment, File, FileFormat};
use ipnet::IpNet;
use listener::{ServeSettings, parse_network};
use secrecy::SecretString;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that documents every setting and gives its default.
pub const DEFAULTS: &str = include_str!("../config.default.toml");

/// All settings, checked.
#[derive(Clone, Debug)]
pub struct Config {
    pub data: PathBuf,
    pub listen: SocketAddr,
    pub metrics_listen: Option<SocketAddr>,
    /// Without a slash at its end.
    pub public_url: String,
    pub database: DatabaseSettings,
    /// Empty: a folder in the data folder.
    pub blobs_url: String,
    pub limits: Limits,
    pub serve: ServeSettings,
    pub max_body: usize,
    pub directory: DirectorySettings,
    pub search: SearchSettings,
    pub log: LogSettings,
    pub accounts: AccountSettings,
    pub mail: MailSettings,
    pub giving: Provider,
    pub outbox: OutboxSettings,
    pub security_contact: SecurityContact,
}

/// How searches are answered.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// Bytes of answers that are kept.
    pub recent_answers: usize,
}

/// What is logged, and how.
#[derive(Clone, Debug)]
pub struct LogSettings {
    pub format: LogFormat,
    pub filter: String,
    pub requests: LoggedRequests,
}

/// The form of a log line.
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

/// What the command line may set above file and environment.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub config: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub listen: Option<String>,
    pub metrics_listen: Option<String>,
    pub database_url: Option<String>,
    pub public_url: Option<String>,
}

/// The settings as written.
#[derive(Deserialize)]
struct Written {
    data: PathBuf,
    listen: String,
    metrics_listen: String,
    public_url: String,
    database_url: String,
    blobs_url: String,
    limits: Limits,
    serve: WrittenServe,
    database: WrittenDatabase,
    directory: WrittenDirectory,
    search: WrittenSearch,
    log: WrittenLog,
    accounts: WrittenAccounts,
    mail: WrittenMail,
    giving: Provider,
    outbox: OutboxSettings,
    security_contact: SecurityContact,
}

#[derive(Deserialize)]
struct WrittenAccounts {
    sign_up: SignUp,
    mail_domains: Vec<String>,
}

#[derive(Deserialize)]
struct WrittenMail {
    smtp_url: String,
    from: String,
}

#[derive(Deserialize)]
struct WrittenServe {
    header_timeout: f64,
    idle_timeout: f64,
    request_timeout: f64,
    write_timeout: f64,
    stop_timeout: f64,
    max_connections: usize,
    max_connections_per_address: usize,
    max_body: usize,
    trusted_proxies: Vec<String>,
}

#[derive(Deserialize)]
struct WrittenDatabase {
    connections: u32,
    acquire_timeout: f64,
}

#[derive(Deserialize)]
struct WrittenSearch {
    recent_answers: usize,
}

#[derive(Deserialize)]
struct WrittenDirectory {
    poll_interval: u64,
    overlay_limit: usize,
}

#[derive(Deserialize)]
struct WrittenLog {
    format: LogFormat,
    filter: String,
    requests: LoggedRequests,
}

impl Config {
    /// Reads the settings in rising order: defaults, file, environment, flags.
    pub fn load(overrides: &Overrides) -> anyhow::Result<Config> {
        let mut sources = config::Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
        if let Some(path) = &overrides.config {
            if !path.is_file() {
                bail!("there is no settings file {}; check --config", path.display());
            }
            sources = sources.add_source(File::from(path.as_path()).format(FileFormat::Toml));
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
        let written: Written = sources
            .build()
            .and_then(config::Config::try_deserialize)
            .context("a setting cannot be used; config.default.toml shows each with its form")?;
        Config::check(written)
    }

    /// The defaults with a data folder of the caller's, on ports that the system picks: for tests.
    pub fn for_tests(data: &Path) -> Config {
        Config::load(&Overrides {
            data: Some(data.to_owned()),
            listen: Some("127.0.0.1:0".to_owned()),
            metrics_listen: Some("off".to_owned()),
            public_url: Some("http://causeway.test".to_owned()),
            ..Overrides::default()
        })
        .expect("the defaults are valid")
    }

    /// The settings of a server that listens on `address`: with port 0 the system has picked one.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr) -> Config {
        if self.public_url == format!("http://{}", self.listen) {
            self.public_url = format!("http://{address}");
        }
        self.listen = address;
        self
    }

    fn check(written: Written) -> anyhow::Result<Config> {
        let listen = address("listen", &written.listen)?;
        let metrics_listen = match written.metrics_listen.as_str() {
            "off" => None,
            text => Some(address("metrics_listen", text)?),
        };
        let public_url = match written.public_url.trim().trim_end_matches('/') {
            "" => format!("http://{listen}"),
            url if url.starts_with("http://") || url.starts_with("https://") => url.to_owned(),
            url => bail!("public_url is {url:?}; it begins with http:// or https://"),
        };
        let serve = ServeSettings {
            header_timeout: seconds("serve.header_timeout", written.serve.header_timeout)?,
            idle_timeout: seconds("serve.idle_timeout", written.serve.idle_timeout)?,
            request_timeout: seconds("serve.request_timeout", written.serve.request_timeout)?,
            write_timeout: seconds("serve.write_timeout", written.serve.write_timeout)?,
            stop_timeout: seconds("serve.stop_timeout", written.serve.stop_timeout)?,
            max_connections: written.serve.max_connections,
            max_connections_per_address: written.serve.max_connections_per_address,
            trusted_proxies: networks(&written.serve.trusted_proxies)?,
        };
        let mail = mail(&written.mail)?;
        let url = written.database_url.trim();
        if !url.is_empty() && !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            bail!(
                "database_url is no PostgreSQL address; write postgres://user:password@host/database, or leave it empty for SQLite"
            );
        }
        Ok(Config {
            data: written.data,
            listen,
            metrics_listen,
            public_url,
            database: DatabaseSettings {
                url: (!url.is_empty()).then(|| SecretString::from(url)),
                connections: written.database.connections.max(1),
                acquire_timeout: seconds("database.acquire_timeout", written.database.acquire_timeout)?,
            },
            blobs_url: written.blobs_url.trim().to_owned(),
            limits: written.limits,
            serve,
            max_body: written.serve.max_body,
            directory: DirectorySettings {
                poll_interval: Duration::from_millis(written.directory.poll_interval.max(10)),
                overlay_limit: written.directory.overlay_limit,
            },
            search: SearchSettings {
                recent_answers: written.search.recent_answers.saturating_mul(1 << 20),
            },
            log: LogSettings {
                format: written.log.format,
                filter: written.log.filter,
                requests: written.log.requests,
            },
            accounts: accounts(&written.accounts, &mail)?,
            mail,
            giving: written.giving,
            outbox: written.outbox,
            security_contact: written.security_contact,
        })
    }
}

fn address(name: &str, text: &str) -> anyhow::Result<SocketAddr> {
    text.parse()
        .with_context(|| format!("{name} is {text:?}; write an address and a port, such as 127.0.0.1:8080"))
}

fn seconds(name: &str, value: f64) -> anyhow::Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => bail!("{name} is {value}; write a number of seconds above zero"),
    }
}

fn mail(written: &WrittenMail) -> anyhow::Result<MailSettings> {
    let way = match written.smtp_url.trim() {
        "" => Way::Folder,
        "off" => Way::Off,
        url if url.starts_with("smtp://") || url.starts_with("smtps://") => {
            Way::Server(SecretString::from(url))
        }
        _ => bail!("mail.smtp_url is no address of a mail server; write smtps://user:password@host, or off"),
    };
    let from = written.from.parse().map_err(|_| {
        anyhow::anyhow!(
            "mail.from is {:?}; write Causeway <no-reply@example.org>",
            written.from
        )
    })?;
    Ok(MailSettings { way, from })
}

fn accounts(written: &WrittenAccounts, mail: &MailSettings) -> anyhow::Result<AccountSettings> {
    let named = written.mail_domains.iter();
    let mail_domains: Vec<String> = named
        .map(|domain| domain.trim().to_lowercase())
        .filter(|domain| !domain.is_empty())
        .collect();
    if !mail_domains.is_empty() && matches!(mail.way, Way::Off) {
        bail!("accounts.mail_domains needs mail to confirm addresses; set mail.smtp_url");
    }
    Ok(AccountSettings {
        sign_up: written.sign_up,
        mail_domains,
    })
}

fn networks(written: &[String]) -> anyhow::Result<Vec<IpNet>> {
    let parse = |text: &String| {
        parse_network(text)
            .map_err(|_| anyhow::anyhow!("serve.trusted_proxies holds {text:?}; write 10.0.0.0/8 or ::1"))
    };
    written
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(parse)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_documented() {
        let config = Config::load(&Overrides::default()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.public_url, "http://127.0.0.1:8080");
        assert_eq!(config.limits.search, 500);
        assert!(config.database.url.is_none());
    }

    #[test]
    fn a_flag_wins_over_the_defaults_and_a_file_may_leave_out_the_rest() {
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
    fn a_setting_that_cannot_be_used_is_named() {
        for (overrides, named) in [
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
            let fault = Config::load(&overrides).unwrap_err();
            assert!(format!("{fault:#}").contains(named), "{fault:#}");
        }
    }
}
