//! The list of endpoints, the page of one, and what the other pages of webhooks share.

use super::view::{DeliveryRow, EndpointView, state_text};
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{self, PathText};
use crate::web::layout::Tab;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::WebhookTexts;
use crate::web::{Field, Form, Layout, Page};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use giving::webhooks::EventKind;
use giving::webhooks::deliveries::{DeliveryFilter, State as DeliveryState};
use giving::webhooks::endpoints::{Endpoint, EndpointError};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uuid::Uuid;

/// The path of the list.
pub(super) const PATH: &str = "/dashboard/webhooks";
/// The deliveries on one page.
const PAGE_SIZE: usize = 50;

#[derive(Template)]
#[template(path = "dashboard/webhooks/list.html")]
struct ListPage {
    layout: Layout,
    endpoints: Vec<EndpointView>,
}

#[derive(Template)]
#[template(path = "dashboard/webhooks/endpoint.html")]
struct EndpointPage {
    layout: Layout,
    view: EndpointView,
    created: RelativeTime,
    /// When the secret before the current one ends.
    old_secret_ends: Option<RelativeTime>,
    replay: Form,
    filter: Filter,
    deliveries: Vec<DeliveryRow>,
    /// The query of the next page.
    older: Option<String>,
}

/// The filter as it was sent.
#[derive(Default)]
struct Filter {
    event: String,
    status: String,
    since: String,
}

impl Filter {
    fn parse(query: &str) -> Filter {
        let text = |name| {
            params::values(query, name)
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        Filter {
            event: text("event"),
            status: text("status"),
            since: text("since"),
        }
    }

    /// Returns the known values; unknown ones filter nothing.
    fn typed(&self) -> DeliveryFilter {
        let since = self.since.parse::<Date>().ok();
        let since = since.and_then(|date| date.to_zoned(TimeZone::UTC).ok());
        DeliveryFilter {
            kind: EventKind::find(&self.event),
            state: DeliveryState::find(&self.status),
            before: None,
            since: since.map(|since| since.timestamp().as_millisecond()),
        }
    }

    fn is_empty(&self) -> bool {
        self.event.is_empty() && self.status.is_empty() && self.since.is_empty()
    }

    /// Returns the query of the page after a delivery. Its values are words and dates.
    fn older(&self, last: Uuid) -> String {
        let typed = self.typed();
        let kind = typed.kind.map_or("", EventKind::name);
        let state = typed.state.map_or("", DeliveryState::name);
        let since = self
            .since
            .parse::<Date>()
            .map_or_else(|_| String::new(), |date| date.to_string());
        format!("?event={kind}&status={state}&since={since}&before={last}#deliveries")
    }

    fn events(&self) -> impl Iterator<Item = (&'static str, bool)> {
        EventKind::ALL
            .into_iter()
            .map(|kind| (kind.name(), kind.name() == self.event))
    }

    /// Lists the name and the label of each state, and whether it is chosen.
    fn states(&self, t: &WebhookTexts) -> Vec<(&'static str, &'static str, bool)> {
        let option = |state: DeliveryState| (state.name(), state_text(state, t), state.name() == self.status);
        DeliveryState::ALL.into_iter().map(option).collect()
    }
}

/// `GET /dashboard/webhooks`
pub async fn list(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let mut endpoints = Vec::new();
    for endpoint in app.giving.webhooks.list(user.account).await? {
        endpoints.push(EndpointView::load(&app, endpoint).await?);
    }
    let page = ListPage {
        layout: layout.with_menu(&user, Tab::Webhooks),
        endpoints,
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/webhooks/{id}`
pub async fn endpoint(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let endpoint = find_own(&app, &user, &id).await?;
    let replay = replay_form(&layout, &endpoint);
    show(
        &app,
        &user,
        layout,
        endpoint,
        replay,
        query.as_deref().unwrap_or_default(),
    )
    .await
}

/// Renders the page of an endpoint. The form to replay events can have errors.
pub(super) async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    endpoint: Endpoint,
    replay: Form,
    query: &str,
) -> Result<Response> {
    let now = app.clock.millis();
    let filter = Filter::parse(query);
    let before = params::values(query, "before").next();
    let typed = DeliveryFilter {
        before: before.and_then(|before| Uuid::try_parse(&before).ok()),
        ..filter.typed()
    };
    let listed = app
        .giving
        .webhooks
        .list_deliveries(user.account, endpoint.id, &typed, PAGE_SIZE + 1);
    let mut deliveries = listed.await.map_err(to_error)?;
    let has_older = deliveries.len() > PAGE_SIZE;
    deliveries.truncate(PAGE_SIZE);
    let last = deliveries.last().map(|delivery| delivery.id);
    let page = EndpointPage {
        older: last.filter(|_| has_older).map(|last| filter.older(last)),
        deliveries: deliveries
            .into_iter()
            .map(|delivery| DeliveryRow::new(delivery, now))
            .collect(),
        created: RelativeTime::new(endpoint.created_at, now),
        old_secret_ends: endpoint
            .old_secret_ends
            .filter(|ends| *ends > now)
            .map(|ends| RelativeTime::new(ends, now)),
        view: EndpointView::load(app, endpoint).await?,
        replay,
        filter,
        layout: layout.with_menu(user, Tab::Webhooks),
    };
    Ok(Page(page).into_response())
}

/// Finds an endpoint of the signed-in account. One of another account is as if absent.
pub(super) async fn find_own(app: &App, user: &SignedIn, id: &str) -> Result<Endpoint> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    app.giving.webhooks.find(user.account, id).await.map_err(to_error)
}

/// Converts an error that no field of a form explains.
pub(super) fn to_error(error: EndpointError) -> Error {
    match error {
        EndpointError::NotFound | EndpointError::Invalid(_) => Error::NotFound,
        EndpointError::Store(error) => error.into(),
    }
}

/// Returns the path of an endpoint.
pub(super) fn path_of(id: Uuid) -> String {
    format!("{PATH}/{id}")
}

/// Returns the form that replays the events of an endpoint.
pub(super) fn replay_form(layout: &Layout, endpoint: &Endpoint) -> Form {
    let t = &layout.t.webhooks;
    let since = Field::time("since", t.since).hint(t.since_hint);
    Form::new(format!("{}/replay", path_of(endpoint.id)), t.replay, vec![since])
}
