use super::raw::RawTelemetry;
use super::sources::unknown_variables;
use super::validate::telemetry;
use super::*;
use std::time::Duration;

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
fn the_settings_of_the_site_are_checked() {
    let site = Config::load(&Overrides::default()).unwrap().site;
    assert_eq!(site, SiteSettings::default());
    let site = load_file(
        "[site]\nname = \"Giving Tree\"\naccent_color = \"#7a1fa2\"\noperator = \"Tree Fund\"\n\
         contact_email = \"hello@example.org\"\nlogo = \"logo.png\"\n",
    )
    .unwrap()
    .site;
    assert_eq!(
        (site.name.as_str(), site.operator.as_str()),
        ("Giving Tree", "Tree Fund")
    );
    assert!(site.accent_color.is_some() && site.logo.is_some() && site.terms_file.is_none());
    for (setting, expected) in [
        ("name = \"\"", "site.name"),
        ("accent_color = \"teal\"", "#0a6460"),
        ("accent_color = \"#ffee00\"", "choose a darker color"),
        ("contact_email = \"nobody\"", "site.contact_email"),
        ("color = \"#000000\"", "site.color"),
    ] {
        let error = format!("{:#}", load_file(&format!("[site]\n{setting}\n")).unwrap_err());
        assert!(error.contains(expected), "{setting}: {error}");
    }
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
        ("stripe", "stripe.secret_key"),
        ("sandbox", "auto, off, test, stripe or link"),
    ] {
        let error = load_file(&format!("[giving]\nprovider = \"{provider}\"\n")).unwrap_err();
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
}

#[test]
fn amounts_and_the_time_zone_of_donations_are_checked() {
    let config = Config::load(&Overrides::default()).unwrap();
    assert_eq!(
        (config.amounts.min.get(), config.amounts.max.get()),
        (100, 99_999_999)
    );
    assert_eq!(config.time_zone.iana_name(), Some("America/New_York"));
    for (setting, expected) in [
        ("min_amount = 0", "giving.min_amount is 0"),
        ("max_amount = 99", "giving.max_amount is 99"),
        ("time_zone = \"Atlantis\"", "giving.time_zone is \"Atlantis\""),
    ] {
        let error = load_file(&format!("[giving]\n{setting}\n")).unwrap_err();
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
            "[serve]\nmax_streams_per_address = 7\n",
            "serve.max_streams_per_address is no longer a setting; remove it, the limit is now a quarter of serve.max_connections_per_address",
        ),
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
