//! Deliveries: the events that wait for an endpoint, and what became of those that were sent.

mod attempt;
mod cleanup;
mod notice;
pub mod sender;
pub mod store;

use super::Webhooks;
use super::endpoints::input::{EndpointField, InvalidField};
use super::endpoints::{EndpointError, Owner, require_enabled, store as endpoints};
use super::events::{self, Event};
use super::kind::EventKind;
use super::schedule::Status;
use platform::db::Tx;
use platform::ids::AccountId;
use store::NewDelivery;
use uuid::Uuid;

pub use attempt::{Render, SentMessage};

/// The events that one transaction queues again.
const REPLAY_BATCH_SIZE: usize = 200;

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

/// Queues an event for an endpoint whose row is locked, again if it is finished. Returns its delivery.
pub(super) async fn enqueue(tx: &mut Tx, endpoint: Uuid, event: &Event, now: i64) -> sqlx::Result<Uuid> {
    let id = if let Some(id) = store::find_of_event(tx, endpoint, event.sequence).await? {
        store::reset(tx, id, now).await?;
        id
    } else {
        let new = NewDelivery::new(endpoint, event, None, now);
        let id = new.id;
        store::insert(tx, &[new]).await?;
        id
    };
    store::open_subject(tx, endpoint, &event.subject, now).await?;
    Ok(id)
}

impl Webhooks {
    /// Lists the deliveries to an endpoint, the newest events first. Fails if the account has no such endpoint.
    pub async fn list_deliveries(
        &self,
        account: AccountId,
        endpoint: Uuid,
        filter: &DeliveryFilter,
        take: usize,
    ) -> Result<Vec<Delivery>, EndpointError> {
        self.find(account, endpoint).await?;
        let before = match filter.before {
            None => i64::MAX,
            Some(id) => {
                let known = store::find(&self.db, endpoint, id)
                    .await?
                    .ok_or(EndpointError::NotFound)?;
                known.sequence
            }
        };
        Ok(store::list(&self.db, endpoint, filter, before, take).await?)
    }

    /// Finds a delivery with its attempts, oldest first.
    pub async fn find_delivery(
        &self,
        account: AccountId,
        endpoint: Uuid,
        id: Uuid,
    ) -> Result<(Delivery, Vec<Attempt>), EndpointError> {
        self.find(account, endpoint).await?;
        let delivery = store::find(&self.db, endpoint, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        let attempts = store::list_attempts(&self.db, id).await?;
        Ok((delivery, attempts))
    }

    /// Returns how the last deliveries to an endpoint went.
    pub async fn traffic(&self, endpoint: Uuid) -> sqlx::Result<Traffic> {
        store::find_traffic(&self.db, endpoint).await
    }

    /// Returns what waits for all endpoints together.
    pub async fn backlog(&self) -> sqlx::Result<Backlog> {
        let mut backlog = Backlog::default();
        for (status, count) in endpoints::count_by_status(&self.db).await? {
            match Status::find(&status) {
                Some(Status::Failing) => backlog.failing = count,
                Some(Status::Disabled) => backlog.disabled = count,
                Some(Status::Enabled) | None => {}
            }
        }
        let now = self.clock.millis();
        for endpoint in endpoints::list_busy(&self.db).await? {
            if let Some(queued_at) = store::find_oldest_waiting(&self.db, endpoint).await? {
                backlog.age_millis = backlog.age_millis.max(now - queued_at);
            }
        }
        Ok(backlog)
    }

    /// Sends an event to an endpoint again, or now if it waits.
    pub async fn retry(&self, owner: Owner, endpoint: Uuid, id: Uuid) -> Result<Delivery, EndpointError> {
        let (mut tx, now) = (self.db.write().await?, self.clock.millis());
        let found = endpoints::lock(&mut tx, owner.account, endpoint).await?;
        require_enabled(&found.ok_or(EndpointError::NotFound)?)?;
        let delivery = store::find_in(&mut tx, endpoint, id)
            .await?
            .ok_or(EndpointError::NotFound)?;
        if delivery.state != State::Waiting {
            store::reset(&mut tx, id, now).await?;
        }
        let subject = store::find_subject(&mut tx, id).await?;
        store::open_subject(&mut tx, endpoint, &subject, now).await?;
        store::make_subject_due(&mut tx, endpoint, &subject, now).await?;
        self.try_now(&mut tx, endpoint, now).await?;
        self.record(&mut tx, owner, "webhook retry", endpoint, &id.to_string())
            .await?;
        tx.commit().await?;
        let delivery = store::find(&self.db, endpoint, id).await?;
        delivery.ok_or(EndpointError::NotFound)
    }

    /// Queues all events since a time again, in the background, and returns how many they are.
    pub async fn replay(&self, owner: Owner, endpoint: Uuid, since: i64) -> Result<i64, EndpointError> {
        let now = self.clock.millis();
        let invalid = |detail: &str| {
            EndpointError::Invalid(vec![InvalidField {
                field: EndpointField::Since,
                detail: detail.to_owned(),
            }])
        };
        if since > now {
            return Err(invalid("send a time in the past"));
        }
        if self.retained_since().is_some_and(|retained| since < retained) {
            let detail = format!("events are kept for {} days; send a later time", self.keep_days);
            return Err(invalid(&detail));
        }
        let first = events::store::find_first_since(&self.db, since).await?;
        let mut tx = self.db.write().await?;
        let sources = events::store::lock_sources(&mut tx).await?;
        let found = endpoints::lock(&mut tx, owner.account, endpoint).await?;
        let found = found.ok_or(EndpointError::NotFound)?;
        require_enabled(&found)?;
        let after = first.map_or(sources.last, |first| first - 1);
        let running = endpoints::find_replay(&mut tx, endpoint).await?;
        let start = running.map_or(after, |(running, _)| running.min(after));
        endpoints::set_replay(&mut tx, endpoint, Some((start, sources.last))).await?;
        let count = events::store::count(&mut tx, &found, after, sources.last).await?;
        self.record(
            &mut tx,
            owner,
            "webhook replay",
            endpoint,
            &platform::clock::rfc3339(since),
        )
        .await?;
        tx.commit().await?;
        Ok(count)
    }

    /// Queues some of the events that owners asked to replay. Returns whether there are more.
    pub async fn continue_replays(&self) -> sqlx::Result<bool> {
        let mut has_more = false;
        for id in endpoints::list_replays(&self.db).await? {
            let (mut tx, now) = (self.db.write().await?, self.clock.millis());
            let endpoint = endpoints::lock_any(&mut tx, id).await?;
            let range = endpoints::find_replay(&mut tx, id).await?;
            let (Some(endpoint), Some((after, until))) = (endpoint, range) else {
                continue;
            };
            let kinds: Vec<EventKind> = EventKind::ALL
                .into_iter()
                .filter(|kind| *kind != EventKind::Ping && endpoint.wants(*kind))
                .collect();
            let listed =
                events::store::list(&self.db, endpoint.account, after, &kinds, REPLAY_BATCH_SIZE).await?;
            let last = listed
                .last()
                .map(|event| event.sequence)
                .filter(|last| *last < until);
            for event in listed.iter().filter(|event| event.sequence <= until) {
                enqueue(&mut tx, id, event, now).await?;
            }
            let rest = last.filter(|_| listed.len() == REPLAY_BATCH_SIZE);
            has_more |= rest.is_some();
            endpoints::set_replay(&mut tx, id, rest.map(|last| (last, until))).await?;
            endpoints::wake(&mut tx, id, now).await?;
            tx.commit().await?;
        }
        Ok(has_more)
    }
}
