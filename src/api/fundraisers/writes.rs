//! `POST /v0.2/fundraiser`: creates a fundraiser.

use crate::api::fundraisers::bodies::{BodyContext, WrittenBody, to_json};
use crate::api::fundraisers::dates::assume_utc;
use crate::api::fundraisers::fields::{Fields, to_error};
use crate::api::fundraisers::picture::take_picture;
use crate::api::problems::{AccountProblems, IdempotencyProblems, JsonBodyProblems};
use crate::api::schemas::{
    Currency, Description, EndDate, IdempotencyKeyText, StartDate, Switch, Title, Weights,
};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::credentials::Credentials;
use crate::http::error::Result;
use crate::http::idempotency::IdempotencyKey;
use crate::http::params::{RawQuery, switch};
use crate::http::public_key::Create;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use giving::fundraisers::write::CreateFundraiser;
use giving::fundraisers::{Fundraiser, slug};
use giving::idempotency::{self, IdempotentRequest, StoredResponse};
use utoipa::ToSchema;
use uuid::Uuid;

/// A fundraiser to create.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct FundraiserInput {
    /// The nonprofit to support, or ddacc399-20c5-462e-80e1-97fa958071ea for several.
    nonprofit_id: Uuid,
    #[schema(inline)]
    title: Title,
    #[schema(inline, required = false)]
    description: Description,
    #[schema(inline, required = false)]
    start_date: StartDate,
    #[schema(inline, required = false)]
    end_date: EndDate,
    /// In cents. By default the goal grows with the amount raised.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_u64)]
    goal: Option<i64>,
    /// The amount raised elsewhere, in cents. The operator may allow another maximum.
    #[schema(minimum = 0, maximum = 100_000_000)]
    raised_offline: Option<i64>,
    #[schema(inline, required = false)]
    currency: Currency,
    /// A PNG, JPEG or WebP picture, as a data URL or plain base64.
    image_base64: Option<String>,
    /// MULTIPLE_NONPROFITS to support several nonprofits, listed in forNonprofits.
    #[schema(inline)]
    r#type: Option<FundraiserType>,
    /// 1 to 100 different nonprofits, only with type MULTIPLE_NONPROFITS.
    #[schema(max_items = 100)]
    for_nonprofits: Option<Vec<Uuid>>,
    #[schema(inline, required = false)]
    for_nonprofit_weights: Weights,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes a field of the body")]
enum FundraiserType {
    #[schema(rename = "MULTIPLE_NONPROFITS")]
    MultipleNonprofits,
}

/// Creates a fundraiser for one or several nonprofits. Its creator is the account that owns the keys. If the operator
/// reviews new fundraisers, its `status` is IN_REVIEW at first.
#[utoipa::path(
    post,
    path = "/v0.2/fundraiser",
    operation_id = "create",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("Idempotency-Key" = inline(Option<IdempotencyKeyText>), Header, description = "1 to 255 characters. A retry with the same key and body within 24 hours gets the first response, and nothing is created twice."),
        ("dryRun" = inline(Option<Switch>), Query, description = "1 or true: validate the request without saving anything."),
    ),
    request_body(content = FundraiserInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The fundraiser.", body = WrittenBody,
            headers(("Location" = String, description = "The URL of the fundraiser in the API."))),
        JsonBodyProblems,
        AccountProblems,
        IdempotencyProblems,
    )
)]
pub async fn create(
    State(app): State<App>,
    credentials: Credentials<Create>,
    IdempotencyKey(key): IdempotencyKey,
    RawQuery(query): RawQuery,
    mut body: JsonBody,
) -> Result<Response> {
    let dry_run = switch(&query, "dryRun")?;
    if app.config.compat.existing_clients {
        assume_utc(&mut body.fields);
    }
    let (account, review) = (credentials.account, app.config.fundraisers.review);
    let request = key.filter(|_| !dry_run).map(|name| IdempotentRequest {
        account,
        name,
        hash: body.hash,
    });
    let _guard = request
        .as_ref()
        .map(|request| app.giving.in_flight.begin(request))
        .transpose()?;
    if let Some(request) = &request
        && let Some(response) = idempotency::store::find(&app.db, request, app.clock.millis()).await?
    {
        return Ok(created_response(response));
    }
    let mut fields = Fields::new(&body.fields);
    let validated = match fields
        .read_input()
        .validate(&app.directory, account, app.config.fundraisers)
        .await
    {
        Err(giving::Error::Invalid(invalid)) => {
            fields.add_invalid(invalid);
            None
        }
        validated => Some(validated?),
    };
    let cover = take_picture(&app.pictures, account, &mut fields, dry_run).await?;
    let (fundraiser, nonprofit) = fields.finish(validated)?;
    let fundraiser = Fundraiser {
        cover: cover.flatten(),
        ..fundraiser
    };
    let context = BodyContext::new(&app);
    if dry_run {
        let now = app.clock.millis();
        let mut tx = app.db.view().await?;
        let in_review = review.is_required(&mut tx, account).await?;
        let preview = Fundraiser {
            slug: slug::of_title(&fundraiser.title),
            created_at: now,
            in_review_since: in_review.then_some(now),
            ..fundraiser
        };
        return Ok(super::own::private_json(to_json(
            &preview, &nonprofit, &context, now, true,
        )));
    }
    let urls = app.site.urls.clone();
    let respond = move |new: &Fundraiser, now: i64| StoredResponse {
        location: urls.fundraiser_api(&nonprofit, &new.slug),
        body: to_json(new, &nonprofit, &context, now, false),
    };
    let command = CreateFundraiser {
        fundraiser,
        request,
        review,
    };
    let created = app.giving.recorder.create(command, respond).await;
    Ok(created_response(created.map_err(to_error)?))
}

fn created_response(StoredResponse { location, body }: StoredResponse) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "private, no-cache"),
        (LOCATION, &location),
    ];
    (headers, body).into_response()
}
