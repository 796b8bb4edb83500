//! What owners see of deliveries, and how they send events again.

use super::queue::enqueue;
use super::{Attempt, Backlog, Delivery, DeliveryFilter, State, Traffic, store};
use crate::webhooks::Webhooks;
use crate::webhooks::endpoints::input::{EndpointField, InvalidField};
use crate::webhooks::endpoints::{EndpointError, Owner, require_enabled, store as endpoints};
use crate::webhooks::events;
use crate::webhooks::kind::EventKind;
use crate::webhooks::schedule::Status;
use platform::ids::AccountId;
use uuid::Uuid;

/// The events that one transaction queues again.
const REPLAY_BATCH_SIZE: usize = 200;

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
