//! The reports of visitors about fundraisers and nonprofits.

use crate::app::App;
use crate::dashboard::operator::fundraisers::parse_reason;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, parameter};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::markdown::plain_beginning;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::PUBLIC_EN;
use crate::web::{FormData, Layout, Page};
use access::accounts;
use access::audit::Actor;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers;
use giving::fundraisers::moderate::Decision;
use giving::moderation::DEFAULT_REASON;
use giving::reports::{Reason, Report, Subject, store};
use uuid::Uuid;

const LIST_PATH: &str = "/dashboard/operator/reports";

#[derive(Template)]
#[template(path = "dashboard/operator/reports.html")]
struct ReportsPage {
    layout: Layout,
    is_closed: bool,
    pager: Pager,
    reports: Vec<Row>,
    default_reason: &'static str,
}

struct Row {
    report: Report,
    /// The name of the subject and the path of its page.
    name: String,
    path: String,
    is_fundraiser: bool,
    /// The beginning of the story of a fundraiser.
    story: String,
    /// The username of who created it.
    account: Option<String>,
    reason: &'static str,
    reported: RelativeTime,
    closed: Option<RelativeTime>,
}

/// `GET /dashboard/operator/reports`: the open reports, or with `show=closed` the closed ones.
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let shown = parameter(query.as_deref(), "show");
    let is_closed = shown == "closed";
    let list_page = ListPage::parse(query.as_deref(), store::count(&app.db, is_closed).await?);
    let found = store::list(&app.db, is_closed, PAGE_SIZE, list_page.skipped()).await?;
    let mut reports = Vec::with_capacity(found.len());
    for report in found {
        reports.push(Row::load(&app, report).await?);
    }
    let shown = if is_closed { "closed" } else { "" };
    let page = ReportsPage {
        pager: list_page.pager(&layout, LIST_PATH, &[("show", shown)]),
        layout: with_menu(&app, layout, &user).await?,
        is_closed,
        reports,
        default_reason: DEFAULT_REASON,
    };
    Ok(Page(page).into_response())
}

/// `POST /dashboard/operator/reports/{id}/close`
pub async fn close(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(id): PathText,
) -> Result<Response> {
    let report = find(&app, &id).await?;
    let (actor, now) = (Actor::Account(user.account), app.clock.millis());
    let flash = if store::close(&app.db, report.id, actor, now).await? {
        Flash::ReportClosed
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, LIST_PATH))
}

/// `POST /dashboard/operator/reports/{id}/hide`: hides the reported fundraiser and closes the report.
pub async fn hide(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let report = find(&app, &id).await?;
    let Subject::Fundraiser(fundraiser) = report.subject else {
        return Err(Error::NotFound);
    };
    let found = fundraisers::store::find(&app.db, fundraiser).await?;
    let found = found.ok_or(Error::NotFound)?;
    let reason = match parse_reason(&app, &user, layout, found, &data).await? {
        Ok(reason) => reason,
        Err(page) => return Ok(page),
    };
    let actor = Actor::Account(user.account);
    let decision = Decision::Hide(reason);
    app.moderation().decide(fundraiser, decision, actor).await?;
    store::close(&app.db, report.id, actor, app.clock.millis()).await?;
    Ok(Flash::FundraiserHidden.redirect(&app.site.public_url, LIST_PATH))
}

async fn find(app: &App, id: &str) -> Result<Report> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    store::find(&app.db, id).await?.ok_or(Error::NotFound)
}

impl Row {
    fn is_correction(&self) -> bool {
        self.report.reason == Reason::Correction
    }

    async fn load(app: &App, report: Report) -> Result<Row> {
        let (mut story, mut account) = (String::new(), None);
        let (name, path) = match report.subject {
            Subject::Fundraiser(id) => {
                let path = format!("/dashboard/operator/fundraisers/{id}");
                match fundraisers::store::find(&app.db, id).await? {
                    Some(found) => {
                        story = plain_beginning(found.description.as_deref().unwrap_or_default());
                        account = accounts::store::find_by_id(&app.db, found.account).await?;
                        (found.title, path)
                    }
                    None => (id.to_string(), path),
                }
            }
            Subject::Nonprofit(id) => {
                let found = app.directory.find(&Identifier::Id(id)).await?;
                let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
                match nonprofit {
                    Some(nonprofit) => (nonprofit.name.to_owned(), format!("/{}", nonprofit.slug)),
                    None => (id.to_string(), format!("/{id}")),
                }
            }
        };
        let now = app.clock.millis();
        Ok(Row {
            name,
            path,
            reason: PUBLIC_EN.report.reason(report.reason),
            story,
            account: account.map(|account| account.username),
            is_fundraiser: matches!(report.subject, Subject::Fundraiser(_)),
            reported: RelativeTime::new(report.created_at, now),
            closed: report.closed_at.map(|at| RelativeTime::new(at, now)),
            report,
        })
    }
}
