//! Starts the log.
//!
//! Its filter has directives such as `target=level`, not regular expressions over the fields of spans, which took longer to
//! compile than the log itself. `causeway=debug` means all crates of the workspace.

use crate::config::{LogFormat, LogSettings, TelemetrySettings};
use crate::server::query_spans::QuerySpans;
use anyhow::Context;
use std::io::{self, IsTerminal};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, registry, reload};

/// The crates of this workspace: `causeway=debug` in the filter means all of them.
const CRATES: &[&str] = &[
    "access",
    "directory",
    "giving",
    "ingest",
    "listener",
    "pictures",
    "platform",
    "search",
];

/// What is logged, which can be changed while the process runs.
#[derive(Debug)]
pub struct LogFilter(reload::Handle<Targets, Registry>);

impl LogFilter {
    /// Logs what this filter selects from now on.
    pub fn replace(&self, filter: Targets) -> anyhow::Result<()> {
        self.0.reload(filter).context("could not change the log filter")
    }
}

/// Parses `log.filter`.
pub fn parse_filter(text: &str) -> anyhow::Result<Targets> {
    let mut filter: Targets = text.parse().map_err(|error| {
        anyhow::anyhow!("log.filter is not a valid filter ({error}); write it as in \"info,sqlx=warn\"")
    })?;
    if let Some(level) = filter
        .iter()
        .find_map(|(target, level)| (target == "causeway").then_some(level))
    {
        filter = filter.with_targets(CRATES.iter().map(|name| (*name, level)));
    }
    Ok(filter)
}

/// Starts the log of the process. It must be called only once.
pub fn start_log(settings: &LogSettings, telemetry: &TelemetrySettings) -> anyhow::Result<LogFilter> {
    let (filter, handle) = reload::Layer::new(parse_filter(&settings.filter)?);
    let mut layer = fmt::layer().with_writer(io::stderr);
    // On a terminal there are colors unless NO_COLOR is set, and elsewhere none.
    if !io::stderr().is_terminal() {
        layer.set_ansi(false);
    }
    let layer = match settings.format {
        LogFormat::Human => layer.with_target(false).with_filter(filter).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
    };
    // Without this layer, the database library does not format the queries that it logs.
    let queries = telemetry
        .otlp_endpoint
        .is_some()
        .then(|| QuerySpans.with_filter(QuerySpans::filter()));
    registry().with(layer).with(queries).init();
    Ok(LogFilter(handle))
}
