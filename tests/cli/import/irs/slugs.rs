//! Slugs assigned by an import: the most prominent nonprofit comes first, and assigned slugs are kept.

use crate::files::{bmf, nonprofit_row};
use crate::world::World;

on_both_databases!(
    the_more_prominent_of_two_namesakes_gets_the_plain_slug,
    an_assigned_slug_is_kept_when_a_larger_namesake_arrives,
    a_slug_never_looks_like_an_ein_an_id_or_a_route,
);

async fn the_more_prominent_of_two_namesakes_gets_the_plain_slug(world: &World) {
    let small = nonprofit_row("020240383", "FOOD BANK").with("REVENUE_AMT", "1000");
    let large = nonprofit_row("020240384", "FOOD BANK")
        .with("REVENUE_AMT", "90000000")
        .with("CITY", "KEENE");
    let smallest = nonprofit_row("020240385", "FOOD BANK").with("REVENUE_AMT", "10");
    world.import_irs(bmf(&[small, large, smallest])).await.unwrap();
    for (slug, ein) in [
        ("food-bank", "020240384"),
        ("food-bank-concord", "020240383"),
        ("food-bank-concord-nh", "020240385"),
    ] {
        assert_eq!(
            world.client.details(200, slug).await.nonprofit()["ein"],
            ein,
            "{slug}"
        );
    }
}

async fn an_assigned_slug_is_kept_when_a_larger_namesake_arrives(world: &World) {
    let small = nonprofit_row("020240383", "FOOD BANK").with("REVENUE_AMT", "1000");
    world.import_irs(bmf(std::slice::from_ref(&small))).await.unwrap();
    let large = nonprofit_row("020240384", "FOOD BANK")
        .with("REVENUE_AMT", "90000000")
        .with("CITY", "KEENE");
    world
        .import_irs(bmf(&[small.with("CITY", "DOVER"), large]))
        .await
        .unwrap();
    assert_eq!(
        world.client.details(200, "food-bank").await.nonprofit()["ein"],
        "020240383"
    );
    assert_eq!(
        world.client.details(200, "food-bank-keene").await.nonprofit()["ein"],
        "020240384"
    );
}

async fn a_slug_never_looks_like_an_ein_an_id_or_a_route(world: &World) {
    let rows = [
        nonprofit_row("020240383", "530196605"),
        nonprofit_row("020240384", "53-0196605"),
        nonprofit_row("020240385", "EIN 530196605"),
        nonprofit_row("020240386", "DASHBOARD"),
        nonprofit_row("020240387", "MEDIA"),
        nonprofit_row("020240388", "DDACC399-20C5-462E-80E1-97FA958071EA"),
        nonprofit_row("020240389", "***"),
    ];
    assert_eq!(world.import_irs(bmf(&rows)).await.unwrap().new, 7);
    for ein in 20_240_383..=20_240_389 {
        let response = world.client.details(200, &format!("{ein:09}")).await;
        let slug = response.nonprofit()["primarySlug"].as_str().unwrap();
        assert_eq!(
            world.client.details(200, slug).await.body,
            response.body,
            "{slug}"
        );
    }
    world.client.details(404, "530196605").await;
    world.client.details(404, "dashboard").await;
}
