//! A latency histogram.
//!
//! Buckets are at most 1/128 of their value wide, so millions of requests take a fixed few kilobytes and
//! every percentile is accurate to one percent. The maximum is exact.

use std::time::Duration;

const SUB_BUCKET_BITS: u32 = 7;
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;
const BUCKETS: usize = ((64 - SUB_BUCKET_BITS as usize) + 1) << SUB_BUCKET_BITS;

pub(crate) struct Histogram {
    counts: Vec<u64>,
    count: u64,
    max: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            count: 0,
            max: 0,
        }
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += 1;
        self.count += 1;
        self.max = self.max.max(nanos);
    }

    /// Returns the latency below which `fraction` of all requests stayed, or zero if nothing was recorded.
    pub(crate) fn percentile(&self, fraction: f64) -> Duration {
        let target = ((fraction * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= target {
                return Duration::from_nanos(upper_end(index).min(self.max));
            }
        }
        Duration::from_nanos(self.max)
    }

    pub(crate) fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }
}

/// Returns the bucket of a latency: one per nanosecond below 128 ns, and 128 per power of two above.
fn bucket(nanos: u64) -> usize {
    if nanos < SUB_BUCKETS {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - SUB_BUCKET_BITS;
    let part = (nanos >> shift) - SUB_BUCKETS;
    (((u64::from(shift) + 1) << SUB_BUCKET_BITS) + part) as usize
}

/// Returns the largest latency that falls into `bucket`.
fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < SUB_BUCKETS {
        return bucket;
    }
    let shift = (bucket >> SUB_BUCKET_BITS) - 1;
    let part = bucket & (SUB_BUCKETS - 1);
    let first = (SUB_BUCKETS + part) << shift;
    first + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_of_a_uniform_distribution_are_accurate() {
        let mut histogram = Histogram::new();
        for micros in 1..=1000 {
            histogram.record(Duration::from_micros(micros));
        }
        let is_near = |fraction: f64, micros: f64| {
            let actual = histogram.percentile(fraction).as_secs_f64() * 1e6;
            (actual - micros).abs() <= micros / 100.0
        };
        assert!(is_near(0.5, 500.0));
        assert!(is_near(0.99, 990.0));
        assert_eq!(histogram.max(), Duration::from_millis(1));
        assert_eq!(histogram.percentile(1.0), histogram.max());
    }

    #[test]
    fn the_percentile_of_an_empty_histogram_is_zero() {
        assert_eq!(Histogram::new().percentile(0.99), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn a_bucket_contains_its_value_and_is_at_most_1_128th_wide(nanos: u64) {
            let end = upper_end(bucket(nanos));
            prop_assert!(end >= nanos);
            prop_assert!(end - nanos <= nanos / 128);
        }
    }
}
