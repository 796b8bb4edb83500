//! The results page: its total, its pages, its filters and its order.

use crate::files::{Row, bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;
use serde_json::json;
use std::collections::BTreeSet;

on_both_databases!(
    all_pages_of_a_search_have_the_same_total_and_every_nonprofit_once,
    up_to_a_thousand_nonprofits_are_counted_exactly,
    filters_compose_and_each_can_be_removed,
    results_can_be_sorted_by_size_name_and_distance,
    nonprofits_of_the_same_name_are_told_apart,
    causes_have_titles_for_scripts_of_any_site,
    the_part_of_a_mission_that_matches_is_shown_and_marked,
    a_search_by_meaning_says_what_it_shows_and_links_to_the_words,
);

async fn page(world: &World, url: &str) -> String {
    world.client.get_plain(200, url).await.text()
}

/// Returns the slugs of the results of a page, in order.
fn slugs(page: &str) -> Vec<String> {
    let links = page.split("<h3><a href=\"/").skip(1);
    links
        .map(|link| link.split('"').next().unwrap().to_owned())
        .collect()
}

async fn all_pages_of_a_search_have_the_same_total_and_every_nonprofit_once(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(45))).await.unwrap();
    let mut seen = BTreeSet::new();
    for (number, count) in [(1, 20), (2, 20), (3, 5)] {
        let page = page(world, &format!("/search?q=shelter&page={number}")).await;
        assert!(page.contains("<strong>45 nonprofits</strong>"), "{page}");
        assert!(page.contains(&format!("Page {number} of 3")), "{page}");
        assert_eq!(slugs(&page).len(), count, "{number}");
        seen.extend(slugs(&page));
    }
    assert_eq!(seen.len(), 45);
    // A page after the last one is the last one.
    let beyond = page(world, "/search?q=shelter&page=99999999999999999999").await;
    assert!(beyond.contains("Page 3 of 3") && slugs(&beyond).len() == 5);
    let one = page(world, "/search?q=100000007").await;
    assert!(
        one.contains("<strong>1 nonprofit</strong>") && !one.contains("Page 1 of"),
        "{one}"
    );
}

async fn up_to_a_thousand_nonprofits_are_counted_exactly(world: &World) {
    let rows: Vec<Row> = nonprofit_rows(1_300)
        .into_iter()
        .enumerate()
        .map(|(index, row)| row.with("STATE", if index < 1_000 { "NH" } else { "ME" }))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    // "house" is the last word of every name, so that no name starts with it.
    for term in ["shelter", "house", "hou", "shelter+house"] {
        let all = page(world, &format!("/search?q={term}")).await;
        assert!(
            all.contains("<strong>More than 1,000 nonprofits</strong>"),
            "{term}: {all}"
        );
        assert!(all.contains("Page 1 of 50"), "{term}");
        let last = page(world, &format!("/search?q={term}&page=50")).await;
        assert_eq!(slugs(&last).len(), 20, "{term}");
        for (state, total) in [("NH", "1,000"), ("ME", "300")] {
            let found = page(world, &format!("/search?q={term}&state={state}")).await;
            assert!(
                found.contains(&format!("<strong>{total} nonprofits</strong>")),
                "{term} {state}: {found}"
            );
        }
    }
}

fn shelter(number: u32, columns: &[(&str, &str)]) -> Row {
    let row = nonprofit_row(
        &(100_000_000 + number).to_string(),
        &format!("SHELTER NUMBER {number}"),
    );
    columns
        .iter()
        .fold(row, |row, (column, value)| row.with(column, value))
}

async fn import_shelters(world: &World) {
    let rows = [
        shelter(
            1,
            &[
                ("STATE", "OR"),
                ("CITY", "PORTLAND"),
                ("ZIP", "97201"),
                ("REVENUE_AMT", "50000"),
            ],
        ),
        shelter(
            2,
            &[
                ("STATE", "OR"),
                ("CITY", "PORTLAND"),
                ("ZIP", "97230"),
                ("REVENUE_AMT", "2000000"),
            ],
        ),
        shelter(
            3,
            &[
                ("STATE", "OR"),
                ("CITY", "SALEM"),
                ("ZIP", "97301"),
                ("REVENUE_AMT", "3000000"),
            ],
        ),
        shelter(
            4,
            &[
                ("STATE", "ME"),
                ("CITY", "PORTLAND"),
                ("ZIP", "04101"),
                ("REVENUE_AMT", "4000000"),
            ],
        ),
        shelter(
            5,
            &[
                ("STATE", "OR"),
                ("CITY", "PORTLAND"),
                ("ZIP", "97201"),
                ("REVENUE_AMT", "5000000"),
                ("DEDUCTIBILITY", "2"),
            ],
        ),
        shelter(
            6,
            &[
                ("STATE", "OR"),
                ("CITY", "PORTLAND"),
                ("ZIP", "97201"),
                ("REVENUE_AMT", "6000000"),
                ("NTEE_CD", "D20"),
            ],
        ),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
}

async fn filters_compose_and_each_can_be_removed(world: &World) {
    import_shelters(world).await;
    for (query, expected) in [
        ("state=OR", vec![1, 2, 3, 5, 6]),
        ("city=portland", vec![1, 2, 4, 5, 6]),
        ("city=Portland&state=or", vec![1, 2, 5, 6]),
        ("size=1m-10m", vec![2, 3, 4, 5, 6]),
        ("size=under-100k", vec![1]),
        ("deductible=1", vec![1, 2, 3, 4, 6]),
        ("cause=animals", vec![6]),
        (
            "size=1m-10m&deductible=1&city=Portland&near=97201&radius=5",
            vec![6],
        ),
        ("size=1m-10m&deductible=1&near=97201&radius=25", vec![2, 6]),
        ("size=1m-10m&city=Salem&near=97201&radius=25", vec![]),
    ] {
        let page = page(world, &format!("/search?q=shelter&{query}")).await;
        let mut found = slugs(&page);
        found.sort();
        let expected: Vec<String> = expected
            .iter()
            .map(|number| format!("shelter-number-{number}"))
            .collect();
        assert_eq!(found, expected, "{query}");
    }
    let filtered = page(
        world,
        "/search?q=shelter&state=OR&size=1m-10m&deductible=1&near=97201&radius=25&sort=name",
    )
    .await;
    for text in [
        "Oregon<span class=\"unseen\"> (remove)</span>",
        "href=\"/search?q=shelter&#38;size=1m%2D10m&#38;deductible=1&#38;near=97201&#38;radius=25&#38;sort=name\"",
        "href=\"/search?q=shelter&#38;state=OR&#38;deductible=1&#38;near=97201&#38;radius=25&#38;sort=name\"",
        "href=\"/search?q=shelter&#38;state=OR&#38;size=1m%2D10m&#38;near=97201&#38;radius=25&#38;sort=name\"",
        "href=\"/search?q=shelter&#38;state=OR&#38;size=1m%2D10m&#38;deductible=1&#38;sort=name\"",
        "<input type=\"hidden\" name=\"sort\" value=\"name\">",
        "<option value=\"1m-10m\" selected>$1 million to $10 million</option>",
        "Clear all filters",
    ] {
        assert!(filtered.contains(text), "{text} is not on {filtered}");
    }
    let none = page(world, "/search?q=shelter&size=over-100m").await;
    assert!(none.contains("The revenue filter hides 6 results."), "{none}");
}

async fn results_can_be_sorted_by_size_name_and_distance(world: &World) {
    import_shelters(world).await;
    let order = async |query: &str| {
        let page = page(world, &format!("/search?q=shelter&{query}")).await;
        let numbers = slugs(&page);
        numbers
            .iter()
            .map(|slug| slug.rsplit('-').next().unwrap().parse::<u32>().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(order("sort=largest").await, [6, 5, 4, 3, 2, 1]);
    assert_eq!(order("sort=name").await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(
        order("sort=nearest&near=97301&radius=100&deductible=1").await[0],
        3
    );
    let best = order("sort=best").await;
    assert_eq!(
        order("sort=nearest").await,
        best,
        "without a place, nothing is nearest"
    );
    let sorted = page(world, "/search?q=shelter&sort=largest").await;
    assert!(
        sorted.contains("sort=largest\" aria-current=\"true\">Largest</a>") && !sorted.contains("Nearest"),
        "{sorted}"
    );
    let near = page(world, "/search?q=shelter&near=97301").await;
    assert!(near.contains("sort=nearest\">Nearest</a>"), "{near}");
}

async fn nonprofits_of_the_same_name_are_told_apart(world: &World) {
    let row = |number: &str, city: &str, revenue: &str| {
        let row = nonprofit_row(number, "FRIENDS OF THE LIBRARY");
        row.with("CITY", city).with("REVENUE_AMT", revenue)
    };
    let rows = [
        row("100000001", "CONCORD", "64000"),
        row("100000002", "KEENE", "64000"),
        row("100000003", "CONCORD", "2500000"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let page = page(world, "/search?q=friends+of+the+library").await;
    let cards: BTreeSet<&str> = page
        .split("<li class=\"hit\">")
        .skip(1)
        .map(|card| card.split_once("</h3>").unwrap().1.split("</li>").next().unwrap())
        .collect();
    assert_eq!(cards.len(), 3, "{page}");
    assert!(
        page.contains("$2.5M revenue") && page.contains("$64,000 revenue"),
        "{page}"
    );
    assert!(page.contains("Keene, NH · Education · Libraries"), "{page}");
}

async fn causes_have_titles_for_scripts_of_any_site(world: &World) {
    let response = world.client.get_plain(200, "/embed/causes.json").await;
    assert_eq!(response.json["food-security"], "Food security");
    assert_eq!(response.header("access-control-allow-origin"), "*");
    assert_eq!(response.header("cache-control"), "public, max-age=3600");
    assert!(!response.headers.contains_key("set-cookie"));
}

async fn the_part_of_a_mission_that_matches_is_shown_and_marked(world: &World) {
    let rows = [shelter(1, &[]), shelter(2, &[])];
    world.import_irs(bmf(&rows)).await.unwrap();
    let long = format!(
        "{} We teach <b>refugees</b> & others to sew.",
        "Everybody is welcome. ".repeat(30)
    );
    let line = json!({"ein": "100000001", "description": "A house.", "descriptionLong": long});
    world.import_nonprofits(&format!("{line}\n")).await.unwrap();
    let found = page(world, "/search?q=refugee+shelter+sew").await;
    assert_eq!(slugs(&found)[0], "shelter-number-1");
    let text = "teach &#60;b&#62;<mark>refugees</mark>&#60;/b&#62; &#38; others to <mark>sew</mark>.";
    assert!(found.contains(text), "{found}");
    assert!(found.contains("<p class=\"hit-text\">…"), "{found}");
    let by_name = page(world, "/search?q=shelter+number+1").await;
    assert!(
        by_name.contains("<p class=\"hit-text\">A house.</p>"),
        "{by_name}"
    );
}

async fn a_search_by_meaning_says_what_it_shows_and_links_to_the_words(world: &World) {
    let rows = [
        nonprofit_row("100000001", "BRIGHT PAGES").with("NTEE_CD", "B92"),
        nonprofit_row("100000002", "PAWS AND HOOVES").with("NTEE_CD", "D20"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let found = page(world, "/search?q=help+kids+read&state=NH").await;
    assert_eq!(slugs(&found)[0], "bright-pages");
    let sentence = "<p class=\"interpretation\">Showing nonprofits for “read to kids";
    assert!(found.contains(sentence), "{found}");
    let url = "/search?q=help%20kids%20read&#38;state=NH&#38;words=all";
    let link = format!("<a href=\"{url}\">Search for all words only</a></p>");
    assert!(found.contains(&link), "{found}");
    let words = page(world, &url.replace("&#38;", "&")).await;
    assert!(slugs(&words).is_empty(), "{words}");
    assert!(
        words.contains("<input type=\"hidden\" name=\"words\" value=\"all\">")
            && !words.contains("class=\"interpretation\""),
        "{words}"
    );
    let part = page(world, "/search?q=where+can+i+find+underwater+hooves").await;
    assert_eq!(slugs(&part), ["paws-and-hooves"]);
    let sentence = "Some results do not match “underwater”.";
    assert!(part.contains(sentence), "{part}");
    let by_name = page(world, "/search?q=bright+pages").await;
    assert!(!by_name.contains("class=\"interpretation\""), "{by_name}");
}
