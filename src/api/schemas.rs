//! The schemas of parameters and fields that follow rules of our own, for the OpenAPI description.
//!
//! They say exactly what the API accepts, so that a generated client or a fuzzer can rely on them: `make fuzz-api` checks
//! that. Rules between two fields, such as an end after a start, are in the descriptions.

use giving::webhooks::EventKind;
use serde_json::json;
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// Declares types that are only schemas.
///
/// A field of such a type must have no doc comment: utoipa would add a second schema for it, of an object.
macro_rules! schemas {
    ($($(#[$doc:meta])* $name:ident = $schema:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    $schema.into()
                }
            }

            impl ToSchema for $name {}
        )*
    };
}

schemas! {
    /// A whole number greater than zero. Values above the maximum of an endpoint are reduced to it.
    PositiveInteger = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    /// A parameter that is on or off.
    Switch = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["0", "1", "false", "true"]));
    /// The value of `near`: a ZIP code, or latitude and longitude.
    NearText = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!(r"^([0-9]{{5}}(-[0-9]{{4}})?|-?({LATITUDE}), ?-?({LONGITUDE}))$")))
        .examples([json!("97201"), json!("45.52,-122.68")]);
    /// The value of `radius` in miles.
    RadiusMiles = ObjectBuilder::new()
        .schema_type(Type::Number)
        .minimum(Some(1))
        .maximum(Some(500));
    /// The value of `include` of the details route.
    IncludeName = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["sources"]));
    /// A text of a row to match, which other programs may write as a number.
    MatchText = ObjectBuilder::new()
        .schema_type(SchemaType::Array(vec![Type::String, Type::Number, Type::Null]))
        .max_length(Some(1_024));
    /// The value of an `Idempotency-Key`.
    IdempotencyKeyText = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[!-~]([ -~]{0,253}[!-~])?$"));
    /// The title of a fundraiser: one line of 1 to 120 characters, without leading and trailing whitespace.
    Title = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("One line of 1 to 120 characters. Leading and trailing whitespace is removed."))
        .pattern(Some(format!("^[{BLANK}]*[{VISIBLE}]([{PRINTABLE}]{{0,118}}[{VISIBLE}])?[{BLANK}]*$")));
    /// The description of a fundraiser, or null.
    Description = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .max_length(Some(20_000))
        .pattern(Some(r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$"));
    /// When a fundraiser starts, or null.
    StartDate = date().description(Some("Date, time and time zone, between 1970 and 2199."));
    /// When a fundraiser ends, or null.
    EndDate = date().description(Some("Date, time and time zone, between 1970 and 2199. Must be after startDate."));
    /// The currency of a fundraiser.
    Currency = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["USD"]))
        .description(Some("USD, which is also the default."));
    /// The name of an event.
    EventName = event_name();
    /// Names of events, separated by commas.
    EventNames = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^({names})(,({names}))*$", names = EventKind::ALL.map(EventKind::name).join("|").replace('.', "\\."))));
    /// The events of a webhook endpoint, or null.
    EventList = ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .description(Some("The events to send. When an endpoint is created, all by default."))
        .items(event_name())
        .min_items(Some(1))
        .unique_items(true);
    /// The URL of a webhook endpoint.
    WebhookUrl = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(2_000))
        .description(Some(
            "An https URL with a public host name, port 443 or one from 1024 on, and no credentials or fragment."
        ));
    /// What a webhook endpoint is for, or null.
    WebhookDescription = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .max_length(Some(200))
        .pattern(Some(format!("^[{PRINTABLE}]*$")));
    /// The format of bodies, or null.
    WebhookFormat = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .enum_values(Some([Some("standard"), Some("partner"), None]))
        .description(Some("standard, or partner for receivers that were written for the hosted service: donation.succeeded alone."));
    /// A fixed token, or null.
    BearerToken = ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .pattern(Some("^[!-~]{1,500}$"))
        .description(Some("A fixed token to send as Authorization: Bearer, only with the format partner. It is never shown again."));
    /// Whether a webhook endpoint is used.
    WebhookSwitch = ObjectBuilder::new().schema_type(nullable(Type::String)).enum_values(Some([Some("enabled"), Some("disabled"), None]));
    /// What became of a delivery.
    DeliveryStatus = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["waiting", "delivered", "failed"]));
    /// The weights of nonprofits, or null.
    Weights = ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .description(Some("One number for each of forNonprofits. By default all are equal."))
        .items(ObjectBuilder::new()
            .schema_type(Type::Number)
            .exclusive_minimum(Some(0))
            .maximum(Some(1_000_000_000_000_u64)));
}

/// The parameters that restrict a list to nonprofits near a place.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "it only describes the parameters, which are read by `Near::parse`"
)]
pub struct NearParams {
    /// Only nonprofits near this place: a ZIP code, or latitude and longitude in degrees. Each result then has its
    /// distance, which is that of its ZIP code; the order stays the same.
    #[param(inline, required = false)]
    near: NearText,
    /// How far from near, in miles: 25 by default. Needs near.
    #[param(inline, required = false)]
    radius: RadiusMiles,
}

const LATITUDE: &str = r"90(\.0+)?|[0-8]?[0-9](\.[0-9]+)?";
const LONGITUDE: &str = r"180(\.0+)?|(1[0-7][0-9]|[0-9]?[0-9])(\.[0-9]+)?";

/// Unicode whitespace (`White_Space`), which is removed at the ends of a title.
const BLANK: &str = r"\u0009-\u000D \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";
/// Neither control characters nor whitespace.
const VISIBLE: &str = r"^\u0000-\u0020\u007F-\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";
/// No control characters.
const PRINTABLE: &str = r"^\u0000-\u001F\u007F-\u009F";

fn date() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(nullable(Type::String))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .pattern(Some("^(19[7-9]|2[01][0-9])[0-9]-"))
}

fn event_name() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(EventKind::ALL.map(EventKind::name)))
}

fn nullable(of: Type) -> SchemaType {
    SchemaType::Array(vec![of, Type::Null])
}
