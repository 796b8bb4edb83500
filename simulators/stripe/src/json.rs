//! Short ways to read and change JSON objects.

use serde_json::{Map, Value};

/// Returns a field with text, or an empty string.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a field with text, or `None` if it is missing or null.
pub(crate) fn maybe_text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// Returns a field with a number, or zero.
pub(crate) fn number(value: &Value, field: &str) -> i64 {
    value.get(field).and_then(Value::as_i64).unwrap_or_default()
}

/// Returns a field with a boolean, or false.
pub(crate) fn flag(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or_default()
}

/// Copies the fields of `changes` to `target`, and returns the values that they had before, if they changed.
pub(crate) fn merge(target: &mut Value, changes: &Value) -> Map<String, Value> {
    let mut previous = Map::new();
    if let (Some(target), Some(changes)) = (target.as_object_mut(), changes.as_object()) {
        for (field, value) in changes {
            let before = target.insert(field.clone(), value.clone()).unwrap_or(Value::Null);
            if before != *value {
                previous.insert(field.clone(), before);
            }
        }
    }
    previous
}

/// Applies sent metadata: new keys are added, and an empty text removes a key.
pub(crate) fn merge_metadata(current: &Value, sent: Option<&Value>) -> Value {
    let mut metadata = current.as_object().cloned().unwrap_or_default();
    match sent {
        Some(Value::Object(sent)) => {
            for (key, value) in sent {
                if value.as_str().is_some_and(str::is_empty) {
                    metadata.remove(key);
                } else {
                    metadata.insert(key.clone(), value.clone());
                }
            }
        }
        Some(_) => metadata.clear(),
        None => {}
    }
    Value::Object(metadata)
}

/// A list inside of an object.
pub(crate) fn embedded_list(url: &str, data: &[Value]) -> Value {
    serde_json::json!({ "object": "list", "data": data, "has_more": false, "url": url })
}
