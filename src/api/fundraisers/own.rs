//! What an account does with its own fundraisers: change, close, reopen and list them.

use crate::api::fundraisers::wire::{FundraiserBody, WrittenBody, written};
use crate::api::problems::{
    AccountProblems, InvalidParameter, JsonBodyProblems, OwnFundraiserNotFound, Unavailable, UnavailableWrite,
};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::pagination::Pagination;
use crate::http::params::{PathText, RawQuery, positive, switch};
use crate::http::public_key::Fundraisers;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use giving;
use giving::fundraisers::change::Change;
use giving::fundraisers::fields::Fields;
use giving::fundraisers::names::slug_of;
use giving::fundraisers::validate::take_picture;
use giving::fundraisers::write::UpdateFundraiser;
use giving::fundraisers::{Fundraiser, store};
use platform::ids::{AccountId, FundraiserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

const DEFAULT_TAKE: usize = 10;
const MOST_TAKE: usize = 100;

/// The body that changes a fundraiser. What is left out stays; what is null is cleared.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it describes the body, which is read field by field to tell all faults at once"
)]
pub struct FundraiserChangeInput {
    #[schema(min_length = 1, max_length = 120, required = false)]
    title: String,
    #[schema(max_length = 20_000)]
    description: Option<String>,
    #[schema(format = DateTime)]
    start_date: Option<String>,
    #[schema(format = DateTime)]
    end_date: Option<String>,
    /// In cents; null moves back to the automatic goal.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_u64)]
    goal: Option<i64>,
    /// All that came in elsewhere so far, in cents.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_u64)]
    raised_offline: Option<i64>,
    /// A new cover; null takes it away.
    image_base64: Option<String>,
}

/// One page of an account's fundraisers.
#[derive(Serialize, ToSchema)]
pub struct FundraisersBody<'a> {
    fundraisers: Vec<FundraiserBody<'a>>,
    pagination: Pagination,
}

/// Changes a fundraiser of the account. Its slug and whom it supports stay.
#[utoipa::path(
    patch,
    path = "/v0.2/fundraiser/{id}",
    operation_id = "change",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("id" = Uuid, Path, description = "The ID of the fundraiser."),
        ("dryRun" = Option<u8>, Query, description = "1: judge the body and write nothing."),
    ),
    request_body(content = FundraiserChangeInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The fundraiser as it is now.", body = WrittenBody),
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
    body: JsonBody,
) -> Result<Response> {
    let dry_run = switch(&query, "dryRun")?;
    // A picture costs as much here as in a new fundraiser.
    if body.fields.get("imageBase64").is_some_and(|sent| !sent.is_null()) {
        credentials.count_as_create(&app)?;
    }
    let known = find_own(&app, credentials.account, &id).await?;
    // All faults are told before the picture is kept.
    let mut fields = Fields::new(&body.fields);
    Change::read(&mut fields, &known);
    let cover = take_picture(&app.pictures, &mut fields, dry_run).await?;
    fields.finish()?;
    let wanted = UpdateFundraiser::Fields(body.fields, cover);
    apply(&app, credentials.account, known, wanted, dry_run).await
}

/// Closes a fundraiser of the account: it stays readable and is no longer active.
#[utoipa::path(
    post,
    path = "/v0.2/fundraiser/{id}/close",
    operation_id = "close",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("id" = Uuid, Path, description = "The ID of the fundraiser."),
        ("dryRun" = Option<u8>, Query, description = "1: write nothing."),
    ),
    responses(
        (status = 200, description = "The fundraiser as it is now; the same where it was closed already.", body = WrittenBody),
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
    let known = find_own(&app, credentials.account, &id).await?;
    apply(&app, credentials.account, known, UpdateFundraiser::Close, dry_run).await
}

/// Opens a closed fundraiser of the account again.
#[utoipa::path(
    post,
    path = "/v0.2/fundraiser/{id}/reopen",
    operation_id = "reopen",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("id" = Uuid, Path, description = "The ID of the fundraiser."),
        ("dryRun" = Option<u8>, Query, description = "1: write nothing."),
    ),
    responses(
        (status = 200, description = "The fundraiser as it is now; the same where it was open already.", body = WrittenBody),
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
    let known = find_own(&app, credentials.account, &id).await?;
    apply(
        &app,
        credentials.account,
        known,
        UpdateFundraiser::Reopen,
        dry_run,
    )
    .await
}

/// The fundraisers of the account, newest first, one page at a time.
#[utoipa::path(
    get,
    path = "/v0.2/fundraisers",
    operation_id = "fundraisers",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("take" = Option<u32>, Query, description = "Fundraisers a page: 10 unless given, 100 at the most.", minimum = 1),
        ("page" = Option<u64>, Query, description = "Counted from 1. Past the last page there are no fundraisers.", minimum = 1),
    ),
    responses(
        (status = 200, description = "One page.", body = FundraisersBody),
        InvalidParameter,
        AccountProblems,
        Unavailable,
    )
)]
pub async fn fundraisers(
    State(app): State<App>,
    credentials: Credentials<Fundraisers>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MOST_TAKE);
    let page = positive(&query, "page")?.unwrap_or(1);
    let skip = Pagination::new(page as u64, take as u64, 0).skipped();
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    let (listed, total) = store::list_of_account(&app.db, credentials.account, skip, take as i64).await?;
    let mut slugs = Vec::with_capacity(listed.len());
    for fundraiser in &listed {
        slugs.push(slug_of(&app.directory, fundraiser).await?);
    }
    let now = app.clock.millis();
    let body = FundraisersBody {
        fundraisers: listed
            .iter()
            .zip(&slugs)
            .map(|(fundraiser, slug)| FundraiserBody::new(fundraiser, slug, &app.urls, now))
            .collect(),
        pagination: Pagination::new(page as u64, take as u64, total),
    };
    Ok(answer(
        serde_json::to_string(&body).expect("fundraisers are plain data"),
    ))
}

async fn find_own(app: &App, account: AccountId, id: &str) -> Result<Fundraiser> {
    let unknown = || Error::own_fundraiser_not_found(id);
    let id = Uuid::try_parse(id.trim()).map_err(|_| unknown())?;
    let found = store::find(&app.db, FundraiserId(id)).await?;
    found.filter(|found| found.account == account).ok_or_else(unknown)
}

async fn apply(
    app: &App,
    account: AccountId,
    known: Fundraiser,
    wanted: UpdateFundraiser,
    dry_run: bool,
) -> Result<Response> {
    let changed = if dry_run {
        wanted.change(&known, app.clock.millis())?.apply(&known).0
    } else {
        let changed = app.recorder.change(account, known.id, wanted).await;
        changed.map_err(|error| match error {
            giving::Error::NotFound => Error::own_fundraiser_not_found(&known.id.to_string()),
            error => error.into(),
        })?
    };
    let slug = slug_of(&app.directory, &changed).await?;
    let body = written(&changed, &slug, &app.urls, app.clock.millis(), dry_run);
    Ok(answer(body))
}

/// JSON that only its account may keep.
pub fn answer(body: String) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "private, no-cache"),
    ];
    (headers, body).into_response()
}
