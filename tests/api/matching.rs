//! `POST /v0.2/match`

use crate::client::Response;
use crate::files::{Row as BmfRow, bmf, generated, nonprofit_row};
use crate::world::World;
use access::keys::Kind;
use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use directory::query::matching::{Candidate, Matcher, Row};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

on_both_databases!(
    rows_get_candidates_with_scores_and_reasons,
    only_a_clear_match_is_one,
    a_messy_row_matches_if_nothing_else_is_near,
    a_cut_name_never_matches,
    a_former_name_and_a_website_are_evidence,
    an_ein_decides_unless_the_name_is_another,
    invalid_bodies_name_their_fields,
    matching_takes_a_private_key_and_has_its_own_limit,
    every_nonprofit_matches_itself,
    the_order_of_rows_makes_no_difference,
    a_change_since_the_snapshot_is_matched,
);

async fn basic(world: &World) -> String {
    let (_, private) = world.create_key(Kind::Private).await;
    let pair = format!("{}:{private}", world.client.key);
    format!("Basic {}", STANDARD.encode(pair))
}

async fn send(world: &World, expected: u16, basic: &str, body: &Value) -> Response {
    let headers = [("authorization", basic), ("content-type", "application/json")];
    let body = body.to_string();
    world
        .client
        .send_body(expected, &Method::POST, "/v0.2/match", &headers, body)
        .await
}

async fn matched(world: &World, rows: Value) -> Value {
    let basic = basic(world).await;
    send(world, 200, &basic, &json!({ "rows": rows })).await.json["rows"].take()
}

fn granite_rows() -> [BmfRow; 5] {
    [
        nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        nonprofit_row("020240391", "GRANITE ANIMAL SHELTER INC"),
        nonprofit_row("020240409", "FIRST BAPTIST CHURCH"),
        nonprofit_row("020240417", "FIRST BAPTIST CHURCH")
            .with("CITY", "NASHUA")
            .with("ZIP", "03060-0001"),
        nonprofit_row("020240425", "FIRST BAPTIST CHURCH")
            .with("CITY", "PORTLAND")
            .with("STATE", "OR")
            .with("ZIP", "97201-0001"),
    ]
}

async fn import(world: &World) {
    world.import_irs(bmf(&granite_rows())).await.unwrap();
}

async fn rows_get_candidates_with_scores_and_reasons(world: &World) {
    import(world).await;
    let rows = json!([
        {"id": "a-1", "name": "The Granite Town Libary", "city": "Concord", "state": "New Hampshire", "zip": 3301},
        {"name": "Blue Whale Rescue Society"},
        {},
    ]);
    let rows = matched(world, rows).await;
    let first = &rows[0];
    assert_eq!((&first["id"], &first["match"]), (&json!("a-1"), &json!(true)));
    let best = &first["candidates"][0];
    assert_eq!(best["ein"], "020240383");
    assert_eq!(best["name"], "Granite Town Library");
    assert_eq!(best["slug"], "granite-town-library");
    assert_eq!(best["location"], "Concord, NH");
    assert!(
        best["profileUrl"]
            .as_str()
            .unwrap()
            .ends_with("/granite-town-library")
    );
    assert_eq!(best["match"], true);
    assert!(best["score"].as_u64().unwrap() > 90, "{best}");
    assert_eq!(
        best["reasons"],
        json!(["name similar", "same ZIP code", "same city", "same state"])
    );
    for nothing in [&rows[1], &rows[2]] {
        assert_eq!(*nothing, json!({"match": false, "candidates": []}));
    }
}

async fn only_a_clear_match_is_one(world: &World) {
    import(world).await;
    let name = "First Baptist Church";
    let rows = matched(
        world,
        json!([
            {"name": name},
            {"name": name, "state": "NH"},
            {"name": name, "state": "NH", "city": "Nashua"},
            {"name": name, "zip": "97201"},
            {"name": name, "city": "Portland", "state": "ME"},
            {"name": "Granite Town Library"},
        ]),
    )
    .await;
    let verdicts: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["match"]).collect();
    assert_eq!(verdicts, [false, false, true, true, false, true], "{rows:#}");
    assert_eq!(rows[0]["candidates"].as_array().unwrap().len(), 3);
    assert_eq!(rows[2]["candidates"][0]["ein"], "020240417");
    assert_eq!(rows[3]["candidates"][0]["ein"], "020240425");
}

async fn a_messy_row_matches_if_nothing_else_is_near(world: &World) {
    let more = [
        nonprofit_row("020240501", "NATIONAL SERVICES FOUNDATION").with("CITY", "N CONWAY"),
        nonprofit_row("020240502", "SAINT TITUS PARISH"),
        nonprofit_row("020240503", "SAINT MARK PARISH"),
        nonprofit_row("020240504", "SALEM BOYS LACROSSE CLUB INC"),
    ];
    world
        .import_irs(bmf(&[&granite_rows()[..], &more].concat()))
        .await
        .unwrap();
    let row = |name: &str, city: &str, state: &str| json!({"name": name, "city": city, "state": state});
    let rows = [
        // It moved within the state, or the list has another address.
        (row("Granite Town Library", "Nashua", "NH"), true),
        (row("Granite Town Library", "Nashua", "VT"), false),
        (row("First Baptist Church", "Salem", "NH"), false),
        (row("Natl Svcs Foundtaion", "North Conway", "NH"), true),
        (row("National Services Foundation", "N. Conway", "NH"), true),
        // A word is missing, which is not the same as another word.
        (row("Salem Boys Club", "Concord", "NH"), true),
        (row("Saint Luke Parish", "Concord", "NH"), false),
        (row("Granite Town Library Building Fund", "Concord", "NH"), false),
    ];
    let found = matched(world, rows.iter().map(|(row, _)| row.clone()).collect()).await;
    for ((row, expected), found) in rows.iter().zip(found.as_array().unwrap()) {
        assert_eq!(found["match"], *expected, "{row}: {found:#}");
    }
}

async fn a_cut_name_never_matches(world: &World) {
    let rows = [
        nonprofit_row("020240501", "MENTAL HEALTH ASSOCIATION OF MERRIMACK COUNTY"),
        nonprofit_row("020240502", "FRIENDS OF THE"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let row = |name: &str| json!({"name": name, "city": "Concord", "state": "NH", "zip": "03301"});
    let names = [
        ("Mental Health Association of Merrimack County", true),
        ("Mental Health Association Of", false),
        // The IRS files cut long names too.
        ("Friends of the", true),
    ];
    let found = matched(world, names.iter().map(|(name, _)| row(name)).collect()).await;
    for ((name, expected), found) in names.iter().zip(found.as_array().unwrap()) {
        assert_eq!(found["match"], *expected, "{name}: {found:#}");
        assert!(!found["candidates"].as_array().unwrap().is_empty(), "{name}");
    }
    let with_ein = json!([{"name": "Mental Health Association Of", "ein": "02-0240501"}]);
    assert_eq!(matched(world, with_ein).await[0]["match"], true);
}

async fn a_former_name_and_a_website_are_evidence(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240501", "GRANITE TEMPERANCE UNION")]))
        .await
        .unwrap();
    let rows = [
        nonprofit_row("020240501", "HARBOR OF HOPE"),
        nonprofit_row("020240502", "HOPE CENTER"),
        nonprofit_row("020240503", "HOPE CENTER"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    let site = json!({"ein": "020240503", "websiteUrl": "https://www.hopecenter.example.org/about"});
    world.import_nonprofits(&format!("{site}\n")).await.unwrap();
    let rows = json!([
        {"name": "Granite Temperance Union Inc", "state": "NH"},
        {"name": "Hope Center", "city": "Concord", "state": "NH"},
        {"name": "Hope Center", "city": "Concord", "state": "NH", "website": "http://hopecenter.example.org"},
        {"name": "Hope Center", "website": "other.example.org"},
    ]);
    let found = matched(world, rows).await;
    let first = |row: usize| &found[row]["candidates"][0];
    assert_eq!(
        (&first(0)["ein"], &first(0)["match"]),
        (&json!("020240501"), &json!(true)),
        "{found:#}"
    );
    assert_eq!(first(0)["reasons"][0], "former name equal");
    assert_eq!(found[1]["match"], false, "there are two");
    assert_eq!(first(2)["ein"], "020240503", "{found:#}");
    assert!(
        first(2)["reasons"]
            .as_array()
            .unwrap()
            .contains(&json!("same website"))
    );
    assert_eq!(found[2]["match"], true, "{found:#}");
    assert_eq!(found[3]["match"], false, "{found:#}");
}

async fn an_ein_decides_unless_the_name_is_another(world: &World) {
    import(world).await;
    let rows = matched(
        world,
        json!([
            {"ein": "02-0240391"},
            {"ein": 20_240_391, "name": "granite animal shelters"},
            {"ein": "020240391", "name": "Granite Town Library"},
            {"ein": "99-9999999", "name": "Granite Town Library", "city": "Concord", "state": "NH"},
            {"ein": "not known", "name": "Granite Town Library", "city": "Concord", "state": "NH"},
        ]),
    )
    .await;
    let best = |row: usize| {
        let candidate = &rows[row]["candidates"][0];
        (
            candidate["ein"].as_str().unwrap(),
            candidate["score"].as_u64().unwrap(),
            candidate["match"].as_bool().unwrap(),
        )
    };
    assert_eq!(best(0), ("020240391", 100, true));
    assert_eq!(best(1), ("020240391", 100, true));
    assert_eq!(
        best(2),
        ("020240391", 90, false),
        "the name is that of another nonprofit"
    );
    assert_eq!(
        rows[2]["candidates"][0]["reasons"],
        json!(["same EIN", "different name"])
    );
    assert_eq!(rows[2]["candidates"][1]["ein"], "020240383");
    assert_eq!(best(3), ("020240383", 60, false));
    assert_eq!(best(4), ("020240383", 100, true));
}

async fn invalid_bodies_name_their_fields(world: &World) {
    import(world).await;
    let basic = basic(world).await;
    let many: Vec<Value> = (0..1_001).map(|_| json!({"name": "x"})).collect();
    for (body, fields) in [
        (json!({}), vec!["rows"]),
        (json!({"rows": many}), vec!["rows"]),
        (json!({"rows": [], "take": 0}), vec!["take"]),
        (
            json!({"rows": [{"name": "x"}, 7, {"name": ["x"], "zip": {}}, {"city": "x".repeat(2_000)}]}),
            vec!["rows[1]", "rows[2].name", "rows[2].zip", "rows[3].city"],
        ),
    ] {
        let response = send(world, 400, &basic, &body).await;
        assert_eq!(response.code(), "invalid_body");
        let errors = response.json["errors"].as_array().unwrap();
        let named: Vec<_> = errors
            .iter()
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        assert_eq!(named, fields);
    }
    let most: Vec<Value> = (0..1_000).map(|_| json!({"name": "Granite School"})).collect();
    let response = send(world, 200, &basic, &json!({"rows": most, "take": 1})).await;
    assert_eq!(response.json["rows"].as_array().unwrap().len(), 1_000);
}

async fn matching_takes_a_private_key_and_has_its_own_limit(world: &World) {
    import(world).await;
    let basic = basic(world).await;
    let response = send(world, 200, &basic, &json!({"rows": []})).await;
    assert_eq!(response.header("ratelimit-policy"), "\"match\";q=60;w=60");
    assert_eq!(response.json, json!({"rows": []}));
    let url = format!("/v0.2/match?apiKey={}", world.client.key);
    let headers = [("content-type", "application/json")];
    let public = world
        .client
        .send_body(401, &Method::POST, &url, &headers, "{}")
        .await;
    assert_eq!(public.code(), "missing_credentials");
    world.client.get(405, "/v0.2/match").await;
    for _ in 1..60 {
        send(world, 200, &basic, &json!({"rows": []})).await;
    }
    assert_eq!(
        send(world, 429, &basic, &json!({"rows": []})).await.code(),
        "rate_limited"
    );
}

/// A row as it is in the directory.
#[derive(Clone, Debug)]
struct OwnedRow {
    id: String,
    name: String,
    city: String,
    state: String,
    zip: String,
    ein: String,
}

impl OwnedRow {
    fn borrow(&self) -> Row<'_> {
        Row {
            name: &self.name,
            city: &self.city,
            state: &self.state,
            zip: &self.zip,
            ein: &self.ein,
            ..Row::default()
        }
    }
}

async fn rows_of_a_generated_directory(world: &World) -> Vec<OwnedRow> {
    world.import_irs(generated(2_000, 7)).await.unwrap();
    let view = world.app.directory.view();
    let snapshot = view.snapshot.as_ref().unwrap();
    let read = |position| {
        let nonprofit = snapshot.nonprofit(position).unwrap();
        OwnedRow {
            id: nonprofit.id.to_string(),
            name: nonprofit.name.to_owned(),
            city: nonprofit.city.to_owned(),
            state: nonprofit.state.to_owned(),
            zip: nonprofit.zip.to_owned(),
            ein: nonprofit.ein.unwrap().to_string(),
        }
    };
    (0..snapshot.len()).map(read).collect()
}

async fn every_nonprofit_matches_itself(world: &World) {
    let rows = rows_of_a_generated_directory(world).await;
    let view = world.app.directory.view();
    let mut matcher = Matcher::new(&view);
    let mut first = |row: &Row<'_>| {
        let found = matcher.find(row, 3);
        let id = |candidate: &Candidate| view.nonprofit(candidate.location).unwrap().id.to_string();
        found.first().map(|best| (id(best), best.score, best.is_match))
    };
    let mut certain = 0;
    for row in &rows {
        let (id, score, is_match) = first(&row.borrow()).unwrap();
        assert_eq!((&id, score, is_match), (&row.id, 100, true), "{row:?}");
        let without_ein = Row {
            ein: "",
            ..row.borrow()
        };
        let (id, score, is_match) = first(&without_ein).unwrap_or_else(|| panic!("nothing for {row:?}"));
        // Another one with the same name in the same place is as good.
        assert_eq!(score, 100, "{row:?}");
        assert!(id == row.id || !is_match, "{row:?}");
        certain += usize::from(is_match);
    }
    assert!(certain * 100 > rows.len() * 95, "only {certain} are certain");
}

async fn the_order_of_rows_makes_no_difference(world: &World) {
    let rows = rows_of_a_generated_directory(world).await;
    let view = world.app.directory.view();
    let mut runner = TestRunner::new(Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    });
    let strategy = prop::collection::vec((0..rows.len(), any::<bool>()), 1..40)
        .prop_flat_map(|picks| (Just(picks.clone()), Just(picks).prop_shuffle()));
    let outcome = runner.run(&strategy, |(picks, shuffled)| {
        let find_all = |picks: &[(usize, bool)]| {
            let mut matcher = Matcher::new(&view);
            let mut find = |(index, with_ein): &(usize, bool)| {
                let row = rows[*index].borrow();
                let ein = if *with_ein { row.ein } else { "" };
                let found = matcher.find(&Row { ein, zip: "", ..row }, 5);
                ((*index, *with_ein), format!("{found:?}"))
            };
            let mut found: Vec<_> = picks.iter().map(&mut find).collect();
            found.sort();
            found
        };
        prop_assert_eq!(find_all(&picks), find_all(&shuffled));
        Ok(())
    });
    outcome.unwrap();
}

async fn a_change_since_the_snapshot_is_matched(world: &World) {
    import(world).await;
    let line = r#"{"ein":"020240383","name":"Stone Public Library"}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    let rows = matched(
        world,
        json!([{"name": "Stone Public Library"}, {"ein": "020240383"}]),
    )
    .await;
    for row in [&rows[0], &rows[1]] {
        assert_eq!(row["match"], true, "{row}");
        assert_eq!(row["candidates"][0]["name"], "Stone Public Library");
        assert_eq!(row["candidates"].as_array().unwrap().len(), 1);
    }
}
