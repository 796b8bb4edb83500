//! What every answer has, also the ones that refuse.

use super::fundraiser::Organiser;
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

on_both! {
    async fn a_page_of_any_origin_may_ask(world: &World) {
        for address in ["/v0.2/nonprofit/530196605", "/v0.2/no-such-route"] {
            let headers = [("origin", "https://example.org"), ("access-control-request-method", "GET")];
            let answer = world.client.send(204, &Method::OPTIONS, address, &headers).await;
            assert_eq!(answer.header("access-control-allow-methods"), "GET, HEAD, OPTIONS");
            assert!(answer.body.is_empty());
        }
    }

    async fn a_read_takes_no_other_method_than_get(world: &World) {
        let address = format!("/v0.2/nonprofit/530196605?apiKey={}", world.client.key);
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::from_bytes(b"BREW").unwrap()] {
            let answer = world.client.send(405, &method, &address, &[]).await;
            assert_eq!(answer.code(), "method_not_allowed");
            let allowed: Vec<_> = answer.headers.get_all("allow").iter().collect();
            assert_eq!(allowed, ["GET, HEAD, OPTIONS"]);
        }
    }

    async fn an_address_that_is_no_route_is_a_problem_too(world: &World) {
        for address in ["/v0.2", "/v0.2/", "/v0.2/nonprofit", "/v0.2/nonprofit/a/b/c", "/media/a/b"] {
            assert_eq!(world.client.get_plain(404, address).await.code(), "not_found", "{address}");
        }
    }

    async fn a_body_that_says_it_is_too_large_is_refused_before_it_is_read(world: &World) {
        let length = (16 * 1024 * 1024 + 1).to_string();
        let headers = [("content-length", length.as_str())];
        let answer = world.client.send(413, &Method::POST, "/v0.2/nonprofit/530196605", &headers).await;
        assert_eq!(answer.code(), "too_large");
    }

    async fn a_body_that_stalls_half_way_is_the_fault_of_its_client(world: &World) {
        let organiser = Organiser::new(world).await;
        let mut config = world.app.config.clone();
        config.serve.request_timeout = Duration::from_millis(300);
        let app = App::build(config).await.unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let (served, settings) = (router(app.clone()), app.config.serve.clone());
        let server = tokio::spawn(async move { serve(listener, served, &settings, refusal, std::future::pending()).await });
        for (path, headers) in [
            ("/v0.2/fundraiser", format!("authorization: {}\r\ncontent-type: application/json\r\n", organiser.basic)),
            ("/dashboard/sign-in", "sec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n".to_owned()),
        ] {
            let mut client = TcpStream::connect(address).await.unwrap();
            let head = format!("POST {path} HTTP/1.1\r\nhost: test\r\n{headers}content-length: 1000\r\n\r\n{{\"title\": \"R");
            client.write_all(head.as_bytes()).await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 400 "), "{path}: {answer}");
            if path.starts_with("/v0.2") {
                let problem: Value = serde_json::from_str(body).unwrap();
                assert_eq!(problem["code"], "invalid_json");
                assert!(problem["detail"].as_str().unwrap().contains("did not arrive in time"), "{problem}");
                assert!(head.contains("application/problem+json") && head.contains("x-request-id"), "{head}");
            }
        }
        assert!(app.recent_errors.list().is_empty(), "it was taken for a fault of ours");
        server.abort();
        app.db.close().await;
    }

    async fn two_requests_have_two_names(world: &World) {
        let one = world.client.get_plain(404, "/v0.2/x").await;
        let other = world.client.get_plain(404, "/v0.2/x").await;
        assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
    }

    async fn a_store_that_is_gone_is_told_with_a_time_to_come_back(world: &World) {
        world.app.db.close().await;
        let answer = world.client.details(503, "530196605").await;
        assert_eq!(answer.code(), "unavailable");
        assert_eq!(answer.header("retry-after"), "1");
        assert!(!answer.text().contains("pool"), "{}", answer.text());
        assert_eq!(world.client.get_plain(200, "/healthz").await.json["status"], "ok");
        assert_eq!(world.client.get_plain(503, "/readyz").await.json["status"], "not ready");
    }

    async fn a_store_that_is_gone_does_not_stop_answers_from_the_snapshot(world: &World) {
        world.load_demo().await;
        world.client.details(200, "530196605").await;
        world.app.db.close().await;
        world.client.details(200, "530196605").await;
        assert_eq!(world.client.get_plain(200, "/readyz").await.json["status"], "ready");
    }
}
