//! Reads the fields of a request body, and collects every error with the name of its field.

use crate::error::Error;
use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use platform::field_error::FieldError;
use platform::money::{Cents, MAX_WEIGHT};
use serde_json::{Map, Value};
use uuid::Uuid;

const MAX_TITLE_LENGTH: usize = 120;
const MAX_DESCRIPTION_LENGTH: usize = 20_000;
/// A date as people write it is shorter.
const MAX_DATE_LENGTH: usize = 64;
/// From 1970 until the year 2200: later dates are mistakes.
const DATES: std::ops::Range<i64> = 0..7_258_118_400_000;
const NULL: Value = Value::Null;

/// The fields of one body, and what is wrong with them so far.
#[derive(Debug)]
pub struct Fields<'a> {
    fields: &'a Map<String, Value>,
    pub errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    pub fn new(fields: &'a Map<String, Value>) -> Fields<'a> {
        Fields {
            fields,
            errors: Vec::new(),
        }
    }

    /// Fails with all errors, if there are any.
    pub fn finish(self) -> Result<(), Error> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(Error::Invalid(self.errors))
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A field, null where it is left out.
    pub fn get(&self, name: &str) -> &'a Value {
        self.fields.get(name).unwrap_or(&NULL)
    }

    pub fn add_error(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.errors.push(FieldError::new(field, detail));
    }

    pub fn title(&mut self) -> Option<String> {
        let name = "title";
        let title = match self.get(name) {
            Value::String(text) => text.trim(),
            Value::Null => {
                self.add_error(name, "a title is required");
                return None;
            }
            _ => {
                self.add_error(name, "send a string");
                return None;
            }
        };
        let length = title.chars().count();
        if length == 0 || length > MAX_TITLE_LENGTH {
            self.add_error(name, "the title must have 1 to 120 characters");
        } else if title.contains(char::is_control) {
            self.add_error(name, "the title must be one line without control characters");
        } else {
            return Some(title.to_owned());
        }
        None
    }

    pub fn description(&mut self) -> Option<String> {
        let name = "description";
        let text = match self.get(name) {
            Value::Null => return None,
            Value::String(text) => text,
            _ => {
                self.add_error(name, "send a string, or null");
                return None;
            }
        };
        let is_control = |letter: char| letter.is_control() && !"\n\r\t".contains(letter);
        if text.trim().chars().count() > MAX_DESCRIPTION_LENGTH {
            self.add_error(name, "the description must have at most 20,000 characters");
        } else if text.contains(is_control) {
            self.add_error(
                name,
                "the description must not contain control characters other than tabs and line breaks",
            );
        } else if !text.trim().is_empty() {
            return Some(text.trim().to_owned());
        }
        None
    }

    pub fn date(&mut self, name: &'static str) -> Option<i64> {
        let text = match self.get(name) {
            Value::Null => return None,
            Value::String(text) if text.len() <= MAX_DATE_LENGTH => text.trim(),
            _ => "",
        };
        let millis = text.parse().map(Timestamp::as_millisecond).ok();
        match millis {
            Some(millis) if DATES.contains(&millis) => return Some(millis),
            None if !is_moment(text) => self.add_error(
                name,
                "send a date with time and zone, such as 2026-05-01T00:00:00Z, or null",
            ),
            _ => self.add_error(name, "send a date between 1970 and 2199"),
        }
        None
    }

    /// An amount of at least `least` cents.
    pub fn amount(&mut self, name: &'static str, min: i64) -> Option<Cents> {
        let value = self.get(name);
        if value.is_null() {
            return None;
        }
        let amount = whole_number(value).filter(|cents| (min..=Cents::MAX.get()).contains(cents));
        if amount.is_none() {
            self.add_error(
                name,
                format!(
                    "send a whole number of cents from {min} to {}, or null",
                    Cents::MAX.get()
                ),
            );
        }
        amount.map(Cents::new)
    }

    pub fn currency(&mut self) {
        if self.has("currency") && self.get("currency") != "USD" {
            self.add_error("currency", "only \"USD\" is supported");
        }
    }

    pub fn image(&mut self) -> Option<&'a str> {
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

    pub fn uuid(&mut self, field: impl Into<String>, value: &Value) -> Option<Uuid> {
        let text = value.as_str().map(str::trim).filter(|text| text.len() == 36);
        let id = text.and_then(|text| Uuid::try_parse(text).ok());
        if id.is_none() {
            self.add_error(
                field,
                "send the ID of a nonprofit: a UUID, as `id` of its details",
            );
        }
        id
    }

    pub fn weight(&mut self, index: usize, value: &Value) -> Option<f64> {
        let weight = value
            .as_f64()
            .filter(|weight| *weight > 0.0 && *weight <= MAX_WEIGHT);
        if weight.is_none() {
            self.add_error(
                format!("forNonprofitWeights[{index}]"),
                "the weight must be greater than 0 and at most 1e12",
            );
        }
        weight
    }

    /// The end is after the start.
    pub fn in_order(&mut self, starts_at: Option<i64>, ends_at: Option<i64>) {
        if let (Some(start), Some(end)) = (starts_at, ends_at)
            && end <= start
        {
            self.add_error("endDate", "the end must be after the start");
        }
    }
}

/// A whole number, which some programs send as 100.0. Above 2^53, a float is no longer exact.
fn whole_number(value: &Value) -> Option<i64> {
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(is_whole).map(|number| number as i64))
}

/// Is it a date with time and zone, be it too far away to be counted?
fn is_moment(text: &str) -> bool {
    Pieces::parse(text).is_ok_and(|pieces| pieces.time().is_some() && pieces.offset().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_date_that_is_too_far_away_is_told_from_what_is_no_date() {
        for (text, expected) in [
            ("9999-12-31T23:59:59Z", "between 1970 and 2199"),
            ("9999-12-31T23:59:59-12:00", "between 1970 and 2199"),
            ("2200-01-01T00:00:00Z", "between 1970 and 2199"),
            ("1969-12-31T23:59:59Z", "between 1970 and 2199"),
            ("9999-12-31T23:59:59", "with time and zone"),
            ("9999-12-31", "with time and zone"),
            ("9999-13-31T23:59:59Z", "with time and zone"),
            ("soon", "with time and zone"),
            ("", "with time and zone"),
        ] {
            let body = json!({"endDate": text});
            let mut fields = Fields::new(body.as_object().unwrap());
            assert_eq!(fields.date("endDate"), None);
            assert!(
                fields.errors[0].detail.contains(expected),
                "{text}: {:?}",
                fields.errors
            );
        }
    }
}
