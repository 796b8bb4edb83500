//! The script that limits calls in Redis does the same as the window of one server.

use access::limits::own_calls::OwnCalls;
use access::limits::script::{OwnQuery, SCRIPT, ServerNumber, WindowQuery, WindowState, records_key};
use access::limits::window::{Verdict, Window};
use access::limits::{SECOND_MICROS, WINDOW_MICROS};
use proptest::prelude::*;
use redis::{Commands, Connection, Script};
use std::collections::BTreeSet;
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
/// Younger calls of a server are sent again.
const AGE_LIMIT: u64 = WINDOW_MICROS - 300_000;

/// Windows in Redis with names of their own.
struct SharedWindows(String);

impl SharedWindows {
    fn new() -> SharedWindows {
        SharedWindows(format!("test:{{{}}}", Uuid::now_v7()))
    }

    fn key(&self, window: usize) -> String {
        format!("{}:{window}", self.0)
    }

    /// Asks about a call at `now` in windows with these numbers and limits.
    fn ask(&self, now: u64, windows: &[(usize, u32)], own: Option<&(ServerNumber, OwnQuery)>) -> Vec<i64> {
        let mut script = SCRIPT_WITH_TIME.prepare_invoke();
        for (window, limit) in windows {
            let key = self.key(*window);
            script.key(&key).key(records_key(&key));
            let query = WindowQuery {
                key,
                limit: *limit,
                length_micros: WINDOW_MICROS,
                own: own.cloned(),
            };
            script.arg(query.arguments(AGE_LIMIT));
        }
        script.arg(now);
        script.invoke(&mut *CONNECTION.lock().unwrap()).unwrap()
    }

    /// Asks about a call of a server in the first window, with the ages of its calls if Redis has lost some. Returns
    /// whether the call was admitted, and how many calls the window has.
    fn call(&self, now: u64, limit: u32, number: ServerNumber, own: &mut OwnCalls) -> (bool, u64) {
        let ask = |sends_ages| {
            let query = own.query(now, AGE_LIMIT, sends_ages);
            self.ask(now, &[(0, limit)], Some(&(number, query)))
        };
        let mut answer = ask(false);
        if answer == [-1] {
            answer = ask(true);
        }
        let [has_room, counted, resets_in, retry_in, record] = answer.try_into().unwrap();
        let state = WindowState {
            has_room: has_room == 1,
            counted: counted as u64,
            resets_in: resets_in as u64,
            retry_in: retry_in as u64,
            record: record as u64,
        };
        own.record_answer(now, &state, state.has_room);
        (state.has_room, state.counted)
    }

    /// Forgets the calls of the first window, as a Redis that was restarted does.
    fn lose(&self) {
        let key = self.key(0);
        let keys = [records_key(&key), key];
        let _: i64 = CONNECTION.lock().unwrap().del(&keys).unwrap();
    }

    fn admit(&self, now: u64, windows: &[(usize, u32)]) -> Vec<Verdict> {
        let states = self.ask(now, windows, None);
        let verdict = |(state, (_, limit)): (&[i64], &(usize, u32))| Verdict {
            admitted: state[0] == 1,
            per_minute: *limit,
            remaining: limit.saturating_sub(state[1] as u32),
            resets_in: (state[2] as u64).div_ceil(SECOND_MICROS) as u32,
            retry_after: (state[3] as u64).div_ceil(SECOND_MICROS) as u32,
        };
        states.chunks(5).zip(windows).map(verdict).collect()
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

    /// A window has the calls of all servers that have asked since Redis lost its memory, and those that were counted
    /// since. Servers are started again and count calls by themselves in between.
    #[test]
    fn a_window_has_what_all_servers_counted(
        limit in 1..25_u32,
        steps in prop::collection::vec((step(), pause()), 1..120),
    ) {
        let shared = SharedWindows::new();
        let mut servers = [(); 3].map(|()| (OwnCalls::default(), Vec::<(usize, u64)>::new()));
        let mut numbers = [1, 2, 3];
        // The calls by their position, and those that Redis has to know.
        let (mut times, mut known, mut now) = (Vec::<u64>::new(), BTreeSet::<usize>::new(), START);
        for (step, pause) in steps {
            match step {
                Step::Lose => {
                    shared.lose();
                    known.clear();
                }
                Step::Restart(server) => {
                    servers[server] = (OwnCalls::default(), Vec::new());
                    numbers[server] += 3;
                }
                Step::CountAlone(server) => {
                    now += pause;
                    let (own, calls) = &mut servers[server];
                    own.count_alone(now);
                    calls.push((times.len(), now));
                    times.push(now);
                }
                Step::Call(server) => {
                    now += pause;
                    let (own, calls) = &mut servers[server];
                    let sent = calls.iter().filter(|(_, time)| *time > now - AGE_LIMIT);
                    known.extend(sent.map(|(call, _)| *call));
                    known.retain(|call| times[*call] + WINDOW_MICROS > now);
                    let has_room = known.len() < limit as usize;
                    if has_room {
                        calls.push((times.len(), now));
                        known.insert(times.len());
                        times.push(now);
                    }
                    let answer = shared.call(now, limit, numbers[server], own);
                    prop_assert_eq!(answer, (has_room, known.len() as u64));
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Call(usize),
    /// Redis is away, and the server decides by itself.
    CountAlone(usize),
    /// Redis loses its memory.
    Lose,
    Restart(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..3_usize).prop_map(Step::Call),
        2 => (0..3_usize).prop_map(Step::CountAlone),
        2 => Just(Step::Lose),
        1 => (0..3_usize).prop_map(Step::Restart),
    ]
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
    let own = OwnQuery {
        record: 1,
        count: ages.len(),
        ages,
    };
    shared.ask(START, &[(0, 9_000)], Some(&(7, own)));
    shared.admit(START + WINDOW_MICROS / 2, &[(0, 9_000)]);
    // The oldest 2,501 calls have left.
    let now = START + WINDOW_MICROS - 24_990;
    assert_eq!(shared.admit(now, &[(0, 9_000)])[0].remaining, 9_000 - 2_499 - 3);
    let now = START + WINDOW_MICROS + 1;
    assert_eq!(shared.admit(now, &[(0, 9_000)])[0].remaining, 9_000 - 3);
}
