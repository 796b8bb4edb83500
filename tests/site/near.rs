//! The distance filter of the results page, and the sentences that explain why little was found.

use crate::facts::import_facts;
use crate::files::{bmf, nonprofit_rows};
use crate::world::World;

on_both_databases!(
    results_can_be_narrowed_to_a_distance_from_a_zip_code,
    an_invalid_place_is_shown_with_what_to_enter,
    only_search_pages_may_ask_for_the_location,
    little_found_is_explained,
);

async fn import_shelters(world: &World) {
    let zips = ["97201", "97230", "97301", "98101", "04101", ""];
    let rows: Vec<_> = nonprofit_rows(6)
        .into_iter()
        .zip(zips)
        .map(|(row, zip)| {
            row.with("ZIP", zip)
                .with("STATE", if zip == "04101" { "ME" } else { "OR" })
        })
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
}

async fn page(world: &World, url: &str) -> String {
    world.client.get_plain(200, url).await.text()
}

async fn results_can_be_narrowed_to_a_distance_from_a_zip_code(world: &World) {
    import_shelters(world).await;
    let all = page(world, "/search?q=shelter&near=&radius=25").await;
    assert_eq!(all.matches("class=\"hit\"").count(), 6);
    assert!(!all.contains("mile away"), "{all}");
    for (query, count) in [
        ("near=97201&radius=5", 1),
        ("near=97201&radius=25", 2),
        ("near=97201&radius=250", 4),
        ("near=45.5,-122.69&radius=25", 2),
        ("near=+97201+&radius=nonsense", 2),
        ("near=04101&radius=500&state=OR", 0),
    ] {
        let found = page(world, &format!("/search?q=shelter&{query}")).await;
        assert_eq!(found.matches("class=\"hit\"").count(), count, "{query}");
        assert_eq!(
            found.matches("miles away").count() + found.matches("1 mile away").count(),
            count,
            "{query}: {found}"
        );
    }
    let near = page(world, "/search?q=shelter&near=97201&radius=50").await;
    // The distance on the page is that of the API in whole miles.
    let response = world
        .client
        .get(200, "/v0.2/search/shelter?near=97201&radius=50")
        .await;
    for item in response.json["nonprofits"].as_array().unwrap() {
        let text = match item["distanceMiles"].as_f64().unwrap().round() {
            0.0 => "Less than 1 mile away".to_owned(),
            miles => format!("{miles} miles away"),
        };
        assert!(near.contains(&text), "{text} is not on {near}");
    }
    for text in [
        "Within 50 miles of Concord, OR",
        " nonprofits near Concord, OR</strong>",
        "<option value=\"50\" selected>50 miles</option>",
        "name=\"near\" type=\"text\" value=\"97201\"",
        "https://www.geonames.org",
        "https://creativecommons.org/licenses/by/4.0/",
    ] {
        assert!(near.contains(text), "{text} is not on {near}");
    }
    let of_browser = page(world, "/search?q=shelter&near=45.51,-122.69").await;
    for text in ["Within 25 miles of Concord, OR", "type=\"text\" value=\"97201\""] {
        assert!(of_browser.contains(text), "{text} is not on {of_browser}");
    }
    let at_sea = page(world, "/search?q=shelter&near=45,-140").await;
    assert!(at_sea.contains("Within 25 miles of 45,-140"), "{at_sea}");
}

async fn an_invalid_place_is_shown_with_what_to_enter(world: &World) {
    import_shelters(world).await;
    for (place, message) in [
        ("00000", "We could not find ZIP code 00000."),
        ("Portland", "Enter a five-digit ZIP code."),
        ("%3Cscript%3E", "Enter a five-digit ZIP code."),
    ] {
        let found = page(world, &format!("/search?q=shelter&near={place}&radius=25")).await;
        assert!(found.contains(message), "{message} is not on {found}");
        assert!(found.contains("aria-invalid=\"true\" aria-describedby=\"near-error\""));
        assert_eq!(
            found.matches("class=\"hit\"").count(),
            6,
            "the filter is left out"
        );
        assert!(!found.contains("<script>"));
    }
}

async fn only_search_pages_may_ask_for_the_location(world: &World) {
    world.load_demo().await;
    for url in ["/search", "/search?q=red", "/search?q=red&near=97201"] {
        let response = world.client.get_plain(200, url).await;
        let policy = response.header("permissions-policy");
        assert!(
            policy.contains("geolocation=(self)") && policy.contains("camera=()"),
            "{url}"
        );
        assert!(
            response
                .header("content-security-policy")
                .starts_with("default-src 'none'")
        );
        let page = response.text();
        assert!(
            page.contains("data-near=\"near\"") && page.contains(" hidden>Near me</button>"),
            "{url}"
        );
    }
    for url in [
        "/",
        "/causes",
        "/causes/animals",
        "/american-red-cross",
        "/developers",
        "/dashboard/sign-in",
    ] {
        let response = world.client.get_plain(200, url).await;
        assert!(
            response.header("permissions-policy").contains("geolocation=()"),
            "{url}"
        );
    }
}

async fn little_found_is_explained(world: &World) {
    import_shelters(world).await;
    let facts = [
        "insert into revocations (ein, revoked_on, exemption_type, source) values (20240391, '2015-05-15', 3, :source)",
    ];
    import_facts(world, "revocations", "revoked.zip", &[], &facts).await;
    for (query, sentence) in [
        ("q=zquoxly", "No nonprofit matches the word “zquoxly”."),
        (
            "q=sheltre&state=ME",
            "We searched for “shelter” instead of “sheltre”.",
        ),
        ("q=shelter&state=WY", "The state filter hides 6 results."),
        ("q=shelter&state=ME", "The state filter hides 5 results."),
        ("q=shelter&near=97201", "The distance filter hides 4 results."),
        ("q=02-0240391", "revoked on May 15, 2015"),
        ("q=020240394", "This EIN is not in the IRS files of "),
    ] {
        let found = page(world, &format!("/search?{query}")).await;
        assert!(found.contains(sentence), "{sentence} is not on {found}");
    }
    let many = page(world, "/search?q=shelter").await;
    assert!(
        !many.contains("No nonprofit matches") && !many.contains("filter hides"),
        "{many}"
    );
}
