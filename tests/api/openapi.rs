//! `GET /v0.2/openapi.json`, and its copy in the repository.

use super::fundraisers::donate;
use super::webhooks::Partner;
use crate::world::World;
use axum::http::Method;
use causeway::api::openapi;
use serde_json::{Map, Value, json};
use std::path::Path;

on_both_databases!(
    the_description_is_served_without_a_key,
    examples_have_the_shape_of_real_responses,
);

/// The items of a list in an example.
const EXAMPLE_ITEMS: usize = 2;

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
    // Its contact is the page of this server.
    let text = openapi::text().replacen(
        "https://causeway.example/developers",
        "http://causeway.test/developers",
        1,
    );
    assert_eq!(response.text(), text);
}

async fn examples_have_the_shape_of_real_responses(world: &World) {
    let partner = Partner::new(world).await;
    let organizer = &partner.organizer;
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let mut operations: Vec<(&String, &String, &Value)> = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().iter();
        operations.extend(methods.map(|(method, operation)| (path, method, operation)));
    }
    // The others need the fundraiser and the webhook endpoint that the first two create. Deleting it comes last.
    let order = |operation: &Value| match operation["operationId"].as_str().unwrap() {
        "create" => 0,
        "createWebhook" => 1,
        "testWebhook" => 2,
        "deleteWebhook" => 4,
        _ => 3,
    };
    operations.sort_by_key(|(_, _, operation)| order(operation));
    let (mut id, mut webhook, mut delivery) = (String::new(), String::new(), String::new());
    let (mut donation, receiver) = (String::new(), partner.receiver.url("/webhooks"));
    for (path, method, operation) in operations {
        let name = operation["operationId"].as_str().unwrap();
        // An export is not one JSON value.
        if name == "export" {
            continue;
        }
        let ids = [&id, &webhook, &delivery, &donation];
        let mut path = fill(path, operation, ids.map(String::as_str));
        if name == "changes" {
            let before = organizer
                .write(200, &Method::GET, &path, String::new(), &[])
                .await;
            let line = r#"{"ein":"530196605","websiteUrl":"https://www.redcross.org/donate"}"#;
            world.import_nonprofits(line).await.unwrap();
            partner.app.refresh_directory().await.unwrap();
            path = format!("{path}?since={}", before.json["cursor"].as_str().unwrap());
        }
        let is_public = operation["security"][0].get("publicKey").is_some();
        let response = if is_public {
            organizer.client.get(200, &path).await
        } else {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let body = &operation["requestBody"]["content"]["application/json"]["example"];
            let body = if body.is_null() {
                String::new()
            } else {
                // Examples have hosts that cannot be reached.
                body.to_string()
                    .replace("https://example.org/webhooks", &receiver)
            };
            let status = if name == "deleteWebhook" { 204 } else { 200 };
            organizer.write(status, &method, &path, body, &[]).await
        };
        match name {
            "create" => {
                let created = &response.json["data"]["fundraiser"];
                created["id"].as_str().unwrap().clone_into(&mut id);
                donate(world, created, "p-1", "ana", 2_500).await.unwrap();
                partner.deliver().await;
                let listed = organizer
                    .write(200, &Method::GET, "/v0.2/donations", "", &[])
                    .await;
                listed.json["donations"][0]["id"]
                    .as_str()
                    .unwrap()
                    .clone_into(&mut donation);
            }
            "createWebhook" => response.json["id"].as_str().unwrap().clone_into(&mut webhook),
            "testWebhook" => {
                response.json["id"].as_str().unwrap().clone_into(&mut delivery);
                partner.deliver().await;
            }
            _ => {}
        }
        let content = &operation["responses"]["200"]["content"];
        if content.get("application/json").is_none() {
            continue;
        }
        let example = &content["application/json"]["example"];
        if std::env::var_os("CAUSEWAY_RECORD_EXAMPLES").is_some() {
            record(
                name,
                &response
                    .text()
                    .replace(world.app.site.urls.public(), "https://causeway.example")
                    .replace(&receiver, "https://example.org/webhooks"),
            );
            continue;
        }
        assert_eq!(
            shape(example),
            shape(&response.json),
            "src/api/examples/{name}.json: run this story with CAUSEWAY_RECORD_EXAMPLES=1, then make openapi"
        );
    }
}

/// Fills in the parameters of a path: the IDs of a fundraiser, of a webhook endpoint, of a delivery and of a donation, or what
/// the description has as an example.
fn fill(path: &str, operation: &Value, [fundraiser, webhook, delivery, donation]: [&str; 4]) -> String {
    let mut filled = path.to_owned();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let placeholder = format!("{{{}}}", parameter["name"].as_str().unwrap());
        let value = match placeholder.as_str() {
            "{id}" if path.contains("/webhook/") => webhook,
            "{id}" if path.contains("/donation/") => donation,
            "{id}" => fundraiser,
            "{delivery}" => delivery,
            _ => parameter["example"].as_str().unwrap_or_default(),
        };
        filled = filled.replace(&placeholder, &value.replace(' ', "%20"));
    }
    filled
}

/// Returns the types of the fields of a value, and of the first item of each list.
pub fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), shape(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.first().map_or(json!([]), |first| json!([shape(first)])),
        Value::String(_) => json!("string"),
        Value::Number(_) => json!("number"),
        Value::Bool(_) => json!("boolean"),
        Value::Null => Value::Null,
    }
}

/// Writes a response as an example, with short lists.
pub fn record(name: &str, response: &str) {
    fn shorten(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(shorten),
            Value::Array(items) => {
                items.truncate(EXAMPLE_ITEMS);
                items.iter_mut().for_each(shorten);
            }
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(response).unwrap();
    shorten(&mut value);
    let text = serde_json::to_string_pretty(&value).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/api/examples/{name}.json"));
    std::fs::write(file, text).unwrap();
}
