//! The endpoints with which an account changes, closes, reopens and lists its own fundraisers.

use crate::api::fundraisers::bodies::{BodyContext, FundraiserBody, WrittenBody, to_json};
use crate::api::fundraisers::dates::assume_utc;
use crate::api::fundraisers::fields::{Fields, to_error};
use crate::api::fundraisers::picture::take_picture;
use crate::api::problems::{
    AccountProblems, InvalidParameter, JsonBodyProblems, NotModified, OwnFundraiserNotFound, Unavailable,
    UnavailableWrite,
};
use crate::api::schemas::{Description, EndDate, PositiveInteger, StartDate, Switch, Title};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::pagination::Pagination;
use crate::http::params::{PathText, RawQuery, positive, switch};
use crate::http::public_key::Fundraisers;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use giving::fundraisers::change::FundraiserChange;
use giving::fundraisers::names::slug_of;
use giving::fundraisers::write::UpdateFundraiser;
use giving::fundraisers::{Fundraiser, store};
use platform::ids::{AccountId, FundraiserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

const DEFAULT_TAKE: usize = 10;
const MAX_TAKE: usize = 100;

/// The changes to a fundraiser. Omitted fields stay as they are; null clears a field.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct FundraiserChangeInput {
    #[schema(inline, required = false)]
    title: Title,
    #[schema(inline, required = false)]
    description: Description,
    #[schema(inline, required = false)]
    start_date: StartDate,
    #[schema(inline, required = false)]
    end_date: EndDate,
    /// In cents. Null restores the automatic goal.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_u64)]
    goal: Option<i64>,
    /// The total raised elsewhere so far, in cents. The operator may allow another maximum.
    #[schema(minimum = 0, maximum = 100_000_000)]
    raised_offline: Option<i64>,
    /// A new cover picture: PNG, JPEG or WebP, as a data URL or plain base64. Null removes it.
    image_base64: Option<String>,
}

/// One page of the fundraisers of an account.
#[derive(Serialize, ToSchema)]
pub struct FundraisersBody<'a> {
    fundraisers: Vec<FundraiserBody<'a>>,
    pagination: Pagination,
}

/// Updates a fundraiser of the account. Its slug and the nonprofits it supports cannot be changed.
#[utoipa::path(
    patch,
    path = "/v0.2/fundraiser/{id}",
    operation_id = "change",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("id" = Uuid, Path, description = "The ID of the fundraiser.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524"),
        ("dryRun" = inline(Option<Switch>), Query, description = "1 or true: validate the request without saving anything."),
    ),
    request_body(content = FundraiserChangeInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The updated fundraiser.", body = WrittenBody),
        JsonBodyProblems,
        AccountProblems,
        OwnFundraiserNotFound,
        UnavailableWrite,
    )
)]
pub async fn change(
    State(app): State<App>,
    credentials: Credentials<Fundraisers>,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
    mut body: JsonBody,
) -> Result<Response> {
    let dry_run = switch(&query, "dryRun")?;
    if app.config.compat.existing_clients {
        assume_utc(&mut body.fields);
    }
    // Processing a picture costs as much here as in a new fundraiser.
    if body.fields.get("imageBase64").is_some_and(|sent| !sent.is_null()) {
        credentials.count_as_create(&app).await?;
    }
    let current = find_own(&app, credentials.account, &id).await?;
    // All fields are checked before the picture is stored.
    let mut fields = Fields::new(&body.fields);
    let change = fields.read_change();
    if let Err(giving::Error::Invalid(invalid)) = change.apply(&current, app.config.fundraisers) {
        fields.add_invalid(invalid);
    }
    let cover = take_picture(&app.pictures, credentials.account, &mut fields, dry_run).await?;
    let change = fields.finish(Some(FundraiserChange { cover, ..change }))?;
    let update = UpdateFundraiser::Change(change, app.config.fundraisers);
    apply(&app, credentials.account, current, update, dry_run).await
}

/// Closes a fundraiser of the account. It can still be read but is no longer active.
#[utoipa::path(
    post,
    path = "/v0.2/fundraiser/{id}/close",
    operation_id = "close",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("id" = Uuid, Path, description = "The ID of the fundraiser.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524"),
        ("dryRun" = inline(Option<Switch>), Query, description = "1 or true: validate the request without saving anything."),
    ),
    responses(
        (status = 200, description = "The closed fundraiser, also if it was closed before.", body = WrittenBody),
        InvalidParameter,
        AccountProblems,
        OwnFundraiserNotFound,
        UnavailableWrite,
    )
)]
pub async fn close(
    State(app): State<App>,
    credentials: Credentials<Fundraisers>,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let dry_run = switch(&query, "dryRun")?;
    let current = find_own(&app, credentials.account, &id).await?;
    apply(
        &app,
        credentials.account,
        current,
        UpdateFundraiser::Close,
        dry_run,
    )
    .await
}

/// Reopens a closed fundraiser of the account.
#[utoipa::path(
    post,
    path = "/v0.2/fundraiser/{id}/reopen",
    operation_id = "reopen",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("id" = Uuid, Path, description = "The ID of the fundraiser.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524"),
        ("dryRun" = inline(Option<Switch>), Query, description = "1 or true: validate the request without saving anything."),
    ),
    responses(
        (status = 200, description = "The open fundraiser, also if it was open before.", body = WrittenBody),
        InvalidParameter,
        AccountProblems,
        OwnFundraiserNotFound,
        UnavailableWrite,
    )
)]
pub async fn reopen(
    State(app): State<App>,
    credentials: Credentials<Fundraisers>,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let dry_run = switch(&query, "dryRun")?;
    let current = find_own(&app, credentials.account, &id).await?;
    apply(
        &app,
        credentials.account,
        current,
        UpdateFundraiser::Reopen,
        dry_run,
    )
    .await
}

/// Lists the fundraisers of the account, newest first.
#[utoipa::path(
    get,
    path = "/v0.2/fundraisers",
    operation_id = "fundraisers",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("take" = inline(Option<PositiveInteger>), Query, description = "Fundraisers per page: 10 by default, at most 100. A larger number means 100."),
        ("page" = inline(Option<PositiveInteger>), Query, description = "The page number, starting at 1. Pages after the last one are empty."),
    ),
    responses(
        (status = 200, description = "One page of fundraisers.", body = FundraisersBody),
        NotModified,
        InvalidParameter,
        AccountProblems,
        Unavailable,
    )
)]
pub async fn fundraisers(
    State(app): State<App>,
    credentials: Credentials<Fundraisers>,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let page = positive(&query, "page")?.unwrap_or(1);
    let skip = Pagination::new(page as u64, take as u64, 0).skipped();
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    let (listed, total) = store::list_of_account(&app.db, credentials.account, skip, take as i64).await?;
    let mut slugs = Vec::with_capacity(listed.len());
    for fundraiser in &listed {
        slugs.push(slug_of(&app.directory, fundraiser).await?);
    }
    let (context, now) = (BodyContext::new(&app), app.clock.millis());
    let body = FundraisersBody {
        fundraisers: listed
            .iter()
            .zip(&slugs)
            .map(|(fundraiser, slug)| FundraiserBody::new(fundraiser, slug, &context, now))
            .collect(),
        pagination: Pagination::new(page as u64, take as u64, total),
    };
    let body = serde_json::to_vec(&body).expect("fundraisers are plain data");
    Ok(cache::hashed_json(&if_none_match, body))
}

async fn find_own(app: &App, account: AccountId, id: &str) -> Result<Fundraiser> {
    let not_found = || Error::own_fundraiser_not_found(id);
    // The parser accepts several formats. Only the usual one with dashes is part of the API.
    let text = Some(id.trim()).filter(|text| text.len() == 36);
    let id = text
        .and_then(|text| Uuid::try_parse(text).ok())
        .ok_or_else(not_found)?;
    let found = store::find(&app.db, FundraiserId(id)).await?;
    found
        .filter(|found| found.account == account)
        .ok_or_else(not_found)
}

async fn apply(
    app: &App,
    account: AccountId,
    current: Fundraiser,
    update: UpdateFundraiser,
    dry_run: bool,
) -> Result<Response> {
    let changed = if dry_run {
        update.apply(&current, app.clock.millis()).map_err(to_error)?
    } else {
        let changed = app.giving.recorder.change(account, current.id, update).await;
        changed.map_err(|error| match error {
            giving::Error::NotFound => Error::own_fundraiser_not_found(&current.id.to_string()),
            error => to_error(error),
        })?
    };
    let slug = slug_of(&app.directory, &changed).await?;
    let body = to_json(
        &changed,
        &slug,
        &BodyContext::new(app),
        app.clock.millis(),
        dry_run,
    );
    Ok(private_json(body))
}

/// Returns a JSON response that shared caches must not store.
pub fn private_json(body: String) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "private, no-cache"),
    ];
    (headers, body).into_response()
}
