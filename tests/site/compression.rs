//! Text is compressed for clients that accept it, unless it is about a person.

use crate::client::Response;
use crate::world::World;
use axum::http::Method;
use flate2::read::GzDecoder;
use std::io::Read;

on_both_databases!(
    public_text_is_compressed_for_clients_that_accept_it,
    an_unchanged_compressed_response_gets_304,
    pages_about_a_person_and_short_answers_are_not_compressed,
);

const GZIP: (&str, &str) = ("accept-encoding", "br, gzip");

fn decompressed(response: &Response) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(response.body.as_slice())
        .read_to_end(&mut plain)
        .unwrap();
    plain
}

async fn public_text_is_compressed_for_clients_that_accept_it(world: &World) {
    world.load_demo().await;
    let home = world.client.get_plain(200, "/").await.text();
    let stylesheet = home
        .split('"')
        .find(|part| part.starts_with("/assets/") && part.contains(".css"))
        .unwrap()
        .to_owned();
    let script = home
        .split('"')
        .find(|part| part.starts_with("/assets/") && part.contains(".js"))
        .unwrap()
        .to_owned();
    let browse = format!("/v0.2/browse/humans?take=100&apiKey={}", world.client.key);
    for url in [
        "/",
        "/american-red-cross",
        "/search?q=red+cross",
        "/causes",
        "/developers/search-as-you-type",
        "/developers/reference/search",
        "/v0.2/openapi.json",
        "/embed/button.js",
        &stylesheet,
        &script,
        &browse,
    ] {
        let get =
            async |method, headers: &[(&str, &str)]| world.client.send(200, &method, url, headers).await;
        let plain = get(Method::GET, &[]).await;
        assert!(!plain.headers.contains_key("content-encoding"), "{url}");
        for refused in ["gzip;q=0", "br"] {
            let response = get(Method::GET, &[("accept-encoding", refused)]).await;
            assert!(!response.headers.contains_key("content-encoding"), "{url}");
        }
        for _ in 0..2 {
            let response = get(Method::GET, &[GZIP]).await;
            assert_eq!(response.header("content-encoding"), "gzip", "{url}");
            assert!(response.body.len() < plain.body.len() * 2 / 3, "{url}");
            assert_eq!(decompressed(&response), plain.body, "{url}");
            for name in ["content-type", "cache-control"] {
                assert_eq!(response.header(name), plain.header(name), "{url}");
            }
            let head = get(Method::HEAD, &[GZIP]).await;
            assert!(head.body.is_empty());
            assert_eq!(head.header("content-length"), response.body.len().to_string());
        }
        for response in [&plain, &get(Method::GET, &[GZIP]).await] {
            let mut vary = response.headers.get_all("vary").iter();
            assert!(vary.any(|value| value == "accept-encoding"), "{url}");
        }
    }
}

async fn an_unchanged_compressed_response_gets_304(world: &World) {
    world.load_demo().await;
    let browse = format!("/v0.2/browse/humans?take=100&apiKey={}", world.client.key);
    for url in [
        &browse,
        "/v0.2/openapi.json",
        "/embed/button.js",
        "/feeds/fundraisers.xml",
    ] {
        let first = world.client.send(200, &Method::GET, url, &[GZIP]).await;
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\""), "{tag}");
        let plain = world.client.get_plain(200, url).await;
        assert_eq!(plain.header("etag"), tag, "{url}");
        for headers in [&[("if-none-match", tag)][..], &[GZIP, ("if-none-match", tag)]] {
            let second = world.client.send(304, &Method::GET, url, headers).await;
            assert_eq!(second.header("etag"), tag, "{url}");
            assert!(second.body.is_empty() && !second.headers.contains_key("content-encoding"));
        }
    }
}

async fn pages_about_a_person_and_short_answers_are_not_compressed(world: &World) {
    world.load_demo().await;
    let search = format!("/v0.2/search/red%20cross?apiKey={}", world.client.key);
    for url in [
        "/american-red-cross/give",
        "/dashboard/sign-in",
        "/donations/receipts",
        "/american-red-cross/report",
        "/healthz",
        &search,
    ] {
        let response = world.client.send(200, &Method::GET, url, &[GZIP]).await;
        assert!(!response.headers.contains_key("content-encoding"), "{url}");
    }
}
