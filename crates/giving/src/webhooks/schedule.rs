//! When attempts are made, and what follows from their outcomes. Does no I/O, and is told the time.

use super::DAY_MILLIS;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// The pauses between the attempts to deliver one event, before jitter.
const DELAYS: [i64; 9] = [
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];
/// The attempts to deliver an event to an endpoint that accepts others.
const MAX_ATTEMPTS: i64 = 10;
/// After so many failures in a row, only the oldest event is tried.
const FAILING_AFTER: i64 = 10;
/// An endpoint is disabled after so much time of nothing but failures.
const DISABLED_AFTER_MILLIS: i64 = 5 * DAY_MILLIS;
/// The longest pause that a receiver can ask for.
const MAX_RETRY_AFTER: i64 = 24 * HOUR;
/// The attempts in progress for one endpoint.
const MAX_IN_FLIGHT: usize = 8;
/// The same until an endpoint has accepted an event, and after a failure, so that receivers that hang leave most of a
/// server to others.
const CAUTIOUS_IN_FLIGHT: usize = 2;
/// A pause differs from its plan by up to a tenth, in thousandths.
const JITTER: i64 = 100;

/// Whether events are sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Enabled,
    /// Too many attempts failed in a row: only the oldest event is tried, and the rest waits for its success.
    Failing,
    /// Nothing is sent.
    Disabled,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Enabled, Status::Failing, Status::Disabled];

    pub const fn name(self) -> &'static str {
        match self {
            Status::Enabled => "enabled",
            Status::Failing => "failing",
            Status::Disabled => "disabled",
        }
    }

    pub fn find(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// What the last attempts say about an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    pub status: Status,
    /// The failures since the last success, and when the first of them was.
    pub failures: i64,
    pub failing_since: Option<i64>,
    pub succeeded_at: Option<i64>,
}

impl Health {
    /// An endpoint to which nothing was sent.
    pub const NEW: Health = Health {
        status: Status::Enabled,
        failures: 0,
        failing_since: None,
        succeeded_at: None,
    };

    /// The number of attempts that may be in progress.
    pub(super) fn max_in_flight(self) -> usize {
        match self.status {
            Status::Enabled if self.failures == 0 && self.succeeded_at.is_some() => MAX_IN_FLIGHT,
            Status::Enabled => CAUTIOUS_IN_FLIGHT,
            Status::Failing => 1,
            Status::Disabled => 0,
        }
    }
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Delivered,
    /// The receiver says that it is gone for good (410).
    Gone,
    /// The receiver may have asked for a pause, in milliseconds.
    Failed {
        retry_after: Option<i64>,
    },
}

/// What becomes of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Delivered,
    RetryAt(i64),
    GiveUp,
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub health: Health,
    pub next: Next,
    /// Whether events that wait for their next attempt are due now.
    pub releases: bool,
    /// Why the endpoint was disabled by this.
    pub disabled: Option<DisabledBecause>,
}

/// Why an endpoint was disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisabledBecause {
    Gone,
    FiveDays,
}

/// Decides what follows from the outcome of an attempt. `attempts` includes this one; `random` is any number.
pub(super) fn decide(health: Health, attempts: i64, outcome: Outcome, now: i64, random: u64) -> Decision {
    match outcome {
        Outcome::Delivered => Decision {
            health: Health {
                status: match health.status {
                    Status::Failing => Status::Enabled,
                    status => status,
                },
                failures: 0,
                failing_since: None,
                succeeded_at: Some(now),
            },
            next: Next::Delivered,
            releases: health.failures > 0,
            disabled: None,
        },
        Outcome::Gone => fail(health, attempts, None, now, random, Some(DisabledBecause::Gone)),
        Outcome::Failed { retry_after } => {
            let since = health.failing_since.unwrap_or(now);
            let is_over = now - since >= DISABLED_AFTER_MILLIS;
            let because = is_over.then_some(DisabledBecause::FiveDays);
            fail(health, attempts, retry_after, now, random, because)
        }
    }
}

fn fail(
    health: Health,
    attempts: i64,
    retry_after: Option<i64>,
    now: i64,
    random: u64,
    because: Option<DisabledBecause>,
) -> Decision {
    let failures = health.failures + 1;
    let since = health.failing_since.unwrap_or(now);
    let status = match (health.status, because) {
        (Status::Disabled, _) | (_, Some(_)) => Status::Disabled,
        _ if failures >= FAILING_AFTER => Status::Failing,
        (status, None) => status,
    };
    let planned = now + jittered(delay(attempts), random);
    let asked = now + retry_after.unwrap_or(0).clamp(0, MAX_RETRY_AFTER);
    let next = match status {
        // Kept for the day on which it is enabled again.
        Status::Disabled => Next::RetryAt(now),
        // The last attempt is made when five days are over.
        Status::Failing => Next::RetryAt(
            planned
                .max(asked)
                .min((since + DISABLED_AFTER_MILLIS).max(now + SECOND)),
        ),
        Status::Enabled if attempts >= MAX_ATTEMPTS => Next::GiveUp,
        Status::Enabled => Next::RetryAt(planned.max(asked)),
    };
    Decision {
        health: Health {
            status,
            failures,
            failing_since: Some(since),
            ..health
        },
        next,
        releases: false,
        disabled: because.filter(|_| health.status != Status::Disabled),
    }
}

/// The pause after so many attempts.
fn delay(attempts: i64) -> i64 {
    let index = (attempts - 1).clamp(0, DELAYS.len() as i64 - 1);
    DELAYS[index as usize]
}

fn jittered(delay: i64, random: u64) -> i64 {
    let thousandths = 1_000 - JITTER + (random % (2 * JITTER as u64 + 1)) as i64;
    delay * thousandths / 1_000
}

/// Parses the header `Retry-After`: seconds, or a date. Returns milliseconds from now on.
pub(super) fn parse_retry_after(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(SECOND));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some((date.timestamp().as_millisecond() - now).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn one_event_is_tried_ten_times_and_the_endpoint_is_disabled_after_five_days() {
        let (mut health, mut now, mut attempts) = (Health::NEW, 0, 0);
        let mut times = Vec::new();
        while health.status != Status::Disabled {
            attempts += 1;
            times.push(now);
            // Without jitter.
            let decision = decide(
                health,
                attempts,
                Outcome::Failed { retry_after: None },
                now,
                JITTER as u64,
            );
            health = decision.health;
            match decision.next {
                Next::RetryAt(at) => now = at,
                next => panic!("{next:?}"),
            }
        }
        let hours = |hours: i64| hours * HOUR;
        let expected = [
            0,
            5 * SECOND,
            305 * SECOND,
            2_105 * SECOND,
            hours(2) + 2_105 * SECOND,
            hours(7) + 2_105 * SECOND,
            hours(17) + 2_105 * SECOND,
            hours(31) + 2_105 * SECOND,
            hours(51) + 2_105 * SECOND,
            hours(75) + 2_105 * SECOND,
            hours(99) + 2_105 * SECOND,
            hours(120),
        ];
        assert_eq!(times, expected);
    }

    #[test]
    fn a_receiver_can_ask_for_a_pause_by_seconds_or_a_date() {
        assert_eq!(parse_retry_after(" 120 ", 0), Some(120_000));
        assert_eq!(
            parse_retry_after("Thu, 01 Jan 1970 00:02:00 GMT", 60_000),
            Some(60_000)
        );
        assert_eq!(
            parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 60_000),
            Some(0)
        );
        for text in ["", "-1", "soon", "1.5"] {
            assert_eq!(parse_retry_after(text, 0), None, "{text}");
        }
        let asked = |seconds: i64| {
            let outcome = Outcome::Failed {
                retry_after: Some(seconds * SECOND),
            };
            decide(Health::NEW, 1, outcome, 0, JITTER as u64).next
        };
        assert_eq!(asked(1), Next::RetryAt(5 * SECOND));
        assert_eq!(asked(600), Next::RetryAt(600 * SECOND));
        assert_eq!(asked(i64::MAX / SECOND), Next::RetryAt(24 * HOUR));
    }

    /// A delivery in the model of a queue: its subject, its attempts, and when it is due or what became of it.
    #[derive(Clone, Copy, Debug)]
    struct Queued {
        subject: u8,
        attempts: i64,
        /// `None` if it is finished.
        due: Option<i64>,
        in_flight: bool,
    }

    /// The heads of all subjects that can be tried now, as the store chooses them.
    fn choose(health: Health, queue: &BTreeMap<usize, Queued>, now: i64) -> Vec<usize> {
        let mut heads = BTreeMap::new();
        for (index, queued) in queue.iter().filter(|(_, queued)| queued.due.is_some()) {
            heads.entry(queued.subject).or_insert(*index);
        }
        let mut heads: Vec<usize> = heads.into_values().collect();
        heads.sort_unstable();
        if health.status == Status::Failing {
            heads.truncate(1);
        }
        let in_flight = queue.values().filter(|queued| queued.in_flight).count();
        heads.retain(|index| !queue[index].in_flight && queue[index].due.is_some_and(|due| due <= now));
        heads.truncate(health.max_in_flight().saturating_sub(in_flight));
        heads
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it is a setting of the tests, not of Causeway"
    )]
    fn cases() -> u32 {
        let cases = std::env::var("CAUSEWAY_TEST_CASES").ok();
        cases.and_then(|cases| cases.parse().ok()).unwrap_or(200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

        /// Whatever receivers answer and however the clock moves: pauses are within their bounds, an endpoint is failing after ten
        /// failures in a row and disabled after five days of them, the first success releases it, and no two events of a
        /// subject are in flight.
        #[test]
        fn the_scheduler_keeps_its_rules(
            subjects in prop::collection::vec(0_u8..4, 1..12),
            steps in prop::collection::vec((0_u8..8, any::<u64>(), 0_i64..30 * HOUR), 1..80),
        ) {
            let (mut health, mut now) = (Health::NEW, 0);
            let queued = |subject: &u8| Queued { subject: *subject, attempts: 0, due: Some(0), in_flight: false };
            let mut queue: BTreeMap<usize, Queued> = subjects.iter().map(queued).enumerate().collect();
            let (mut failures, mut since) = (0, None);
            for (answer, random, pause) in steps {
                for index in choose(health, &queue, now) {
                    let queued = queue.get_mut(&index).unwrap();
                    (queued.in_flight, queued.attempts) = (true, queued.attempts + 1);
                }
                let flying: Vec<usize> = queue.iter().filter(|(_, queued)| queued.in_flight).map(|(index, _)| *index).collect();
                let mut busy: Vec<u8> = flying.iter().map(|index| queue[index].subject).collect();
                busy.dedup();
                busy.sort_unstable();
                busy.dedup();
                prop_assert_eq!(busy.len(), flying.len(), "two of one subject");
                prop_assert!(flying.len() <= MAX_IN_FLIGHT);
                // The attempt that ends first.
                if let Some(index) = flying.get(random as usize % flying.len().max(1)).copied() {
                    let before = health;
                    let outcome = match answer {
                        0 | 1 => Outcome::Delivered,
                        2 => Outcome::Failed { retry_after: Some((random % (40 * HOUR as u64)) as i64) },
                        3 if random.is_multiple_of(16) => Outcome::Gone,
                        _ => Outcome::Failed { retry_after: None },
                    };
                    let attempts = queue[&index].attempts;
                    let decision = decide(health, attempts, outcome, now, random);
                    health = decision.health;
                    let queued = queue.get_mut(&index).unwrap();
                    queued.in_flight = false;
                    if outcome == Outcome::Delivered {
                        (failures, since) = (0, None);
                        prop_assert_eq!(decision.next, Next::Delivered);
                        if before.status != Status::Disabled {
                            prop_assert_eq!(health.status, Status::Enabled);
                        }
                    } else {
                        failures += 1;
                        since = since.or(Some(now));
                    }
                    prop_assert_eq!((health.failures, health.failing_since), (failures, since));
                    if let (Outcome::Failed { retry_after }, Some(first)) = (outcome, since) {
                        let is_over = now - first >= DISABLED_AFTER_MILLIS;
                        let expected = if before.status == Status::Disabled || is_over {
                            Status::Disabled
                        } else if failures >= FAILING_AFTER {
                            Status::Failing
                        } else {
                            before.status
                        };
                        prop_assert_eq!(health.status, expected);
                        match decision.next {
                            Next::RetryAt(at) if health.status != Status::Disabled => {
                                let asked = retry_after.unwrap_or(0).min(MAX_RETRY_AFTER);
                                let plan = DELAYS[(attempts - 1).min(8) as usize];
                                let end = (first + DISABLED_AFTER_MILLIS - now).max(SECOND);
                                prop_assert!(at - now <= (plan * 11 / 10).max(asked));
                                prop_assert!(at - now >= (plan * 9 / 10).max(asked).min(end));
                            }
                            Next::GiveUp => prop_assert!(attempts >= MAX_ATTEMPTS && health.status == Status::Enabled),
                            Next::RetryAt(_) => {}
                            Next::Delivered => prop_assert!(false),
                        }
                    }
                    if outcome == Outcome::Gone {
                        prop_assert_eq!(health.status, Status::Disabled);
                    }
                    queued.due = match decision.next {
                        Next::RetryAt(at) => Some(at),
                        Next::Delivered | Next::GiveUp => None,
                    };
                    if decision.releases {
                        for queued in queue.values_mut() {
                            queued.due = queued.due.map(|due| due.min(now));
                        }
                    }
                } else {
                    now += pause;
                }
            }
        }
    }
}
