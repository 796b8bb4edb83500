//! The statement of a payment, for its nonprofit: at a signed link, as a page to print and as CSV.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, RawQuery, values};
use crate::web::texts::fill;
use crate::web::{Layout, Page, Section};
use askama::Template;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};
use giving::checkout::receipt::format_date;
use giving::disbursement::batches::LineState;
use giving::disbursement::statements::Statement;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

#[derive(Template)]
#[template(path = "site/disbursement.html")]
struct DisbursementPage {
    layout: Layout,
    lead: String,
    /// How it was paid, and what became of it.
    method: String,
    state: &'static str,
    sent: Option<String>,
    rows: Vec<Row>,
    direct: Vec<Row>,
    statement: Statement,
    csv: String,
    is_test: bool,
}

/// A line of the statement.
struct Row {
    date: String,
    kind: &'static str,
    gross: String,
    fee: String,
    net: String,
    about: String,
    donor: String,
}

/// `GET /disbursements/{batch}/{line}`
pub async fn statement(
    State(app): State<App>,
    PathPair(batch, line): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let number = |text: &str| text.parse::<i64>().map_err(|_| Error::NotFound);
    let (batch, line) = (number(&batch)?, number(&line)?);
    let token = values(&query, "token").next().unwrap_or_default();
    let disbursements = app.disbursements();
    let found = disbursements.open_statement((batch, line), &token).await;
    let statement = found?.ok_or(Error::NotFound)?;
    let headers = [
        (CACHE_CONTROL, "private, no-store"),
        (ROBOTS_TAG, "noindex"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    if values(&query, "format").next().as_deref() == Some("csv") {
        let file = [
            (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
            (
                CONTENT_DISPOSITION,
                format!("attachment; filename=\"payment-{batch}-{line}.csv\""),
            ),
        ];
        let csv = statement.to_csv(&app.config.time_zone);
        return Ok((headers, file, csv).into_response());
    }
    Ok((headers, Page(page(&app, statement, &token))).into_response())
}

fn page(app: &App, statement: Statement, token: &str) -> DisbursementPage {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.payment;
    let date = |at| format_date(at, &app.config.time_zone);
    let line = &statement.line;
    let about = |parts: [&Option<String>; 3]| {
        let parts: Vec<String> = parts.into_iter().flatten().cloned().collect();
        parts.join(", ")
    };
    let donor = |name: &Option<String>, email: &Option<String>| {
        let parts: Vec<String> = [name, email].into_iter().flatten().cloned().collect();
        parts.join(", ")
    };
    let rows = statement.items.iter().map(|item| Row {
        date: date(item.at),
        kind: Statement::kind_title(item.kind),
        gross: item.gross.to_string(),
        fee: item.fee.to_string(),
        net: item.net.to_string(),
        about: about([&item.fundraiser, &item.designation, &item.note]),
        donor: donor(&item.donor_name, &item.donor_email),
    });
    let direct = statement.direct.iter().map(|direct| Row {
        date: date(direct.at),
        kind: t.received_directly,
        gross: direct.amount.to_string(),
        fee: String::new(),
        net: String::new(),
        about: about([&direct.fundraiser, &direct.designation, &None]),
        donor: donor(&direct.donor_name, &direct.donor_email),
    });
    DisbursementPage {
        lead: fill(
            t.lead,
            &[
                ("amount", &line.amount.to_string()),
                ("operator", app.disbursements().operator),
            ],
        ),
        method: match &line.last_four {
            Some(last_four) => fill(t.by_ach, &[("digits", last_four)]),
            None => t.by_check.to_owned(),
        },
        state: match line.state {
            LineState::Queued => t.queued,
            LineState::Sent => t.sent,
            LineState::Paid => t.paid,
            LineState::Returned => t.returned,
            LineState::Void => t.void,
        },
        sent: line.sent_at.map(date),
        csv: format!(
            "/disbursements/{}/{}?token={token}&format=csv",
            line.batch, line.number
        ),
        rows: rows.collect(),
        direct: direct.collect(),
        is_test: statement.mode.is_test(),
        statement,
        layout,
    }
}
