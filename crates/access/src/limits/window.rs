//! An exact sliding window that limits the calls per minute.
//!
//! The window records the time of every call that it admitted in the last 60 seconds, so it is exact: no 60 seconds
//! ever contain more calls than the limit, and no call below the limit is refused, except to share it fairly between
//! visitors ([`shares`](super::shares)). The caller passes the time, so there is no clock here, and the limit, so that a
//! new limit applies from the next call on.

use super::shares::{Shares, Visitor};
use super::{SECOND_MICROS, WINDOW_MICROS, WINDOW_SECONDS};
use std::collections::VecDeque;

/// The calls of one key and class that were admitted within the last 60 seconds.
///
/// Times are in microseconds of any monotonic clock. A call that is exactly 60 seconds old has left the window.
#[derive(Debug, Default)]
pub struct Window {
    admitted: VecDeque<Call>,
    /// How many of the last calls have not been saved to the database.
    unsaved: usize,
    /// The shares of the visitors, from the first refused call until demand has been below the limit for two minutes.
    shares: Option<Box<Shares>>,
}

/// The time of a call, with the visitor in the lowest byte.
#[derive(Clone, Copy, Debug)]
struct Call(u64);

impl Call {
    fn new(time: u64, visitor: Visitor) -> Call {
        Call(time << 8 | u64::from(visitor.0))
    }

    fn time(self) -> u64 {
        self.0 >> 8
    }

    fn visitor(self) -> Visitor {
        Visitor(self.0 as u8)
    }

    fn has_left(self, now: u64) -> bool {
        self.time() + WINDOW_MICROS <= now
    }
}

/// The decision about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub admitted: bool,
    /// The number of further calls that this caller could make now: `r` of the RateLimit field.
    pub remaining: u32,
    /// The number of seconds, rounded up, until the oldest call leaves the window and quota becomes available: `t` of
    /// the RateLimit field. 60 for a first call.
    pub resets_in: u32,
    /// The number of seconds, rounded up, until the next call will be admitted: 0 unless this call was refused. With a
    /// limit of zero, which admits no calls, it is 60.
    pub retry_after: u32,
}

impl Window {
    /// Admits the call at `now` if fewer than `per_minute` calls were admitted in the 60 seconds before it, and if it is
    /// not reserved for another visitor.
    pub fn admit(&mut self, now: u64, per_minute: u32, visitor: Visitor) -> Verdict {
        // Two threads may read the clock in one order and get here in the other.
        let now = self.admitted.back().map_or(now, |last| now.max(last.time()));
        self.drop_old(now);
        let limit = per_minute as usize;
        let available = self.available(limit, visitor);
        let retry_after = if available > 0 {
            self.push(now, visitor);
            0
        } else {
            self.refuse(now, limit, visitor)
        };
        Verdict {
            admitted: available > 0,
            remaining: available.saturating_sub(1) as u32,
            resets_in: self.seconds_until_gone(0, now),
            retry_after,
        }
    }

    /// Restores calls that an earlier process admitted at `time`. They must be restored in order.
    pub fn restore(&mut self, time: u64, calls: usize) {
        let call = Call::new(time, Visitor::UNKNOWN);
        self.admitted.extend(std::iter::repeat_n(call, calls));
    }

    /// Returns the times of the calls that were admitted since the last time.
    pub fn take_unsaved(&mut self) -> impl Iterator<Item = u64> {
        let saved = self.admitted.len() - std::mem::take(&mut self.unsaved);
        self.admitted.range(saved..).map(|call| call.time())
    }

    /// Returns whether the window is empty at `now`, so that it can be dropped.
    pub fn is_idle(&self, now: u64) -> bool {
        self.admitted.back().is_none_or(|last| last.has_left(now))
            && self.shares.as_ref().is_none_or(|shares| shares.have_ended(now))
    }

    fn available(&self, limit: usize, visitor: Visitor) -> usize {
        let free = limit.saturating_sub(self.admitted.len());
        match &self.shares {
            Some(shares) => shares.available(limit, free, visitor),
            None => free,
        }
    }

    fn push(&mut self, now: u64, visitor: Visitor) {
        self.admitted.push_back(Call::new(now, visitor));
        self.unsaved += 1;
        if let Some(shares) = &mut self.shares {
            shares.add(visitor);
        }
    }

    /// Counts a refused call, and returns the number of seconds until the next one will be admitted.
    fn refuse(&mut self, now: u64, limit: usize, visitor: Visitor) -> u32 {
        let calls = &self.admitted;
        let shares = self
            .shares
            .get_or_insert_with(|| Box::new(Shares::of(calls.iter().map(|call| call.visitor()), now)));
        shares.refuse(visitor, now, calls.len(), limit);
        // After the limit was lowered, the window may contain more calls than it allows. Then more than the oldest
        // call has to leave before another one is admitted.
        let mut blocking = calls.len().saturating_sub(limit);
        let excess = shares.excess(limit, visitor);
        if limit > 0 && excess > 0 {
            let own = calls
                .iter()
                .enumerate()
                .filter(|(_, call)| call.visitor() == visitor);
            let last = own.take(excess).last();
            blocking = blocking.max(last.map_or(0, |(index, _)| index));
        }
        match limit {
            0 => WINDOW_SECONDS,
            _ => self.seconds_until_gone(blocking, now),
        }
    }

    fn drop_old(&mut self, now: u64) {
        while let Some(first) = self.admitted.front().filter(|first| first.has_left(now)) {
            if let Some(shares) = &mut self.shares {
                shares.remove(first.visitor());
            }
            self.admitted.pop_front();
        }
        self.unsaved = self.unsaved.min(self.admitted.len());
        if self.shares.as_ref().is_some_and(|shares| shares.have_ended(now)) {
            self.shares = None;
        }
    }

    fn seconds_until_gone(&self, index: usize, now: u64) -> u32 {
        self.admitted.get(index).map_or(WINDOW_SECONDS, |call| {
            (call.time() + WINDOW_MICROS)
                .saturating_sub(now)
                .div_ceil(SECOND_MICROS) as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANN: Visitor = Visitor(1);

    #[test]
    fn after_the_first_call_the_rest_of_the_limit_remains() {
        let verdict = Window::default().admit(5 * SECOND_MICROS, 500, ANN);
        assert_eq!(
            verdict,
            Verdict {
                admitted: true,
                remaining: 499,
                resets_in: 60,
                retry_after: 0
            }
        );
    }

    #[test]
    fn at_the_limit_calls_are_refused_until_the_first_one_leaves_the_window() {
        let mut window = Window::default();
        for second in 0..3 {
            assert!(window.admit(second * SECOND_MICROS, 3, ANN).admitted);
        }
        let refused = window.admit(59 * SECOND_MICROS + 1, 3, ANN);
        assert_eq!(
            refused,
            Verdict {
                admitted: false,
                remaining: 0,
                resets_in: 1,
                retry_after: 1
            }
        );
        assert!(!window.admit(60 * SECOND_MICROS - 1, 3, ANN).admitted);
        assert!(window.admit(60 * SECOND_MICROS, 3, ANN).admitted);
    }

    #[test]
    fn after_the_limit_is_lowered_several_calls_have_to_leave_the_window() {
        let mut window = Window::default();
        for second in 0..10 {
            assert!(window.admit(second * SECOND_MICROS, 10, ANN).admitted);
        }
        let refused = window.admit(10 * SECOND_MICROS, 2, ANN);
        assert_eq!(
            refused,
            Verdict {
                admitted: false,
                remaining: 0,
                resets_in: 50,
                retry_after: 58
            }
        );
        assert!(window.admit(68 * SECOND_MICROS, 2, ANN).admitted);
    }

    #[test]
    fn a_raised_limit_applies_from_the_next_call_on() {
        let mut window = Window::default();
        assert!(window.admit(0, 1, ANN).admitted);
        assert!(!window.admit(1, 1, ANN).admitted);
        assert!(window.admit(2, 2, ANN).admitted);
    }

    #[test]
    fn a_limit_of_zero_admits_no_calls() {
        let refused = Window::default().admit(0, 0, ANN);
        assert_eq!(
            refused,
            Verdict {
                admitted: false,
                remaining: 0,
                resets_in: 60,
                retry_after: 60
            }
        );
    }

    #[test]
    fn out_of_order_times_admit_no_extra_calls() {
        let mut window = Window::default();
        assert!(window.admit(10 * SECOND_MICROS, 2, ANN).admitted);
        assert!(window.admit(9 * SECOND_MICROS, 2, ANN).admitted);
        assert!(!window.admit(69 * SECOND_MICROS, 2, ANN).admitted);
        assert!(window.admit(70 * SECOND_MICROS, 2, ANN).admitted);
    }

    #[test]
    fn a_window_is_idle_after_its_last_call_has_left() {
        let mut window = Window::default();
        assert!(window.is_idle(0));
        window.admit(0, 5, ANN);
        assert!(!window.is_idle(WINDOW_MICROS - 1));
        assert!(window.is_idle(WINDOW_MICROS));
    }

    /// Generates pauses at the edges of the window and anywhere inside it.
    fn pause() -> impl Strategy<Value = u64> {
        prop_oneof![
            3 => Just(0),
            4 => 1..3 * SECOND_MICROS,
            2 => 0..20 * SECOND_MICROS,
            1 => WINDOW_MICROS - 2..WINDOW_MICROS + 2,
            1 => (0..70_u64).prop_map(|seconds| seconds * SECOND_MICROS),
        ]
    }

    fn calls() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let steady = (1..12_u32, prop::collection::vec(pause(), 1..200))
            .prop_map(|(limit, pauses)| pauses.into_iter().map(|pause| (pause, limit)).collect());
        let changing = prop::collection::vec((pause(), 0..12_u32), 1..200);
        prop_oneof![steady, changing]
    }

    proptest! {
        /// Compares the window with a complete log: a call is admitted if and only if fewer calls than the limit were
        /// admitted in the 60 seconds before it.
        #[test]
        fn a_call_is_admitted_exactly_when_fewer_than_the_limit_were_in_its_minute(calls in calls()) {
            let mut window = Window::default();
            let mut log: Vec<u64> = Vec::new();
            let mut now = 0;
            for (pause, limit) in calls {
                now += pause;
                let counted = |log: &[u64]| log.iter().filter(|&&time| time + WINDOW_MICROS > now).count();
                let verdict = window.admit(now, limit, ANN);
                prop_assert_eq!(verdict.admitted, counted(&log) < limit as usize);
                if verdict.admitted {
                    log.push(now);
                }
                prop_assert_eq!(verdict.remaining as usize, (limit as usize).saturating_sub(counted(&log)));
                let oldest = log.iter().find(|&&time| time + WINDOW_MICROS > now);
                let expected = oldest.map_or(60, |time| (time + WINDOW_MICROS - now).div_ceil(SECOND_MICROS));
                prop_assert_eq!(u64::from(verdict.resets_in), expected);
            }
        }

        #[test]
        fn no_sixty_seconds_contain_more_calls_than_the_limit(limit in 1..9_u32, pauses in prop::collection::vec(pause(), 1..300)) {
            let mut window = Window::default();
            let mut log: Vec<u64> = Vec::new();
            let mut now = 0;
            for pause in pauses {
                now += pause;
                if window.admit(now, limit, ANN).admitted {
                    log.push(now);
                }
            }
            for (index, start) in log.iter().enumerate() {
                let within = log[index..].iter().filter(|&&time| time < start + WINDOW_MICROS).count();
                prop_assert!(within <= limit as usize);
            }
        }

        #[test]
        fn a_refused_caller_is_admitted_after_retry_after(calls in calls()) {
            let mut window = Window::default();
            let mut now = 0;
            for (pause, limit) in calls {
                now += pause;
                let verdict = window.admit(now, limit, ANN);
                if verdict.admitted {
                    prop_assert_eq!(verdict.retry_after, 0);
                } else if limit > 0 {
                    prop_assert!((1..=60).contains(&verdict.retry_after));
                    now += u64::from(verdict.retry_after) * SECOND_MICROS;
                    prop_assert!(window.admit(now, limit, ANN).admitted);
                }
            }
        }

        #[test]
        fn a_window_stores_no_more_calls_than_the_limit(limit in 1..50_u32, count in 1..500_usize) {
            let mut window = Window::default();
            for time in 0..count as u64 {
                window.admit(time, limit, ANN);
            }
            prop_assert!(window.admitted.len() <= limit as usize);
            prop_assert!(window.admitted.capacity() <= (limit as usize).next_power_of_two().max(4));
        }
    }
}
