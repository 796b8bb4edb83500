//! The endpoints with which an account manages its webhook endpoints.

use super::bodies::{ReplayBody, ReplayInput, WebhookBody, WebhookChangeInput, WebhookInput, WebhooksBody};
use super::fields::{Fields, parse_id, to_error};
use crate::api::fundraisers::own::private_json;
use crate::api::problems::{
    AccountProblems, JsonBodyProblems, NotModified, Unavailable, UnavailableWrite, WebhookNotFound,
};
use crate::api::webhooks::bodies::DeliveryBody;
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::credentials::Credentials;
use crate::http::error::Result;
use crate::http::params::PathText;
use crate::http::public_key::Webhooks;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use giving::webhooks::endpoints::Owner;
use serde::Serialize;

/// Creates a webhook endpoint. The response has its secret, which is shown once: your receiver verifies with it, by Standard
/// Webhooks, that events come from this server. An account has at most 20 endpoints.
#[utoipa::path(
    post,
    path = "/v0.2/webhook",
    operation_id = "createWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    request_body(content = WebhookInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The endpoint, with its secret.", body = WebhookBody),
        JsonBodyProblems,
        AccountProblems,
        UnavailableWrite,
    )
)]
pub async fn create(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    body: JsonBody,
) -> Result<Response> {
    let input = Fields::new(&body.fields).read_new()?;
    let owner = Owner::of_account(credentials.account);
    let created = app.giving.webhooks.create(owner, input).await.map_err(to_error)?;
    let location = format!("/v0.2/webhook/{}", created.endpoint.id);
    let response = json(&WebhookBody::new(&created.endpoint, Some(created.secret), None));
    Ok(([(LOCATION, location)], response).into_response())
}

/// Lists the webhook endpoints of the account, oldest first.
#[utoipa::path(
    get,
    path = "/v0.2/webhooks",
    operation_id = "webhooks",
    tag = "webhooks",
    security(("privateKey" = [])),
    responses(
        (status = 200, description = "The endpoints, without their secrets.", body = WebhooksBody),
        NotModified,
        AccountProblems,
        Unavailable,
    )
)]
pub async fn list(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let listed = app.giving.webhooks.list(credentials.account).await?;
    let body = WebhooksBody {
        webhooks: listed
            .iter()
            .map(|endpoint| WebhookBody::new(endpoint, None, None))
            .collect(),
    };
    Ok(cache::hashed_json(&if_none_match, encode(&body)))
}

/// Reads a webhook endpoint, and how its last deliveries went.
#[utoipa::path(
    get,
    path = "/v0.2/webhook/{id}",
    operation_id = "webhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    responses(
        (status = 200, description = "The endpoint, without its secret.", body = WebhookBody),
        NotModified,
        AccountProblems,
        WebhookNotFound,
        Unavailable,
    )
)]
pub async fn read(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let webhooks = &app.giving.webhooks;
    let endpoint = webhooks
        .find(credentials.account, parse_id(&id)?)
        .await
        .map_err(to_error)?;
    let traffic = webhooks.traffic(endpoint.id).await?;
    let body = WebhookBody::new(&endpoint, None, Some(traffic));
    Ok(cache::hashed_json(&if_none_match, encode(&body)))
}

/// Changes a webhook endpoint. Omitted fields stay as they are.
#[utoipa::path(
    patch,
    path = "/v0.2/webhook/{id}",
    operation_id = "changeWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    request_body(content = WebhookChangeInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The endpoint as it is now.", body = WebhookBody),
        JsonBodyProblems,
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn change(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
    body: JsonBody,
) -> Result<Response> {
    let id = parse_id(&id)?;
    let (change, is_enabled) = Fields::new(&body.fields).read_change()?;
    let (webhooks, owner) = (&app.giving.webhooks, Owner::of_account(credentials.account));
    let mut endpoint = webhooks.change(owner, id, change).await.map_err(to_error)?;
    if let Some(is_enabled) = is_enabled {
        let switched = if is_enabled {
            webhooks.enable(owner, id).await
        } else {
            webhooks.disable(owner, id, "You disabled it.").await
        };
        endpoint = switched.map_err(to_error)?;
    }
    Ok(json(&WebhookBody::new(&endpoint, None, None)))
}

/// Deletes a webhook endpoint. Nothing more is sent to it, and links with its token no longer belong to the account.
#[utoipa::path(
    delete,
    path = "/v0.2/webhook/{id}",
    operation_id = "deleteWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    responses(
        (status = 204, description = "It is deleted."),
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn delete(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
) -> Result<Response> {
    let owner = Owner::of_account(credentials.account);
    let deleted = app.giving.webhooks.delete(owner, parse_id(&id)?).await;
    deleted.map_err(to_error)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Replaces the secret of a webhook endpoint. For 24 hours, events have a signature by the old secret too.
#[utoipa::path(
    post,
    path = "/v0.2/webhook/{id}/rotate",
    operation_id = "rotateWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    responses(
        (status = 200, description = "The endpoint, with its new secret.", body = WebhookBody),
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn rotate(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
) -> Result<Response> {
    let owner = Owner::of_account(credentials.account);
    let rotated = app
        .giving
        .webhooks
        .rotate(owner, parse_id(&id)?)
        .await
        .map_err(to_error)?;
    Ok(json(&WebhookBody::new(
        &rotated.endpoint,
        Some(rotated.secret),
        None,
    )))
}

/// Sends a test event to a webhook endpoint: `ping`, or in the partner format a donation of nothing.
#[utoipa::path(
    post,
    path = "/v0.2/webhook/{id}/test",
    operation_id = "testWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    responses(
        (status = 200, description = "The delivery, which is on its way.", body = DeliveryBody),
        (status = 400, description = "invalid_body: the endpoint is disabled", body = crate::http::error::ProblemBody, content_type = "application/problem+json"),
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn test(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
) -> Result<Response> {
    let (webhooks, id) = (&app.giving.webhooks, parse_id(&id)?);
    let delivery = webhooks.test(Owner::of_account(credentials.account), id).await;
    let delivery = delivery.map_err(to_error)?;
    app.wake_sender();
    let (delivery, _) = webhooks
        .find_delivery(credentials.account, id, delivery)
        .await
        .map_err(to_error)?;
    Ok(json(&DeliveryBody::from(&delivery)))
}

/// Enables a webhook endpoint that is disabled or failing. What waited for it is sent now; replay events that it missed.
#[utoipa::path(
    post,
    path = "/v0.2/webhook/{id}/enable",
    operation_id = "enableWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    responses(
        (status = 200, description = "The endpoint as it is now.", body = WebhookBody),
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn enable(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
) -> Result<Response> {
    let owner = Owner::of_account(credentials.account);
    let enabled = app
        .giving
        .webhooks
        .enable(owner, parse_id(&id)?)
        .await
        .map_err(to_error)?;
    app.wake_sender();
    Ok(json(&WebhookBody::new(&enabled, None, None)))
}

/// Sends all events since a time again, in order. Events have the same `webhook-id` as before.
#[utoipa::path(
    post,
    path = "/v0.2/webhook/{id}/replay",
    operation_id = "replayWebhook",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = uuid::Uuid, Path, description = "The ID of the endpoint.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    request_body(content = ReplayInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The number of events, which are queued in the background.", body = ReplayBody),
        JsonBodyProblems,
        AccountProblems,
        WebhookNotFound,
        UnavailableWrite,
    )
)]
pub async fn replay(
    State(app): State<App>,
    credentials: Credentials<Webhooks>,
    PathText(id): PathText,
    body: JsonBody,
) -> Result<Response> {
    let id = parse_id(&id)?;
    let since = Fields::new(&body.fields).read_since()?;
    let owner = Owner::of_account(credentials.account);
    let events = app
        .giving
        .webhooks
        .replay(owner, id, since)
        .await
        .map_err(to_error)?;
    app.wake_sender();
    Ok(json(&ReplayBody { events }))
}

/// Returns a response with JSON that shared caches must not store.
pub(super) fn json(body: &impl Serialize) -> Response {
    private_json(serde_json::to_string(body).expect("the body is plain data"))
}

pub(super) fn encode(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("the body is plain data")
}
