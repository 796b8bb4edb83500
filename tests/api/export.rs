//! `GET /v0.2/export`

use crate::client::Response;
use crate::files::{bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;

on_both_databases!(
    the_parts_of_an_export_have_every_nonprofit_once,
    a_part_can_be_compressed_and_is_conditional,
    csv_has_a_header_and_a_row_for_each_nonprofit,
    a_cursor_expires_when_the_directory_changes,
    an_export_needs_a_private_key,
);

pub async fn basic(world: &World) -> String {
    let (_, private) = world.create_key(Kind::Private).await;
    format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{private}", world.client.key))
    )
}

async fn get(world: &World, expected: u16, basic: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    let headers = [&[("authorization", basic)], headers].concat();
    world.client.send(expected, &Method::GET, path, &headers).await
}

/// The path and the query of the next part.
fn next(response: &Response) -> Option<String> {
    let link = response.headers.get("link")?.to_str().unwrap();
    let url = link
        .strip_prefix('<')
        .unwrap()
        .split_once(">; rel=\"next\"")
        .unwrap()
        .0;
    Some(url[url.find("/v0.2/").unwrap()..].to_owned())
}

fn lines(response: &Response) -> Vec<Value> {
    let text = response.text();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn the_parts_of_an_export_have_every_nonprofit_once(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(25))).await.unwrap();
    let line = r#"{"ein":"100000003","name":"Renamed Shelter","causes":["animals"]}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    let basic = basic(world).await;
    let mut path = Some("/v0.2/export?take=10".to_owned());
    let (mut parts, mut eins) = (0, BTreeSet::new());
    while let Some(current) = path {
        let part = get(world, 200, &basic, &current, &[]).await;
        assert_eq!(part.header("content-type"), "application/jsonl; charset=utf-8");
        assert!(!part.header("changes-cursor").is_empty());
        for nonprofit in lines(&part) {
            let ein = nonprofit["ein"].as_str().unwrap().to_owned();
            let details = world.client.details(200, &ein).await;
            for (field, value) in details.nonprofit().as_object().unwrap() {
                assert_eq!(nonprofit[field], *value, "{field}");
            }
            let is_renamed = ein == "100000003";
            assert_eq!(nonprofit["name"] == "Renamed Shelter", is_renamed);
            assert_eq!(
                nonprofit["tags"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|tag| tag == "animals"),
                is_renamed
            );
            assert!(eins.insert(ein), "twice: {nonprofit}");
        }
        path = next(&part);
        parts += 1;
    }
    assert_eq!((parts, eins.len()), (3, 25));
    // A part that failed is read again.
    let again = get(world, 200, &basic, "/v0.2/export?take=10", &[]).await;
    let first = get(world, 200, &basic, "/v0.2/export?take=10", &[]).await;
    assert_eq!(again.body, first.body);
}

async fn a_part_can_be_compressed_and_is_conditional(world: &World) {
    // More than one piece.
    world.import_irs(bmf(&nonprofit_rows(600))).await.unwrap();
    let basic = basic(world).await;
    let plain = get(world, 200, &basic, "/v0.2/export", &[]).await;
    assert!(plain.body.len() > 300_000 && !plain.headers.contains_key("content-encoding"));
    assert_eq!((lines(&plain).len(), next(&plain)), (600, None));
    let gzip = [("accept-encoding", "br, gzip")];
    let compressed = get(world, 200, &basic, "/v0.2/export", &gzip).await;
    assert_eq!(compressed.header("content-encoding"), "gzip");
    assert_eq!(compressed.header("vary"), "accept-encoding");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&*compressed.body)
        .read_to_end(&mut text)
        .unwrap();
    assert!(text == plain.body && compressed.body.len() < plain.body.len() / 4);
    assert_ne!(compressed.header("etag"), plain.header("etag"));
    let known = [("if-none-match", plain.header("etag"))];
    let unchanged = get(world, 304, &basic, "/v0.2/export", &known).await;
    assert!(unchanged.body.is_empty());
}

async fn csv_has_a_header_and_a_row_for_each_nonprofit(world: &World) {
    let rows = [
        nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        nonprofit_row("020240391", "GRANITE SCHOOL"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let basic = basic(world).await;
    let export = get(world, 200, &basic, "/v0.2/export?format=csv", &[]).await;
    assert!(export.header("content-type").starts_with("text/csv"));
    assert!(export.header("content-disposition").contains("nonprofits-1.csv"));
    let text = export.text();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    assert!(header.starts_with("id,ein,name,slug,city,state,zip,"));
    let library = lines.clone().find(|line| line.contains("020240383")).unwrap();
    assert!(library.contains(",Granite Town Library,granite-town-library,Concord,NH,"));
    assert_eq!(lines.count(), 2);
    let response = get(world, 400, &basic, "/v0.2/export?format=xml", &[]).await;
    assert_eq!(response.code(), "invalid_parameter");
}

async fn a_cursor_expires_when_the_directory_changes(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(5))).await.unwrap();
    let basic = basic(world).await;
    let first = get(world, 200, &basic, "/v0.2/export?take=2", &[]).await;
    let second = next(&first).unwrap();
    get(world, 200, &basic, &second, &[]).await;
    for beyond in ["5", "18446744073709551615", "18446744073709551616"] {
        let path = format!("{}.{beyond}", second.rsplit_once('.').unwrap().0);
        assert_ne!(path, second);
        assert_eq!(
            get(world, 400, &basic, &path, &[]).await.code(),
            "invalid_parameter"
        );
    }
    world
        .import_nonprofits(r#"{"ein":"100000003","name":"Renamed Shelter"}"#)
        .await
        .unwrap();
    assert_eq!(
        get(world, 410, &basic, &second, &[]).await.code(),
        "cursor_expired"
    );
    for invalid in ["x", "", ".", "x.y"] {
        let path = format!("/v0.2/export?cursor={invalid}");
        assert_eq!(
            get(world, 400, &basic, &path, &[]).await.code(),
            "invalid_parameter",
            "{invalid}"
        );
    }
}

async fn an_export_needs_a_private_key(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(1))).await.unwrap();
    assert_eq!(
        world.client.get(401, "/v0.2/export").await.code(),
        "missing_credentials"
    );
    assert_eq!(
        world.client.get(401, "/v0.2/changes").await.code(),
        "missing_credentials"
    );
    let basic = basic(world).await;
    let response = get(world, 200, &basic, "/v0.2/export", &[]).await;
    assert_eq!(response.header("ratelimit-policy"), "\"export\";q=20;w=60");
}
