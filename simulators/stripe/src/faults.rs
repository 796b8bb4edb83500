//! Faults that tests arm: requests that fail before or after they acted, and events that are lost, doubled or late.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// Acts, and answers only after `seconds`.
    TimeoutAfter,
    /// Does nothing for `seconds`, and then answers with 500.
    TimeoutBefore,
    /// Acts, and closes the connection without an answer.
    HangUpAfter,
    /// Acts, and answers with 500. An idempotency key replays the 500.
    ErrorAfter,
    /// Answers with 500 without acting. An idempotency key replays it as well.
    ErrorBefore,
    /// Answers with 429.
    RateLimit,
    /// Answers with 503.
    Unavailable,
    /// Never delivers an event.
    DropEvent,
    /// Delivers an event twice.
    DoubleEvent,
    /// Delivers an event `seconds` later.
    DelayEvent,
    /// Delivers events in random order, each up to `seconds` later.
    ReorderEvents,
}

impl FaultKind {
    pub(crate) fn is_of_events(self) -> bool {
        use FaultKind::{DelayEvent, DoubleEvent, DropEvent, ReorderEvents};
        matches!(self, DropEvent | DoubleEvent | DelayEvent | ReorderEvents)
    }
}

/// One armed fault.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// The method of the requests that fail; any if missing.
    #[serde(default)]
    pub(crate) method: Option<String>,
    /// How the path of the requests starts; any if missing.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// How the type of the events starts; any if missing.
    #[serde(default)]
    pub(crate) event: Option<String>,
    /// How many times it still happens; without end if missing.
    #[serde(default)]
    pub(crate) count: Option<u32>,
    #[serde(default = "always")]
    pub(crate) probability: f64,
    #[serde(default = "default_seconds")]
    pub(crate) seconds: f64,
}

fn always() -> f64 {
    1.0
}

fn default_seconds() -> f64 {
    60.0
}

/// The armed faults, and whether all connections are refused.
pub(crate) struct Faults {
    pub(crate) list: Vec<Fault>,
    pub(crate) is_down: bool,
    random: u64,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            list: Vec::new(),
            is_down: false,
            random: Uuid::now_v7().as_u64_pair().1,
        }
    }
}

impl Faults {
    /// Makes random decisions repeatable.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// Returns a number of at least 0 and below 1 (SplitMix64).
    pub(crate) fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }

    /// Returns the fault of a request, if one is armed, and counts it.
    pub(crate) fn of_request(&mut self, method: &str, path: &str) -> Option<Fault> {
        self.take(|fault| {
            !fault.kind.is_of_events()
                && fault
                    .method
                    .as_ref()
                    .is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
                && fault
                    .path
                    .as_ref()
                    .is_none_or(|start| path.starts_with(start.as_str()))
        })
        .into_iter()
        .next()
    }

    /// Returns all faults of an event, and counts them.
    pub(crate) fn of_event(&mut self, event: &str) -> Vec<Fault> {
        self.take(|fault| {
            fault.kind.is_of_events()
                && fault
                    .event
                    .as_ref()
                    .is_none_or(|start| event.starts_with(start.as_str()))
        })
    }

    fn take(&mut self, is_wanted: impl Fn(&Fault) -> bool) -> Vec<Fault> {
        let mut taken = Vec::new();
        let mut list = std::mem::take(&mut self.list);
        for fault in list.iter_mut().filter(|fault| is_wanted(fault)) {
            let is_request = !fault.kind.is_of_events();
            // A request has one fault at most.
            if (is_request && !taken.is_empty()) || self.random() >= fault.probability {
                continue;
            }
            if let Some(count) = &mut fault.count {
                *count = count.saturating_sub(1);
            }
            taken.push(fault.clone());
        }
        list.retain(|fault| fault.count != Some(0));
        self.list = list;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(value: serde_json::Value) -> Fault {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_fault_happens_as_often_as_it_was_armed() {
        let mut faults = Faults::default();
        faults.list.extend([
            fault(json!({"kind": "rate_limit", "method": "post", "path": "/v1/refunds", "count": 2})),
            fault(json!({"kind": "drop_event", "event": "charge.", "count": 1})),
        ]);
        assert!(faults.of_request("GET", "/v1/refunds").is_none());
        assert!(faults.of_request("POST", "/v1/refunds").is_some());
        assert!(faults.of_request("POST", "/v1/refunds/re_1").is_some());
        assert!(faults.of_request("POST", "/v1/refunds").is_none());
        assert!(faults.of_event("refund.created").is_empty());
        assert_eq!(faults.of_event("charge.updated").len(), 1);
        assert!(faults.list.is_empty());
    }
}
