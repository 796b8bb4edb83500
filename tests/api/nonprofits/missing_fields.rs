//! Nonprofits with little data: unknown fields are omitted.

use crate::files::{bmf, nonprofit_row};
use crate::world::World;

on_both_databases!(
    a_nonprofit_known_only_from_the_irs_is_described_by_its_facts,
    a_nonprofit_without_an_ntee_code_has_neither_code_nor_meaning,
    an_unknown_ntee_code_is_shown_with_its_major_group,
    a_foreign_nonprofit_has_a_location_without_a_state,
    a_nonprofit_without_an_ein_omits_the_field_and_has_a_tags_array,
);

async fn a_nonprofit_known_only_from_the_irs_is_described_by_its_facts(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY INC")]))
        .await
        .unwrap();
    let response = world.client.details(200, "020240383").await;
    let nonprofit = response.nonprofit().as_object().unwrap();
    assert_eq!(nonprofit["name"], "Granite Town Library Inc");
    assert_eq!(nonprofit["primarySlug"], "granite-town-library");
    let description = nonprofit["description"].as_str().unwrap();
    for fact in ["public charity", "Concord, NH", "1994"] {
        assert!(description.contains(fact), "{description}");
    }
    assert!(nonprofit["descriptionLong"].is_null());
    assert!(!nonprofit.contains_key("websiteUrl"));
    assert_eq!(nonprofit["locationAddress"], "Concord, NH");
    assert_eq!(nonprofit["isDisbursable"], true);
    let logo = nonprofit["logoUrl"].as_str().unwrap();
    assert_eq!(
        logo,
        format!(
            "http://causeway.test/media/{}",
            nonprofit["logoHostedId"].as_str().unwrap()
        )
    );
}

async fn a_nonprofit_without_an_ntee_code_has_neither_code_nor_meaning(world: &World) {
    world
        .import_irs(bmf(&[
            nonprofit_row("020240383", "GRANITE TOWN CIRCLE").with("NTEE_CD", "")
        ]))
        .await
        .unwrap();
    let response = world.client.details(200, "020240383").await;
    let nonprofit = response.nonprofit().as_object().unwrap();
    assert!(!nonprofit.contains_key("nteeCode") && !nonprofit.contains_key("nteeCodeMeaning"));
    assert!(response.json["data"]["nonprofitTags"].is_array());
}

async fn an_unknown_ntee_code_is_shown_with_its_major_group(world: &World) {
    world
        .import_irs(bmf(&[
            nonprofit_row("020240383", "GRANITE TOWN CIRCLE").with("NTEE_CD", "B99Z")
        ]))
        .await
        .unwrap();
    let response = world.client.details(200, "020240383").await;
    assert!(
        response.nonprofit()["nteeCode"]
            .as_str()
            .unwrap()
            .starts_with("B99")
    );
    assert_eq!(response.nonprofit()["nteeCodeMeaning"]["majorCode"], "B");
}

async fn a_foreign_nonprofit_has_a_location_without_a_state(world: &World) {
    let foreign = nonprofit_row("980240383", "OXFORD FRIENDS")
        .with("CITY", "LONDON")
        .with("STATE", "")
        .with("ZIP", "00000-0000");
    world.import_irs(bmf(&[foreign])).await.unwrap();
    let response = world.client.details(200, "980240383").await;
    assert_eq!(response.nonprofit()["locationAddress"], "London");
}

async fn a_nonprofit_without_an_ein_omits_the_field_and_has_a_tags_array(world: &World) {
    let line = r#"{"id":"0b6b9e0e-6b0f-4e5e-9a52-0d6f5d2d8f10","name":"Les Amis de la Tour","city":"Paris","country":"France"}"#;
    assert_eq!(world.import_nonprofits(line).await.unwrap().new, 1);
    let response = world.client.details(200, "les-amis-de-la-tour").await;
    let nonprofit = response.nonprofit().as_object().unwrap();
    assert!(!nonprofit.contains_key("ein"));
    assert_eq!(nonprofit["id"], "0b6b9e0e-6b0f-4e5e-9a52-0d6f5d2d8f10");
    assert_eq!(nonprofit["locationAddress"], "Paris, France");
    assert_eq!(nonprofit["isDisbursable"], false);
    assert_eq!(response.json["data"]["nonprofitTags"], serde_json::json!([]));
}
