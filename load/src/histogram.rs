//! Latencies in buckets no wider than one part in 128, so that millions of calls cost a fixed few kilobytes
//! and a percentile is right to within one percent. The worst call is kept exactly.

use std::time::Duration;

const FINE_BITS: u32 = 7;
const FINE: u64 = 1 << FINE_BITS;
const BUCKETS: usize = ((64 - FINE_BITS as usize) + 1) << FINE_BITS;

pub struct Histogram {
    counts: Vec<u64>,
    calls: u64,
    worst: u64,
}

impl Histogram {
    pub fn new() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            calls: 0,
            worst: 0,
        }
    }

    pub fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += 1;
        self.calls += 1;
        self.worst = self.worst.max(nanos);
    }

    /// The latency that `share` of all calls stayed within; zero when nothing was recorded.
    pub fn at(&self, share: f64) -> Duration {
        let wanted = ((share * self.calls as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper_end(index).min(self.worst));
            }
        }
        Duration::from_nanos(self.worst)
    }

    pub fn worst(&self) -> Duration {
        Duration::from_nanos(self.worst)
    }
}

/// Below 128 ns every nanosecond has its bucket; above, every power of two is cut into 128 equal parts.
fn bucket(nanos: u64) -> usize {
    if nanos < FINE {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - FINE_BITS;
    let part = (nanos >> shift) - FINE;
    (((u64::from(shift) + 1) << FINE_BITS) + part) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < FINE {
        return bucket;
    }
    let shift = (bucket >> FINE_BITS) - 1;
    let part = bucket & (FINE - 1);
    let first = (FINE + part) << shift;
    first + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_of_a_thousand_even_steps_are_where_they_should_be() {
        let mut histogram = Histogram::new();
        for micros in 1..=1000 {
            histogram.record(Duration::from_micros(micros));
        }
        let near = |share: f64, micros: f64| {
            let got = histogram.at(share).as_secs_f64() * 1e6;
            (got - micros).abs() <= micros / 100.0
        };
        assert!(near(0.5, 500.0));
        assert!(near(0.99, 990.0));
        assert_eq!(histogram.worst(), Duration::from_millis(1));
        assert_eq!(histogram.at(1.0), histogram.worst());
    }

    #[test]
    fn an_empty_histogram_answers_zero() {
        assert_eq!(Histogram::new().at(0.99), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_value_and_is_at_most_one_part_in_128_wide(nanos: u64) {
            let end = upper_end(bucket(nanos));
            prop_assert!(end >= nanos);
            prop_assert!(end - nanos <= nanos / 128);
        }
    }
}
