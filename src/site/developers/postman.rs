//! The API as a Postman collection (v2.1), which Bruno, Insomnia and Hoppscotch import too.

use serde_json::{Map, Value, json};

const SCHEMA: &str = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/// Returns the collection of a description as JSON. Requests go to `public_url`; the keys are variables.
pub(super) fn collection(description: &Value, public_url: &str) -> String {
    let mut folders: Map<String, Value> = Map::new();
    for (path, methods) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let tag = operation["tags"][0].as_str().unwrap_or("api");
            let folder = folders.entry(tag).or_insert_with(|| json!([]));
            if let Some(items) = folder.as_array_mut() {
                items.push(request(path, method, operation));
            }
        }
    }
    let folders: Vec<Value> = folders
        .into_iter()
        .map(|(name, item)| json!({"name": name, "item": item}))
        .collect();
    let collection = json!({
        "info": {
            "name": description["info"]["title"],
            "description": description["info"]["description"],
            "schema": SCHEMA,
        },
        "item": folders,
        "variable": [
            {"key": "baseUrl", "value": public_url},
            {"key": "publicKey", "value": ""},
            {"key": "privateKey", "value": "", "type": "secret"},
        ],
    });
    collection.to_string()
}

fn request(path: &str, method: &str, operation: &Value) -> Value {
    let parameters: Vec<&Value> = operation["parameters"].as_array().into_iter().flatten().collect();
    let is_private = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|scheme| scheme.get("privateKey").is_some());
    let place = |place: &'static str| {
        let of_place = parameters
            .iter()
            .filter(move |parameter| parameter["in"] == place);
        of_place.map(|parameter| {
            json!({
                "key": parameter["name"],
                "value": parameter["example"].as_str().unwrap_or_default(),
                "description": parameter["description"],
                "disabled": parameter["required"] != true,
            })
        })
    };
    let mut query: Vec<Value> = place("query").collect();
    if !is_private {
        query.push(json!({"key": "apiKey", "value": "{{publicKey}}"}));
    }
    let segments: Vec<String> = path
        .split('/')
        .skip(1)
        .map(|segment| match segment.strip_prefix('{') {
            Some(name) => format!(":{}", name.trim_end_matches('}')),
            None => segment.to_owned(),
        })
        .collect();
    let mut request = json!({
        "method": method.to_ascii_uppercase(),
        "description": operation["description"],
        "header": place("header").collect::<Vec<_>>(),
        "url": {
            "raw": format!("{{{{baseUrl}}}}/{}", segments.join("/")),
            "host": ["{{baseUrl}}"],
            "path": segments,
            "query": query,
            "variable": place("path").map(|mut variable| {
                if let Some(fields) = variable.as_object_mut() {
                    fields.remove("disabled");
                }
                variable
            }).collect::<Vec<_>>(),
        },
    });
    if is_private {
        request["auth"] = json!({"type": "basic", "basic": [
            {"key": "username", "value": "{{publicKey}}"},
            {"key": "password", "value": "{{privateKey}}"},
        ]});
    }
    if let Some(content) = operation["requestBody"]["content"].get("application/json") {
        let example = content.get("example").cloned().unwrap_or_else(|| json!({}));
        request["body"] = json!({
            "mode": "raw",
            "raw": serde_json::to_string_pretty(&example).unwrap_or_default(),
            "options": {"raw": {"language": "json"}},
        });
    }
    json!({"name": operation["summary"], "request": request})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_collection_has_every_operation() {
        let description: Value = serde_json::from_str(include_str!("../../../openapi.json")).unwrap();
        let text = collection(&description, "https://give.example.org");
        let collection: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(collection["info"]["schema"], SCHEMA);
        let mut found = BTreeSet::new();
        for item in collection["item"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|folder| folder["item"].as_array().unwrap())
        {
            let request = &item["request"];
            let path = request["url"]["path"].as_array().unwrap();
            let path: Vec<_> = path.iter().map(|segment| segment.as_str().unwrap()).collect();
            found.insert((request["method"].as_str().unwrap().to_owned(), path.join("/")));
            let query = request["url"]["query"].as_array().unwrap();
            let has_key = query.iter().any(|field| field["key"] == "apiKey");
            assert_eq!(has_key, request["auth"].is_null(), "{item}");
        }
        let mut expected = BTreeSet::new();
        for (path, methods) in description["paths"].as_object().unwrap() {
            let path = path.trim_start_matches('/').replace('{', ":").replace('}', "");
            for method in methods.as_object().unwrap().keys() {
                expected.insert((method.to_ascii_uppercase(), path.clone()));
            }
        }
        assert_eq!(found, expected);
    }
}
