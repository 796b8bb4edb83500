//! What every response has in common, errors included.

use super::fundraisers::Organizer;
use crate::wait::TIMEOUT;
use crate::world::World;
use axum::http::Method;
use causeway::app::App;
use causeway::http::refusal::refusal;
use causeway::server::routes::router;
use listener::{listen, serve};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

on_both_databases!(
    cross_origin_reads_are_allowed,
    a_read_only_route_rejects_other_methods,
    an_unknown_route_is_a_problem_response,
    an_oversized_content_length_is_refused_before_the_body_is_read,
    a_body_that_stalls_is_a_client_error,
    every_request_has_its_own_id,
    an_unavailable_database_is_a_503_with_retry_after,
    an_unavailable_database_does_not_stop_responses_from_the_snapshot,
);

async fn cross_origin_reads_are_allowed(world: &World) {
    for url in ["/v0.2/nonprofit/530196605", "/v0.2/no-such-route"] {
        let headers = [
            ("origin", "https://example.org"),
            ("access-control-request-method", "GET"),
        ];
        let response = world.client.send(204, &Method::OPTIONS, url, &headers).await;
        assert_eq!(
            response.header("access-control-allow-methods"),
            "GET, HEAD, OPTIONS"
        );
        assert!(response.body.is_empty());
    }
}

async fn a_read_only_route_rejects_other_methods(world: &World) {
    let url = format!("/v0.2/nonprofit/530196605?apiKey={}", world.client.key);
    for method in [
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::from_bytes(b"BREW").unwrap(),
    ] {
        let response = world.client.send(405, &method, &url, &[]).await;
        assert_eq!(response.code(), "method_not_allowed");
        let allowed: Vec<_> = response.headers.get_all("allow").iter().collect();
        assert_eq!(allowed, ["GET, HEAD, OPTIONS"]);
    }
}

async fn an_unknown_route_is_a_problem_response(world: &World) {
    for url in [
        "/v0.2",
        "/v0.2/",
        "/v0.2/nonprofit",
        "/v0.2/nonprofit/a/b/c",
        "/media/a/b",
    ] {
        assert_eq!(
            world.client.get_plain(404, url).await.code(),
            "not_found",
            "{url}"
        );
    }
}

async fn an_oversized_content_length_is_refused_before_the_body_is_read(world: &World) {
    let length = (16 * 1024 * 1024 + 1).to_string();
    let headers = [("content-length", length.as_str())];
    let response = world
        .client
        .send(413, &Method::POST, "/v0.2/nonprofit/530196605", &headers)
        .await;
    assert_eq!(response.code(), "too_large");
}

async fn a_body_that_stalls_is_a_client_error(world: &World) {
    let organizer = Organizer::new(world).await;
    for (path, headers) in [
        (
            "/v0.2/fundraiser",
            format!(
                "authorization: {}\r\ncontent-type: application/json\r\n",
                organizer.basic
            ),
        ),
        (
            "/dashboard/sign-in",
            "sec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n".to_owned(),
        ),
    ] {
        let response = stall(world, path, &headers).await;
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 "), "{path}: {response}");
        if path.starts_with("/v0.2") {
            let problem: Value = serde_json::from_str(body).unwrap();
            assert_eq!(problem["code"], "invalid_json");
            assert!(
                problem["detail"]
                    .as_str()
                    .unwrap()
                    .contains("did not arrive in time"),
                "{problem}"
            );
            assert!(
                head.contains("application/problem+json") && head.contains("x-request-id"),
                "{head}"
            );
        }
    }
}

/// Sends a request whose body stalls, and returns the response after the timeout.
///
/// A slow machine may not even begin to read the body within the timeout, which is a server error. Then the timeout is
/// increased.
async fn stall(world: &World, path: &str, headers: &str) -> String {
    let mut config = world.app.config.clone();
    config.serve.request_timeout = Duration::from_millis(300);
    loop {
        let app = App::build(config.clone()).await.unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let (routes, settings) = (router(app.clone()), app.config.serve.clone());
        let server =
            tokio::spawn(
                async move { serve(listener, routes, &settings, refusal, std::future::pending()).await },
            );
        let mut client = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\n{headers}content-length: 1000\r\n\r\n{{\"title\": \"R"
        );
        client.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        client.read_to_string(&mut response).await.unwrap();
        server.abort();
        let is_server_error = response.starts_with("HTTP/1.1 5");
        if is_server_error && config.serve.request_timeout < TIMEOUT {
            config.serve.request_timeout *= 10;
            continue;
        }
        assert!(
            app.telemetry.recent_errors.list().is_empty(),
            "recorded as a server error: {response}"
        );
        app.db.close().await;
        return response;
    }
}

async fn every_request_has_its_own_id(world: &World) {
    let one = world.client.get_plain(404, "/v0.2/x").await;
    let other = world.client.get_plain(404, "/v0.2/x").await;
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
}

async fn an_unavailable_database_is_a_503_with_retry_after(world: &World) {
    world.app.db.close().await;
    let response = world.client.details(503, "530196605").await;
    assert_eq!(response.code(), "unavailable");
    assert_eq!(response.header("retry-after"), "1");
    assert!(!response.text().contains("pool"), "{}", response.text());
    assert_eq!(world.client.get_plain(200, "/healthz").await.json["status"], "ok");
    assert_eq!(
        world.client.get_plain(503, "/readyz").await.json["status"],
        "not ready"
    );
}

async fn an_unavailable_database_does_not_stop_responses_from_the_snapshot(world: &World) {
    world.load_demo().await;
    world.client.details(200, "530196605").await;
    world.app.db.close().await;
    world.client.details(200, "530196605").await;
    assert_eq!(
        world.client.get_plain(200, "/readyz").await.json["status"],
        "ready"
    );
}
