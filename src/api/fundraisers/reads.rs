//! `GET /v0.2/nonprofit/{nonprofit}/fundraiser/{fundraiser}`, and the same with `/raised`.

use crate::api::fundraisers::bodies::{
    BodyContext, FundraiserBody, FundraiserDetails, FundraiserDetailsBody, RaisedBody, UserBody,
};
use crate::api::problems::{FundraiserNotFound, NotModified, PublicKeyProblems};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, values};
use crate::http::public_key::{Fundraisers, OptionalKey};
use access::accounts::store as accounts;
use axum::extract::{FromRequestParts, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::Response;
use directory::NonprofitRef;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::cause_set::CauseSet;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers::FundraiserName;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::names::{find_nonprofit, slug_of};
use platform::ids::AccountId;
use platform::json;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Retrieves a fundraiser by its slug or ID and the nonprofit that it supports.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{nonprofit}/fundraiser/{fundraiser}",
    operation_id = "fundraiser",
    tag = "fundraisers",
    security(("publicKey" = [])),
    params(
        ("nonprofit" = String, Path, description = "The slug, EIN or ID of the nonprofit, or special-fundraiser for a fundraiser that supports several.", example = "american-red-cross"),
        ("fundraiser" = String, Path, description = "The slug or ID of the fundraiser.", example = "spring-run"),
    ),
    responses(
        (status = 200, description = "The fundraiser.", body = FundraiserDetailsBody),
        NotModified,
        PublicKeyProblems,
        FundraiserNotFound,
    )
)]
pub async fn fundraiser(
    State(app): State<App>,
    reader: Reader,
    PathPair(nonprofit, name): PathPair,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let shown = find(&app, &reader, &nonprofit, &name).await?;
    let creator = accounts::find_username(&app.db, shown.fundraiser.account).await?;
    let slug = slug_of(&app.directory, &shown.fundraiser).await?;
    let mut supported = Vec::with_capacity(shown.fundraiser.supported.len());
    for (id, _) in &shown.fundraiser.supported {
        supported.extend(app.directory.find(&Identifier::Id(*id)).await?);
    }
    let nonprofits: Vec<Nonprofit<'_>> = supported.iter().filter_map(NonprofitRef::nonprofit).collect();
    let causes = nonprofits
        .iter()
        .fold(CauseSet::default(), |all, each| all.union(each.causes));
    let now = app.clock.millis();
    let body = FundraiserDetailsBody {
        message: "OK",
        data: FundraiserDetails {
            fundraiser: FundraiserBody::new(&shown.fundraiser, &slug, &BodyContext::new(&app), now),
            users: creator
                .map(|username| UserBody {
                    id: shown.fundraiser.account.0,
                    username,
                })
                .into_iter()
                .collect(),
            nonprofits: raw_json(|out| {
                json::list(out, &nonprofits, |out, each| {
                    app.site.nonprofit_json.nonprofit(out, each);
                });
            }),
            tags: raw_json(|out| app.site.nonprofit_json.tags(out, causes)),
        },
    };
    let body = serde_json::to_vec(&body).expect("a fundraiser is plain data");
    Ok(cache::hashed_json(&if_none_match, body))
}

/// Returns JSON that `write` appends to a buffer.
fn raw_json(write: impl FnOnce(&mut Vec<u8>)) -> Box<RawValue> {
    let mut out = Vec::with_capacity(2_048);
    write(&mut out);
    let text = String::from_utf8(out).expect("JSON is UTF-8");
    RawValue::from_string(text).expect("nonprofits are written as JSON")
}

/// Retrieves the amount that a fundraiser has raised, its number of supporters and its current goal.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{nonprofit}/fundraiser/{fundraiser}/raised",
    operation_id = "raised",
    tag = "fundraisers",
    security(("publicKey" = [])),
    params(
        ("nonprofit" = String, Path, description = "The slug, EIN or ID of the nonprofit, or special-fundraiser for a fundraiser that supports several.", example = "american-red-cross"),
        ("fundraiser" = String, Path, description = "The slug or ID of the fundraiser.", example = "spring-run"),
    ),
    responses(
        (status = 200, description = "The amount raised.", body = RaisedBody),
        NotModified,
        PublicKeyProblems,
        FundraiserNotFound,
    )
)]
pub async fn raised(
    State(app): State<App>,
    reader: Reader,
    PathPair(nonprofit, name): PathPair,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let shown = find(&app, &reader, &nonprofit, &name).await?;
    let raised = RaisedBody::new(&shown, app.is_test_mode());
    Ok(cache::json(&if_none_match, Some(&raised.tag()), || {
        serde_json::to_vec(&raised).expect("numbers are plain data")
    }))
}

/// Who reads a fundraiser: the account of a private key, or anybody with a public key, which every visitor of a page can
/// see.
pub struct Reader {
    account: Option<AccountId>,
}

impl FromRequestParts<App> for Reader {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Reader> {
        let scheme = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.as_bytes().get(..6));
        let is_basic = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic "));
        // With a public key, the header may be for a proxy in front of the server.
        let has_key = values(parts.uri.query().unwrap_or_default(), "apiKey")
            .next()
            .is_some();
        let account = if is_basic && !has_key {
            Some(
                Credentials::<Fundraisers>::from_request_parts(parts, app)
                    .await?
                    .account,
            )
        } else {
            OptionalKey::<Fundraisers>::from_request_parts(parts, app).await?;
            None
        };
        Ok(Reader { account })
    }
}

/// Finds a fundraiser that the reader may see: one that is not public is only for its owner.
async fn find(app: &App, reader: &Reader, nonprofit: &str, name: &str) -> Result<Arc<FundraiserWithTotals>> {
    let found = find_nonprofit(&app.directory, nonprofit).await;
    let nonprofit = found.map_err(|error| Error::from_resolve(error, nonprofit))?;
    let not_found = || Error::fundraiser_not_found(name);
    let parsed = FundraiserName::parse(name).ok_or_else(not_found)?;
    let found = app.giving.fundraisers.find(nonprofit, parsed).await?;
    let is_visible = |found: &Arc<FundraiserWithTotals>| {
        found.fundraiser.is_public() || reader.account == Some(found.fundraiser.account)
    };
    found.filter(is_visible).ok_or_else(not_found)
}
