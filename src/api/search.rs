//! `GET /v0.2/search/{searchTerm}`: search as you type.

use crate::api::bodies::SearchBody;
use crate::api::explanation::{ExplanationBody, SearchAccess};
use crate::api::problems::{BlankTerm, ExplainProblems, NotModified, PublicKeyProblems};
use crate::api::schemas::{NearParams, PositiveInteger, Switch};
use crate::app::App;
use crate::app::nonprofit_json::NonprofitJson;
use crate::app::search_answers::render;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::compression::json_body;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText, count, decode, is_on, pairs};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use directory::nonprofits::zip_codes::zip_of;
use directory::nonprofits::{Nonprofit, store};
use directory::query::filter::SearchFilter;
use directory::query::near::Near;
use directory::snapshot::item::{self, Item};
use platform::text::fold;
use std::borrow::Cow;
use std::sync::Arc;

const DEFAULT_TAKE: usize = 10;
const MAX_TAKE: usize = 50;
const MAX_TERM_LENGTH: usize = 256;
/// The maximum number of causes in a query, more than exist.
const MAX_CAUSES: usize = 200;

/// Searches nonprofits as you type: the last word may be incomplete, and typos are tolerated.
///
/// Matches names, common names, acronyms, locations ("habitat austin tx"), EINs (at least five digits) and domains.
/// With `explain=1`, which needs a private key instead of a public one, the response has an explanation.
#[utoipa::path(
    get,
    path = "/v0.2/search/{searchTerm}",
    operation_id = "search",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(
        ("searchTerm" = String, Path, description = "The text to search for, at most 256 characters.", max_length = 256, example = "red cro"),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Number of results: 10 by default, at most 50. A larger number means 50."),
        ("causes" = Option<String>, Query, description = "Comma-separated causes. Results have at least one of them.", example = "animals,wildlife"),
        ("tags" = Option<String>, Query, description = "The former name of causes. If both are sent, the lists are combined."),
        ("state" = Option<String>, Query, description = "The two-letter code of a state.", example = "OR"),
        ("city" = Option<String>, Query, description = "The name of a city, in any state or in that of the state parameter.", example = "Portland"),
        NearParams,
        ("explain" = inline(Option<Switch>), Query, description = "1 or true: the response also says why these were found and not others. Needs HTTP Basic authentication with a private key instead of apiKey."),
        ("disbursable" = inline(Option<Switch>), Query, description = "1 or true: only nonprofits that can receive donations."),
    ),
    responses(
        (status = 200, description = "The matching nonprofits, best match first. Empty if nothing matches.", body = SearchBody),
        NotModified,
        PublicKeyProblems,
        ExplainProblems,
        BlankTerm,
    )
)]
pub async fn search(
    State(app): State<App>,
    access: SearchAccess,
    PathText(term): PathText,
    params: SearchParams,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    answer(&app, access, &term, params, &if_none_match).await
}

/// `GET /v0.2/search/{start}/{*rest}`: a search term with a slash that is not percent-encoded.
pub async fn search_with_slash(
    State(app): State<App>,
    access: SearchAccess,
    PathPair(start, rest): PathPair,
    params: SearchParams,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    answer(&app, access, &format!("{start}/{rest}"), params, &if_none_match).await
}

async fn answer(
    app: &App,
    SearchAccess { explain_for }: SearchAccess,
    term: &str,
    SearchParams { take, filter, place }: SearchParams,
    if_none_match: &IfNoneMatch,
) -> Result<Response> {
    if term.trim().is_empty() {
        return Err(Error::NotFound);
    }
    if term.len() > MAX_TERM_LENGTH && term.chars().count() > MAX_TERM_LENGTH {
        return Err(Error::InvalidParameter(
            "The search term is longer than 256 characters. Shorten it.".into(),
        ));
    }
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return fallback(app, term, take, filter.near).await;
    }
    if let Some(owner) = explain_for {
        let explanation = ExplanationBody::new(app, owner, &view, term, &filter, place).await?;
        return Ok(cache::json(&IfNoneMatch::default(), None, || {
            let mut body =
                app.caches
                    .search_answers
                    .answer(&app.site.nonprofit_json, &view, term, take, &filter);
            body.pop();
            body.extend_from_slice(br#","explanation":"#);
            serde_json::to_writer(&mut body, &explanation).expect("texts and numbers are plain data");
            body.push(b'}');
            body
        }));
    }
    Ok(cache::json(if_none_match, view.tag.as_deref(), || {
        json_body(
            app.caches
                .search_answers
                .answer(&app.site.nonprofit_json, &view, term, take, &filter),
        )
    }))
}

/// Finds nonprofits in the database whose name begins with the term, while the snapshot is being built.
async fn fallback(app: &App, term: &str, take: usize, near: Option<Near>) -> Result<Response> {
    let words: Arc<[String]> = term.split_whitespace().map(str::to_lowercase).collect();
    let causes = app.directory.causes();
    let prefix = fold(term, '-');
    let miles = |nonprofit: &Nonprofit<'_>| near.as_ref()?.miles_to(zip_of(nonprofit)?);
    let mut items = if prefix.is_empty() {
        Vec::new()
    } else {
        let item = |nonprofit: &Nonprofit<'_>| (item::to_vec(nonprofit, causes), miles(nonprofit));
        store::list_by_slug(&app.db, &prefix, take, causes, item).await?
    };
    if let Some(near) = &near {
        items.retain(|(_, miles)| miles.is_some_and(|miles| miles <= near.radius_miles));
    }
    Ok(cache::json(&IfNoneMatch::default(), None, || {
        render(items.iter().map(|_| &words), |out, index| {
            let (item, miles) = &items[index];
            app.site.nonprofit_json.open_item(out, &Item::read(item)?);
            miles.inspect(|miles| NonprofitJson::distance(out, *miles));
            Some(())
        })
    }))
}

/// The query parameters of a search.
#[derive(Debug)]
pub struct SearchParams {
    take: usize,
    filter: SearchFilter,
    /// The ZIP code or position of the circle, as sent.
    place: Option<String>,
}

impl FromRequestParts<App> for SearchParams {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        SearchParams::read(parts.uri.query().unwrap_or_default())
    }
}

impl SearchParams {
    /// Parses the query in one pass. The first value of a repeated parameter is used, except for lists of causes.
    fn read(query: &str) -> Result<SearchParams> {
        let mut causes = Vec::new();
        let (mut take, mut state, mut city, mut disbursable) = (None, None, None, None);
        let (mut near, mut radius) = (None, None);
        for (name, value) in pairs(query) {
            match &*name {
                "take" if take.is_none() => take = Some(count(&decode(value), "take")?),
                "causes" | "tags" => causes.push(decode(value)),
                "state" | "city" => {
                    let target = if name == "state" { &mut state } else { &mut city };
                    let value = decode(value);
                    if target.is_none() && !value.trim().is_empty() {
                        *target = Some(value);
                    }
                }
                "disbursable" if disbursable.is_none() => {
                    disbursable = Some(is_on(&decode(value), "disbursable")?);
                }
                "near" if near.is_none() => near = Some(decode(value)),
                "radius" if radius.is_none() => radius = Some(decode(value)),
                _ => {}
            }
        }
        Ok(SearchParams {
            take: take.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE),
            filter: SearchFilter {
                causes: cause_names(&causes),
                state: state.map(Cow::into_owned),
                city: city.map(Cow::into_owned),
                is_disbursable: disbursable == Some(true),
                near: Near::parse(near.as_deref(), radius.as_deref())?,
                ..SearchFilter::default()
            },
            place: near.map(Cow::into_owned),
        })
    }
}

/// Returns the causes in these comma-separated lists.
fn cause_names(lists: &[Cow<'_, str>]) -> Vec<String> {
    lists
        .iter()
        .flat_map(|list| list.split(','))
        .filter(|name| !name.trim().is_empty())
        .take(MAX_CAUSES)
        .map(str::to_owned)
        .collect()
}
