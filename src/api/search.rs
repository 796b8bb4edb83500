//! `GET /v0.2/search/{searchTerm}`: nonprofits by what was typed so far.

use crate::api::bodies::SearchBody;
use crate::api::problems::{BlankTerm, NotModified, PublicKeyProblems};
use crate::app::App;
use crate::app::search_answers::{Filter, render};
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, count, decode, pairs};
use crate::http::public_key::{PublicKey, Search};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use directory::documents::{DISBURSABLE, cause_label, city_label, state_label};
use directory::nonprofits::store;
use directory::record;
use platform::text::fold;
use std::borrow::Cow;
use std::sync::Arc;

const DEFAULT_TAKE: usize = 10;
const MOST_TAKE: usize = 50;
const LONGEST_TERM: usize = 256;
/// More than there are.
const MOST_CAUSES: usize = 200;

/// Nonprofits by what was typed so far: the last word may be unfinished, a word may have a mistake.
///
/// Names, everyday names, acronyms, places ("habitat austin tx"), EINs from five digits on and domains are found.
#[utoipa::path(
    get,
    path = "/v0.2/search/{searchTerm}",
    operation_id = "search",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(
        ("searchTerm" = String, Path, description = "What was typed, at most 256 characters.", example = "red cro"),
        ("take" = Option<u32>, Query, description = "How many are wanted: 10 unless given, 50 at the most.", minimum = 1),
        ("causes" = Option<String>, Query, description = "Causes with commas between them; one of them is enough.", example = "animals,wildlife"),
        ("tags" = Option<String>, Query, description = "The former name of causes; both lists count."),
        ("state" = Option<String>, Query, description = "Two letters.", example = "OR"),
        ("city" = Option<String>, Query, description = "The name of a city.", example = "Portland"),
        ("disbursable" = Option<u8>, Query, description = "1: only those that gifts can be passed on to."),
    ),
    responses(
        (status = 200, description = "Nonprofits, best first; none where nothing matches.", body = SearchBody),
        NotModified,
        PublicKeyProblems,
        BlankTerm,
    )
)]
pub async fn search(
    State(app): State<App>,
    _key: PublicKey<Search>,
    PathText(term): PathText,
    SearchParams { take, filter }: SearchParams,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    if term.trim().is_empty() {
        return Err(Error::NotFound);
    }
    if term.len() > LONGEST_TERM && term.chars().count() > LONGEST_TERM {
        return Err(Error::InvalidParameter(
            "the search term has over 256 characters; shorten it".into(),
        ));
    }
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return fallback(&app, &term, take).await;
    }
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        app.search_answers
            .answer(&app.nonprofit_json, &view, &term, take, &filter)
    }))
}

/// While the snapshot is being built: nonprofits whose name begins with the term, from the store.
async fn fallback(app: &App, term: &str, take: usize) -> Result<Response> {
    let words: Arc<[String]> = term.split_whitespace().map(str::to_lowercase).collect();
    let causes = app.directory.causes();
    let beginning = fold(term, '-');
    let records = match beginning.is_empty() {
        true => Vec::new(),
        false => store::list_by_slug(&app.db, &beginning, take, causes, record::to_vec).await?,
    };
    Ok(cache::json(&IfNoneMatch::default(), None, || {
        render(records.iter().map(|_| &words), |out, place| {
            app.nonprofit_json.open_item(out, &record::read(&records[place])?);
            Some(())
        })
    }))
}

/// How many are wanted, and of which kind.
#[derive(Debug)]
pub struct SearchParams {
    take: usize,
    filter: Filter,
}

impl FromRequestParts<App> for SearchParams {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        SearchParams::read(parts.uri.query().unwrap_or_default())
    }
}

impl SearchParams {
    /// Reads the query once. Of a parameter that counts once the first stands.
    fn read(query: &str) -> Result<SearchParams> {
        let mut causes = Vec::new();
        let (mut take, mut state, mut city, mut disbursable) = (None, None, None, None);
        for (name, value) in pairs(query) {
            match &*name {
                "take" if take.is_none() => take = Some(count(&decode(value), "take")?),
                "causes" | "tags" => causes.push(decode(value)),
                "state" | "city" => {
                    let place = if name == "state" { &mut state } else { &mut city };
                    let value = decode(value);
                    if place.is_none() && !value.trim().is_empty() {
                        *place = Some(value);
                    }
                }
                "disbursable" if disbursable.is_none() => disbursable = Some(decode(value)),
                "near" => {
                    let told =
                        "near is not offered yet: no nonprofit has coordinates here; send state or city";
                    return Err(Error::InvalidParameter(told.into()));
                }
                _ => {}
            }
        }
        let mut filter = Filter::default();
        filter.require_any(cause_labels(&causes));
        filter.require_any(state.iter().map(|code| state_label(code)));
        filter.require_any(city.iter().map(|name| city_label(name)));
        match disbursable.as_deref() {
            Some("1" | "true") => filter.require_any([DISBURSABLE.to_owned()]),
            None | Some("" | "0" | "false") => {}
            Some(_) => return Err(Error::InvalidParameter("disbursable is 1 or 0".into())),
        }
        Ok(SearchParams {
            take: take.unwrap_or(DEFAULT_TAKE).min(MOST_TAKE),
            filter,
        })
    }
}

/// Returns the labels of the causes in these comma-separated lists.
fn cause_labels<'a>(lists: &'a [Cow<'_, str>]) -> impl Iterator<Item = String> + 'a {
    lists
        .iter()
        .flat_map(|list| list.split(',').map(cause_label))
        .filter(|label| label != "cause:")
        .take(MOST_CAUSES)
}
