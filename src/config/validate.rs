//! Checks the settings as they are written, with an error that names the setting and says what to write.

use crate::config::accent_color::AccentColor;
use crate::config::raw::{
    RawAccounts, RawConfig, RawDatabase, RawDisburse, RawEligibility, RawGiving, RawImport, RawMail,
    RawOrigins, RawRecipient, RawRedis, RawServe, RawSite, RawStripe, RawTelemetry,
};
use crate::config::settings::{
    AdmissionSettings, AvailabilitySettings, Config, ImportSettings, LogSettings, SearchSettings,
    SiteSettings, TelemetrySettings,
};
use access::accounts::AccountSettings;
use access::accounts::hashing::HashCost;
use access::origins::settings::OriginSettings;
use anyhow::{Context, anyhow, bail};
use directory::DirectorySettings;
use directory::eligibility::{Check, EligibilitySettings};
use directory::nonprofits::ein::Ein;
use giving::books::FeesPaidBy;
use giving::checkout::amounts::AmountLimits;
use giving::checkout::fee::Fee;
use giving::checkout::receipt::Donee;
use giving::disbursement::bank_account::RoutingNumber;
use giving::disbursement::{AchSettings, DisburseSettings};
use giving::guard::GuardSettings;
use giving::ledger::anchors::AnchorSettings;
use giving::providers::stripe::settings::{API_BASE, StripeSettings};
use giving::providers::{Provider, ProviderSettings};
use ipnet::IpNet;
use jiff::tz::TimeZone;
use listener::{ServeSettings, parse_network};
use platform::email_address::{EmailAddress, domain_to_ascii};
use platform::mail::{Delivery, MailSettings};
use platform::money::Cents;
use platform::public_url::PublicUrl;
use platform::redis::{RedisSettings, Servers};
use platform::secret;
use platform::settings::{APPLICATION_NAME, DatabaseSettings};
use platform::webhook_signature::WebhookSecret;
use secrecy::{ExposeSecret, SecretString};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The maximum length of the name of the site, which has to fit next to the menu.
const MAX_SITE_NAME_CHARS: usize = 40;

/// Checks the settings, and parses those that are written as text.
pub(super) fn validate(raw: RawConfig) -> anyhow::Result<Config> {
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
    let stripe = stripe(&raw.stripe)?;
    let giving = provider(&raw.giving, &stripe, &public_url)?;
    let recipient = recipient(&raw.recipient, &giving, &stripe)?;
    let serve = serve(&raw.serve)?;
    let availability = availability(&raw.serve, serve.stop_timeout)?;
    let mail = mail(&raw.mail, &raw.site.name)?;
    let database = database(raw.database_url.trim(), &raw.database)?;
    Ok(Config {
        secret_file: match raw.secret_file.trim() {
            "" => raw.data.join(secret::FILE_NAME),
            path => path.into(),
        },
        data: raw.data,
        listen,
        metrics_listen,
        public_url,
        database,
        redis: redis(raw.redis_url.trim(), &raw.redis)?,
        blobs_url: raw.blobs_url.trim().to_owned(),
        limits: raw.limits,
        serve,
        availability,
        max_body: raw.serve.max_body,
        admission: AdmissionSettings {
            max_body_memory: raw.serve.max_body_memory,
            max_heavy_requests: raw.serve.max_heavy_requests.max(1),
        },
        directory: DirectorySettings {
            poll_interval: Duration::from_millis(raw.directory.poll_interval.max(10)),
            overlay_limit: raw.directory.overlay_limit,
            build_lease: seconds("directory.build_lease", raw.directory.build_lease)?,
        },
        import: import(&raw.import)?,
        search: SearchSettings {
            recent_answers: raw.search.recent_answers.saturating_mul(1 << 20),
            by_meaning: raw.search.by_meaning,
        },
        site: site(&raw.site)?,
        log: LogSettings {
            format: raw.log.format,
            filter: raw.log.filter,
            requests: raw.log.requests,
        },
        telemetry: telemetry(&raw.telemetry, standard_endpoint())?,
        accounts: accounts(&raw.accounts, &mail)?,
        mail,
        giving,
        stripe,
        link_secret: link_secret(&raw.giving)?,
        recipient,
        fee: Fee::parse(&raw.giving.fee)?,
        fees_paid_by: fees_paid_by(&raw.giving.fees_paid_by)?,
        eligibility: eligibility(&raw.eligibility)?,
        disburse: disburse(&raw.disburse)?,
        yearly_statements: yearly_statements(&raw.giving.statements)?,
        guard: guard(&raw.giving)?,
        amounts: AmountLimits::new(raw.giving.min_amount, raw.giving.max_amount)?,
        time_zone: time_zone(&raw.giving.time_zone)?,
        checkout: raw.checkout,
        fundraisers: raw.fundraisers,
        pictures: raw.pictures,
        origins: origins(&raw.origins)?,
        claims: raw.claims,
        webhooks: raw.webhooks,
        outbox: raw.outbox,
        anchors: anchors(&raw.anchors)?,
        compat: raw.compat,
        security_contact: raw.security_contact,
    })
}

/// The longest period in days.
const MAX_DAYS: u32 = 3_650;
/// A browser works on so many bits for minutes.
const MAX_PROOF_BITS: u32 = 24;

/// Checks the settings of the listener.
fn serve(raw: &RawServe) -> anyhow::Result<ServeSettings> {
    Ok(ServeSettings {
        header_timeout: seconds("serve.header_timeout", raw.header_timeout)?,
        idle_timeout: seconds("serve.idle_timeout", raw.idle_timeout)?,
        request_timeout: seconds("serve.request_timeout", raw.request_timeout)?,
        write_timeout: seconds("serve.write_timeout", raw.write_timeout)?,
        stop_timeout: seconds("serve.stop_timeout", raw.stop_timeout)?,
        max_connections: raw.max_connections,
        max_connections_per_address: raw.max_connections_per_address,
        max_unsent_bytes: raw.max_unsent_bytes,
        trusted_proxies: networks(&raw.trusted_proxies)?,
    })
}

fn provider(raw: &RawGiving, stripe: &StripeSettings, public_url: &str) -> anyhow::Result<Provider> {
    let settings = ProviderSettings {
        provider: raw.provider.clone(),
        link: raw.link.clone(),
        stripe: stripe.clone(),
    };
    Ok(settings.resolve(&PublicUrl::new(public_url))?)
}

fn stripe(raw: &RawStripe) -> anyhow::Result<StripeSettings> {
    let api_base = raw.api_base.trim().trim_end_matches('/');
    if !api_base.starts_with("https://") && !api_base.starts_with("http://") {
        bail!("stripe.api_base is {api_base:?}; set it to {API_BASE}");
    }
    if !(2..=9).contains(&raw.payment_attempts) {
        bail!(
            "stripe.payment_attempts is {}; set it to a number from 2 to 9",
            raw.payment_attempts
        );
    }
    Ok(StripeSettings {
        payment_attempts: raw.payment_attempts,
        secret_key: secret("stripe.secret_key", &raw.secret_key, &raw.secret_key_file)?,
        webhook_secret: secret(
            "stripe.webhook_secret",
            &raw.webhook_secret,
            &raw.webhook_secret_file,
        )?,
        connect_webhook_secret: secret(
            "stripe.connect_webhook_secret",
            &raw.connect_webhook_secret,
            &raw.connect_webhook_secret_file,
        )?,
        account: raw.account.trim().to_owned(),
        api_base: api_base.to_owned(),
    })
}

/// Returns a secret that is given as a setting, or in a file whose name is a setting.
fn secret(name: &str, value: &str, file: &str) -> anyhow::Result<SecretString> {
    match (value.trim(), file.trim()) {
        (value, "") => Ok(SecretString::from(value)),
        ("", file) => {
            let content = std::fs::read_to_string(file)
                .with_context(|| format!("{name}_file is {file:?}, which cannot be read; check the path"))?;
            Ok(SecretString::from(content.trim()))
        }
        _ => bail!("{name} and {name}_file are both set; set one of them"),
    }
}

/// Checks the secret of the processor behind the payment link. It may be empty.
fn link_secret(raw: &RawGiving) -> anyhow::Result<SecretString> {
    let secret = secret("giving.link_secret", &raw.link_secret, &raw.link_secret_file)?;
    let text = secret.expose_secret();
    if !text.is_empty() && WebhookSecret::parse(text).is_none() {
        bail!(
            "giving.link_secret is not a secret of Standard Webhooks; set it to whsec_ and at least 24 random bytes in base64"
        );
    }
    Ok(secret)
}

/// Checks the nonprofit to which donations by Stripe are made. Without Stripe there may be none.
fn recipient(
    raw: &RawRecipient,
    provider: &Provider,
    stripe: &StripeSettings,
) -> anyhow::Result<Option<Donee>> {
    let (legal_name, ein) = (raw.legal_name.trim(), raw.ein.trim());
    if legal_name.is_empty() && ein.is_empty() {
        if matches!(provider, Provider::Stripe(_)) && !stripe.is_connect() {
            bail!(
                "recipient.legal_name and recipient.ein are not set; donations by Stripe are made to the nonprofit that runs this site, so set them to its name and its EIN"
            );
        }
        return Ok(None);
    }
    let ein = Ein::parse_lenient(ein)
        .filter(|_| !legal_name.is_empty())
        .with_context(|| {
            format!("recipient.ein is {ein:?}; set it to nine digits, and recipient.legal_name to a name")
        })?;
    Ok(Some(Donee {
        legal_name: legal_name.to_owned(),
        ein,
        address: raw.address.trim().to_owned(),
    }))
}

/// Checks when nonprofits are paid, and the settings of the bank.
fn eligibility(raw: &RawEligibility) -> anyhow::Result<EligibilitySettings> {
    let mut require = Vec::new();
    for name in raw
        .require
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty())
    {
        let Some(check) = Check::find(name) else {
            let names: Vec<&str> = Check::ALL.into_iter().map(Check::name).collect();
            bail!(
                "eligibility.require names {name:?}; use some of {}",
                names.join(", ")
            );
        };
        require.push(check);
    }
    for (name, days) in [
        ("eligibility.max_age_days", raw.max_age_days),
        ("eligibility.grace_days", raw.grace_days),
    ] {
        if days > MAX_DAYS {
            bail!("{name} is {days}; set it to at most {MAX_DAYS}");
        }
    }
    if raw.max_age_days == 0 {
        bail!("eligibility.max_age_days is 0; set it to the number of days after which a list is too old");
    }
    Ok(EligibilitySettings {
        require: require.into_iter().collect(),
        max_age: Duration::from_hours(u64::from(raw.max_age_days) * 24),
        grace_days: raw.grace_days,
    })
}

fn disburse(raw: &RawDisburse) -> anyhow::Result<DisburseSettings> {
    let minimum = Cents::positive(raw.minimum).with_context(|| {
        format!(
            "disburse.minimum is {}; set it to a number of cents greater than zero",
            raw.minimum
        )
    })?;
    let days = [
        ("disburse.hold_days", raw.hold_days),
        ("disburse.change_hold_days", raw.change_hold_days),
        ("disburse.max_days", raw.max_days),
    ];
    for (name, days) in days {
        if days > MAX_DAYS {
            bail!("{name} is {days}; set it to {MAX_DAYS} or less");
        }
    }
    let ach = &raw.ach;
    // A variable of the environment with digits is read as a number, which has no zeros in front.
    let destination = match ach.destination.trim() {
        "" => String::new(),
        text => format!("{text:0>9}"),
    };
    if !destination.is_empty()
        && let Err(problem) = RoutingNumber::parse(&destination)
    {
        bail!("disburse.ach.destination is not the routing number of a bank: {problem}");
    }
    for (name, text, max) in [
        ("disburse.ach.origin", &ach.origin, 10),
        ("disburse.ach.company_id", &ach.company_id, 10),
        ("disburse.ach.company_name", &ach.company_name, 23),
    ] {
        if text.trim().len() > max || !text.is_ascii() {
            bail!("{name} is longer than {max} plain characters; set it to what your bank prescribes");
        }
    }
    Ok(DisburseSettings {
        minimum,
        hold_days: raw.hold_days,
        change_hold_days: raw.change_hold_days,
        max_days: raw.max_days,
        second_operator: raw.second_operator,
        ach: AchSettings {
            destination,
            origin: ach.origin.trim().to_owned(),
            company_id: ach.company_id.trim().to_owned(),
            company_name: ach.company_name.trim().to_owned(),
        },
    })
}

fn yearly_statements(text: &str) -> anyhow::Result<bool> {
    match text.trim() {
        "january" => Ok(true),
        "off" => Ok(false),
        other => bail!("giving.statements is {other:?}; set it to january or off"),
    }
}

/// Checks the caps on declined payments.
fn guard(raw: &RawGiving) -> anyhow::Result<GuardSettings> {
    if raw.proof_bits > MAX_PROOF_BITS {
        bail!(
            "giving.proof_bits is {}, which keeps a browser busy for minutes; set it to {MAX_PROOF_BITS} or less",
            raw.proof_bits
        );
    }
    Ok(GuardSettings {
        per_card: raw.max_declines_per_card,
        per_address: raw.max_declines_per_address,
        per_nonprofit: raw.max_declines_per_nonprofit,
        in_all: raw.max_declines,
        proof_bits: raw.proof_bits,
    })
}

/// Checks how the proof of an origin is found.
fn origins(raw: &RawOrigins) -> anyhow::Result<OriginSettings> {
    Ok(OriginSettings {
        allow_private: raw.allow_private,
        dns_server: match raw.dns_server.as_str() {
            "" => None,
            text => Some(address("origins.dns_server", text)?),
        },
    })
}

fn fees_paid_by(text: &str) -> anyhow::Result<FeesPaidBy> {
    match text.trim() {
        "nonprofit" => Ok(FeesPaidBy::Nonprofit),
        "operator" => Ok(FeesPaidBy::Operator),
        other => bail!("giving.fees_paid_by is {other:?}; set it to nonprofit or operator"),
    }
}

/// Finds a time zone. The binary contains all of them.
fn time_zone(name: &str) -> anyhow::Result<TimeZone> {
    TimeZone::get(name.trim()).map_err(|_| {
        anyhow!(
            "giving.time_zone is {name:?}; set it to a name such as America/New_York, Europe/Berlin or UTC"
        )
    })
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

/// Checks where the database is, and how long it may take.
fn database(url: &str, raw: &RawDatabase) -> anyhow::Result<DatabaseSettings> {
    let is_postgres = |url: &str| url.starts_with("postgres://") || url.starts_with("postgresql://");
    if !url.is_empty() && !is_postgres(url) {
        bail!(
            "database_url is not a PostgreSQL URL; set it to postgres://user:password@host/database, or leave it empty for SQLite"
        );
    }
    let listen_url = raw.listen_url.trim();
    if !listen_url.is_empty() && !is_postgres(listen_url) {
        bail!(
            "database.listen_url is not a PostgreSQL URL; set it to postgres://user:password@host/database, or leave it empty to use database_url"
        );
    }
    Ok(DatabaseSettings {
        url: (!url.is_empty()).then(|| SecretString::from(url)),
        listen_url: (!listen_url.is_empty()).then(|| SecretString::from(listen_url)),
        application_name: APPLICATION_NAME.to_owned(),
        connections: raw.connections.max(1),
        acquire_timeout: seconds("database.acquire_timeout", raw.acquire_timeout)?,
        probe_timeout: seconds("database.probe_timeout", raw.probe_timeout)?,
        statement_timeout: seconds_or_zero("database.statement_timeout", raw.statement_timeout)?,
        lock_timeout: seconds_or_zero("database.lock_timeout", raw.lock_timeout)?,
    })
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

fn site(raw: &RawSite) -> anyhow::Result<SiteSettings> {
    let name = raw.name.trim();
    if name.is_empty() || name.chars().count() > MAX_SITE_NAME_CHARS {
        bail!("site.name is {name:?}; set it to a name of at most {MAX_SITE_NAME_CHARS} characters");
    }
    let contact_email = raw.contact_email.trim();
    if !contact_email.is_empty() && EmailAddress::parse(contact_email).is_err() {
        bail!(
            "site.contact_email is {contact_email:?}; set it to an email address such as hello@example.org"
        );
    }
    let file = |path: &str| Some(PathBuf::from(path.trim())).filter(|path| !path.as_os_str().is_empty());
    Ok(SiteSettings {
        name: name.to_owned(),
        logo: file(&raw.logo),
        accent_color: match raw.accent_color.trim() {
            "" => None,
            color => Some(AccentColor::parse(color).map_err(anyhow::Error::msg)?),
        },
        operator: raw.operator.trim().to_owned(),
        contact_email: contact_email.to_owned(),
        privacy_file: file(&raw.privacy_file),
        terms_file: file(&raw.terms_file),
        about_file: file(&raw.about_file),
    })
}

fn mail(raw: &RawMail, site: &str) -> anyhow::Result<MailSettings> {
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
            "mail.from is {:?}; set it to an address such as no-reply@example.org",
            raw.from
        )
    })?;
    let mut settings = MailSettings { delivery, from };
    settings.from.name.get_or_insert_with(|| site.trim().to_owned());
    Ok(settings)
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
        signing_key_file: raw.signing_key_file.trim().to_owned(),
        public_key: raw.public_key.trim().to_owned(),
    })
}

/// Returns the endpoint in the variable that all OpenTelemetry programs read.
fn standard_endpoint() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "this module reads the settings")]
    std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok()
}

/// `standard` is used if the setting is empty. "off" turns traces off in any case.
pub(super) fn telemetry(raw: &RawTelemetry, standard: Option<String>) -> anyhow::Result<TelemetrySettings> {
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
        hash_cost: HashCost::RECOMMENDED,
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
