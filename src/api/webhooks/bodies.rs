//! The JSON of webhook endpoints and deliveries.

use crate::api::schemas::{
    BearerToken, EventList, WebhookDescription, WebhookFormat, WebhookSwitch, WebhookUrl,
};
use giving::webhooks::deliveries::{Attempt, Delivery, Traffic};
use giving::webhooks::endpoints::Endpoint;
use giving::webhooks::schedule::Status;
use platform::clock::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A webhook endpoint to create.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct WebhookInput {
    #[schema(inline)]
    url: WebhookUrl,
    #[schema(inline, required = false)]
    events: EventList,
    #[schema(inline, required = false)]
    description: WebhookDescription,
    #[schema(inline, required = false)]
    format: WebhookFormat,
    #[schema(inline, required = false)]
    bearer_token: BearerToken,
}

/// The changes to a webhook endpoint. Omitted fields stay as they are.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct WebhookChangeInput {
    #[schema(inline, required = false)]
    url: WebhookUrl,
    #[schema(inline, required = false)]
    events: EventList,
    #[schema(inline, required = false)]
    description: WebhookDescription,
    #[schema(inline, required = false)]
    format: WebhookFormat,
    #[schema(inline, required = false)]
    bearer_token: BearerToken,
    #[schema(inline, required = false)]
    status: WebhookSwitch,
}

/// From when on events are sent again.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct ReplayInput {
    /// A date with time and zone, such as 2026-05-01T00:00:00Z.
    #[schema(format = DateTime)]
    since: String,
}

/// A webhook endpoint.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookBody {
    id: Uuid,
    url: String,
    description: String,
    events: Vec<&'static str>,
    /// standard or partner.
    format: &'static str,
    /// The public token of your donate links: donations that they bring belong to your account.
    webhook_token: String,
    /// Whether it sends a fixed token as `Authorization: Bearer`.
    has_bearer_token: bool,
    /// The secret with which events are signed. Only present when it was created or rotated.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// Until when the secret before a rotation signs too.
    #[schema(required)]
    old_secret_ends_at: Option<String>,
    /// enabled, failing (only the oldest event is tried), or disabled.
    status: &'static str,
    /// Why it is disabled.
    #[schema(required)]
    disabled_reason: Option<String>,
    /// The failures in a row, and since when.
    failures: i64,
    #[schema(required)]
    failing_since: Option<String>,
    #[schema(required)]
    last_success_at: Option<String>,
    created_at: String,
    /// How the last deliveries went. Only present for a single endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<TrafficBody>,
}

/// How the last deliveries went.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TrafficBody {
    /// Events that wait, up to 100,000.
    waiting: i64,
    /// Of the last 1,000 events.
    delivered: i64,
    failed: i64,
    /// The time that 99 of 100 answers took at most, in milliseconds.
    #[schema(required)]
    p99: Option<i64>,
}

/// The webhook endpoints of an account.
#[derive(Serialize, ToSchema)]
pub struct WebhooksBody {
    pub webhooks: Vec<WebhookBody>,
}

/// An event on its way to an endpoint.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryBody {
    id: Uuid,
    /// The `webhook-id` with which it is sent.
    event_id: String,
    r#type: &'static str,
    /// waiting, delivered or failed.
    status: &'static str,
    /// The attempts since it was queued last.
    attempts: i64,
    queued_at: String,
    /// Null if it is finished, or waits for an earlier event about the same.
    #[schema(required)]
    next_attempt_at: Option<String>,
    #[schema(required)]
    finished_at: Option<String>,
    #[schema(required)]
    last_attempt: Option<AttemptBody>,
}

/// An attempt to deliver an event.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AttemptBody {
    at: String,
    /// The status of the answer, if there was one.
    #[schema(required)]
    response_status: Option<i64>,
    /// Why it failed.
    #[schema(required)]
    error: Option<String>,
    /// In milliseconds.
    duration: i64,
}

/// One page of deliveries, the newest events first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesBody {
    pub deliveries: Vec<DeliveryBody>,
    pub has_more: bool,
}

/// How many events are sent again.
#[derive(Serialize, ToSchema)]
pub struct ReplayBody {
    pub events: i64,
}

impl WebhookBody {
    pub fn new(endpoint: &Endpoint, secret: Option<String>, traffic: Option<Traffic>) -> WebhookBody {
        let is_disabled = endpoint.health.status == Status::Disabled;
        WebhookBody {
            id: endpoint.id,
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            events: endpoint.events.iter().map(|kind| kind.name()).collect(),
            format: endpoint.format.name(),
            webhook_token: endpoint.token.clone(),
            has_bearer_token: endpoint.has_bearer,
            secret,
            old_secret_ends_at: endpoint.old_secret_ends.map(rfc3339),
            status: endpoint.health.status.name(),
            disabled_reason: is_disabled.then(|| endpoint.reason.clone()),
            failures: endpoint.health.failures,
            failing_since: endpoint.health.failing_since.map(rfc3339),
            last_success_at: endpoint.health.succeeded_at.map(rfc3339),
            created_at: rfc3339(endpoint.created_at),
            traffic: traffic.map(|traffic| TrafficBody {
                waiting: traffic.waiting,
                delivered: traffic.delivered,
                failed: traffic.failed,
                p99: traffic.p99,
            }),
        }
    }
}

impl From<&Delivery> for DeliveryBody {
    fn from(delivery: &Delivery) -> DeliveryBody {
        let attempt = |last: &Attempt| AttemptBody {
            at: rfc3339(last.at),
            response_status: last.status,
            error: last.error.clone(),
            duration: last.duration,
        };
        DeliveryBody {
            id: delivery.id,
            event_id: delivery.event.clone(),
            r#type: delivery.kind.name(),
            status: delivery.state.name(),
            attempts: delivery.attempts,
            queued_at: rfc3339(delivery.queued_at),
            next_attempt_at: delivery.due_at.map(rfc3339),
            finished_at: delivery.finished_at.map(rfc3339),
            last_attempt: delivery.last.as_ref().map(attempt),
        }
    }
}
