//! The metrics of one server, in the format of Prometheus.

use axum::http::StatusCode;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

const METADATA: Metadata<'_> = Metadata::new("causeway", Level::INFO, None);
/// The upper bounds of the histogram in seconds: from the response to a keystroke to a request that times out.
const LATENCY_BUCKETS: [f64; 12] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// The metrics of one server.
pub struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    requests: RwLock<HashMap<(String, u16), (Counter, Histogram)>>,
    pub nonprofits: Gauge,
    pub revision: Gauge,
    pub overlay: Gauge,
    /// Counts password checks, which shows guessing.
    pub password_hashes: Counter,
}

impl Metrics {
    pub fn new() -> anyhow::Result<Metrics> {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(
                Matcher::Full("causeway_request_seconds".to_owned()),
                &LATENCY_BUCKETS,
            )?
            .build_recorder();
        let describe = |name: &'static str, text: &'static str| {
            recorder.describe_gauge(KeyName::from_const_str(name), None, text.into());
            recorder.register_gauge(&Key::from_static_name(name), &METADATA)
        };
        let nonprofits = describe("causeway_nonprofits", "Nonprofits in the directory snapshot.");
        let revision = describe(
            "causeway_directory_revision",
            "Revision of the directory that is shown.",
        );
        let overlay = describe(
            "causeway_overlay_nonprofits",
            "Nonprofits changed since the snapshot was built.",
        );
        let hashes = "causeway_password_hashes_total";
        recorder.describe_counter(
            KeyName::from_const_str(hashes),
            None,
            "Passwords hashed to be stored or checked.".into(),
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
            "Response time by route.".into(),
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

    /// Registers the gauge of the connection to Redis. Servers without Redis have none.
    pub fn redis_up(&self) -> Gauge {
        let name = "causeway_redis_up";
        let text = "1 while Redis responds, 0 while each server applies the limits by itself.";
        self.recorder
            .describe_gauge(KeyName::from_const_str(name), None, text.into());
        self.recorder
            .register_gauge(&Key::from_static_name(name), &METADATA)
    }

    /// Registers the counter of calls about which Redis could not be asked.
    pub fn local_limit_decisions(&self) -> Counter {
        let name = "causeway_local_limit_decisions_total";
        let text = "Calls and attempts that this server admitted or refused by itself because Redis did not respond.";
        self.recorder
            .describe_counter(KeyName::from_const_str(name), None, text.into());
        self.recorder
            .register_counter(&Key::from_static_name(name), &METADATA)
    }

    /// Counts one request. `route` is the pattern of the route, never the path that was sent.
    pub fn request(&self, route: &str, status: StatusCode, took: Duration) {
        let status = status.as_u16();
        {
            let handles = self.requests.read().unwrap_or_else(PoisonError::into_inner);
            // The map is keyed by owned text: scanning a handful of entries costs less than allocating a key.
            let found = handles
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
        let mut handles = self.requests.write().unwrap_or_else(PoisonError::into_inner);
        handles.insert((route.to_owned(), status), (counter, histogram));
    }

    /// Returns the text that Prometheus scrapes.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Folds recorded samples into the buckets; without it the exporter keeps every sample. Call it every few seconds.
    pub fn run_upkeep(&self) {
        self.handle.run_upkeep();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
