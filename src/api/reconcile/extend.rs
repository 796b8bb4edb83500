//! Data extension: the values of properties of some nonprofits.

use super::entity::{Named, locate};
use super::properties::{Property, PropertyValue};
use crate::app::urls::Urls;
use crate::http::error::{Error, Result};
use directory::View;
use directory::nonprofits::causes::Causes;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The number of nonprofits in a query.
const MAX_IDS: usize = 1_000;

/// A data extension query.
#[derive(Debug)]
pub(super) struct ExtensionQuery {
    ids: Vec<String>,
    properties: Vec<Property>,
}

/// The response to a data extension query.
#[derive(Serialize)]
pub(super) struct Extension {
    meta: Vec<Named<'static>>,
    rows: BTreeMap<String, BTreeMap<&'static str, Vec<PropertyValue>>>,
}

pub(super) fn parse(query: &Map<String, Value>) -> Result<ExtensionQuery> {
    let invalid = |detail: &'static str| Error::InvalidParameter(detail.into());
    let list = |name: &str| query.get(name).and_then(Value::as_array);
    let ids = list("ids").ok_or_else(|| invalid("extend must have a list of ids."))?;
    if ids.len() > MAX_IDS {
        return Err(invalid("Send at most 1,000 ids at a time."));
    }
    let ids = ids.iter().map(|id| id.as_str().map(str::to_owned));
    let ids = ids.collect::<Option<_>>();
    let properties = list("properties").ok_or_else(|| invalid("extend must have a list of properties."))?;
    let properties = properties.iter().map(|property| {
        let id = property.get("id").and_then(Value::as_str);
        id.and_then(Property::find)
    });
    let unknown = || invalid("There is no such property. See /reconcile/properties for the list.");
    Ok(ExtensionQuery {
        ids: ids.ok_or_else(|| invalid("Every one of ids must be a text."))?,
        properties: properties.collect::<Option<_>>().ok_or_else(unknown)?,
    })
}

/// Returns the values. Those of a nonprofit that does not exist are empty.
pub(super) fn extend(view: &View, causes: &Causes, urls: &Urls, query: &ExtensionQuery) -> Extension {
    let rows = query.ids.iter().map(|id| {
        let nonprofit = locate(view, id).and_then(|location| view.nonprofit(location));
        let values = query.properties.iter().map(|property| {
            let values = nonprofit.map(|nonprofit| property.values(&nonprofit, causes, urls));
            (property.id(), values.unwrap_or_default())
        });
        (id.clone(), values.collect())
    });
    Extension {
        meta: query.properties.iter().map(|property| property.named()).collect(),
        rows: rows.collect(),
    }
}
