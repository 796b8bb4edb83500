//! The lists that an operator reads.

use crate::app::App;
use crate::app::recent_errors::FailedRequest;
use crate::dashboard::key_view::{KeyView, Used};
use crate::http::error::Result;
use crate::http::params;
use crate::http::session::Operator;
use crate::web::frame::Tab;
use crate::web::moment::Moment;
use crate::web::pager::Pager;
use crate::web::{Frame, Page};
use access::accounts::operators::{self, AccountSummary};
use access::audit::{self, AuditEntry};
use access::keys::operators as keys;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::import::store::{self as imports, RecordedImport};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

/// Rows of one page of a list.
const ROWS: i64 = 50;

#[derive(Template)]
#[template(path = "dashboard/operator/accounts.html")]
struct AccountsPage {
    frame: Frame,
    asked: String,
    pager: Pager,
    accounts: Vec<(AccountSummary, Moment)>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/keys.html")]
struct KeysPage {
    frame: Frame,
    asked: String,
    pager: Pager,
    keys: Vec<KeyView>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/imports.html")]
struct ImportsPage {
    frame: Frame,
    pager: Pager,
    imports: Vec<(RecordedImport, Moment)>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/errors.html")]
struct ErrorsPage {
    frame: Frame,
    pager: Pager,
    errors: Vec<(FailedRequest, Moment)>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/audit.html")]
struct Audit {
    frame: Frame,
    entries: Vec<(AuditEntry, Moment)>,
    older: Option<Uuid>,
}

/// `GET /dashboard/operator`
pub async fn accounts(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let asked = asked(query.as_deref());
    let count = operators::count(&app.db, &asked).await?;
    let slice = Slice::find(query.as_deref(), count);
    let accounts = operators::list_page(&app.db, &asked, ROWS, slice.skipped()).await?;
    let page = AccountsPage {
        pager: slice.pager(&frame, "/dashboard/operator", &asked),
        frame: frame.at(&who, Tab::Operator),
        asked,
        accounts: with_moment(accounts.into_iter(), app.clock.millis(), |account| {
            account.created_at
        }),
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
    let (asked, now) = (asked(query.as_deref()), app.clock.millis());
    let slice = Slice::find(query.as_deref(), keys::count(&app.db, &asked).await?);
    let keys = keys::list_page(&app.db, &asked, ROWS, slice.skipped()).await?;
    let used = Used::load(&app.db, None, app.clock.millis()).await?;
    let page = KeysPage {
        pager: slice.pager(&frame, "/dashboard/operator/keys", &asked),
        frame: frame.at(&who, Tab::Operator),
        asked,
        keys: keys
            .into_iter()
            .map(|key| KeyView::new(key, &used, now))
            .collect(),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/imports`
pub async fn all_imports(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let slice = Slice::find(query.as_deref(), imports::count(&app.db).await?);
    let listed = imports::list_newest(&app.db, ROWS, slice.skipped()).await?;
    let page = ImportsPage {
        pager: slice.pager(&frame, "/dashboard/operator/imports", ""),
        frame: frame.at(&who, Tab::Operator),
        imports: with_moment(listed.into_iter(), app.clock.millis(), |import| {
            import.finished_at
        }),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/errors`
pub async fn recent_errors(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Response {
    let errors = app.recent_errors.list();
    let slice = Slice::find(query.as_deref(), errors.len() as i64);
    let shown = errors.into_iter().skip(slice.skipped() as usize);
    let page = ErrorsPage {
        pager: slice.pager(&frame, "/dashboard/operator/errors", ""),
        frame: frame.at(&who, Tab::Operator),
        errors: with_moment(shown.take(ROWS as usize), app.clock.millis(), |failed| failed.at),
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
    let entries = audit::store::list(&app.db, before, ROWS as u32).await?;
    let page = Audit {
        frame: frame.at(&who, Tab::Operator),
        older: (entries.len() as i64 == ROWS)
            .then(|| entries.last().map(|entry| entry.id))
            .flatten(),
        entries: with_moment(entries.into_iter(), app.clock.millis(), |entry| entry.at),
    };
    Ok(Page(page).into_response())
}

/// The page of a list that is looked at. One behind the last is the last.
struct Slice {
    page: i64,
    pages: i64,
}

impl Slice {
    fn find(query: Option<&str>, count: i64) -> Slice {
        let pages = (count + ROWS - 1) / ROWS;
        let asked = params::values(query.unwrap_or_default(), "page").next();
        let asked = asked.and_then(|page| page.parse().ok()).unwrap_or(1);
        Slice {
            page: i64::clamp(asked, 1, pages.max(1)),
            pages,
        }
    }

    fn skipped(&self) -> i64 {
        (self.page - 1) * ROWS
    }

    fn pager(&self, frame: &Frame, path: &str, asked: &str) -> Pager {
        let address = match asked {
            "" => format!("{path}?"),
            _ => format!("{path}?account={}&", utf8_percent_encode(asked, NON_ALPHANUMERIC)),
        };
        Pager::new(frame, address, self.page as u64, self.pages as u64)
    }
}

/// The beginning of the account names that a list is narrowed down to.
fn asked(query: Option<&str>) -> String {
    let asked = params::values(query.unwrap_or_default(), "account").next();
    asked.unwrap_or_default().trim().replace('\0', "").to_lowercase()
}

fn with_moment<T>(rows: impl Iterator<Item = T>, now: i64, at: impl Fn(&T) -> i64) -> Vec<(T, Moment)> {
    rows.map(|row| {
        let moment = Moment::new(at(&row), now);
        (row, moment)
    })
    .collect()
}
