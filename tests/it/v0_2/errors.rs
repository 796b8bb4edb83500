//! What every answer has, also the ones that refuse.

use crate::world::World;
use axum::http::Method;

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
