//! Slugs that an import gives: the more prominent body chooses first, and what was given is kept.

use crate::files::{bmf, body};
use crate::world::World;

on_both_databases!(
    the_more_prominent_of_two_equal_names_gets_the_plain_slug,
    a_slug_that_was_given_is_kept_whoever_comes_later,
    no_slug_reads_as_an_ein_an_id_or_a_route,
);

async fn the_more_prominent_of_two_equal_names_gets_the_plain_slug(world: &World) {
    let small = body("020240383", "FOOD BANK").with("REVENUE_AMT", "1000");
    let large = body("020240384", "FOOD BANK")
        .with("REVENUE_AMT", "90000000")
        .with("CITY", "KEENE");
    let smallest = body("020240385", "FOOD BANK").with("REVENUE_AMT", "10");
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

async fn a_slug_that_was_given_is_kept_whoever_comes_later(world: &World) {
    let small = body("020240383", "FOOD BANK").with("REVENUE_AMT", "1000");
    world.import_irs(bmf(std::slice::from_ref(&small))).await.unwrap();
    let large = body("020240384", "FOOD BANK")
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

async fn no_slug_reads_as_an_ein_an_id_or_a_route(world: &World) {
    let rows = [
        body("020240383", "530196605"),
        body("020240384", "53-0196605"),
        body("020240385", "EIN 530196605"),
        body("020240386", "DASHBOARD"),
        body("020240387", "MEDIA"),
        body("020240388", "DDACC399-20C5-462E-80E1-97FA958071EA"),
        body("020240389", "***"),
    ];
    assert_eq!(world.import_irs(bmf(&rows)).await.unwrap().new, 7);
    for ein in 20_240_383..=20_240_389 {
        let answer = world.client.details(200, &format!("{ein:09}")).await;
        let slug = answer.nonprofit()["primarySlug"].as_str().unwrap();
        assert_eq!(world.client.details(200, slug).await.body, answer.body, "{slug}");
    }
    world.client.details(404, "530196605").await;
    world.client.details(404, "dashboard").await;
}
