//! Events that payment providers send.

use crate::app::App;
use crate::http::body;
use crate::http::error::{Error, Result};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use giving::payments::link::{LinkEvent, LinkPayment};
use giving::providers::stripe::objects::Event;
use giving::providers::stripe::signature;
use jiff::Timestamp;
use platform::webhook_signature::{WebhookHeaders, WebhookSecret};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use uuid::Uuid;

/// A message of the processor behind a payment link.
#[derive(Deserialize)]
struct LinkMessage {
    #[serde(rename = "type")]
    kind: String,
    data: LinkData,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LinkData {
    donation: Uuid,
    amount: i64,
    external_id: String,
    paid_at: Option<Timestamp>,
    livemode: Option<bool>,
}

/// `POST /webhooks/link`: enters what the processor behind the payment link reports, and answers.
pub async fn link(State(app): State<App>, request: Request) -> Result<StatusCode> {
    let Some(secret) = WebhookSecret::parse(app.config.link_secret.expose_secret()) else {
        return Err(Error::NotFound);
    };
    let headers = request.headers().clone();
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let id = text("webhook-id");
    let bytes = body::read(request).await?;
    let signature = WebhookHeaders {
        id,
        timestamp: text("webhook-timestamp"),
        signature: text("webhook-signature"),
    };
    if let Err(error) = secret.verify(signature, &bytes, app.clock.millis() / 1_000) {
        tracing::warn!(%error, "refused a message about a payment link");
        return Err(Error::InvalidSignature(error.to_string()));
    }
    body::check_values(&bytes)?;
    let message: LinkMessage =
        serde_json::from_slice(&bytes).map_err(|error| Error::InvalidJson(error.to_string()))?;
    let data = message.data;
    let event = LinkEvent {
        kind: message.kind,
        payment: LinkPayment {
            donation: data.donation,
            amount: data.amount,
            external_id: data.external_id,
            paid_at: data.paid_at,
            livemode: data.livemode.unwrap_or(true),
        },
    };
    app.settlement().handle_link_event(id, &event).await?;
    Ok(StatusCode::OK)
}

/// `POST /webhooks/stripe`: stores an event, answers, and then handles it.
pub async fn stripe(State(app): State<App>, request: Request) -> Result<StatusCode> {
    let Some(payments) = app.payments() else {
        return Err(Error::NotFound);
    };
    let header = request.headers().get("stripe-signature");
    let header = header.and_then(|header| header.to_str().ok()).unwrap_or_default();
    let header = header.to_owned();
    let bytes = body::read(request).await?;
    let settings = &app.config.stripe;
    let now = app.clock.millis() / 1_000;
    let verify = |secret: &SecretString| signature::verify(&header, &bytes, secret.expose_secret(), now);
    // Events of connected accounts have a secret of their own.
    let is_connected = settings.is_connect() && verify(&settings.connect_webhook_secret).is_ok();
    if let (false, Err(error)) = (is_connected, verify(&settings.webhook_secret)) {
        tracing::warn!(%error, "refused an event of Stripe");
        return Err(Error::InvalidSignature(error.to_string()));
    }
    body::check_values(&bytes)?;
    let event: Event =
        serde_json::from_slice(&bytes).map_err(|error| Error::InvalidJson(error.to_string()))?;
    if payments.receive(&event, is_connected).await? {
        let app = app.clone();
        // The event is stored, so it is handled later if this server stops now.
        tokio::spawn(async move {
            if let Some(payments) = app.payments()
                && let Err(error) = payments.handle(event).await
            {
                tracing::error!(%error, "the outcome of an event could not be stored");
            }
        });
    }
    Ok(StatusCode::OK)
}
