//! The webhook endpoints of all accounts, those with the most waiting events first. Operators can disable one.

use crate::app::App;
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::reason;
use crate::dashboard::webhooks::EndpointView;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::fill;
use crate::web::{Form, FormData, Layout, Page};
use access::audit::Actor;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::webhooks::endpoints::{Endpoint, EndpointError, Owner};
use uuid::Uuid;

/// Where this page is.
pub(super) const PATH: &str = "/dashboard/operator/webhooks";

#[derive(Template)]
#[template(path = "dashboard/operator/webhooks.html")]
struct WebhooksPage {
    layout: Layout,
    rows: Vec<Row>,
}

struct Row {
    view: EndpointView,
    username: String,
    oldest: Option<RelativeTime>,
}

/// `GET /dashboard/operator/webhooks`
pub async fn list(State(app): State<App>, Operator(user): Operator, layout: Layout) -> Result<Response> {
    let now = app.clock.millis();
    let mut rows = Vec::new();
    for backlog in app.giving.webhooks.list_backlogs().await? {
        rows.push(Row {
            username: backlog.username,
            oldest: backlog.oldest_queued_at.map(|at| RelativeTime::new(at, now)),
            view: EndpointView::load(&app, backlog.endpoint).await?,
        });
    }
    let page = WebhooksPage {
        layout: with_menu(&app, layout, &user).await?,
        rows,
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/webhooks/{id}/disable`
pub async fn disable_page(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let endpoint = find(&app, &id).await?;
    let form = disable_form(&layout, &endpoint);
    Ok(disable_with(&app, &user, layout, &endpoint, form)
        .await?
        .into_response())
}

/// `POST /dashboard/operator/webhooks/{id}/disable`
pub async fn disable(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let endpoint = find(&app, &id).await?;
    let mut form = disable_form(&layout, &endpoint).with_values(&data);
    let Some(reason) = reason::parse(&data, &mut form, &layout) else {
        return Ok(disable_with(&app, &user, layout, &endpoint, form)
            .await?
            .invalid());
    };
    let owner = Owner {
        account: endpoint.account,
        actor: Actor::Account(user.account),
    };
    match app.giving.webhooks.disable(owner, endpoint.id, &reason).await {
        Ok(_) => Ok(Flash::WebhookDisabled.redirect(&app.site.public_url, PATH)),
        Err(EndpointError::Store(error)) => Err(error.into()),
        Err(_) => Err(Error::NotFound),
    }
}

async fn find(app: &App, id: &str) -> Result<Endpoint> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    app.giving.webhooks.find_any(id).await?.ok_or(Error::NotFound)
}

fn disable_form(layout: &Layout, endpoint: &Endpoint) -> Form {
    let path = format!("{PATH}/{}/disable", endpoint.id);
    Form::new(path, layout.t.webhooks.disable, vec![reason::field(layout)]).dangerous()
}

async fn disable_with(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    endpoint: &Endpoint,
    form: Form,
) -> Result<FormPage> {
    let t = &layout.t.webhooks;
    let lead = fill(t.operator_disable_lead, &[("url", &endpoint.url)]);
    let layout = with_menu(app, layout, user).await?;
    let page = FormPage::new(layout, t.operator_disable_title, form).lead(lead);
    Ok(page.link(PATH, t.cancel))
}
