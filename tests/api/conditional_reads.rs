//! Every read has an entity tag, and 304 as long as nothing changed.

use super::fundraisers::{Organizer, RED_CROSS, id_of};
use crate::world::World;
use axum::http::Method;
use serde_json::{Value, json};

on_both_databases!(every_read_is_conditional);

/// Reads that need a private key.
const PRIVATE: [&str; 4] = [
    "/v0.2/fundraisers",
    "/v0.2/export",
    "/v0.2/changes",
    "/v0.2/webhooks",
];
/// Logs, which a client reads on from where it was, and reads that need an endpoint or a donation.
const NOT_TESTED: [&str; 6] = [
    "/v0.2/nonprofit/{identifier}/eligibility",
    "/v0.2/events",
    "/v0.2/donations",
    "/v0.2/donation/{id}",
    "/v0.2/webhook/{id}",
    "/v0.2/webhook/{id}/deliveries",
];

async fn every_read_is_conditional(world: &World) {
    let organizer = Organizer::new(world).await;
    organizer
        .create(
            200,
            &json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring Run"}),
        )
        .await;
    let fundraiser = "/v0.2/nonprofit/american-red-cross/fundraiser/spring-run";
    let raised = format!("{fundraiser}/raised");
    let paths = [
        "/v0.2/nonprofit/american-red-cross",
        "/v0.2/nonprofit/american-red-cross/finances",
        "/v0.2/search/red",
        "/v0.2/browse/animals",
        "/v0.2/causes",
        "/v0.2/directory",
        "/v0.2/openapi.json",
        "/v0.2/fundraisers",
        "/v0.2/export",
        "/v0.2/changes",
        "/v0.2/webhooks",
        fundraiser,
        &raised,
    ];
    // Every GET of the description is among them, apart from those that read on from a position.
    let description: Value = serde_json::from_str(include_str!("../../openapi.json")).unwrap();
    for (template, operations) in description["paths"].as_object().unwrap() {
        let is_tested = paths.iter().any(|path| fits(template, path));
        let is_exempt = NOT_TESTED.contains(&template.as_str());
        assert!(
            operations.get("get").is_none() || is_tested || is_exempt,
            "{template}"
        );
    }
    for path in paths {
        let is_private = PRIVATE.contains(&path);
        let url = if is_private {
            path.to_owned()
        } else {
            format!("{path}?apiKey={}", world.client.key)
        };
        let authorization = ("authorization", organizer.basic.as_str());
        let headers: Vec<(&str, &str)> = is_private.then_some(authorization).into_iter().collect();
        let first = world.client.send(200, &Method::GET, &url, &headers).await;
        let known = [&headers[..], &[("if-none-match", first.header("etag"))]].concat();
        let second = world.client.send(304, &Method::GET, &url, &known).await;
        assert!(second.body.is_empty(), "{path}");
        assert_eq!(second.header("etag"), first.header("etag"), "{path}");
    }
}

/// Returns whether a path has the form of a template such as `/v0.2/browse/{cause}`.
fn fits(template: &str, path: &str) -> bool {
    let (mut parts, mut segments) = (template.split('/'), path.split('/'));
    loop {
        match (parts.next(), segments.next()) {
            (None, None) => return true,
            (Some(part), Some(segment)) if part == segment || part.starts_with('{') => {}
            _ => return false,
        }
    }
}
