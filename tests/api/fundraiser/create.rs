//! `POST /v0.2/fundraiser`: every documented field, for one nonprofit and for several.

use super::{NYU, Organiser, PENN, RED_CROSS, SPECIAL, assert_sound, basic, fields, id_of};
use crate::world::World;
use axum::http::Method;
use causeway::keys::Kind;
use serde_json::{Value, json};

on_both_databases!(
    every_field_of_the_interface_comes_back_as_it_was_sent,
    what_is_left_out_is_null_and_a_cover_is_drawn,
    a_fundraiser_for_several_has_their_weights,
    a_slug_that_is_taken_gets_four_digits_within_its_nonprofit,
    a_dry_run_judges_and_writes_nothing,
    only_the_keys_of_an_account_may_write,
    each_address_takes_its_own_methods,
);

/// One red pixel.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

async fn every_field_of_the_interface_comes_back_as_it_was_sent(world: &World) {
    let organiser = Organiser::new(world).await;
    let answer = organiser.create(200, &json!({
        "nonprofitId": id_of(RED_CROSS), "title": "  Ada's Spring Run & Fun ", "description": "For all.\nCome!",
        "startDate": "2026-05-01T09:00:00+02:00", "endDate": "2199-06-01T00:00:00Z", "goal": 500_000,
        "raisedOffline": 12_345, "currency": "USD", "imageBase64": format!("data:image/png;base64,{PIXEL}"), "type": null,
        "unknown": {"creatorUserId": "x"}, "active": false, "slug": "mine",
    })).await;
    assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
    assert_eq!(answer.json["message"], "OK");
    assert_eq!(answer.json.as_object().unwrap().len(), 2);
    assert_eq!(answer.json["data"].as_object().unwrap().len(), 1);
    let made = &answer.json["data"]["fundraiser"];
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
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    let location =
        "http://causeway.test/v0.2/nonprofit/american-red-cross/fundraiser/adas-spring-run-and-fun";
    assert_eq!(answer.header("location"), location);
    let hosted = made["coverImageHostedId"].as_str().unwrap();
    assert_eq!(
        made["coverImageUrl"],
        format!("http://causeway.test/media/{hosted}")
    );
    let picture = world.client.get_plain(200, &format!("/media/{hosted}")).await;
    assert!(picture.header("content-type").starts_with("image/"));
    assert_eq!(made.as_object().unwrap().len(), 24, "{made}");
    let read = organiser
        .client
        .get(200, location.strip_prefix("http://causeway.test").unwrap())
        .await;
    assert_eq!(&read.json["data"]["fundraiser"], made);
    assert_sound(world, 1).await;
}

async fn what_is_left_out_is_null_and_a_cover_is_drawn(world: &World) {
    let organiser = Organiser::new(world).await;
    let made = organiser.make(json!({})).await;
    for field in [
        "description",
        "startDate",
        "endDate",
        "goalAmount",
        "raisedOffline",
        "type",
    ] {
        assert_eq!(made[field], Value::Null, "{field}");
    }
    assert_eq!(made["active"], true);
    let hosted = made["coverImageHostedId"].as_str().unwrap();
    let cover = world.client.get_plain(200, &format!("/media/{hosted}")).await;
    assert!(cover.text().contains("Spring run"));
    assert!(made.get("forNonprofits").is_none() && made.get("forNonprofitWeights").is_none());
    let same = organiser
        .make(
            json!({"description": null, "startDate": null, "endDate": null, "goal": null,
        "raisedOffline": null, "imageBase64": null, "type": null, "forNonprofits": null}),
        )
        .await;
    assert_eq!(same["description"], Value::Null);
}

async fn a_fundraiser_for_several_has_their_weights(world: &World) {
    let organiser = Organiser::new(world).await;
    let several = json!([id_of(NYU), id_of(RED_CROSS), id_of(PENN)]);
    let body = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": several, "forNonprofitWeights": [1, 0.5, 2]});
    let answer = organiser.create(200, &body).await;
    let made = &answer.json["data"]["fundraiser"];
    assert_eq!(made["nonprofitId"], SPECIAL);
    assert_eq!(made["type"], "MULTIPLE_NONPROFITS");
    assert_eq!(made["forNonprofits"], several);
    assert_eq!(made["forNonprofitWeights"], json!([1.0, 0.5, 2.0]));
    assert_eq!(made["url"], "http://causeway.test/special-fundraiser/f/all");
    assert_eq!(
        answer.header("location"),
        "http://causeway.test/v0.2/nonprofit/special-fundraiser/fundraiser/all"
    );
    let equal = json!({"nonprofitId": SPECIAL, "title": "All", "type": "MULTIPLE_NONPROFITS", "forNonprofits": several});
    let answer = organiser.create(200, &equal).await;
    assert_eq!(
        answer.json["data"]["fundraiser"]["forNonprofitWeights"],
        json!([1.0, 1.0, 1.0])
    );
}

async fn a_slug_that_is_taken_gets_four_digits_within_its_nonprofit(world: &World) {
    let organiser = Organiser::new(world).await;
    assert_eq!(organiser.make(json!({})).await["slug"], "spring-run");
    let second = organiser.make(json!({})).await;
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
        organiser.make(json!({"nonprofitId": id_of(NYU)})).await["slug"],
        "spring-run"
    );
    assert_eq!(
        organiser.make(json!({"title": "日本"})).await["slug"],
        "fundraiser"
    );
}

async fn a_dry_run_judges_and_writes_nothing(world: &World) {
    let organiser = Organiser::new(world).await;
    let body =
        json!({"nonprofitId": id_of(RED_CROSS), "title": "Run", "raisedOffline": 5, "imageBase64": PIXEL});
    let dry = |expected, body: &Value| {
        let body = body.to_string();
        organiser.write(
            expected,
            &Method::POST,
            "/v0.2/fundraiser?dryRun=1",
            body,
            &[("idempotency-key", "k")],
        )
    };
    let answer = dry(200, &body).await;
    assert_eq!(answer.json["dryRun"], true);
    assert_eq!(answer.json["data"]["fundraiser"]["slug"], "run");
    assert!(!answer.headers.contains_key("location"));
    assert_eq!(
        fields(&dry(400, &json!({"imageBase64": "%"})).await),
        ["title", "nonprofitId", "imageBase64"]
    );
    organiser
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

async fn only_the_keys_of_an_account_may_write(world: &World) {
    let organiser = Organiser::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Run"}).to_string();
    let json = ("content-type", "application/json");
    let missing = world
        .client
        .send_body(401, &Method::POST, "/v0.2/fundraiser", &[json], body.clone())
        .await;
    assert_eq!(missing.code(), "missing_credentials");
    assert_eq!(missing.header("www-authenticate"), "Basic realm=\"causeway\"");
    let (_, public) = world.make_key(Kind::Public).await;
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
    organiser.make(serde_json::json!({})).await;
}

async fn each_address_takes_its_own_methods(world: &World) {
    let organiser = Organiser::new(world).await;
    let id = organiser.make(json!({})).await["id"].as_str().unwrap().to_owned();
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
