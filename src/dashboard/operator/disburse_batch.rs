//! The page of a batch: its lines, and the steps from a draft to payments.

use crate::app::App;
use crate::dashboard::operator::disburse::{batch_path, refusal, state_text};
use crate::dashboard::operator::names::name_of;
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText};
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::texts::{DisburseTexts, fill};
use crate::web::{FormData, Layout, Page};
use access::accounts::store as accounts;
use access::audit::Actor;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};
use giving::checkout::receipt::format_date;
use giving::disbursement::batches::{Batch, BatchState, ExportFormat, Line, LineState, Mark, store};
use giving::disbursement::payees::Method;

#[derive(Template)]
#[template(path = "dashboard/operator/disburse_batch.html")]
struct BatchPage {
    layout: Layout,
    title: String,
    refusal: Option<String>,
    batch: Batch,
    state: &'static str,
    /// Who did what, and when.
    history: Vec<(&'static str, String)>,
    lines: Vec<LineView>,
    can_approve: bool,
    /// Whether the operator prepared the draft, and another one has to approve it.
    needs_another: bool,
    formats: Vec<(&'static str, &'static str)>,
}

struct LineView {
    line: Line,
    name: String,
    state: &'static str,
    badge: &'static str,
    method: String,
    statement: String,
    /// What can be said about the line.
    marks: Vec<(&'static str, &'static str)>,
}

/// `GET /dashboard/operator/disburse/{batch}`
pub async fn batch(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(number): PathText,
) -> Result<Response> {
    show(&app, &user, layout, parse(&number)?, None).await
}

/// `GET /dashboard/operator/disburse/{batch}/{line}`: the line on the page of its batch.
pub async fn line(Operator(_): Operator, PathPair(number, line): PathPair) -> Result<Response> {
    let (number, line) = (parse(&number)?, parse(&line)?);
    Ok(Redirect::to(&format!("{}#line-{line}", batch_path(number))).into_response())
}

/// `POST /dashboard/operator/disburse/{batch}/approve`
pub async fn approve(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(number): PathText,
) -> Result<Response> {
    let number = parse(&number)?;
    match app
        .disbursements()
        .approve(number, Actor::Account(user.account))
        .await
    {
        Ok(_) => Ok(Flash::BatchApproved.redirect(&app.site.public_url, &batch_path(number))),
        Err(error) => show(&app, &user, layout, number, Some(refusal(error)?)).await,
    }
}

/// `POST /dashboard/operator/disburse/{batch}/export`: sends the file.
pub async fn export(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(number): PathText,
    data: FormData,
) -> Result<Response> {
    let number = parse(&number)?;
    let format = ExportFormat::find(data.trimmed("format")).ok_or(Error::NotFound)?;
    let actor = Actor::Account(user.account);
    let exported = match app.disbursements().export(number, format, actor).await {
        Ok(exported) => exported,
        Err(error) => return show(&app, &user, layout, number, Some(refusal(error)?)).await,
    };
    let kind = match format {
        ExportFormat::Nacha => "text/plain; charset=us-ascii",
        ExportFormat::Checks | ExportFormat::Csv => "text/csv; charset=utf-8",
    };
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{}\"", exported.name),
        ),
        (CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    Ok((headers, exported.content).into_response())
}

/// `POST /dashboard/operator/disburse/{batch}/{line}`: marks a line.
pub async fn mark(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathPair(number, line): PathPair,
    data: FormData,
) -> Result<Response> {
    let (number, line) = (parse(&number)?, parse(&line)?);
    let mark = Mark::find(data.trimmed("action")).ok_or(Error::NotFound)?;
    let reference = Some(data.trimmed("reference"));
    let actor = Actor::Account(user.account);
    match app
        .disbursements()
        .mark((number, line), mark, reference, actor)
        .await
    {
        Ok(marked) => {
            let flash = if marked.is_new {
                Flash::LineMarked
            } else {
                Flash::AlreadyDone
            };
            Ok(flash.redirect(&app.site.public_url, &batch_path(number)))
        }
        Err(error) => show(&app, &user, layout, number, Some(refusal(error)?)).await,
    }
}

fn parse(number: &str) -> Result<i64> {
    number.parse().map_err(|_| Error::NotFound)
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    number: i64,
    refusal: Option<String>,
) -> Result<Response> {
    let layout = with_menu(app, layout, user).await?;
    let t = &layout.t.disburse;
    let batch = store::find_batch(&app.db, number).await?.ok_or(Error::NotFound)?;
    let lines = store::list_lines(&app.db, number).await?;
    let has = |method| {
        lines
            .iter()
            .any(|line| line.method == method && line.state != LineState::Void)
    };
    let formats = [
        (ExportFormat::Nacha, t.export_nacha, has(Method::Ach)),
        (ExportFormat::Checks, t.export_checks, has(Method::Check)),
        (ExportFormat::Csv, t.export_csv, true),
    ];
    let formats = formats
        .into_iter()
        .filter(|(.., is_offered)| *is_offered && batch.state != BatchState::Draft);
    let formats = formats.map(|(format, text, _)| (format.as_str(), text)).collect();
    let is_draft = batch.state == BatchState::Draft;
    let is_own = batch.prepared_by == Actor::Account(user.account);
    let needs_another = is_draft && is_own && app.config.disburse.second_operator;
    let mut views = Vec::with_capacity(lines.len());
    for line in lines {
        views.push(LineView::load(app, t, &batch, line).await?);
    }
    let status = if refusal.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let page = BatchPage {
        title: fill(t.batch_title, &[("number", &number.to_string())]),
        refusal,
        state: state_text(t, batch.state),
        history: history(app, t, &batch).await?,
        lines: views,
        can_approve: is_draft && !needs_another,
        needs_another,
        formats,
        batch,
        layout,
    };
    Ok((status, Page(page)).into_response())
}

/// Returns who prepared and approved a batch, and when.
async fn history(app: &App, t: &DisburseTexts, batch: &Batch) -> Result<Vec<(&'static str, String)>> {
    let mut history = Vec::new();
    let steps = [
        (t.prepared, Some(batch.prepared_at), Some(batch.prepared_by)),
        (t.approved, batch.approved_at, batch.approved_by),
        (t.exported, batch.exported_at, None),
        (t.closed, batch.closed_at, None),
    ];
    for (name, at, actor) in steps {
        let Some(at) = at else { continue };
        let date = format_date(at, &app.config.time_zone);
        let by = match actor {
            None => None,
            Some(Actor::Command) => Some(t.command_line.to_owned()),
            Some(Actor::Account(id)) => accounts::find_username(&app.db, id).await?,
        };
        let text = match by {
            Some(by) => fill(t.by, &[("date", &date), ("name", &by)]),
            None => date,
        };
        history.push((name, text));
    }
    Ok(history)
}

impl LineView {
    async fn load(app: &App, t: &DisburseTexts, batch: &Batch, line: Line) -> Result<LineView> {
        let (state, badge) = match line.state {
            LineState::Queued => (t.queued, "badge"),
            LineState::Sent => (t.sent, "badge badge-warn"),
            LineState::Paid => (t.paid, "badge badge-good"),
            LineState::Returned => (t.returned, "badge badge-bad"),
            LineState::Void => (t.void, "badge"),
        };
        let is_approved = matches!(batch.state, BatchState::Approved | BatchState::Exported);
        let marks: &[Mark] = match line.state {
            LineState::Queued if is_approved => &[Mark::Sent, Mark::Void],
            LineState::Queued => &[Mark::Void],
            LineState::Sent => &[Mark::Paid, Mark::Returned, Mark::Void],
            LineState::Paid => &[Mark::Returned],
            LineState::Returned | LineState::Void => &[],
        };
        let text = |mark: &Mark| match mark {
            Mark::Sent => t.mark_sent,
            Mark::Paid => t.mark_paid,
            Mark::Returned => t.mark_returned,
            Mark::Void => t.mark_void,
        };
        Ok(LineView {
            name: name_of(app, line.nonprofit).await?,
            state,
            badge,
            method: match &line.last_four {
                Some(last_four) => fill(t.to_account, &[("digits", last_four)]),
                None => t.by_check.to_owned(),
            },
            statement: app.disbursements().statement_url(&line),
            marks: marks.iter().map(|mark| (mark.as_str(), text(mark))).collect(),
            line,
        })
    }
}
