//! `GET /v0.2/nonprofit/{nonprofit}/fundraiser/{fundraiser}`, and the same with `/raised`.

use crate::api::fundraisers::bodies::{
    FundraiserBody, FundraiserDetails, FundraiserDetailsBody, RaisedBody, UserBody,
};
use crate::api::problems::{FundraiserNotFound, NotModified, PublicKeyProblems};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::{Error, Result};
use crate::http::params::PathPair;
use crate::http::public_key::{Fundraisers, OptionalKey};
use access::accounts::store as accounts;
use access::keys::Key;
use axum::extract::State;
use axum::response::Response;
use directory::NonprofitRef;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::cause_set::CauseSet;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers::FundraiserName;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::names::{find_nonprofit, slug_of};
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
    key: OptionalKey<Fundraisers>,
    PathPair(nonprofit, name): PathPair,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let shown = find(&app, &key, &nonprofit, &name).await?;
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
    let (livemode, now) = (!app.is_test_mode(), app.clock.millis());
    let body = FundraiserDetailsBody {
        message: "OK",
        data: FundraiserDetails {
            fundraiser: FundraiserBody::new(&shown.fundraiser, &slug, &app.site.urls, livemode, now),
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
    key: OptionalKey<Fundraisers>,
    PathPair(nonprofit, name): PathPair,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let shown = find(&app, &key, &nonprofit, &name).await?;
    let raised = RaisedBody::new(&shown, app.is_test_mode());
    Ok(cache::json(&if_none_match, Some(&raised.tag()), || {
        serde_json::to_vec(&raised).expect("numbers are plain data")
    }))
}

/// Finds a fundraiser that the account of a key may see: one that is not public is only for its owner and operators.
async fn find(
    app: &App,
    OptionalKey { key, .. }: &OptionalKey<Fundraisers>,
    nonprofit: &str,
    name: &str,
) -> Result<Arc<FundraiserWithTotals>> {
    let found = find_nonprofit(&app.directory, nonprofit).await;
    let nonprofit = found.map_err(|error| Error::from_resolve(error, nonprofit))?;
    let not_found = || Error::fundraiser_not_found(name);
    let parsed = FundraiserName::parse(name).ok_or_else(not_found)?;
    let found = app.giving.fundraisers.find(nonprofit, parsed).await?;
    let is_visible = |found: &Arc<FundraiserWithTotals>| {
        let fundraiser = &found.fundraiser;
        let is_own = |key: &Arc<Key>| fundraiser.account == key.account || key.is_operator;
        fundraiser.is_public() || key.as_ref().is_some_and(is_own)
    };
    found.filter(is_visible).ok_or_else(not_found)
}
