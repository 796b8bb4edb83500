//! Bodies of which little is known: what is unknown is left out, never empty and never null.

use crate::files::{bmf, body};
use crate::world::World;

on_both_databases!(
    a_body_of_which_only_the_irs_speaks_is_described_by_facts,
    a_body_without_an_ntee_code_has_neither_code_nor_meaning,
    a_code_that_the_table_does_not_have_is_shown_with_the_group_it_stands_in,
    a_foreign_body_has_a_location_without_a_state,
    a_body_without_an_ein_has_no_such_field_and_tags_that_are_an_array,
);

async fn a_body_of_which_only_the_irs_speaks_is_described_by_facts(world: &World) {
    world
        .import_irs(bmf(&[body("020240383", "GRANITE TOWN LIBRARY INC")]))
        .await
        .unwrap();
    let answer = world.client.details(200, "020240383").await;
    let nonprofit = answer.nonprofit().as_object().unwrap();
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

async fn a_body_without_an_ntee_code_has_neither_code_nor_meaning(world: &World) {
    world
        .import_irs(bmf(&[
            body("020240383", "GRANITE TOWN CIRCLE").with("NTEE_CD", "")
        ]))
        .await
        .unwrap();
    let answer = world.client.details(200, "020240383").await;
    let nonprofit = answer.nonprofit().as_object().unwrap();
    assert!(!nonprofit.contains_key("nteeCode") && !nonprofit.contains_key("nteeCodeMeaning"));
    assert!(answer.json["data"]["nonprofitTags"].is_array());
}

async fn a_code_that_the_table_does_not_have_is_shown_with_the_group_it_stands_in(world: &World) {
    world
        .import_irs(bmf(&[
            body("020240383", "GRANITE TOWN CIRCLE").with("NTEE_CD", "B99Z")
        ]))
        .await
        .unwrap();
    let answer = world.client.details(200, "020240383").await;
    assert!(
        answer.nonprofit()["nteeCode"]
            .as_str()
            .unwrap()
            .starts_with("B99")
    );
    assert_eq!(answer.nonprofit()["nteeCodeMeaning"]["majorCode"], "B");
}

async fn a_foreign_body_has_a_location_without_a_state(world: &World) {
    let foreign = body("980240383", "OXFORD FRIENDS")
        .with("CITY", "LONDON")
        .with("STATE", "")
        .with("ZIP", "00000-0000");
    world.import_irs(bmf(&[foreign])).await.unwrap();
    let answer = world.client.details(200, "980240383").await;
    assert_eq!(answer.nonprofit()["locationAddress"], "London");
}

async fn a_body_without_an_ein_has_no_such_field_and_tags_that_are_an_array(world: &World) {
    let line = r#"{"id":"0b6b9e0e-6b0f-4e5e-9a52-0d6f5d2d8f10","name":"Les Amis de la Tour","city":"Paris","country":"France"}"#;
    assert_eq!(world.import_nonprofits(line).await.unwrap().new, 1);
    let answer = world.client.details(200, "les-amis-de-la-tour").await;
    let nonprofit = answer.nonprofit().as_object().unwrap();
    assert!(!nonprofit.contains_key("ein"));
    assert_eq!(nonprofit["id"], "0b6b9e0e-6b0f-4e5e-9a52-0d6f5d2d8f10");
    assert_eq!(nonprofit["locationAddress"], "Paris, France");
    assert_eq!(nonprofit["isDisbursable"], false);
    assert_eq!(answer.json["data"]["nonprofitTags"], serde_json::json!([]));
}
