//! `causeway history`: what imports changed about a nonprofit.

use crate::cli::Cli;
use crate::files::{Row, bmf, nonprofit_row, nonprofit_rows};
use crate::returns::filed_return;
use crate::world::World;
use directory::history;
use directory::nonprofits::ein::Ein;
use std::time::Duration;

on_both_databases!(
    planted_changes_over_three_months_are_reported_and_nothing_else,
    a_profile_is_reported_field_by_field,
    a_first_import_has_no_history,
    an_import_that_fails_has_no_history,
);

/// The history of a nonprofit, oldest import first, as `kind field: old → new`.
async fn history(world: &World, ein: u32) -> Vec<String> {
    let mut entries = history::list(&world.app.db, Ein::new(ein).unwrap())
        .await
        .unwrap();
    entries.reverse();
    let mut lines = Vec::new();
    for entry in entries {
        assert_eq!(entry.files.len(), 1);
        assert!(!entry.changes.is_empty());
        for change in entry.changes {
            let value = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            lines.push(format!(
                "{} {}: {} → {}",
                entry.kind,
                change.field,
                value(change.old),
                value(change.new)
            ));
        }
    }
    lines
}

/// A file for the next month.
async fn import_month(world: &World, rows: &[Row]) {
    world.app.clock.advance(Duration::from_hours(30 * 24));
    let file = world.file("eo.csv", bmf(rows));
    world.import_irs_files(&[file], true).await.unwrap();
}

async fn planted_changes_over_three_months_are_reported_and_nothing_else(world: &World) {
    let january = nonprofit_rows(40);
    let mut february = january.clone();
    february[0] = february[0].clone().with("NAME", "HARBOR HOUSE");
    february[1] = february[1].clone().with("CITY", "KEENE").with("ZIP", "03431");
    february[2] = february[2]
        .clone()
        .with("REVENUE_AMT", "-7")
        .with("ASSET_AMT", "");
    february[3] = february[3]
        .clone()
        .with("NTEE_CD", "")
        .with("STATUS", "25")
        .with("SORT_NAME", "CHAPTER 9");
    // Leaves the files, and comes back with another city.
    let absent = february.remove(4);
    february.push(nonprofit_row("200000001", "NEW IN FEBRUARY"));
    let mut march = february.clone();
    march[0] = march[0].clone().with("NAME", "SHELTER 100000001 HOUSE");
    march[2] = march[2]
        .clone()
        .with("REVENUE_AMT", "8")
        .with("TAX_PERIOD", "202512");
    march.push(absent.with("CITY", "DOVER"));
    for month in [&january, &february, &march] {
        import_month(world, month).await;
    }
    let filed = filed_return("100000003", "2024-12-31")
        .revenue(8)
        .with("MissionDesc", "We keep the harbor clean for everyone.")
        .with("WebsiteAddressTxt", "harbor.example.org");
    let file = world.file("202513199349300001_public.xml", filed.xml());
    world.app.importer().import_returns(&[file]).await.unwrap();
    let line = r#"{"ein":"100000003","websiteUrl":"https://own.example.org"}"#;
    world.import_nonprofits(line).await.unwrap();

    assert_eq!(
        history(world, 100_000_001).await,
        [
            "irs name: SHELTER 100000001 HOUSE → HARBOR HOUSE",
            "irs slug: shelter-100000001-house → harbor-house",
            "irs name: HARBOR HOUSE → SHELTER 100000001 HOUSE",
            "irs slug: harbor-house → shelter-100000001-house",
        ]
    );
    assert_eq!(
        history(world, 100_000_002).await,
        ["irs city: CONCORD → KEENE", "irs zip: 03301 → 03431"]
    );
    assert_eq!(
        history(world, 100_000_003).await,
        [
            "irs assets: 125000 → -",
            "irs revenue: 64000 → -7",
            "irs revenue: -7 → 8",
            "irs taxPeriod: 202412 → 202512",
            "990 description: - → We keep the harbor clean for everyone.",
            "990 returns: - → 2024-12 990 (202513199349300001)",
            "990 websiteUrl: - → https://harbor.example.org",
            "nonprofits websiteUrl: - → https://own.example.org",
        ]
    );
    assert_eq!(
        history(world, 100_000_004).await,
        [
            "irs chapter: - → CHAPTER 9",
            "irs nteeCode: B70 → -",
            "irs status: 1 → 25"
        ]
    );
    assert_eq!(
        history(world, 100_000_005).await,
        [
            "irs gone: - → -",
            "irs city: CONCORD → DOVER",
            "irs returned: - → -"
        ]
    );
    assert_eq!(history(world, 200_000_001).await, ["irs added: - → -"]);
    let count = world
        .texts("select cast(count(*) as text) from nonprofit_history")
        .await;
    assert_eq!(count, ["21"], "nothing else is recorded");
    // An unchanged month adds nothing.
    import_month(world, &march).await;
    assert_eq!(
        world
            .texts("select cast(count(*) as text) from nonprofit_history")
            .await,
        count
    );
}

async fn a_profile_is_reported_field_by_field(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(3))).await.unwrap();
    let lines = [
        r#"{"ein":"100000001","name":"Harbor House","causes":["libraries"],"description":"One."}"#,
        r#"{"ein":"100000001","description":"Two.","city":"PARIS"}"#,
        r#"{"ein":"300000001","name":"Own","city":"Keene","state":"NH","revenue":5}"#,
        r#"{"ein":"300000001","city":"Dover"}"#,
    ];
    world.import_nonprofits(&lines.join("\n")).await.unwrap();
    world
        .import_nonprofits(r#"{"ein":"300000001","legalName":"OWN INC","revenue":6}"#)
        .await
        .unwrap();
    assert_eq!(
        history(world, 100_000_001).await,
        [
            "nonprofits causes: - → libraries",
            "nonprofits description: - → Two.",
            "nonprofits name: - → Harbor House",
            "nonprofits slug: shelter-100000001-house → harbor-house",
        ],
        "two lines of one import are one change, and the IRS data does not change"
    );
    assert_eq!(
        history(world, 300_000_001).await,
        [
            "nonprofits added: - → -",
            "nonprofits legalName: Own → OWN INC",
            "nonprofits revenue: 5 → 6",
        ]
    );
}

async fn a_first_import_has_no_history(world: &World) {
    world.load_demo().await;
    world.import_irs(bmf(&nonprofit_rows(50))).await.unwrap();
    assert_eq!(
        world.texts("select field from nonprofit_history").await,
        Vec::<String>::new()
    );
}

async fn an_import_that_fails_has_no_history(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(3))).await.unwrap();
    let lines = "{\"ein\":\"100000001\",\"description\":\"One.\"}\n{\"ein\":\"100000002\",\"causes\":[\"nonsense\"]}\n";
    world.import_nonprofits(lines).await.unwrap_err();
    assert_eq!(
        world.texts("select field from nonprofit_history").await,
        Vec::<String>::new()
    );
}

#[test]
fn the_command_shows_when_and_by_which_file_a_field_changed() {
    let cli = Cli::new();
    let rows = nonprofit_rows(3);
    cli.write("january.csv", bmf(&rows));
    cli.run(0, &["import", "irs", "january.csv"]);
    let moved = rows[0].clone().with("CITY", "KEENE");
    cli.write("february.csv", bmf(&[moved, rows[1].clone()]));
    cli.run(0, &["import", "irs", "february.csv", "--force"]);

    let json = cli.json(&["history", "10-0000001"]);
    assert_eq!(json["ein"], "100000001");
    let entry = &json["history"][0];
    assert_eq!((&entry["import"], &entry["revision"]), (&"irs".into(), &2.into()));
    assert_eq!(entry["files"][0]["name"], "february.csv");
    assert_eq!(entry["files"][0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(
        entry["changes"],
        serde_json::json!([{"field": "city", "old": "CONCORD", "new": "KEENE"}])
    );
    let text = cli.run(0, &["history", "shelter-100000001-house"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Shelter 100000001 House (100000001)");
    assert!(lines[1].ends_with("import irs: february.csv"), "{text}");
    assert_eq!(lines[2..], ["  city: CONCORD → KEENE"], "{text}");
    let gone = cli.run(0, &["history", "100000003"]).stdout;
    assert!(gone.ends_with("\n  no longer in the IRS files\n"), "{gone}");
    assert_eq!(
        cli.run(0, &["history", "100000002"]).stdout,
        "no import has changed Shelter 100000002 House (100000002) since it was added\n"
    );
    let unknown = cli.fail(&["history", "999999999"]);
    assert!(unknown.contains("not in the directory"), "{unknown}");
}
