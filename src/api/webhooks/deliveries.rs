//! What became of the events for a webhook endpoint.

use super::bodies::{DeliveriesBody, DeliveryBody};
use super::endpoints::{encode, json};
use super::fields::{parse_id, to_error};
use crate::api::problems::{
    AccountProblems, InvalidParameter, NotModified, Unavailable, UnavailableWrite, WebhookNotFound,
};
use crate::api::schemas::{DeliveryStatus, EventName, PositiveInteger};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText, RawQuery, positive, values};
use crate::http::public_key::Webhooks;
use axum::extract::State;
use axum::response::Response;
use giving::webhooks::EventKind;
use giving::webhooks::deliveries::{DeliveryFilter, State as DeliveryState};
use giving::webhooks::endpoints::Owner;

const DEFAULT_TAKE: usize = 20;
const MAX_TAKE: usize = 100;

/// Lists the deliveries to a webhook endpoint, the newest events first.
#[utoipa::path(
    get,
    path = "/v0.2/webhook/{id}/deliveries",
    operation_id = "deliveries",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(
        ("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524"),
        ("type" = inline(Option<EventName>), Query, description = "Only events of this type."),
        ("status" = inline(Option<DeliveryStatus>), Query, description = "Only deliveries with this status: waiting, delivered or failed."),
        ("before" = Option<uuid::Uuid>, Query, description = "The ID of the last delivery that you have; those of older events follow."),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Deliveries per page: 20 by default, at most 100. A larger number means 100."),
    ),
    responses(
        (status = 200, description = "One page of deliveries.", body = DeliveriesBody),
        NotModified,
        InvalidParameter,
        AccountProblems,
        WebhookNotFound,
        Unavailable,
    )
)]
pub async fn list(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let id = parse_id(&id)?;
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let first = |name| values(&query, name).next();
    let kind = first("type").map(|name| parse_kind(&name)).transpose()?;
    let state = first("status").map(|name| {
        let invalid = || Error::InvalidParameter("status must be waiting, delivered or failed.".into());
        DeliveryState::find(&name).ok_or_else(invalid)
    });
    let filter = DeliveryFilter {
        kind,
        state: state.transpose()?,
        before: first("before").map(|text| parse_id(&text)).transpose()?,
        since: None,
    };
    let listed = app
        .giving
        .webhooks
        .list_deliveries(credentials.account, id, &filter, take + 1)
        .await;
    let mut listed = listed.map_err(to_error)?;
    let has_more = listed.len() > take;
    listed.truncate(take);
    let body = DeliveriesBody {
        deliveries: listed.iter().map(DeliveryBody::from).collect(),
        has_more,
    };
    Ok(cache::hashed_json(&if_none_match, encode(&body)))
}

/// Sends an event to a webhook endpoint again, with the same `webhook-id`.
#[utoipa::path(
    post,
    path = "/v0.2/webhook/{id}/deliveries/{delivery}/retry",
    operation_id = "retryDelivery",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(
        ("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524"),
        ("delivery" = uuid::Uuid, Path, description = "The ID of the delivery.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae525"),
    ),
    responses(
        (status = 200, description = "The delivery, which is on its way.", body = DeliveryBody),
        (status = 400, description = "invalid_body: the endpoint is disabled", body = crate::http::error::ProblemBody, content_type = "application/problem+json"),
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn retry(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathPair(id, delivery): PathPair,
) -> Result<Response> {
    let owner = Owner::of_account(credentials.account);
    let (id, delivery) = (parse_id(&id)?, parse_id(&delivery)?);
    let retried = app
        .giving
        .webhooks
        .retry(owner, id, delivery)
        .await
        .map_err(to_error)?;
    app.wake_sender();
    Ok(json(&DeliveryBody::from(&retried)))
}

/// Parses the name of an event.
pub fn parse_kind(name: &str) -> Result<EventKind> {
    EventKind::find(name).ok_or_else(|| {
        let names = EventKind::ALL.map(EventKind::name).join(", ");
        Error::InvalidParameter(format!("type must be one of {names}.").into())
    })
}
