//! `GET /v0.2/openapi.json`, and its copy in the repository.

use crate::world::World;
use causeway::api::openapi;
use serde_json::{Value, json};

on_both_databases!(the_description_is_served_without_a_key,);

#[test]
fn the_committed_description_matches_the_handlers() {
    let committed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json")).unwrap_or_default();
    assert!(
        committed == openapi::text(),
        "openapi.json is out of date: run make openapi and commit it"
    );
}

#[test]
fn the_description_is_openapi_3_1_with_every_status() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    let details = &description["paths"]["/v0.2/nonprofit/{identifier}"]["get"];
    assert_eq!(details["parameters"][0]["name"], "identifier");
    for status in ["200", "304", "400", "401", "403", "404", "429", "503"] {
        assert!(
            details["responses"][status]["description"].is_string(),
            "{status}"
        );
    }
    let problem = &details["responses"]["404"]["content"]["application/problem+json"]["schema"];
    assert_eq!(problem["$ref"], "#/components/schemas/ProblemBody");
    assert_eq!(
        description["components"]["securitySchemes"]["publicKey"]["name"],
        "apiKey"
    );
}

#[test]
fn parameters_and_fields_are_described_as_they_are_accepted() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let parameter = |path: &str, method: &str, name: &str| {
        let parameters = description["paths"][path][method]["parameters"]
            .as_array()
            .unwrap();
        let found = parameters.iter().find(|parameter| parameter["name"] == name);
        found.unwrap()["schema"].clone()
    };
    // A take above the maximum is reduced, so that no maximum is described, not even that of a format.
    for (path, name) in [
        ("/v0.2/search/{searchTerm}", "take"),
        ("/v0.2/browse/{cause}", "take"),
        ("/v0.2/browse/{cause}", "page"),
        ("/v0.2/fundraisers", "take"),
    ] {
        assert_eq!(
            parameter(path, "get", name),
            json!({"type": "integer", "minimum": 1}),
            "{path}"
        );
    }
    let switch = json!({"type": "string", "enum": ["0", "1", "false", "true"]});
    for (path, method, name) in [
        ("/v0.2/search/{searchTerm}", "get", "disbursable"),
        ("/v0.2/fundraiser", "post", "dryRun"),
        ("/v0.2/fundraiser/{id}", "patch", "dryRun"),
        ("/v0.2/fundraiser/{id}/close", "post", "dryRun"),
        ("/v0.2/fundraiser/{id}/reopen", "post", "dryRun"),
    ] {
        assert_eq!(parameter(path, method, name), switch, "{path}");
    }
    for input in ["FundraiserInput", "FundraiserChangeInput"] {
        let fields = description["components"]["schemas"][input]["properties"].as_object();
        for (name, schema) in fields.unwrap() {
            assert!(
                schema["allOf"].is_null(),
                "two schemas contradict each other: {name} of {input}"
            );
        }
    }
}

#[test]
fn every_reference_in_the_description_resolves() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let mut open = vec![&description];
    let mut references = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    references += 1;
                    assert!(
                        description.pointer(reference.trim_start_matches('#')).is_some(),
                        "{reference}"
                    );
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    assert!(references > 5, "{references}");
}

async fn the_description_is_served_without_a_key(world: &World) {
    let response = world.client.get_plain(200, "/v0.2/openapi.json").await;
    assert_eq!(response.header("content-type"), "application/json; charset=utf-8");
    assert_eq!(response.text(), openapi::text());
}
