//! What requests and deliveries share: the state, the accepted keys, and how much each operation is used.

use crate::state::State;
use crate::tuning::Tuning;
use axum::http::HeaderMap;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What all requests and the deliveries share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// The keys that are accepted; any key of the right form if empty.
    pub(crate) api_keys: Vec<String>,
    /// Wakes the task that delivers events.
    pub(crate) wake: Notify,
    /// Set when the simulator stops: connections that are still open get no answers then.
    pub(crate) is_stopped: AtomicBool,
    traffic: Mutex<Traffic>,
}

/// How many requests each operation had, and the times of the latest ones.
#[derive(Default)]
struct Traffic {
    counts: BTreeMap<String, u64>,
    recent: HashMap<String, VecDeque<i64>>,
}

impl Shared {
    pub(crate) fn new(state: State, api_keys: Vec<String>) -> Shared {
        Shared {
            state: Mutex::new(state),
            api_keys,
            wake: Notify::new(),
            is_stopped: AtomicBool::new(false),
            traffic: Mutex::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many requests each operation had.
    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        self.traffic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .counts
            .clone()
    }

    /// Counts a request. Returns false if its operation, or all of them together, had too many within a second.
    pub(crate) fn admit(&self, operation: &str, tuning: &Tuning, now: i64) -> bool {
        let mut traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        *traffic.counts.entry(operation.to_owned()).or_default() += 1;
        traffic.admit(operation, tuning.rate_limit, now) && traffic.admit("", tuning.total_rate_limit, now)
    }
}

impl Traffic {
    fn admit(&mut self, name: &str, limit: u32, now: i64) -> bool {
        if limit == 0 {
            return true;
        }
        let recent = self.recent.entry(name.to_owned()).or_default();
        while recent.front().is_some_and(|time| *time <= now - 1_000) {
            recent.pop_front();
        }
        if recent.len() >= limit as usize {
            return false;
        }
        recent.push_back(now);
        true
    }
}

/// A request whose body was read.
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Incoming {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
