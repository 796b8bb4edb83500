//! Every documented field, by name and type.

use crate::world::World;
use causeway::api::bodies::DetailsBody;
use serde_json::Value;
use uuid::Uuid;

on_both_databases!(
    a_popular_nonprofit_has_exactly_the_documented_fields,
    the_meaning_of_an_ntee_code_has_four_fields,
    every_cause_has_seven_fields,
    every_nonprofit_of_the_demo_directory_can_be_read,
);

async fn a_popular_nonprofit_has_exactly_the_documented_fields(world: &World) {
    world.load_demo().await;
    let response = world.client.details(200, "american-red-cross").await;
    assert_eq!(response.header("content-type"), "application/json; charset=utf-8");
    let _: DetailsBody = serde_json::from_value(response.json.clone()).unwrap();
    assert_eq!(names(&response.json), ["data"]);
    assert_eq!(names(&response.json["data"]), ["nonprofit", "nonprofitTags"]);
    let nonprofit = response.nonprofit();
    assert_eq!(
        names(nonprofit),
        sorted(&[
            "id",
            "name",
            "primarySlug",
            "ein",
            "isDisbursable",
            "description",
            "descriptionLong",
            "locationAddress",
            "nteeCode",
            "nteeCodeMeaning",
            "logoHostedId",
            "coverImageHostedId",
            "logoUrl",
            "coverImageUrl",
            "profileUrl",
            "websiteUrl",
        ])
    );
    for name in names(nonprofit) {
        match name.as_str() {
            "isDisbursable" => assert!(nonprofit[&name].is_boolean()),
            "nteeCodeMeaning" => assert!(nonprofit[&name].is_object()),
            _ => assert!(!nonprofit[&name].as_str().unwrap().is_empty(), "{name}"),
        }
    }
    let text = |name: &str| nonprofit[name].as_str().unwrap();
    Uuid::parse_str(text("id")).unwrap();
    assert_eq!(text("name"), "American Red Cross");
    assert_eq!(text("primarySlug"), "american-red-cross");
    assert_eq!(text("ein"), "530196605");
    assert_eq!(nonprofit["isDisbursable"], true);
    assert_eq!(text("locationAddress"), "Washington, DC");
    assert_eq!(text("profileUrl"), "http://causeway.test/american-red-cross");
    assert_eq!(text("websiteUrl"), "https://www.redcross.org");
}

async fn the_meaning_of_an_ntee_code_has_four_fields(world: &World) {
    world.load_demo().await;
    let response = world.client.details(200, "530196605").await;
    let nonprofit = response.nonprofit();
    assert_eq!(nonprofit["nteeCode"], "P21");
    let meaning = &nonprofit["nteeCodeMeaning"];
    assert_eq!(
        names(meaning),
        sorted(&["majorCode", "majorMeaning", "decileCode", "decileMeaning"])
    );
    assert_eq!(meaning["majorCode"], "P");
    for name in names(meaning) {
        assert!(!meaning[&name].as_str().unwrap().is_empty(), "{name}");
    }
}

async fn every_cause_has_seven_fields(world: &World) {
    world.load_demo().await;
    let response = world.client.details(200, "530196605").await;
    let tags = response.json["data"]["nonprofitTags"].as_array().unwrap();
    let found: Vec<_> = tags.iter().map(|tag| tag["tagName"].as_str().unwrap()).collect();
    assert_eq!(found, ["health", "humans", "hurricane-ian", "wildfires"]);
    for tag in tags {
        assert_eq!(
            names(tag),
            sorted(&[
                "id",
                "tagName",
                "causeCategory",
                "title",
                "tagImageHostedId",
                "tagUrl",
                "tagImageUrl",
            ])
        );
        let text = |name: &str| tag[name].as_str().unwrap();
        Uuid::parse_str(text("id")).unwrap();
        assert!(
            text("causeCategory")
                .bytes()
                .all(|letter| letter.is_ascii_uppercase() || letter == b'_')
        );
        assert_eq!(
            text("tagUrl"),
            format!("http://causeway.test/causes/{}", text("tagName"))
        );
        assert!(text("tagImageUrl").ends_with(text("tagImageHostedId")));
    }
}

async fn every_nonprofit_of_the_demo_directory_can_be_read(world: &World) {
    world.load_demo().await;
    let key = create_unlimited_key(world).await;
    let client = world.client.with_key(&key);
    let slugs = world.texts("select slug from nonprofits").await;
    assert!(slugs.len() >= 300, "{} nonprofits", slugs.len());
    for slug in slugs {
        let response = client.details(200, &slug).await;
        assert_eq!(response.nonprofit()["primarySlug"], slug.as_str());
        assert!(
            !response.json["data"]["nonprofitTags"]
                .as_array()
                .unwrap()
                .is_empty(),
            "{slug}"
        );
    }
}

/// Creates a key with a high limit for details.
async fn create_unlimited_key(world: &World) -> String {
    use access::audit::Actor;
    use access::keys::{Class, Kind, store};
    let (id, key) = world.create_key(Kind::Public).await;
    store::set_limits(
        &world.app.db,
        id,
        &[(Class::Details, 1_000_000)],
        Actor::Command,
        0,
    )
    .await
    .unwrap();
    key
}

fn names(object: &Value) -> Vec<String> {
    let mut names: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.sort();
    names
}
