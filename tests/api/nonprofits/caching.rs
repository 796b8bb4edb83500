//! ETags: unchanged responses are not sent again, and changed ones are never served stale.

use crate::files::{bmf, nonprofit_row};
use crate::world::World;
use axum::http::Method;

on_both_databases!(
    a_matching_etag_gets_304,
    an_import_changes_the_etag_and_a_restart_does_not,
    head_has_the_headers_of_get_and_no_body,
);

const PATH: &str = "/v0.2/nonprofit/020240383";

async fn a_matching_etag_gets_304(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let first = world.client.get(200, PATH).await;
    assert!(first.header("cache-control").contains("private"));
    let tag = first.header("etag");
    assert!(
        tag.starts_with("W/\""),
        "long responses are compressed for some: {tag}"
    );
    let strong = &tag[2..];
    for known in [tag, "*", strong, &format!("\"other\", {tag}")] {
        let again = world
            .client
            .get_with(304, PATH, &[("if-none-match", known)])
            .await;
        assert!(again.body.is_empty());
        assert_eq!(again.header("etag"), tag);
    }
    world
        .client
        .get_with(200, PATH, &[("if-none-match", "\"other\"")])
        .await;
    world
        .client
        .get_with(404, "/v0.2/nonprofit/nobody", &[("if-none-match", tag)])
        .await;
}

async fn an_import_changes_the_etag_and_a_restart_does_not(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let first = world.client.get(200, PATH).await;
    let (_, restarted) = world.restart().await;
    restarted
        .get_with(304, PATH, &[("if-none-match", first.header("etag"))])
        .await;
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE STATE READERS")]))
        .await
        .unwrap();
    let second = world
        .client
        .get_with(200, PATH, &[("if-none-match", first.header("etag"))])
        .await;
    assert_ne!(second.header("etag"), first.header("etag"));
    assert_eq!(second.nonprofit()["name"], "Granite State Readers");
}

async fn head_has_the_headers_of_get_and_no_body(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let url = format!("{PATH}?apiKey={}", world.client.key);
    let get = world.client.send(200, &Method::GET, &url, &[]).await;
    let head = world.client.send(200, &Method::HEAD, &url, &[]).await;
    assert!(head.body.is_empty());
    for name in [
        "content-type",
        "etag",
        "cache-control",
        "ratelimit-policy",
        "access-control-allow-origin",
    ] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    assert_eq!(head.header("content-length"), get.body.len().to_string());
}
