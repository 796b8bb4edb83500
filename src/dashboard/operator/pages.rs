//! The lists on the operator pages.

use crate::app::App;
use crate::app::recent_errors::FailedRequest;
use crate::dashboard::key_view::{KeyUsage, KeyView};
use crate::http::error::Result;
use crate::http::params;
use crate::http::session::Operator;
use crate::web::layout::Tab;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{Layout, Page};
use access::accounts::operators::{self, AccountSummary};
use access::audit::{self, AuditEntry};
use access::keys::operators as keys;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::import::store::{self as imports, RecordedImport};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

/// Rows per page of a list.
const PAGE_SIZE: i64 = 50;

#[derive(Template)]
#[template(path = "dashboard/operator/accounts.html")]
struct AccountsPage {
    layout: Layout,
    username_prefix: String,
    pager: Pager,
    accounts: Vec<(AccountSummary, RelativeTime)>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/keys.html")]
struct KeysPage {
    layout: Layout,
    username_prefix: String,
    pager: Pager,
    keys: Vec<KeyView>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/imports.html")]
struct ImportsPage {
    layout: Layout,
    pager: Pager,
    imports: Vec<(RecordedImport, RelativeTime)>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/errors.html")]
struct ErrorsPage {
    layout: Layout,
    pager: Pager,
    errors: Vec<(FailedRequest, RelativeTime)>,
}

#[derive(Template)]
#[template(path = "dashboard/operator/audit.html")]
struct AuditPage {
    layout: Layout,
    entries: Vec<(AuditEntry, RelativeTime)>,
    older: Option<Uuid>,
}

/// `GET /dashboard/operator`
pub async fn accounts(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let prefix = username_prefix(query.as_deref());
    let count = operators::count(&app.db, &prefix).await?;
    let list_page = ListPage::parse(query.as_deref(), count);
    let accounts = operators::list_page(&app.db, &prefix, PAGE_SIZE, list_page.skipped()).await?;
    let page = AccountsPage {
        pager: list_page.pager(&layout, "/dashboard/operator", &prefix),
        layout: layout.with_menu(&user, Tab::Operator),
        username_prefix: prefix,
        accounts: with_times(accounts.into_iter(), app.clock.millis(), |account| {
            account.created_at
        }),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/keys`
pub async fn all_keys(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let (prefix, now) = (username_prefix(query.as_deref()), app.clock.millis());
    let list_page = ListPage::parse(query.as_deref(), keys::count(&app.db, &prefix).await?);
    let keys = keys::list_page(&app.db, &prefix, PAGE_SIZE, list_page.skipped()).await?;
    let usage = KeyUsage::load(&app.db, None, app.clock.millis()).await?;
    let page = KeysPage {
        pager: list_page.pager(&layout, "/dashboard/operator/keys", &prefix),
        layout: layout.with_menu(&user, Tab::Operator),
        username_prefix: prefix,
        keys: keys
            .into_iter()
            .map(|key| KeyView::new(key, &usage, now))
            .collect(),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/imports`
pub async fn all_imports(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let list_page = ListPage::parse(query.as_deref(), imports::count(&app.db).await?);
    let listed = imports::list_newest(&app.db, PAGE_SIZE, list_page.skipped()).await?;
    let page = ImportsPage {
        pager: list_page.pager(&layout, "/dashboard/operator/imports", ""),
        layout: layout.with_menu(&user, Tab::Operator),
        imports: with_times(listed.into_iter(), app.clock.millis(), |import| {
            import.finished_at
        }),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/operator/errors`
pub async fn recent_errors(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Response {
    let errors = app.recent_errors.list();
    let list_page = ListPage::parse(query.as_deref(), errors.len() as i64);
    let shown = errors.into_iter().skip(list_page.skipped() as usize);
    let page = ErrorsPage {
        pager: list_page.pager(&layout, "/dashboard/operator/errors", ""),
        layout: layout.with_menu(&user, Tab::Operator),
        errors: with_times(shown.take(PAGE_SIZE as usize), app.clock.millis(), |failed| {
            failed.at
        }),
    };
    Page(page).into_response()
}

/// `GET /dashboard/operator/audit`
pub async fn audit_log(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let query = query.unwrap_or_default();
    let before = params::values(&query, "before").next();
    let before = before.and_then(|id| Uuid::try_parse(&id).ok());
    let entries = audit::store::list(&app.db, before, PAGE_SIZE as u32).await?;
    let page = AuditPage {
        layout: layout.with_menu(&user, Tab::Operator),
        older: (entries.len() as i64 == PAGE_SIZE)
            .then(|| entries.last().map(|entry| entry.id))
            .flatten(),
        entries: with_times(entries.into_iter(), app.clock.millis(), |entry| entry.at),
    };
    Ok(Page(page).into_response())
}

/// The page of a list that is shown. A page number past the end shows the last page.
struct ListPage {
    page: i64,
    pages: i64,
}

impl ListPage {
    fn parse(query: Option<&str>, count: i64) -> ListPage {
        let pages = (count + PAGE_SIZE - 1) / PAGE_SIZE;
        let page = params::values(query.unwrap_or_default(), "page").next();
        let page = page.and_then(|page| page.parse().ok()).unwrap_or(1);
        ListPage {
            page: i64::clamp(page, 1, pages.max(1)),
            pages,
        }
    }

    fn skipped(&self) -> i64 {
        (self.page - 1) * PAGE_SIZE
    }

    fn pager(&self, layout: &Layout, path: &str, username_prefix: &str) -> Pager {
        let url = match username_prefix {
            "" => format!("{path}?"),
            prefix => format!(
                "{path}?account={}&",
                utf8_percent_encode(prefix, NON_ALPHANUMERIC)
            ),
        };
        Pager::new(layout, url, self.page as u64, self.pages as u64)
    }
}

/// Returns the prefix of the usernames that a list is filtered by.
fn username_prefix(query: Option<&str>) -> String {
    let prefix = params::values(query.unwrap_or_default(), "account").next();
    prefix.unwrap_or_default().trim().replace('\0', "").to_lowercase()
}

fn with_times<T>(rows: impl Iterator<Item = T>, now: i64, at: impl Fn(&T) -> i64) -> Vec<(T, RelativeTime)> {
    rows.map(|row| {
        let time = RelativeTime::new(at(&row), now);
        (row, time)
    })
    .collect()
}
