//! The lists on the operator pages.

use crate::app::App;
use crate::app::recent_errors::FailedRequest;
use crate::dashboard::key_view::{KeyUsage, KeyView};
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, with_times};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::Result;
use crate::http::params;
use crate::http::session::Operator;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{Layout, Page};
use access::accounts::store::summaries::{self, AccountSummary};
use access::audit::{self, AuditEntry};
use access::keys::store::pages as keys;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::history::imports::store::{self as imports, RecordedImport};
use uuid::Uuid;

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

/// `GET /dashboard/operator/accounts`
pub async fn accounts(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let prefix = username_prefix(query.as_deref());
    let count = summaries::count(&app.db, &prefix).await?;
    let list_page = ListPage::parse(query.as_deref(), count);
    let accounts = summaries::list_page(&app.db, &prefix, PAGE_SIZE, list_page.skipped()).await?;
    let page = AccountsPage {
        pager: list_page.pager(&layout, "/dashboard/operator/accounts", &[("account", &prefix)]),
        layout: with_menu(&app, layout, &user).await?,
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
        pager: list_page.pager(&layout, "/dashboard/operator/keys", &[("account", &prefix)]),
        layout: with_menu(&app, layout, &user).await?,
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
        pager: list_page.pager(&layout, "/dashboard/operator/imports", &[]),
        layout: with_menu(&app, layout, &user).await?,
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
) -> Result<Response> {
    let errors = app.telemetry.recent_errors.list();
    let list_page = ListPage::parse(query.as_deref(), errors.len() as i64);
    let shown = errors.into_iter().skip(list_page.skipped() as usize);
    let page = ErrorsPage {
        pager: list_page.pager(&layout, "/dashboard/operator/errors", &[]),
        layout: with_menu(&app, layout, &user).await?,
        errors: with_times(shown.take(PAGE_SIZE as usize), app.clock.millis(), |failed| {
            failed.at
        }),
    };
    Ok(Page(page).into_response())
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
        layout: with_menu(&app, layout, &user).await?,
        older: (entries.len() as i64 == PAGE_SIZE)
            .then(|| entries.last().map(|entry| entry.id))
            .flatten(),
        entries: with_times(entries.into_iter(), app.clock.millis(), |entry| entry.at),
    };
    Ok(Page(page).into_response())
}

/// Returns the prefix of the usernames that a list is filtered by.
fn username_prefix(query: Option<&str>) -> String {
    let prefix = params::values(query.unwrap_or_default(), "account").next();
    prefix.unwrap_or_default().trim().replace('\0', "").to_lowercase()
}
