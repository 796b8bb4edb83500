//! Identifiers of a nonprofit: slug, EIN and ID.

use crate::files::{bmf, nonprofit_row};
use crate::world::World;

on_both_databases!(
    slug_ein_and_id_find_the_same_nonprofit,
    an_ein_with_a_dash_or_prefix_is_refused_with_the_accepted_form,
    an_unknown_identifier_is_not_found,
    the_former_slug_of_a_renamed_nonprofit_still_finds_it,
    a_former_slug_is_not_reused_for_another_nonprofit,
    a_nonprofit_that_returns_to_its_old_name_gets_its_old_slug,
);

async fn slug_ein_and_id_find_the_same_nonprofit(world: &World) {
    world.load_demo().await;
    let by_ein = world.client.details(200, "530196605").await;
    let id = by_ein.nonprofit()["id"].as_str().unwrap().to_owned();
    for identifier in [
        "american-red-cross",
        "AMERICAN-RED-CROSS",
        "American-Red-Cross",
        "%20american-red-cross%20",
        "%20530196605%20",
        "%2053019660%35",
        &id,
        &id.to_uppercase(),
        &format!("%20{id}"),
    ] {
        let response = world.client.details(200, identifier).await;
        assert_eq!(response.body, by_ein.body, "{identifier}");
    }
}

async fn an_ein_with_a_dash_or_prefix_is_refused_with_the_accepted_form(world: &World) {
    world.load_demo().await;
    for identifier in [
        "53-0196605",
        "EIN530196605",
        "ein-530196605",
        "EIN%2053-0196605",
        "US-530196605",
        "EIN:530196605",
    ] {
        let response = world.client.details(404, identifier).await;
        assert_eq!(response.code(), "nonprofit_not_found");
        let detail = response.json["detail"].as_str().unwrap();
        assert!(
            detail.contains("nine digits") && detail.contains("530196605"),
            "{detail}"
        );
        assert!(!detail.contains('-'), "{detail}");
    }
}

async fn an_unknown_identifier_is_not_found(world: &World) {
    world.load_demo().await;
    for identifier in [
        "no-such-nonprofit",
        "000000001",
        "999999999",
        "53019660",
        "5301966050",
        "00000000-0000-0000-0000-000000000000",
        "ddacc399-20c5-462e-80e1-97fa958071ea",
        "ddacc39920c5462e80e197fa958071ea",
        "american_red_cross",
        "american-red-cross-",
        "%C3%A9glise",
    ] {
        assert_eq!(
            world.client.details(404, identifier).await.code(),
            "nonprofit_not_found",
            "{identifier}"
        );
    }
}

async fn the_former_slug_of_a_renamed_nonprofit_still_finds_it(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let before = world.client.details(200, "granite-town-library").await;
    let summary = world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE STATE READERS")]))
        .await
        .unwrap();
    assert_eq!((summary.new, summary.changed, summary.gone), (0, 1, 0));
    let after = world.client.details(200, "granite-state-readers").await;
    assert_eq!(after.nonprofit()["id"], before.nonprofit()["id"]);
    assert_eq!(after.nonprofit()["name"], "Granite State Readers");
    assert_eq!(
        world.client.details(200, "granite-town-library").await.body,
        after.body
    );
    // The same holds with a rebuilt snapshot and after a restart.
    world.app.directory.rebuild().await.unwrap().unwrap();
    assert!(world.app.directory.view().overlay.is_empty());
    assert_eq!(
        world.client.details(200, "granite-town-library").await.body,
        after.body
    );
    let (_, client) = world.restart().await;
    assert_eq!(client.details(200, "Granite-Town-Library").await.body, after.body);
}

async fn a_former_slug_is_not_reused_for_another_nonprofit(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let renamed = nonprofit_row("020240383", "GRANITE STATE READERS");
    let newcomer = nonprofit_row("020240384", "GRANITE TOWN LIBRARY").with("REVENUE_AMT", "900000000");
    world.import_irs(bmf(&[renamed, newcomer])).await.unwrap();
    let found = world.client.details(200, "granite-town-library").await;
    assert_eq!(found.nonprofit()["ein"], "020240383");
    let newcomer = world.client.details(200, "020240384").await;
    assert_eq!(
        newcomer.nonprofit()["primarySlug"],
        "granite-town-library-concord"
    );
}

async fn a_nonprofit_that_returns_to_its_old_name_gets_its_old_slug(world: &World) {
    for name in [
        "GRANITE TOWN LIBRARY",
        "GRANITE STATE READERS",
        "GRANITE TOWN LIBRARY",
    ] {
        world
            .import_irs(bmf(&[nonprofit_row("020240383", name)]))
            .await
            .unwrap();
    }
    for slug in ["granite-town-library", "granite-state-readers"] {
        let response = world.client.details(200, slug).await;
        assert_eq!(response.nonprofit()["primarySlug"], "granite-town-library");
    }
}
