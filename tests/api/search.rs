//! `GET /v0.2/search/{searchTerm}`

use crate::client::Answer;
use crate::files::{bmf, bodies, body, generated};
use crate::world::World;
use causeway::nonprofits::wire::SearchBody;

on_both_databases!(
    an_item_has_every_field_of_the_interface,
    take_is_ten_by_default_and_fifty_at_the_most,
    a_snapshot_built_anew_for_the_same_state_answers_the_same,
    causes_and_tags_filter_by_any_of_both_lists,
    places_and_disbursable_filter_too,
    a_city_is_the_same_city_however_its_saint_is_written,
    strange_terms_get_an_answer_or_a_clear_refusal,
    an_ein_is_found_with_or_without_dash_or_by_its_beginning,
    what_changes_is_found_at_once_and_what_is_gone_never,
    bodies_of_one_name_are_told_apart_by_their_chapters,
    an_everyday_name_finds_the_well_known_body_though_the_irs_has_no_return_of_it,
    what_has_all_words_stands_alone_though_it_came_after_the_snapshot,
    an_ein_finds_its_body_alone_though_that_changed_after_the_snapshot,
    the_same_query_gives_the_same_answer_and_the_same_tag,
);

const RED_CROSS: &str = "530196605";

fn eins(answer: &Answer) -> Vec<&str> {
    let found = answer.json["nonprofits"].as_array().unwrap();
    found.iter().filter_map(|item| item["ein"].as_str()).collect()
}

async fn an_item_has_every_field_of_the_interface(world: &World) {
    world.load_demo().await;
    let answer = world
        .client
        .get(200, "/v0.2/search/american%20red%20cro?take=1")
        .await;
    assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
    let body: SearchBody = serde_json::from_value(answer.json.clone()).unwrap();
    let [item] = body.nonprofits.as_slice() else {
        panic!("one is asked for")
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

async fn take_is_ten_by_default_and_fifty_at_the_most(world: &World) {
    world.load_demo().await;
    for (query, count) in [
        ("", 10),
        ("?take=3", 3),
        ("?take=50", 50),
        ("?take=51", 50),
        ("?take=99999999999999999999", 50),
    ] {
        let answer = world.client.get(200, &format!("/v0.2/search/a{query}")).await;
        assert_eq!(
            answer.json["nonprofits"].as_array().unwrap().len(),
            count,
            "{query}"
        );
    }
    for bad in ["0", "-1", "ten", "1.5", ""] {
        let answer = world.client.get(400, &format!("/v0.2/search/a?take={bad}")).await;
        assert_eq!(answer.code(), "invalid_parameter");
    }
}

async fn a_snapshot_built_anew_for_the_same_state_answers_the_same(world: &World) {
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

async fn causes_and_tags_filter_by_any_of_both_lists(world: &World) {
    world.load_demo().await;
    let tagged = |answer: &Answer, names: &[&str]| {
        let found = answer.json["nonprofits"].as_array().unwrap();
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

async fn places_and_disbursable_filter_too(world: &World) {
    world.load_demo().await;
    let found = world
        .client
        .get(200, "/v0.2/search/habitat?state=or&city=portland&disbursable=1")
        .await;
    let items = found.json["nonprofits"].as_array().unwrap();
    assert!(!items.is_empty() && items.iter().all(|item| item["location"] == "Portland, OR"));
    assert_eq!(
        world
            .client
            .get(400, "/v0.2/search/habitat?near=97201")
            .await
            .code(),
        "invalid_parameter"
    );
    assert_eq!(
        world
            .client
            .get(400, "/v0.2/search/habitat?disbursable=maybe")
            .await
            .code(),
        "invalid_parameter"
    );
}

async fn a_city_is_the_same_city_however_its_saint_is_written(world: &World) {
    let cities = ["SAINT LOUIS", "ST LOUIS", "ST. LOUIS", "LOUISVILLE"];
    let rows: Vec<_> = bodies(4)
        .into_iter()
        .zip(cities)
        .map(|(row, city)| row.with("CITY", city))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    for city in ["st%20louis", "Saint%20Louis", "ST.%20LOUIS"] {
        let answer = world
            .client
            .get(200, &format!("/v0.2/search/shelter?city={city}"))
            .await;
        let mut found = eins(&answer);
        found.sort_unstable();
        assert_eq!(found, ["100000001", "100000002", "100000003"], "{city}");
    }
}

async fn strange_terms_get_an_answer_or_a_clear_refusal(world: &World) {
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
        let answer = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        assert!(answer.json["nonprofits"].is_array(), "{term}");
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

async fn an_ein_is_found_with_or_without_dash_or_by_its_beginning(world: &World) {
    world.load_demo().await;
    for term in ["530196605", "53-0196605", "53019", "53-0196"] {
        assert_eq!(
            eins(&world.client.get(200, &format!("/v0.2/search/{term}")).await)[0],
            RED_CROSS,
            "{term}"
        );
    }
}

async fn what_changes_is_found_at_once_and_what_is_gone_never(world: &World) {
    world.import_irs(bmf(&bodies(40))).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    let mut rows = bodies(40);
    rows.pop();
    rows.push(body("987654321", "ZEBRA CROSSING TRUST"));
    let before = world.client.get(200, "/v0.2/search/zebra%20cros").await;
    assert!(eins(&before).is_empty());
    world.import_irs(bmf(&rows)).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 2);
    assert_eq!(
        eins(&world.client.get(200, "/v0.2/search/zebra%20cros").await),
        ["987654321"]
    );
    let gone = bodies(40).pop().unwrap();
    let line = gone.line();
    let ein = line.split(',').next().unwrap();
    let near = world.client.get(200, &format!("/v0.2/search/{ein}")).await;
    assert!(!eins(&near).contains(&ein), "only its neighbours are found");
    world.client.details(200, ein).await;
}

async fn bodies_of_one_name_are_told_apart_by_their_chapters(world: &World) {
    let chapters = ["678 PORTLAND COUNCIL", "1947 SEKENGER COUNCIL", "JANE DOE TTEE"];
    let rows: Vec<_> = (930_000_001..)
        .zip(chapters)
        .map(|(ein, chapter)| body(&ein.to_string(), "KNIGHTS OF COLUMBUS").with("SORT_NAME", chapter))
        .map(|row| row.with("SUBSECTION", "08").with("NTEE_CD", ""))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    let told = "fraternal society in Concord, NH, recognized by the IRS in 1994.";
    for (term, description) in [
        (
            "knights%20of%20columbus%20portland%20council",
            format!("678 Portland Council: a {told}"),
        ),
        (
            "knights%20of%20columbus%20sek",
            format!("1947 Sekenger Council: a {told}"),
        ),
        ("930000003", format!("A {told}")),
    ] {
        let found = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        let item = &found.json["nonprofits"][0];
        assert_eq!(item["description"], description.as_str(), "{term}");
        let details = world.client.details(200, item["ein"].as_str().unwrap()).await;
        assert_eq!(details.nonprofit()["description"], description.as_str());
    }
}

async fn an_everyday_name_finds_the_well_known_body_though_the_irs_has_no_return_of_it(world: &World) {
    let hospital = body("620646012", "ST JUDE CHILDRENS RESEARCH HOSPITAL INC").with("TAX_PERIOD", "");
    let institute = body("042103594", "MASSACHUSETTS INSTITUTE OF TECHNOLOGY").with("TAX_PERIOD", "000000");
    let rows = [
        hospital.with("REVENUE_AMT", "81460"),
        institute.with("REVENUE_AMT", ""),
        body("202917263", "ST JUDES RANCH FOR CHILDREN").with("REVENUE_AMT", "200000000"),
        body("222578187", "ST JUDE HOUSING CORPORATION").with("REVENUE_AMT", "900000000"),
        body("060662150", "MITCHELL COLLEGE").with("REVENUE_AMT", "900000000"),
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

async fn what_has_all_words_stands_alone_though_it_came_after_the_snapshot(world: &World) {
    world.load_demo().await;
    let line = r#"{"ein":"987654321","name":"Zquoxly Harbour Rescue","city":"Portland","state":"OR"}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    for term in ["portland%20zquoxly", "zquoxly%20port", "rescue%20zquoxly"] {
        let answer = world.client.get(200, &format!("/v0.2/search/{term}")).await;
        assert_eq!(eins(&answer), ["987654321"], "{term}");
    }
}

async fn an_ein_finds_its_body_alone_though_that_changed_after_the_snapshot(world: &World) {
    let filed = body(RED_CROSS, "AMERICAN NATIONAL RED CROSS");
    let other = body("911111111", "LOCAL 53 REDCROSS STREET LIBRARY");
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

async fn the_same_query_gives_the_same_answer_and_the_same_tag(world: &World) {
    world.load_demo().await;
    let first = world.client.get(200, "/v0.2/search/foundation?take=50").await;
    let second = world.client.get(200, "/v0.2/search/foundation?take=50").await;
    assert_eq!(first.text(), second.text());
    let known = [("if-none-match", first.header("etag"))];
    world
        .client
        .get_with(304, "/v0.2/search/foundation?take=50", &known)
        .await;
    assert_eq!(first.header("ratelimit-policy"), "\"search\";q=500;w=60");
}
