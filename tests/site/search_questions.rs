//! What people type besides names: questions, numbers, URLs and mistyped words; and what the results page says about them.

use crate::files::{bmf, nonprofit_row};
use crate::world::World;

on_both_databases!(
    an_unknown_ein_is_said_to_be_unknown_whatever_is_typed_around_it,
    an_ein_is_found_in_a_sentence,
    a_url_finds_its_nonprofit_and_no_part_of_it_is_called_unknown,
    an_unknown_word_is_named_and_its_correction_is_offered,
    a_question_leads_to_the_cause,
    ordinals_are_digits_or_words,
    states_and_causes_are_sorted_as_they_read,
);

async fn page(world: &World, typed: &str) -> String {
    let typed = typed.replace(' ', "+").replace('?', "%3F").replace('#', "%23");
    world
        .client
        .get_plain(200, &format!("/search?q={typed}"))
        .await
        .text()
}

async fn an_unknown_ein_is_said_to_be_unknown_whatever_is_typed_around_it(world: &World) {
    world.load_demo().await;
    for typed in [
        "12-3456780",
        "12 3456780",
        "EIN 123456780",
        "EIN: 12-3456780.",
        "my ein is 12-3456780",
        "12-3456780 washington",
    ] {
        let page = page(world, typed).await;
        assert!(
            page.contains("This EIN is not in the IRS files of"),
            "{typed}: {page}"
        );
        assert!(
            !page.contains("class=\"hit\"") && !page.contains("results-total"),
            "{typed}"
        );
        assert!(!page.contains("matches the word"), "{typed}");
    }
}

async fn an_ein_is_found_in_a_sentence(world: &World) {
    world.load_demo().await;
    for typed in [
        "53 0196605",
        "ein 53-0196605",
        "53-0196605 ein",
        "the red cross (530196605)",
    ] {
        let page = page(world, typed).await;
        assert!(page.contains("href=\"/american-red-cross\""), "{typed}: {page}");
        assert_eq!(page.matches("class=\"hit\"").count(), 1, "{typed}");
        assert!(!page.contains("matches the word"), "{typed}: {page}");
    }
}

async fn a_url_finds_its_nonprofit_and_no_part_of_it_is_called_unknown(world: &World) {
    world.load_demo().await;
    for typed in [
        "https://www.redcross.org/donate/now?x=1",
        "http://redcross.org",
        "redcross.org/about#us",
    ] {
        let page = page(world, typed).await;
        let first = page.split("class=\"hit\"").nth(1).unwrap();
        assert!(first.contains("href=\"/american-red-cross\""), "{typed}: {page}");
        assert!(!page.contains("matches the word"), "{typed}: {page}");
    }
}

async fn an_unknown_word_is_named_and_its_correction_is_offered(world: &World) {
    let names = [
        "BOSTON CHILDREN HOSPITAL",
        "SALEM CHILDREN HOSPITAL",
        "REFUGEE HOSPITAL",
    ];
    let numbers = ["100000001", "100000002", "100000003"];
    let rows: Vec<_> = numbers
        .into_iter()
        .zip(names)
        .map(|(ein, name)| nonprofit_row(ein, name))
        .collect();
    world.import_irs(bmf(&rows)).await.unwrap();
    for (typed, unknown, corrected) in [
        // The first letter is wrong, and other nonprofits have the second word.
        ("noston children", "noston", "boston%20children"),
        ("boston hopsital", "hopsital", "boston%20hospital"),
    ] {
        let page = page(world, typed).await;
        for text in [
            format!("No nonprofit matches the word “{unknown}”."),
            format!("Did you mean <a href=\"/search?q={corrected}\">"),
        ] {
            assert!(page.contains(&text), "{typed}: {text} is not on {page}");
        }
        assert!(
            page.contains("href=\"/boston-children-hospital\""),
            "{typed}: {page}"
        );
    }
    let nothing = page(world, "boston zzqqxxjj").await;
    assert!(
        nothing.contains("No nonprofit matches the word “zzqqxxjj”."),
        "{nothing}"
    );
    let partly = page(world, "noston zzqqxxjj").await;
    assert!(
        partly.contains("Did you mean <a href=\"/search?q=boston\">"),
        "{partly}"
    );
    let both = page(world, "noston hopsital").await;
    assert!(
        both.contains("Did you mean <a href=\"/search?q=boston%20hospital\">"),
        "{both}"
    );
    for right in ["refugees hospital", "boston hosp"] {
        let page = page(world, right).await;
        assert!(!page.contains("Did you mean"), "{right}: {page}");
    }
}

async fn a_question_leads_to_the_cause(world: &World) {
    let rows = [
        nonprofit_row("100000001", "UKRAINE RELIEF").with("NTEE_CD", "Q33"),
        nonprofit_row("100000002", "PAWS AND HOOVES").with("NTEE_CD", "D20"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    for typed in [
        "how do i donate to ukraine",
        "How can I help Ukraine?",
        "ukraine charities",
    ] {
        let page = page(world, typed).await;
        assert!(
            page.contains("Cause: <a href=\"/causes/ukraine\">Ukraine</a> (1)"),
            "{page}"
        );
        assert!(page.contains("href=\"/ukraine-relief\""), "{page}");
    }
    let animals = page(world, "donate to animals").await;
    assert!(animals.contains("href=\"/causes/animals\""), "{animals}");
    for typed in ["paws and hooves", "ukraine relief", "how do i donate"] {
        let page = page(world, typed).await;
        assert!(!page.contains("Cause: <a"), "{typed}: {page}");
    }
}

async fn ordinals_are_digits_or_words(world: &World) {
    let rows = [
        nonprofit_row("100000001", "FIRST BAPTIST CHURCH"),
        nonprofit_row("100000002", "2ND HARVEST PANTRY"),
        nonprofit_row("100000003", "TWENTY FIRST CENTURY FUND"),
        nonprofit_row("100000004", "7TH DAY FELLOWSHIP"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    for (typed, slug) in [
        ("1st baptist church", "first-baptist-church"),
        ("second harvest pantry", "2nd-harvest-pantry"),
        ("21st century fund", "twenty-first-century-fund"),
        ("seventh day fellowship", "7th-day-fellowship"),
    ] {
        let page = page(world, typed).await;
        let first = page.split("class=\"hit\"").nth(1);
        assert!(
            first.is_some_and(|first| first.contains(&format!("href=\"/{slug}\""))),
            "{typed}: {page}"
        );
    }
}

async fn states_and_causes_are_sorted_as_they_read(world: &World) {
    world.load_demo().await;
    let page = page(world, "university").await;
    for select in ["state", "cause"] {
        let options = page.split(&format!("<select id=\"{select}\"")).nth(1).unwrap();
        let options = options.split("</select>").next().unwrap();
        let texts: Vec<&str> = options
            .split("</option>")
            .filter_map(|option| option.rsplit_once('>'))
            .map(|(_, text)| text)
            .filter(|text| !text.is_empty() && !text.starts_with("Any "))
            .collect();
        assert!(
            texts.len() > 20 && texts.is_sorted_by_key(|text| text.to_lowercase().replace('-', " ")),
            "{texts:?}"
        );
    }
    let causes = world.client.get_plain(200, "/causes").await.text();
    let adoption = causes.find("href=\"/causes/seniors\"").unwrap();
    let sports = causes.find("href=\"/causes/athletics\"").unwrap();
    assert!(adoption < sports, "Seniors is before Sports and athletics");
}
