//! `GET /v0.2/nonprofit/{nonprofit}/fundraiser/{fundraiser}`.

use super::{NYU, Organizer, PENN, RED_CROSS, SPECIAL, id_of};
use crate::world::World;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    a_fundraiser_is_found_by_every_identifier_of_it_and_its_nonprofit,
    the_response_has_the_creator_the_nonprofits_and_their_causes,
    several_nonprofits_keep_their_order_and_each_cause_appears_once,
    a_fundraiser_is_not_found_under_another_nonprofit,
    a_fundraiser_is_active_between_its_dates_and_readable_after,
    the_creator_is_always_current,
    a_matching_etag_gets_304,
);

async fn a_fundraiser_is_found_by_every_identifier_of_it_and_its_nonprofit(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let id = created["id"].as_str().unwrap();
    for nonprofit in [
        RED_CROSS,
        "american-red-cross",
        "American-Red-Cross",
        &id_of(RED_CROSS),
    ] {
        for name in [
            "spring-run",
            "Spring-Run",
            "%20spring-run",
            id,
            &id.to_uppercase(),
        ] {
            let response = organizer
                .read(200, &format!("{nonprofit}/fundraiser/{name}"))
                .await;
            assert_eq!(response.json["data"]["fundraiser"], created);
        }
    }
}

async fn the_response_has_the_creator_the_nonprofits_and_their_causes(world: &World) {
    let organizer = Organizer::new(world).await;
    organizer.create_fundraiser(json!({})).await;
    let response = organizer
        .read(200, &format!("{RED_CROSS}/fundraiser/spring-run"))
        .await;
    let data = &response.json["data"];
    assert_eq!(
        (&response.json["message"], data.as_object().unwrap().len()),
        (&json!("OK"), 4)
    );
    assert_eq!(
        data["users"],
        json!([{"id": world.account.to_string(), "username": "ada"}])
    );
    let details = world.client.details(200, RED_CROSS).await;
    assert_eq!(data["nonprofits"], json!([details.nonprofit()]));
    assert_eq!(data["tags"], details.json["data"]["nonprofitTags"]);
    assert!(
        response
            .header("ratelimit-policy")
            .starts_with("\"fundraisers\";q=500")
    );
    assert_eq!(response.header("cache-control"), "private, no-cache");
    assert!(!response.text().contains('@'));
}

async fn several_nonprofits_keep_their_order_and_each_cause_appears_once(world: &World) {
    let organizer = Organizer::new(world).await;
    let order = [PENN, RED_CROSS, NYU];
    let body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": order.map(id_of)});
    organizer.create(200, &body).await;
    for special in ["special-fundraiser", SPECIAL] {
        let data = organizer
            .read(200, &format!("{special}/fundraiser/all"))
            .await
            .json["data"]
            .clone();
        let eins: Vec<_> = data["nonprofits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|each| each["ein"].clone())
            .collect();
        assert_eq!(eins, order);
        let mut tags: Vec<_> = data["tags"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tag| tag["tagName"].as_str().unwrap())
            .collect();
        let count = tags.len();
        tags.sort_unstable();
        tags.dedup();
        assert!(tags.len() == count && count > 1, "{tags:?}");
    }
}

async fn a_fundraiser_is_not_found_under_another_nonprofit(world: &World) {
    let organizer = Organizer::new(world).await;
    let id = organizer.create_fundraiser(json!({})).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (path, code) in [
        (format!("{NYU}/fundraiser/spring-run"), "fundraiser_not_found"),
        (format!("{NYU}/fundraiser/{id}"), "fundraiser_not_found"),
        (format!("{NYU}/fundraiser/{id}/raised"), "fundraiser_not_found"),
        (
            format!("special-fundraiser/fundraiser/{id}"),
            "fundraiser_not_found",
        ),
        (format!("{RED_CROSS}/fundraiser/nothing"), "fundraiser_not_found"),
        (format!("{RED_CROSS}/fundraiser/%00"), "fundraiser_not_found"),
        (
            format!("{RED_CROSS}/fundraiser/{}", "x".repeat(5_000)),
            "fundraiser_not_found",
        ),
        (
            "nobody-at-all/fundraiser/spring-run".to_owned(),
            "nonprofit_not_found",
        ),
        (format!("53-0196605/fundraiser/{id}"), "nonprofit_not_found"),
        (format!("{RED_CROSS}/fundraiser"), "not_found"),
        (format!("{RED_CROSS}/fundraiser/spring-run/total"), "not_found"),
    ] {
        assert_eq!(organizer.read(404, &path).await.code(), code, "{path:.100}");
    }
    organizer.read(400, &format!("{RED_CROSS}/fundraiser/%ff")).await;
}

async fn a_fundraiser_is_active_between_its_dates_and_readable_after(world: &World) {
    let organizer = Organizer::new(world).await;
    let at = |hours: i64| platform::clock::rfc3339(world.app.clock.millis() + hours * 3_600_000);
    organizer
        .create_fundraiser(json!({"startDate": at(1), "endDate": at(3)}))
        .await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(
            organizer
                .read(200, &format!("{RED_CROSS}/fundraiser/spring-run"))
                .await
                .json["data"]["fundraiser"]["active"]
                .clone(),
        );
        world.app.clock.advance(Duration::from_hours(2));
    }
    assert_eq!(seen, [false, true, false]);
}

async fn the_creator_is_always_current(world: &World) {
    let organizer = Organizer::new(world).await;
    organizer.create_fundraiser(json!({})).await;
    let path = format!("{RED_CROSS}/fundraiser/spring-run");
    organizer.read(200, &path).await;
    world.execute("update accounts set username = 'gone-1'").await;
    assert_eq!(
        organizer.read(200, &path).await.json["data"]["users"][0]["username"],
        "gone-1"
    );
}

async fn a_matching_etag_gets_304(world: &World) {
    let organizer = Organizer::new(world).await;
    organizer.create_fundraiser(json!({})).await;
    for path in [
        format!("/v0.2/nonprofit/{RED_CROSS}/fundraiser/spring-run"),
        format!("/v0.2/nonprofit/{RED_CROSS}/fundraiser/spring-run/raised"),
    ] {
        let first = world.client.get(200, &path).await;
        let if_none_match = [("if-none-match", first.header("etag"))];
        assert!(
            world
                .client
                .get_with(304, &path, &if_none_match)
                .await
                .body
                .is_empty()
        );
    }
}
