//! `GET /v0.2/nonprofit/{identifier}/finances`

use crate::facts::{SHA256, import_facts};
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use serde_json::{Value, json};

on_both_databases!(
    years_are_listed_newest_first,
    a_nonprofit_without_returns_has_no_years,
    the_route_behaves_like_details,
    the_demo_directory_has_finances_with_their_sources,
    returns_that_are_imported_are_listed,
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

async fn the_demo_directory_has_finances_with_their_sources(world: &World) {
    world.load_demo().await;
    let lines = include_str!("../../data/demo-returns.jsonl").lines();
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 11);
    for line in &lines {
        let ein = line["ein"].as_str().unwrap();
        let finances = world
            .client
            .get(200, &format!("/v0.2/nonprofit/{ein}/finances"))
            .await;
        let years = finances.json["years"].as_array().unwrap();
        let period = line["period"].as_u64().unwrap();
        let period = format!("{}-{:02}", period / 100, period % 100);
        let year = years.iter().find(|year| year["periodEnd"] == *period).unwrap();
        assert_eq!(year["revenue"], line["amounts"]["revenue"], "{ein}");
        assert_eq!(year["source"]["source"], "irs-990");
        assert_eq!(year["source"]["file"], "returns of the demo directory");
        assert_eq!(
            year["source"].get("objectId"),
            line.get("objectId"),
            "{ein} {period}"
        );
        let details = world.client.details(200, &format!("{ein}?include=sources")).await;
        let sources = &details.json["data"]["sources"];
        for field in ["name", "description", "ein", "revenue"] {
            assert_eq!(sources[field]["source"], "operator", "{field}");
            assert_eq!(sources[field]["file"], "the demo directory");
            assert_eq!(sources[field]["sha256"].as_str().unwrap().len(), 64);
        }
        assert_eq!(sources["formationYear"]["source"], "irs-990");
    }
    let counts = world.app.directory.view().counts().unwrap();
    assert_eq!((counts.nonprofits, counts.with_finances), (578, 8));
}

async fn returns_that_are_imported_are_listed(world: &World) {
    import_library(world).await;
    let xml = r#"<?xml version="1.0" encoding="utf-8"?>
        <Return xmlns="http://www.irs.gov/efile" returnVersion="2022v5.0"><ReturnHeader>
        <ReturnTs>2023-11-10T10:00:00-06:00</ReturnTs><TaxPeriodEndDt>2025-06-30</TaxPeriodEndDt>
        <ReturnTypeCd>990</ReturnTypeCd><TaxPeriodBeginDt>2024-07-01</TaxPeriodBeginDt>
        <Filer><EIN>020240383</EIN><BusinessName><BusinessNameLine1Txt>Granite TOWN Library</BusinessNameLine1Txt></BusinessName></Filer>
        </ReturnHeader><ReturnData><IRS990>
        <WebsiteAddressTxt>WWW.GRANITELIBRARY.ORG</WebsiteAddressTxt>
        <ActivityOrMissionDesc>We lend books and tools to everyone in Concord.</ActivityOrMissionDesc>
        <MissionDesc>We lend books and tools to everyone in Concord.</MissionDesc>
        <CYTotalRevenueAmt>90000</CYTotalRevenueAmt><TotalAssetsEOYAmt>150000</TotalAssetsEOYAmt>
        <FormationYr>1987</FormationYr></IRS990></ReturnData></Return>"#;
    let file = world.file("202513149349300001_public.xml", xml);
    let importer = world.app.importer();
    importer.import_returns(&[file]).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    let finances = world
        .client
        .get(200, &format!("/v0.2/nonprofit/{LIBRARY}/finances"))
        .await;
    let year = &finances.json["years"][0];
    assert_eq!(
        (&year["periodBegin"], &year["periodEnd"], &year["revenue"]),
        (&json!("2024-07"), &json!("2025-06"), &json!(90_000))
    );
    assert_eq!(year["source"]["objectId"], "202513149349300001");
    let details = world
        .client
        .details(200, &format!("{LIBRARY}?include=sources"))
        .await;
    let nonprofit = details.nonprofit();
    let website = nonprofit["websiteUrl"].as_str().unwrap().to_lowercase();
    assert!(website.ends_with("www.granitelibrary.org"), "{website}");
    assert_eq!(
        nonprofit["description"],
        "We lend books and tools to everyone in Concord."
    );
    let sources = &details.json["data"]["sources"];
    assert_eq!(sources["websiteUrl"]["period"], "2025-06");
    assert_eq!(sources["websiteUrl"]["file"], "202513149349300001_public.xml");
    assert_eq!(details.json["data"]["irs"]["formationYear"], 1987);
}
