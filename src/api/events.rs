//! `GET /v0.2/events`: the log of events, with which a partner can do without webhooks or catch up.

use crate::api::problems::{AccountProblems, CursorExpired, InvalidParameter, Unavailable};
use crate::api::schemas::{EventNames, PositiveInteger};
use crate::api::webhooks::deliveries::parse_kind;
use crate::app::App;
use crate::app::event_json::log_entry;
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, positive, values};
use crate::http::public_key::Events;
use axum::extract::State;
use axum::response::Response;
use giving::webhooks::EventKind;
use giving::webhooks::events::log::{After, LogError};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use utoipa::ToSchema;

const DEFAULT_TAKE: usize = 100;
const MAX_TAKE: usize = 100;
/// The longest time that a request waits for an event, in seconds.
const MAX_WAIT: usize = 25;
/// Where a reader starts that wants new events only.
const LATEST: &str = "latest";

/// One page of events.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it only describes the body")]
pub struct EventsBody {
    /// The oldest first.
    events: Vec<EventBody>,
    /// The value of after for the next page, and for the next time if there is none.
    cursor: String,
    /// Whether there is another page now.
    has_more: bool,
}

/// An event: the body of a webhook in the standard format, with its ID.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes the body")]
struct EventBody {
    /// The `webhook-id` with which webhooks have it.
    #[schema(example = "evt_4f2b1c9f0a6d4e8bb1a7c7f7f3f0a9d2")]
    id: String,
    #[schema(example = "donation.succeeded")]
    r#type: String,
    timestamp: String,
    /// What the event is about, as in webhooks.
    #[schema(value_type = Object)]
    data: (),
}

/// Lists the events that the account may see: of its own fundraisers, and of donations by links with its webhook token.
///
/// With `wait`, a request without an event to return waits for one. A cursor is 410 if an older backup of the database was
/// restored, or if its event is too old.
#[utoipa::path(
    get,
    path = "/v0.2/events",
    operation_id = "events",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(
        ("after" = Option<String>, Query, description = "The cursor of the last page that you have, or latest for new events only. Without it, the oldest events come first."),
        ("type" = inline(Option<EventNames>), Query, description = "Only events of these types, separated by commas."),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Events per page: at most 100, which is the default."),
        ("wait" = inline(Option<PositiveInteger>), Query, description = "Seconds to wait for an event if there is none: at most 25."),
    ),
    responses(
        (status = 200, description = "One page of events.", body = EventsBody),
        InvalidParameter,
        AccountProblems,
        CursorExpired,
        Unavailable,
    )
)]
pub async fn list(
    State(app): State<App>,
    credentials: Credentials<Events>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let wait = positive(&query, "wait")?.unwrap_or(0).min(MAX_WAIT);
    let mut kinds = Vec::new();
    for names in values(&query, "type") {
        for name in names.split(',') {
            kinds.push(parse_kind(name.trim())?);
        }
    }
    if kinds.is_empty() {
        kinds = EventKind::ALL.to_vec();
    }
    let after = values(&query, "after").next().unwrap_or_default();
    let after = match after.as_ref() {
        "" => After::Start,
        LATEST => After::Latest,
        cursor => After::Cursor(cursor),
    };
    // A reader that starts at the latest event has no cursor to wait with.
    let wait = if matches!(after, After::Latest) { 0 } else { wait };
    let deadline = Instant::now() + Duration::from_secs(wait as u64);
    let mut new_events = app.giving.new_events.subscribe();
    let page = loop {
        let page = app
            .giving
            .webhooks
            .list_events(credentials.account, after, &kinds, take)
            .await?;
        if !page.events.is_empty() || page.has_more {
            break page;
        }
        tokio::select! {
            biased;
            () = sleep_until(deadline) => break page,
            () = app.availability.waits_ended() => break page,
            _ = new_events.changed() => {}
        }
    };
    let events: Vec<_> = page
        .events
        .iter()
        .map(|event| log_entry(event, &app.site.urls))
        .collect();
    let body = json!({"events": events, "cursor": page.cursor, "hasMore": page.has_more});
    Ok(crate::api::fundraisers::own::private_json(body.to_string()))
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Error {
        match error {
            LogError::Malformed => Error::InvalidParameter(
                "after is not a cursor. Send the cursor of the last page, or latest.".into(),
            ),
            LogError::Lost => Error::EventCursorLost,
            LogError::Store(error) => error.into(),
        }
    }
}
