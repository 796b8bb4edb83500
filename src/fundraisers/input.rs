//! The body that makes a fundraiser, read by the rules of the interface; all its faults are told at once.

use super::SPECIAL;
use super::fields::Fields;
use crate::ids::NonprofitId;
use crate::money::{Cents, MOST_SHARES};
use serde_json::Value;
use std::collections::HashSet;

const MULTIPLE: &str = "MULTIPLE_NONPROFITS";

/// What a body asks for. What is wrong stands in the faults beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewFundraiser {
    pub nonprofit: Option<NonprofitId>,
    pub title: String,
    pub description: Option<String>,
    pub starts_at: Option<i64>,
    pub ends_at: Option<i64>,
    pub goal: Option<Cents>,
    pub offline: Option<Cents>,
    pub supported: Vec<Supported>,
}

/// A nonprofit that is to be supported.
#[derive(Clone, Debug, PartialEq)]
pub struct Supported {
    pub id: NonprofitId,
    pub weight: f64,
    /// The field that names it.
    pub field: String,
}

impl NewFundraiser {
    /// Reads all fields but the picture.
    pub fn read(fields: &mut Fields<'_>) -> NewFundraiser {
        let title = fields.title().unwrap_or_default();
        let description = fields.description();
        let (starts_at, ends_at) = (fields.date("startDate"), fields.date("endDate"));
        fields.in_order(starts_at, ends_at);
        let goal = fields.amount("goal", 1);
        let offline = fields.amount("raisedOffline", 0);
        fields.currency();
        let is_multiple = read_type(fields);
        let nonprofit = read_nonprofit(fields, is_multiple);
        let supported = match (is_multiple, nonprofit) {
            (Some(true), _) => read_several(fields),
            (Some(false), Some(nonprofit)) => {
                refuse_several(fields);
                vec![Supported {
                    id: nonprofit,
                    weight: 1.0,
                    field: "nonprofitId".to_owned(),
                }]
            }
            _ => Vec::new(),
        };
        NewFundraiser {
            nonprofit,
            title,
            description,
            starts_at,
            ends_at,
            goal,
            offline,
            supported,
        }
    }
}

/// Is it for several? Nothing where the type is none of ours.
fn read_type(fields: &mut Fields<'_>) -> Option<bool> {
    match fields.get("type") {
        Value::Null => Some(false),
        Value::String(text) if text == MULTIPLE => Some(true),
        _ => {
            fields.fault(
                "type",
                "send MULTIPLE_NONPROFITS for several nonprofits, or leave it out for one",
            );
            None
        }
    }
}

fn read_nonprofit(fields: &mut Fields<'_>, is_multiple: Option<bool>) -> Option<NonprofitId> {
    let id = NonprofitId(fields.uuid("nonprofitId", fields.get("nonprofitId"))?);
    match is_multiple {
        Some(true) if id != SPECIAL => {
            fields.fault(
                "nonprofitId",
                format!("a fundraiser for several nonprofits has the ID {SPECIAL}"),
            );
            None
        }
        Some(false) if id == SPECIAL => {
            fields.fault("type", "with this nonprofitId send MULTIPLE_NONPROFITS");
            None
        }
        _ => Some(id),
    }
}

fn read_several(fields: &mut Fields<'_>) -> Vec<Supported> {
    let listed = match fields.get("forNonprofits") {
        Value::Array(listed) if (1..=MOST_SHARES).contains(&listed.len()) => listed,
        _ => {
            fields.fault("forNonprofits", "send the IDs of 1 to 100 nonprofits");
            return Vec::new();
        }
    };
    let weights = read_weights(fields, listed.len());
    let mut seen = HashSet::new();
    let mut supported = Vec::with_capacity(listed.len());
    for (place, (value, weight)) in listed.iter().zip(weights).enumerate() {
        let field = format!("forNonprofits[{place}]");
        let Some(id) = fields.uuid(field.clone(), value) else {
            continue;
        };
        if seen.insert(id) {
            supported.push(Supported {
                id: NonprofitId(id),
                weight,
                field,
            });
        } else {
            fields.fault(field, "each nonprofit is named once");
        }
    }
    supported
}

fn read_weights(fields: &mut Fields<'_>, count: usize) -> Vec<f64> {
    match fields.get("forNonprofitWeights") {
        Value::Null => {}
        Value::Array(listed) if listed.len() == count => {
            return listed
                .iter()
                .enumerate()
                .map(|(place, value)| fields.weight(place, value).unwrap_or(1.0))
                .collect();
        }
        _ => fields.fault(
            "forNonprofitWeights",
            format!("send {count} numbers, one for each of forNonprofits, or leave it out"),
        ),
    }
    vec![1.0; count]
}

/// What names several nonprofits would be lost on a fundraiser for one, and money would go elsewhere than meant.
fn refuse_several(fields: &mut Fields<'_>) {
    for name in ["forNonprofits", "forNonprofitWeights"] {
        let is_empty = match fields.get(name) {
            Value::Null => true,
            Value::Array(listed) => listed.is_empty(),
            _ => false,
        };
        if !is_empty {
            fields.fault(name, "it goes with the type MULTIPLE_NONPROFITS");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    fn faults(body: &Value) -> Vec<String> {
        let mut fields = Fields::new(body.as_object().unwrap());
        NewFundraiser::read(&mut fields);
        fields.faults.into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn the_least_body_is_a_nonprofit_and_a_title() {
        let body = json!({"nonprofitId": "0f8fad5b-d9cb-469f-a165-70867728950e", "title": " Run "});
        assert_eq!(faults(&body), [""; 0]);
        assert_eq!(faults(&json!({})), ["title", "nonprofitId"]);
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let body = json!({
            "nonprofitId": 7, "title": "", "description": [], "startDate": "2026-05-02T00:00:00Z",
            "endDate": "2026-05-01T00:00:00Z", "goal": 0, "raisedOffline": -1, "currency": "usd", "type": "SINGLE",
        });
        assert_eq!(
            faults(&body),
            [
                "title",
                "description",
                "endDate",
                "goal",
                "raisedOffline",
                "currency",
                "type",
                "nonprofitId"
            ]
        );
    }

    proptest! {
        #[test]
        fn values_of_any_kind_are_judged_without_a_panic(values in proptest::collection::vec(any_value(), 12)) {
            let names = ["nonprofitId", "title", "description", "startDate", "endDate", "goal", "raisedOffline",
                "currency", "imageBase64", "type", "forNonprofits", "forNonprofitWeights"];
            let body: Map<String, Value> = names.iter().map(ToString::to_string).zip(values).collect();
            let mut fields = Fields::new(&body);
            NewFundraiser::read(&mut fields);
            fields.image();
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let id = json!("0f8fad5b-d9cb-469f-a165-70867728950e");
        prop_oneof![
            Just(json!(null)),
            Just(json!(SPECIAL.to_string())),
            Just(json!(MULTIPLE)),
            Just(id.clone()),
            Just(json!([id.clone(), id])),
            Just(json!([1.0, -1, 1e308, "x"])),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            ".{0,200}".prop_map(Value::from),
        ]
    }
}
