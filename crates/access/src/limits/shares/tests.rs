use super::Visitor;
use crate::limits::WINDOW_MICROS;
use crate::limits::window::Window;
use proptest::prelude::*;

const SECOND_MICROS: u64 = 1_000_000;
const MODEST: Visitor = Visitor(200);

/// A crowd that asks without pause, and one visitor who asks `pace` times a minute.
struct Crowd {
    limit: u32,
    greedy: u8,
    pace: u64,
    /// Calls of each greedy visitor, every `every` microseconds.
    burst: u32,
    every: u64,
}

impl Crowd {
    /// The moments at which the modest visitor was turned away in so many minutes, and the calls let through.
    fn play(&self, minutes: u64) -> (Vec<u64>, Vec<u64>) {
        let mut window = Window::default();
        let (mut refused, mut passed) = (Vec::new(), Vec::new());
        let end = minutes * WINDOW_MICROS;
        let (mut next_burst, mut next_modest) = (0, SECOND_MICROS / 2);
        while next_burst.min(next_modest) < end {
            if next_burst <= next_modest {
                for _ in 0..self.burst {
                    for visitor in 1..=self.greedy {
                        let verdict = window.admit(next_burst, self.limit, Visitor(visitor));
                        passed.extend(verdict.admitted.then_some(next_burst));
                    }
                }
                next_burst += self.every;
            } else {
                match window.admit(next_modest, self.limit, MODEST).admitted {
                    true => passed.push(next_modest),
                    false => refused.push(next_modest),
                }
                next_modest += WINDOW_MICROS / self.pace;
            }
        }
        (refused, passed)
    }
}

fn most_in_a_window(passed: &[u64]) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (place, moment) in passed.iter().enumerate() {
        while passed[first] + WINDOW_MICROS <= *moment {
            first += 1;
        }
        most = most.max(place + 1 - first);
    }
    most
}

#[test]
fn without_shares_a_crowd_would_leave_nothing_to_a_modest_visitor() {
    let mut window = Window::default();
    let mut served = 0;
    for tick in 0..600 {
        for _ in 0..5 {
            window.admit(tick * SECOND_MICROS / 2, 60, Visitor(1));
        }
        // The same visitor, as far as the window can tell.
        served +=
            u32::from(tick % 20 == 19 && window.admit(tick * SECOND_MICROS / 2, 60, Visitor(1)).admitted);
    }
    assert_eq!(served, 0);
}

#[test]
fn bursts_in_time_with_the_window_do_not_shut_a_modest_visitor_out() {
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
        let (refused, _) = crowd.play(20);
        let late: Vec<_> = refused
            .iter()
            .filter(|moment| **moment > 2 * WINDOW_MICROS)
            .collect();
        assert!(late.is_empty(), "{every}: {late:?}");
    }
}

#[test]
fn a_visitor_who_has_his_share_is_told_when_he_is_below_it_again() {
    let mut window = Window::default();
    for second in 0..10 {
        assert!(window.admit(second * SECOND_MICROS, 10, Visitor(1)).admitted);
    }
    assert!(!window.admit(10 * SECOND_MICROS, 10, MODEST).admitted);
    assert!(window.admit(60 * SECOND_MICROS, 10, MODEST).admitted);
    // Nine calls of his are left; five are his share, so five have to leave before he gets another.
    let refused = window.admit(61 * SECOND_MICROS, 10, Visitor(1));
    assert!(!refused.admitted && refused.remaining == 0);
    assert_eq!(refused.retry_after, 4);
    assert!(!window.admit(64 * SECOND_MICROS, 10, Visitor(1)).admitted);
    assert!(window.admit(65 * SECOND_MICROS, 10, Visitor(1)).admitted);
}

#[test]
fn what_the_others_are_not_expected_to_use_is_for_everybody() {
    let mut window = Window::default();
    for _ in 0..500 {
        window.admit(0, 500, Visitor(1));
    }
    assert!(!window.admit(SECOND_MICROS, 500, MODEST).admitted);
    let passed = (0..600)
        .filter(|_| window.admit(WINDOW_MICROS, 500, Visitor(1)).admitted)
        .count();
    assert_eq!(passed, 497, "three calls are kept for one who asked once");
    assert!(window.admit(WINDOW_MICROS, 500, MODEST).admitted);
}

#[test]
fn two_quiet_minutes_end_the_shares() {
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

    /// The heart of it: whoever asks for at most half of his share is served, once a minute has passed in which
    /// the others learned to share.
    #[test]
    fn a_modest_visitor_is_served_however_hard_the_others_press(
        greedy in 1..6_u8,
        limit in 24..200_u32,
        part in 1..100_u64,
        burst in 1..40_u32,
        every in SECOND_MICROS / 10..20 * SECOND_MICROS,
    ) {
        let share = u64::from(limit) / (u64::from(greedy) + 1);
        let pace = (share / 2 * part / 100).max(1);
        let (refused, passed) = Crowd { limit, greedy, pace, burst, every }.play(6);
        prop_assert!(refused.iter().all(|moment| *moment <= 2 * WINDOW_MICROS), "{refused:?}");
        prop_assert!(most_in_a_window(&passed) <= limit as usize);
    }

    #[test]
    fn an_address_alone_has_the_whole_limit_whatever_was_before(
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
    fn until_the_first_refusal_at_the_limit_nobody_is_refused(
        calls in prop::collection::vec((1..=255_u8, 0..9 * SECOND_MICROS), 1..200),
        limit in 1..30_u32,
    ) {
        let mut window = Window::default();
        let mut log: Vec<u64> = Vec::new();
        let mut now = 0;
        for (visitor, pause) in calls {
            now += pause;
            let counted = log.iter().filter(|moment| **moment + WINDOW_MICROS > now).count();
            let verdict = window.admit(now, limit, Visitor(visitor));
            if !verdict.admitted {
                prop_assert_eq!(counted, limit as usize);
                break;
            }
            prop_assert_eq!(verdict.remaining as usize, limit as usize - counted - 1);
            log.push(now);
        }
    }

    /// With any crowd: never over the limit, `remaining` is what this visitor gets at once, and who waits as long as
    /// he is told, while nobody else calls, is let through.
    #[test]
    fn every_verdict_is_true(
        calls in prop::collection::vec((1..8_u8, 0..6 * SECOND_MICROS), 1..150),
        limit in 1..20_u32,
        asks_on in 1..8_u8,
    ) {
        let mut window = Window::default();
        let mut passed = Vec::new();
        let mut now = 0;
        let mut last = None;
        for (visitor, pause) in calls {
            now += pause;
            let verdict = window.admit(now, limit, Visitor(visitor));
            passed.extend(verdict.admitted.then_some(now));
            if visitor == asks_on {
                for left in (0..verdict.remaining).rev() {
                    let next = window.admit(now, limit, Visitor(visitor));
                    prop_assert!(next.admitted && next.remaining == left);
                    passed.push(now);
                }
            }
            last = Some((visitor, verdict));
        }
        prop_assert!(most_in_a_window(&passed) <= limit as usize);
        if let Some((visitor, verdict)) = last && !verdict.admitted {
            let later = now + u64::from(verdict.retry_after) * SECOND_MICROS;
            prop_assert!(window.admit(later, limit, Visitor(visitor)).admitted);
        }
    }
}
