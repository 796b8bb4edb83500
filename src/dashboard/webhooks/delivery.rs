//! One delivery: its attempts, what was sent, and how to send it again.

use super::pages::{find_own, path_of, to_error};
use super::view::{DeliveryRow, milliseconds};
use crate::app::App;
use crate::app::event_json::renderer;
use crate::http::error::{Error, Result};
use crate::http::params::PathPair;
use crate::web::flash::Flash;
use crate::web::layout::Tab;
use crate::web::relative_time::RelativeTime;
use crate::web::{Layout, Page};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::webhooks::deliveries::Attempt;
use giving::webhooks::deliveries::attempt::SentMessage;
use giving::webhooks::endpoints::{Endpoint, EndpointError, Owner};
use std::fmt::Write;
use uuid::Uuid;

#[derive(Template)]
#[template(path = "dashboard/webhooks/delivery.html")]
struct DeliveryPage {
    layout: Layout,
    endpoint: Endpoint,
    row: DeliveryRow,
    attempts: Vec<AttemptRow>,
    /// `None` if the event is not kept anymore.
    message: Option<SentMessage>,
    curl: String,
}

struct AttemptRow {
    attempt: Attempt,
    at: RelativeTime,
    duration: String,
}

/// `GET /dashboard/webhooks/{id}/deliveries/{delivery}`
pub async fn delivery(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathPair(id, delivery): PathPair,
) -> Result<Response> {
    let (webhooks, now) = (&app.giving.webhooks, app.clock.millis());
    let endpoint = find_own(&app, &user, &id).await?;
    let delivery = Uuid::try_parse(&delivery).map_err(|_| Error::NotFound)?;
    let found = webhooks.find_delivery(user.account, endpoint.id, delivery).await;
    let (delivery, attempts) = found.map_err(to_error)?;
    let render = renderer(app.site.urls.clone());
    let message = webhooks.preview(&endpoint, delivery.sequence, &render).await?;
    let row = |attempt: Attempt| AttemptRow {
        at: RelativeTime::new(attempt.at, now),
        duration: milliseconds(attempt.duration),
        attempt,
    };
    let page = DeliveryPage {
        curl: message.as_ref().map(curl).unwrap_or_default(),
        attempts: attempts.into_iter().rev().map(row).collect(),
        row: DeliveryRow::new(delivery, now),
        message,
        endpoint,
        layout: layout.with_menu(&user, Tab::Webhooks),
    };
    Ok(Page(page).into_response())
}

/// `POST /dashboard/webhooks/{id}/deliveries/{delivery}/retry`
pub async fn retry(
    State(app): State<App>,
    user: SignedIn,
    PathPair(id, delivery): PathPair,
) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let delivery = Uuid::try_parse(&delivery).map_err(|_| Error::NotFound)?;
    let owner = Owner::of_account(user.account);
    let flash = match app.giving.webhooks.retry(owner, endpoint.id, delivery).await {
        Ok(_) => Flash::WebhookResent,
        Err(EndpointError::Invalid(_)) => Flash::WebhookIsDisabled,
        Err(error) => return Err(to_error(error)),
    };
    let path = format!("{}/deliveries/{delivery}", path_of(endpoint.id));
    Ok(flash.redirect(&app.site.public_url, &path))
}

/// Returns a command that sends the same message. Single quotes of the body are escaped, so nothing in it is run.
fn curl(message: &SentMessage) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut command = format!("curl {} \\\n", quote(&message.url));
    let _ = writeln!(command, "  -H 'content-type: application/json' \\");
    for (name, value) in &message.headers {
        let _ = writeln!(command, "  -H {} \\", quote(&format!("{name}: {value}")));
    }
    let _ = write!(command, "  --data-raw {}", quote(&message.body));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_quotes_what_others_wrote() {
        let message = SentMessage {
            url: "https://example.org/a?b".to_owned(),
            headers: vec![("webhook-id", "evt_1".to_owned())],
            body: "{\"title\":\"It's $(rm)\"}".to_owned(),
        };
        assert_eq!(
            curl(&message),
            "curl 'https://example.org/a?b' \\\n  -H 'content-type: application/json' \\\n  -H 'webhook-id: evt_1' \\\n  \
             --data-raw '{\"title\":\"It'\\''s $(rm)\"}'"
        );
    }
}
