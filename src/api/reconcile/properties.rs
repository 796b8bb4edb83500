//! The properties of nonprofits: those that queries compare, and those that data extension adds.

use super::entity::{Named, TYPE_ID, json};
use crate::app::urls::Urls;
use crate::http::error::Result;
use crate::http::params::{RawQuery, positive, values};
use axum::response::Response;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::Causes;
use directory::nonprofits::ntee::Ntee;
use serde::Serialize;

/// A property of nonprofits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    Ein,
    Name,
    City,
    State,
    Zip,
    Causes,
    Revenue,
    Assets,
    Website,
    NteeCode,
    Description,
    Profile,
    IsDisbursable,
}

/// A value of a property, in the form of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PropertyValue {
    Str(String),
    Int(i64),
}

impl Property {
    pub const ALL: [Property; 13] = [
        Property::Ein,
        Property::Name,
        Property::City,
        Property::State,
        Property::Zip,
        Property::Causes,
        Property::Revenue,
        Property::Assets,
        Property::Website,
        Property::NteeCode,
        Property::Description,
        Property::Profile,
        Property::IsDisbursable,
    ];

    pub const fn id(self) -> &'static str {
        match self {
            Property::Ein => "ein",
            Property::Name => "name",
            Property::City => "city",
            Property::State => "state",
            Property::Zip => "zip",
            Property::Causes => "causes",
            Property::Revenue => "revenue",
            Property::Assets => "assets",
            Property::Website => "website",
            Property::NteeCode => "nteeCode",
            Property::Description => "description",
            Property::Profile => "profileUrl",
            Property::IsDisbursable => "isDisbursable",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Property::Ein => "EIN",
            Property::Name => "Name",
            Property::City => "City",
            Property::State => "State",
            Property::Zip => "ZIP code",
            Property::Causes => "Causes",
            Property::Revenue => "Revenue in dollars",
            Property::Assets => "Assets in dollars",
            Property::Website => "Website",
            Property::NteeCode => "NTEE code",
            Property::Description => "Description",
            Property::Profile => "Profile URL",
            Property::IsDisbursable => "Can receive donations",
        }
    }

    /// Finds a property by its ID.
    pub fn find(id: &str) -> Option<Property> {
        Property::ALL.into_iter().find(|property| property.id() == id)
    }

    pub const fn named(self) -> Named<'static> {
        Named {
            id: self.id(),
            name: self.name(),
        }
    }

    /// Returns the values of the property. Empty if none is known.
    pub fn values(self, nonprofit: &Nonprofit<'_>, causes: &Causes, urls: &Urls) -> Vec<PropertyValue> {
        let latest = nonprofit.tax.latest_return;
        let facts = nonprofit.facts;
        let text = |text: &str| match text {
            "" => Vec::new(),
            text => vec![PropertyValue::Str(text.to_owned())],
        };
        let number = |number: Option<i64>| number.map(PropertyValue::Int).into_iter().collect();
        match self {
            Property::Ein => text(&nonprofit.ein.map(|ein| ein.to_string()).unwrap_or_default()),
            Property::Name => text(nonprofit.name),
            Property::City => text(nonprofit.city),
            Property::State => text(nonprofit.state),
            Property::Zip => text(nonprofit.zip),
            Property::Causes => causes
                .of_set(nonprofit.causes)
                .map(|cause| PropertyValue::Str(cause.name.clone()))
                .collect(),
            Property::Revenue => number(
                latest
                    .and_then(|latest| latest.revenue)
                    .or(facts.and_then(|facts| facts.revenue)),
            ),
            Property::Assets => number(
                latest
                    .and_then(|latest| latest.assets)
                    .or(facts.and_then(|facts| facts.assets)),
            ),
            Property::Website => text(nonprofit.website_url.unwrap_or_default()),
            Property::NteeCode => text(nonprofit.ntee.as_ref().map_or("", Ntee::code)),
            Property::Description => text(&nonprofit.description(&nonprofit.location())),
            Property::Profile => text(&urls.profile(nonprofit.slug)),
            Property::IsDisbursable => text(if nonprofit.is_disbursable() { "yes" } else { "no" }),
        }
    }
}

/// The properties that data extension can add.
#[derive(Serialize)]
struct Proposal {
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    properties: Vec<Named<'static>>,
}

/// `GET /reconcile/properties`: proposes properties for data extension. It needs no key.
pub async fn propose(RawQuery(query): RawQuery) -> Result<Response> {
    let limit = positive(&query, "limit")?;
    let r#type = values(&query, "type").next().filter(|id| !id.is_empty());
    let properties = Property::ALL.into_iter().map(Property::named);
    Ok(json(&Proposal {
        r#type: r#type.map_or_else(|| TYPE_ID.to_owned(), Into::into),
        limit,
        properties: properties.take(limit.unwrap_or(usize::MAX)).collect(),
    }))
}
