//! Reads the settings again on SIGHUP and applies the limits and the log filter.

use crate::app::App;
use crate::config::{Config, Overrides, SettingValues};
use crate::server::telemetry::{LogFilter, parse_filter};
use tokio::signal::unix::Signal;

/// What a reload needs: where the settings come from, and what was read last.
pub struct Reloader {
    pub app: App,
    pub overrides: Overrides,
    pub values: SettingValues,
    pub log_filter: LogFilter,
}

impl Reloader {
    /// Reloads at every signal until the task is dropped.
    pub async fn run(mut self, mut hangup: Signal) {
        while hangup.recv().await.is_some() {
            if let Err(error) = self.reload() {
                let error = format!("{error:#}");
                tracing::error!(error, "could not reload the settings; the old ones stay in use");
            }
        }
    }

    /// Applies all settings that can change while the server runs, or none if one of the settings is invalid.
    fn reload(&mut self) -> anyhow::Result<()> {
        let (config, values) = Config::load_with_values(&self.overrides)?;
        let filter = parse_filter(&config.log.filter)?;
        let changed = self.values.changed_in(&values);
        self.log_filter.replace(filter)?;
        self.app.set_limits(config.limits);
        let (applied, pending): (Vec<_>, Vec<_>) = changed.into_iter().partition(|name| is_reloadable(name));
        for name in &applied {
            let (from, to) = (self.values.get(name), values.get(name));
            tracing::info!(setting = name, from, to, "changed a setting");
            self.values.copy_from(&values, name);
        }
        if !pending.is_empty() {
            // Without their values, which may be secrets.
            let settings = pending.join(", ");
            tracing::warn!(settings, "changed settings take effect after a restart");
        }
        tracing::info!(applied = applied.len(), "reloaded the settings");
        Ok(())
    }
}

/// Returns whether a setting can change while the server runs.
fn is_reloadable(name: &str) -> bool {
    name.starts_with("limits.") || name == "log.filter"
}
