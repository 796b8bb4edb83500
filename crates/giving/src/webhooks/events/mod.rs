//! Events: what accounts are told, in one log.
//!
//! An event has a random ID, which every attempt to deliver it has and which says nothing about the number of events. Its
//! time grows with each event of a subject.

pub mod content;
mod fan_out;
pub mod log;
pub mod store;

use super::EventKind;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::text::hex;
use serde_json::Value;
use uuid::Uuid;

/// An event that one account may see, or all.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub sequence: i64,
    pub id: String,
    /// `None` if every account sees it.
    pub account: Option<AccountId>,
    pub kind: EventKind,
    /// What it is about. Events of a subject are delivered in order.
    pub subject: String,
    /// The entry of the donation that it is about.
    pub entry: Option<i64>,
    pub fundraiser: Option<FundraiserId>,
    pub nonprofit: Option<NonprofitId>,
    pub endpoint: Option<Uuid>,
    /// What cannot be read from elsewhere later. Nothing about a person.
    pub detail: Value,
    pub occurred_at: i64,
    pub recorded_at: i64,
}

impl Event {
    /// An event about nothing but its subject.
    fn new(sequence: i64, kind: EventKind, subject: String, now: i64) -> Event {
        Event {
            sequence,
            id: new_id(),
            account: None,
            kind,
            subject,
            entry: None,
            fundraiser: None,
            nonprofit: None,
            endpoint: None,
            detail: Value::Null,
            occurred_at: now,
            recorded_at: now,
        }
    }
}

/// The subject of events about the donation of an entry.
pub(super) fn donation_subject(entry: i64) -> String {
    format!("donation {entry}")
}

/// The subject of events about a monthly gift.
pub(super) fn monthly_gift_subject(gift: Uuid) -> String {
    format!("monthly gift {gift}")
}

/// A test of an endpoint.
pub(super) fn ping(account: AccountId, endpoint: Uuid, sequence: i64, now: i64) -> Event {
    Event {
        account: Some(account),
        endpoint: Some(endpoint),
        ..Event::new(sequence, EventKind::Ping, format!("ping {sequence}"), now)
    }
}

/// Returns a random ID.
fn new_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    format!("evt_{}", hex(&bytes))
}
