//! What an account does with its fundraisers: PATCH, close, reopen, list.

use super::create::PIXEL;
use super::{Organiser, RED_CROSS, assert_sound, basic, fields, give, id_of};
use crate::world::World;
use access::accounts::{self, Username};
use access::keys::{self, Class, KeyText, Kind};
use axum::http::Method;
use serde_json::{Value, json};

async fn change(organiser: &Organiser, expected: u16, made: &Value, body: Value) -> crate::client::Answer {
    let path = format!("/v0.2/fundraiser/{}", made["id"].as_str().unwrap());
    organiser
        .write(expected, &Method::PATCH, &path, body.to_string(), &[])
        .await
}

async fn say(organiser: &Organiser, expected: u16, made: &Value, what: &str) -> Value {
    let path = format!("/v0.2/fundraiser/{}/{what}", made["id"].as_str().unwrap());
    let answer = organiser.write(expected, &Method::POST, &path, "", &[]).await;
    answer.json["data"]["fundraiser"].clone()
}

/// Somebody with another account.
pub(super) async fn stranger(world: &World) -> Organiser {
    let username = Username::parse("eve").unwrap();
    let account = accounts::store::insert(&world.app.db, &username, None, false, 0)
        .await
        .unwrap();
    let [public, private] = [Kind::Public, Kind::Private].map(KeyText::generate);
    for text in [&public, &private] {
        keys::store::insert(&world.app.db, account.unwrap(), "eve", text, 0)
            .await
            .unwrap();
    }
    Organiser {
        client: world.client.with_key(public.expose()),
        basic: basic(public.expose(), private.expose()),
    }
}

on_both! {
    async fn each_field_can_be_changed_and_cleared(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({"description": "Old", "goal": 900, "raisedOffline": 100})).await;
        let changed = change(&organiser, 200, &made, json!({
            "title": " New run ", "description": "New", "startDate": "2026-05-01T00:00:00Z", "endDate": "2026-06-01T00:00:00Z",
            "goal": 1_000, "raisedOffline": 250, "imageBase64": PIXEL, "nonprofitId": "x", "slug": "mine", "currency": "EUR",
        })).await;
        let now = &changed.json["data"]["fundraiser"];
        for (field, value) in [
            ("title", json!("New run")), ("description", json!("New")), ("startDate", json!("2026-05-01T00:00:00.000Z")),
            ("endDate", json!("2026-06-01T00:00:00.000Z")), ("goalAmount", json!(1_000)), ("raisedOffline", json!(250)),
            ("slug", json!("spring-run")), ("nonprofitId", json!(id_of(RED_CROSS))), ("id", made["id"].clone()),
        ] {
            assert_eq!(now[field], value, "{field}");
        }
        assert_ne!(now["coverImageHostedId"], made["coverImageHostedId"]);
        assert_eq!(organiser.raised(&made).await["raised"], 250);
        let read = organiser.read(200, &format!("{RED_CROSS}/fundraiser/spring-run")).await;
        assert_eq!(&read.json["data"]["fundraiser"], now);
        let cleared = change(&organiser, 200, &made, json!({"description": null, "startDate": null, "endDate": null,
            "goal": null, "raisedOffline": null, "imageBase64": null})).await;
        let now = &cleared.json["data"]["fundraiser"];
        for field in ["description", "startDate", "endDate", "goalAmount", "raisedOffline"] {
            assert_eq!(now[field], Value::Null, "{field}");
        }
        assert_eq!(now["coverImageHostedId"], made["coverImageHostedId"]);
        let raised = organiser.raised(&made).await;
        assert_eq!((&raised["raised"], &raised["goalType"]), (&json!(0), &json!("AUTOMATIC")));
        assert_sound(world, 3).await;
    }

    async fn every_change_is_kept_and_nothing_else(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({})).await;
        change(&organiser, 200, &made, json!({"goal": 500})).await;
        change(&organiser, 200, &made, json!({"goal": 500, "title": "Spring run"})).await;
        change(&organiser, 200, &made, json!({})).await;
        say(&organiser, 200, &made, "close").await;
        say(&organiser, 200, &made, "close").await;
        let history = world.texts("select change from fundraiser_history order by version").await;
        let history: Vec<Value> = history.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        assert_eq!(history[0], json!({"goal": {"before": null, "after": 500}}));
        assert_eq!(history.len(), 2);
        assert_eq!(history[1]["closedAt"]["before"], Value::Null);
    }

    async fn closing_and_reopening_are_idempotent_and_lose_nothing(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({})).await;
        assert_eq!(say(&organiser, 200, &made, "reopen").await, made);
        let closed = say(&organiser, 200, &made, "close").await;
        assert_eq!(closed["active"], false);
        assert_eq!(say(&organiser, 200, &made, "close").await, closed);
        give(world, &made, "late", "ana", 500).await.unwrap();
        assert_eq!(organiser.raised(&made).await["raised"], 500);
        assert_eq!(organiser.read(200, &format!("{RED_CROSS}/fundraiser/spring-run")).await.json["data"]["fundraiser"], closed);
        assert_eq!(say(&organiser, 200, &made, "reopen").await["active"], true);
    }

    async fn faults_of_a_change_are_told_at_once_and_nothing_is_written(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({"startDate": "2026-05-01T00:00:00Z"})).await;
        let refused = change(&organiser, 400, &made, json!({"title": null, "description": 5, "endDate": "2026-04-01T00:00:00Z",
            "goal": 0, "raisedOffline": 1.5, "imageBase64": "%%%"})).await;
        assert_eq!(fields(&refused), ["title", "description", "endDate", "goal", "raisedOffline", "imageBase64"]);
        let read = organiser.read(200, &format!("{RED_CROSS}/fundraiser/spring-run")).await;
        assert_eq!(read.json["data"]["fundraiser"], made);
        assert_eq!(world.texts("select change from fundraiser_history").await.len(), 0);
    }

    async fn a_dry_change_shows_what_would_be(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({})).await;
        let id = made["id"].as_str().unwrap();
        let dry = organiser.write(200, &Method::PATCH, &format!("/v0.2/fundraiser/{id}?dryRun=1"), r#"{"goal": 7}"#, &[]).await;
        assert_eq!((&dry.json["dryRun"], &dry.json["data"]["fundraiser"]["goalAmount"]), (&json!(true), &json!(7)));
        let picture = json!({"imageBase64": PIXEL}).to_string();
        let dry = organiser.write(200, &Method::PATCH, &format!("/v0.2/fundraiser/{id}?dryRun=1"), picture, &[]).await;
        let cover = dry.json["data"]["fundraiser"]["coverImageHostedId"].clone();
        assert_ne!(cover, made["coverImageHostedId"]);
        assert!(world.texts("select id from pictures").await.is_empty());
        let dry = organiser.write(200, &Method::POST, &format!("/v0.2/fundraiser/{id}/close?dryRun=1"), "", &[]).await;
        assert_eq!(dry.json["data"]["fundraiser"]["active"], false);
        let read = organiser.read(200, &format!("{RED_CROSS}/fundraiser/spring-run")).await;
        assert_eq!(read.json["data"]["fundraiser"], made);
        // It has the id that was told.
        let changed = change(&organiser, 200, &made, json!({"imageBase64": PIXEL})).await;
        assert_eq!(changed.json["data"]["fundraiser"]["coverImageHostedId"], cover);
    }

    async fn a_new_cover_counts_as_a_create(world: &World) {
        Organiser::new(world).await;
        let eve = stranger(world).await;
        let made = eve.make(json!({})).await;
        for _ in 1..world.app.config.limits.of_class(Class::Create) {
            change(&eve, 200, &made, json!({"imageBase64": PIXEL})).await;
        }
        let refused = change(&eve, 429, &made, json!({"imageBase64": PIXEL})).await;
        assert_eq!(refused.code(), "rate_limited");
        change(&eve, 200, &made, json!({"title": "Another", "imageBase64": null})).await;
    }

    async fn a_stranger_finds_nothing_to_change(world: &World) {
        let organiser = Organiser::new(world).await;
        let made = organiser.make(json!({})).await;
        let eve = stranger(world).await;
        let refused = change(&eve, 404, &made, json!({"title": "Mine"})).await;
        assert_eq!(refused.code(), "fundraiser_not_found");
        let slug = change(&organiser, 404, &json!({"id": "spring-run"}), json!({"title": "Mine"})).await;
        for told in [refused.json["detail"].as_str().unwrap(), slug.json["detail"].as_str().unwrap()] {
            assert!(told.contains("Send its ID, a UUID") && !told.contains("slug"), "{told}");
        }
        say(&eve, 404, &made, "close").await;
        say(&eve, 404, &json!({"id": "no-id"}), "reopen").await;
        let missing = world.client.send(401, &Method::GET, "/v0.2/fundraisers", &[]).await;
        assert_eq!(missing.code(), "missing_credentials");
        let listed = eve.write(200, &Method::GET, "/v0.2/fundraisers", "", &[]).await;
        assert_eq!(listed.json["fundraisers"], json!([]));
    }

    async fn the_list_of_an_account_is_paged_newest_first(world: &World) {
        let organiser = Organiser::new(world).await;
        let mut made = Vec::new();
        for number in 0..5 {
            world.app.clock.advance(std::time::Duration::from_millis(5));
            made.push(organiser.make(json!({"title": format!("Run {number}")})).await);
        }
        made.reverse();
        let list = async |query: &str, expected| organiser.write(expected, &Method::GET, &format!("/v0.2/fundraisers{query}"), "", &[]).await;
        let all = list("", 200).await.json;
        assert_eq!(all["fundraisers"], json!(made));
        assert_eq!(all["pagination"], json!({"page": 1, "pages": 1, "page_size": 10, "total_results": 5}));
        let mut walked = Vec::new();
        for page in 1..=3 {
            let page = list(&format!("?take=2&page={page}"), 200).await.json;
            assert_eq!(page["pagination"]["pages"], 3);
            walked.extend(page["fundraisers"].as_array().unwrap().clone());
        }
        assert_eq!(walked, made);
        let past = list("?page=99999999999999999999&take=500", 200).await.json;
        assert_eq!((&past["fundraisers"], &past["pagination"]["page_size"]), (&json!([]), &json!(100)));
        for bad in ["?take=0", "?page=0", "?take=x", "?page=-1"] {
            assert_eq!(list(bad, 400).await.code(), "invalid_parameter", "{bad}");
        }
    }
}
