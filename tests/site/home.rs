//! The home page.

use crate::files::{bmf, nonprofit_row};
use crate::site::feeds::create_fundraiser;
use crate::world::World;
use std::time::Duration;

on_both_databases!(
    the_home_page_leads_with_nonprofits_that_people_recognize,
    without_household_names_hospitals_universities_and_funds_are_left_out,
    the_home_page_lists_active_fundraisers,
    every_cause_has_an_icon_on_the_home_page_and_in_the_list,
);

/// Returns the names of the popular nonprofits in their order.
async fn popular(world: &World) -> Vec<String> {
    let page = world.client.get_plain(200, "/").await.text();
    let Some((_, section)) = page.split_once("id=\"featured\"") else {
        return Vec::new();
    };
    let section = section.split("</section>").next().unwrap();
    let names = section.split("<bdi>").skip(1);
    names
        .map(|rest| rest.split("</bdi>").next().unwrap().to_owned())
        .collect()
}

async fn the_home_page_leads_with_nonprofits_that_people_recognize(world: &World) {
    world.load_demo().await;
    assert_eq!(
        popular(world).await,
        [
            "American Red Cross",
            "Feeding America",
            "ASPCA",
            "The Nature Conservancy",
            "Habitat for Humanity International",
            "St. Jude Children&#39;s Research Hospital",
        ]
    );
}

async fn without_household_names_hospitals_universities_and_funds_are_left_out(world: &World) {
    let row = |ein: &str, name: &str, code: &str, revenue: &str| {
        let row = nonprofit_row(ein, name).with("NTEE_CD", code);
        row.with("REVENUE_AMT", revenue).with("INCOME_AMT", revenue)
    };
    let rows = [
        row("100000001", "GRANITE HEALTH PLAN", "E80", "9000000000"),
        row("100000002", "GRANITE HOSPITAL SYSTEM", "E22", "8000000000"),
        row("100000003", "GRANITE GIFT FUND", "T31", "7000000000"),
        row("100000004", "GRANITE UNIVERSITY", "B43", "6000000000"),
        row("100000005", "GRANITE FOOD BANK", "K31", "5000000"),
        row("100000006", "GRANITE ANIMAL SHELTER", "D20", "900000"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(
        popular(world).await,
        ["Granite Food Bank", "Granite Animal Shelter"]
    );
    // A household name comes first, however small its revenue is in the file.
    let mut rows = rows.to_vec();
    rows.push(row("530196605", "AMERICAN NATIONAL RED CROSS", "P21", "1000"));
    world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(
        popular(world).await,
        [
            "American Red Cross",
            "Granite Food Bank",
            "Granite Animal Shelter"
        ]
    );
}

async fn the_home_page_lists_active_fundraisers(world: &World) {
    world.load_demo().await;
    let page = world.client.get_plain(200, "/").await.text();
    assert!(!page.contains("active-fundraisers"));
    let (slug, _) = create_fundraiser(world, "Spring <run>", "").await;
    world.app.clock.advance(Duration::from_secs(6));
    let page = world.client.get_plain(200, "/").await.text();
    assert!(page.contains("Spring &#60;run&#62;"));
    assert!(page.contains(&format!("href=\"/american-red-cross/f/{slug}\"")));
    assert!(page.contains("$0.00 raised, 0% of the goal"));
    world
        .execute("update fundraisers set hidden_at = 1, hidden_reason = 'test'")
        .await;
    world.app.giving.fundraisers.refresh().await.unwrap();
    world.app.clock.advance(Duration::from_secs(6));
    let page = world.client.get_plain(200, "/").await.text();
    assert!(!page.contains("active-fundraisers"));
}

async fn every_cause_has_an_icon_on_the_home_page_and_in_the_list(world: &World) {
    world.load_demo().await;
    for url in ["/", "/causes"] {
        let page = world.client.get_plain(200, url).await.text();
        let tiles: Vec<&str> = page.split("class=\"cause-tile\"").skip(1).collect();
        assert!(tiles.len() >= 12, "{url}");
        for tile in tiles {
            let tile = tile.split("</a>").next().unwrap();
            assert!(tile.contains("<svg class=\"icon\""), "{url}: {tile}");
        }
    }
    let cause = world.client.get_plain(200, "/causes/animals").await.text();
    assert!(cause.contains("icon-disc-large\"><svg"));
}
