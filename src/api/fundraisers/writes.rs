//! `POST /v0.2/fundraiser`: a new fundraiser.

use crate::api::fundraisers::wire::WrittenBody;
use crate::api::problems::{AccountProblems, IdempotencyProblems, JsonBodyProblems};
use crate::app::App;
use crate::directory::Found;
use crate::directory::nonprofits::identifier::Identifier;
use crate::giving::fundraisers::fields::Fields;
use crate::giving::fundraisers::input::NewFundraiser;
use crate::giving::fundraisers::write::{self, Order};
use crate::giving::fundraisers::{Fundraiser, SPECIAL, SPECIAL_SLUG, slug};
use crate::http::body::JsonBody;
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::idempotency::{Asked, IdempotencyKey, Kept};
use crate::http::params::{RawQuery, switch};
use crate::http::public_key::Create;
use crate::platform::ids::{AccountId, FundraiserId};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// The body that makes a fundraiser.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it describes the body, which is read field by field to tell all faults at once"
)]
pub struct FundraiserInput {
    /// The nonprofit supported; ddacc399-20c5-462e-80e1-97fa958071ea for several.
    nonprofit_id: Uuid,
    #[schema(min_length = 1, max_length = 120)]
    title: String,
    #[schema(max_length = 20_000)]
    description: Option<String>,
    /// A date with time and zone.
    #[schema(format = DateTime)]
    start_date: Option<String>,
    /// After startDate.
    #[schema(format = DateTime)]
    end_date: Option<String>,
    /// In cents. Without one the goal follows what was raised.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_u64)]
    goal: Option<i64>,
    /// In cents.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_u64)]
    raised_offline: Option<i64>,
    /// Only USD; the same where it is left out.
    #[schema(example = "USD", required = false)]
    currency: String,
    /// A PNG, JPEG or WebP picture as a data URL or as bare base64.
    image_base64: Option<String>,
    /// MULTIPLE_NONPROFITS, with forNonprofits, for several.
    r#type: Option<String>,
    /// 1 to 100 different nonprofits.
    #[schema(required = false, max_items = 100)]
    for_nonprofits: Vec<Uuid>,
    /// Above zero, one for each of forNonprofits; the same for all where it is left out.
    for_nonprofit_weights: Option<Vec<f64>>,
}

/// Makes a fundraiser for one nonprofit or for several. Its creator is the account that owns the keys.
#[utoipa::path(
    post,
    path = "/v0.2/fundraiser",
    operation_id = "create",
    tag = "fundraisers",
    security(("privateKey" = [])),
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 255 characters. Sent again within 24 hours with the same body, the first answer comes back and nothing is made twice."),
        ("dryRun" = Option<u8>, Query, description = "1: judge the body and write nothing."),
    ),
    request_body(content = FundraiserInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The fundraiser.", body = WrittenBody,
            headers(("Location" = String, description = "Where it is read."))),
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
    body: JsonBody,
) -> Result<Response> {
    let dry_run = switch(&query, "dryRun")?;
    let account = credentials.account;
    let asked = key.filter(|_| !dry_run).map(|name| Asked {
        account,
        name,
        hash: body.hash,
    });
    let _turn = asked
        .as_ref()
        .map(|asked| app.under_way.begin(asked))
        .transpose()?;
    if let Some(asked) = &asked
        && let Some(kept) = asked.find(&app.db, app.clock.millis()).await?
    {
        return Ok(made(kept));
    }
    let (fundraiser, nonprofit) = read(&app, account, &body.fields, dry_run).await?;
    if dry_run {
        let now = app.clock.millis();
        let shown = Fundraiser {
            slug: slug::of_title(&fundraiser.title),
            created_at: now,
            ..fundraiser
        };
        return Ok(super::own::answer(write::written(
            &shown, &nonprofit, &app.urls, now, true,
        )));
    }
    let order = Order {
        fundraiser,
        nonprofit,
        asked,
    };
    Ok(made(write::create(&app, order).await?))
}

fn made(Kept { location, body }: Kept) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "private, no-cache"),
        (LOCATION, &location),
    ];
    (headers, body).into_response()
}

/// What a body asks for, and the slug of its nonprofit; or all that is wrong with it.
pub async fn read(
    app: &App,
    account: AccountId,
    body: &Map<String, Value>,
    dry_run: bool,
) -> Result<(Fundraiser, String)> {
    let mut fields = Fields::new(body);
    let new = NewFundraiser::read(&mut fields);
    let mut slug = SPECIAL_SLUG.to_owned();
    for supported in &new.supported {
        let found = app.directory.find(&Identifier::Id(supported.id)).await?;
        match found.as_ref().and_then(Found::nonprofit) {
            None => fields.fault(&supported.field, "there is no nonprofit with this ID"),
            Some(nonprofit) if !nonprofit.is_disbursable() => fields.fault(
                &supported.field,
                "gifts cannot be passed on to this nonprofit; choose one whose isDisbursable is true",
            ),
            Some(nonprofit) if new.nonprofit != Some(SPECIAL) => nonprofit.slug.clone_into(&mut slug),
            Some(_) => {}
        }
    }
    let cover = super::own::take_picture(app, &mut fields, dry_run).await?;
    fields.done()?;
    let fundraiser = Fundraiser {
        id: FundraiserId::new(),
        nonprofit: new.nonprofit.ok_or(Error::Internal)?,
        slug: String::new(),
        account,
        title: new.title,
        description: new.description,
        cover: cover.flatten(),
        starts_at: new.starts_at,
        ends_at: new.ends_at,
        goal: new.goal,
        offline: new.offline,
        created_at: 0,
        closed_at: None,
        version: 1,
        supported: new
            .supported
            .iter()
            .map(|supported| (supported.id, supported.weight))
            .collect(),
    };
    Ok((fundraiser, slug))
}
