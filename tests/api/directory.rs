//! `GET /v0.2/directory`

use crate::facts::{SHA256, import_facts};
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use serde_json::{Value, json};

on_both_databases!(
    the_directory_has_a_date_counts_and_sources,
    an_empty_directory_has_no_date,
    the_last_sources_are_known_without_the_store,
);

const LIBRARY: &str = "020240383";
const SHELTER: &str = "020240391";
const SCHOOL: &str = "020240409";

fn rows() -> [crate::files::Row; 3] {
    [
        nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY"),
        nonprofit_row(SHELTER, "GRANITE ANIMAL SHELTER"),
        nonprofit_row(SCHOOL, "GRANITE SCHOOL"),
    ]
}

async fn the_directory_has_a_date_counts_and_sources(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    let first = world.client.get(200, "/v0.2/directory").await;
    assert_eq!(first.header("ratelimit-policy"), "\"causes\";q=500;w=60");
    assert_eq!(
        first.json["counts"],
        json!({
            "nonprofits": 3, "withWebsite": 0, "withDescription": 0, "withFinances": 0,
            "deductible": 3, "revoked": 0, "gone": 0,
        })
    );
    let tag = first.header("etag");
    let known = [("if-none-match", tag)];
    world.client.get_with(304, "/v0.2/directory", &known).await;
    let line = format!(r#"{{"ein":"{SCHOOL}","description":"Our school."}}"#);
    world.import_nonprofits(&line).await.unwrap();
    let facts = [
        "insert into return_profiles (ein, website_url, is_final) values (20240383, 'https://granite.example', false)",
        "insert into revocations (ein, revoked_on, exemption_type, source) values (20240391, '2015-05-15', 3, :source)",
    ];
    import_facts(
        world,
        "revocations",
        "revocation.txt",
        &[LIBRARY, SHELTER],
        &facts,
    )
    .await;
    let files = [world.file("eo.csv", bmf(&rows()[..2]))];
    world.import_irs_files(&files, true).await.unwrap();
    let response = world.client.get_with(200, "/v0.2/directory", &known).await;
    assert_eq!(
        response.json["counts"],
        json!({
            "nonprofits": 3, "withWebsite": 1, "withDescription": 1, "withFinances": 1,
            "deductible": 1, "revoked": 1, "gone": 1,
        })
    );
    let as_of = response.json["asOf"].as_str().unwrap();
    let sources = response.json["sources"].as_array().unwrap();
    let names: Vec<&Value> = sources.iter().map(|source| &source["source"]).collect();
    assert_eq!(names, ["operator", "irs-revocations", "irs-bmf"]);
    let revocations = &sources[1];
    assert_eq!(revocations["rows"], 7);
    assert_eq!(
        revocations["files"],
        json!([{"file": "revocation.txt", "sha256": SHA256, "rows": 7}])
    );
    let newest = sources[2]["importedAt"].as_str().unwrap();
    assert!(as_of.len() == 10 && newest.starts_with(as_of), "{as_of} {newest}");
    assert_eq!(sources[2]["rows"], 2, "the last import of the kind");
}

async fn an_empty_directory_has_no_date(world: &World) {
    world.app.refresh_directory().await.unwrap();
    let response = world.client.get(200, "/v0.2/directory").await;
    assert_eq!(response.json.get("asOf"), None);
    assert_eq!(response.json["counts"]["nonprofits"], 0);
    assert_eq!(response.json["sources"], json!([]));
}

async fn the_last_sources_are_known_without_the_store(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    let before = world.client.get(200, "/v0.2/directory").await;
    world.app.db.close().await;
    let after = world.client.get(200, "/v0.2/directory").await;
    assert_eq!(after.json, before.json);
}
