//! The JSON of events: in webhooks, in the log of events, and in lists of donations.

use crate::app::urls::Urls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use giving::fundraisers::Status;
use giving::webhooks::deliveries::attempt::Render;
use giving::webhooks::events::content::{
    Content, Data, DirectoryData, DonationData, FundraiserData, MovementData, NonprofitData,
};
use giving::webhooks::{EventKind, Format};
use platform::clock::rfc3339;
use platform::money::Cents;
use platform::text::cut;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use utoipa::ToSchema;
use uuid::Uuid;

/// The size under which bodies stay.
const MAX_BODY_BYTES: usize = 20_000;
const MAX_NAME_CHARS: usize = 120;

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
    /// A refund is succeeded or failed; a dispute is open or won.
    status: &'static str,
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
        Format::Partner => partner(content).to_string(),
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
        frequency: if donation.is_monthly {
            Frequency::Monthly
        } else {
            Frequency::Once
        },
        donated_at: rfc3339(donation.donated_at),
        fundraiser: donation.fundraiser.as_ref().map(|fundraiser| FundraiserNameBody {
            id: fundraiser.id.0,
            slug: fundraiser.slug.clone(),
            title: fundraiser.title.clone(),
        }),
        nonprofits: shares.collect(),
        more_nonprofits: donation.nonprofits.len() > max,
        donor: donation.donor.as_ref().map(|donor| DonorBody {
            name: donor.name.clone(),
            email: donor.email.clone(),
        }),
        partner_donation_id: donation.partner_donation_id.clone(),
        partner_metadata: donation.partner_metadata.clone(),
        designation: donation.designation.clone(),
        by_your_link: donation.is_by_own_link,
        refund: None,
        dispute: None,
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

/// Writes the flat body that receivers of the hosted service parse. A test of an endpoint is a donation of nothing.
fn partner(content: &Content) -> Value {
    let Data::Donation(donation, _) = &content.data else {
        return json!({
            "chargeId": content.id,
            "partnerDonationId": "test",
            "partnerMetadata": {"test": true},
            "toNonprofit": {"slug": "test", "ein": "000000000", "name": "Test"},
            "amount": "0.00",
            "netAmount": "0.00",
            "currency": "USD",
            "frequency": "One-time",
            "donationDate": rfc3339(content.occurred_at),
            "paymentMethod": "test",
        });
    };
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            body.insert(name.to_owned(), value);
        }
    };
    set("chargeId", donation.id.to_string().into());
    set("partnerDonationId", donation.partner_donation_id.clone().into());
    set(
        "partnerMetadata",
        metadata_object(donation.partner_metadata.as_deref()),
    );
    let name = donation.donor.as_ref().and_then(|donor| donor.name.as_deref());
    if let Some(name) = name {
        let (first, last) = name.split_once(' ').unwrap_or((name, ""));
        set("firstName", first.into());
        set("lastName", last.into());
    }
    let email = donation.donor.as_ref().and_then(|donor| donor.email.clone());
    set("email", email.into());
    if let Some((nonprofit, _)) = donation.nonprofits.first() {
        let name = name_of(nonprofit);
        set(
            "toNonprofit",
            json!({"slug": name.slug, "ein": name.ein, "name": name.name}),
        );
    }
    set("amount", dollars(donation.amount).into());
    set(
        "netAmount",
        dollars(Cents::new(donation.amount.get() - donation.fee.get())).into(),
    );
    set("currency", "USD".into());
    set(
        "frequency",
        if donation.is_monthly {
            "Monthly"
        } else {
            "One-time"
        }
        .into(),
    );
    set("donationDate", rfc3339(donation.donated_at).into());
    if let Some(fundraiser) = &donation.fundraiser {
        set(
            "fromFundraiser",
            json!({"id": fundraiser.id.0, "title": fundraiser.title, "slug": fundraiser.slug}),
        );
    }
    set("designation", donation.designation.clone().into());
    set(
        "paymentMethod",
        if donation.charge.is_some() {
            "card"
        } else {
            "other"
        }
        .into(),
    );
    Value::Object(body)
}

/// Receivers parse the metadata as an object. Links have it as JSON, as base64 of JSON, or as any text.
fn metadata_object(text: Option<&str>) -> Value {
    let Some(text) = text else {
        return json!({});
    };
    let decoded = BASE64_STANDARD.decode(text).ok();
    let parsed = serde_json::from_str(text).ok();
    let parsed = parsed.or_else(|| serde_json::from_slice(&decoded?).ok());
    match parsed {
        Some(Value::Object(object)) => Value::Object(object),
        _ => json!({"text": text}),
    }
}

/// Returns an amount as text in dollars, such as `25.50`.
fn dollars(amount: Cents) -> String {
    let cents = amount.get();
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::ids::NonprofitId;

    #[test]
    fn metadata_is_an_object_however_the_link_has_it() {
        let object = json!({"a": 1});
        assert_eq!(metadata_object(Some(r#"{"a":1}"#)), object);
        assert_eq!(metadata_object(Some("eyJhIjoxfQ==")), object);
        assert_eq!(metadata_object(Some("order 17")), json!({"text": "order 17"}));
        assert_eq!(metadata_object(Some("[1]")), json!({"text": "[1]"}));
        assert_eq!(metadata_object(None), json!({}));
        assert_eq!(dollars(Cents::new(2_505)), "25.05");
    }

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
            is_monthly: false,
            fundraiser: None,
            nonprofits: vec![(nonprofit, Cents::new(1)); 100],
            donor: None,
            partner_donation_id: Some("é".repeat(255)),
            partner_metadata: Some("𝕏".repeat(2_000)),
            designation: Some("\"".repeat(255)),
            is_by_own_link: true,
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
