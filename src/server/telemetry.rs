//! Starts the log.

use crate::config::{LogFormat, LogSettings};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// The crates of this workspace: `causeway=debug` in the filter means all of them.
const CRATES: &[&str] = &[
    "access",
    "directory",
    "giving",
    "listener",
    "pictures",
    "platform",
    "search",
];

/// Starts the log of the process. It must be called only once.
pub fn start_log(settings: &LogSettings) -> anyhow::Result<()> {
    let mut filter: Targets = settings.filter.parse().map_err(|error| {
        anyhow::anyhow!("log.filter is not a valid filter ({error}); write it as in \"info,sqlx=warn\"")
    })?;
    if let Some(level) = filter
        .iter()
        .find_map(|(target, level)| (target == "causeway").then_some(level))
    {
        filter = filter.with_targets(CRATES.iter().map(|name| (*name, level)));
    }
    let layer = fmt::layer().with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Human => registry()
            .with(layer.with_target(false).with_filter(filter))
            .init(),
        LogFormat::Json => registry()
            .with(layer.json().flatten_event(true).with_filter(filter))
            .init(),
    }
    Ok(())
}
