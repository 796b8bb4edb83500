//! The reconciliation service under `/reconcile`.
//!
//! Every response is checked against the form that version 0.2 of the Reconciliation Service API requires. The requests
//! have the form in which OpenRefine sends them.

use crate::client::{Client, Response};
use crate::dashboard::visitor::encode;
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use access::keys::Kind;
use access::limits::call::Owner;
use axum::http::Method;
use causeway::app::App;
use causeway::app::bulk_work::MAX_PENDING;
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

on_both_databases!(
    the_manifest_describes_the_service_with_the_key_of_its_url,
    a_batch_of_queries_gets_candidates,
    properties_decide_between_nonprofits_with_the_same_name,
    an_identifier_finds_its_nonprofit,
    suggestions_complete_entities_properties_and_types,
    a_preview_may_be_framed_and_has_no_scripts,
    data_extension_adds_columns,
    requests_need_a_key_and_count_as_searches,
    invalid_requests_are_problems,
    data_extension_is_bounded_and_refuses_duplicates,
    one_key_does_not_make_others_wait,
    a_request_that_ended_leaves_no_work_behind,
);

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn import(world: &World) {
    let rows = [
        nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        nonprofit_row("020240409", "FIRST BAPTIST CHURCH"),
        nonprofit_row("020240417", "FIRST BAPTIST CHURCH")
            .with("CITY", "NASHUA")
            .with("ZIP", "03060-0001"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let line = r#"{"ein":"020240383","website":"https://granite.example","causes":["education"]}"#;
    world.import_nonprofits(line).await.unwrap();
}

async fn post(world: &World, expected: u16, fields: &[(&str, &str)]) -> Response {
    let url = format!("/reconcile?apiKey={}", world.client.key);
    let response = world
        .client
        .send_body(expected, &Method::POST, &url, &[FORM], encode(fields))
        .await;
    assert_eq!(response.header("access-control-allow-origin"), "*");
    response
}

/// Sends a batch as OpenRefine does, and checks the form of the response.
async fn reconcile(world: &World, batch: &Value) -> Value {
    let response = post(world, 200, &[("queries", &batch.to_string())]).await.json;
    let results = response.as_object().unwrap();
    let ids: BTreeSet<_> = batch.as_object().unwrap().keys().collect();
    assert_eq!(results.keys().collect::<BTreeSet<_>>(), ids);
    for result in results.values() {
        let candidates = result["result"].as_array().expect("every query has a result");
        let mut last = f64::INFINITY;
        for candidate in candidates {
            assert!(!candidate["id"].as_str().unwrap().is_empty());
            assert!(!candidate["name"].as_str().unwrap().is_empty());
            let score = candidate["score"].as_f64().unwrap();
            assert!(score <= last, "sorted by score");
            last = score;
            assert!(candidate["match"].is_boolean());
            for r#type in candidate["type"].as_array().unwrap() {
                assert_eq!(*r#type, json!({"id": "nonprofit", "name": "Nonprofit"}));
            }
            for feature in candidate["features"].as_array().unwrap() {
                assert!(feature["id"].is_string() && feature["value"].is_boolean());
            }
            if let Some(description) = candidate.get("description") {
                assert!(description.is_string());
            }
        }
    }
    response
}

async fn the_manifest_describes_the_service_with_the_key_of_its_url(world: &World) {
    import(world).await;
    let key = world.client.key.clone();
    let manifest = world.client.get(200, "/reconcile").await;
    assert_eq!(manifest.header("access-control-allow-origin"), "*");
    let manifest = manifest.json;
    let text = |pointer: &str| {
        manifest
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap()
            .to_owned()
    };
    assert!(manifest["versions"].as_array().unwrap().contains(&json!("0.2")));
    for required in [
        "/name",
        "/identifierSpace",
        "/schemaSpace",
        "/documentation",
        "/serviceVersion",
    ] {
        assert!(!text(required).is_empty());
    }
    assert_eq!(
        manifest["defaultTypes"],
        json!([{"id": "nonprofit", "name": "Nonprofit"}])
    );
    assert_eq!(
        manifest["authentication"],
        json!({"type": "apiKey", "name": "apiKey", "in": "query"})
    );
    assert!(text("/documentation").ends_with("/developers/reconcile"));
    assert!(text("/view/url").ends_with("/{{id}}"));
    assert!(text("/preview/url").contains("{{id}}") && text("/preview/url").contains(&key));
    assert!(manifest["preview"]["width"].is_u64() && manifest["preview"]["height"].is_u64());
    for kind in ["entity", "property", "type"] {
        let path = text(&format!("/suggest/{kind}/service_path"));
        assert_eq!(path, format!("/suggest/{kind}?apiKey={key}"));
        let flyout = text(&format!("/suggest/{kind}/flyout_service_path"));
        assert!(flyout.contains("${id}") && flyout.contains(&key));
        assert!(text(&format!("/suggest/{kind}/service_url")).ends_with("/reconcile"));
    }
    // OpenRefine appends "?type=" to this URL.
    assert!(!text("/extend/propose_properties/service_path").contains('?'));
    let without = world.client.get_plain(200, "/reconcile").await.text();
    assert!(!without.contains("apiKey=") && without.contains("/suggest/entity"));
}

async fn a_batch_of_queries_gets_candidates(world: &World) {
    import(world).await;
    let batch = json!({
        "q0": {"query": "granite town libary", "type": "nonprofit", "limit": 5, "type_strict": "should"},
        "q1": {"query": "Blue Whale Rescue", "type": ["nonprofit"]},
        "q2": {"query": "First Baptist Church", "limit": 1},
    });
    let results = reconcile(world, &batch).await;
    let first = &results["q0"]["result"][0];
    assert_eq!(
        (&first["name"], &first["match"]),
        (&json!("Granite Town Library"), &json!(true))
    );
    assert_eq!(first["description"], "Concord, NH · EIN 02-0240383");
    assert_eq!(first["features"][0], json!({"id": "name_similar", "value": true}));
    assert_eq!(results["q1"]["result"], json!([]));
    assert_eq!(results["q2"]["result"].as_array().unwrap().len(), 1);
    assert_eq!(
        results["q2"]["result"][0]["match"], false,
        "there are two of them"
    );
    let query = encode(&[("queries", &batch.to_string())]);
    let by_get = world.client.get(200, &format!("/reconcile?{query}")).await;
    assert_eq!(by_get.json, results);
}

async fn properties_decide_between_nonprofits_with_the_same_name(world: &World) {
    import(world).await;
    let query = |properties: Value| json!({"query": "First Baptist Church", "properties": properties});
    let batch = json!({
        "city": query(json!([{"pid": "city", "v": "Nashua"}, {"pid": "state", "v": "NH"}])),
        "zip": query(json!([{"pid": "zip", "v": [3060]}])),
        "ein": query(json!([{"pid": "ein", "v": "02-0240417"}])),
        "entity": query(json!([{"pid": "city", "v": {"id": "x", "name": "Nashua"}}])),
        "unknown": query(json!([{"pid": "color", "v": "blue"}])),
    });
    let results = reconcile(world, &batch).await;
    for id in ["city", "zip", "ein", "entity"] {
        let best = &results[id]["result"][0];
        assert!(
            best["description"].as_str().unwrap().contains("Nashua"),
            "{id}: {best}"
        );
        assert_eq!(best["match"], true, "{id}: {best}");
    }
    assert_eq!(results["unknown"]["result"].as_array().unwrap().len(), 2);
}

async fn an_identifier_finds_its_nonprofit(world: &World) {
    import(world).await;
    let found = reconcile(world, &json!({"q": {"query": "02-0240383"}})).await;
    let id = found["q"]["result"][0]["id"].as_str().unwrap().to_owned();
    let by_id = reconcile(world, &json!({"q": {"query": id}})).await;
    let candidate = &by_id["q"]["result"][0];
    assert_eq!(
        (&candidate["id"], &candidate["score"], &candidate["match"]),
        (&json!(id), &json!(100), &json!(true))
    );
    // The view template leads to the profile.
    let page = world.client.get_plain(301, &format!("/{id}")).await;
    assert!(page.header("location").ends_with("/granite-town-library"));
}

async fn suggestions_complete_entities_properties_and_types(world: &World) {
    import(world).await;
    let suggest = async |path: &str| {
        let response = world.client.get(200, path).await.json;
        for item in response["result"].as_array().unwrap() {
            assert!(item["id"].is_string() && item["name"].is_string(), "{item}");
        }
        response["result"].clone()
    };
    let entities = suggest("/reconcile/suggest/entity?prefix=first+bap").await;
    assert_eq!(entities.as_array().unwrap().len(), 2);
    assert_eq!(
        entities[0]["notable"],
        json!([{"id": "nonprofit", "name": "Nonprofit"}])
    );
    let second = suggest("/reconcile/suggest/entity?prefix=first+bap&cursor=1").await;
    assert_eq!(second, json!([entities[1]]));
    let id = entities[0]["id"].as_str().unwrap();
    assert_eq!(
        suggest(&format!("/reconcile/suggest/entity?prefix={id}")).await,
        json!([entities[0]])
    );
    assert_eq!(suggest("/reconcile/suggest/entity?prefix=").await, json!([]));
    assert_eq!(
        suggest("/reconcile/suggest/property?prefix=ei").await,
        json!([{"id": "ein", "name": "EIN"}])
    );
    assert_eq!(
        suggest("/reconcile/suggest/type?prefix=").await,
        json!([{"id": "nonprofit", "name": "Nonprofit"}])
    );
    world
        .client
        .get(400, "/reconcile/suggest/entity?prefix=x&cursor=-1")
        .await;
    for kind in [
        format!("entity?id={id}"),
        "property?id=ein".to_owned(),
        "type?id=nonprofit".to_owned(),
    ] {
        let flyout = world
            .client
            .get(200, &format!("/reconcile/flyout/{kind}"))
            .await
            .json;
        assert!(flyout["id"].is_string() && flyout["html"].as_str().unwrap().starts_with('<'));
    }
    world.client.get(404, "/reconcile/flyout/property?id=x").await;
    world.client.get(404, "/reconcile/flyout/x?id=x").await;
}

async fn a_preview_may_be_framed_and_has_no_scripts(world: &World) {
    import(world).await;
    let preview = world
        .client
        .get(200, "/reconcile/preview?id=granite-town-library")
        .await;
    let policy = preview.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors *"));
    assert!(!policy.contains("script-src") && !policy.contains("unsafe"));
    let html = preview.text();
    assert!(html.contains("Granite Town Library") && html.contains("education") && !html.contains("<script"));
    assert!(preview.header("content-type").starts_with("text/html"));
    assert_eq!(
        world.client.get(404, "/reconcile/preview?id=x").await.code(),
        "nonprofit_not_found"
    );
}

async fn data_extension_adds_columns(world: &World) {
    import(world).await;
    let proposed = world
        .client
        .get_plain(200, "/reconcile/properties?type=nonprofit")
        .await
        .json;
    assert_eq!(proposed["type"], "nonprofit");
    let ids: Vec<_> = proposed["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|property| &property["id"])
        .collect();
    for id in ["ein", "causes", "revenue", "website", "city", "state"] {
        assert!(ids.contains(&&json!(id)), "{id}");
    }
    let limited = world
        .client
        .get_plain(200, "/reconcile/properties?type=nonprofit&limit=2")
        .await
        .json;
    assert_eq!(
        (&limited["limit"], limited["properties"].as_array().unwrap().len()),
        (&json!(2), 2)
    );
    let found = reconcile(world, &json!({"q": {"query": "020240383"}})).await;
    let id = found["q"]["result"][0]["id"].as_str().unwrap().to_owned();
    let properties = [
        "ein",
        "causes",
        "revenue",
        "website",
        "city",
        "nteeCode",
        "isDisbursable",
    ];
    let properties: Vec<Value> = properties.iter().map(|id| json!({"id": id})).collect();
    let unknown = "00000000-0000-0000-0000-000000000000";
    let query = json!({"ids": [id, unknown], "properties": properties});
    let response = post(world, 200, &[("extend", &query.to_string())]).await.json;
    assert_eq!(response["meta"][0], json!({"id": "ein", "name": "EIN"}));
    assert_eq!(response["meta"].as_array().unwrap().len(), 7);
    assert_eq!(
        response["rows"][&id],
        json!({
            "ein": [{"str": "020240383"}],
            "causes": [{"str": "education"}],
            "revenue": [{"int": 64_000}],
            "website": [{"str": "https://granite.example"}],
            "city": [{"str": "Concord"}],
            "nteeCode": [{"str": "B70"}],
            "isDisbursable": [{"str": "yes"}],
        })
    );
    assert_eq!(response["rows"][unknown]["ein"], json!([]));
    let by_get = encode(&[("extend", &query.to_string())]);
    let by_get = world.client.get(200, &format!("/reconcile?{by_get}")).await;
    assert_eq!(by_get.json, response);
}

async fn requests_need_a_key_and_count_as_searches(world: &World) {
    import(world).await;
    let response = post(world, 200, &[("queries", "{}")]).await;
    assert_eq!(response.header("ratelimit-policy"), "\"search\";q=500;w=60");
    let refused = world
        .client
        .send_body(401, &Method::POST, "/reconcile", &[FORM], "queries={}")
        .await;
    assert_eq!(refused.code(), "missing_key");
    assert_eq!(
        world.client.get_plain(401, "/reconcile?queries={}").await.code(),
        "missing_key"
    );
    assert_eq!(
        world.client.get_plain(401, "/reconcile?apiKey=x").await.code(),
        "invalid_key"
    );
    assert_eq!(
        world
            .client
            .get_plain(401, "/reconcile/suggest/entity?prefix=x")
            .await
            .code(),
        "missing_key"
    );
    let preflight = world.client.send(204, &Method::OPTIONS, "/reconcile", &[]).await;
    assert!(preflight.header("access-control-allow-methods").contains("POST"));
}

async fn invalid_requests_are_problems(world: &World) {
    import(world).await;
    let many: serde_json::Map<String, Value> = (0..51)
        .map(|number| (format!("q{number}"), json!({"query": "x"})))
        .collect();
    for (field, value) in [
        ("queries", "x".to_owned()),
        ("queries", "[]".to_owned()),
        ("queries", r#"{"q0": 7}"#.to_owned()),
        ("queries", Value::Object(many).to_string()),
        ("extend", "{}".to_owned()),
        (
            "extend",
            r#"{"ids": [], "properties": [{"id": "color"}]}"#.to_owned(),
        ),
        ("extend", r#"{"ids": [7], "properties": []}"#.to_owned()),
        ("other", String::new()),
    ] {
        assert_eq!(
            post(world, 400, &[(field, &value)]).await.code(),
            "invalid_parameter",
            "{value}"
        );
    }
    let url = format!("/reconcile?apiKey={}", world.client.key);
    let json = [("content-type", "application/json")];
    let response = world
        .client
        .send_body(415, &Method::POST, &url, &json, "{}")
        .await;
    assert_eq!(response.code(), "unsupported_media_type");
    let large = format!("queries={}", "x".repeat(2 << 20));
    let response = world
        .client
        .send_body(413, &Method::POST, &url, &[FORM], large)
        .await;
    assert_eq!(response.code(), "too_large");
}

async fn data_extension_is_bounded_and_refuses_duplicates(world: &World) {
    let eins: Vec<String> = (0..1_000).map(|number| format!("0202{number:05}")).collect();
    let rows: Vec<_> = eins
        .iter()
        .map(|ein| nonprofit_row(ein, "GRANITE TOWN LIBRARY"))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    let description = "\u{1F30A}".repeat(500);
    let lines = eins
        .iter()
        .map(|ein| json!({"ein": ein, "description": description}).to_string());
    world
        .import_nonprofits(&lines.collect::<Vec<_>>().join("\n"))
        .await
        .unwrap();
    let extend = async |expected: u16, ids: &[String], properties: &[&str]| {
        let properties: Vec<Value> = properties.iter().map(|id| json!({"id": id})).collect();
        let query = json!({"ids": ids, "properties": properties}).to_string();
        post(world, expected, &[("extend", &query)]).await
    };
    let refusal = async |ids: &[String], properties: &[&str]| {
        let response = extend(400, ids, properties).await;
        assert_eq!(response.code(), "invalid_parameter");
        response.json["detail"].as_str().unwrap().to_owned()
    };
    let properties = [
        "name",
        "city",
        "state",
        "zip",
        "causes",
        "revenue",
        "assets",
        "website",
        "profileUrl",
        "description",
        "ein",
    ];
    let slugs = [
        "granite-town-library".to_owned(),
        "Granite-Town-Library ".to_owned(),
    ];
    assert_eq!(refusal(&slugs, &["ein"]).await, "Send every one of ids once.");
    let repeated = vec!["ein"; 10_000];
    assert_eq!(refusal(&eins[..1], &repeated).await, "Send every property once.");
    assert!(refusal(&eins, &properties).await.contains("at most 10,000"));
    assert!(
        refusal(&eins, &properties[..10])
            .await
            .contains("larger than 2 MiB")
    );
    let response = extend(200, &eins, &properties[..9]).await;
    assert_eq!(response.json["rows"].as_object().unwrap().len(), 1_000);
    assert!(response.body.len() < 2 << 20);
}

/// Work that never ends by itself, for the key of the world.
fn endless(app: &App, world: &World) -> impl Future<Output = ()> + use<> {
    let (bulk_work, owner) = (app.bulk_work.clone(), Owner::Key(world.key_id));
    async move { _ = bulk_work.run(owner, |_| None::<()>).await }
}

async fn one_key_does_not_make_others_wait(world: &World) {
    import(world).await;
    let (_, other) = world.create_key(Kind::Public).await;
    let mut own: Vec<_> = (0..MAX_PENDING)
        .map(|_| Box::pin(endless(&world.app, world)))
        .collect();
    for work in &mut own {
        assert!(work.now_or_never().is_none());
    }
    let running = tokio::spawn(own.remove(0));
    let batch = encode(&[(
        "queries",
        &json!({"q": {"query": "Granite Town Library"}}).to_string(),
    )]);
    let path = format!("/reconcile?{batch}");
    let found = world.client.with_key(&other).get(200, &path).await.json;
    assert_eq!(found["q"]["result"][0]["name"], "Granite Town Library");
    let refused = world.client.get(429, &path).await;
    assert_eq!(
        (refused.code(), refused.header("retry-after")),
        ("rate_limited", "1")
    );
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    drop(own);
    assert_eq!(world.client.get(200, &path).await.json, found);
}

async fn a_request_that_ended_leaves_no_work_behind(world: &World) {
    import(world).await;
    let mut config = world.app.config.clone();
    config.serve.request_timeout = Duration::from_millis(100);
    let app = App::build(config).await.unwrap();
    app.refresh_directory().await.unwrap();
    let client = Client::new(&app, &world.client.key);
    let mut own: Vec<_> = (1..MAX_PENDING).map(|_| Box::pin(endless(&app, world))).collect();
    for work in &mut own {
        assert!(work.now_or_never().is_none());
    }
    // Each of them takes the last place until its time is over. If one kept it, the next would be refused with 429.
    for _ in 0..3 {
        let response = client.get(503, "/reconcile?queries={}").await;
        assert_eq!(response.code(), "unavailable");
    }
}
