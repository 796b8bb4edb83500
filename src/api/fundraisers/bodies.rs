//! The response bodies with fundraisers.
//!
//! The nonprofits in them are JSON that `app::nonprofit_json` writes, as in all other responses.

use crate::api::bodies::{NonprofitBody, TagBody};
use crate::app::App;
use crate::app::urls::Urls;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::goal::Goal;
use giving::fundraisers::{Fundraiser, Status};
use platform::clock::rfc3339;
use platform::money::Cents;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// A fundraiser, its creator, the nonprofits it supports, and their causes.
#[derive(Serialize, ToSchema)]
pub struct FundraiserDetailsBody<'a> {
    #[schema(example = "OK")]
    pub message: &'static str,
    pub data: FundraiserDetails<'a>,
}

#[derive(Serialize, ToSchema)]
pub struct FundraiserDetails<'a> {
    pub fundraiser: FundraiserBody<'a>,
    /// The creator. Empty if the account was deleted.
    pub users: Vec<UserBody>,
    /// The nonprofits it supports, in the order sent.
    #[schema(value_type = Vec<NonprofitBody>)]
    pub nonprofits: Box<RawValue>,
    #[schema(value_type = Vec<TagBody>)]
    pub tags: Box<RawValue>,
}

/// A fundraiser that was created or changed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WrittenBody<'a> {
    #[schema(example = "OK")]
    pub message: &'static str,
    pub data: WrittenData<'a>,
    /// True, and only present, if nothing was saved because of `dryRun`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

#[derive(Serialize, ToSchema)]
pub struct WrittenData<'a> {
    pub fundraiser: FundraiserBody<'a>,
}

#[derive(Serialize, ToSchema)]
pub struct UserBody {
    pub id: Uuid,
    pub username: String,
}

/// Who can see a fundraiser. IN_REVIEW and HIDDEN: only its account and operators. CLOSED: everyone, but it accepts no
/// donations.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FundraiserStatus {
    Published,
    InReview,
    Hidden,
    Closed,
}

impl From<Status> for FundraiserStatus {
    fn from(status: Status) -> FundraiserStatus {
        match status {
            Status::Published => FundraiserStatus::Published,
            Status::InReview => FundraiserStatus::InReview,
            Status::Hidden => FundraiserStatus::Hidden,
            Status::Closed => FundraiserStatus::Closed,
        }
    }
}

/// A fundraiser.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FundraiserBody<'a> {
    #[schema(example = "Fundraiser")]
    entity_name: &'static str,
    id: Uuid,
    created_at: String,
    /// The nonprofit it supports, or ddacc399-20c5-462e-80e1-97fa958071ea if it supports several.
    nonprofit_id: Uuid,
    creator_user_id: Uuid,
    #[schema(required)]
    creator_nonprofit_id: Option<Uuid>,
    /// Its name in URLs.
    slug: &'a str,
    title: &'a str,
    #[schema(required)]
    description: Option<&'a str>,
    cover_image_hosted_id: String,
    /// The same ID under the name that clients of the hosted service read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    cover_image_cloudinary_id: Option<String>,
    /// Always a picture: a generated one if none was sent.
    cover_image_url: String,
    /// Whether it is published and within its dates.
    active: bool,
    status: FundraiserStatus,
    #[schema(required)]
    start_date: Option<String>,
    #[schema(required)]
    end_date: Option<String>,
    #[schema(required)]
    pinned_at: Option<String>,
    /// The goal set by the creator, in cents. Null if the goal is automatic.
    #[schema(required)]
    goal_amount: Option<i64>,
    #[schema(example = "USD")]
    goal_currency: &'static str,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    #[schema(required)]
    parent_fundraiser_id: Option<Uuid>,
    children_fundraiser_ids: Vec<Uuid>,
    event_ids: Vec<Uuid>,
    /// MULTIPLE_NONPROFITS, or null if it supports one nonprofit.
    #[schema(required)]
    r#type: Option<&'static str>,
    /// The amount raised elsewhere, in cents, as reported by the creator.
    #[schema(required)]
    raised_offline: Option<i64>,
    /// Its public page.
    url: String,
    /// False on a server in test mode, whose totals include test donations.
    livemode: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_nonprofits: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_nonprofit_weights: Option<Vec<f64>>,
}

/// What the bodies of fundraisers say about the server.
#[derive(Clone, Debug)]
pub struct BodyContext {
    urls: Urls,
    livemode: bool,
    /// Whether clients that were written for the hosted service get the fields that they read.
    existing_clients: bool,
}

impl BodyContext {
    pub fn new(app: &App) -> BodyContext {
        BodyContext {
            urls: app.site.urls.clone(),
            livemode: !app.is_test_mode(),
            existing_clients: app.config.compat.existing_clients,
        }
    }
}

impl<'a> FundraiserBody<'a> {
    /// Builds the body; `nonprofit` is the slug of the nonprofit in URLs.
    pub fn new(
        fundraiser: &'a Fundraiser,
        nonprofit: &str,
        context: &BodyContext,
        now: i64,
    ) -> FundraiserBody<'a> {
        let urls = &context.urls;
        let (cover_image_hosted_id, cover_image_url) =
            urls.fundraiser_cover(fundraiser.id, fundraiser.cover.as_deref());
        let is_multiple = fundraiser.is_multiple();
        let supported = || is_multiple.then_some(&fundraiser.supported);
        FundraiserBody {
            entity_name: "Fundraiser",
            id: fundraiser.id.0,
            created_at: rfc3339(fundraiser.created_at),
            nonprofit_id: fundraiser.nonprofit.0,
            creator_user_id: fundraiser.account.0,
            creator_nonprofit_id: None,
            slug: &fundraiser.slug,
            title: &fundraiser.title,
            description: fundraiser.description.as_deref(),
            cover_image_cloudinary_id: context.existing_clients.then(|| cover_image_hosted_id.clone()),
            cover_image_hosted_id,
            cover_image_url,
            active: fundraiser.is_active(now),
            status: fundraiser.status().into(),
            start_date: fundraiser.starts_at.map(rfc3339),
            end_date: fundraiser.ends_at.map(rfc3339),
            pinned_at: None,
            goal_amount: fundraiser.goal.map(platform::money::Cents::get),
            goal_currency: "USD",
            metadata: Map::new(),
            parent_fundraiser_id: None,
            children_fundraiser_ids: Vec::new(),
            event_ids: Vec::new(),
            r#type: is_multiple.then_some("MULTIPLE_NONPROFITS"),
            raised_offline: fundraiser.offline.map(Cents::get),
            url: urls.fundraiser(nonprofit, &fundraiser.slug),
            livemode: context.livemode,
            for_nonprofits: supported().map(|list| list.iter().map(|(id, _)| id.0).collect()),
            for_nonprofit_weights: supported().map(|list| list.iter().map(|(_, weight)| *weight).collect()),
        }
    }
}

/// Returns the body of the response to a write, as JSON.
pub fn to_json(
    fundraiser: &Fundraiser,
    nonprofit: &str,
    context: &BodyContext,
    now: i64,
    dry_run: bool,
) -> String {
    let body = WrittenBody {
        message: "OK",
        data: WrittenData {
            fundraiser: FundraiserBody::new(fundraiser, nonprofit, context, now),
        },
        dry_run,
    };
    serde_json::to_string(&body).expect("a fundraiser is plain data")
}

/// The amount that a fundraiser has raised.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RaisedBody {
    #[schema(example = "USD")]
    currency: &'static str,
    /// Donations and the amount raised elsewhere, minus refunds, in cents.
    raised: i64,
    /// The number of distinct donors.
    supporters: i64,
    /// The current goal, in cents.
    goal_amount: i64,
    /// CUSTOM if the creator set the goal, AUTOMATIC if it grows with the amount raised.
    #[schema(example = "AUTOMATIC")]
    goal_type: &'static str,
    /// False on a server in test mode, whose totals include test donations.
    livemode: bool,
}

impl RaisedBody {
    pub fn new(shown: &FundraiserWithTotals, is_test_mode: bool) -> RaisedBody {
        let totals = shown.totals.counted(is_test_mode);
        let raised = totals.raised;
        let goal = Goal::after(raised, shown.fundraiser.goal);
        RaisedBody {
            currency: "USD",
            raised: raised.get(),
            supporters: totals.supporters,
            goal_amount: goal.amount().get(),
            goal_type: match goal {
                Goal::Custom(_) => "CUSTOM",
                Goal::Automatic(_) => "AUTOMATIC",
            },
            livemode: !is_test_mode,
        }
    }

    /// Returns an entity tag made of all fields.
    pub fn tag(&self) -> String {
        format!(
            "\"{:x}-{:x}-{:x}-{}-{}\"",
            self.raised, self.supporters, self.goal_amount, self.goal_type, self.livemode
        )
    }
}
