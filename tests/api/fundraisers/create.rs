//! `POST /v0.2/fundraiser`: every documented field, for one nonprofit and for several.

use super::{NYU, Organizer, PENN, RED_CROSS, SPECIAL, assert_ledger, basic, fields, id_of};
use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use serde_json::{Value, json};

on_both_databases!(
    every_field_is_returned_as_it_was_sent,
    omitted_fields_are_null_and_a_cover_is_generated,
    a_fundraiser_for_several_nonprofits_has_their_weights,
    a_taken_slug_gets_a_four_digit_suffix_within_its_nonprofit,
    a_dry_run_validates_and_writes_nothing,
    writing_requires_the_keys_of_an_account,
    each_route_allows_its_own_methods,
);

/// A PNG file of one red pixel.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

async fn every_field_is_returned_as_it_was_sent(world: &World) {
    let organizer = Organizer::new(world).await;
    let response = organizer.create(200, &json!({
        "nonprofitId": id_of(RED_CROSS), "title": "  Ada's Spring Run & Fun ", "description": "For all.\nCome!",
        "startDate": "2026-05-01T09:00:00+02:00", "endDate": "2199-06-01T00:00:00Z", "goal": 500_000,
        "raisedOffline": 12_345, "currency": "USD", "imageBase64": format!("data:image/png;base64,{PIXEL}"), "type": null,
        "unknown": {"creatorUserId": "x"}, "active": false, "slug": "mine",
    })).await;
    assert_eq!(response.header("content-type"), "application/json; charset=utf-8");
    assert_eq!(response.json["message"], "OK");
    assert_eq!(response.json.as_object().unwrap().len(), 2);
    assert_eq!(response.json["data"].as_object().unwrap().len(), 1);
    let created = &response.json["data"]["fundraiser"];
    for (field, value) in [
        ("entityName", json!("Fundraiser")),
        ("nonprofitId", json!(id_of(RED_CROSS))),
        ("creatorUserId", json!(world.account.to_string())),
        ("creatorNonprofitId", Value::Null),
        ("slug", json!("adas-spring-run-and-fun")),
        ("title", json!("Ada's Spring Run & Fun")),
        ("description", json!("For all.\nCome!")),
        ("startDate", json!("2026-05-01T07:00:00.000Z")),
        ("endDate", json!("2199-06-01T00:00:00.000Z")),
        ("pinnedAt", Value::Null),
        ("goalAmount", json!(500_000)),
        ("goalCurrency", json!("USD")),
        ("metadata", json!({})),
        ("parentFundraiserId", Value::Null),
        ("childrenFundraiserIds", json!([])),
        ("eventIds", json!([])),
        ("type", Value::Null),
        ("raisedOffline", json!(12_345)),
        (
            "url",
            json!("http://causeway.test/american-red-cross/f/adas-spring-run-and-fun"),
        ),
        ("livemode", json!(false)),
    ] {
        assert_eq!(created[field], value, "{field}");
    }
    let location =
        "http://causeway.test/v0.2/nonprofit/american-red-cross/fundraiser/adas-spring-run-and-fun";
    assert_eq!(response.header("location"), location);
    let hosted = created["coverImageHostedId"].as_str().unwrap();
    assert_eq!(
        created["coverImageUrl"],
        format!("http://causeway.test/media/{hosted}")
    );
    let picture = world.client.get_plain(200, &format!("/media/{hosted}")).await;
    assert!(picture.header("content-type").starts_with("image/"));
    assert_eq!(created.as_object().unwrap().len(), 26, "{created}");
    let read = organizer
        .client
        .get(200, location.strip_prefix("http://causeway.test").unwrap())
        .await;
    assert_eq!(&read.json["data"]["fundraiser"], created);
    assert_ledger(world, 1).await;
}

async fn omitted_fields_are_null_and_a_cover_is_generated(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    for field in [
        "description",
        "startDate",
        "endDate",
        "goalAmount",
        "raisedOffline",
        "type",
    ] {
        assert_eq!(created[field], Value::Null, "{field}");
    }
    assert_eq!(created["active"], true);
    let hosted = created["coverImageHostedId"].as_str().unwrap();
    let cover = world.client.get_plain(200, &format!("/media/{hosted}")).await;
    assert!(cover.text().contains("Spring run"));
    assert!(created.get("forNonprofits").is_none() && created.get("forNonprofitWeights").is_none());
    let same = organizer
        .create_fundraiser(
            json!({"description": null, "startDate": null, "endDate": null, "goal": null,
        "raisedOffline": null, "imageBase64": null, "type": null, "forNonprofits": null}),
        )
        .await;
    assert_eq!(same["description"], Value::Null);
}

async fn a_fundraiser_for_several_nonprofits_has_their_weights(world: &World) {
    let organizer = Organizer::new(world).await;
    let several = json!([id_of(NYU), id_of(RED_CROSS), id_of(PENN)]);
    let body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": several, "forNonprofitWeights": [1, 0.5, 2]});
    let response = organizer.create(200, &body).await;
    let created = &response.json["data"]["fundraiser"];
    assert_eq!(created["nonprofitId"], SPECIAL);
    assert_eq!(created["type"], "MULTIPLE_NONPROFITS");
    assert_eq!(created["forNonprofits"], several);
    assert_eq!(created["forNonprofitWeights"], json!([1.0, 0.5, 2.0]));
    assert_eq!(created["url"], "http://causeway.test/special-fundraiser/f/all");
    assert_eq!(
        response.header("location"),
        "http://causeway.test/v0.2/nonprofit/special-fundraiser/fundraiser/all"
    );
    let equal = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS", "forNonprofits": several});
    let response = organizer.create(200, &equal).await;
    assert_eq!(
        response.json["data"]["fundraiser"]["forNonprofitWeights"],
        json!([1.0, 1.0, 1.0])
    );
}

async fn a_taken_slug_gets_a_four_digit_suffix_within_its_nonprofit(world: &World) {
    let organizer = Organizer::new(world).await;
    assert_eq!(organizer.create_fundraiser(json!({})).await["slug"], "spring-run");
    let second = organizer.create_fundraiser(json!({})).await;
    let ending = second["slug"]
        .as_str()
        .unwrap()
        .strip_prefix("spring-run-")
        .unwrap();
    assert!(
        ending.len() == 4 && u16::from_str_radix(ending, 16).is_ok(),
        "{ending}"
    );
    assert_eq!(
        organizer
            .create_fundraiser(json!({"nonprofitId": id_of(NYU)}))
            .await["slug"],
        "spring-run"
    );
    assert_eq!(
        organizer.create_fundraiser(json!({"title": "日本"})).await["slug"],
        "fundraiser"
    );
}

async fn a_dry_run_validates_and_writes_nothing(world: &World) {
    let organizer = Organizer::new(world).await;
    let body =
        json!({"nonprofitId": id_of(RED_CROSS), "title": "Run", "raisedOffline": 5, "imageBase64": PIXEL});
    let dry = |expected, body: &Value| {
        let body = body.to_string();
        organizer.write(
            expected,
            &Method::POST,
            "/v0.2/fundraiser?dryRun=1",
            body,
            &[("idempotency-key", "k")],
        )
    };
    let response = dry(200, &body).await;
    assert_eq!(response.json["dryRun"], true);
    assert_eq!(response.json["data"]["fundraiser"]["slug"], "run");
    assert!(!response.headers.contains_key("location"));
    assert_eq!(
        fields(&dry(400, &json!({"imageBase64": "%"})).await),
        ["title", "nonprofitId", "imageBase64"]
    );
    organizer
        .write(
            400,
            &Method::POST,
            "/v0.2/fundraiser?dryRun=maybe",
            body.to_string(),
            &[],
        )
        .await;
    for table in [
        "select slug from fundraisers",
        "select kind from outbox",
        "select id from pictures",
        "select name from idempotency_keys",
    ] {
        assert_eq!(world.texts(table).await.len(), 0, "{table}");
    }
}

async fn writing_requires_the_keys_of_an_account(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Run"}).to_string();
    let json = ("content-type", "application/json");
    let missing = world
        .client
        .send_body(401, &Method::POST, "/v0.2/fundraiser", &[json], body.clone())
        .await;
    assert_eq!(missing.code(), "missing_credentials");
    assert_eq!(missing.header("www-authenticate"), "Basic realm=\"causeway\"");
    let (_, public) = world.create_key(Kind::Public).await;
    let wrong = basic(&public, &public);
    let headers = [json, ("authorization", wrong.as_str())];
    let refused = world
        .client
        .send_body(401, &Method::POST, "/v0.2/fundraiser", &headers, body.clone())
        .await;
    assert_eq!(refused.code(), "invalid_credentials");
    let by_key = format!("/v0.2/fundraiser?apiKey={public}");
    world
        .client
        .send_body(401, &Method::POST, &by_key, &[json], body)
        .await;
    assert_eq!(world.texts("select slug from fundraisers").await.len(), 0);
    organizer.create_fundraiser(serde_json::json!({})).await;
}

async fn each_route_allows_its_own_methods(world: &World) {
    let organizer = Organizer::new(world).await;
    let id = organizer.create_fundraiser(json!({})).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (path, wrong, methods) in [
        ("/v0.2/fundraiser".to_owned(), Method::GET, "POST, OPTIONS"),
        (format!("/v0.2/fundraiser/{id}"), Method::POST, "PATCH, OPTIONS"),
        (
            format!("/v0.2/fundraiser/{id}/close"),
            Method::GET,
            "POST, OPTIONS",
        ),
        (
            format!("/v0.2/fundraiser/{id}/reopen"),
            Method::DELETE,
            "POST, OPTIONS",
        ),
        ("/v0.2/fundraisers".to_owned(), Method::POST, "GET, HEAD, OPTIONS"),
        (
            format!("/v0.2/nonprofit/{RED_CROSS}/fundraiser/spring-run"),
            Method::PUT,
            "GET, HEAD, OPTIONS",
        ),
        (
            format!("/v0.2/nonprofit/{RED_CROSS}/fundraiser/spring-run/raised"),
            Method::POST,
            "GET, HEAD, OPTIONS",
        ),
    ] {
        let refused = world.client.send(405, &wrong, &path, &[]).await;
        assert_eq!(
            (refused.code(), refused.header("allow")),
            ("method_not_allowed", methods),
            "{path}"
        );
        let preflight = world.client.send(204, &Method::OPTIONS, &path, &[]).await;
        assert_eq!(
            preflight.header("access-control-allow-methods"),
            methods,
            "{path}"
        );
    }
}
