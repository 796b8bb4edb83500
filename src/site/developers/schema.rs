//! Schemas of the OpenAPI description in words: the type of a value with its bounds, and the fields of an object.

use super::markdown::render_text;
use serde_json::Value;

/// How deep fields of fields are listed.
const MAX_DEPTH: usize = 4;
/// A longer pattern explains nothing to a person; its description does.
const MAX_PATTERN: usize = 60;

/// A field of an object, with its path from the root: `nonprofits[].name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    pub kind: String,
    pub is_required: bool,
    /// HTML.
    pub about: String,
}

/// Returns the schema that a reference names, or the schema itself.
pub(super) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let reference = schema["$ref"].as_str();
    let target = reference.and_then(|reference| root.pointer(reference.trim_start_matches('#')));
    target.unwrap_or(schema)
}

/// Returns the type of a value with its bounds: `integer, 1 to 500`.
pub(super) fn describe(schema: &Value, root: &Value) -> String {
    let schema = resolve(schema, root);
    if let Some(options) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let options: Vec<String> = options.iter().map(|option| describe(option, root)).collect();
        return options.join(" or ");
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    let mut kind = if names.is_empty() {
        "any".to_owned()
    } else {
        names.join(" or ")
    };
    if names.contains(&"array") {
        let items = describe(&schema["items"], root);
        kind = kind.replacen("array", &format!("array of {items}"), 1);
    }
    if let Some(format) = schema["format"].as_str() {
        let shown = match format {
            "uuid" => Some("UUID"),
            "date" => Some("date"),
            "date-time" => Some("date and time"),
            _ => None,
        };
        if let Some(shown) = shown {
            kind = format!("{kind} ({shown})");
        }
    }
    for bound in bounds(schema) {
        kind.push_str(", ");
        kind.push_str(&bound);
    }
    kind
}

fn bounds(schema: &Value) -> Vec<String> {
    let mut bounds = Vec::new();
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        bounds.push(match values.as_slice() {
            [one] => (*one).to_owned(),
            values => format!("one of {}", values.join(", ")),
        });
    }
    let number = |name: &str| schema[name].as_number().map(ToString::to_string);
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => bounds.push(format!("{least} to {most}")),
        (Some(least), None) => bounds.push(format!("at least {least}")),
        (None, Some(most)) => bounds.push(format!("at most {most}")),
        (None, None) => {}
    }
    if let Some(above) = number("exclusiveMinimum") {
        bounds.push(format!("more than {above}"));
    }
    if let Some(length) = number("maxLength") {
        bounds.push(format!("at most {length} characters"));
    }
    if let Some(items) = number("maxItems") {
        bounds.push(format!("at most {items} items"));
    }
    if let Some(pattern) = schema["pattern"]
        .as_str()
        .filter(|text| text.len() <= MAX_PATTERN)
    {
        bounds.push(format!("matching {pattern}"));
    }
    bounds
}

/// Returns the fields of an object and of the objects in it, in alphabetical order at each level.
pub(super) fn fields(schema: &Value, root: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    collect(schema, root, "", 0, &mut fields);
    fields
}

fn collect(schema: &Value, root: &Value, prefix: &str, depth: usize, fields: &mut Vec<Field>) {
    let schema = resolve(schema, root);
    if depth == MAX_DEPTH {
        return;
    }
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let target = resolve(field, root);
        let about = field["description"]
            .as_str()
            .or(target["description"].as_str())
            .unwrap_or_default();
        let path = format!("{prefix}{name}");
        fields.push(Field {
            name: path.clone(),
            kind: describe(field, root),
            is_required: required.iter().any(|known| known == name),
            about: render_text(about),
        });
        let items = resolve(&target["items"], root);
        if items["properties"].is_object() {
            collect(items, root, &format!("{path}[]."), depth + 1, fields);
        } else {
            collect(target, root, &format!("{path}."), depth + 1, fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_described_with_their_bounds() {
        let root = json!({"components": {"schemas": {"Item": {"type": "object"}}}});
        for (schema, text) in [
            (json!({"type": "integer", "minimum": 1}), "integer, at least 1"),
            (
                json!({"type": "number", "minimum": 1, "maximum": 500}),
                "number, 1 to 500",
            ),
            (json!({"type": "string", "format": "uuid"}), "string (UUID)"),
            (
                json!({"type": ["string", "null"], "maxLength": 9}),
                "string or null, at most 9 characters",
            ),
            (
                json!({"type": "string", "enum": ["0", "1"]}),
                "string, one of 0, 1",
            ),
            (
                json!({"type": "array", "items": {"$ref": "#/components/schemas/Item"}}),
                "array of object",
            ),
            (
                json!({"oneOf": [{"type": "string", "enum": ["A"]}, {"type": "null"}]}),
                "string, A or null",
            ),
            (json!({}), "any"),
        ] {
            assert_eq!(describe(&schema, &root), text, "{schema}");
        }
    }

    #[test]
    fn fields_of_objects_and_lists_have_paths() {
        let root = json!({"components": {"schemas": {"Item": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string", "description": "Its `name`."}},
        }}}});
        let schema = json!({"type": "object", "required": ["items"], "properties": {
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}},
            "best": {"$ref": "#/components/schemas/Item"},
        }});
        let mut fields = fields(&schema, &root);
        // Objects keep the order of their fields, or are sorted, depending on the features of serde_json.
        fields.sort_by(|one, other| one.name.cmp(&other.name));
        let names: Vec<_> = fields
            .iter()
            .map(|field| (field.name.as_str(), field.is_required))
            .collect();
        assert_eq!(
            names,
            [
                ("best", false),
                ("best.name", true),
                ("items", true),
                ("items[].name", true)
            ]
        );
        assert_eq!(fields[1].about, "<p>Its <code>name</code>.</p>\n");
    }
}
