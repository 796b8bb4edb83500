//! Gauges that are exported only once they have a value, so that a part that is not configured raises no alert.

use super::definitions::Definition;
use super::registry::Registry;
use metrics::Gauge;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

/// A gauge that is not exported until it is set.
pub struct OptionalGauge {
    registry: Arc<Registry>,
    definition: Definition,
    gauge: OnceLock<Gauge>,
}

impl OptionalGauge {
    pub fn new(registry: &Arc<Registry>, definition: Definition) -> OptionalGauge {
        OptionalGauge {
            registry: Arc::clone(registry),
            definition,
            gauge: OnceLock::new(),
        }
    }

    pub fn set(&self, value: f64) {
        self.gauge
            .get_or_init(|| self.registry.gauge(self.definition))
            .set(value);
    }
}

/// The age of an event, computed when the metrics are read. It is not exported until the event has happened.
pub struct AgeGauge {
    gauge: OptionalGauge,
    /// The time of the event in milliseconds since the Unix epoch.
    at: AtomicI64,
}

/// The time of an event that has not happened.
const NEVER: i64 = i64::MIN;

impl AgeGauge {
    pub fn new(registry: &Arc<Registry>, definition: Definition) -> AgeGauge {
        AgeGauge {
            gauge: OptionalGauge::new(registry, definition),
            at: AtomicI64::new(NEVER),
        }
    }

    /// Records the time of the last event, in milliseconds since the Unix epoch.
    pub fn set_time(&self, millis: i64) {
        self.at.store(millis, Ordering::Relaxed);
    }

    /// Computes the age.
    pub fn update(&self, now: i64) {
        let at = self.at.load(Ordering::Relaxed);
        if at != NEVER {
            self.gauge.set(now.saturating_sub(at).max(0) as f64 / 1_000.0);
        }
    }
}
