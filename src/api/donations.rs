//! The donations to the fundraisers of an account, and by its links.

use crate::api::fundraisers::own::private_json;
use crate::api::problems::{AccountProblems, DonationNotFound, InvalidParameter, NotModified, Unavailable};
use crate::api::schemas::PositiveInteger;
use crate::app::App;
use crate::app::event_json::{DonationBody, donation_body};
use crate::http::cache::{self, IfNoneMatch};
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, RawQuery, positive, values};
use crate::http::public_key::Events;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

const DEFAULT_TAKE: usize = 20;
const MAX_TAKE: usize = 100;

/// One page of donations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DonationsBody {
    /// The newest first.
    donations: Vec<DonationBody>,
    /// Whether there are older ones.
    has_more: bool,
}

/// Lists the donations to the fundraisers of the account and by its links, newest first.
#[utoipa::path(
    get,
    path = "/v0.2/donations",
    operation_id = "donations",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(
        ("before" = Option<Uuid>, Query, description = "The ID of the last donation that you have; older ones follow."),
        ("take" = inline(Option<PositiveInteger>), Query, description = "Donations per page: 20 by default, at most 100. A larger number means 100."),
    ),
    responses(
        (status = 200, description = "One page of donations.", body = DonationsBody),
        InvalidParameter,
        AccountProblems,
        DonationNotFound,
        Unavailable,
    )
)]
pub async fn list(
    State(app): State<App>,
    credentials: Credentials<Events>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let take = positive(&query, "take")?.unwrap_or(DEFAULT_TAKE).min(MAX_TAKE);
    let before = values(&query, "before").next();
    let before = before.map(|text| parse_id(&text)).transpose()?;
    let listed = app
        .giving
        .webhooks
        .list_donations(credentials.account, before, take + 1)
        .await?;
    let mut listed = listed.ok_or(Error::DonationNotFound)?;
    let has_more = listed.len() > take;
    listed.truncate(take);
    let body = DonationsBody {
        donations: listed
            .iter()
            .map(|donation| donation_body(donation, usize::MAX))
            .collect(),
        has_more,
    };
    let body = serde_json::to_string(&body).expect("donations are plain data");
    Ok(private_json(body))
}

/// Reads a donation to a fundraiser of the account or by one of its links, such as one that an event names.
#[utoipa::path(
    get,
    path = "/v0.2/donation/{id}",
    operation_id = "donation",
    tag = "webhooks",
    security(("privateKey" = [])),
    params(("id" = Uuid, Path, description = "The ID of the donation.", example = "01a1e506-ecb5-7254-9abb-8f29c57ae524")),
    responses(
        (status = 200, description = "The donation as it is now.", body = DonationBody),
        NotModified,
        AccountProblems,
        DonationNotFound,
        Unavailable,
    )
)]
pub async fn read(
    State(app): State<App>,
    credentials: Credentials<Events>,
    PathText(id): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let found = app
        .giving
        .webhooks
        .find_donation(credentials.account, parse_id(&id)?)
        .await?;
    let donation = found.ok_or(Error::DonationNotFound)?;
    let body = serde_json::to_vec(&donation_body(&donation, usize::MAX)).expect("donations are plain data");
    Ok(cache::hashed_json(&if_none_match, body))
}

fn parse_id(text: &str) -> Result<Uuid> {
    let id = Some(text).filter(|text| text.len() == 36);
    id.and_then(|text| Uuid::try_parse(text).ok())
        .ok_or(Error::DonationNotFound)
}
