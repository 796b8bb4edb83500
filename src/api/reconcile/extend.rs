//! Data extension: the values of properties of some nonprofits.

use super::entity::locate;
use super::properties::{Property, PropertyValue};
use crate::app::bulk_work::Slice;
use crate::app::urls::Urls;
use crate::http::error::{Error, Result};
use directory::View;
use directory::nonprofits::causes::Causes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// The number of nonprofits in a query.
const MAX_IDS: usize = 1_000;
/// The number of nonprofits times the number of properties.
const MAX_VALUES: usize = 10_000;
/// The size of a response. A thousand nonprofits with ten properties usually need a third of it.
const MAX_RESPONSE_BYTES: usize = 2 << 20;

/// A data extension query, and as much of its response as is written.
#[derive(Debug)]
pub(super) struct Extension {
    ids: std::vec::IntoIter<String>,
    properties: Vec<Property>,
    json: Vec<u8>,
}

/// Parses a query whose response has a bounded size: nothing is asked for twice.
pub(super) fn parse(query: &Map<String, Value>) -> Result<Extension> {
    let list = |name: &str| query.get(name).and_then(Value::as_array);
    let ids = list("ids").ok_or_else(|| invalid("extend must have a list of ids."))?;
    if ids.len() > MAX_IDS {
        return Err(invalid("Send at most 1,000 ids at a time."));
    }
    let ids: Option<Vec<&str>> = ids.iter().map(Value::as_str).collect();
    let ids = ids.ok_or_else(|| invalid("Every one of ids must be a text."))?;
    let spellings = ids.iter().map(|id| id.trim().to_ascii_lowercase());
    if spellings.collect::<HashSet<_>>().len() < ids.len() {
        return Err(invalid("Send every one of ids once."));
    }
    let sent = list("properties").ok_or_else(|| invalid("extend must have a list of properties."))?;
    let mut properties = Vec::new();
    for property in sent {
        let id = property.get("id").and_then(Value::as_str);
        let property = id
            .and_then(Property::find)
            .ok_or_else(|| invalid("There is no such property. See /reconcile/properties for the list."))?;
        if properties.contains(&property) {
            return Err(invalid("Send every property once."));
        }
        properties.push(property);
    }
    if ids.len() * properties.len() > MAX_VALUES {
        return Err(invalid(
            "Send fewer ids or properties: ids times properties may be at most 10,000.",
        ));
    }
    let meta: Vec<_> = properties.iter().map(|property| property.named()).collect();
    let mut json = format!("{{\"meta\":{},\"rows\":{{", json!(meta)).into_bytes();
    json.reserve(ids.len() * 64);
    let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    Ok(Extension {
        ids: ids.into_iter(),
        properties,
        json,
    })
}

fn invalid(detail: &'static str) -> Error {
    Error::InvalidParameter(detail.into())
}

impl Extension {
    /// Writes the values, slice by slice, and returns the JSON of the response when it is complete. The values of a nonprofit
    /// that does not exist are empty.
    pub(super) fn write(
        &mut self,
        view: &View,
        causes: &Causes,
        urls: &Urls,
        slice: &Slice,
    ) -> Option<Result<Vec<u8>>> {
        while !slice.is_over() {
            let Some(id) = self.ids.next() else {
                if self.json.last() == Some(&b',') {
                    self.json.pop();
                }
                self.json.extend_from_slice(b"}}");
                return Some(Ok(std::mem::take(&mut self.json)));
            };
            let nonprofit = locate(view, &id).and_then(|location| view.nonprofit(location));
            let values = self.properties.iter().map(|property| {
                let values = nonprofit.map(|nonprofit| property.values(&nonprofit, causes, urls));
                (property.id(), values.unwrap_or_default())
            });
            let row: BTreeMap<&str, Vec<PropertyValue>> = values.collect();
            self.write_json(&id);
            self.json.push(b':');
            self.write_json(&row);
            self.json.push(b',');
            if self.json.len() > MAX_RESPONSE_BYTES {
                let error = "The response would be larger than 2 MiB. Send fewer ids at a time.";
                return Some(Err(invalid(error)));
            }
        }
        None
    }

    fn write_json(&mut self, value: &(impl serde::Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.json, value).expect("texts and numbers are plain data");
    }
}
