//! `GET /v0.2/search/{searchTerm}`

use crate::client::Response;
use crate::files::{bmf, generated, nonprofit_row, nonprofit_rows};
use crate::world::World;
use causeway::api::bodies::SearchBody;

on_both_databases!(
    an_item_has_every_documented_field,
    the_items_of_search_and_browse_are_equal_also_after_a_change,
    take_defaults_to_10_and_is_capped_at_50,
    a_rebuilt_snapshot_gives_the_same_results,
    causes_and_tags_match_any_of_their_values,
    results_can_be_filtered_by_place_and_disbursability,
    saint_and_st_name_the_same_city,
    unusual_terms_get_results_or_a_clear_refusal,
    an_ein_is_found_with_a_dash_without_one_and_by_prefix,
    changes_are_searchable_immediately_and_removed_nonprofits_are_not,
    nonprofits_with_the_same_name_are_distinguished_by_chapter,
    a_common_name_finds_a_popular_nonprofit_without_a_tax_return,
    a_match_of_all_words_in_the_overlay_comes_first,
    an_exact_name_in_the_overlay_is_among_the_first_three,
    an_ein_finds_only_its_nonprofit_after_an_overlay_change,
    the_same_query_gives_the_same_response_and_etag,
    the_letters_of_an_abbreviation_are_not_words,
);

const RED_CROSS: &str = "530196605";

fn eins(response: &Response) -> Vec<&str> {
    let found = response.json["nonprofits"].as_array().unwrap();
    found.iter().filter_map(|item| item["ein"].as_str()).collect()
}

async fn an_item_has_every_documented_field(world: &World) {
    world.load_demo().await;
    let response = world
        .client
        .get(200, "/v0.2/search/american%20red%20cro?take=1")
        .await;
    assert_eq!(response.header("content-type"), "application/json; charset=utf-8");
    let body: SearchBody = serde_json::from_value(response.json.clone()).unwrap();
    let [item] = body.nonprofits.as_slice() else {
        panic!("not one item")
    };
    let details = world.client.details(200, RED_CROSS).await;
    let nonprofit = details.nonprofit();
    assert_eq!(item.ein.as_deref(), Some(RED_CROSS));
    assert_eq!(nonprofit["name"], item.name.as_str());
    assert_eq!(nonprofit["primarySlug"], item.slug.as_str());
    assert_eq!(nonprofit["profileUrl"], item.profile_url.as_str());
    assert_eq!(nonprofit["logoUrl"], item.logo_url.as_str());
    assert_eq!(nonprofit["logoHostedId"], item.logo_hosted_id.as_str());
    assert_eq!(nonprofit["coverImageUrl"], item.cover_image_url.as_str());
    assert_eq!(nonprofit["locationAddress"], item.location.as_deref().unwrap());
    assert_eq!(nonprofit["websiteUrl"], item.website_url.as_deref().unwrap());
    assert_eq!(nonprofit["id"], item.id.to_string().as_str());
    assert!(
        item.description
            .starts_with(nonprofit["description"].as_str().unwrap())
    );
    assert_eq!(item.description.chars().count(), 249);
    assert_eq!(item.matched_terms, ["american", "red", "cro"]);
    assert!(item.tags.contains(&"humans".to_owned()));
}

/// Search copies items from the snapshot or the overlay, and browse writes them from the nonprofits.
async fn the_items_of_search_and_browse_are_equal_also_after_a_change(world: &World) {
    world.load_demo().await;
    let compare = async || {
        let browsed = world.client.get(200, "/v0.2/browse/animals?take=100").await;
        let browsed = browsed.json["nonprofits"].as_array().unwrap();
        let mut compared = 0;
        for letter in ["a", "h", "s", "w"] {
            let url = format!("/v0.2/search/{letter}?causes=animals&take=50");
            let mut found = world.client.get(200, &url).await;
            for item in found.json["nonprofits"].as_array_mut().unwrap() {
                item.as_object_mut().unwrap().remove("matchedTerms").unwrap();
                assert!(browsed.contains(item), "{item}");
                compared += 1;
            }
        }
        assert!(compared > 20, "only {compared} items");
    };
    compare().await;
    let line = r#"{"ein":"131623829","name":"A \"Society\" for Animals","websiteUrl":"https://aspca.example.org",
        "description":"Changed.","logoUrl":"https://aspca.example.org/logo.png"}"#;
    world
        .import_nonprofits(&format!("{}\n", line.replace('\n', "")))
        .await
        .unwrap();
    compare().await;
    let found = world.client.get(200, "/v0.2/search/131623829").await;
    let item = &found.json["nonprofits"][0];
    assert_eq!(item["name"], "A \"Society\" for Animals");
    assert!(
        item["description"].as_str().unwrap().starts_with("Changed."),
        "{item}"
    );
    assert_eq!(item["logoUrl"], "https://aspca.example.org/logo.png");
    assert_eq!(
        item["profileUrl"],
        format!("http://causeway.test/{}", item["slug"].as_str().unwrap())
    );
}

async fn take_defaults_to_10_and_is_capped_at_50(world: &World) {
    world.load_demo().await;
    for (query, count) in [
        ("", 10),
        ("?take=3", 3),
        ("?take=50", 50),
        ("?take=51", 50),
        ("?take=99999999999999999999", 50),
    ] {
        let response = world.client.get(200, &format!("/v0.2/search/a{query}")).await;
        assert_eq!(
            response.json["nonprofits"].as_array().unwrap().len(),
            count,
            "{query}"
        );
    }
    for bad in ["0", "-1", "ten", "1.5", ""] {
        let response = world.client.get(400, &format!("/v0.2/search/a?take={bad}")).await;
        assert_eq!(response.code(), "invalid_parameter");
    }
}

async fn a_rebuilt_snapshot_gives_the_same_results(world: &World) {
    world.import_irs(generated(400, 3)).await.unwrap();
    let line = r#"{"ein":"999999998","name":"Association of Churches","revenue":900000000}"#;
    world.import_nonprofits(line).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    let terms = ["a", "as", "association"].map(|term| format!("/v0.2/search/{term}"));
    let mut before = Vec::new();
    for term in &terms {
        before.push(world.client.get(200, term).await.json);
    }
    assert_eq!(before[0]["nonprofits"].as_array().unwrap().len(), 10);
    world.app.directory.rebuild().await.unwrap().unwrap();
    assert!(world.app.directory.view().overlay.is_empty());
    for (term, before) in terms.iter().zip(before) {
        assert_eq!(world.client.get(200, term).await.json, before, "{term}");
    }
}

async fn causes_and_tags_match_any_of_their_values(world: &World) {
    world.load_demo().await;
    let tagged = |response: &Response, names: &[&str]| {
        let found = response.json["nonprofits"].as_array().unwrap();
        found.iter().all(|item| {
            item["tags"]
                .as_array()
                .unwrap()
                .iter()
                .any(|tag| names.contains(&tag.as_str().unwrap()))
        })
    };
    let animals = world
        .client
        .get(200, "/v0.2/search/a?causes=Animals&take=50")
        .await;
    assert!(!eins(&animals).is_empty() && tagged(&animals, &["animals"]));
    let both = world
        .client
        .get(
            200,
            "/v0.2/search/a?causes=animals%20,%20nonsense&tags=dance&take=50",
        )
        .await;
    assert!(tagged(&both, &["animals", "dance"]) && eins(&both).len() > eins(&animals).len());
    assert!(eins(&world.client.get(200, "/v0.2/search/a?causes=nonsense").await).is_empty());
}

async fn results_can_be_filtered_by_place_and_disbursability(world: &World) {
    world.load_demo().await;
    let found = world
        .client
        .get(200, "/v0.2/search/habitat?state=or&city=portland&disbursable=1")
        .await;
    let items = found.json["nonprofits"].as_array().unwrap();
    assert!(!items.is_empty() && items.iter().all(|item| item["location"] == "Portland, OR"));
    for value in ["maybe", "", "2"] {
        let path = format!("/v0.2/search/habitat?disbursable={value}");
        assert_eq!(world.client.get(400, &path).await.code(), "invalid_parameter");
    }
}

async fn saint_and_st_name_the_same_city(world: &World) {
    let cities = ["SAINT LOUIS", "ST LOUIS", "ST. LOUIS", "LOUISVILLE"];
    let rows: Vec<_> = nonprofit_rows(4)
        .into_iter()
        .zip(cities)
        .map(|(row, city)| row.with("CITY", city))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    for city in ["st%20louis", "Saint%20Louis", "ST.%20LOUIS"] {
        let response = world
            .client
            .get(200, &format!("/v0.2/search/shelter?city={city}"))
            .await;
        let mut found = eins(&response);
        found.sort_unstable();
        assert_eq!(found, ["100000001", "100000002", "100000003"], "{city}");
    }
}

async fn unusual_terms_get_results_or_a_clear_refusal(world: &World) {
    world.load_demo().await;
    let long = "a".repeat(256);
    let words = "red ".repeat(50).trim_end().replace(' ', "%20");
    for term in [
        "a",
        "%F0%9F%90%95",
        &long,
        &words,
        "...",
        "the%20of",
        "%D7%A6%D7%93%D7%A7%D7%94",
        "e%CC%81",
        "%00",
        "a%2Fb",
        "a%20a%20a%20a",
        "inc",
    ] {
        let response = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        assert!(response.json["nonprofits"].is_array(), "{term}");
    }
    assert_eq!(
        world
            .client
            .get(400, &format!("/v0.2/search/{}", "é".repeat(257)))
            .await
            .code(),
        "invalid_parameter"
    );
    assert_eq!(
        world.client.get(400, "/v0.2/search/%FF").await.code(),
        "invalid_parameter"
    );
    for blank in ["%20", "%20%09", ""] {
        assert_eq!(
            world
                .client
                .get(404, &format!("/v0.2/search/{blank}"))
                .await
                .code(),
            "not_found"
        );
    }
}

async fn an_ein_is_found_with_a_dash_without_one_and_by_prefix(world: &World) {
    world.load_demo().await;
    for term in ["530196605", "53-0196605", "53019", "53-0196"] {
        assert_eq!(
            eins(&world.client.get(200, &format!("/v0.2/search/{term}")).await)[0],
            RED_CROSS,
            "{term}"
        );
    }
}

async fn changes_are_searchable_immediately_and_removed_nonprofits_are_not(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(40))).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    let mut rows = nonprofit_rows(40);
    rows.pop();
    rows.push(nonprofit_row("987654321", "ZEBRA CROSSING TRUST"));
    let before = world.client.get(200, "/v0.2/search/zebra%20cros").await;
    assert!(eins(&before).is_empty());
    world.import_irs(bmf(&rows)).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 2);
    assert_eq!(
        eins(&world.client.get(200, "/v0.2/search/zebra%20cros").await),
        ["987654321"]
    );
    let gone = nonprofit_rows(40).pop().unwrap();
    let line = gone.line();
    let ein = line.split(',').next().unwrap();
    let near = world.client.get(200, &format!("/v0.2/search/{ein}")).await;
    assert!(!eins(&near).contains(&ein), "the removed nonprofit is found");
    world.client.details(200, ein).await;
}

async fn nonprofits_with_the_same_name_are_distinguished_by_chapter(world: &World) {
    let chapters = ["678 PORTLAND COUNCIL", "1947 SEKENGER COUNCIL", "JANE DOE TTEE"];
    let rows: Vec<_> = (930_000_001..)
        .zip(chapters)
        .map(|(ein, chapter)| {
            nonprofit_row(&ein.to_string(), "KNIGHTS OF COLUMBUS").with("SORT_NAME", chapter)
        })
        .map(|row| row.with("SUBSECTION", "08").with("NTEE_CD", ""))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    let text = "fraternal society in Concord, NH, recognized by the IRS in 1994.";
    for (term, description) in [
        (
            "knights%20of%20columbus%20portland%20council",
            format!("678 Portland Council: a {text}"),
        ),
        (
            "knights%20of%20columbus%20sek",
            format!("1947 Sekenger Council: a {text}"),
        ),
        ("930000003", format!("A {text}")),
    ] {
        let found = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        let item = &found.json["nonprofits"][0];
        assert_eq!(item["description"], description.as_str(), "{term}");
        let details = world.client.details(200, item["ein"].as_str().unwrap()).await;
        assert_eq!(details.nonprofit()["description"], description.as_str());
    }
}

async fn a_common_name_finds_a_popular_nonprofit_without_a_tax_return(world: &World) {
    let hospital =
        nonprofit_row("620646012", "ST JUDE CHILDRENS RESEARCH HOSPITAL INC").with("TAX_PERIOD", "");
    let institute =
        nonprofit_row("042103594", "MASSACHUSETTS INSTITUTE OF TECHNOLOGY").with("TAX_PERIOD", "000000");
    let rows = [
        hospital.with("REVENUE_AMT", "81460"),
        institute.with("REVENUE_AMT", ""),
        nonprofit_row("202917263", "ST JUDES RANCH FOR CHILDREN").with("REVENUE_AMT", "200000000"),
        nonprofit_row("222578187", "ST JUDE HOUSING CORPORATION").with("REVENUE_AMT", "900000000"),
        nonprofit_row("060662150", "MITCHELL COLLEGE").with("REVENUE_AMT", "900000000"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    for (term, ein) in [("st%20jude", "620646012"), ("mit", "042103594")] {
        assert_eq!(
            eins(&world.client.get(200, &format!("/v0.2/search/{term}")).await)[0],
            ein,
            "{term}"
        );
    }
}

async fn a_match_of_all_words_in_the_overlay_comes_first(world: &World) {
    world.load_demo().await;
    let line = r#"{"ein":"987654321","name":"Zquoxly Harbour Rescue","city":"Portland","state":"OR"}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    for term in ["portland%20zquoxly", "zquoxly%20port", "rescue%20zquoxly"] {
        let response = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        assert_eq!(eins(&response)[0], "987654321", "{term}");
    }
}

async fn an_exact_name_in_the_overlay_is_among_the_first_three(world: &World) {
    let rows = ["100000001", "100000002", "100000003", "100000004"]
        .map(|ein| nonprofit_row(ein, &format!("HARBOR {ein}")).with("REVENUE_AMT", "90000000000"));
    world.import_irs(bmf(&rows)).await.unwrap();
    let line = r#"{"ein":"987654321","name":"Harbor","city":"Portland","state":"OR"}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    for take in [3, 10] {
        let response = world
            .client
            .get(200, &format!("/v0.2/search/harbor?take={take}"))
            .await;
        let rank = eins(&response).iter().position(|ein| *ein == "987654321");
        assert_eq!(rank, Some(2), "take={take}");
    }
}

async fn an_ein_finds_only_its_nonprofit_after_an_overlay_change(world: &World) {
    let filed = nonprofit_row(RED_CROSS, "AMERICAN NATIONAL RED CROSS");
    let other = nonprofit_row("911111111", "LOCAL 53 REDCROSS STREET LIBRARY");
    world.import_irs(bmf(&[filed, other])).await.unwrap();
    let line = r#"{"ein":"530196605","websiteUrl":"https://www.redcross.org"}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    for term in ["53-0196605", "530196605", "redcross.org"] {
        assert_eq!(
            eins(&world.client.get(200, &format!("/v0.2/search/{term}")).await),
            [RED_CROSS],
            "{term}"
        );
    }
}

async fn the_same_query_gives_the_same_response_and_etag(world: &World) {
    world.load_demo().await;
    let first = world.client.get(200, "/v0.2/search/foundation?take=50").await;
    let second = world.client.get(200, "/v0.2/search/foundation?take=50").await;
    assert_eq!(first.text(), second.text());
    let if_none_match = [("if-none-match", first.header("etag"))];
    world
        .client
        .get_with(304, "/v0.2/search/foundation?take=50", &if_none_match)
        .await;
    assert_eq!(first.header("ratelimit-policy"), "\"search\";q=500;w=60");
}

async fn the_letters_of_an_abbreviation_are_not_words(world: &World) {
    world.load_demo().await;
    // "U" is short for "university", but not in "USA".
    let found = world.client.get(200, "/v0.2/search/university?take=50").await;
    let names: Vec<&str> = found.json["nonprofits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|item| item["name"].as_str())
        .collect();
    assert!(names.contains(&"New York University"), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(" USA")), "{names:?}");
}
