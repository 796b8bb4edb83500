//! One attempt: reads the event and the secrets, writes and signs the body, and posts it.

use super::store::Leased;
use crate::webhooks::endpoints::Endpoint;
use crate::webhooks::events::content::Content;
use crate::webhooks::schedule::{Outcome, Status, parse_retry_after};
use crate::webhooks::{Format, Webhooks, endpoints, events};
use platform::clock::Stopwatch;
use std::sync::Arc;
use uuid::Uuid;

/// Writes the body of an event. Entry points know the names of its fields.
pub type Render = Arc<dyn Fn(&Content, Format) -> String + Send + Sync>;

const STATUS_OK: std::ops::Range<u16> = 200..300;
const STATUS_GONE: u16 = 410;

/// A message as it is sent.
#[derive(Clone, Debug)]
pub struct SentMessage {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// What became of an attempt.
#[derive(Debug)]
pub(super) enum Attempted {
    /// It was made.
    Sent(Sent),
    /// There is nothing to send: the event is gone.
    NoEvent,
    /// The endpoint was disabled or deleted.
    NotWanted,
    /// The store could not be read. Nothing was sent, and the lease lapses.
    Failed,
}

#[derive(Debug)]
pub(super) struct Sent {
    pub outcome: Outcome,
    pub at: i64,
    pub status: Option<i64>,
    pub error: Option<String>,
    pub duration: i64,
    pub answer: String,
}

/// What there is to send.
enum Prepared {
    Message(Box<SentMessage>),
    NoEvent,
    NotWanted,
    NoSecret,
}

impl Webhooks {
    /// Sends a delivery.
    pub(super) async fn attempt(&self, leased: Leased, render: &Render) -> Attempted {
        let at = self.clock.millis();
        let message = match self.prepare(leased.endpoint, leased.sequence, render).await {
            Ok(Prepared::Message(message)) => message,
            Ok(Prepared::NoEvent) => return Attempted::NoEvent,
            Ok(Prepared::NotWanted) => return Attempted::NotWanted,
            Ok(Prepared::NoSecret) => {
                let error = "the secret cannot be read; rotate it";
                return Attempted::Sent(failed(at, 0, error.to_owned()));
            }
            Err(error) => {
                tracing::warn!(%error, "an event could not be read");
                return Attempted::Failed;
            }
        };
        let watch = Stopwatch::start();
        let posted = self
            .poster
            .post(&message.url, &message.headers, message.body)
            .await;
        let duration = watch.elapsed().as_millis() as i64;
        let answer = match posted {
            Ok(answer) => answer,
            Err(error) => return Attempted::Sent(failed(at, duration, error.to_string())),
        };
        let now = self.clock.millis();
        let (outcome, error) = match answer.status {
            status if STATUS_OK.contains(&status) => (Outcome::Delivered, None),
            STATUS_GONE => (Outcome::Gone, Some("the receiver is gone".to_owned())),
            status => {
                let retry_after = answer.retry_after.as_deref();
                let retry_after = retry_after.and_then(|text| parse_retry_after(text, now));
                let error = match status {
                    300..400 => {
                        format!("the receiver answered with status {status}; redirects are not followed")
                    }
                    _ => format!("the receiver answered with status {status}"),
                };
                (Outcome::Failed { retry_after }, Some(error))
            }
        };
        Attempted::Sent(Sent {
            outcome,
            at,
            status: Some(i64::from(answer.status)),
            error,
            duration,
            answer: answer.head,
        })
    }

    async fn prepare(&self, endpoint: Uuid, sequence: i64, render: &Render) -> sqlx::Result<Prepared> {
        let Some(endpoint) = endpoints::store::find_any(&self.db, endpoint).await? else {
            return Ok(Prepared::NotWanted);
        };
        if endpoint.health.status == Status::Disabled {
            return Ok(Prepared::NotWanted);
        }
        self.write_message(&endpoint, sequence, render).await
    }

    async fn write_message(
        &self,
        endpoint: &Endpoint,
        sequence: i64,
        render: &Render,
    ) -> sqlx::Result<Prepared> {
        let Some(event) = events::store::find(&self.db, sequence).await? else {
            return Ok(Prepared::NoEvent);
        };
        let Some(content) = self.content(endpoint.account, &event).await? else {
            return Ok(Prepared::NoEvent);
        };
        let Some(secrets) = endpoints::store::find_secrets(&self.db, endpoint.id).await? else {
            return Ok(Prepared::NotWanted);
        };
        let now = self.clock.millis();
        let Some(secrets) = self.open_secrets(endpoint.id, &secrets, now) else {
            return Ok(Prepared::NoSecret);
        };
        let body = render(&content, endpoint.format);
        let seconds = now / 1_000;
        let signatures = secrets.signing.iter();
        let signatures: Vec<String> = signatures
            .map(|secret| secret.sign(&event.id, seconds, body.as_bytes()))
            .collect();
        let mut headers = vec![
            ("webhook-id", event.id),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ];
        if let Some(bearer) = secrets.bearer {
            headers.push(("authorization", format!("Bearer {bearer}")));
        }
        Ok(Prepared::Message(Box::new(SentMessage {
            url: endpoint.url.clone(),
            headers,
            body,
        })))
    }

    /// Writes a message again as it would be sent now, for its owner to see: bodies are not stored. `None` if its event is gone.
    pub async fn preview(
        &self,
        endpoint: &Endpoint,
        sequence: i64,
        render: &Render,
    ) -> sqlx::Result<Option<SentMessage>> {
        Ok(match self.write_message(endpoint, sequence, render).await? {
            Prepared::Message(mut message) => {
                for (name, value) in &mut message.headers {
                    if *name == "authorization" {
                        "Bearer …".clone_into(value);
                    }
                }
                Some(*message)
            }
            Prepared::NoEvent | Prepared::NotWanted | Prepared::NoSecret => None,
        })
    }
}

fn failed(at: i64, duration: i64, error: String) -> Sent {
    Sent {
        outcome: Outcome::Failed { retry_after: None },
        at,
        status: None,
        error: Some(error),
        duration,
        answer: String::new(),
    }
}
