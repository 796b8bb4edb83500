//! Whether nonprofits may receive donations: the verdict with its reasons.

use crate::client::Response;
use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases!(
    a_verdict_has_seven_checks_with_reasons_and_sources,
    an_ein_that_no_file_has_is_answered,
    a_list_is_answered_row_by_row,
    invalid_lists_name_their_fields,
    an_old_list_stops_donations_until_a_newer_one_is_imported,
);

const LIBRARY: &str = "020240383";
const CLUB: &str = "020240391";

async fn import(world: &World) {
    let rows = [
        nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY"),
        nonprofit_row(CLUB, "GRANITE SOCIAL CLUB").with("SUBSECTION", "07"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
}

async fn verdict(world: &World, identifier: &str) -> Value {
    let path = format!("/v0.2/nonprofit/{identifier}/eligibility");
    world.client.get(200, &path).await.json
}

async fn post(world: &World, expected: u16, body: &Value) -> Response {
    let (_, private) = world.create_key(Kind::Private).await;
    let pair = format!("{}:{private}", world.client.key);
    let basic = format!("Basic {}", STANDARD.encode(pair));
    let headers = [("authorization", &*basic), ("content-type", "application/json")];
    let body = body.to_string();
    world
        .client
        .send_body(expected, &Method::POST, "/v0.2/eligibility", &headers, body)
        .await
}

async fn a_verdict_has_seven_checks_with_reasons_and_sources(world: &World) {
    import(world).await;
    let library = verdict(world, LIBRARY).await;
    assert_eq!(library["eligible"], "YES");
    let checks = library["checks"].as_array().unwrap();
    let outcomes: Vec<_> = checks
        .iter()
        .map(|check| {
            (
                check["check"].as_str().unwrap(),
                check["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("irs_listed", "PASS"),
            ("irs_deductible", "NOT_CHECKED"),
            ("irs_not_revoked", "PASS"),
            ("california_registry", "NOT_CHECKED"),
            ("california_tax_board", "NOT_CHECKED"),
            ("sanctions", "NOT_CHECKED"),
            ("operator", "PASS"),
        ]
    );
    assert_eq!(checks[0]["source"]["name"], "eo.csv");
    assert_eq!(checks[0]["source"]["sha256"].as_str().unwrap().len(), 64);
    assert!(checks[0]["since"].is_null() && checks[0]["graceUntil"].is_null());
    let club = verdict(world, "granite-social-club").await;
    assert_eq!(club["eligible"], "NO");
    assert_eq!(
        club["checks"][0]["reason"],
        "The IRS lists it, but not as a charity under section 501(c)(3)"
    );
}

async fn an_ein_that_no_file_has_is_answered(world: &World) {
    import(world).await;
    let unknown = verdict(world, "123456789").await;
    assert_eq!(unknown["eligible"], "NO");
    assert_eq!(
        unknown["checks"][0]["reason"],
        "No file of the IRS lists this EIN; check the number"
    );
    for identifier in ["02-0240383", "no-such-nonprofit"] {
        let path = format!("/v0.2/nonprofit/{identifier}/eligibility");
        let response = world.client.get(404, &path).await;
        assert_eq!(response.code(), "nonprofit_not_found");
    }
}

async fn a_list_is_answered_row_by_row(world: &World) {
    import(world).await;
    let identifiers = [
        "02-0240383",
        LIBRARY,
        "granite-social-club",
        "123456789",
        "12345678",
        " 020240383 ",
        "nobody",
        "",
    ];
    let response = post(world, 200, &json!({ "identifiers": identifiers })).await;
    let rows = response.json["rows"].as_array().unwrap();
    let verdicts: Vec<_> = rows.iter().map(|row| row["eligible"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["YES", "YES", "NO", "NO", "NO", "YES", "NO", "NO"]);
    for (row, identifier) in rows.iter().zip(identifiers) {
        assert_eq!(row["identifier"], identifier);
        let is_wrong = ["12345678", "nobody", ""].contains(&identifier);
        assert_eq!(row.get("problem").is_some(), is_wrong, "{row}");
    }
    assert_eq!(rows[0]["name"], "Granite Town Library");
    assert_eq!(rows[3]["ein"], "123456789");
}

async fn invalid_lists_name_their_fields(world: &World) {
    import(world).await;
    let many = vec![LIBRARY; 1_001];
    for (body, detail) in [
        (json!({}), "send a list of EINs, slugs or IDs"),
        (
            json!({ "identifiers": many }),
            "send at most 1000 identifiers at a time, not 1001",
        ),
        (
            json!({"identifiers": [LIBRARY, null]}),
            "send a text of at most 256 characters, such as \"530196605\"",
        ),
        (
            json!({"identifiers": [20_240_383]}),
            "send a text of at most 256 characters, such as \"530196605\"",
        ),
    ] {
        let response = post(world, 400, &body).await;
        assert_eq!(response.code(), "invalid_body");
        assert_eq!(response.json["errors"][0]["detail"], detail);
    }
    let response = post(world, 200, &json!({ "identifiers": many[..1_000] })).await;
    assert_eq!(response.json["rows"].as_array().unwrap().len(), 1_000);
}

async fn an_old_list_stops_donations_until_a_newer_one_is_imported(world: &World) {
    import(world).await;
    let is_disbursable = async || {
        world.app.refresh_directory().await.unwrap();
        let details = world.client.details(200, LIBRARY).await;
        details.nonprofit()["isDisbursable"].as_bool().unwrap()
    };
    assert!(is_disbursable().await);
    let day = 24 * 3_600;
    world.app.clock.advance(Duration::from_secs(45 * day - 60));
    assert!(is_disbursable().await);
    world.app.clock.advance(Duration::from_secs(day));
    assert!(!is_disbursable().await);
    let old = verdict(world, LIBRARY).await;
    assert_eq!(old["eligible"], "REVIEW");
    let reason = old["checks"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("more than 45 days ago"), "{reason}");
    let hits = world
        .client
        .get(200, "/v0.2/search/granite%20library?disbursable=true")
        .await;
    assert_eq!(hits.json["nonprofits"].as_array().unwrap().len(), 0);
    import(world).await;
    assert!(is_disbursable().await);
}
