//! The live results while a visitor types.

use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use access::keys::Class;
use access::limits::call::Call;
use axum::extract::State;
use axum::response::Response;
use directory::query::filter::SearchFilter;
use platform::text::cut;

/// The maximum length of a search term in characters.
const MAX_TERM_CHARS: usize = 256;
/// The number of live results.
const LIVE_HITS: usize = 8;
/// Searches per minute and network: enough for several fast typists behind one IP address.
const SEARCHES_PER_MINUTE: u32 = 1_200;

/// `GET /search.json?q=`: the live results. The response is that of the API, but limited by network instead of key.
pub async fn live(
    State(app): State<App>,
    client: Client,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    admit(&app, client).await?;
    let typed = typed(&query);
    let view = app.directory.view();
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        let filter = SearchFilter::default();
        app.caches
            .search_answers
            .answer(&app.site.nonprofit_json, &view, &typed, LIVE_HITS, &filter)
    }))
}

/// Refuses a search from a network that searches too often.
pub async fn admit(app: &App, client: Client) -> Result<()> {
    let call = Call {
        owner: client.owner(),
        class: Class::Search,
        per_minute: SEARCHES_PER_MINUTE,
        address: None,
    };
    let decision = app.access.visitors.admit(&call, app.clock.instant()).await;
    if decision.is_admitted() {
        Ok(())
    } else {
        Err(Error::RateLimited {
            class: call.class,
            verdict: decision.owner,
        })
    }
}

/// Returns the search term without surrounding whitespace, truncated if it is too long.
pub fn typed(query: &str) -> String {
    let typed = values(query, "q").next().unwrap_or_default();
    cut(typed.trim(), MAX_TERM_CHARS).to_owned()
}
