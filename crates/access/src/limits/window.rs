//! How many calls a minute: an exact sliding window.
//!
//! The window keeps the moment of every call it let through in the last 60 seconds, so the promise is literal:
//! no 60 seconds ever see more than the limit, and no call below it is refused, but for the fairness between
//! several addresses that [`shares`](super::shares) adds. There is no clock in here; the caller owns time and passes
//! the limit with each call, so that a new limit holds from the next call on.

use super::shares::{Shares, Visitor};
use super::{SECOND_MICROS, WINDOW_MICROS, WINDOW_SECONDS};
use std::collections::VecDeque;

/// The calls of one key and class that were let through within the last 60 seconds.
///
/// Moments are microseconds of any clock that does not run backwards. A call exactly 60 seconds old has left.
#[derive(Debug, Default)]
pub struct Window {
    admitted: VecDeque<Call>,
    /// How many of the last calls no store has heard of.
    unsaved: usize,
    /// Who holds what, from the first refusal until the key has been out of want for two minutes.
    shares: Option<Box<Shares>>,
}

/// The moment of a call, and in its lowest byte the visitor that made it.
#[derive(Clone, Copy, Debug)]
struct Call(u64);

impl Call {
    fn new(moment: u64, visitor: Visitor) -> Call {
        Call(moment << 8 | u64::from(visitor.0))
    }

    fn moment(self) -> u64 {
        self.0 >> 8
    }

    fn visitor(self) -> Visitor {
        Visitor(self.0 as u8)
    }

    fn has_left(self, now: u64) -> bool {
        self.moment() + WINDOW_MICROS <= now
    }
}

/// What the window says to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub admitted: bool,
    /// Calls of this caller that would still be let through at this moment, after this one: `r` of the RateLimit
    /// field.
    pub remaining: u32,
    /// Whole seconds, rounded up, until the oldest counted call leaves the window and quota starts to come back:
    /// `t` of the RateLimit field. 60 for a first call.
    pub resets_in: u32,
    /// Whole seconds, rounded up, after which the next call is let through: 0 unless this call was refused.
    /// A limit of zero lets nothing through, ever; it says 60.
    pub retry_after: u32,
}

impl Window {
    /// Lets the call at `now` through if fewer than `per_minute` were in the 60 seconds that end with it, and if
    /// it is not kept for somebody who has had less.
    pub fn admit(&mut self, now: u64, per_minute: u32, visitor: Visitor) -> Verdict {
        // Two threads may read the clock in one order and arrive here in the other.
        let now = self.admitted.back().map_or(now, |last| now.max(last.moment()));
        self.forget(now);
        let limit = per_minute as usize;
        let room = self.room(limit, visitor);
        let retry_after = if room > 0 {
            self.push(now, visitor);
            0
        } else {
            self.refuse(now, limit, visitor)
        };
        Verdict {
            admitted: room > 0,
            remaining: room.saturating_sub(1) as u32,
            resets_in: self.seconds_until_gone(0, now),
            retry_after,
        }
    }

    /// Counts calls of an earlier process that were let through at `moment`, none of them before the last one known.
    pub fn restore(&mut self, moment: u64, calls: usize) {
        let call = Call::new(moment, Visitor::UNKNOWN);
        self.admitted.extend(std::iter::repeat_n(call, calls));
    }

    /// The moments of the calls that were let through since this was last asked.
    pub fn take_unsaved(&mut self) -> impl Iterator<Item = u64> {
        let known = self.admitted.len() - std::mem::take(&mut self.unsaved);
        self.admitted.range(known..).map(|call| call.moment())
    }

    /// Whether nothing is counted any more at `now`, so that the window can be dropped.
    pub fn is_idle(&self, now: u64) -> bool {
        self.admitted.back().is_none_or(|last| last.has_left(now))
            && self.shares.as_ref().is_none_or(|shares| shares.are_over(now))
    }

    fn room(&self, limit: usize, visitor: Visitor) -> usize {
        let free = limit.saturating_sub(self.admitted.len());
        match &self.shares {
            Some(shares) => shares.room(limit, free, visitor),
            None => free,
        }
    }

    fn push(&mut self, now: u64, visitor: Visitor) {
        self.admitted.push_back(Call::new(now, visitor));
        self.unsaved += 1;
        if let Some(shares) = &mut self.shares {
            shares.enter(visitor);
        }
    }

    /// Notes that somebody was turned away, and finds the seconds after which that would not happen again.
    fn refuse(&mut self, now: u64, limit: usize, visitor: Visitor) -> u32 {
        let calls = &self.admitted;
        let shares = self
            .shares
            .get_or_insert_with(|| Box::new(Shares::of(calls.iter().map(|call| call.visitor()), now)));
        shares.refuse(visitor, now, calls.len(), limit);
        // After the limit was lowered more calls may be counted than it allows: the one that must leave
        // before a call fits again is then not the oldest.
        let mut blocking = calls.len().saturating_sub(limit);
        let beyond = shares.beyond_share(limit, visitor);
        if limit > 0 && beyond > 0 {
            let own = calls
                .iter()
                .enumerate()
                .filter(|(_, call)| call.visitor() == visitor);
            let last = own.take(beyond).last();
            blocking = blocking.max(last.map_or(0, |(place, _)| place));
        }
        match limit {
            0 => WINDOW_SECONDS,
            _ => self.seconds_until_gone(blocking, now),
        }
    }

    fn forget(&mut self, now: u64) {
        while let Some(first) = self.admitted.front().filter(|first| first.has_left(now)) {
            if let Some(shares) = &mut self.shares {
                shares.leave(first.visitor());
            }
            self.admitted.pop_front();
        }
        self.unsaved = self.unsaved.min(self.admitted.len());
        if self.shares.as_ref().is_some_and(|shares| shares.are_over(now)) {
            self.shares = None;
        }
    }

    fn seconds_until_gone(&self, index: usize, now: u64) -> u32 {
        self.admitted.get(index).map_or(WINDOW_SECONDS, |call| {
            (call.moment() + WINDOW_MICROS)
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
    fn a_first_call_leaves_the_rest_of_the_limit_and_resets_in_a_minute() {
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
    fn the_call_after_the_last_one_allowed_is_refused_until_the_first_has_left() {
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
    fn a_lowered_limit_waits_for_the_call_that_blocks_and_not_for_the_oldest() {
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
    fn a_raised_limit_holds_from_the_next_call_on() {
        let mut window = Window::default();
        assert!(window.admit(0, 1, ANN).admitted);
        assert!(!window.admit(1, 1, ANN).admitted);
        assert!(window.admit(2, 2, ANN).admitted);
    }

    #[test]
    fn a_limit_of_zero_lets_nothing_through() {
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
    fn a_clock_read_out_of_order_frees_nothing_early() {
        let mut window = Window::default();
        assert!(window.admit(10 * SECOND_MICROS, 2, ANN).admitted);
        assert!(window.admit(9 * SECOND_MICROS, 2, ANN).admitted);
        assert!(!window.admit(69 * SECOND_MICROS, 2, ANN).admitted);
        assert!(window.admit(70 * SECOND_MICROS, 2, ANN).admitted);
    }

    #[test]
    fn a_window_is_idle_once_its_last_call_has_left() {
        let mut window = Window::default();
        assert!(window.is_idle(0));
        window.admit(0, 5, ANN);
        assert!(!window.is_idle(WINDOW_MICROS - 1));
        assert!(window.is_idle(WINDOW_MICROS));
    }

    /// Pauses that fall on and around the edges of the window as well as anywhere inside it.
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
        /// Both halves of the promise at once, against a log that never forgets: a call is let through exactly
        /// when fewer than the limit were let through in the 60 seconds that end with it.
        #[test]
        fn a_call_passes_exactly_when_fewer_than_the_limit_passed_in_its_minute(calls in calls()) {
            let mut window = Window::default();
            let mut log: Vec<u64> = Vec::new();
            let mut now = 0;
            for (pause, limit) in calls {
                now += pause;
                let counted = |log: &[u64]| log.iter().filter(|&&moment| moment + WINDOW_MICROS > now).count();
                let verdict = window.admit(now, limit, ANN);
                prop_assert_eq!(verdict.admitted, counted(&log) < limit as usize);
                if verdict.admitted {
                    log.push(now);
                }
                prop_assert_eq!(verdict.remaining as usize, (limit as usize).saturating_sub(counted(&log)));
                let oldest = log.iter().find(|&&moment| moment + WINDOW_MICROS > now);
                let expected = oldest.map_or(60, |moment| (moment + WINDOW_MICROS - now).div_ceil(SECOND_MICROS));
                prop_assert_eq!(u64::from(verdict.resets_in), expected);
            }
        }

        #[test]
        fn no_sixty_seconds_see_more_than_the_limit(limit in 1..9_u32, pauses in prop::collection::vec(pause(), 1..300)) {
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
                let within = log[index..].iter().filter(|&&moment| moment < start + WINDOW_MICROS).count();
                prop_assert!(within <= limit as usize);
            }
        }

        #[test]
        fn a_refused_caller_who_waits_as_told_is_let_through(calls in calls()) {
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
        fn a_window_holds_no_more_than_the_limit(limit in 1..50_u32, count in 1..500_usize) {
            let mut window = Window::default();
            for moment in 0..count as u64 {
                window.admit(moment, limit, ANN);
            }
            prop_assert!(window.admitted.len() <= limit as usize);
            prop_assert!(window.admitted.capacity() <= (limit as usize).next_power_of_two().max(4));
        }
    }
}
