//! The calls of one window that this server admitted: what it tells Redis about them, and how many it admits by itself.
//!
//! Does no I/O. Redis may lose calls: when it is restarted, flushed, or replaced by a replica that lags behind. Each server
//! therefore has a record, a number that grows with every call that it counts, and Redis stores it with the calls. If Redis
//! has a lower one, the server sends its calls again.

use super::WINDOW_MICROS;
use super::script::{OwnQuery, WindowState};
use std::collections::VecDeque;

/// By how much the record grows with a call that Redis has not counted: more than the number of calls in flight, so that
/// their answers do not hide it.
const ALONE_STEP: u64 = 1_000_000;

/// The calls that a server admitted within the last minute, in microseconds of its clock.
#[derive(Clone, Debug, Default)]
pub struct OwnCalls {
    /// Oldest first.
    times: VecDeque<u64>,
    /// Those of them that this server took from its share of the limit.
    alone: VecDeque<u64>,
    record: u64,
    /// When Redis last had all calls, as far as this server knows, and the number of calls of others that it then had.
    others: Option<(u64, u64)>,
}

impl OwnCalls {
    /// Records the answer of Redis about a call at `now`, and counts the call if it was admitted.
    pub fn record_answer(&mut self, now: u64, state: &WindowState, is_admitted: bool) {
        if is_admitted {
            self.count(now);
        }
        self.record = self.record.max(state.record);
        self.prune(now);
        let others = state.counted.saturating_sub(self.times.len() as u64);
        // Answers may arrive out of order.
        if self.others.is_none_or(|(asked_at, _)| asked_at <= now) {
            self.others = Some((now, others));
        }
    }

    /// Records the answer of Redis about a call at `now` while Redis may lack calls of others. The call counts as one from
    /// the share of this server.
    pub(crate) fn record_doubtful_answer(&mut self, now: u64, state: &WindowState, is_admitted: bool) {
        if is_admitted {
            self.count(now);
            insert(&mut self.alone, now);
        }
        self.record = self.record.max(state.record);
        self.prune(now);
    }

    /// Counts a call that this server admitted by itself.
    pub fn count_alone(&mut self, now: u64) {
        self.count(now);
        insert(&mut self.alone, now);
        self.record += ALONE_STEP;
    }

    /// Returns what Redis is told: the calls that are younger than `age`, and if they are to be sent, their ages.
    ///
    /// Redis counts a call slightly later than this server, so calls that are about to leave the window are left out: they
    /// may have left that of Redis.
    pub fn query(&self, now: u64, age: u64, sends_ages: bool) -> OwnQuery {
        let since = now.saturating_sub(age);
        let first = self.times.partition_point(|time| *time <= since);
        let ages = self.times.range(first..).map(|time| now.saturating_sub(*time));
        OwnQuery {
            record: self.record,
            count: self.times.len() - first,
            ages: if sends_ages { ages.collect() } else { Vec::new() },
        }
    }

    /// Returns how many more calls this server may admit at `now` while Redis is away or may lack calls: its share of what is
    /// left of the limit, so that all servers together admit no more. What others have admitted since Redis last had all
    /// calls is unknown.
    pub(crate) fn share_left(&mut self, now: u64, limit: u32, servers: u32) -> u32 {
        self.prune(now);
        let others = self.others.filter(|(asked_at, _)| asked_at + WINDOW_MICROS > now);
        let others = others.map_or(0, |(_, others)| others);
        let shared = (self.times.len() - self.alone.len()) as u64;
        let share = u64::from(limit).saturating_sub(shared + others) / u64::from(servers);
        share.saturating_sub(self.alone.len() as u64) as u32
    }

    /// Returns whether all calls have left the window.
    pub(crate) fn is_idle(&self, now: u64) -> bool {
        self.times.back().is_none_or(|last| last + WINDOW_MICROS <= now)
    }

    fn count(&mut self, now: u64) {
        self.prune(now);
        insert(&mut self.times, now);
    }

    fn prune(&mut self, now: u64) {
        for times in [&mut self.times, &mut self.alone] {
            while times.front().is_some_and(|first| first + WINDOW_MICROS <= now) {
                times.pop_front();
            }
        }
    }
}

/// Adds a time. Calls that started earlier may be counted later.
fn insert(times: &mut VecDeque<u64>, now: u64) {
    let position = times.partition_point(|time| *time <= now);
    times.insert(position, now);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(counted: u64, record: u64) -> WindowState {
        WindowState {
            has_room: true,
            counted,
            resets_in: 0,
            retry_in: 0,
            record,
        }
    }

    #[test]
    fn a_server_alone_takes_its_share_of_what_is_left() {
        let mut own = OwnCalls::default();
        assert_eq!(own.share_left(0, 500, 3), 166);
        // 10 own calls and 290 of others leave 200.
        for record in 1..=10 {
            own.record_answer(0, &state(290 + record, record), true);
        }
        assert_eq!(own.share_left(1, 500, 3), 66);
        own.count_alone(1);
        assert_eq!(own.share_left(1, 500, 3), 65);
        assert_eq!(own.share_left(WINDOW_MICROS, 500, 3), 165);
        assert_eq!(own.share_left(WINDOW_MICROS + 1, 500, 3), 166);
    }

    proptest! {
        /// Servers that all heard of the last call before Redis went away admit no more than the limit together.
        #[test]
        fn shares_never_exceed_the_limit(counts in prop::collection::vec(0..50_u64, 1..5), limit in 1..200_u32) {
            let servers = counts.len() as u32;
            let mut total = 0;
            let mut owns: Vec<OwnCalls> = Vec::new();
            for count in &counts {
                let mut own = OwnCalls::default();
                for _ in 0..(*count).min(u64::from(limit) - total) {
                    own.record_answer(1, &state(0, 0), true);
                    total += 1;
                }
                owns.push(own);
            }
            let before = total;
            for own in &mut owns {
                own.record_answer(2, &state(before, 0), false);
                while own.share_left(3, limit, servers) > 0 {
                    own.count_alone(3);
                    total += 1;
                }
            }
            prop_assert!(total <= u64::from(limit));
            prop_assert!(total + u64::from(servers) > u64::from(limit));
        }

        /// Redis goes away, loses its memory or not, and returns. Servers that all heard of every call before it went admit
        /// no more than the limit within a minute, although they notice its return at different times.
        #[test]
        fn an_outage_never_admits_more_than_the_limit(
            limit in 1..40_usize,
            servers in 1..4_usize,
            keeps_memory in any::<bool>(),
            (before, away) in (0..50_000_000_u64, 1..90_000_000_u64),
            lags in prop::collection::vec(0..10_000_000_u64, 3),
            steps in prop::collection::vec((0..3_usize, 1..2_000_000_u64), 1..400),
        ) {
            const MAX_LAG: u64 = 10_000_000;
            let mut owns = vec![OwnCalls::default(); servers];
            let (mut admitted, mut redis) = (Vec::<(usize, u64)>::new(), Vec::<(usize, u64)>::new());
            let mut is_lost = false;
            let mut now = WINDOW_MICROS;
            let goes_at = now + before;
            for (server, pause) in steps {
                now += pause;
                let server = server % servers;
                let returns_at = goes_at + away + lags[server];
                let is_away = now >= goes_at && now < returns_at;
                let is_in_doubt = now >= returns_at && now < returns_at + WINDOW_MICROS + MAX_LAG;
                if now >= goes_at && !is_lost && !keeps_memory {
                    redis.clear();
                    is_lost = true;
                }
                let own = &mut owns[server];
                let share = own.share_left(now, limit as u32, servers as u32);
                if (is_away || is_in_doubt) && share == 0 {
                    continue;
                }
                if is_away {
                    own.count_alone(now);
                    admitted.push((server, now));
                    continue;
                }
                let known = admitted.iter().filter(|(other, time)| *other == server && time + WINDOW_MICROS > now);
                let missing: Vec<_> = known.filter(|call| !redis.contains(call)).copied().collect();
                redis.extend(missing);
                redis.retain(|(_, time)| time + WINDOW_MICROS > now);
                let has_room = redis.len() < limit;
                if has_room {
                    redis.push((server, now));
                    admitted.push((server, now));
                }
                let counted = redis.len() as u64;
                if is_in_doubt {
                    own.record_doubtful_answer(now, &state(counted, 0), has_room);
                } else {
                    own.record_answer(now, &state(counted, 0), has_room);
                    if now < goes_at {
                        // The others ask at the same time.
                        for other in &mut owns {
                            other.record_answer(now, &state(counted, 0), false);
                        }
                    }
                }
                let within = admitted.iter().filter(|(_, time)| time + WINDOW_MICROS > now).count();
                prop_assert!(within <= limit, "{} calls of {}", within, limit);
            }
        }
    }
}
