//! What tools return, as JSON Schema: the schemas of the responses in `openapi.json`.

use crate::api::openapi;
use serde_json::{Map, Value, json};

/// Where schemas of the description refer to each other.
const COMPONENTS: &str = "#/components/schemas/";

/// Returns the schema of the successful response to an operation, with all schemas that it refers to.
pub(super) fn schema(operation_id: &str) -> Value {
    let description: Value = serde_json::from_str(openapi::text()).expect("the description is JSON");
    let operations = description["paths"].as_object().into_iter().flatten();
    let mut operations = operations.flat_map(|(_, path)| path.as_object().into_iter().flatten());
    let operation = operations.find(|(_, operation)| operation["operationId"] == operation_id);
    let (_, operation) = operation.expect("tools name operations of the API");
    let mut schema = operation["responses"]["200"]["content"]["application/json"]["schema"].clone();
    let mut found = Map::new();
    collect(&mut schema, &description["components"]["schemas"], &mut found);
    // A schema that only refers to another one does not say that it is an object, which clients look for.
    let referred = schema["$ref"]
        .as_str()
        .and_then(|name| name.strip_prefix("#/$defs/"));
    if let Some(root) = referred.and_then(|name| found.get(name)).cloned() {
        schema = root;
    }
    schema["$defs"] = Value::Object(found);
    schema
}

/// Rewrites the references of a schema, and adds the schemas that they name.
fn collect(schema: &mut Value, components: &Value, found: &mut Map<String, Value>) {
    match schema {
        Value::Object(fields) => {
            // Examples may be long, and models do not need them.
            fields.remove("example");
            fields.remove("examples");
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(COMPONENTS).map(str::to_owned)
            {
                *reference = format!("#/$defs/{name}");
                if !found.contains_key(&name) {
                    found.insert(name.clone(), json!({}));
                    let mut named = components[&name].clone();
                    collect(&mut named, components, found);
                    found.insert(name, named);
                }
            }
            for value in fields.values_mut() {
                collect(value, components, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, components, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_an_object_and_complete() {
        for operation in [
            "search",
            "details",
            "browse",
            "causes",
            "fundraiser",
            "raised",
            "create",
        ] {
            let schema = schema(operation);
            assert_eq!(schema["type"], "object", "{operation}");
            let text = schema.to_string();
            assert!(!text.contains(COMPONENTS), "{operation}");
            for reference in text.split("\"#/$defs/").skip(1) {
                let name = reference.split('"').next().unwrap();
                assert!(schema["$defs"][name].is_object(), "{operation}: {name}");
            }
        }
    }
}
