//! The log of the server.

use crate::config::{LogFormat, LogSettings};
use tracing_subscriber::EnvFilter;

/// Starts the log of this process. Call it once.
pub fn start_log(settings: &LogSettings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.filter).map_err(|fault| {
        anyhow::anyhow!("log.filter cannot be read ({fault}); write it as in \"info,sqlx=warn\"")
    })?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Human => log.with_target(false).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}
