//! Asks Redis about a call: one script that counts it in one or more exact sliding windows.
//!
//! The script reads the clock of Redis, so all servers share one clock. Names of keys are hashes with a secret, so Redis
//! learns neither IDs nor addresses, and several stores can share it.

use platform::redis::{Away, Redis, Script};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// How far the clocks of Redis and this server may drift apart within a window.
const MAX_DRIFT: Duration = Duration::from_millis(50);

/// The script. It reads the time only once, so that a test can replace the clock.
pub const SCRIPT: &str = include_str!("window.lua");
/// What the script returns instead of the states of windows if it has lost calls.
const LOST: i64 = -1;
/// The number of integers that the script returns for one window.
const STATE_FIELDS: usize = 5;
/// The number of integers that the script expects for one window, besides the ages.
const QUERY_FIELDS: usize = 7;

/// The sliding windows in Redis. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SharedWindows {
    pub redis: Redis,
    script: Arc<Script>,
    secret: [u8; 32],
}

/// A window that a call counts in.
#[derive(Clone, Debug)]
pub struct WindowQuery {
    /// The key in Redis; see [`SharedWindows::group`].
    pub key: String,
    pub limit: u32,
    pub length_micros: u64,
    /// The calls that the asking server has counted; `None` if it does not know them.
    pub own: Option<(ServerNumber, OwnQuery)>,
}

/// The number by which Redis tells the calls of servers apart. Not 0.
pub type ServerNumber = u32;

/// What a server tells Redis about the calls that it has counted in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnQuery {
    /// Grows with every call that the server counts.
    pub record: u64,
    /// The number of calls that are younger than `age_limit` of the windows.
    pub count: usize,
    /// The ages of these calls in microseconds, the oldest first. Only sent after Redis has lost some.
    pub ages: Vec<u64>,
}

impl WindowQuery {
    /// Returns the arguments of the script. Only calls that are younger than `age_limit` microseconds are sent again.
    pub fn arguments(&self, age_limit: u64) -> Vec<i64> {
        let mut arguments = vec![i64::from(self.limit), self.length_micros as i64];
        let Some((server, own)) = &self.own else {
            arguments.resize(QUERY_FIELDS, 0);
            return arguments;
        };
        arguments.extend([
            i64::from(*server),
            own.record as i64,
            own.count as i64,
            age_limit as i64,
            own.ages.len() as i64,
        ]);
        arguments.extend(own.ages.iter().map(|age| *age as i64));
        arguments
    }
}

/// The state of a window after a call was counted or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowState {
    pub has_room: bool,
    pub counted: u64,
    /// The time until the oldest call leaves the window, in microseconds.
    pub resets_in: u64,
    /// The time until the window admits a call, in microseconds: 0 if it has room.
    pub retry_in: u64,
    /// The record of the asking server; see [`OwnQuery`].
    pub record: u64,
}

/// What the script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The states of the windows. The call was admitted if all of them have room.
    States(Vec<WindowState>),
    /// Redis has lost calls of the asking server. Nothing was counted.
    Lost,
}

impl SharedWindows {
    /// `secret` must be the same on all servers of a store.
    pub fn new(redis: Redis, secret: [u8; 32]) -> Self {
        Self {
            redis,
            script: Arc::new(Script::new(SCRIPT)),
            secret,
        }
    }

    /// Returns the prefix of keys that one call may count in together: they are in one slot of a cluster.
    pub fn group(&self, name: &str, id: &[u8]) -> String {
        format!("causeway:{name}:{{{}}}", self.hash(name, id))
    }

    /// Returns a hash of an ID that does not reveal it.
    pub fn hash(&self, name: &str, id: &[u8]) -> String {
        let hash = Sha256::new()
            .chain_update(self.secret)
            .chain_update((name.len() as u64).to_be_bytes())
            .chain_update(name)
            .chain_update(id)
            .finalize();
        hash.iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Counts a call in all windows, or in none if one of them is full.
    pub async fn admit(&self, queries: &[WindowQuery]) -> Result<Answer, Away> {
        let mut keys = Vec::with_capacity(2 * queries.len());
        let mut arguments = Vec::with_capacity(queries.len() * QUERY_FIELDS);
        for query in queries {
            keys.extend([query.key.clone(), records_key(&query.key)]);
            arguments.extend(query.arguments(self.age_limit(query.length_micros)));
        }
        let values: Vec<i64> = self.redis.run_script(&self.script, &keys, &arguments).await?;
        Ok(parse(&values))
    }

    /// Returns the age up to which calls of this server are surely in a window of Redis.
    pub(super) fn age_limit(&self, length_micros: u64) -> u64 {
        length_micros.saturating_sub((self.redis.timeout() + MAX_DRIFT).as_micros() as u64)
    }
}

/// Returns the key of the records of servers, next to the key of a window.
pub fn records_key(key: &str) -> String {
    format!("{key}:servers")
}

fn parse(values: &[i64]) -> Answer {
    if values == [LOST] {
        return Answer::Lost;
    }
    let micros = |value: i64| u64::try_from(value).unwrap_or(0);
    let states = values.chunks_exact(STATE_FIELDS).map(|state| WindowState {
        has_room: state[0] == 1,
        counted: micros(state[1]),
        resets_in: micros(state[2]),
        retry_in: micros(state[3]),
        record: micros(state[4]),
    });
    Answer::States(states.collect())
}
