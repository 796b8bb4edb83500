//! An exact sliding window that limits the calls per minute.
//!
//! The window records the time of every call that it admitted in the last 60 seconds, so it is exact: no 60 seconds
//! ever contain more calls than the limit, and no call below the limit is refused. The caller passes the time, so there
//! is no clock here, and the limit, so that a new limit applies from the next call on.

use super::{SECOND_MICROS, WINDOW_MICROS, WINDOW_SECONDS};
use std::collections::VecDeque;

/// The calls that were admitted within the last 60 seconds.
///
/// Times are in microseconds of any monotonic clock. A call that is exactly 60 seconds old has left the window.
#[derive(Debug, Default)]
pub struct Window {
    admitted: VecDeque<u64>,
    /// How many of the last calls have not been saved to the database.
    unsaved: usize,
}

/// The decision of one window about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the window admits the call. If a call is subject to two windows, both have to admit it.
    pub admitted: bool,
    /// The limit that applied.
    pub per_minute: u32,
    /// The number of further calls that the window would admit now: `r` of the RateLimit field.
    pub remaining: u32,
    /// The number of seconds, rounded up, until the oldest call leaves the window and quota becomes available: `t` of
    /// the RateLimit field. 60 for an empty window.
    pub resets_in: u32,
    /// The number of seconds, rounded up, until the window admits a call: 0 unless it refused this one. With a limit of
    /// zero, which admits no calls, it is 60.
    pub retry_after: u32,
}

impl Window {
    /// Admits the call at `now` if fewer than `per_minute` calls were admitted in the 60 seconds before it.
    pub fn admit(&mut self, now: u64, per_minute: u32) -> Verdict {
        let now = self.move_to(now);
        let admitted = self.has_room(per_minute);
        if admitted {
            self.push(now);
        }
        self.verdict(now, per_minute, admitted)
    }

    /// Admits the call at `now` if both windows admit it, each with its own limit. A call that one of them refuses
    /// counts in neither.
    pub fn admit_in_both(
        first: (&mut Window, u32),
        second: (&mut Window, u32),
        now: u64,
    ) -> (Verdict, Verdict) {
        let ((first, first_limit), (second, second_limit)) = (first, second);
        let now = first.move_to(now);
        let now = second.move_to(now);
        first.move_to(now);
        let (first_admits, second_admits) = (first.has_room(first_limit), second.has_room(second_limit));
        if first_admits && second_admits {
            first.push(now);
            second.push(now);
        }
        (
            first.verdict(now, first_limit, first_admits),
            second.verdict(now, second_limit, second_admits),
        )
    }

    /// Returns what the window would decide about a call at `now`, without counting it.
    pub fn peek(&mut self, now: u64, per_minute: u32) -> Verdict {
        let now = self.move_to(now);
        self.verdict(now, per_minute, self.has_room(per_minute))
    }

    /// Counts a call at `now` that was admitted elsewhere.
    pub fn count(&mut self, now: u64) {
        let now = self.move_to(now);
        self.push(now);
    }

    /// Restores calls that an earlier process admitted at `time`. They must be restored in order.
    pub fn restore(&mut self, time: u64, calls: usize) {
        self.admitted.extend(std::iter::repeat_n(time, calls));
    }

    /// Returns the times of the calls that were admitted since the last time.
    pub(crate) fn take_unsaved(&mut self) -> impl Iterator<Item = u64> {
        let saved = self.admitted.len() - std::mem::take(&mut self.unsaved);
        self.admitted.range(saved..).copied()
    }

    /// Returns whether the window is empty at `now`, so that it can be dropped.
    pub(crate) fn is_idle(&self, now: u64) -> bool {
        self.admitted.back().is_none_or(|last| has_left(*last, now))
    }

    /// Drops the calls that have left the window at `now`, and returns the time that counts as now: two threads may read
    /// the clock in one order and get here in the other.
    fn move_to(&mut self, now: u64) -> u64 {
        let now = self.admitted.back().map_or(now, |last| now.max(*last));
        while self.admitted.front().is_some_and(|first| has_left(*first, now)) {
            self.admitted.pop_front();
        }
        self.unsaved = self.unsaved.min(self.admitted.len());
        now
    }

    fn has_room(&self, per_minute: u32) -> bool {
        self.admitted.len() < per_minute as usize
    }

    fn push(&mut self, now: u64) {
        self.admitted.push_back(now);
        self.unsaved += 1;
    }

    fn verdict(&self, now: u64, per_minute: u32, admitted: bool) -> Verdict {
        let (limit, counted) = (per_minute as usize, self.admitted.len());
        let retry_after = match limit {
            _ if admitted => 0,
            0 => WINDOW_SECONDS,
            // After the limit was lowered, the window may contain more calls than it allows. Then more than the oldest
            // call has to leave before another one is admitted.
            _ => self.seconds_until_gone(counted - limit, now),
        };
        Verdict {
            admitted,
            per_minute,
            remaining: limit.saturating_sub(counted) as u32,
            resets_in: self.seconds_until_gone(0, now),
            retry_after,
        }
    }

    fn seconds_until_gone(&self, index: usize, now: u64) -> u32 {
        self.admitted.get(index).map_or(WINDOW_SECONDS, |time| {
            (time + WINDOW_MICROS).saturating_sub(now).div_ceil(SECOND_MICROS) as u32
        })
    }
}

fn has_left(time: u64, now: u64) -> bool {
    time + WINDOW_MICROS <= now
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn after_the_first_call_the_rest_of_the_limit_remains() {
        let verdict = Window::default().admit(5 * SECOND_MICROS, 500);
        assert_eq!(
            verdict,
            Verdict {
                admitted: true,
                per_minute: 500,
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
            assert!(window.admit(second * SECOND_MICROS, 3).admitted);
        }
        let refused = window.admit(59 * SECOND_MICROS + 1, 3);
        assert_eq!(
            refused,
            Verdict {
                admitted: false,
                per_minute: 3,
                remaining: 0,
                resets_in: 1,
                retry_after: 1
            }
        );
        assert!(!window.admit(60 * SECOND_MICROS - 1, 3).admitted);
        assert!(window.admit(60 * SECOND_MICROS, 3).admitted);
    }

    #[test]
    fn after_the_limit_is_lowered_several_calls_have_to_leave_the_window() {
        let mut window = Window::default();
        for second in 0..10 {
            assert!(window.admit(second * SECOND_MICROS, 10).admitted);
        }
        let refused = window.admit(10 * SECOND_MICROS, 2);
        assert_eq!(
            refused,
            Verdict {
                admitted: false,
                per_minute: 2,
                remaining: 0,
                resets_in: 50,
                retry_after: 58
            }
        );
        assert!(window.admit(68 * SECOND_MICROS, 2).admitted);
    }

    #[test]
    fn a_raised_limit_applies_from_the_next_call_on() {
        let mut window = Window::default();
        assert!(window.admit(0, 1).admitted);
        assert!(!window.admit(1, 1).admitted);
        assert!(window.admit(2, 2).admitted);
    }

    #[test]
    fn a_limit_of_zero_admits_no_calls() {
        let refused = Window::default().admit(0, 0);
        assert_eq!(
            refused,
            Verdict {
                admitted: false,
                per_minute: 0,
                remaining: 0,
                resets_in: 60,
                retry_after: 60
            }
        );
    }

    #[test]
    fn out_of_order_times_admit_no_extra_calls() {
        let mut window = Window::default();
        assert!(window.admit(10 * SECOND_MICROS, 2).admitted);
        assert!(window.admit(9 * SECOND_MICROS, 2).admitted);
        assert!(!window.admit(69 * SECOND_MICROS, 2).admitted);
        assert!(window.admit(70 * SECOND_MICROS, 2).admitted);
    }

    #[test]
    fn a_window_is_idle_after_its_last_call_has_left() {
        let mut window = Window::default();
        assert!(window.is_idle(0));
        window.admit(0, 5);
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
                let verdict = window.admit(now, limit);
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
                if window.admit(now, limit).admitted {
                    log.push(now);
                }
            }
            for (index, start) in log.iter().enumerate() {
                let within = log[index..].iter().filter(|&&time| time < start + WINDOW_MICROS).count();
                prop_assert!(within <= limit as usize);
            }
        }

        /// Retry-After is exact: a call is admitted after that many seconds, and would be refused a second earlier.
        #[test]
        fn a_refused_caller_is_admitted_after_retry_after_and_no_second_earlier(calls in calls()) {
            let mut window = Window::default();
            let mut now = 0;
            for (pause, limit) in calls {
                now += pause;
                let verdict = window.admit(now, limit);
                if verdict.admitted {
                    prop_assert_eq!(verdict.retry_after, 0);
                } else if limit > 0 {
                    prop_assert!((1..=60).contains(&verdict.retry_after));
                    let wait = u64::from(verdict.retry_after) * SECOND_MICROS;
                    prop_assert!(!window.peek(now + wait - SECOND_MICROS, limit).admitted);
                    now += wait;
                    prop_assert!(window.admit(now, limit).admitted);
                }
            }
        }

        /// The law for two windows, checked against complete logs: a call is admitted if and only if both have room, a
        /// refused call counts in neither, no 60 seconds contain more calls than either limit, and the longer
        /// Retry-After is exact.
        #[test]
        fn a_call_is_admitted_exactly_when_both_windows_have_room(
            limits in (1..12_u32, 1..6_u32),
            calls in prop::collection::vec((pause(), 0..3_usize), 1..300),
        ) {
            let mut key = Window::default();
            let mut addresses = [(); 3].map(|()| Window::default());
            let mut log: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (pause, address) in calls {
                now += pause;
                let in_window = |now: u64, log: &[(u64, usize)]| {
                    let recent = log.iter().filter(|(time, _)| time + WINDOW_MICROS > now);
                    let own = recent.clone().filter(|(_, caller)| *caller == address).count();
                    (recent.count(), own)
                };
                let has_room = |now: u64, log: &[(u64, usize)]| {
                    let (all, own) = in_window(now, log);
                    all < limits.0 as usize && own < limits.1 as usize
                };
                let window = &mut addresses[address];
                let (by_key, by_address) =
                    Window::admit_in_both((&mut key, limits.0), (window, limits.1), now);
                prop_assert_eq!(by_key.admitted && by_address.admitted, has_room(now, &log));
                if has_room(now, &log) {
                    prop_assert_eq!(by_key.retry_after.max(by_address.retry_after), 0);
                    log.push((now, address));
                } else {
                    let wait = u64::from(by_key.retry_after.max(by_address.retry_after)) * SECOND_MICROS;
                    prop_assert!(has_room(now + wait, &log));
                    prop_assert!(!has_room(now + wait - SECOND_MICROS, &log));
                }
                let (all, own) = in_window(now, &log);
                prop_assert_eq!(by_key.remaining as usize, limits.0 as usize - all);
                prop_assert_eq!(by_address.remaining as usize, limits.1 as usize - own);
            }
            for (index, (start, address)) in log.iter().enumerate() {
                let minute = log[index..].iter().filter(|(time, _)| *time < start + WINDOW_MICROS);
                prop_assert!(minute.clone().count() <= limits.0 as usize);
                prop_assert!(minute.filter(|(_, caller)| caller == address).count() <= limits.1 as usize);
            }
        }

        #[test]
        fn a_window_stores_no_more_calls_than_the_limit(limit in 1..50_u32, count in 1..500_usize) {
            let mut window = Window::default();
            for time in 0..count as u64 {
                window.admit(time, limit);
            }
            prop_assert!(window.admitted.len() <= limit as usize);
            prop_assert!(window.admitted.capacity() <= (limit as usize).next_power_of_two().max(4));
        }
    }
}
