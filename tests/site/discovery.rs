//! Search, causes, profiles, and what crawlers read.

use super::feeds::create_fundraiser;
use crate::files::{bmf, nonprofit_row};
use crate::world::World;

on_both_databases!(
    search_highlights_matches_and_suggests_corrections,
    a_result_card_shows_the_chapter,
    live_search_returns_the_same_results_as_the_api,
    a_cause_lists_its_nonprofits_in_pages,
    a_cause_without_nonprofits_is_not_offered,
    every_identifier_redirects_to_the_profile,
    a_cached_profile_is_refreshed_after_a_change,
    the_first_fundraiser_shows_on_the_profiles_of_other_servers,
    nonprofit_texts_are_escaped_on_every_page,
    crawlers_find_every_page,
);

async fn the_first_fundraiser_shows_on_the_profiles_of_other_servers(world: &World) {
    world.load_demo().await;
    let (app, client) = world.restart().await;
    app.giving.fundraisers.refresh().await.unwrap();
    let page = client.get_plain(200, "/american-red-cross").await.text();
    assert!(!page.contains("Spring run"), "{page}");
    create_fundraiser(world, "Spring run", "").await;
    app.giving.fundraisers.refresh().await.unwrap();
    let page = client.get_plain(200, "/american-red-cross").await.text();
    assert!(page.contains("Spring run"), "{page}");
    app.db.close().await;
}

async fn search_highlights_matches_and_suggests_corrections(world: &World) {
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

async fn a_result_card_shows_the_chapter(world: &World) {
    let row = nonprofit_row("930000001", "KNIGHTS OF COLUMBUS").with("SORT_NAME", "678 PORTLAND COUNCIL");
    let other = nonprofit_row("930000002", "KNIGHTS OF COLUMBUS");
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
        "the description does not repeat it"
    );
}

async fn live_search_returns_the_same_results_as_the_api(world: &World) {
    world.load_demo().await;
    let live = world.client.get_plain(200, "/search.json?q=red+cro").await;
    let api = world.client.get(200, "/v0.2/search/red%20cro?take=8").await;
    assert_eq!(live.json, api.json);
    let nothing = world.client.get_plain(200, "/search.json?q=+").await;
    assert_eq!(nothing.json["nonprofits"].as_array().unwrap().len(), 0);
}

async fn a_cause_lists_its_nonprofits_in_pages(world: &World) {
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

async fn a_cause_without_nonprofits_is_not_offered(world: &World) {
    world.load_demo().await;
    let offers = async |cause: &str| {
        let mut offered = Vec::new();
        for page in [
            "/",
            "/causes",
            "/search?q=red+cross",
            "/search?q=zzqqxx",
            "/sitemaps/pages.xml",
        ] {
            let text = world.client.get_plain(200, page).await.text();
            let (link, option) = (format!("/causes/{cause}"), format!("value=\"{cause}\""));
            if text.contains(&format!("{link}\""))
                || text.contains(&format!("{link}<"))
                || text.contains(&option)
            {
                offered.push(page);
            }
        }
        offered
    };
    assert!(offers("mena-led").await.is_empty());
    assert_eq!(
        offers("visualart").await,
        [
            "/causes",
            "/search?q=red+cross",
            "/search?q=zzqqxx",
            "/sitemaps/pages.xml"
        ]
    );
    let page = world.client.get_plain(200, "/causes/mena-led").await.text();
    assert!(
        page.contains("No nonprofit in this directory has this cause.") && page.contains("noindex"),
        "{page}"
    );
    let listed = world.client.get(200, "/v0.2/causes").await;
    let causes = listed.json["causes"].as_array().unwrap();
    let count = |name: &str| {
        let cause = causes.iter().find(|cause| cause["tagName"] == name);
        cause.unwrap()["nonprofits"].as_u64().unwrap()
    };
    assert_eq!(count("mena-led"), 0);
    for required in [
        "entrepreneurship",
        "maui-wildfires",
        "hurricane-laura",
        "middle-east",
        "reproductive-justice",
        "visualart",
    ] {
        assert!(count(required) > 0, "{required}");
    }
    world
        .import_nonprofits("{\"ein\":\"530196605\",\"causes\":[\"mena-led\"]}\n")
        .await
        .unwrap();
    assert!(offers("mena-led").await.contains(&"/causes"));
}

async fn every_identifier_redirects_to_the_profile(world: &World) {
    world.load_demo().await;
    let page = world.client.get_plain(200, "/american-red-cross").await.text();
    for expected in [
        "<h1><bdi>American Red Cross</bdi></h1>",
        "53-0196605",
        "501(c)(3)",
        "application/ld+json",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for named in ["/American-Red-Cross", "/530196605", "/53-0196605"] {
        let moved = world.client.get_plain(301, &format!("{named}?amount=5")).await;
        assert_eq!(moved.header("location"), "/american-red-cross?amount=5");
    }
    let unknown = world.client.get_plain(404, "/no-such-nonprofit").await.text();
    assert!(unknown.contains("action=\"/search\""), "{unknown}");
}

async fn a_cached_profile_is_refreshed_after_a_change(world: &World) {
    world.load_demo().await;
    let read = async || world.client.get_plain(200, "/american-red-cross").await.text();
    let before = read().await;
    assert_eq!(read().await, before);
    world
        .import_nonprofits("{\"ein\":\"530196605\",\"description\":\"Blood, shelter and calm.\"}\n")
        .await
        .unwrap();
    assert!(!before.contains("shelter and calm") && read().await.contains("Blood, shelter and calm."));
    create_fundraiser(world, "A run along the river", "").await;
    assert!(!before.contains("along the river") && read().await.contains("A run along the river"));
}

async fn nonprofit_texts_are_escaped_on_every_page(world: &World) {
    let evil = "<script>alert(1)</script>";
    let line = serde_json::json!({
        "name": format!("Evil {evil}"), "ein": "111111111", "description": evil, "descriptionLong": evil,
        "city": evil, "state": "OR", "aliases": [evil], "causes": ["animals"],
    });
    world.import_nonprofits(&format!("{line}\n")).await.unwrap();
    let moved = world.client.get_plain(301, "/111111111").await;
    let profile = moved.header("location").to_owned();
    for url in [
        "/",
        "/search?q=evil",
        "/causes/animals",
        &profile,
        "/search?q=%3Cscript%3Ealert(1)%3C/script%3E",
    ] {
        let page = world.client.get_plain(200, url).await.text();
        assert!(!page.contains("<script>"), "{url}: {page}");
    }
}

async fn crawlers_find_every_page(world: &World) {
    world.load_demo().await;
    let robots = world.client.get_plain(200, "/robots.txt").await.text();
    assert!(
        robots.contains("Sitemap: http://causeway.test/sitemap.xml"),
        "{robots}"
    );
    // Crawlers may open a search, but not its filters and pages, and its results count as the search page itself.
    for expected in ["Disallow: /search?*&\n", "Disallow: /search.json\n"] {
        assert!(robots.contains(expected), "{robots}");
    }
    assert!(!robots.contains("Disallow: /search\n"), "{robots}");
    let canonical = |path: &str| format!("<link rel=\"canonical\" href=\"http://causeway.test{path}\">");
    for (path, same) in [
        ("/search?q=red+cross", "/search"),
        ("/american-red-cross/give", "/american-red-cross"),
    ] {
        let page = world.client.get_plain(200, path).await.text();
        assert!(
            page.contains(&canonical(same)) && !page.contains("noindex"),
            "{path}: {page}"
        );
        assert!(page.contains("<meta name=\"description\""), "{path}: {page}");
    }
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
