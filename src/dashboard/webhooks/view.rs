//! Endpoints and deliveries as the pages show them.

use crate::app::App;
use crate::http::error::Result;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::WebhookTexts;
use giving::webhooks::deliveries::{Delivery, State, Traffic};
use giving::webhooks::endpoints::Endpoint;
use giving::webhooks::schedule::Status;
use giving::webhooks::{EventKind, Format};

/// An endpoint with its health.
pub(in crate::dashboard) struct EndpointView {
    pub endpoint: Endpoint,
    pub traffic: Traffic,
    pub last_success: Option<RelativeTime>,
    pub failing_since: Option<RelativeTime>,
}

impl EndpointView {
    pub(in crate::dashboard) async fn load(app: &App, endpoint: Endpoint) -> Result<EndpointView> {
        let now = app.clock.millis();
        let time = |at: Option<i64>| at.map(|at| RelativeTime::new(at, now));
        Ok(EndpointView {
            traffic: app.giving.webhooks.traffic(endpoint.id).await?,
            last_success: time(endpoint.health.succeeded_at),
            failing_since: time(endpoint.health.failing_since),
            endpoint,
        })
    }

    pub(in crate::dashboard) fn status_badge(&self) -> &'static str {
        match self.endpoint.health.status {
            Status::Enabled => "badge badge-good",
            Status::Failing => "badge badge-warn",
            Status::Disabled => "badge badge-bad",
        }
    }

    pub(in crate::dashboard) fn status_text(&self, t: &WebhookTexts) -> &'static str {
        match self.endpoint.health.status {
            Status::Enabled => t.enabled,
            Status::Failing => t.failing,
            Status::Disabled => t.disabled,
        }
    }

    pub(in crate::dashboard) fn is_failing(&self) -> bool {
        self.endpoint.health.status == Status::Failing
    }

    pub(in crate::dashboard) fn is_disabled(&self) -> bool {
        self.endpoint.health.status == Status::Disabled
    }

    pub(in crate::dashboard) fn is_partner(&self) -> bool {
        self.endpoint.format == Format::Partner
    }

    /// Returns the time within which 99 of 100 answers came.
    pub(in crate::dashboard) fn p99(&self) -> Option<String> {
        self.traffic.p99.map(milliseconds)
    }

    /// Returns the names of its events, or `None` if it gets all.
    pub(in crate::dashboard) fn events(&self) -> Option<String> {
        let names: Vec<&str> = self.endpoint.events.iter().map(|kind| kind.name()).collect();
        (names.len() < EventKind::ALL.len()).then(|| names.join(", "))
    }
}

/// A delivery in a list.
pub(super) struct DeliveryRow {
    pub delivery: Delivery,
    pub queued: RelativeTime,
    /// When it is tried next, in words.
    pub next: Option<String>,
}

impl DeliveryRow {
    pub(super) fn new(delivery: Delivery, now: i64) -> DeliveryRow {
        DeliveryRow {
            queued: RelativeTime::new(delivery.queued_at, now),
            next: delivery.due_at.map(|due_at| duration_until(due_at, now)),
            delivery,
        }
    }

    pub(super) fn badge(&self) -> &'static str {
        match self.delivery.state {
            State::Waiting => "badge badge-warn",
            State::Delivered => "badge badge-good",
            State::Failed => "badge badge-bad",
        }
    }

    pub(super) fn state_text(&self, t: &WebhookTexts) -> &'static str {
        state_text(self.delivery.state, t)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.delivery.state == State::Waiting
    }

    /// Returns the status of the last answer, or why there was none.
    pub(super) fn outcome(&self) -> String {
        let Some(last) = &self.delivery.last else {
            return String::new();
        };
        let status = last.status.map(|status| status.to_string());
        status.or_else(|| last.error.clone()).unwrap_or_default()
    }

    pub(super) fn duration(&self) -> Option<String> {
        Some(milliseconds(self.delivery.last.as_ref()?.duration))
    }
}

pub(super) fn state_text(state: State, t: &WebhookTexts) -> &'static str {
    match state {
        State::Waiting => t.waiting,
        State::Delivered => t.delivered,
        State::Failed => t.failed,
    }
}

/// Writes a duration, such as 85 ms or 12.5 s.
pub(super) fn milliseconds(millis: i64) -> String {
    if millis < 1_000 {
        format!("{millis} ms")
    } else {
        format!("{}.{} s", millis / 1_000, millis % 1_000 / 100)
    }
}

/// Writes how long it takes until a time, such as "in 5 minutes".
fn duration_until(at: i64, now: i64) -> String {
    let seconds = (at - now).max(0) / 1_000;
    let (number, unit) = match seconds {
        0..5 => return "now".to_owned(),
        5..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        _ => (seconds / 3_600, "hour"),
    };
    format!("in {number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_for_people() {
        assert_eq!(
            [0, 85, 999, 1_000, 12_549].map(milliseconds),
            ["0 ms", "85 ms", "999 ms", "1.0 s", "12.5 s"]
        );
        let until = |seconds: i64| duration_until(seconds * 1_000 + 7, 7);
        assert_eq!(
            [-3, 2, 5, 119, 120, 300, 7_200, 36_000].map(until),
            [
                "now",
                "now",
                "in 5 seconds",
                "in 119 seconds",
                "in 2 minutes",
                "in 5 minutes",
                "in 2 hours",
                "in 10 hours"
            ]
        );
    }
}
