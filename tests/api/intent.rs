//! Searches for what somebody wants to do, not for a name.

use crate::client::Response;
use crate::files::{Row, bmf, nonprofit_row};
use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

on_both_databases!(
    an_intent_finds_kinds_by_meaning,
    an_intent_is_found_in_its_place_and_under_filters,
    words_that_carry_no_meaning_are_left_out,
    an_explanation_names_kinds_and_words_that_were_left_out,
    a_kind_by_meaning_is_found_in_the_overlay_too,
);

/// Nonprofits whose names do not say what they do; their categories do.
async fn import(world: &World) {
    let row = |number: u32, name: &str, code: &str, city: &str, state: &str| -> Row {
        let row = nonprofit_row(&(100_000_000 + number).to_string(), name);
        row.with("NTEE_CD", code).with("CITY", city).with("STATE", state)
    };
    let rows = [
        row(1, "BRIGHT PAGES", "B92", "CONCORD", "NH"),
        row(2, "STORY HOUR", "B92", "PHOENIX", "AZ"),
        row(3, "OLD GUARD", "W30", "PHOENIX", "AZ"),
        row(4, "HOME AGAIN", "W30", "CONCORD", "NH"),
        row(5, "KEENE CHESS CLUB", "N50", "KEENE", "NH"),
        row(6, "PAWS AND HOOVES", "D20", "KEENE", "NH"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
}

async fn search(world: &World, path: &str) -> Response {
    world.client.get(200, &format!("/v0.2/search/{path}")).await
}

async fn names(world: &World, path: &str) -> Vec<String> {
    let response = search(world, path).await;
    let found = response.json["nonprofits"].as_array().unwrap().iter();
    found
        .map(|item| item["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn an_intent_finds_kinds_by_meaning(world: &World) {
    import(world).await;
    let response = search(world, "help%20kids%20read").await;
    let found = response.json["nonprofits"].as_array().unwrap();
    let mut first: Vec<_> = found.iter().take(2).map(|item| &item["name"]).collect();
    first.sort_by_key(ToString::to_string);
    assert_eq!(first, [&json!("Bright Pages"), &json!("Story Hour")]);
    assert_eq!(found[0]["matchedTerms"], json!(["help", "kids", "read"]));
    // A complete name is not read as an intent, and one that has all words is first.
    assert_eq!(names(world, "story%20hour").await, ["Story Hour"]);
    let line = r#"{"ein":"987654321","name":"The Help Kids Choir Read","nteeCode":"A6B"}"#;
    world.import_nonprofits(line).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(
        names(world, "help%20kids%20read").await[0],
        "The Help Kids Choir Read"
    );
}

async fn an_intent_is_found_in_its_place_and_under_filters(world: &World) {
    import(world).await;
    assert_eq!(names(world, "help%20veterans?state=AZ").await, ["Old Guard"]);
    assert_eq!(
        names(world, "help%20for%20veterans%20in%20concord").await,
        ["Home Again"]
    );
    assert_eq!(names(world, "phoenix%20kids%20read").await[0], "Story Hour");
    // No such nonprofit is there, and a place is left out last.
    let elsewhere = names(world, "stray%20dogs%20in%20phoenix").await;
    assert_eq!(elsewhere, ["Paws and Hooves"]);
}

async fn words_that_carry_no_meaning_are_left_out(world: &World) {
    import(world).await;
    assert_eq!(
        names(world, "where%20can%20i%20learn%20chess").await[0],
        "Keene Chess Club"
    );
    for (term, count) in [("where%20can%20i", 0), ("qzxv%20jkvw", 0), ("%F0%9F%90%B6", 0)] {
        assert_eq!(names(world, term).await.len(), count, "{term}");
    }
}

async fn an_explanation_names_kinds_and_words_that_were_left_out(world: &World) {
    import(world).await;
    let (_, private) = world.create_key(Kind::Private).await;
    let pair = STANDARD.encode(format!("{}:{private}", world.client.key));
    let headers = [("authorization", &*format!("Basic {pair}"))];
    let explain = async |term: &str| {
        let url = format!("/v0.2/search/{term}?explain=1");
        let response = world.client.send(200, &Method::GET, &url, &headers).await;
        response.json["explanation"].clone()
    };
    assert_eq!(explain("help%20kids%20read").await["kinds"][0], "read to kids");
    let part = explain("where%20can%20i%20find%20underwater%20hooves").await;
    let dropped = part["droppedWords"].as_array().unwrap();
    assert!(
        dropped.contains(&json!("underwater")) && !dropped.contains(&json!("where")),
        "{part}"
    );
    let by_name = explain("bright%20pages").await;
    assert!(
        by_name["kinds"] == json!([]) && by_name["droppedWords"] == json!([]),
        "{by_name}"
    );
}

async fn a_kind_by_meaning_is_found_in_the_overlay_too(world: &World) {
    import(world).await;
    let line = r#"{"ein":"987654321","name":"Zquoxly","nteeCode":"D20","state":"NH","city":"Dover"}"#;
    world.import_nonprofits(line).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    let mut found = names(world, "homeless%20puppies").await;
    found.sort();
    assert_eq!(found, ["Paws and Hooves", "Zquoxly"]);
}
