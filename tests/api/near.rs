//! `near` and `radius` of search and browse.

use crate::client::Response;
use crate::files::{Row, bmf, nonprofit_rows};
use crate::world::World;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

on_both_databases!(
    results_near_a_place_have_their_distance_and_keep_their_order,
    pages_near_a_place_list_each_nonprofit_once,
    a_place_composes_with_the_other_filters,
    cities_of_the_same_name_are_told_apart,
    results_of_different_places_are_not_mixed_up,
    a_nonprofit_that_moved_is_found_at_its_new_place,
    invalid_places_are_refused_with_what_to_send_instead,
    results_without_a_place_have_no_distance,
    a_place_works_before_there_is_a_snapshot,
);

/// ZIP codes in and around Portland in Oregon, on the coasts, in Alaska and in Portland in Maine; then some that do not
/// exist or are missing.
const ZIPS: [&str; 16] = [
    "97201", "97202", "97230", "97045", "97301", "97401", "98101", "98660", "83702", "94103", "10001",
    "04101", "99501", "00000", "99999", "",
];

/// The rows of 48 shelters in these ZIP codes.
fn shelters() -> Vec<Row> {
    let rows = nonprofit_rows(48).into_iter().zip(ZIPS.iter().cycle());
    rows.enumerate()
        .map(|(index, (row, zip))| {
            let revenue = (index * 7_919 % 48) * 10_000;
            row.with("ZIP", zip)
                .with("CITY", "PORTLAND")
                .with("STATE", if *zip == "04101" { "ME" } else { "OR" })
                .with("REVENUE_AMT", &revenue.to_string())
        })
        .collect()
}

async fn import_shelters(world: &World) {
    import(world, &shelters()).await;
}

async fn import(world: &World, rows: &[Row]) {
    world.import_irs(bmf(rows)).await.unwrap();
    world.app.refresh_directory().await.unwrap();
}

/// The latitude and longitude of each ZIP code in degrees, read from the file by its own rules.
fn coordinates() -> HashMap<String, (f64, f64)> {
    let file = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/zip-codes.csv"));
    let rows = file.lines().skip_while(|line| !line.starts_with("zip")).skip(1);
    rows.map(|row| {
        let columns: Vec<&str> = row.split(',').collect();
        let degrees = |at: usize| columns[at].parse::<f64>().unwrap() / 10_000.0;
        (columns[0].to_owned(), (degrees(1), degrees(2)))
    })
    .collect()
}

/// The great-circle distance in miles, by the haversine formula.
fn miles(from: (f64, f64), to: (f64, f64)) -> f64 {
    let radians = |degrees: f64| degrees.to_radians();
    let latitudes = (radians(to.0 - from.0) / 2.0).sin().powi(2);
    let longitudes = (radians(to.1 - from.1) / 2.0).sin().powi(2);
    let h = latitudes + radians(from.0).cos() * radians(to.0).cos() * longitudes;
    2.0 * 6_371.0 * h.sqrt().asin() / 1.609_344
}

fn items(response: &Response) -> &[Value] {
    response.json["nonprofits"].as_array().unwrap()
}

fn eins(response: &Response) -> Vec<&str> {
    items(response)
        .iter()
        .map(|item| item["ein"].as_str().unwrap())
        .collect()
}

/// The index of a shelter, which decides its ZIP code.
fn zip_of(ein: &str) -> &'static str {
    let index: usize = ein.parse::<usize>().unwrap() - 100_000_001;
    ZIPS[index % ZIPS.len()]
}

async fn results_near_a_place_have_their_distance_and_keep_their_order(world: &World) {
    import_shelters(world).await;
    let coordinates = coordinates();
    let all = world.client.get(200, "/v0.2/search/shelter?take=50").await;
    assert_eq!(items(&all).len(), 48);
    for (near, center) in [
        ("97201", coordinates["97201"]),
        ("97201-1234", coordinates["97201"]),
        ("45.52,-122.68", (45.52, -122.68)),
        ("45.52,%20-122.68", (45.52, -122.68)),
        ("60.0,-150.0", (60.0, -150.0)),
        ("0,0", (0.0, 0.0)),
        ("-90,180", (-90.0, 180.0)),
    ] {
        for radius in ["1", "5.5", "", "25", "60", "200", "500"] {
            let within: f64 = radius.parse().unwrap_or(25.0);
            let radius = if radius.is_empty() {
                String::new()
            } else {
                format!("&radius={radius}")
            };
            let path = format!("/v0.2/search/shelter?take=50&near={near}{radius}");
            let response = world.client.get(200, &path).await;
            let distance = |ein: &str| coordinates.get(zip_of(ein)).map(|to| miles(center, *to));
            let mut expected = eins(&all);
            expected.retain(|ein| distance(ein).is_some_and(|miles| miles <= within));
            assert_eq!(eins(&response), expected, "{path}");
            for item in items(&response) {
                let expected = distance(item["ein"].as_str().unwrap()).unwrap();
                let found = item["distanceMiles"].as_f64().unwrap();
                assert!(
                    (found - expected).abs() <= expected * 0.01 + 1e-9,
                    "{path} {found} {expected}"
                );
            }
        }
    }
}

/// Collects all pages of a cause near a place.
async fn read_all(world: &World, cause: &str, near: &str, take: usize) -> (u64, Vec<Value>) {
    let (mut found, mut total) = (Vec::new(), 0);
    for page in 1.. {
        let path = format!("/v0.2/browse/{cause}?near={near}&take={take}&page={page}");
        let response = world.client.get(200, &path).await;
        total = response.json["pagination"]["total_results"].as_u64().unwrap();
        assert_eq!(response.json["pagination"]["pages"], total.div_ceil(take as u64));
        if items(&response).is_empty() {
            break;
        }
        found.extend_from_slice(items(&response));
    }
    (total, found)
}

async fn pages_near_a_place_list_each_nonprofit_once(world: &World) {
    import_shelters(world).await;
    // One moves to Portland and one away, two have another cause, and one is new.
    let mut moved = shelters();
    moved[10] = moved[10].clone().with("ZIP", "97201");
    moved[1] = moved[1].clone().with("ZIP", "10001");
    let changed = r#"{"ein":"100000017","causes":["dance"]}
{"ein":"100000001","causes":["dance"]}
{"ein":"999999998","name":"Portland Library","zip":"97204","city":"Portland","state":"OR","causes":["libraries"],"revenue":150000}"#;
    let mut before_changes = None;
    for step in ["snapshot", "overlay", "rebuilt"] {
        match step {
            "overlay" => {
                import(world, &moved).await;
                world.import_nonprofits(changed).await.unwrap();
                world.app.refresh_directory().await.unwrap();
                assert_eq!(world.app.directory.view().overlay.len(), 5);
            }
            "rebuilt" => {
                world.app.directory.rebuild().await.unwrap();
                assert!(world.app.directory.view().overlay.is_empty());
            }
            _ => {}
        }
        let everywhere = world.client.get(200, "/v0.2/browse/libraries?take=100").await;
        let mut lists = Vec::new();
        for (near, radius) in [("97201", 25.0), ("97201", 500.0), ("10001", 25.0)] {
            let (total, found) = read_all(world, "libraries", &format!("{near}&radius={radius}"), 3).await;
            let ids: HashSet<&Value> = found.iter().map(|item| &item["id"]).collect();
            assert_eq!(
                (found.len() as u64, ids.len() as u64),
                (total, total),
                "{step} {near}"
            );
            assert!(total > 0, "{step} {near}");
            let mut order = items(&everywhere).iter().map(|item| &item["id"]);
            let is_in_order = found.iter().all(|item| order.any(|id| *id == item["id"]));
            assert!(is_in_order, "{step} {near}: the order is that of the whole list");
            for item in &found {
                let distance = item["distanceMiles"].as_f64().unwrap();
                assert!(distance <= radius * 1.01, "{step} {near} {distance}");
            }
            lists.push(found);
        }
        let is_in_portland = |ein: &str| lists[0].iter().any(|item| item["ein"] == ein);
        for (ein, has_come) in [
            ("100000011", true),
            ("999999998", true),
            ("100000002", false),
            ("100000017", false),
        ] {
            assert_eq!(
                is_in_portland(ein),
                has_come == (step != "snapshot"),
                "{step} {ein}"
            );
        }
        match (step, &before_changes) {
            ("overlay", Some(before)) => assert_ne!(&lists, before),
            ("rebuilt", Some(before)) => {
                assert_eq!(&lists, before, "the overlay shows what the snapshot does");
            }
            _ => {}
        }
        before_changes = Some(lists);
    }
}

async fn a_place_composes_with_the_other_filters(world: &World) {
    world.load_demo().await;
    let get = async |query: &str| world.client.get(200, &format!("/v0.2/search/a?{query}")).await;
    let near = get("near=10001&radius=50&take=10").await;
    assert!(items(&near).len() > 3);
    for (filter, is_kept) in [
        (
            "state=NY",
            (|item: &Value| item["location"].as_str().unwrap().ends_with(", NY")) as fn(&Value) -> bool,
        ),
        ("state=NJ", |item| {
            item["location"].as_str().unwrap().ends_with(", NJ")
        }),
        ("city=New%20York", |item| item["location"] == "New York, NY"),
        ("causes=health,art", |item| {
            let tags = item["tags"].as_array().unwrap();
            tags.iter().any(|tag| tag == "health" || tag == "art")
        }),
    ] {
        let both = get(&format!("near=10001&radius=50&take=50&{filter}")).await;
        let expected: Vec<&Value> = items(&near)
            .iter()
            .filter(|item| is_kept(item))
            .map(|item| &item["id"])
            .collect();
        let found: Vec<&Value> = items(&both).iter().map(|item| &item["id"]).collect();
        // The first search may have more than its ten results.
        assert!(expected.iter().all(|id| found.contains(id)), "{filter}");
        assert!(items(&both).iter().all(is_kept), "{filter}");
    }
    assert!(items(&get("near=97201&state=NY").await).is_empty());
}

async fn cities_of_the_same_name_are_told_apart(world: &World) {
    import_shelters(world).await;
    let found = async |query: &str| {
        let path = format!("/v0.2/search/shelter?take=50&city=Portland&{query}");
        let response = world.client.get(200, &path).await;
        let mut zips: Vec<_> = eins(&response).into_iter().map(zip_of).collect();
        zips.sort_unstable();
        zips.dedup();
        zips
    };
    assert_eq!(found("near=04101").await, ["04101"]);
    assert_eq!(found("state=ME").await, ["04101"]);
    assert_eq!(found("near=97201&radius=5").await, ["97201", "97202"]);
    assert!(found("near=97201&state=ME").await.is_empty());
}

async fn results_of_different_places_are_not_mixed_up(world: &World) {
    import_shelters(world).await;
    let queries = [
        "",
        "near=97201",
        "near=97201&radius=5",
        "near=10001",
        "near=45.52,-122.68",
        "near=45.52,-122.69",
    ];
    let mut first = Vec::new();
    for _ in 0..2 {
        let mut bodies = Vec::new();
        for query in queries {
            let path = format!("/v0.2/search/shelter?take=50&{query}");
            bodies.push(world.client.get(200, &path).await.json);
        }
        let distinct: HashSet<String> = bodies.iter().map(Value::to_string).collect();
        assert_eq!(distinct.len(), queries.len());
        if first.is_empty() {
            first = bodies;
        } else {
            assert_eq!(bodies, first, "the answers from the cache are the same");
        }
    }
}

async fn a_nonprofit_that_moved_is_found_at_its_new_place(world: &World) {
    import_shelters(world).await;
    let found = async |near: &str| {
        let path = format!("/v0.2/search/100000001?near={near}");
        let response = world.client.get(200, &path).await;
        eins(&response).contains(&"100000001")
    };
    assert!(found("97201").await && !found("10001").await);
    let mut rows = shelters();
    rows[0] = rows[0].clone().with("ZIP", "10001").with("STATE", "NY");
    import(world, &rows).await;
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    assert!(!found("97201").await && found("10001").await);
    let line = r#"{"ein":"987654321","name":"Zquoxly","country":"Germany","zip":"10115"}"#;
    world.import_nonprofits(line).await.unwrap();
    world.app.refresh_directory().await.unwrap();
    let everywhere = world.client.get(200, "/v0.2/search/zquoxly").await;
    assert_eq!(eins(&everywhere), ["987654321"]);
    let near = world
        .client
        .get(200, "/v0.2/search/zquoxly?near=10001&radius=500")
        .await;
    assert!(
        items(&near).is_empty(),
        "a postal code of another country is no ZIP code"
    );
}

async fn invalid_places_are_refused_with_what_to_send_instead(world: &World) {
    world.load_demo().await;
    for route in ["/v0.2/search/a", "/v0.2/browse/animals"] {
        for (query, detail) in [
            ("near=Portland", "near has no ZIP code"),
            ("near=", "near has no ZIP code"),
            ("near=1,2,3", "near has no ZIP code"),
            ("near=00000", "There is no ZIP code 00000"),
            ("near=91,0", "latitude from -90 to 90"),
            ("near=0,181", "longitude from -180 to 180"),
            ("near=97201&radius=0", "from 1 to 500"),
            ("near=97201&radius=501", "from 1 to 500"),
            ("near=97201&radius=-3", "from 1 to 500"),
            ("near=97201&radius=", "from 1 to 500"),
            ("near=97201&radius=1e2", "from 1 to 500"),
            ("radius=10", "radius needs near"),
        ] {
            let response = world.client.get(400, &format!("{route}?{query}")).await;
            assert_eq!(response.code(), "invalid_parameter", "{query}");
            let found = response.json["detail"].as_str().unwrap();
            assert!(found.contains(detail), "{query}: {found}");
        }
    }
}

async fn results_without_a_place_have_no_distance(world: &World) {
    world.load_demo().await;
    for path in ["/v0.2/search/a", "/v0.2/browse/animals"] {
        let response = world.client.get(200, path).await;
        assert!(
            items(&response)
                .iter()
                .all(|item| item.get("distanceMiles").is_none())
        );
        let near = world
            .client
            .get(200, &format!("{path}?near=10001&radius=300"))
            .await;
        assert!(!items(&near).is_empty());
        assert!(items(&near).iter().all(|item| item["distanceMiles"].is_number()));
    }
}

async fn a_place_works_before_there_is_a_snapshot(world: &World) {
    let rows = nonprofit_rows(2);
    let rows = [
        rows[0].clone().with("ZIP", "97201"),
        rows[1].clone().with("ZIP", "10001"),
    ];
    world.import_irs(bmf(&rows)).await.unwrap();
    for snapshot in world.snapshots() {
        std::fs::remove_file(snapshot).unwrap();
    }
    let (app, client) = world.restart().await;
    assert!(app.directory.view().snapshot.is_none());
    let response = client.get(200, "/v0.2/search/shelter?near=97201").await;
    assert_eq!(eins(&response), ["100000001"]);
    assert_eq!(items(&response)[0]["distanceMiles"], 0);
    app.db.close().await;
}
