//! URLs that links to the hosted service have, and what people mean by them.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText, RESERVED, RawQuery};
use crate::site::find::find;
use axum::extract::State;
use axum::response::Redirect;
use percent_encoding::utf8_percent_encode;

/// `GET /{nonprofit}/donate`
pub async fn donate(
    State(app): State<App>,
    PathText(nonprofit): PathText,
    RawQuery(query): RawQuery,
) -> Result<Redirect> {
    let path = find_path(&app, &nonprofit).await?;
    Ok(redirect_to_form(&path, &query))
}

/// `GET /ein/{ein}/donate`
pub async fn donate_by_ein(state: State<App>, ein: PathText, query: RawQuery) -> Result<Redirect> {
    donate(state, ein, query).await
}

/// `GET /{nonprofit}/donate/{method}`
pub async fn donate_by_method(
    State(app): State<App>,
    PathPair(nonprofit, method): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Redirect> {
    let path = find_path(&app, &nonprofit).await?;
    let mut query = query;
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str("method=");
    query.extend(utf8_percent_encode(&method, RESERVED));
    Ok(redirect_to_form(&path, &query))
}

/// `GET /{nonprofit}/f/{fundraiser}/donate`
pub async fn donate_to_fundraiser(
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
) -> Redirect {
    let mut path = String::new();
    for segment in [&*nonprofit, "f", &*name] {
        path.push('/');
        path.extend(utf8_percent_encode(segment, RESERVED));
    }
    redirect_to_form(&path, &query)
}

/// `GET /{nonprofit}/fundraiser`: starts a fundraiser for a nonprofit.
pub async fn start_fundraiser(State(app): State<App>, PathText(nonprofit): PathText) -> Result<Redirect> {
    let path = find_path(&app, &nonprofit).await?;
    let slug = path.trim_start_matches('/');
    Ok(Redirect::to(&format!(
        "/dashboard/fundraisers/new?nonprofit={slug}"
    )))
}

/// Returns the path of a nonprofit that a URL names by its slug, its ID or its EIN.
async fn find_path(app: &App, text: &str) -> Result<String> {
    let found = find(&app.directory, text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    Ok(format!("/{}", nonprofit.slug))
}

/// Redirects to the donation form of a page, with the query that fills it in.
fn redirect_to_form(path: &str, query: &str) -> Redirect {
    Redirect::permanent(&if query.is_empty() {
        format!("{path}/give")
    } else {
        format!("{path}/give?{query}")
    })
}
