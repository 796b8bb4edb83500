//! The events in the `webhooks` of the OpenAPI description, each with an example.

use crate::app::event_json::{
    DirectoryEventBody, DisbursementEventBody, DonationBody, FundraiserEventBody, MonthlyGiftEventBody,
    NonprofitEventBody, PingEventBody,
};
use giving::webhooks::EventKind;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::path::{
    OperationBuilder, ParameterBuilder, ParameterIn, PathItem, PathItemBuilder, PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, HttpMethod, OpenApi, Ref, RefOr, Required, ResponseBuilder};

/// The headers of every message.
const HEADERS: [(&str, &str); 3] = [
    (
        "webhook-id",
        "The ID of the event: the same for every attempt, so that a receiver can ignore duplicates.",
    ),
    (
        "webhook-timestamp",
        "When this attempt was made, in seconds since 1970. Refuse one that is more than five minutes off.",
    ),
    (
        "webhook-signature",
        "Signatures by Standard Webhooks, separated by spaces: v1 and a comma, then the HMAC-SHA256 of ID, timestamp and body, joined by dots, in base64.",
    ),
];

/// Adds the events to the description.
pub fn add(description: &mut OpenApi) {
    let mut paths = PathsBuilder::new();
    for kind in EventKind::ALL {
        paths = paths.path(kind.name(), item(kind));
    }
    description.webhooks = Some(paths.build());
}

fn item(kind: EventKind) -> PathItem {
    let (schema, about) = describe(kind);
    let name = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some([kind.name()]));
    let timestamp = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("Later for each event about the same."));
    let body: Schema = ObjectBuilder::new()
        .property("type", name)
        .property("timestamp", timestamp)
        .property("data", Ref::from_schema_name(schema))
        .required("type")
        .required("timestamp")
        .required("data")
        .into();
    let mut content = Content::new(Some(RefOr::T(body)));
    content.example = Some(example(kind));
    let body = RequestBodyBuilder::new()
        .content("application/json", content)
        .required(Some(Required::True))
        .build();
    let mut operation = OperationBuilder::new()
        .operation_id(Some(format!("event.{}", kind.name())))
        .summary(Some(kind.name()))
        .description(Some(about))
        // Not the tag of the endpoints: generators would overwrite one group of functions with the other.
        .tag("events")
        // A signature, not one of the keys that requests to this server have.
        .security(SecurityRequirement::default())
        .request_body(Some(body));
    for (name, about) in HEADERS {
        let header = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::True)
            .description(Some(about))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)));
        operation = operation.parameter(header);
    }
    let accepted = ResponseBuilder::new()
        .description("Any status from 200 to 299, within 15 seconds. Any other is a failure, and 410 disables the endpoint.");
    operation = operation.response("2XX", accepted);
    PathItemBuilder::new()
        .operation(HttpMethod::Post, operation.build())
        .build()
}

/// Returns the name of the schema of the data of an event, and what the event means.
fn describe(kind: EventKind) -> (String, &'static str) {
    let donation = || DonationBody::name().into_owned();
    let monthly_gift = || MonthlyGiftEventBody::name().into_owned();
    let disbursement = || DisbursementEventBody::name().into_owned();
    let fundraiser = || FundraiserEventBody::name().into_owned();
    match kind {
        EventKind::DonationSucceeded => (donation(), "A donation was paid."),
        EventKind::DonationRefunded => (
            donation(),
            "A donation, or a part of it, was refunded; or a refund failed and the money came back.",
        ),
        EventKind::DonationDisputed => (
            donation(),
            "The donor's bank withdrew a donation, or a part of it.",
        ),
        EventKind::DonationDisputeClosed => (
            donation(),
            "A dispute ended: it was won, and the money came back, or it was lost.",
        ),
        EventKind::MonthlyGiftStarted => (monthly_gift(), "A donor started to give every month."),
        EventKind::MonthlyGiftChanged => (
            monthly_gift(),
            "The amount of a monthly gift changed, or it was paused, resumed or, after a failed payment, paid again.",
        ),
        EventKind::MonthlyGiftPaymentFailed => (
            monthly_gift(),
            "The payment of a month failed. It is tried again unless the gift ends.",
        ),
        EventKind::MonthlyGiftCanceled => (
            monthly_gift(),
            "A monthly gift ended: its donor or an operator canceled it, or it could not be charged.",
        ),
        EventKind::DisbursementSent => (
            disbursement(),
            "A payment to a nonprofit was sent that pays donations to your fundraisers or by your links.",
        ),
        EventKind::DisbursementReturned => (
            disbursement(),
            "Such a payment came back or was voided. The money is sent again later.",
        ),
        EventKind::FundraiserCreated => (fundraiser(), "You created a fundraiser."),
        EventKind::FundraiserUpdated => (fundraiser(), "You changed a fundraiser."),
        EventKind::FundraiserClosed => (fundraiser(), "A fundraiser was closed."),
        EventKind::FundraiserReopened => (fundraiser(), "A fundraiser was opened again."),
        EventKind::FundraiserHidden => (fundraiser(), "An operator hid a fundraiser."),
        EventKind::FundraiserShown => (
            fundraiser(),
            "An operator approved a fundraiser, or showed it again.",
        ),
        EventKind::FundraiserGoalReached => (fundraiser(), "A fundraiser reached the goal that you set."),
        EventKind::NonprofitUpdated => (
            NonprofitEventBody::name().into_owned(),
            "An import changed the name, the slug or the status of a nonprofit of one of your open fundraisers.",
        ),
        EventKind::DirectoryUpdated => (
            DirectoryEventBody::name().into_owned(),
            "An import changed the directory. The cursor lists its changes at /v0.2/changes.",
        ),
        EventKind::Ping => (PingEventBody::name().into_owned(), "A test that you asked for."),
    }
}

/// An example of an event, recorded from a real one.
fn example(kind: EventKind) -> Value {
    let examples: Value =
        serde_json::from_str(include_str!("../examples/webhook-events.json")).expect("examples are JSON");
    examples[kind.name()].clone()
}
