//! Registers metrics by their definitions.

use super::definitions::{ALL, Definition, Kind, REQUEST_SECONDS};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

const METADATA: Metadata<'_> = Metadata::new("causeway", Level::INFO, None);
/// The upper bounds of the histogram in seconds: from the response to a keystroke to a request that times out.
const LATENCY_BUCKETS: [f64; 12] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// The registered metrics of one server.
pub struct Registry {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Registry {
    pub fn new() -> anyhow::Result<Registry> {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(REQUEST_SECONDS.name.to_owned()), &LATENCY_BUCKETS)?
            .build_recorder();
        for definition in ALL {
            let (name, help) = (KeyName::from_const_str(definition.name), definition.help.into());
            match definition.kind {
                Kind::Counter => recorder.describe_counter(name, None, help),
                Kind::Gauge => recorder.describe_gauge(name, None, help),
                Kind::Histogram => recorder.describe_histogram(name, Some(Unit::Seconds), help),
            }
        }
        let handle = recorder.handle();
        Ok(Registry { recorder, handle })
    }

    pub fn counter(&self, definition: Definition) -> Counter {
        self.labeled_counter(definition, &[])
    }

    /// Registers a counter with a value for each label of its definition.
    pub fn labeled_counter(&self, definition: Definition, values: &[&str]) -> Counter {
        self.recorder
            .register_counter(&key(definition, values), &METADATA)
    }

    pub fn gauge(&self, definition: Definition) -> Gauge {
        self.labeled_gauge(definition, &[])
    }

    pub fn labeled_gauge(&self, definition: Definition, values: &[&str]) -> Gauge {
        self.recorder.register_gauge(&key(definition, values), &METADATA)
    }

    pub fn labeled_histogram(&self, definition: Definition, values: &[&str]) -> Histogram {
        self.recorder
            .register_histogram(&key(definition, values), &METADATA)
    }

    /// Returns the text that Prometheus scrapes.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Folds recorded samples into the buckets.
    pub fn run_upkeep(&self) {
        self.handle.run_upkeep();
    }
}

fn key(definition: Definition, values: &[&str]) -> Key {
    debug_assert_eq!(definition.labels.len(), values.len(), "{}", definition.name);
    let labels = definition.labels.iter().zip(values);
    let labels: Vec<Label> = labels
        .map(|(name, value)| Label::new(*name, (*value).to_owned()))
        .collect();
    Key::from_parts(definition.name, labels)
}
