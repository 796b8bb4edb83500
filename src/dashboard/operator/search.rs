//! One search for accounts, keys, fundraisers, donations and nonprofits: by what an operator has at hand, such as an ID,
//! an email address, a username, a link or a name.
//!
//! Every query is bounded: it uses an index, or reads a limited number of rows.

use crate::app::App;
use crate::dashboard::operator::list::parameter;
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::Result;
use crate::http::session::Operator;
use crate::web::{Layout, Page};
use access::accounts::store as account_store;
use access::accounts::store::summaries as accounts;
use access::keys::store::pages as key_search;
use access::keys::{Kind, SentKey, store as keys};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use directory::nonprofits::Nonprofit;
use giving::checkout::receipt::entry_of;
use giving::checkout::store as checkout;
use giving::donations::store as donations;
use giving::fundraisers::FundraiserName;
use giving::fundraisers::names::split_path;
use giving::fundraisers::store as fundraisers;
use platform::email_address::EmailAddress;
use platform::ids::{FundraiserId, KeyId};
use platform::text::cut;
use uuid::Uuid;

/// The maximum number of results of each kind.
const MAX_RESULTS: i64 = 10;
/// The maximum length of a query in characters.
const MAX_QUERY_CHARS: usize = 256;

#[derive(Template)]
#[template(path = "dashboard/operator/results.html")]
struct ResultsPage {
    layout: Layout,
    query: String,
    /// Why nothing was searched for.
    error: Option<&'static str>,
    groups: Vec<Group>,
}

/// The results of one kind.
struct Group {
    title: &'static str,
    results: Vec<SearchResult>,
}

/// A result: the path of its page, its name, and what tells it apart.
struct SearchResult {
    path: String,
    name: String,
    detail: String,
}

impl SearchResult {
    fn new(path: String, name: impl Into<String>, detail: impl Into<String>) -> SearchResult {
        SearchResult {
            path,
            name: name.into(),
            detail: detail.into(),
        }
    }
}

/// `GET /dashboard/operator/search?q=`
pub async fn search(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let typed = parameter(query.as_deref(), "q");
    let typed = cut(&typed, MAX_QUERY_CHARS).to_owned();
    let t = &layout.t.operator;
    let is_private_key = SentKey::parse(&typed).is_some_and(|key| key.kind() == Kind::Private);
    let (query, error) = if is_private_key {
        // It is not shown again, and not searched for.
        (String::new(), Some(t.private_key_typed))
    } else {
        (typed, None)
    };
    let mut groups = Vec::new();
    if !query.is_empty() {
        for (title, results) in [
            (t.accounts, find_accounts(&app, &query).await?),
            (t.keys, find_keys(&app, &query).await?),
            (t.fundraisers, find_fundraisers(&app, &query).await?),
            (t.donations, find_donations(&app, &query).await?),
            (t.nonprofits, find_nonprofits(&app, &query).await?),
        ] {
            if !results.is_empty() {
                groups.push(Group { title, results });
            }
        }
    }
    let page = ResultsPage {
        layout: with_menu(&app, layout, &user).await?,
        query,
        error,
        groups,
    };
    Ok(Page(page).into_response())
}

/// By email address, or by the beginning of the username.
async fn find_accounts(app: &App, query: &str) -> Result<Vec<SearchResult>> {
    let found = |username: &str, email: Option<&str>| {
        let path = format!("/dashboard/operator/accounts/{username}");
        SearchResult::new(path, username, email.unwrap_or_default())
    };
    if let Ok(email) = EmailAddress::parse(query) {
        let accounts = account_store::list_by_email(&app.db, &email.normalized()).await?;
        let accounts = accounts.iter().take(MAX_RESULTS as usize);
        return Ok(accounts
            .map(|account| found(&account.username, account.email.as_deref()))
            .collect());
    }
    let prefix = query.to_lowercase();
    let accounts = accounts::list_page(&app.db, &prefix, MAX_RESULTS, 0).await?;
    Ok(accounts
        .iter()
        .map(|account| found(&account.username, account.email.as_deref()))
        .collect())
}

/// By ID, or by a whole public key.
async fn find_keys(app: &App, query: &str) -> Result<Vec<SearchResult>> {
    let key = match Uuid::try_parse(query) {
        Ok(id) => keys::find(&app.db, KeyId(id)).await?,
        Err(_) if SentKey::parse(query).is_some() => key_search::find_by_public_key(&app.db, query).await?,
        Err(_) => None,
    };
    let found = key.map(|key| {
        let path = format!("/dashboard/operator/keys/{}", key.id);
        SearchResult::new(path, key.title(), key.username)
    });
    Ok(found.into_iter().collect())
}

/// By ID, by the URL of the page, or by a part of the title.
async fn find_fundraisers(app: &App, query: &str) -> Result<Vec<SearchResult>> {
    let found = |id: FundraiserId, title: &str| {
        let path = format!("/dashboard/operator/fundraisers/{id}");
        SearchResult::new(path, title, "")
    };
    if let Ok(id) = Uuid::try_parse(query) {
        let fundraiser = fundraisers::find(&app.db, FundraiserId(id)).await?;
        return Ok(fundraiser
            .map(|fundraiser| found(fundraiser.id, &fundraiser.title))
            .into_iter()
            .collect());
    }
    if let Some((nonprofit, name)) = parse_link(query) {
        let nonprofit = app.directory.resolve_lenient(nonprofit).await.ok();
        let nonprofit = nonprofit.as_ref().and_then(NonprofitRef::nonprofit);
        if let (Some(nonprofit), Some(name)) = (nonprofit.map(|found| found.id), FundraiserName::parse(name))
        {
            let fundraiser = fundraisers::find_of(&app.db, nonprofit, &name).await?;
            return Ok(fundraiser
                .map(|fundraiser| found(fundraiser.id, &fundraiser.title))
                .into_iter()
                .collect());
        }
        return Ok(Vec::new());
    }
    let titles = fundraisers::find_by_title(&app.db, query, MAX_RESULTS).await?;
    Ok(titles.iter().map(|(id, title)| found(*id, title)).collect())
}

/// Splits the URL of a fundraiser, or the end of one, into its nonprofit and its own name.
fn parse_link(text: &str) -> Option<(&str, &str)> {
    let url = text.split(['?', '#']).next()?;
    let path = match url.split_once("://") {
        Some((_, rest)) => &rest[rest.find('/')?..],
        None => url,
    };
    split_path(path)
        .filter(|(nonprofit, name)| !nonprofit.is_empty() && !nonprofit.contains('/') && !name.contains('/'))
}

/// By the number of the ledger entry or of the receipt, by the ID of the donation or its receipt, or by the email address of the donor.
async fn find_donations(app: &App, query: &str) -> Result<Vec<SearchResult>> {
    let path = |id: &str| format!("/dashboard/operator/donations/{id}");
    if let Some(sequence) = query.parse().ok().or_else(|| entry_of(query)) {
        let donation = donations::find(&app.db, sequence).await?;
        return Ok(donation
            .map(|donation| {
                SearchResult::new(
                    path(&donation.sequence.to_string()),
                    donation.amount.to_string(),
                    query,
                )
            })
            .into_iter()
            .collect());
    }
    if let Ok(id) = Uuid::try_parse(query) {
        let donation = checkout::find_by_either_id(&app.db, id).await?;
        return Ok(donation
            .map(|donation| {
                let state = donation.state.as_str();
                SearchResult::new(path(&donation.id.to_string()), donation.amount.to_string(), state)
            })
            .into_iter()
            .collect());
    }
    let Ok(email) = EmailAddress::parse(query) else {
        return Ok(Vec::new());
    };
    let donations = checkout::list_by_mailbox(&app.db, &email, MAX_RESULTS).await?;
    Ok(donations
        .into_iter()
        .map(|donation| {
            let day = crate::web::dates::format_time(donation.started_at);
            let detail = format!("{}, {day}", donation.state.as_str());
            SearchResult::new(
                path(&donation.id.to_string()),
                donation.amount.to_string(),
                detail,
            )
        })
        .collect())
}

/// By ID, EIN or slug, or by name.
async fn find_nonprofits(app: &App, query: &str) -> Result<Vec<SearchResult>> {
    let found = |nonprofit: &Nonprofit<'_>| {
        let path = format!("/dashboard/operator/nonprofits/{}", nonprofit.id);
        SearchResult::new(path, nonprofit.name, nonprofit.location())
    };
    if let Ok(exact) = app.directory.resolve_lenient(query).await {
        return Ok(exact.nonprofit().as_ref().map(found).into_iter().collect());
    }
    let view = app.directory.view();
    let hits = view.search(query, MAX_RESULTS as usize);
    Ok(hits.iter().map(|hit| found(&hit.nonprofit)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use giving::fundraisers::SPECIAL_SLUG;

    #[test]
    fn links_of_fundraisers_are_recognized() {
        for link in [
            "https://give.example.org/red-cross/f/run?x=/f/y#top",
            "/red-cross/f/run/",
            "red-cross/f/run",
        ] {
            assert_eq!(parse_link(link), Some(("red-cross", "run")), "{link}");
        }
        for link in ["https://give.example.org/f/run", "/f/run/"] {
            assert_eq!(parse_link(link), Some((SPECIAL_SLUG, "run")), "{link}");
        }
        for other in ["run", "/f/", "red-cross/f/a/b", "https://example.org/f"] {
            assert_eq!(parse_link(other), None, "{other}");
        }
    }
}
