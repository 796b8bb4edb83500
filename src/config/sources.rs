//! Merges the built-in defaults, the file, the environment and the flags, and finds settings that do not exist.

use anyhow::{Context, bail};
use config::{Environment, File, FileFormat, Map, Source, Value, ValueKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file that documents every setting and gives its default.
pub const DEFAULTS: &str = include_str!("../../config.default.toml");

/// The prefix of environment variables that are settings.
const VARIABLE_PREFIX: &str = "CAUSEWAY_";
/// The prefix of variables of the test suite, which the servers it starts inherit.
const TEST_PREFIX: &str = "CAUSEWAY_TEST_";

/// Settings of earlier versions, and what determines their values now.
const REMOVED: [(&str, &str); 2] = [
    (
        "serve.max_unsent_bytes_per_address",
        "half of serve.max_unsent_bytes",
    ),
    (
        "serve.max_streams_per_address",
        "a quarter of serve.max_connections_per_address",
    ),
];

/// The settings from the command line, which override the file and the environment.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub config: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub listen: Option<String>,
    pub metrics_listen: Option<String>,
    pub database_url: Option<String>,
    pub public_url: Option<String>,
    /// Whether the environment is ignored.
    pub is_isolated: bool,
    /// Whether webhook endpoints may be on this machine.
    pub allows_private_webhooks: bool,
}

/// Merges the sources of settings: defaults, file, environment, flags.
pub(super) fn read_sources(overrides: &Overrides) -> anyhow::Result<config::Config> {
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
        .with_list_parse_key("eligibility.require")
        .try_parsing(true);
    if !overrides.is_isolated {
        reject_removed(&setting_names(&environment.collect()?), "the environment")?;
        sources = sources.add_source(environment);
    }
    let flags = [
        (
            "data",
            overrides.data.as_ref().map(|path| path.display().to_string()),
        ),
        ("listen", overrides.listen.clone()),
        ("metrics_listen", overrides.metrics_listen.clone()),
        ("database_url", overrides.database_url.clone()),
        ("public_url", overrides.public_url.clone()),
        (
            "webhooks.allow_private",
            overrides.allows_private_webhooks.then(|| true.to_string()),
        ),
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
    pub fn new(table: &Map<String, Value>) -> SettingValues {
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
    reject_removed(&unknown, &file.to_string())?;
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

/// Fails if a source contains a setting that was removed.
fn reject_removed(names: &[String], source: &str) -> anyhow::Result<()> {
    for (name, replacement) in REMOVED {
        if names.iter().any(|given| given == name) {
            bail!("{source}: {name} is no longer a setting; remove it, the limit is now {replacement}");
        }
    }
    Ok(())
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
pub(super) fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
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
