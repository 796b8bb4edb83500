//! Finding and reading: home, search, causes, profiles.

use super::feeds::make;
use crate::files::{bmf, body};
use crate::world::World;

on_both_databases!(
    a_search_marks_what_was_typed_and_says_what_was_meant,
    a_card_has_a_line_for_the_chapter,
    the_live_answers_are_those_of_the_interface,
    a_cause_has_a_page_for_all_its_nonprofits,
    every_way_to_name_a_nonprofit_leads_to_its_profile,
    a_profile_that_was_read_a_moment_ago_shows_what_changed_since,
    no_page_says_what_a_nonprofit_put_into_its_texts_as_html,
    programs_find_every_page,
);

async fn a_search_marks_what_was_typed_and_says_what_was_meant(world: &World) {
    world.load_demo().await;
    let page = world.client.get_plain(200, "/search?q=red+cro").await.text();
    assert!(page.contains("<mark>Red</mark> <mark>Cro</mark>ss"), "{page}");
    let page = world
        .client
        .get_plain(200, "/search?q=amercan+red+cross")
        .await
        .text();
    assert!(page.contains("/search?q=american%20red%20cross"), "{page}");
    let page = world
        .client
        .get_plain(200, "/search?q=zzqqxx&state=OR&cause=animals")
        .await
        .text();
    assert!(
        page.contains("class=\"empty\"") && page.contains("href=\"/search?q=zzqqxx\""),
        "{page}"
    );
    world.client.get_plain(200, "/search").await;
}

async fn a_card_has_a_line_for_the_chapter(world: &World) {
    let row = body("930000001", "KNIGHTS OF COLUMBUS").with("SORT_NAME", "678 PORTLAND COUNCIL");
    let other = body("930000002", "KNIGHTS OF COLUMBUS");
    world.import_irs(bmf(&[row, other])).await.unwrap();
    let page = world.client.get_plain(200, "/search?q=knights").await.text();
    assert_eq!(
        page.matches("<p class=\"small\"><bdi>678 Portland Council</bdi></p>")
            .count(),
        1,
        "{page}"
    );
    assert_eq!(
        page.matches("678 Portland Council").count(),
        1,
        "the text beside it does not say it again"
    );
}

async fn the_live_answers_are_those_of_the_interface(world: &World) {
    world.load_demo().await;
    let live = world.client.get_plain(200, "/search.json?q=red+cro").await;
    let asked = world.client.get(200, "/v0.2/search/red%20cro?take=8").await;
    assert_eq!(live.json, asked.json);
    let nothing = world.client.get_plain(200, "/search.json?q=+").await;
    assert_eq!(nothing.json["nonprofits"].as_array().unwrap().len(), 0);
}

async fn a_cause_has_a_page_for_all_its_nonprofits(world: &World) {
    world.load_demo().await;
    let first = world.client.get_plain(200, "/causes/animals").await.text();
    assert!(
        first.contains("rel=\"next\" href=\"/causes/animals?page=2\""),
        "{first}"
    );
    let second = world.client.get_plain(200, "/causes/animals?page=2").await.text();
    assert!(second.contains("rel=\"prev\""), "{second}");
    world
        .client
        .get_plain(200, "/causes/animals?page=9999999999999999999999")
        .await;
    let moved = world.client.get_plain(301, "/causes/Animals").await;
    assert_eq!(moved.header("location"), "/causes/animals");
    world.client.get_plain(404, "/causes/nonsense").await;
}

async fn every_way_to_name_a_nonprofit_leads_to_its_profile(world: &World) {
    world.load_demo().await;
    let page = world.client.get_plain(200, "/american-red-cross").await.text();
    for told in [
        "<h1><bdi>American Red Cross</bdi></h1>",
        "53-0196605",
        "501(c)(3)",
        "application/ld+json",
    ] {
        assert!(page.contains(told), "{told}");
    }
    for named in ["/American-Red-Cross", "/530196605", "/53-0196605"] {
        let moved = world.client.get_plain(301, &format!("{named}?amount=5")).await;
        assert_eq!(moved.header("location"), "/american-red-cross?amount=5");
    }
    let unknown = world.client.get_plain(404, "/no-such-body").await.text();
    assert!(unknown.contains("action=\"/search\""), "{unknown}");
}

async fn a_profile_that_was_read_a_moment_ago_shows_what_changed_since(world: &World) {
    world.load_demo().await;
    let read = async || world.client.get_plain(200, "/american-red-cross").await.text();
    let before = read().await;
    assert_eq!(read().await, before);
    world
        .import_nonprofits("{\"ein\":\"530196605\",\"description\":\"Blood, shelter and calm.\"}\n")
        .await
        .unwrap();
    assert!(!before.contains("shelter and calm") && read().await.contains("Blood, shelter and calm."));
    make(world, "A run along the river", "").await;
    assert!(!before.contains("along the river") && read().await.contains("A run along the river"));
}

async fn no_page_says_what_a_nonprofit_put_into_its_texts_as_html(world: &World) {
    let evil = "<script>alert(1)</script>";
    let line = serde_json::json!({
        "name": format!("Evil {evil}"), "ein": "111111111", "description": evil, "descriptionLong": evil,
        "city": evil, "state": "OR", "aliases": [evil], "causes": ["animals"],
    });
    world.import_nonprofits(&format!("{line}\n")).await.unwrap();
    let moved = world.client.get_plain(301, "/111111111").await;
    let profile = moved.header("location").to_owned();
    for address in [
        "/",
        "/search?q=evil",
        "/causes/animals",
        &profile,
        "/search?q=%3Cscript%3Ealert(1)%3C/script%3E",
    ] {
        let page = world.client.get_plain(200, address).await.text();
        assert!(!page.contains("<script>"), "{address}: {page}");
    }
}

async fn programs_find_every_page(world: &World) {
    world.load_demo().await;
    let robots = world.client.get_plain(200, "/robots.txt").await.text();
    assert!(
        robots.contains("Sitemap: http://causeway.test/sitemap.xml"),
        "{robots}"
    );
    let index = world.client.get_plain(200, "/sitemap.xml").await.text();
    assert!(
        index.contains("/sitemaps/pages.xml") && index.contains("/sitemaps/0.xml"),
        "{index}"
    );
    let first = world.client.get_plain(200, "/sitemaps/0.xml").await.text();
    assert!(first.contains("<loc>http://causeway.test/american-red-cross</loc>"));
    for none in [
        "/sitemaps/1.xml",
        "/sitemaps/+0.xml",
        "/sitemaps/99999999999.xml",
        "/sitemaps/x",
        "/.well-known/security.txt",
    ] {
        world.client.get_plain(404, none).await;
    }
    world.client.get_plain(200, "/opensearch.xml").await;
}
