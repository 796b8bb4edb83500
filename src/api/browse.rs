//! `GET /v0.2/browse/{cause}` and `GET /v0.2/causes`.

use crate::api::bodies::BrowseItem;
use crate::api::problems::{CauseNotFound, NotModified, PublicKeyProblems};
use crate::api::schemas::{NearParams, PositiveInteger};
use crate::app::App;
use crate::app::nonprofit_json::NonprofitJson;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::compression::json_body;
use crate::http::error::{Error, Result};
use crate::http::pagination::Pagination;
use crate::http::params::{PathText, RawQuery, positive, values};
use crate::http::public_key::{Browse, Causes, PublicKey};
use axum::extract::State;
use axum::response::Response;
use directory::query::near::Near;
use directory::{HitLocation, View};
use platform::json;
use serde::Serialize;
use utoipa::ToSchema;

const DEFAULT_TAKE: usize = 10;
const MAX_TAKE: usize = 100;

/// One page of the nonprofits of a cause.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "it only describes the response, which is written directly"
)]
pub struct BrowseBody {
    nonprofits: Vec<BrowseItem>,
    pagination: Pagination,
}

/// All causes.
#[derive(Serialize, ToSchema)]
pub struct CausesBody<'a> {
    causes: Vec<CauseBody<'a>>,
}

/// A cause with its number of nonprofits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CauseBody<'a> {
    #[schema(example = "animals")]
    tag_name: &'a str,
    #[schema(example = "ANIMALS")]
    cause_category: &'static str,
    title: &'a str,
    tag_url: String,
    tag_image_url: String,
    nonprofits: u64,
}

/// Lists the nonprofits of a cause, most prominent first.
#[utoipa::path(
    get,
    path = "/v0.2/browse/{cause}",
    operation_id = "browse",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(
        ("cause" = String, Path, description = "The name of a cause. See /v0.2/causes for the list.", example = "animals"),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Nonprofits per page: 10 by default, at most 100. A larger number means 100."),
        ("page" = inline(Option<PositiveInteger>), Query, description = "The page number, starting at 1. Pages after the last one are empty."),
        NearParams,
    ),
    responses(
        (status = 200, description = "One page of nonprofits.", body = BrowseBody),
        NotModified,
        PublicKeyProblems,
        CauseNotFound,
    )
)]
pub async fn browse(
    State(app): State<App>,
    _key: PublicKey<Browse>,
    PathText(name): PathText,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let causes = app.directory.causes();
    let cause = causes.find(name.trim());
    if cause.is_none() && !app.config.compat.existing_clients {
        return Err(Error::unknown_cause(&name));
    }
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let page = positive(&query, "page")?.unwrap_or(1);
    let first = |name| values(&query, name).next();
    let near = Near::parse(first("near").as_deref(), first("radius").as_deref())?;
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return Err(Error::Unavailable);
    }
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        // Existing clients expect an empty list for a cause that does not exist.
        let (pagination, found) = match cause {
            Some(cause) => find_page(&view, &cause.name, near.as_ref(), page as u64, take),
            None => (Pagination::new(page as u64, take as u64, 0), Vec::new()),
        };
        let mut out = Vec::with_capacity(1_024 * found.len() + 128);
        out.extend_from_slice(br#"{"nonprofits":"#);
        let items = found
            .iter()
            .filter_map(|location| Some((*location, view.item(*location)?)));
        json::list(&mut out, items, |out, (location, item)| {
            app.site.nonprofit_json.open_item(out, &item);
            let miles = near.and_then(|near| view.miles_from(&near, location));
            miles.inspect(|miles| NonprofitJson::distance(out, *miles));
            if app.config.compat.existing_clients {
                NonprofitJson::close_item(out, &[]);
            } else {
                out.push(b'}');
            }
        });
        out.extend_from_slice(br#","pagination":"#);
        serde_json::to_writer(&mut out, &pagination).expect("numbers are plain data");
        out.push(b'}');
        json_body(out)
    }))
}

/// Returns where the nonprofits of one page of a cause are, of all or of those near a place.
fn find_page(
    view: &View,
    cause: &str,
    near: Option<&Near>,
    page: u64,
    take: usize,
) -> (Pagination, Vec<HitLocation>) {
    let Some(near) = near else {
        let pagination = Pagination::new(page, take as u64, view.count_by_cause(cause));
        let found = view.list_by_cause(cause, pagination.skipped(), take);
        return (pagination, found);
    };
    let found = view.list_by_cause_near(cause, near);
    let pagination = Pagination::new(page, take as u64, found.len() as u64);
    let skip = usize::try_from(pagination.skipped()).unwrap_or(usize::MAX);
    (pagination, found.into_iter().skip(skip).take(take).collect())
}

/// Lists all causes with their numbers of nonprofits.
#[utoipa::path(
    get,
    path = "/v0.2/causes",
    operation_id = "causes",
    tag = "nonprofits",
    security(("publicKey" = [])),
    responses(
        (status = 200, description = "All causes.", body = CausesBody),
        NotModified,
        PublicKeyProblems,
    )
)]
pub async fn causes(
    State(app): State<App>,
    _key: PublicKey<Causes>,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return Err(Error::Unavailable);
    }
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        let cause = |cause: &'static directory::nonprofits::causes::Cause| CauseBody {
            tag_name: &cause.name,
            cause_category: cause.category.as_str(),
            title: &cause.title,
            tag_url: app.site.urls.cause(&cause.name),
            tag_image_url: app.site.urls.cause_picture(&cause.name).1,
            nonprofits: view.count_by_cause(&cause.name),
        };
        let causes = app.directory.causes().list().iter().map(cause).collect();
        json_body(serde_json::to_vec(&CausesBody { causes }).expect("causes are plain data"))
    }))
}
