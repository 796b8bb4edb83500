//! Reads the request body that creates a fundraiser, and reports all errors at once.

use super::SPECIAL;
use super::fields::Fields;
use platform::ids::NonprofitId;
use platform::money::{Cents, MAX_SHARES};
use serde_json::Value;
use std::collections::HashSet;

const MULTIPLE: &str = "MULTIPLE_NONPROFITS";

/// The fundraiser that a request body describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewFundraiser {
    pub nonprofit: Option<NonprofitId>,
    pub title: String,
    pub description: Option<String>,
    pub starts_at: Option<i64>,
    pub ends_at: Option<i64>,
    pub goal: Option<Cents>,
    pub offline: Option<Cents>,
    pub supported: Vec<WeightedNonprofit>,
}

/// A nonprofit that is to be supported.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedNonprofit {
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
        let id = fields
            .uuid("nonprofitId", fields.get("nonprofitId"))
            .map(NonprofitId);
        let nonprofit = id.filter(|id| matches_type(fields, *id, is_multiple));
        let supported = read_supported(fields, id, is_multiple);
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
            fields.add_error(
                "type",
                "send MULTIPLE_NONPROFITS for several nonprofits, or leave it out for one",
            );
            None
        }
    }
}

fn matches_type(fields: &mut Fields<'_>, id: NonprofitId, is_multiple: Option<bool>) -> bool {
    match is_multiple {
        Some(true) if id != SPECIAL => {
            fields.add_error(
                "nonprofitId",
                format!("a fundraiser for several nonprofits has the ID {SPECIAL}"),
            );
            false
        }
        Some(false) if id == SPECIAL => {
            fields.add_error("type", "with this nonprofitId send MULTIPLE_NONPROFITS");
            false
        }
        _ => true,
    }
}

/// Reads the supported nonprofits. Reports their errors even if the type or the nonprofit is invalid.
fn read_supported(
    fields: &mut Fields<'_>,
    id: Option<NonprofitId>,
    is_multiple: Option<bool>,
) -> Vec<WeightedNonprofit> {
    let is_special = id == Some(SPECIAL);
    let single = id.filter(|_| is_multiple != Some(true) && !is_special);
    let mut supported: Vec<WeightedNonprofit> = single
        .map(|id| WeightedNonprofit {
            id,
            weight: 1.0,
            field: "nonprofitId".to_owned(),
        })
        .into_iter()
        .collect();
    match is_multiple {
        Some(false) if !is_special => refuse_several(fields),
        _ => supported.extend(read_several(fields, is_multiple == Some(true) || is_special)),
    }
    supported
}

fn read_several(fields: &mut Fields<'_>, is_needed: bool) -> Vec<WeightedNonprofit> {
    let listed: &[Value] = match fields.get("forNonprofits") {
        Value::Array(listed) if (1..=MAX_SHARES).contains(&listed.len()) => listed,
        Value::Null if !is_needed => &[],
        _ => {
            fields.add_error("forNonprofits", "send the IDs of 1 to 100 nonprofits");
            &[]
        }
    };
    let weights = read_weights(fields, listed.len());
    let mut seen = HashSet::new();
    let mut supported = Vec::with_capacity(listed.len());
    for (index, (value, weight)) in listed.iter().zip(weights).enumerate() {
        let field = format!("forNonprofits[{index}]");
        let Some(id) = fields.uuid(field.clone(), value) else {
            continue;
        };
        if seen.insert(id) {
            supported.push(WeightedNonprofit {
                id: NonprofitId(id),
                weight,
                field,
            });
        } else {
            fields.add_error(field, "name each nonprofit once");
        }
    }
    supported
}

/// One weight for each of `count` nonprofits; if the count is unknown, each weight is validated on its own.
fn read_weights(fields: &mut Fields<'_>, count: usize) -> Vec<f64> {
    let mut weights = Vec::new();
    let mut is_whole = true;
    match fields.get("forNonprofitWeights") {
        Value::Null => {}
        Value::Array(listed) => {
            is_whole = listed.len() == count || count == 0;
            for (index, value) in listed.iter().take(MAX_SHARES).enumerate() {
                weights.push(fields.weight(index, value).unwrap_or(1.0));
            }
        }
        _ => is_whole = false,
    }
    if !is_whole {
        let detail = match count {
            0 => "send a list of numbers, one for each of forNonprofits, or leave it out".to_owned(),
            count => format!("send {count} numbers, one for each of forNonprofits, or leave it out"),
        };
        fields.add_error("forNonprofitWeights", detail);
    }
    weights.resize(count, 1.0);
    weights
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
            fields.add_error(name, "send it only with the type MULTIPLE_NONPROFITS");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    fn errors(body: &Value) -> Vec<String> {
        let mut fields = Fields::new(body.as_object().unwrap());
        NewFundraiser::read(&mut fields);
        fields.errors.into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn the_least_body_is_a_nonprofit_and_a_title() {
        let body = json!({"nonprofitId": "0f8fad5b-d9cb-469f-a165-70867728950e", "title": " Run "});
        assert_eq!(errors(&body), [""; 0]);
        assert_eq!(errors(&json!({})), ["title", "nonprofitId"]);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let body = json!({
            "nonprofitId": 7, "title": "", "description": [], "startDate": "2026-05-02T00:00:00Z",
            "endDate": "2026-05-01T00:00:00Z", "goal": 0, "raisedOffline": -1, "currency": "usd", "type": "SINGLE",
        });
        assert_eq!(
            errors(&body),
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

    #[test]
    fn several_are_judged_whatever_is_wrong_beside_them() {
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let special = SPECIAL.to_string();
        for (body, named) in [
            (
                json!({"nonprofitId": special, "type": MULTIPLE, "forNonprofits": [], "forNonprofitWeights": [-1]}),
                vec!["forNonprofits", "forNonprofitWeights[0]"],
            ),
            (
                json!({"nonprofitId": special, "type": MULTIPLE, "forNonprofitWeights": 1}),
                vec!["forNonprofits", "forNonprofitWeights"],
            ),
            (
                json!({"nonprofitId": special, "type": MULTIPLE, "forNonprofits": [id], "forNonprofitWeights": [-1, 2]}),
                vec!["forNonprofitWeights[0]", "forNonprofitWeights"],
            ),
            (
                json!({"nonprofitId": "x", "forNonprofits": [id], "forNonprofitWeights": [1]}),
                vec!["nonprofitId", "forNonprofits", "forNonprofitWeights"],
            ),
            (
                json!({"nonprofitId": special, "forNonprofits": ["x"], "forNonprofitWeights": [-1]}),
                vec!["type", "forNonprofitWeights[0]", "forNonprofits[0]"],
            ),
            (json!({"nonprofitId": special}), vec!["type", "forNonprofits"]),
            (
                json!({"nonprofitId": id, "type": "ALL", "forNonprofits": ["x"], "forNonprofitWeights": "x"}),
                vec!["type", "forNonprofitWeights", "forNonprofits[0]"],
            ),
            (json!({"nonprofitId": id, "type": "ALL"}), vec!["type"]),
            (
                json!({"nonprofitId": special, "type": "ALL", "forNonprofits": {}}),
                vec!["type", "forNonprofits"],
            ),
        ] {
            let mut whole = body.clone();
            whole["title"] = json!("Run");
            assert_eq!(errors(&whole), named, "{body}");
        }
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
