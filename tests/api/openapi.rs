//! `GET /v0.2/openapi.json`, and its copy in the repository.

use crate::world::World;
use causeway::api::openapi;
use serde_json::Value;

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
