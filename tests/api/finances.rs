//! `GET /v0.2/nonprofit/{identifier}/finances`

use crate::facts::{SHA256, import_facts};
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use serde_json::json;

on_both_databases!(
    years_are_listed_newest_first,
    a_nonprofit_without_returns_has_no_years,
    the_route_behaves_like_details,
);

const LIBRARY: &str = "020240383";

const YEARS: [&str; 2] = [
    "insert into returns (ein, period, form, object_id, source, facts, digest) values (20240383, 202206, '990-EZ', '', \
     :source, '{\"form\":\"990-EZ\",\"amounts\":{\"revenue\":-5}}', 1)",
    "insert into returns (ein, period, form, object_id, source, facts, digest) values (20240383, 202306, '990', \
     '202341319349301234', :source, '{\"form\":\"990\",\"periodBegin\":202207,\"isAmended\":true,\"isFinal\":true,\
     \"isGroupReturn\":true,\"employees\":4,\"volunteers\":90,\"programs\":[{\"text\":\"Lends books.\",\"expenses\":60000,\
     \"grants\":1,\"revenue\":2}],\"amounts\":{\"grossReceipts\":95000,\"revenue\":90000,\"contributions\":70000,\
     \"expenses\":80000,\"programExpenses\":60000,\"managementExpenses\":15000,\"fundraisingExpenses\":5000,\
     \"assets\":150000,\"liabilities\":20000,\"netAssets\":130000}}', 2)",
];

async fn import_library(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
}

async fn years_are_listed_newest_first(world: &World) {
    import_library(world).await;
    import_facts(world, "990", "2024_TEOS_XML_05A.zip", &[LIBRARY], &YEARS).await;
    let path = "/v0.2/nonprofit/granite-town-library/finances";
    let response = world.client.get(200, path).await;
    let mut body = response.json.clone();
    let imported_at = body["years"][0]["source"]["importedAt"].take();
    assert!(imported_at.as_str().unwrap().ends_with('Z'));
    assert_eq!(
        (&body["currency"], &body["unit"]),
        (&json!("USD"), &json!("dollars"))
    );
    assert_eq!(
        body["years"][0],
        json!({
            "periodBegin": "2022-07",
            "periodEnd": "2023-06",
            "form": "990",
            "revenue": 90_000,
            "contributions": 70_000,
            "grossReceipts": 95_000,
            "expenses": 80_000,
            "programExpenses": 60_000,
            "managementExpenses": 15_000,
            "fundraisingExpenses": 5_000,
            "assets": 150_000,
            "liabilities": 20_000,
            "netAssets": 130_000,
            "employees": 4,
            "volunteers": 90,
            "amended": true,
            "final": true,
            "group": true,
            "programs": [{"description": "Lends books.", "expenses": 60_000, "grants": 1, "revenue": 2}],
            "source": {
                "source": "irs-990",
                "file": "2024_TEOS_XML_05A.zip",
                "sha256": SHA256,
                "period": "2023-06",
                "importedAt": null,
                "objectId": "202341319349301234",
            },
        })
    );
    let older = &body["years"][1];
    assert_eq!(
        (&older["periodEnd"], &older["form"], &older["revenue"]),
        (&json!("2022-06"), &json!("990-EZ"), &json!(-5))
    );
    assert_eq!(older.get("expenses"), None, "absent, not zero");
    assert_eq!(
        (&older["amended"], &older["programs"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(older["source"].get("objectId"), None);
    assert_eq!(body["years"].as_array().unwrap().len(), 2);
}

async fn a_nonprofit_without_returns_has_no_years(world: &World) {
    import_library(world).await;
    let path = format!("/v0.2/nonprofit/{LIBRARY}/finances");
    assert_eq!(world.client.get(200, &path).await.json["years"], json!([]));
    let foreign =
        r#"{"id":"3f2c9d0e-5a41-4c1e-9f0b-7d4f6f6f2a10","name":"Lantern Society","country":"Kenya"}"#;
    world.import_nonprofits(foreign).await.unwrap();
    let foreign = world
        .client
        .get(200, "/v0.2/nonprofit/lantern-society/finances")
        .await;
    assert_eq!(foreign.json["years"], json!([]));
}

async fn the_route_behaves_like_details(world: &World) {
    import_library(world).await;
    let path = format!("/v0.2/nonprofit/{LIBRARY}/finances");
    let response = world.client.get(200, &path).await;
    assert_eq!(response.header("ratelimit-policy"), "\"details\";q=100;w=60");
    assert_eq!(response.header("cache-control"), "private, no-cache");
    let tag = response.header("etag");
    world.client.get_with(304, &path, &[("if-none-match", tag)]).await;
    let missing = world.client.get(404, "/v0.2/nonprofit/000000001/finances").await;
    assert_eq!(missing.code(), "nonprofit_not_found");
    let dashed = world.client.get(404, "/v0.2/nonprofit/02-0240383/finances").await;
    assert_eq!(dashed.code(), "nonprofit_not_found");
    assert_eq!(world.client.get_plain(401, &path).await.code(), "missing_key");
}
