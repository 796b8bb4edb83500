use super::Visitor;
use crate::limits::WINDOW_MICROS;
use crate::limits::window::Window;
use proptest::prelude::*;

const SECOND_MICROS: u64 = 1_000_000;
const MODEST: Visitor = Visitor(200);

/// Greedy visitors who call in bursts, and one modest visitor who calls `pace` times per minute.
struct Crowd {
    limit: u32,
    /// The number of greedy visitors.
    greedy: u8,
    pace: u64,
    /// The number of calls of each greedy visitor in a burst.
    burst: u32,
    /// The time between two bursts, in microseconds.
    every: u64,
}

impl Crowd {
    /// Simulates a number of minutes. Returns the times of the refused calls of the modest visitor, and those of all
    /// admitted calls.
    fn simulate(&self, minutes: u64) -> (Vec<u64>, Vec<u64>) {
        let mut window = Window::default();
        let (mut refused, mut admitted) = (Vec::new(), Vec::new());
        let end = minutes * WINDOW_MICROS;
        let (mut next_burst, mut next_modest) = (0, SECOND_MICROS / 2);
        while next_burst.min(next_modest) < end {
            if next_burst <= next_modest {
                for _ in 0..self.burst {
                    for visitor in 1..=self.greedy {
                        let verdict = window.admit(next_burst, self.limit, Visitor(visitor));
                        admitted.extend(verdict.admitted.then_some(next_burst));
                    }
                }
                next_burst += self.every;
            } else {
                if window.admit(next_modest, self.limit, MODEST).admitted {
                    admitted.push(next_modest);
                } else {
                    refused.push(next_modest);
                }
                next_modest += WINDOW_MICROS / self.pace;
            }
        }
        (refused, admitted)
    }
}

fn max_in_a_window(admitted: &[u64]) -> usize {
    let mut first = 0;
    let mut max = 0;
    for (index, time) in admitted.iter().enumerate() {
        while admitted[first] + WINDOW_MICROS <= *time {
            first += 1;
        }
        max = max.max(index + 1 - first);
    }
    max
}

#[test]
fn without_sharing_a_greedy_visitor_starves_the_others() {
    let mut window = Window::default();
    let mut served = 0;
    for tick in 0..600 {
        for _ in 0..5 {
            window.admit(tick * SECOND_MICROS / 2, 60, Visitor(1));
        }
        // The window cannot distinguish this visitor from the greedy one.
        served +=
            u32::from(tick % 20 == 19 && window.admit(tick * SECOND_MICROS / 2, 60, Visitor(1)).admitted);
    }
    assert_eq!(served, 0);
}

#[test]
fn bursts_in_sync_with_the_window_do_not_starve_a_modest_visitor() {
    for every in [
        WINDOW_MICROS - SECOND_MICROS,
        WINDOW_MICROS,
        WINDOW_MICROS + SECOND_MICROS / 2,
        WINDOW_MICROS + 7 * SECOND_MICROS,
    ] {
        let crowd = Crowd {
            limit: 500,
            greedy: 1,
            pace: 6,
            burst: 1_000,
            every,
        };
        let (refused, _) = crowd.simulate(20);
        let late: Vec<_> = refused.iter().filter(|time| **time > 2 * WINDOW_MICROS).collect();
        assert!(late.is_empty(), "{every}: {late:?}");
    }
}

#[test]
fn a_visitor_above_its_share_is_told_when_it_will_be_below_it() {
    let mut window = Window::default();
    for second in 0..10 {
        assert!(window.admit(second * SECOND_MICROS, 10, Visitor(1)).admitted);
    }
    assert!(!window.admit(10 * SECOND_MICROS, 10, MODEST).admitted);
    assert!(window.admit(60 * SECOND_MICROS, 10, MODEST).admitted);
    // The visitor has nine calls in the window and a share of five, so five have to leave before the next one.
    let refused = window.admit(61 * SECOND_MICROS, 10, Visitor(1));
    assert!(!refused.admitted && refused.remaining == 0);
    assert_eq!(refused.retry_after, 4);
    assert!(!window.admit(64 * SECOND_MICROS, 10, Visitor(1)).admitted);
    assert!(window.admit(65 * SECOND_MICROS, 10, Visitor(1)).admitted);
}

#[test]
fn calls_that_are_not_reserved_are_available_to_everyone() {
    let mut window = Window::default();
    for _ in 0..500 {
        window.admit(0, 500, Visitor(1));
    }
    assert!(!window.admit(SECOND_MICROS, 500, MODEST).admitted);
    let admitted = (0..600)
        .filter(|_| window.admit(WINDOW_MICROS, 500, Visitor(1)).admitted)
        .count();
    assert_eq!(
        admitted, 497,
        "three calls are reserved for a visitor who called once"
    );
    assert!(window.admit(WINDOW_MICROS, 500, MODEST).admitted);
}

#[test]
fn sharing_ends_after_two_quiet_minutes() {
    let mut window = Window::default();
    for visitor in [Visitor(1), Visitor(1), MODEST] {
        window.admit(0, 2, visitor);
    }
    assert!(window.is_idle(2 * WINDOW_MICROS));
    for _ in 0..2 {
        assert!(window.admit(2 * WINDOW_MICROS, 2, Visitor(1)).admitted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The main guarantee: a visitor that uses at most half of its share is served, from two minutes after the start.
    #[test]
    fn a_modest_visitor_is_served_however_much_the_others_call(
        greedy in 1..6_u8,
        limit in 24..200_u32,
        part in 1..100_u64,
        burst in 1..40_u32,
        every in SECOND_MICROS / 10..20 * SECOND_MICROS,
    ) {
        let share = u64::from(limit) / (u64::from(greedy) + 1);
        let pace = (share / 2 * part / 100).max(1);
        let (refused, admitted) = Crowd { limit, greedy, pace, burst, every }.simulate(6);
        prop_assert!(refused.iter().all(|time| *time <= 2 * WINDOW_MICROS), "{refused:?}");
        prop_assert!(max_in_a_window(&admitted) <= limit as usize);
    }

    #[test]
    fn a_visitor_alone_has_the_whole_limit_whatever_happened_before(
        before in prop::collection::vec((1..=255_u8, 0..20 * SECOND_MICROS), 0..60),
        limit in 1..30_u32,
    ) {
        let mut window = Window::default();
        let mut now = 0;
        for (visitor, pause) in before {
            now += pause;
            window.admit(now, limit, Visitor(visitor));
        }
        now += 4 * WINDOW_MICROS;
        for left in (0..limit).rev() {
            let verdict = window.admit(now, limit, Visitor(7));
            prop_assert!(verdict.admitted && verdict.remaining == left);
        }
        prop_assert!(!window.admit(now, limit, Visitor(7)).admitted);
    }

    #[test]
    fn before_the_limit_is_reached_no_call_is_refused(
        calls in prop::collection::vec((1..=255_u8, 0..9 * SECOND_MICROS), 1..200),
        limit in 1..30_u32,
    ) {
        let mut window = Window::default();
        let mut log: Vec<u64> = Vec::new();
        let mut now = 0;
        for (visitor, pause) in calls {
            now += pause;
            let counted = log.iter().filter(|time| **time + WINDOW_MICROS > now).count();
            let verdict = window.admit(now, limit, Visitor(visitor));
            if !verdict.admitted {
                prop_assert_eq!(counted, limit as usize);
                break;
            }
            prop_assert_eq!(verdict.remaining as usize, limit as usize - counted - 1);
            log.push(now);
        }
    }

    /// For any sequence of calls, the limit is never exceeded, `remaining` further calls are admitted at once, and a visitor
    /// that waits for `retry_after` seconds, while no one else calls, is admitted.
    #[test]
    fn every_verdict_is_correct(
        calls in prop::collection::vec((1..8_u8, 0..6 * SECOND_MICROS), 1..150),
        limit in 1..20_u32,
        insistent in 1..8_u8,
    ) {
        let mut window = Window::default();
        let mut admitted = Vec::new();
        let mut now = 0;
        let mut last = None;
        for (visitor, pause) in calls {
            now += pause;
            let verdict = window.admit(now, limit, Visitor(visitor));
            admitted.extend(verdict.admitted.then_some(now));
            if visitor == insistent {
                for left in (0..verdict.remaining).rev() {
                    let next = window.admit(now, limit, Visitor(visitor));
                    prop_assert!(next.admitted && next.remaining == left);
                    admitted.push(now);
                }
            }
            last = Some((visitor, verdict));
        }
        prop_assert!(max_in_a_window(&admitted) <= limit as usize);
        if let Some((visitor, verdict)) = last && !verdict.admitted {
            let later = now + u64::from(verdict.retry_after) * SECOND_MICROS;
            prop_assert!(window.admit(later, limit, Visitor(visitor)).admitted);
        }
    }
}
