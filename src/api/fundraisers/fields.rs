//! Reads the fields of a request body as JSON into the types of `giving`, and collects all errors under the names that
//! fields have in the API.

use crate::http::error::{Error, Result};
use giving::fundraisers::change::FundraiserChange;
use giving::fundraisers::rules::{
    FieldProblem, FundraiserField, InvalidField, MIN_GOAL_CENTS, MIN_OFFLINE_CENTS,
};
use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use platform::field_error::FieldError;
use platform::money::Cents;
use serde_json::{Map, Value};

/// Longer texts are not parsed as dates.
const MAX_DATE_LENGTH: usize = 64;
const INVALID_DATE: &str = "send a date with time and zone, such as 2026-05-01T00:00:00Z, or null";
const DATE_OUT_OF_RANGE: &str = "send a date between 1970 and 2199";
const NULL: Value = Value::Null;
/// The fields in the order of their errors. Errors about other fields come last, in the order in which they are found.
const ORDER: [&str; 8] = [
    "title",
    "description",
    "startDate",
    "endDate",
    "goal",
    "raisedOffline",
    "currency",
    "type",
];

/// The fields of a body, and the errors found so far.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    body: &'a Map<String, Value>,
    errors: Vec<FieldError>,
    /// The positions in `forNonprofits` of the nonprofits that could be read.
    pub(super) positions: Vec<usize>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(body: &'a Map<String, Value>) -> Fields<'a> {
        Fields {
            body,
            errors: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Reads the body that changes a fundraiser, except for its picture. Null clears a field.
    pub(super) fn read_change(&mut self) -> FundraiserChange {
        FundraiserChange {
            title: self.has("title").then(|| self.title()).flatten(),
            description: self.has("description").then(|| self.description()),
            starts_at: self.has("startDate").then(|| self.date("startDate")),
            ends_at: self.has("endDate").then(|| self.date("endDate")),
            goal: self.has("goal").then(|| self.amount("goal", MIN_GOAL_CENTS)),
            offline: self
                .has("raisedOffline")
                .then(|| self.amount("raisedOffline", MIN_OFFLINE_CENTS)),
            cover: None,
            focus: None,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.body.contains_key(name)
    }

    /// Returns a field, or null if it is omitted.
    pub(super) fn get(&self, name: &str) -> &'a Value {
        self.body.get(name).unwrap_or(&NULL)
    }

    pub(super) fn add_error(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.errors.push(FieldError::new(field, detail));
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Adds the fields that break a rule. A field that could not be read already has an error.
    pub(super) fn add_invalid(&mut self, invalid: Vec<InvalidField>) {
        for invalid in invalid {
            // The number of nonprofits was checked when they were read. Those that could not be read are missing now.
            if invalid.problem == FieldProblem::NonprofitCount {
                continue;
            }
            let error = to_field_error(invalid, &self.positions);
            if !self.errors.iter().any(|known| known.field == error.field) {
                self.errors.push(error);
            }
        }
    }

    /// Returns the value, or all errors if there are any.
    pub(super) fn finish<T>(mut self, value: Option<T>) -> Result<T> {
        let order = |error: &FieldError| ORDER.iter().position(|name| *name == error.field);
        self.errors
            .sort_by_key(|error| order(error).unwrap_or(ORDER.len()));
        value
            .filter(|_| self.errors.is_empty())
            .ok_or(Error::InvalidBody(self.errors))
    }

    /// Returns the picture as the client sent it. Only its type is checked.
    pub(super) fn image(&mut self) -> Option<&'a str> {
        match self.get("imageBase64") {
            Value::Null => None,
            Value::String(text) => Some(text),
            _ => {
                self.add_error(
                    "imageBase64",
                    "send a picture as a data URL or as base64, or null",
                );
                None
            }
        }
    }

    pub(super) fn title(&mut self) -> Option<String> {
        let detail = match self.get("title") {
            Value::String(text) => return Some(text.clone()),
            Value::Null => "a title is required",
            _ => "send a string",
        };
        self.add_error("title", detail);
        None
    }

    pub(super) fn description(&mut self) -> Option<String> {
        match self.get("description") {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            _ => {
                self.add_error("description", "send a string, or null");
                None
            }
        }
    }

    pub(super) fn date(&mut self, name: &'static str) -> Option<i64> {
        let text = match self.get(name) {
            Value::Null => return None,
            Value::String(text) if text.len() <= MAX_DATE_LENGTH => text.trim(),
            _ => "",
        };
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(time.as_millisecond());
        }
        // A timestamp covers fewer years than the format of a date.
        self.add_error(
            name,
            if is_date(text) {
                DATE_OUT_OF_RANGE
            } else {
                INVALID_DATE
            },
        );
        None
    }

    pub(super) fn amount(&mut self, name: &'static str, min_cents: i64) -> Option<Cents> {
        let value = self.get(name);
        if value.is_null() {
            return None;
        }
        let amount = to_integer(value);
        if amount.is_none() {
            self.add_error(name, invalid_amount(min_cents));
        }
        amount.map(Cents::new)
    }
}

/// Converts an error of a write. Invalid fields get their names in the API.
pub(super) fn to_error(error: giving::Error) -> Error {
    match error {
        giving::Error::Invalid(invalid) => {
            let errors = invalid.into_iter().map(|invalid| to_field_error(invalid, &[]));
            Error::InvalidBody(errors.collect())
        }
        error => error.into(),
    }
}

fn to_field_error(InvalidField { field, problem }: InvalidField, positions: &[usize]) -> FieldError {
    let position = |index: usize| positions.get(index).copied().unwrap_or(index);
    let name = match field {
        FundraiserField::Title => "title".to_owned(),
        FundraiserField::Description => "description".to_owned(),
        FundraiserField::StartsAt => "startDate".to_owned(),
        FundraiserField::EndsAt => "endDate".to_owned(),
        FundraiserField::Goal => "goal".to_owned(),
        FundraiserField::Offline => "raisedOffline".to_owned(),
        FundraiserField::Supported => "nonprofitId".to_owned(),
        FundraiserField::SupportedAt(index) => format!("forNonprofits[{}]", position(index)),
        FundraiserField::WeightAt(index) => format!("forNonprofitWeights[{}]", position(index)),
    };
    let detail = match (problem, field) {
        (FieldProblem::DateRange, _) => DATE_OUT_OF_RANGE.to_owned(),
        (FieldProblem::AmountRange, FundraiserField::Goal) => invalid_amount(MIN_GOAL_CENTS),
        (FieldProblem::AmountRange, _) => invalid_amount(MIN_OFFLINE_CENTS),
        (FieldProblem::OfflineTooHigh(max), _) => format!("send at most {} cents ({max})", max.get()),
        (FieldProblem::UnknownNonprofit, _) => "there is no nonprofit with this ID".to_owned(),
        (FieldProblem::NotDisbursable, _) => {
            format!("{problem}; choose one whose isDisbursable is true")
        }
        (problem, _) => problem.to_string(),
    };
    FieldError::new(name, detail)
}

fn invalid_amount(min_cents: i64) -> String {
    format!(
        "send a whole number of cents from {min_cents} to {}, or null",
        Cents::MAX.get()
    )
}

/// Returns an integer, which some programs send as 100.0. Above 2^53, a float is no longer exact.
fn to_integer(value: &Value) -> Option<i64> {
    let is_exact = |number: &f64| number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(is_exact).map(|number| number as i64))
}

/// Returns whether the text is a date with time and zone in any year.
fn is_date(text: &str) -> bool {
    Pieces::parse(text).is_ok_and(|pieces| pieces.time().is_some() && pieces.offset().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn errors(fields: Fields<'_>) -> Vec<FieldError> {
        match fields.finish(None::<()>) {
            Err(Error::InvalidBody(errors)) => errors,
            other => panic!("{other:?}"),
        }
    }

    fn field_names(fields: Fields<'_>) -> Vec<String> {
        errors(fields).into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn a_date_out_of_range_and_an_invalid_date_get_different_errors() {
        for (text, expected) in [
            ("9999-12-31T23:59:59Z", DATE_OUT_OF_RANGE),
            ("9999-12-31T23:59:59-12:00", DATE_OUT_OF_RANGE),
            ("9999-12-31T23:59:59", INVALID_DATE),
            ("9999-12-31", INVALID_DATE),
            ("9999-13-31T23:59:59Z", INVALID_DATE),
            ("soon", INVALID_DATE),
            ("", INVALID_DATE),
        ] {
            let body = json!({"endDate": text});
            let mut fields = Fields::new(body.as_object().unwrap());
            assert_eq!(fields.date("endDate"), None);
            assert_eq!(errors(fields)[0].detail, expected, "{text}");
        }
    }

    #[test]
    fn errors_of_both_kinds_are_in_the_order_of_the_fields() {
        let body = json!({
            "currency": "usd", "raisedOffline": 1.5, "goal": 0, "description": [], "nonprofitId": 7, "type": "SINGLE",
        });
        let mut fields = Fields::new(body.as_object().unwrap());
        fields.read_input();
        let invalid = [
            (FundraiserField::Title, FieldProblem::TitleLength),
            (FundraiserField::EndsAt, FieldProblem::EndBeforeStart),
            (FundraiserField::Goal, FieldProblem::AmountRange),
            (FundraiserField::Supported, FieldProblem::NonprofitCount),
        ];
        fields.add_invalid(
            invalid
                .map(|(field, problem)| InvalidField { field, problem })
                .into(),
        );
        assert_eq!(
            field_names(fields),
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
    fn a_field_that_cannot_be_read_has_one_error() {
        let body = json!({"nonprofitId": "0f8fad5b-d9cb-469f-a165-70867728950e"});
        let mut fields = Fields::new(body.as_object().unwrap());
        fields.read_input();
        fields.add_invalid(vec![InvalidField {
            field: FundraiserField::Title,
            problem: FieldProblem::TitleLength,
        }]);
        let errors = errors(fields);
        assert_eq!(errors, [FieldError::new("title", "a title is required")]);
    }

    #[test]
    fn a_change_contains_only_the_fields_that_were_sent() {
        let body = json!({"goal": null, "raisedOffline": 100.0, "title": null});
        let mut fields = Fields::new(body.as_object().unwrap());
        let expected = FundraiserChange {
            goal: Some(None),
            offline: Some(Some(Cents::new(100))),
            ..FundraiserChange::default()
        };
        assert_eq!(fields.read_change(), expected);
        assert_eq!(field_names(fields), ["title"]);
    }

    proptest! {
        #[test]
        fn no_value_causes_a_panic(values in proptest::collection::vec(any_value(), 12)) {
            let names = ["nonprofitId", "title", "description", "startDate", "endDate", "goal", "raisedOffline",
                "currency", "imageBase64", "type", "forNonprofits", "forNonprofitWeights"];
            let body: Map<String, Value> = names.iter().map(ToString::to_string).zip(values).collect();
            let mut fields = Fields::new(&body);
            fields.read_input();
            fields.read_change();
            fields.image();
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let id = json!("0f8fad5b-d9cb-469f-a165-70867728950e");
        prop_oneof![
            Just(json!(null)),
            Just(json!(giving::fundraisers::SPECIAL.to_string())),
            Just(json!("MULTIPLE_NONPROFITS")),
            Just(id.clone()),
            Just(json!([id.clone(), id])),
            Just(json!([1.0, -1, 1e308, "x"])),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            ".{0,200}".prop_map(Value::from),
        ]
    }
}
