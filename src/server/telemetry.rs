//! What an operator sees of a running server: log lines and metrics.

use crate::config::{LogFormat, LogSettings};
use axum::http::StatusCode;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;
use tracing_subscriber::EnvFilter;

const METADATA: Metadata<'_> = Metadata::new("causeway", Level::INFO, None);
/// Seconds; from the answer of a keystroke to a request that is given up.
const BUCKETS: [f64; 12] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// Starts the log of this process; called once.
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

/// The figures of one server.
pub struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    requests: RwLock<HashMap<(String, u16), (Counter, Histogram)>>,
    pub nonprofits: Gauge,
    pub revision: Gauge,
    pub overlay: Gauge,
    /// Shows guessing, and that it costs the same whether there is an account or not.
    pub password_hashes: Counter,
}

impl Metrics {
    pub fn new() -> anyhow::Result<Metrics> {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full("causeway_request_seconds".to_owned()), &BUCKETS)?
            .build_recorder();
        let describe = |name: &'static str, text: &'static str| {
            recorder.describe_gauge(KeyName::from_const_str(name), None, text.into());
            recorder.register_gauge(&Key::from_static_name(name), &METADATA)
        };
        let nonprofits = describe("causeway_nonprofits", "Nonprofits in the directory snapshot.");
        let revision = describe("causeway_directory_revision", "The import whose state is shown.");
        let overlay = describe(
            "causeway_overlay_nonprofits",
            "Nonprofits changed since the snapshot was built.",
        );
        let hashes = "causeway_password_hashes_total";
        recorder.describe_counter(
            KeyName::from_const_str(hashes),
            None,
            "Passwords that were hashed to be stored or compared.".into(),
        );
        let password_hashes = recorder.register_counter(&Key::from_static_name(hashes), &METADATA);
        recorder.describe_counter(
            KeyName::from_const_str("causeway_requests_total"),
            None,
            "Requests by route and status.".into(),
        );
        recorder.describe_histogram(
            KeyName::from_const_str("causeway_request_seconds"),
            Some(Unit::Seconds),
            "Time to answer by route.".into(),
        );
        let handle = recorder.handle();
        Ok(Metrics {
            recorder,
            handle,
            requests: RwLock::default(),
            nonprofits,
            revision,
            overlay,
            password_hashes,
        })
    }

    /// Counts one request. `route` is a pattern of ours, never an address as sent.
    pub fn request(&self, route: &str, status: StatusCode, took: Duration) {
        let status = status.as_u16();
        {
            let known = self.requests.read().unwrap_or_else(PoisonError::into_inner);
            // The map is keyed by owned text; looking through a handful of entries costs less than making one.
            let found = known
                .iter()
                .find(|((name, code), _)| *code == status && name == route);
            if let Some((_, (counter, histogram))) = found {
                counter.increment(1);
                histogram.record(took.as_secs_f64());
                return;
            }
        }
        let labels = vec![
            Label::new("route", route.to_owned()),
            Label::new("status", status.to_string()),
        ];
        let counter = self
            .recorder
            .register_counter(&Key::from_parts("causeway_requests_total", labels), &METADATA);
        let labels = vec![Label::new("route", route.to_owned())];
        let histogram = self
            .recorder
            .register_histogram(&Key::from_parts("causeway_request_seconds", labels), &METADATA);
        counter.increment(1);
        histogram.record(took.as_secs_f64());
        let mut known = self.requests.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((route.to_owned(), status), (counter, histogram));
    }

    /// The page that Prometheus reads.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Folds what was recorded into the buckets; without it every call would be kept. Run every few seconds.
    pub fn fold(&self) {
        self.handle.run_upkeep();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
