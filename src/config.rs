//! Loads the settings from built-in defaults, a file, the environment and flags.
//!
//! The settings structs belong to the crates that read them; this module assembles and checks them.

mod accent_color;
pub mod export;
mod raw;
pub mod security_contact;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod validate;

pub use accent_color::AccentColor;
pub use settings::{
    AdmissionSettings, AvailabilitySettings, CompatSettings, Config, ImportSettings, LogFormat, LogSettings,
    LoggedRequests, SearchSettings, SiteSettings, TelemetrySettings,
};
pub use sources::{DEFAULTS, Overrides, SettingValues, environment_warnings};

use access::accounts::hashing::HashCost;
use anyhow::Context;
use config::Source;
use giving::providers::Provider;
use platform::money::Cents;
use raw::RawConfig;
use std::net::SocketAddr;
use std::path::Path;

impl Config {
    /// Loads the settings: each source overrides the one before it (defaults, file, environment, flags).
    pub fn load(overrides: &Overrides) -> anyhow::Result<Config> {
        Ok(Config::load_with_values(overrides)?.0)
    }

    /// Loads the settings, and returns them also as they are written, so that a reload can tell what changed.
    pub fn load_with_values(overrides: &Overrides) -> anyhow::Result<(Config, SettingValues)> {
        let invalid = "a setting is invalid; config.default.toml shows the format of every setting";
        let built = sources::read_sources(overrides)?;
        let values = SettingValues::new(&built.collect().context(invalid)?);
        let raw: RawConfig = built.try_deserialize().context(invalid)?;
        Ok((validate::validate(raw)?, values))
    }

    /// Returns the default settings for tests, with a data folder in `folder`, a port that the system picks, the test
    /// provider, every amount that the ledger can record, and hashes of passwords that take no time.
    pub fn for_tests(folder: &Path) -> Config {
        let mut config = Config::load(&Overrides {
            data: Some(folder.join("data")),
            listen: Some("127.0.0.1:0".to_owned()),
            metrics_listen: Some("off".to_owned()),
            public_url: Some("http://causeway.test".to_owned()),
            ..Overrides::default()
        })
        .expect("the defaults are valid");
        config.giving = Provider::Test;
        config.amounts.min = Cents::new(1);
        config.amounts.max = Cents::MAX;
        config.accounts.hash_cost = HashCost::LOWEST;
        config
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
}
