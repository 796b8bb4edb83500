//! The requests of OpenRefine to `/reconcile`, as its source code sends them.
//!
//! Its pages, which come from `http://127.0.0.1:3333`, request the manifest, suggestions, previews and property proposals
//! with jQuery: as JSON if the service allows other origins, as `/reconcile` does, and else as a script (JSONP). Its server
//! posts batches and data extension queries as forms. Pages and server append to the URLs of the manifest, so the story
//! follows them too.
//!
//! Every answer is checked twice: for the fields that version 0.2 of the Reconciliation Service API allows, and with its
//! published JSON schemas. The schemas have no license, so they are not part of this repository: `make test-reconcile`
//! downloads them, and `CAUSEWAY_TEST_RECONCILIATION` names the folder.

use crate::client::{Client, Response};
use crate::dashboard::visitor::encode;
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use axum::http::Method;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

on_both_databases!(openrefine_gets_valid_answers_to_its_own_requests);

/// What jQuery sends from a page of OpenRefine.
const PAGE: [(&str, &str); 3] = [
    ("origin", "http://127.0.0.1:3333"),
    ("accept", "application/json, text/javascript, */*; q=0.01"),
    ("referer", "http://127.0.0.1:3333/"),
];

/// What the HTTP client of OpenRefine's server sends with a form.
const SERVER: [(&str, &str); 3] = [
    ("content-type", "application/x-www-form-urlencoded; charset=UTF-8"),
    ("user-agent", "OpenRefine 3.9.3"),
    ("accept-encoding", "identity"),
];

const PROPOSAL: &str = "data-extension-property-proposal";

/// The answers, each with the name of its schema.
#[derive(Default)]
struct Answers(Vec<(&'static str, Value)>);

impl Answers {
    fn add(&mut self, schema: &'static str, response: &Response) -> Value {
        assert!(response.header("content-type").starts_with("application/json"));
        check_form(schema, &response.json);
        if schema == PROPOSAL {
            // There is no schema for it, but its properties have the form of those that are suggested.
            let properties = json!({"result": response.json["properties"]});
            self.0.push(("suggest-properties-response", properties));
        } else {
            self.0.push((schema, response.json.clone()));
        }
        response.json.clone()
    }

    /// Validates all answers with the published schemas, if they are there.
    fn validate(&self, folder: &Path) {
        let Some(tools) = std::env::var_os("CAUSEWAY_TEST_RECONCILIATION") else {
            return;
        };
        let answers: Vec<Value> = self
            .0
            .iter()
            .map(|(schema, answer)| json!({"schema": schema, "answer": answer}))
            .collect();
        let file = folder.join("answers.json");
        std::fs::write(&file, Value::Array(answers).to_string()).unwrap();
        let output = Command::new(Path::new(&tools).join("venv/bin/python"))
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/reconciliation/validate.py"
            ))
            .args([&Path::new(&tools).join("schemas"), &file])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let report = String::from_utf8(output.stdout).unwrap();
        assert_eq!(report.trim(), format!("{} valid answers", self.0.len()));
    }
}

async fn openrefine_gets_valid_answers_to_its_own_requests(world: &World) {
    let rows = [
        nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        nonprofit_row("020240409", "FIRST BAPTIST CHURCH"),
        nonprofit_row("020240417", "FIRST BAPTIST CHURCH").with("CITY", "NASHUA"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let line = r#"{"ein":"020240383","website":"https://granite.example","causes":["education"]}"#;
    world.import_nonprofits(line).await.unwrap();
    let client = &world.client;
    let mut answers = Answers::default();

    // "Add standard service" with the URL of the documentation.
    let service = format!("/reconcile?apiKey={}", client.key);
    let response = from_page(client, &service).await;
    let manifest = answers.add("manifest", &response);
    answers.add("manifest", &from_page(client, "/reconcile").await);

    // "Start reconciling": first it guesses the type from a sample, then it sends batches.
    let sample = json!({
        "q0": {"query": "Granite Town Library", "limit": 3},
        "q1": {"query": "Église Baptiste & Söhne", "limit": 3},
    });
    let guessed = answers.add(
        "reconciliation-result-batch",
        &form(client, &service, "queries", &sample).await,
    );
    assert_eq!(guessed["q0"]["result"][0]["type"][0]["id"], "nonprofit");
    let batch = json!({
        "q0": {"query": "granite town libary", "type": "nonprofit", "type_strict": "should"},
        "q1": {"query": "First Baptist Church", "type": "nonprofit", "type_strict": "should",
               "properties": [{"pid": "city", "v": "Nashua"}, {"pid": "state", "v": "NH"}]},
        "q2": {"query": "First Baptist Church", "type": "nonprofit", "type_strict": "should"},
        "q3": {"query": "Blue Whale Rescue", "type": "nonprofit", "type_strict": "should"},
    });
    let results = answers.add(
        "reconciliation-result-batch",
        &form(client, &service, "queries", &batch).await,
    );
    assert_eq!(results["q0"]["result"][0]["match"], true);
    assert_eq!(results["q1"]["result"][0]["match"], true);
    assert_eq!(results["q2"]["result"].as_array().unwrap().len(), 2);
    assert_eq!(results["q3"], json!({"result": []}));
    let id = results["q0"]["result"][0]["id"].as_str().unwrap();

    complete_typing(client, &manifest, &mut answers).await;

    // A candidate under the mouse pointer: a frame.
    let preview = manifest["preview"]["url"].as_str().unwrap().replace("{{id}}", id);
    let preview = client.get_plain(200, path_of(&preview)).await;
    assert!(preview.header("content-type").starts_with("text/html"));
    assert!(preview.text().contains("Granite Town Library"));
    let view = manifest["view"]["url"].as_str().unwrap().replace("{{id}}", id);
    client.get_plain(301, path_of(&view)).await;

    // "Add columns from reconciled values".
    let propose = join(
        &manifest["extend"]["propose_properties"],
        "service_url",
        "service_path",
    );
    let mut properties = Vec::new();
    for more in ["?type=nonprofit", "?type=nonprofit&limit=50"] {
        let response = from_page(client, &format!("{propose}{more}")).await;
        let proposal = answers.add(PROPOSAL, &response);
        properties.clone_from(proposal["properties"].as_array().unwrap());
    }
    let properties: Vec<Value> = properties
        .iter()
        .map(|property| json!({"id": property["id"], "settings": {}}))
        .collect();
    let query = json!({"ids": [id], "properties": properties});
    let extended = answers.add(
        "data-extension-response",
        &form(client, &service, "extend", &query).await,
    );
    assert_eq!(extended["meta"].as_array().unwrap().len(), properties.len());
    assert_eq!(extended["rows"][id]["ein"], json!([{"str": "020240383"}]));
    assert_eq!(extended["rows"][id]["revenue"], json!([{"int": 64_000}]));

    answers.validate(world.data());
}

/// "Search for match", and the other fields that complete what is typed: jQuery appends the parameters.
async fn complete_typing(client: &Client, manifest: &Value, answers: &mut Answers) {
    for (kind, schema, prefix, more) in [
        (
            "entity",
            "suggest-entities-response",
            "granite",
            "&type=nonprofit&type_strict=any",
        ),
        ("property", "suggest-properties-response", "cit", ""),
        ("type", "suggest-types-response", "non", ""),
    ] {
        let suggest = &manifest["suggest"][kind];
        let url = join(suggest, "service_url", "service_path");
        let separator = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{separator}prefix={prefix}{more}");
        let found = answers.add(schema, &from_page(client, &url).await);
        let suggested = found["result"][0]["id"].as_str().unwrap();
        let flyout = join(suggest, "flyout_service_url", "flyout_service_path").replace("${id}", suggested);
        let flyout = from_page(client, &flyout).await.json;
        assert_eq!(flyout["id"], suggested);
        assert!(flyout["html"].is_string());
    }
}

/// Sends a request as a page of OpenRefine does, which may read the response.
async fn from_page(client: &Client, url: &str) -> Response {
    let response = client.send(200, &Method::GET, path_of(url), &PAGE).await;
    assert_eq!(response.header("access-control-allow-origin"), "*");
    response
}

/// Posts a form as the server of OpenRefine does.
async fn form(client: &Client, service: &str, name: &str, value: &Value) -> Response {
    let body = encode(&[(name, &value.to_string())]);
    client.send_body(200, &Method::POST, service, &SERVER, body).await
}

fn join(service: &Value, url: &str, path: &str) -> String {
    let text = |name: &str| service[name].as_str().unwrap();
    format!("{}{}", text(url), text(path))
}

/// Returns the part of a URL after the host.
fn path_of(url: &str) -> &str {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    url[after_scheme..]
        .find('/')
        .map_or("/", |at| &url[after_scheme + at..])
}

/// Checks that an answer has the fields that the specification requires, and no field that it does not know.
fn check_form(schema: &str, answer: &Value) {
    match schema {
        "manifest" => check_manifest(answer),
        "reconciliation-result-batch" => {
            for result in answer.as_object().unwrap().values() {
                let result = fields(result, &["result"], &[]);
                each(&result["result"], check_candidate);
            }
        }
        "suggest-entities-response" => {
            each(&fields(answer, &["result"], &[])["result"], |entity| {
                let entity = fields(entity, &["id", "name"], &["description", "notable"]);
                check_texts(entity, &["id", "name", "description"]);
                each(&entity["notable"], check_named);
            });
        }
        "suggest-properties-response" | "suggest-types-response" => {
            each(&fields(answer, &["result"], &[])["result"], check_named);
        }
        PROPOSAL => {
            let proposal = fields(answer, &["properties"], &["type", "limit"]);
            check_texts(proposal, &["type"]);
            assert!(proposal.get("limit").is_none_or(Value::is_u64));
            each(&proposal["properties"], check_named);
        }
        "data-extension-response" => {
            let response = fields(answer, &["meta", "rows"], &[]);
            each(&response["meta"], check_named);
            for row in response["rows"].as_object().unwrap().values() {
                for values in row.as_object().unwrap().values() {
                    each(values, |value| {
                        let value = value.as_object().unwrap();
                        assert_eq!(value.len(), 1, "{value:?}");
                        let is_valid = value.get("str").is_some_and(Value::is_string)
                            || value.get("int").is_some_and(Value::is_i64);
                        assert!(is_valid, "{value:?}");
                    });
                }
            }
        }
        _ => panic!("{schema} is not a schema"),
    }
}

fn check_manifest(manifest: &Value) {
    let required = ["versions", "name", "identifierSpace", "schemaSpace"];
    let texts = [
        "name",
        "identifierSpace",
        "schemaSpace",
        "documentation",
        "serviceVersion",
    ];
    let optional = [
        "documentation",
        "serviceVersion",
        "defaultTypes",
        "view",
        "batchSize",
        "authentication",
        "suggest",
        "preview",
        "extend",
    ];
    let manifest = fields(manifest, &required, &optional);
    check_texts(manifest, &texts);
    assert!(manifest["versions"].as_array().unwrap().contains(&json!("0.2")));
    each(&manifest["defaultTypes"], check_named);
    let view = fields(&manifest["view"], &["url"], &[]);
    assert!(view["url"].as_str().unwrap().contains("{{id}}"));
    let preview = fields(&manifest["preview"], &["url", "width", "height"], &[]);
    assert!(preview["url"].as_str().unwrap().contains("{{id}}"));
    assert!(preview["width"].is_u64() && preview["height"].is_u64());
    for service in fields(&manifest["suggest"], &["entity", "property", "type"], &[]).values() {
        let names = [
            "service_url",
            "service_path",
            "flyout_service_url",
            "flyout_service_path",
        ];
        check_texts(fields(service, &names, &[]), &names);
        assert!(service["flyout_service_path"].as_str().unwrap().contains("${id}"));
    }
    let extend = fields(
        &manifest["extend"],
        &["propose_properties", "property_settings"],
        &[],
    );
    let names = ["service_url", "service_path"];
    check_texts(fields(&extend["propose_properties"], &names, &[]), &names);
    assert_eq!(extend["property_settings"], json!([]));
    let authentication = fields(&manifest["authentication"], &["type", "name", "in"], &[]);
    assert_eq!(authentication["type"], "apiKey");
    assert!(authentication["name"].is_string() && authentication["in"] == "query");
}

fn check_candidate(candidate: &Value) {
    let required = ["id", "name", "score"];
    let candidate = fields(
        candidate,
        &required,
        &["description", "features", "match", "type"],
    );
    check_texts(candidate, &["id", "name", "description"]);
    assert!(candidate["score"].is_number() && candidate["match"].is_boolean());
    each(&candidate["type"], check_named);
    each(&candidate["features"], |feature| {
        let feature = fields(feature, &["id", "value"], &[]);
        check_texts(feature, &["id"]);
        assert!(feature["value"].is_boolean());
    });
}

/// A type, a property or a column.
fn check_named(named: &Value) {
    check_texts(fields(named, &["id", "name"], &[]), &["id", "name"]);
}

/// Returns the fields of an object that has all required fields, and no others than the optional ones.
fn fields<'a>(value: &'a Value, required: &[&str], optional: &[&str]) -> &'a Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("{value}"));
    for name in required {
        assert!(object.contains_key(*name), "no {name} in {value}");
    }
    for name in object.keys() {
        let is_known = required.contains(&&**name) || optional.contains(&&**name);
        assert!(is_known, "{name} in {value}");
    }
    object
}

/// Checks that these fields are texts if they are present.
fn check_texts(object: &Map<String, Value>, names: &[&str]) {
    for name in names {
        let is_text = object
            .get(*name)
            .is_none_or(|value| value.as_str().is_some_and(|text| !text.is_empty()));
        assert!(is_text, "{name} in {object:?}");
    }
}

fn each(list: &Value, check: impl Fn(&Value)) {
    for item in list.as_array().unwrap_or_else(|| panic!("{list}")) {
        check(item);
    }
}
