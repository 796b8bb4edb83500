//! Puts events into the queue of an endpoint.

use super::store::{self, NewDelivery};
use crate::webhooks::events::Event;
use platform::db::Tx;
use uuid::Uuid;

/// Queues an event for an endpoint whose row is locked, again if it is finished. Returns its delivery.
pub(in crate::webhooks) async fn enqueue(
    tx: &mut Tx,
    endpoint: Uuid,
    event: &Event,
    now: i64,
) -> sqlx::Result<Uuid> {
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
