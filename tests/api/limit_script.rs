//! The script that limits calls in Redis does the same as the window of one server.

use access::limits::script::SCRIPT;
use access::limits::window::{Verdict, Window};
use access::limits::{SECOND_MICROS, WINDOW_MICROS};
use proptest::prelude::*;
use redis::{Connection, Script};
use std::sync::{LazyLock, Mutex};
use uuid::Uuid;

/// The script with a clock that a test sets: the last argument.
static SCRIPT_WITH_TIME: LazyLock<Script> = LazyLock::new(|| {
    let clock = "redis.call('TIME')";
    assert_eq!(SCRIPT.matches(clock).count(), 1);
    Script::new(&SCRIPT.replace(clock, "{ 0, ARGV[#ARGV] }"))
});

static CONNECTION: LazyLock<Mutex<Connection>> = LazyLock::new(|| {
    let client = redis::Client::open(crate::world::redis_url()).unwrap();
    Mutex::new(client.get_connection().unwrap())
});

/// A time like that of Redis, which has 16 digits.
const START: u64 = 1_800_000_000_000_000;

/// Windows in Redis with names of their own.
struct SharedWindows(String);

impl SharedWindows {
    fn new() -> SharedWindows {
        SharedWindows(format!("test:{{{}}}", Uuid::now_v7()))
    }

    /// Asks about a call at `now` in windows with these numbers and limits.
    fn ask(&self, now: u64, windows: &[(usize, u32)], own: usize, ages: &[u64]) -> Vec<i64> {
        let mut script = SCRIPT_WITH_TIME.prepare_invoke();
        for (window, limit) in windows {
            script.key(format!("{}:{window}", self.0));
            script
                .arg(*limit)
                .arg(WINDOW_MICROS)
                .arg(own)
                .arg(ages.len())
                .arg(ages);
        }
        script.arg(now);
        script.invoke(&mut *CONNECTION.lock().unwrap()).unwrap()
    }

    fn admit(&self, now: u64, windows: &[(usize, u32)]) -> Vec<Verdict> {
        let states = self.ask(now, windows, 0, &[]);
        let verdict = |(state, (_, limit)): (&[i64], &(usize, u32))| Verdict {
            admitted: state[0] == 1,
            per_minute: *limit,
            remaining: limit.saturating_sub(state[1] as u32),
            resets_in: (state[2] as u64).div_ceil(SECOND_MICROS) as u32,
            retry_after: (state[3] as u64).div_ceil(SECOND_MICROS) as u32,
        };
        states.chunks(4).zip(windows).map(verdict).collect()
    }
}

fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => Just(0),
        4 => 1..3 * SECOND_MICROS,
        2 => 0..20 * SECOND_MICROS,
        1 => WINDOW_MICROS - 2..WINDOW_MICROS + 2,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_script_decides_like_the_window_of_one_server(
        calls in prop::collection::vec((pause(), 0..12_u32), 1..150),
    ) {
        let (shared, mut window, mut now) = (SharedWindows::new(), Window::default(), START);
        for (pause, limit) in calls {
            now += pause;
            prop_assert_eq!(shared.admit(now, &[(0, limit)]), vec![window.admit(now, limit)]);
        }
    }

    #[test]
    fn the_script_counts_a_call_in_both_windows_or_in_neither(
        limits in (1..12_u32, 1..6_u32),
        calls in prop::collection::vec((pause(), 1..4_usize), 1..150),
    ) {
        let (shared, mut now) = (SharedWindows::new(), START);
        let mut windows = [(); 4].map(|()| Window::default());
        for (pause, address) in calls {
            now += pause;
            let [key, rest @ ..] = &mut windows;
            let (key, address_verdict) =
                Window::admit_in_both((key, limits.0), (&mut rest[address - 1], limits.1), now);
            let verdicts = shared.admit(now, &[(0, limits.0), (address, limits.1)]);
            prop_assert_eq!(verdicts, vec![key, address_verdict]);
        }
    }

    /// However many calls Redis has lost, a server that has counted `own` calls gets at most its limit.
    #[test]
    fn lost_calls_are_restored(known in 0..20_usize, own in 0..20_usize, limit in 1..25_u32) {
        let shared = SharedWindows::new();
        for _ in 0..known {
            shared.admit(START, &[(0, 100)]);
        }
        let now = START + SECOND_MICROS;
        let ages: Vec<u64> = (0..own as u64).rev().map(|age| age * 1_000).collect();
        let first = shared.ask(now, &[(0, limit)], own, &[]);
        if known < own {
            prop_assert_eq!(&first, &vec![-1]);
            let second = shared.ask(now, &[(0, limit)], own, &ages);
            prop_assert_eq!(second[0] == 1, own < limit as usize);
            prop_assert_eq!(second[1] as usize, own + usize::from(own < limit as usize));
        } else {
            prop_assert_eq!(first[0] == 1, known < limit as usize);
        }
    }
}

#[test]
fn after_the_clock_of_redis_was_set_back_a_caller_waits_at_most_a_minute() {
    let shared = SharedWindows::new();
    for second in 0..3 {
        assert!(shared.admit(START + second * SECOND_MICROS, &[(0, 3)])[0].admitted);
    }
    let earlier = START - 3_600 * SECOND_MICROS;
    let refused = shared.admit(earlier, &[(0, 3)])[0];
    assert_eq!((refused.admitted, refused.retry_after), (false, 60));
    assert!(!shared.admit(earlier + WINDOW_MICROS - 1, &[(0, 3)])[0].admitted);
    assert!(shared.admit(earlier + WINDOW_MICROS, &[(0, 3)])[0].admitted);
}

#[test]
fn thousands_of_calls_leave_a_window_at_once() {
    let shared = SharedWindows::new();
    let ages: Vec<u64> = (0..5_000).rev().map(|age| age * 10).collect();
    shared.ask(START, &[(0, 9_000)], ages.len(), &ages);
    shared.admit(START + WINDOW_MICROS / 2, &[(0, 9_000)]);
    // The oldest 2,501 calls have left.
    let now = START + WINDOW_MICROS - 24_990;
    assert_eq!(shared.admit(now, &[(0, 9_000)])[0].remaining, 9_000 - 2_499 - 3);
    let now = START + WINDOW_MICROS + 1;
    assert_eq!(shared.admit(now, &[(0, 9_000)])[0].remaining, 9_000 - 3);
}
