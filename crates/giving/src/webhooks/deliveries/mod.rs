//! Deliveries: the events that wait for an endpoint, and what became of those that were sent.

pub mod attempt;
pub(crate) mod cleanup;
mod manage;
mod notice;
pub(super) mod queue;
pub mod sender;
pub mod store;

use super::kind::EventKind;
use uuid::Uuid;

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has a next attempt, or waits for an earlier event of its subject.
    Waiting,
    Delivered,
    /// Ten attempts failed while others succeeded, or the event is gone.
    Failed,
}

impl State {
    pub const ALL: [State; 3] = [State::Waiting, State::Delivered, State::Failed];

    pub const fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Delivered => "delivered",
            State::Failed => "failed",
        }
    }

    pub fn find(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// An event on its way to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub id: Uuid,
    pub endpoint: Uuid,
    /// The number of the event, for internal use, and its ID.
    pub sequence: i64,
    pub event: String,
    pub kind: EventKind,
    pub state: State,
    pub attempts: i64,
    /// When it is tried next. `None` if it is finished or waits for another event.
    pub due_at: Option<i64>,
    pub queued_at: i64,
    pub finished_at: Option<i64>,
    /// The outcome of the last attempt.
    pub last: Option<Attempt>,
}

/// An attempt to deliver an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub number: i64,
    pub at: i64,
    /// The status of the answer, if there was one.
    pub status: Option<i64>,
    /// Why it failed.
    pub error: Option<String>,
    /// In milliseconds.
    pub duration: i64,
    /// The beginning of the answer, as text.
    pub answer: String,
}

/// Which deliveries are listed.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub kind: Option<EventKind>,
    pub state: Option<State>,
    /// The last delivery that is known; those before it are listed.
    pub before: Option<Uuid>,
    /// Queued at this time or later.
    pub since: Option<i64>,
}

/// How the last deliveries to an endpoint went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub waiting: i64,
    /// Of the last deliveries that are finished.
    pub delivered: i64,
    pub failed: i64,
    /// The time that 99 of 100 answers took at most, in milliseconds.
    pub p99: Option<i64>,
}

/// What waits for all endpoints together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// For how long the oldest event waits of those for enabled endpoints. Those for a failing endpoint wait for it.
    pub age_millis: i64,
    pub failing: i64,
    pub disabled: i64,
}
