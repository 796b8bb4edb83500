//! Parameters of a request: form encoding with brackets, such as `line_items[0][price_data][currency]=usd`.

use crate::error::{ApiError, Result};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// The parameters of a request. All values are text until they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params {
    value: Map<String, Value>,
    /// The name of the parameter that holds these, for errors.
    prefix: String,
}

impl Params {
    /// Parses a query or a form.
    pub(crate) fn parse(encoded: &str) -> Params {
        let mut root = Value::Object(Map::new());
        for pair in encoded.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name), decode(value));
            let mut keys = name.split('[').map(|key| key.trim_end_matches(']'));
            let first = keys.next().unwrap_or_default().to_owned();
            let keys: Vec<&str> = std::iter::once(first.as_str()).chain(keys).collect();
            insert(&mut root, &keys, value);
        }
        let mut value = into_arrays(root);
        Params {
            value: value.as_object_mut().map(std::mem::take).unwrap_or_default(),
            prefix: String::new(),
        }
    }

    /// Reads parameters from JSON, for the control interface.
    pub(crate) fn from_json(value: Value) -> Params {
        Params {
            value: match value {
                Value::Object(value) => value,
                _ => Map::new(),
            },
            prefix: String::new(),
        }
    }

    fn name(&self, field: &str) -> String {
        if self.prefix.is_empty() {
            field.to_owned()
        } else {
            format!("{}[{field}]", self.prefix)
        }
    }

    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.value.get(field)
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.value.contains_key(field)
    }

    /// Refuses parameters that are not in the list.
    pub(crate) fn allow(&self, names: &[&str]) -> Result<()> {
        match self.value.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(ApiError::unknown(&self.name(name))),
            None => Ok(()),
        }
    }

    /// Returns a text that is not empty.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.get(field)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    }

    pub(crate) fn required(&self, field: &str) -> Result<&str> {
        self.text(field)
            .ok_or_else(|| ApiError::missing(&self.name(field)))
    }

    pub(crate) fn integer(&self, field: &str) -> Result<Option<i64>> {
        let number = match self.get(field) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_i64(),
            Some(value) => value.as_str().and_then(|text| text.parse().ok()),
        };
        if number.is_none() {
            let shown = self.text(field).unwrap_or_default();
            let error = self.error(field, format!("Invalid integer: {shown}"));
            return Err(error.with("code", "parameter_invalid_integer"));
        }
        Ok(number)
    }

    pub(crate) fn required_integer(&self, field: &str) -> Result<i64> {
        self.integer(field)?
            .ok_or_else(|| ApiError::missing(&self.name(field)))
    }

    pub(crate) fn flag(&self, field: &str) -> Option<bool> {
        match self.get(field)? {
            Value::Bool(flag) => Some(*flag),
            value => value.as_str().map(|text| text == "true"),
        }
    }

    /// Returns the parameters inside of one, or none.
    pub(crate) fn nested(&self, field: &str) -> Params {
        self.maybe_nested(field).unwrap_or_else(|| Params {
            value: Map::new(),
            prefix: self.name(field),
        })
    }

    pub(crate) fn maybe_nested(&self, field: &str) -> Option<Params> {
        let value = self.get(field)?.as_object()?.clone();
        Some(Params {
            value,
            prefix: self.name(field),
        })
    }

    /// Returns the elements of an array of objects.
    pub(crate) fn elements(&self, field: &str) -> Vec<Params> {
        let elements = self.get(field).and_then(Value::as_array);
        elements
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(index, value)| Params {
                value: value.as_object().cloned().unwrap_or_default(),
                prefix: format!("{}[{index}]", self.name(field)),
            })
            .collect()
    }

    /// Returns the elements of an array of texts.
    pub(crate) fn texts(&self, field: &str) -> Vec<String> {
        let elements = self.get(field).and_then(Value::as_array);
        elements
            .into_iter()
            .flatten()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect()
    }

    /// Returns the parameter as it is, or null.
    pub(crate) fn value(&self, field: &str) -> Value {
        match self.get(field) {
            Some(Value::String(text)) if text.is_empty() => Value::Null,
            Some(value) => value.clone(),
            None => Value::Null,
        }
    }

    /// Returns the first of the allowed texts if the parameter is missing, and refuses any other.
    pub(crate) fn choice<'a>(&self, field: &str, allowed: &[&'a str]) -> Result<&'a str> {
        let Some(text) = self.text(field) else {
            return Ok(allowed[0]);
        };
        let found = allowed.iter().find(|choice| **choice == text);
        found.copied().ok_or_else(|| {
            let message = format!("Invalid {field}: must be one of {}", allowed.join(", "));
            ApiError::param(&self.name(field), message)
        })
    }

    /// Returns an error about one of these parameters.
    pub(crate) fn error(&self, field: &str, message: impl Into<String>) -> ApiError {
        ApiError::param(&self.name(field), message)
    }
}

fn decode(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

fn insert(target: &mut Value, keys: &[&str], value: String) {
    let Some((first, rest)) = keys.split_first() else {
        *target = Value::String(value);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Some(object) = target.as_object_mut() {
        // `name[]` appends.
        let key = if first.is_empty() {
            object.len().to_string()
        } else {
            (*first).to_owned()
        };
        insert(object.entry(key).or_insert(Value::Null), rest, value);
    }
}

/// Turns objects whose keys are 0, 1, 2 and so on into arrays.
fn into_arrays(value: Value) -> Value {
    let Value::Object(object) = value else {
        return value;
    };
    let is_array =
        !object.is_empty() && (0..object.len()).all(|index| object.contains_key(&index.to_string()));
    let mut members: Vec<(String, Value)> = object
        .into_iter()
        .map(|(key, value)| (key, into_arrays(value)))
        .collect();
    if is_array {
        members.sort_by_key(|(key, _)| key.parse::<usize>().unwrap_or_default());
        return Value::Array(members.into_iter().map(|(_, value)| value).collect());
    }
    Value::Object(members.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn brackets_nest_and_numbers_make_arrays() {
        let params = Params::parse(
            "mode=payment&line_items[0][price_data][currency]=usd&line_items[0][quantity]=2&expand[]=a.b&expand[]=c\
             &metadata[a%20b]=x+y&name=J%C3%B6rg",
        );
        assert_eq!(
            Value::Object(params.value.clone()),
            json!({
                "mode": "payment",
                "line_items": [{"price_data": {"currency": "usd"}, "quantity": "2"}],
                "expand": ["a.b", "c"],
                "metadata": {"a b": "x y"},
                "name": "Jörg",
            })
        );
        let items = params.elements("line_items");
        assert_eq!(items[0].integer("quantity").unwrap(), Some(2));
        let error = items[0].nested("price_data").required("product").unwrap_err();
        assert_eq!(error.fields["param"], "line_items[0][price_data][product]");
    }

    #[test]
    fn an_amount_with_decimals_is_no_integer() {
        let error = Params::parse("amount=10.5").integer("amount").unwrap_err();
        assert_eq!(error.fields["code"], "parameter_invalid_integer");
        assert_eq!(error.status, 400);
    }
}
