//! The lists that an operator reads.

use super::errors::FailedRequest;
use crate::accounts::operators::{self, Listed};
use crate::app::App;
use crate::audit::{self, Entry};
use crate::error::Result;
use crate::http::params;
use crate::import::store::{self as imports, RecordedImport};
use crate::keys::store as keys;
use crate::keys::view::{KeyView, Used};
use crate::sessions::Operator;
use crate::web::frame::Tab;
use crate::web::moment::Moment;
use crate::web::{Frame, Page};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

/// Rows of one list.
const MOST: usize = 200;

#[derive(Template)]
#[template(path = "operator/accounts.html")]
struct AccountsPage {
    frame: Frame,
    asked: String,
    has_more: bool,
    accounts: Vec<(Listed, Moment)>,
}

#[derive(Template)]
#[template(path = "operator/keys.html")]
struct KeysPage {
    frame: Frame,
    asked: String,
    has_more: bool,
    keys: Vec<KeyView>,
}

#[derive(Template)]
#[template(path = "operator/imports.html")]
struct Imports {
    frame: Frame,
    imports: Vec<(RecordedImport, Moment)>,
}

#[derive(Template)]
#[template(path = "operator/errors.html")]
struct Errors {
    frame: Frame,
    errors: Vec<(FailedRequest, Moment)>,
}

#[derive(Template)]
#[template(path = "operator/audit.html")]
struct Audit {
    frame: Frame,
    entries: Vec<(Entry, Moment)>,
    older: Option<Uuid>,
}

/// `GET /dashboard/operator`
pub async fn accounts(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let (asked, now) = (asked(query), app.clock.millis());
    let mut accounts = operators::list(&app.db).await?;
    accounts.retain(|account| account.username.starts_with(&asked));
    let page = AccountsPage {
        frame: frame.at(&who, Tab::Operator),
        asked,
        has_more: accounts.len() > MOST,
        accounts: with_moment(accounts.into_iter().take(MOST), now, |account| account.created_at),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/keys`
pub async fn all_keys(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let (asked, now) = (asked(query), app.clock.millis());
    let mut keys = keys::list(&app.db, None).await?;
    keys.retain(|key| key.username.starts_with(&asked));
    let used = Used::load(&app, None).await?;
    let page = KeysPage {
        frame: frame.at(&who, Tab::Operator),
        asked,
        has_more: keys.len() > MOST,
        keys: keys
            .into_iter()
            .take(MOST)
            .map(|key| KeyView::new(key, &used, now))
            .collect(),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/imports`
pub async fn all_imports(State(app): State<App>, Operator(who): Operator, frame: Frame) -> Result<Response> {
    let listed = imports::list_newest(&app.db, MOST as i64).await?;
    let page = Imports {
        frame: frame.at(&who, Tab::Operator),
        imports: with_moment(listed.into_iter(), app.clock.millis(), |import| {
            import.finished_at
        }),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/errors`
pub async fn recent_errors(State(app): State<App>, Operator(who): Operator, frame: Frame) -> Response {
    let errors = app.recent_errors.list();
    let page = Errors {
        frame: frame.at(&who, Tab::Operator),
        errors: with_moment(errors.into_iter(), app.clock.millis(), |failed| failed.at),
    };
    Page(page).into_response()
}

/// `GET /dashboard/operator/audit`
pub async fn acts(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let query = query.unwrap_or_default();
    let before = params::values(&query, "before").next();
    let before = before.and_then(|id| Uuid::try_parse(&id).ok());
    let entries = audit::store::list(&app.db, before, MOST as u32).await?;
    let page = Audit {
        frame: frame.at(&who, Tab::Operator),
        older: (entries.len() == MOST)
            .then(|| entries.last().map(|entry| entry.id))
            .flatten(),
        entries: with_moment(entries.into_iter(), app.clock.millis(), |entry| entry.at),
    };
    Ok(Page(page).into_response())
}

/// The beginning of the account names that a list is narrowed down to.
fn asked(query: Option<String>) -> String {
    let query = query.unwrap_or_default();
    let asked = params::values(&query, "account").next();
    asked.unwrap_or_default().trim().to_lowercase()
}

fn with_moment<T>(rows: impl Iterator<Item = T>, now: i64, at: impl Fn(&T) -> i64) -> Vec<(T, Moment)> {
    rows.map(|row| {
        let moment = Moment::new(at(&row), now);
        (row, moment)
    })
    .collect()
}
