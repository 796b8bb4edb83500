//! `GET /v0.2/changes`

use super::export::basic;
use super::restored_database::{restore, save};
use crate::client::Response;
use crate::files::{Row, bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;
use axum::http::Method;
use causeway::app::App;
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both_databases!(
    the_feed_lists_what_was_added_changed_and_removed,
    pages_follow_each_other_and_a_copy_stays_equal,
    a_large_import_is_listed_from_the_history,
    a_large_import_lists_nonprofits_without_an_ein,
    an_import_that_is_not_recorded_ends_the_feed,
    a_first_import_of_irs_files_ends_the_feed,
    a_cursor_of_a_lost_history_is_gone,
    a_page_is_conditional_and_a_damaged_cursor_is_invalid,
);

async fn get(world: &World, expected: u16, basic: &str, path: &str) -> Response {
    let headers = [("authorization", basic)];
    world.client.send(expected, &Method::GET, path, &headers).await
}

async fn current(world: &World, basic: &str) -> String {
    let page = get(world, 200, basic, "/v0.2/changes").await.json;
    assert_eq!((&page["changes"], &page["hasMore"]), (&json!([]), &json!(false)));
    page["cursor"].as_str().unwrap().to_owned()
}

async fn since(world: &World, basic: &str, cursor: &str) -> Value {
    get(world, 200, basic, &format!("/v0.2/changes?since={cursor}"))
        .await
        .json
}

/// The types and EINs of a page.
fn changes(page: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut changes: Vec<_> = page["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (text(&change["type"]), text(&change["nonprofit"]["ein"])))
        .collect();
    changes.sort();
    changes
}

fn rows() -> Vec<Row> {
    vec![
        nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        nonprofit_row("020240391", "GRANITE ANIMAL SHELTER"),
        nonprofit_row("020240409", "GRANITE SCHOOL"),
    ]
}

async fn the_feed_lists_what_was_added_changed_and_removed(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    let basic = basic(world).await;
    let export = get(world, 200, &basic, "/v0.2/export").await;
    let start = current(world, &basic).await;
    assert_eq!(export.header("changes-cursor"), start);
    assert_eq!(since(world, &basic, &start).await["changes"], json!([]));
    let changed = [
        rows()[0].clone(),
        rows()[1].clone().with("CITY", "NASHUA"),
        nonprofit_row("020240417", "GRANITE CHOIR"),
    ];
    let files = [world.file("eo.csv", bmf(&changed))];
    world.import_irs_files(&files, true).await.unwrap();
    let page = since(world, &basic, &start).await;
    let pair = |kind: &str, ein: &str| (kind.to_owned(), ein.to_owned());
    assert_eq!(
        changes(&page),
        [
            pair("added", "020240417"),
            pair("changed", "020240391"),
            pair("removed", "020240409")
        ]
    );
    assert_eq!(page["hasMore"], false);
    let shelter = page["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|change| change["type"] == "changed")
        .unwrap();
    assert_eq!(shelter["nonprofit"]["locationAddress"], "Nashua, NH");
    let next = page["cursor"].as_str().unwrap();
    assert_eq!(since(world, &basic, next).await["changes"], json!([]));
    world
        .import_nonprofits(r#"{"ein":"020240383","name":"Stone Library"}"#)
        .await
        .unwrap();
    assert_eq!(
        changes(&since(world, &basic, next).await),
        [pair("changed", "020240383")]
    );
}

async fn pages_follow_each_other_and_a_copy_stays_equal(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(20))).await.unwrap();
    let basic = basic(world).await;
    let export = get(world, 200, &basic, "/v0.2/export").await;
    let mut copy: BTreeMap<String, Value> = BTreeMap::new();
    let add = |copy: &mut BTreeMap<String, Value>, nonprofit: Value| {
        copy.insert(nonprofit["id"].as_str().unwrap().to_owned(), nonprofit);
    };
    for line in export.text().lines() {
        add(&mut copy, serde_json::from_str(line).unwrap());
    }
    let mut cursor = export.header("changes-cursor").to_owned();
    for round in 0..3 {
        let line = |number: u32| {
            let ein = 100_000_001 + number * (round + 1) % 20;
            format!("{{\"ein\":\"{ein}\",\"name\":\"Round {round}\"}}\n")
        };
        let lines: Vec<String> = (1..=7).map(line).collect();
        world.import_nonprofits(&lines.concat()).await.unwrap();
    }
    let mut pages = 0;
    loop {
        let page = get(
            world,
            200,
            &basic,
            &format!("/v0.2/changes?take=4&since={cursor}"),
        )
        .await
        .json;
        assert!(page["changes"].as_array().unwrap().len() <= 4);
        for change in page["changes"].as_array().unwrap() {
            add(&mut copy, change["nonprofit"].clone());
        }
        page["cursor"].as_str().unwrap().clone_into(&mut cursor);
        pages += 1;
        if page["hasMore"] == false {
            break;
        }
    }
    assert!(pages > 3);
    let export = get(world, 200, &basic, "/v0.2/export").await;
    assert_eq!(export.header("changes-cursor"), cursor);
    let now: BTreeMap<String, Value> = export
        .text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|nonprofit| (nonprofit["id"].as_str().unwrap().to_owned(), nonprofit))
        .collect();
    assert_eq!(copy, now);
}

/// An app whose imports are all large.
async fn app_for_large_imports(world: &World) -> App {
    let mut config = world.app.config.clone();
    config.directory.overlay_limit = 0;
    App::build(config).await.unwrap()
}

async fn import_large(world: &World, rows: &[Row]) {
    let app = app_for_large_imports(world).await;
    let files = [world.file("eo.csv", bmf(rows))];
    app.importer().import_irs(&files, true).await.unwrap();
    app.db.close().await;
    world.app.refresh_directory().await.unwrap();
}

async fn import_large_nonprofits(world: &World, lines: &str) {
    let app = app_for_large_imports(world).await;
    let files = [world.file("large.jsonl", lines)];
    app.importer().import_nonprofits(&files).await.unwrap();
    app.db.close().await;
    world.app.refresh_directory().await.unwrap();
}

/// A line about a nonprofit without an EIN.
fn without_ein(number: u32, name: &str) -> String {
    format!(
        "{{\"id\":\"{number:08x}-0000-4000-8000-000000000000\",\"name\":\"{name}\",\"country\":\"FR\"}}\n"
    )
}

/// Reads the feed one change at a time. Returns types and names, in the order of the feed.
async fn read_one_by_one(world: &World, basic: &str, start: &str) -> Vec<(String, String)> {
    let (mut found, mut cursor) = (Vec::new(), start.to_owned());
    loop {
        let path = format!("/v0.2/changes?take=1&since={cursor}");
        let page = get(world, 200, basic, &path).await.json;
        for change in page["changes"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            found.push((text(&change["type"]), text(&change["nonprofit"]["name"])));
        }
        page["cursor"].as_str().unwrap().clone_into(&mut cursor);
        if page["hasMore"] == false {
            return found;
        }
    }
}

async fn a_large_import_lists_nonprofits_without_an_ein(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    world
        .import_nonprofits(&(without_ein(1, "Ancienne") + &without_ein(2, "Bleue")))
        .await
        .unwrap();
    let basic = basic(world).await;
    let start = current(world, &basic).await;
    let lines = [
        r#"{"ein":"020240383","name":"Stone Library"}"#.to_owned() + "\n",
        without_ein(1, "Nouvelle"),
        without_ein(2, "Bleue"),
        without_ein(3, "Rouge"),
        without_ein(4, "Verte"),
    ];
    import_large_nonprofits(world, &lines.concat()).await;
    let pair = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    let expected = [
        pair("changed", "Stone Library"),
        pair("changed", "Nouvelle"),
        pair("added", "Rouge"),
        pair("added", "Verte"),
    ];
    assert_eq!(read_one_by_one(world, &basic, &start).await, expected);

    // A small import stays complete when a large one removes its IDs.
    let start = current(world, &basic).await;
    let lines = r#"{"ein":"020240391","name":"Stone Shelter"}"#.to_owned() + "\n" + &without_ein(5, "Noire");
    world.import_nonprofits(&lines).await.unwrap();
    let small = read_one_by_one(world, &basic, &start).await;
    assert_eq!(small.len(), 2);
    import_large_nonprofits(world, &without_ein(6, "Blanche")).await;
    let expected = [
        pair("changed", "Stone Shelter"),
        pair("added", "Noire"),
        pair("added", "Blanche"),
    ];
    assert_eq!(read_one_by_one(world, &basic, &start).await, expected);
}

async fn a_large_import_is_listed_from_the_history(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    let basic = basic(world).await;
    let start = current(world, &basic).await;
    let changed = [
        rows()[0].clone().with("CITY", "NASHUA"),
        rows()[1].clone().with("CITY", "KEENE"),
        nonprofit_row("020240417", "GRANITE CHOIR"),
    ];
    import_large(world, &changed).await;
    assert!(
        world
            .texts("select cast(revision as text) from directory_changes")
            .await
            .is_empty()
    );
    let (mut found, mut cursor) = (Vec::new(), start);
    loop {
        let page = get(
            world,
            200,
            &basic,
            &format!("/v0.2/changes?take=1&since={cursor}"),
        )
        .await
        .json;
        found.extend(changes(&page));
        page["cursor"].as_str().unwrap().clone_into(&mut cursor);
        if page["hasMore"] == false {
            break;
        }
    }
    let pair = |kind: &str, ein: &str| (kind.to_owned(), ein.to_owned());
    assert_eq!(
        found,
        [
            pair("changed", "020240383"),
            pair("changed", "020240391"),
            pair("removed", "020240409"),
            pair("added", "020240417"),
        ]
    );
}

async fn an_import_that_is_not_recorded_ends_the_feed(world: &World) {
    world.app.refresh_directory().await.unwrap();
    let basic = basic(world).await;
    let start = current(world, &basic).await;
    import_large(world, &rows()).await;
    let response = get(world, 410, &basic, &format!("/v0.2/changes?since={start}")).await;
    assert_eq!(response.code(), "cursor_expired");
    assert!(
        response.json["detail"]
            .as_str()
            .unwrap()
            .contains("Export the directory again")
    );
}

async fn a_first_import_of_irs_files_ends_the_feed(world: &World) {
    // What it changes about these is recorded, but not what it adds.
    world
        .import_nonprofits(r#"{"ein":"020240383","name":"Stone Library"}"#)
        .await
        .unwrap();
    let basic = basic(world).await;
    let start = current(world, &basic).await;
    import_large(world, &rows()).await;
    let response = get(world, 410, &basic, &format!("/v0.2/changes?since={start}")).await;
    assert_eq!(response.code(), "cursor_expired");
}

async fn a_cursor_of_a_lost_history_is_gone(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    let basic = basic(world).await;
    save(world).await;
    let kept = current(world, &basic).await;
    world
        .import_nonprofits(r#"{"ein":"020240383","name":"Lost Library"}"#)
        .await
        .unwrap();
    let lost = current(world, &basic).await;
    restore(world).await;
    // The same number, with another token.
    world
        .import_nonprofits(r#"{"ein":"020240383","name":"Other Library"}"#)
        .await
        .unwrap();
    assert_eq!(
        get(world, 410, &basic, &format!("/v0.2/changes?since={lost}"))
            .await
            .code(),
        "cursor_expired"
    );
    let page = since(world, &basic, &kept).await;
    assert_eq!(page["changes"][0]["nonprofit"]["name"], "Other Library");
}

async fn a_page_is_conditional_and_a_damaged_cursor_is_invalid(world: &World) {
    world.import_irs(bmf(&rows())).await.unwrap();
    let basic = basic(world).await;
    let start = current(world, &basic).await;
    let path = format!("/v0.2/changes?since={start}");
    let first = get(world, 200, &basic, &path).await;
    let known = [
        ("authorization", &*basic),
        ("if-none-match", first.header("etag")),
    ];
    world.client.send(304, &Method::GET, &path, &known).await;
    world
        .import_nonprofits(r#"{"ein":"020240383","name":"Stone Library"}"#)
        .await
        .unwrap();
    world.client.send(200, &Method::GET, &path, &known).await;
    for damaged in ["x", "1", &start[1..], &format!("{start}0")] {
        let path = format!("/v0.2/changes?since={damaged}");
        assert_eq!(
            get(world, 400, &basic, &path).await.code(),
            "invalid_parameter",
            "{damaged}"
        );
    }
}
