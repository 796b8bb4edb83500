//! Reads the body that creates a fundraiser.
//!
//! The nonprofits that it supports are one in `nonprofitId`, or several in `forNonprofits`.

use super::fields::Fields;
use giving::fundraisers::SPECIAL;
use giving::fundraisers::cover::Focus;
use giving::fundraisers::input::{FundraiserInput, SupportedInput};
use giving::fundraisers::rules::{FieldProblem, MIN_GOAL_CENTS, MIN_OFFLINE_CENTS, is_weight};
use platform::ids::NonprofitId;
use platform::money::MAX_SHARES;
use serde_json::Value;
use uuid::Uuid;

const MULTIPLE: &str = "MULTIPLE_NONPROFITS";

impl Fields<'_> {
    /// Reads the body that creates a fundraiser, except for its picture. A field that cannot be read is empty.
    pub(super) fn read_input(&mut self) -> FundraiserInput {
        self.check_currency();
        FundraiserInput {
            title: self.title().unwrap_or_default(),
            description: self.description(),
            starts_at: self.date("startDate"),
            ends_at: self.date("endDate"),
            goal: self.amount("goal", MIN_GOAL_CENTS),
            offline: self.amount("raisedOffline", MIN_OFFLINE_CENTS),
            focus: Focus::default(),
            supported: self.supported(),
        }
    }

    fn check_currency(&mut self) {
        if self.has("currency") && self.get("currency") != "USD" {
            self.add_error("currency", "only \"USD\" is supported");
        }
    }

    /// Reads the nonprofits. If none can be read, the list is empty, and there is an error.
    fn supported(&mut self) -> SupportedInput {
        let is_multiple = self.is_multiple();
        let id = self.nonprofit_id("nonprofitId", self.get("nonprofitId"));
        let is_special = id == Some(SPECIAL);
        if is_multiple == Some(true) && id.is_some() && !is_special {
            self.add_error(
                "nonprofitId",
                format!("a fundraiser for several nonprofits has the ID {SPECIAL}"),
            );
        } else if is_multiple == Some(false) && is_special {
            self.add_error("type", "with this nonprofitId send MULTIPLE_NONPROFITS");
        }
        let is_several = is_multiple == Some(true) || is_special;
        // Errors in the list are reported even if the type or the nonprofit is invalid.
        let several = if is_multiple == Some(false) && !is_special {
            self.refuse_several();
            Vec::new()
        } else {
            self.several(is_several)
        };
        match id {
            Some(id) if !is_several => SupportedInput::One(id),
            _ => SupportedInput::Several(several),
        }
    }

    /// Returns whether the type is that of several nonprofits, or `None` if it is unknown.
    fn is_multiple(&mut self) -> Option<bool> {
        match self.get("type") {
            Value::Null => Some(false),
            Value::String(text) if text == MULTIPLE => Some(true),
            _ => {
                self.add_error(
                    "type",
                    "send MULTIPLE_NONPROFITS for several nonprofits, or leave it out for one",
                );
                None
            }
        }
    }

    fn nonprofit_id(&mut self, field: impl Into<String>, value: &Value) -> Option<NonprofitId> {
        // The parser accepts several formats. Only the usual one with dashes is part of the API.
        let text = value.as_str().map(str::trim).filter(|text| text.len() == 36);
        let id = text.and_then(|text| Uuid::try_parse(text).ok());
        if id.is_none() {
            self.add_error(
                field,
                "send the ID of a nonprofit: a UUID, as `id` of its details",
            );
        }
        id.map(NonprofitId)
    }

    fn several(&mut self, is_required: bool) -> Vec<(NonprofitId, f64)> {
        let listed: &[Value] = match self.get("forNonprofits") {
            Value::Array(listed) if (1..=MAX_SHARES).contains(&listed.len()) => listed,
            Value::Null if !is_required => &[],
            _ => {
                self.add_error("forNonprofits", "send the IDs of 1 to 100 nonprofits");
                &[]
            }
        };
        let weights = self.weights(listed.len());
        let mut supported = Vec::with_capacity(listed.len());
        for (index, (value, weight)) in listed.iter().zip(weights).enumerate() {
            if let Some(id) = self.nonprofit_id(format!("forNonprofits[{index}]"), value) {
                supported.push((id, weight));
                self.positions.push(index);
            }
        }
        supported
    }

    /// Reads one weight for each of `count` nonprofits. If `count` is 0, the list of nonprofits is invalid, and each
    /// weight is still checked.
    fn weights(&mut self, count: usize) -> Vec<f64> {
        let mut weights = Vec::new();
        let mut has_count = true;
        match self.get("forNonprofitWeights") {
            Value::Null => {}
            Value::Array(listed) => {
                has_count = listed.len() == count || count == 0;
                for (index, value) in listed.iter().take(MAX_SHARES).enumerate() {
                    weights.push(self.weight(index, value));
                }
            }
            _ => has_count = false,
        }
        if !has_count {
            let detail = match count {
                0 => "send a list of numbers, one for each of forNonprofits, or leave it out".to_owned(),
                count => format!("send {count} numbers, one for each of forNonprofits, or leave it out"),
            };
            self.add_error("forNonprofitWeights", detail);
        }
        weights.resize(count, 1.0);
        weights
    }

    fn weight(&mut self, index: usize, value: &Value) -> f64 {
        let weight = value.as_f64().filter(|weight| is_weight(*weight));
        weight.unwrap_or_else(|| {
            self.add_error(
                format!("forNonprofitWeights[{index}]"),
                FieldProblem::WeightRange.to_string(),
            );
            1.0
        })
    }

    /// Refuses a list of nonprofits without the type for it. If the list were ignored, donations would go to a nonprofit
    /// that the client did not intend.
    fn refuse_several(&mut self) {
        for name in ["forNonprofits", "forNonprofitWeights"] {
            let is_empty = match self.get(name) {
                Value::Null => true,
                Value::Array(listed) => listed.is_empty(),
                _ => false,
            };
            if !is_empty {
                self.add_error(name, "send it only with the type MULTIPLE_NONPROFITS");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::error::Error;
    use serde_json::json;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn read(body: &Value) -> (SupportedInput, Vec<String>) {
        let mut fields = Fields::new(body.as_object().unwrap());
        let supported = fields.supported();
        let errors = match fields.finish(Some(())) {
            Ok(()) => Vec::new(),
            Err(Error::InvalidBody(errors)) => errors.into_iter().map(|error| error.field).collect(),
            Err(error) => panic!("{error:?}"),
        };
        (supported, errors)
    }

    #[test]
    fn one_nonprofit_needs_no_type_and_several_have_equal_weights_by_default() {
        let id = NonprofitId(Uuid::try_parse(ID).unwrap());
        let (supported, errors) = read(&json!({"nonprofitId": ID}));
        assert_eq!((supported, errors), (SupportedInput::One(id), Vec::new()));
        let several = json!({"nonprofitId": SPECIAL.to_string(), "type": MULTIPLE, "forNonprofits": [ID]});
        let (supported, errors) = read(&several);
        assert_eq!(
            (supported, errors),
            (SupportedInput::Several(vec![(id, 1.0)]), Vec::new())
        );
    }

    #[test]
    fn the_list_is_checked_even_if_other_fields_are_invalid() {
        let special = SPECIAL.to_string();
        for (body, expected) in [
            (
                json!({"nonprofitId": special, "type": MULTIPLE, "forNonprofits": [], "forNonprofitWeights": [-1]}),
                vec!["forNonprofits", "forNonprofitWeights[0]"],
            ),
            (
                json!({"nonprofitId": special, "type": MULTIPLE, "forNonprofitWeights": 1}),
                vec!["forNonprofits", "forNonprofitWeights"],
            ),
            (
                json!({"nonprofitId": special, "type": MULTIPLE, "forNonprofits": [ID], "forNonprofitWeights": [-1, 2]}),
                vec!["forNonprofitWeights[0]", "forNonprofitWeights"],
            ),
            (
                json!({"nonprofitId": "x", "forNonprofits": [ID], "forNonprofitWeights": [1]}),
                vec!["nonprofitId", "forNonprofits", "forNonprofitWeights"],
            ),
            (
                json!({"nonprofitId": special, "forNonprofits": ["x"], "forNonprofitWeights": [-1]}),
                vec!["type", "forNonprofitWeights[0]", "forNonprofits[0]"],
            ),
            (json!({"nonprofitId": special}), vec!["type", "forNonprofits"]),
            (
                json!({"nonprofitId": ID, "type": "ALL", "forNonprofits": ["x"], "forNonprofitWeights": "x"}),
                vec!["type", "forNonprofitWeights", "forNonprofits[0]"],
            ),
            (json!({"nonprofitId": ID, "type": "ALL"}), vec!["type"]),
            (
                json!({"nonprofitId": special, "type": "ALL", "forNonprofits": {}}),
                vec!["type", "forNonprofits"],
            ),
        ] {
            assert_eq!(read(&body).1, expected, "{body}");
        }
    }
}
