//! The JSON of events: in webhooks, in the log of events, and in lists of donations.

mod partner;

use crate::app::urls::Urls;
use giving::fundraisers::Status;
use giving::ledger::entry::Mode;
use giving::webhooks::deliveries::attempt::Render;
use giving::webhooks::events::content::{
    Content, Data, DirectoryData, DisbursementData, DonationData, Donor, FundraiserData, FundraiserName,
    MonthlyGiftData, MovementData, NonprofitData,
};
use giving::webhooks::{EventKind, Format};
use partner::MAX_NAME_CHARS;
use platform::clock::rfc3339;
use platform::money::Cents;
use platform::text::cut;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use uuid::Uuid;

/// The size under which bodies stay.
const MAX_BODY_BYTES: usize = 20_000;

/// A donation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DonationBody {
    id: Uuid,
    /// False for a test: no money was charged.
    livemode: bool,
    #[schema(inline)]
    status: DonationStatus,
    /// What the donor paid, in cents.
    amount: i64,
    /// How much of it went back to the donor, by refunds and disputes.
    amount_refunded: i64,
    #[schema(example = "USD")]
    currency: &'static str,
    #[schema(inline)]
    frequency: Frequency,
    /// The ID of the monthly gift that it belongs to.
    #[schema(required)]
    monthly_gift: Option<Uuid>,
    donated_at: String,
    #[schema(required)]
    fundraiser: Option<FundraiserNameBody>,
    /// The nonprofits that receive it, with their shares.
    nonprofits: Vec<ShareBody>,
    /// Whether there are nonprofits that did not fit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_nonprofits: bool,
    /// The donor, only if the donor agreed to share it.
    #[schema(required)]
    donor: Option<DonorBody>,
    /// What the donate link passed on.
    #[schema(required)]
    partner_donation_id: Option<String>,
    #[schema(required)]
    partner_metadata: Option<String>,
    #[schema(required)]
    designation: Option<String>,
    /// Whether a link with the webhook token of your account brought it.
    by_your_link: bool,
    /// The refund that an event is about. Only in `donation.refunded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    refund: Option<MovementBody>,
    /// The dispute that an event is about. Only in `donation.disputed` and `donation.dispute_closed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dispute: Option<MovementBody>,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum DonationStatus {
    Succeeded,
    PartiallyRefunded,
    Refunded,
    Disputed,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Frequency {
    Once,
    Monthly,
}

#[derive(Serialize, ToSchema)]
struct FundraiserNameBody {
    id: Uuid,
    slug: String,
    title: String,
}

#[derive(Serialize, ToSchema)]
struct DonorBody {
    #[schema(required)]
    name: Option<String>,
    #[schema(required)]
    email: Option<String>,
}

/// A nonprofit and its share of a donation.
#[derive(Serialize, ToSchema)]
struct ShareBody {
    #[serde(flatten)]
    nonprofit: NonprofitNameBody,
    /// In cents.
    amount: i64,
}

/// A nonprofit, as the directory has it now.
#[derive(Serialize, ToSchema)]
struct NonprofitNameBody {
    id: Uuid,
    name: String,
    /// Nine digits.
    #[schema(required)]
    ein: Option<String>,
    #[schema(required)]
    slug: Option<String>,
}

/// A refund or dispute.
#[derive(Serialize, ToSchema)]
struct MovementBody {
    id: String,
    /// In cents.
    amount: i64,
    /// A refund is succeeded or failed; a dispute is open, won or lost.
    status: &'static str,
}

/// A donation that is given again every month.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonthlyGiftEventBody {
    /// Its first donation has the same ID.
    id: Uuid,
    /// False for a test: no money is charged.
    livemode: bool,
    /// active, past_due (the last payment failed), paused or canceled, as it is now.
    status: &'static str,
    /// What is charged each month, in cents.
    amount: i64,
    #[schema(example = "USD")]
    currency: &'static str,
    started_at: String,
    /// When the donor is charged next. Null if that is open.
    #[schema(required)]
    next_charge_at: Option<String>,
    #[schema(required)]
    canceled_at: Option<String>,
    #[schema(required)]
    fundraiser: Option<FundraiserNameBody>,
    /// The nonprofits that receive it.
    nonprofits: Vec<NonprofitNameBody>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_nonprofits: bool,
    /// The donor, only if the donor agreed to share it.
    #[schema(required)]
    donor: Option<DonorBody>,
    /// What the donate link passed on.
    #[schema(required)]
    partner_donation_id: Option<String>,
    #[schema(required)]
    partner_metadata: Option<String>,
    #[schema(required)]
    designation: Option<String>,
    /// Whether a link with the webhook token of your account brought it.
    by_your_link: bool,
    /// The names of the fields that changed: amount or status. Only `monthly_gift.changed` has any.
    changed: Vec<String>,
}

/// A payment to a nonprofit: the part that pays donations to your fundraisers and by your links.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisbursementEventBody {
    /// The number of the payment on the statement of the nonprofit.
    #[schema(example = "7-12")]
    id: String,
    /// False for a test: no money is sent.
    livemode: bool,
    /// sent or returned.
    status: &'static str,
    /// What the nonprofit gets for these donations, less fees, refunds and disputes, in cents.
    amount: i64,
    #[schema(example = "USD")]
    currency: &'static str,
    nonprofit: NonprofitNameBody,
    /// The donations, each with what the nonprofit gets of it.
    donations: Vec<PaidDonationBody>,
    /// Whether there are donations that did not fit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_donations: bool,
}

/// A donation in a payment to a nonprofit.
#[derive(Serialize, ToSchema)]
struct PaidDonationBody {
    id: Uuid,
    /// In cents. Below zero if it was paid before and went back to the donor since.
    amount: i64,
}

/// A fundraiser in an event.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FundraiserEventBody {
    id: Uuid,
    slug: String,
    title: String,
    /// PUBLISHED, IN_REVIEW, HIDDEN or CLOSED, as it is now.
    status: &'static str,
    url: String,
    #[schema(required)]
    start_date: Option<String>,
    #[schema(required)]
    end_date: Option<String>,
    /// In cents. Null if the goal grows with the amount raised.
    #[schema(required)]
    goal_amount: Option<i64>,
    nonprofits: Vec<NonprofitNameBody>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_nonprofits: bool,
    /// The names of the fields that changed. Empty if it was created or reached its goal.
    changed: Vec<String>,
    /// What it had raised when it reached its goal, in cents. Only in `fundraiser.goal_reached`, as is the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    raised: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    livemode: Option<bool>,
}

/// A nonprofit of one of your open fundraisers that an import changed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NonprofitEventBody {
    #[serde(flatten)]
    nonprofit: NonprofitNameBody,
    is_disbursable: bool,
    profile_url: String,
    /// What changed in the directory, such as name, slug or status.
    changed: Vec<String>,
}

/// An import into the directory.
#[derive(Serialize, ToSchema)]
pub struct DirectoryEventBody {
    added: i64,
    changed: i64,
    removed: i64,
    /// The value of since with which `/v0.2/changes` begins at this import. Null if too much changed to list it.
    #[schema(required)]
    cursor: Option<String>,
}

/// A test of an endpoint.
#[derive(Serialize, ToSchema)]
pub struct PingEventBody {
    /// The ID of the endpoint.
    #[schema(required)]
    webhook: Option<Uuid>,
}

/// Writes events for a server with these URLs.
pub fn renderer(urls: Urls) -> Render {
    Arc::new(move |content, format| match format {
        Format::Standard => standard(content, &urls),
        Format::Partner => partner::body(content).to_string(),
    })
}

/// Writes the body of a webhook in the standard format.
fn standard(content: &Content, urls: &Urls) -> String {
    envelope(content, urls, None).to_string()
}

/// Writes an event of the log: the body of a webhook with the ID.
pub fn log_entry(content: &Content, urls: &Urls) -> Value {
    envelope(content, urls, Some(&content.id))
}

fn envelope(content: &Content, urls: &Urls, id: Option<&str>) -> Value {
    // A body has at most so many nonprofits that it stays below the limit.
    let mut max = usize::MAX;
    loop {
        let mut body = Map::new();
        if let Some(id) = id {
            body.insert("id".to_owned(), id.into());
        }
        body.insert("type".to_owned(), content.kind.name().into());
        body.insert("timestamp".to_owned(), rfc3339(content.occurred_at).into());
        body.insert("data".to_owned(), data(content, urls, max));
        let body = Value::Object(body);
        let length = body.to_string().len();
        if length < MAX_BODY_BYTES || max == 0 {
            return body;
        }
        max = max.min(128) / 2;
    }
}

fn data(content: &Content, urls: &Urls, max: usize) -> Value {
    let data = match &content.data {
        Data::Donation(donation, movement) => {
            let body = donation_body(donation, max);
            serde_json::to_value(with_movement(body, content.kind, movement.as_ref()))
        }
        Data::MonthlyGift(gift) => serde_json::to_value(monthly_gift_body(gift, max)),
        Data::Disbursement(paid) => serde_json::to_value(disbursement_body(content.kind, paid, max)),
        Data::Fundraiser(fundraiser) => serde_json::to_value(fundraiser_body(fundraiser, urls, max)),
        Data::Nonprofit(nonprofit, changed) => serde_json::to_value(NonprofitEventBody {
            is_disbursable: nonprofit.is_disbursable,
            profile_url: urls.profile(nonprofit.slug.as_deref().unwrap_or_default()),
            nonprofit: name_of(nonprofit),
            changed: changed.clone(),
        }),
        Data::Directory(directory) => serde_json::to_value(directory_body(directory)),
        Data::Ping { endpoint } => serde_json::to_value(PingEventBody { webhook: *endpoint }),
    };
    data.expect("events are plain data")
}

fn directory_body(directory: &DirectoryData) -> DirectoryEventBody {
    DirectoryEventBody {
        added: directory.added,
        changed: directory.changed,
        removed: directory.removed,
        cursor: directory.cursor.clone(),
    }
}

/// Returns a donation as the API shows it, with at most so many nonprofits.
pub fn donation_body(donation: &DonationData, max: usize) -> DonationBody {
    let checkout = &donation.checkout;
    let refunded = donation.amount.get() - donation.left.get();
    let shares = donation.nonprofits.iter();
    let shares = shares.take(max).map(|(nonprofit, amount)| ShareBody {
        nonprofit: name_of(nonprofit),
        amount: amount.get(),
    });
    DonationBody {
        id: donation.id,
        livemode: donation.is_live,
        status: if refunded == 0 {
            DonationStatus::Succeeded
        } else if donation.disputed > Cents::ZERO {
            DonationStatus::Disputed
        } else if donation.left > Cents::ZERO {
            DonationStatus::PartiallyRefunded
        } else {
            DonationStatus::Refunded
        },
        amount: donation.amount.get(),
        amount_refunded: refunded,
        currency: "USD",
        frequency: if donation.monthly_gift.is_some() {
            Frequency::Monthly
        } else {
            Frequency::Once
        },
        monthly_gift: donation.monthly_gift,
        donated_at: rfc3339(donation.donated_at),
        fundraiser: donation.fundraiser.as_ref().map(FundraiserNameBody::from),
        nonprofits: shares.collect(),
        more_nonprofits: donation.nonprofits.len() > max,
        donor: checkout.donor.as_ref().map(DonorBody::from),
        partner_donation_id: checkout.partner_donation_id.clone(),
        partner_metadata: checkout.partner_metadata.clone(),
        designation: checkout.designation.clone(),
        by_your_link: checkout.is_by_own_link,
        refund: None,
        dispute: None,
    }
}

fn monthly_gift_body(data: &MonthlyGiftData, max: usize) -> MonthlyGiftEventBody {
    let (gift, checkout) = (&data.gift, &data.checkout);
    let status = &gift.status;
    MonthlyGiftEventBody {
        id: gift.id,
        livemode: gift.mode == Mode::Live,
        status: status.state.as_str(),
        amount: status.amount.get(),
        currency: "USD",
        started_at: rfc3339(gift.started_at),
        next_charge_at: status.next_charge_at().map(rfc3339),
        canceled_at: status.canceled_at.map(rfc3339),
        fundraiser: data.fundraiser.as_ref().map(FundraiserNameBody::from),
        nonprofits: data.nonprofits.iter().take(max).map(name_of).collect(),
        more_nonprofits: data.nonprofits.len() > max,
        donor: checkout.donor.as_ref().map(DonorBody::from),
        partner_donation_id: checkout.partner_donation_id.clone(),
        partner_metadata: checkout.partner_metadata.clone(),
        designation: checkout.designation.clone(),
        by_your_link: checkout.is_by_own_link,
        changed: data.changed.clone(),
    }
}

fn disbursement_body(kind: EventKind, data: &DisbursementData, max: usize) -> DisbursementEventBody {
    let donations = data.donations.iter().take(max);
    let donations: Vec<_> = donations
        .map(|(id, amount)| PaidDonationBody {
            id: *id,
            amount: amount.get(),
        })
        .collect();
    DisbursementEventBody {
        id: data.id.clone(),
        livemode: data.is_live,
        status: if kind == EventKind::DisbursementReturned {
            "returned"
        } else {
            "sent"
        },
        amount: data.amount.get(),
        currency: "USD",
        nonprofit: name_of(&data.nonprofit),
        more_donations: (donations.len() as i64) < data.count,
        donations,
    }
}

impl From<&FundraiserName> for FundraiserNameBody {
    fn from(fundraiser: &FundraiserName) -> FundraiserNameBody {
        FundraiserNameBody {
            id: fundraiser.id.0,
            slug: fundraiser.slug.clone(),
            title: fundraiser.title.clone(),
        }
    }
}

impl From<&Donor> for DonorBody {
    fn from(donor: &Donor) -> DonorBody {
        DonorBody {
            name: donor.name.clone(),
            email: donor.email.clone(),
        }
    }
}

fn with_movement(body: DonationBody, kind: EventKind, movement: Option<&MovementData>) -> DonationBody {
    let Some(movement) = movement else { return body };
    let written = |status: [&'static str; 2]| {
        Some(MovementBody {
            id: movement.id.clone(),
            amount: movement.amount.get(),
            status: status[usize::from(movement.is_reversed)],
        })
    };
    match kind {
        EventKind::DonationRefunded => DonationBody {
            refund: written(["succeeded", "failed"]),
            ..body
        },
        EventKind::DonationDisputeClosed => DonationBody {
            dispute: written(["lost", "won"]),
            ..body
        },
        _ => DonationBody {
            dispute: written(["open", "won"]),
            ..body
        },
    }
}

fn fundraiser_body(data: &FundraiserData, urls: &Urls, max: usize) -> FundraiserEventBody {
    let fundraiser = &data.fundraiser;
    FundraiserEventBody {
        id: fundraiser.id.0,
        slug: fundraiser.slug.clone(),
        title: fundraiser.title.clone(),
        status: Status::as_str(fundraiser.status()),
        url: urls.fundraiser(&data.nonprofit_slug, &fundraiser.slug),
        start_date: fundraiser.starts_at.map(rfc3339),
        end_date: fundraiser.ends_at.map(rfc3339),
        goal_amount: fundraiser.goal.map(Cents::get),
        nonprofits: data.nonprofits.iter().take(max).map(name_of).collect(),
        more_nonprofits: data.nonprofits.len() > max,
        changed: data.changed.clone(),
        raised: data.raised.map(|(raised, _)| raised.get()),
        livemode: data.raised.map(|(_, is_live)| is_live),
    }
}

fn name_of(nonprofit: &NonprofitData) -> NonprofitNameBody {
    NonprofitNameBody {
        id: nonprofit.id.0,
        name: cut(&nonprofit.name, MAX_NAME_CHARS).to_owned(),
        ein: nonprofit.ein.clone(),
        slug: nonprofit.slug.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use giving::webhooks::events::content::CheckoutData;
    use platform::ids::NonprofitId;

    #[test]
    fn a_body_stays_below_its_limit_whatever_a_donation_has() {
        let nonprofit = NonprofitData {
            id: NonprofitId(Uuid::nil()),
            name: "\"".repeat(500),
            ein: Some("530196605".to_owned()),
            slug: Some("x".repeat(100)),
            is_disbursable: true,
        };
        let donation = DonationData {
            id: Uuid::nil(),
            is_live: true,
            amount: Cents::new(100),
            left: Cents::new(100),
            disputed: Cents::ZERO,
            fee: Cents::ZERO,
            donated_at: 0,
            monthly_gift: None,
            fundraiser: None,
            nonprofits: vec![(nonprofit, Cents::new(1)); 100],
            checkout: CheckoutData {
                donor: None,
                partner_donation_id: Some("é".repeat(255)),
                partner_metadata: Some("𝕏".repeat(2_000)),
                designation: Some("\"".repeat(255)),
                is_by_own_link: true,
            },
            charge: None,
        };
        let content = Content {
            id: "evt_1".to_owned(),
            kind: EventKind::DonationSucceeded,
            occurred_at: 0,
            data: Data::Donation(Box::new(donation), None),
        };
        let body = standard(&content, &Urls::new("https://causeway.example"));
        assert!(body.len() < MAX_BODY_BYTES, "{}", body.len());
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["data"]["moreNonprofits"], true);
        assert!(body["data"]["nonprofits"].as_array().unwrap().len() > 10);
    }
}
