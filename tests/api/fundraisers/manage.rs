//! What an account does with its fundraisers: update, close, reopen, list.

use super::create::PIXEL;
use super::{Organizer, RED_CROSS, assert_ledger, basic, donate, fields, id_of};
use crate::world::World;
use access::accounts::{self, Username};
use access::keys::{self, Class, KeyText, Kind};
use axum::http::Method;
use serde_json::{Value, json};

on_both_databases!(
    every_field_can_be_changed_and_cleared,
    only_real_changes_are_recorded_in_the_history,
    closing_and_reopening_are_idempotent_and_lose_nothing,
    all_errors_of_an_update_are_reported_and_nothing_is_written,
    a_dry_run_of_an_update_shows_its_result,
    uploading_a_cover_counts_as_a_create,
    another_account_cannot_change_a_fundraiser,
    the_fundraisers_of_an_account_are_paged_newest_first,
);

async fn update(
    organizer: &Organizer,
    expected: u16,
    created: &Value,
    body: Value,
) -> crate::client::Response {
    let path = format!("/v0.2/fundraiser/{}", created["id"].as_str().unwrap());
    organizer
        .write(expected, &Method::PATCH, &path, body.to_string(), &[])
        .await
}

async fn post_action(organizer: &Organizer, expected: u16, created: &Value, action: &str) -> Value {
    let path = format!("/v0.2/fundraiser/{}/{action}", created["id"].as_str().unwrap());
    let response = organizer.write(expected, &Method::POST, &path, "", &[]).await;
    response.json["data"]["fundraiser"].clone()
}

/// The organizer of another account.
pub(super) async fn stranger(world: &World) -> Organizer {
    let username = Username::parse("eve").unwrap();
    let account = accounts::store::insert_without_password(&world.app.db, &username, None, false, 0)
        .await
        .unwrap();
    let [public, private] = [Kind::Public, Kind::Private].map(KeyText::generate);
    for text in [&public, &private] {
        keys::store::insert(&world.app.db, account.unwrap(), "eve", text, 0)
            .await
            .unwrap();
    }
    Organizer {
        client: world.client.with_key(public.expose()),
        basic: basic(public.expose(), private.expose()),
    }
}

async fn every_field_can_be_changed_and_cleared(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer
        .create_fundraiser(json!({"description": "Old", "goal": 900, "raisedOffline": 100}))
        .await;
    let updated = update(&organizer, 200, &created, json!({
        "title": " New run ", "description": "New", "startDate": "2026-05-01T00:00:00Z", "endDate": "2026-06-01T00:00:00Z",
        "goal": 1_000, "raisedOffline": 250, "imageBase64": PIXEL, "nonprofitId": "x", "slug": "mine", "currency": "EUR",
    })).await;
    let now = &updated.json["data"]["fundraiser"];
    for (field, value) in [
        ("title", json!("New run")),
        ("description", json!("New")),
        ("startDate", json!("2026-05-01T00:00:00.000Z")),
        ("endDate", json!("2026-06-01T00:00:00.000Z")),
        ("goalAmount", json!(1_000)),
        ("raisedOffline", json!(250)),
        ("slug", json!("spring-run")),
        ("nonprofitId", json!(id_of(RED_CROSS))),
        ("id", created["id"].clone()),
    ] {
        assert_eq!(now[field], value, "{field}");
    }
    assert_ne!(now["coverImageHostedId"], created["coverImageHostedId"]);
    assert_eq!(organizer.raised(&created).await["raised"], 250);
    let read = organizer
        .read(200, &format!("{RED_CROSS}/fundraiser/spring-run"))
        .await;
    assert_eq!(&read.json["data"]["fundraiser"], now);
    let cleared = update(
        &organizer,
        200,
        &created,
        json!({"description": null, "startDate": null, "endDate": null,
        "goal": null, "raisedOffline": null, "imageBase64": null}),
    )
    .await;
    let now = &cleared.json["data"]["fundraiser"];
    for field in [
        "description",
        "startDate",
        "endDate",
        "goalAmount",
        "raisedOffline",
    ] {
        assert_eq!(now[field], Value::Null, "{field}");
    }
    assert_eq!(now["coverImageHostedId"], created["coverImageHostedId"]);
    let raised = organizer.raised(&created).await;
    assert_eq!(
        (&raised["raised"], &raised["goalType"]),
        (&json!(0), &json!("AUTOMATIC"))
    );
    assert_ledger(world, 3).await;
}

async fn only_real_changes_are_recorded_in_the_history(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    update(&organizer, 200, &created, json!({"goal": 500})).await;
    update(
        &organizer,
        200,
        &created,
        json!({"goal": 500, "title": "Spring run"}),
    )
    .await;
    update(&organizer, 200, &created, json!({})).await;
    post_action(&organizer, 200, &created, "close").await;
    post_action(&organizer, 200, &created, "close").await;
    let history = world
        .texts("select change from fundraiser_history order by version")
        .await;
    let history: Vec<Value> = history
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(history[0], json!({"goal": {"before": null, "after": 500}}));
    assert_eq!(history.len(), 2);
    assert_eq!(history[1]["closedAt"]["before"], Value::Null);
}

async fn closing_and_reopening_are_idempotent_and_lose_nothing(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    assert_eq!(post_action(&organizer, 200, &created, "reopen").await, created);
    let closed = post_action(&organizer, 200, &created, "close").await;
    assert_eq!(closed["active"], false);
    assert_eq!(post_action(&organizer, 200, &created, "close").await, closed);
    donate(world, &created, "late", "ana", 500).await.unwrap();
    assert_eq!(organizer.raised(&created).await["raised"], 500);
    assert_eq!(
        organizer
            .read(200, &format!("{RED_CROSS}/fundraiser/spring-run"))
            .await
            .json["data"]["fundraiser"],
        closed
    );
    assert_eq!(
        post_action(&organizer, 200, &created, "reopen").await["active"],
        true
    );
}

async fn all_errors_of_an_update_are_reported_and_nothing_is_written(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer
        .create_fundraiser(json!({"startDate": "2026-05-01T00:00:00Z"}))
        .await;
    let refused = update(
        &organizer,
        400,
        &created,
        json!({"title": null, "description": 5, "endDate": "2026-04-01T00:00:00Z",
        "goal": 0, "raisedOffline": 1.5, "imageBase64": "%%%"}),
    )
    .await;
    assert_eq!(
        fields(&refused),
        [
            "title",
            "description",
            "endDate",
            "goal",
            "raisedOffline",
            "imageBase64"
        ]
    );
    let read = organizer
        .read(200, &format!("{RED_CROSS}/fundraiser/spring-run"))
        .await;
    assert_eq!(read.json["data"]["fundraiser"], created);
    assert_eq!(
        world.texts("select change from fundraiser_history").await.len(),
        0
    );
}

async fn a_dry_run_of_an_update_shows_its_result(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let id = created["id"].as_str().unwrap();
    let dry_run = organizer
        .write(
            200,
            &Method::PATCH,
            &format!("/v0.2/fundraiser/{id}?dryRun=1"),
            r#"{"goal": 7}"#,
            &[],
        )
        .await;
    assert_eq!(
        (
            &dry_run.json["dryRun"],
            &dry_run.json["data"]["fundraiser"]["goalAmount"]
        ),
        (&json!(true), &json!(7))
    );
    let picture = json!({"imageBase64": PIXEL}).to_string();
    let dry_run = organizer
        .write(
            200,
            &Method::PATCH,
            &format!("/v0.2/fundraiser/{id}?dryRun=1"),
            picture,
            &[],
        )
        .await;
    let cover = dry_run.json["data"]["fundraiser"]["coverImageHostedId"].clone();
    assert_ne!(cover, created["coverImageHostedId"]);
    assert!(world.texts("select id from pictures").await.is_empty());
    let dry_run = organizer
        .write(
            200,
            &Method::POST,
            &format!("/v0.2/fundraiser/{id}/close?dryRun=1"),
            "",
            &[],
        )
        .await;
    assert_eq!(dry_run.json["data"]["fundraiser"]["active"], false);
    let read = organizer
        .read(200, &format!("{RED_CROSS}/fundraiser/spring-run"))
        .await;
    assert_eq!(read.json["data"]["fundraiser"], created);
    // The picture has the ID that the dry run returned.
    let updated = update(&organizer, 200, &created, json!({"imageBase64": PIXEL})).await;
    assert_eq!(updated.json["data"]["fundraiser"]["coverImageHostedId"], cover);
}

async fn uploading_a_cover_counts_as_a_create(world: &World) {
    world.app.clock.stop();
    Organizer::new(world).await;
    let eve = stranger(world).await;
    let created = eve.create_fundraiser(json!({})).await;
    for _ in 1..world.app.config.limits.of_class(Class::Create) {
        update(&eve, 200, &created, json!({"imageBase64": PIXEL})).await;
    }
    let refused = update(&eve, 429, &created, json!({"imageBase64": PIXEL})).await;
    assert_eq!(refused.code(), "rate_limited");
    update(
        &eve,
        200,
        &created,
        json!({"title": "Another", "imageBase64": null}),
    )
    .await;
}

async fn another_account_cannot_change_a_fundraiser(world: &World) {
    let organizer = Organizer::new(world).await;
    let created = organizer.create_fundraiser(json!({})).await;
    let eve = stranger(world).await;
    let refused = update(&eve, 404, &created, json!({"title": "Mine"})).await;
    assert_eq!(refused.code(), "fundraiser_not_found");
    let slug = update(
        &organizer,
        404,
        &json!({"id": "spring-run"}),
        json!({"title": "Mine"}),
    )
    .await;
    for detail in [
        refused.json["detail"].as_str().unwrap(),
        slug.json["detail"].as_str().unwrap(),
    ] {
        assert!(
            detail.contains("Send its ID, a UUID") && !detail.contains("slug"),
            "{detail}"
        );
    }
    post_action(&eve, 404, &created, "close").await;
    post_action(&eve, 404, &json!({"id": "no-id"}), "reopen").await;
    // Only one spelling of an ID is described.
    let id = created["id"].as_str().unwrap();
    for spelling in [id.replace('-', ""), format!("urn:uuid:{id}")] {
        post_action(&organizer, 404, &json!({"id": spelling}), "close").await;
    }
    let missing = world
        .client
        .send(401, &Method::GET, "/v0.2/fundraisers", &[])
        .await;
    assert_eq!(missing.code(), "missing_credentials");
    let listed = eve.write(200, &Method::GET, "/v0.2/fundraisers", "", &[]).await;
    assert_eq!(listed.json["fundraisers"], json!([]));
}

async fn the_fundraisers_of_an_account_are_paged_newest_first(world: &World) {
    let organizer = Organizer::new(world).await;
    let mut created = Vec::new();
    for number in 0..5 {
        world.app.clock.advance(std::time::Duration::from_millis(5));
        created.push(
            organizer
                .create_fundraiser(json!({"title": format!("Run {number}")}))
                .await,
        );
    }
    created.reverse();
    let list = async |query: &str, expected| {
        organizer
            .write(
                expected,
                &Method::GET,
                &format!("/v0.2/fundraisers{query}"),
                "",
                &[],
            )
            .await
    };
    let all = list("", 200).await.json;
    assert_eq!(all["fundraisers"], json!(created));
    assert_eq!(
        all["pagination"],
        json!({"page": 1, "pages": 1, "page_size": 10, "total_results": 5})
    );
    let mut walked = Vec::new();
    for page in 1..=3 {
        let page = list(&format!("?take=2&page={page}"), 200).await.json;
        assert_eq!(page["pagination"]["pages"], 3);
        walked.extend(page["fundraisers"].as_array().unwrap().clone());
    }
    assert_eq!(walked, created);
    let past = list("?page=99999999999999999999&take=500", 200).await.json;
    assert_eq!(
        (&past["fundraisers"], &past["pagination"]["page_size"]),
        (&json!([]), &json!(100))
    );
    for bad in ["?take=0", "?page=0", "?take=x", "?page=-1"] {
        assert_eq!(list(bad, 400).await.code(), "invalid_parameter", "{bad}");
    }
}
