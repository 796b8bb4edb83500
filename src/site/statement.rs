//! The yearly statement of a donor, at a link from an email: as a page to print, and as CSV.

use crate::app::App;
use crate::http::error::Result;
use crate::http::params::{RawQuery, values};
use crate::site::checkout::form::path_of;
use crate::web::form_page::FormPage;
use crate::web::texts::fill;
use crate::web::{Layout, Page, Section};
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use giving::checkout::receipt::{DONEE_IS_CHARITY, NO_GOODS_OR_SERVICES};
use giving::yearly::{YearlyItem, YearlyStatement, link};

const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

#[derive(Template)]
#[template(path = "site/statement.html")]
struct StatementPage {
    layout: Layout,
    title: String,
    statement: YearlyStatement,
    /// The other years, and where their statements are.
    others: Vec<(i16, String)>,
    csv: String,
    /// Each donation, and where its receipt is.
    items: Vec<(YearlyItem, String)>,
    is_test: bool,
    /// Whether something is meant for another nonprofit than the recipient.
    is_passed_on: bool,
    no_goods: &'static str,
    charity: &'static str,
}

/// `GET /donations/statement`
pub async fn statement(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.receipts;
    let token = values(&query, "token").next().unwrap_or_default();
    let Some(email) = link::parse(&app.secret, &token, app.clock.millis()) else {
        let page = FormPage::without_form(layout, t.stale_title).lead(t.stale);
        let page = page.link(super::receipts::PATH, t.again);
        return Ok((StatusCode::NOT_FOUND, page).into_response());
    };
    let statements = app.yearly_statements();
    let last_year = statements.year_of(app.clock.millis()) - 1;
    let year = values(&query, "year").next().and_then(|year| year.parse().ok());
    let year = year.unwrap_or(last_year);
    let found = statements.find(&email, year).await?;
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
                format!("attachment; filename=\"donations-{year}.csv\""),
            ),
        ];
        return Ok((headers, file, found.to_csv()).into_response());
    }
    let items = found.items.iter().cloned();
    let items: Vec<(YearlyItem, String)> = items
        .map(|item| {
            let path = path_of(item.receipt);
            (item, path)
        })
        .collect();
    let others = found.years.iter().filter(|other| **other != year);
    let page = StatementPage {
        title: fill(t.statement_of, &[("year", &year.to_string())]),
        others: others.map(|other| (*other, link::path(&token, *other))).collect(),
        csv: format!("{}&format=csv", link::path(&token, year)),
        is_test: items.iter().any(|(item, _)| item.is_test),
        is_passed_on: items
            .iter()
            .any(|(item, _)| item.parts.iter().any(|part| part.meant_for.is_some())),
        no_goods: NO_GOODS_OR_SERVICES,
        charity: DONEE_IS_CHARITY,
        items,
        statement: found,
        layout,
    };
    Ok((headers, Page(page)).into_response())
}
