//! `causeway import nonprofits`: profiles in addition to the IRS data.

use crate::files::{bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;
use ingest::Summary;

on_both_databases!(
    a_profile_is_updated_by_ein_or_id_and_shown_immediately,
    null_clears_a_field_and_an_omitted_field_stays,
    a_profile_survives_irs_imports,
    a_demo_nonprofit_in_an_irs_file_keeps_its_profile_and_slug,
    irs_data_is_not_overwritten,
    a_new_nonprofit_is_added_with_its_profile,
    an_invalid_line_is_refused_with_its_number_and_reason,
    one_bad_line_in_200_is_skipped_and_reported,
    importing_the_same_lines_again_changes_nothing,
    a_truncated_or_different_file_is_refused,
);

fn counts(summary: &Summary) -> [u64; 4] {
    [summary.new, summary.changed, summary.unchanged, summary.refused]
}

async fn a_profile_is_updated_by_ein_or_id_and_shown_immediately(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let snapshots = world.snapshots();
    let line = r#"{"ein":"020240383","name":"Granite Library","description":"Lends books.","descriptionLong":"One.\nTwo.",
        "websiteUrl":"https://library.example.org","causes":["libraries","Education"],"logoUrl":"https://library.example.org/logo.png"}"#;
    assert_eq!(
        counts(&world.import_nonprofits(&line.replace('\n', " ")).await.unwrap()),
        [0, 1, 0, 0]
    );
    assert_eq!(
        world.snapshots(),
        snapshots,
        "a small change needs no new snapshot"
    );
    assert_eq!(world.app.directory.view().overlay.len(), 1);
    let response = world.client.details(200, "granite-library").await;
    let nonprofit = response.nonprofit();
    assert_eq!(nonprofit["name"], "Granite Library");
    assert_eq!(nonprofit["description"], "Lends books.");
    assert!(nonprofit["descriptionLong"].as_str().unwrap().starts_with("One."));
    assert_eq!(nonprofit["websiteUrl"], "https://library.example.org");
    assert_eq!(nonprofit["logoUrl"], "https://library.example.org/logo.png");
    let tags = response.json["data"]["nonprofitTags"].as_array().unwrap();
    let mut tags: Vec<_> = tags.iter().map(|tag| tag["tagName"].as_str().unwrap()).collect();
    tags.sort_unstable();
    assert_eq!(tags, ["education", "libraries"]);

    let line = format!(
        r#"{{"id":{},"description":"Lends books and tools."}}"#,
        nonprofit["id"]
    );
    assert_eq!(
        counts(&world.import_nonprofits(&line).await.unwrap()),
        [0, 1, 0, 0]
    );
    let again = world.client.details(200, "020240383").await;
    assert_eq!(again.nonprofit()["description"], "Lends books and tools.");
    assert_eq!(again.nonprofit()["websiteUrl"], "https://library.example.org");
    // The slug of the legal name still works.
    assert_eq!(
        world.client.details(200, "granite-town-library").await.body,
        again.body
    );
}

async fn null_clears_a_field_and_an_omitted_field_stays(world: &World) {
    world.load_demo().await;
    let before = world.client.details(200, "530196605").await;
    let line =
        r#"{"ein":"530196605","websiteUrl":null,"descriptionLong":null,"description":" ","causes":null}"#;
    assert_eq!(
        counts(&world.import_nonprofits(line).await.unwrap()),
        [0, 1, 0, 0]
    );
    let after = world.client.details(200, "530196605").await;
    let nonprofit = after.nonprofit().as_object().unwrap();
    assert!(!nonprofit.contains_key("websiteUrl"));
    assert!(nonprofit["descriptionLong"].is_null());
    assert!(
        nonprofit["description"]
            .as_str()
            .unwrap()
            .contains("Washington, DC")
    );
    assert_eq!(nonprofit["name"], before.nonprofit()["name"]);
    assert!(
        !after.json["data"]["nonprofitTags"].as_array().unwrap().is_empty(),
        "causes are derived from the NTEE code again"
    );
    assert_eq!(
        counts(&world.import_nonprofits(line).await.unwrap()),
        [0, 0, 1, 0]
    );
}

async fn a_profile_survives_irs_imports(world: &World) {
    let rows = nonprofit_rows(20);
    world.import_irs(bmf(&rows)).await.unwrap();
    let line = r#"{"ein":"100000003","name":"Harbor House","websiteUrl":"https://harbor.example.org"}"#;
    world.import_nonprofits(line).await.unwrap();
    assert_eq!(world.import_irs(bmf(&rows)).await.unwrap().total_changes(), 0);
    let moved: Vec<_> = rows.iter().map(|row| row.clone().with("CITY", "KEENE")).collect();
    assert_eq!(world.import_irs(bmf(&moved)).await.unwrap().changed, 20);
    let response = world.client.details(200, "harbor-house").await;
    assert_eq!(response.nonprofit()["name"], "Harbor House");
    assert_eq!(response.nonprofit()["locationAddress"], "Keene, NH");
    assert_eq!(response.nonprofit()["primarySlug"], "harbor-house");
}

async fn a_demo_nonprofit_in_an_irs_file_keeps_its_profile_and_slug(world: &World) {
    world.load_demo().await;
    let before = world.client.details(200, "530196605").await;
    let filed = nonprofit_row("530196605", "AMERICAN NATIONAL RED CROSS")
        .with("CITY", "WASHINGTON")
        .with("STATE", "DC");
    let summary = world.import_irs(bmf(&[filed])).await.unwrap();
    assert_eq!((summary.new, summary.changed, summary.gone), (0, 1, 0));
    let after = world.client.details(200, "american-red-cross").await;
    for field in ["id", "name", "primarySlug", "description", "websiteUrl"] {
        assert_eq!(after.nonprofit()[field], before.nonprofit()[field], "{field}");
    }
}

async fn irs_data_is_not_overwritten(world: &World) {
    world
        .import_irs(bmf(&[nonprofit_row("020240383", "GRANITE TOWN LIBRARY")]))
        .await
        .unwrap();
    let line =
        r#"{"ein":"020240383","city":"Paris","state":"TX","nteeCode":"C30","revenue":99,"description":"x"}"#;
    world.import_nonprofits(line).await.unwrap();
    let response = world.client.details(200, "020240383").await;
    assert_eq!(response.nonprofit()["locationAddress"], "Concord, NH");
    assert_eq!(response.nonprofit()["nteeCode"], "B70");
}

async fn a_new_nonprofit_is_added_with_its_profile(world: &World) {
    let line = r#"{"ein":"020240383","name":"Granite Library","city":"Concord","state":"nh","zip":"03301","nteeCode":"b70","subsection":3,"deductible":true}"#;
    assert_eq!(
        counts(&world.import_nonprofits(line).await.unwrap()),
        [1, 0, 0, 0]
    );
    let response = world.client.details(200, "granite-library").await;
    assert_eq!(response.nonprofit()["ein"], "020240383");
    assert_eq!(response.nonprofit()["nteeCode"], "B70");
    assert_eq!(response.nonprofit()["locationAddress"], "Concord, NH");
    assert_eq!(response.nonprofit()["isDisbursable"], true);
}

async fn an_invalid_line_is_refused_with_its_number_and_reason(world: &World) {
    world.load_demo().await;
    let before = world.dump().await;
    for (line, reason) in [
        (
            r#"{"ein":"530196605","causes":["nonsense"]}"#,
            "there is no cause \"nonsense\"",
        ),
        (
            r#"{"ein":"000000042","description":"x"}"#,
            "set its name to add it",
        ),
        (r#"{"name":"Nobody"}"#, "ein or id is required"),
        (
            r#"{"ein":"530196605","id":"0b6b9e0e-6b0f-4e5e-9a52-0d6f5d2d8f10","description":"x"}"#,
            "belong to different nonprofits",
        ),
        (
            r#"{"ein":"530196605","websiteUrl":"javascript:alert(1)"}"#,
            "websiteUrl must be a URL",
        ),
        (r#"{"ein":"530196605","name":null}"#, "name cannot be empty"),
        (
            r#"{"ein":"530196605","logo":"data:image/png;base64,AAAA"}"#,
            "logo: this is not a PNG, JPEG or WebP picture",
        ),
        (r#"{"ein":"530196605",}"#, "not JSON"),
        ("42", "not a JSON object"),
    ] {
        let error = world
            .import_nonprofits(&format!("{line}\n"))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 1") && error.contains(reason),
            "{line}: {error}"
        );
        assert_eq!(world.dump().await, before, "{line}");
        world.app.clock.advance(std::time::Duration::from_secs(1));
    }
    assert_eq!(world.reports().len(), 9);
}

async fn one_bad_line_in_200_is_skipped_and_reported(world: &World) {
    let good = (1..200).map(|number| {
        format!(
            "{{\"ein\":\"{:09}\",\"name\":\"Nonprofit {number}\"}}\n",
            20_000_000 + number
        )
    });
    let lines: String = good.chain(["{\"ein\":\"530196605\"}\n".to_owned()]).collect();
    let summary = world.import_nonprofits(&lines).await.unwrap();
    assert_eq!(counts(&summary), [199, 0, 0, 1]);
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    assert!(
        report.contains("line 200: this nonprofit is not in the directory"),
        "{report}"
    );
    // The import continues after the refused line on both databases.
    world.client.details(200, "nonprofit-199").await;
}

async fn importing_the_same_lines_again_changes_nothing(world: &World) {
    world.load_demo().await;
    let once = world.dump().await;
    let summary = world.app.importer().import_demo().await.unwrap();
    assert_eq!(summary.total_changes(), 0);
    assert_eq!(world.dump().await, once);
}

async fn a_truncated_or_different_file_is_refused(world: &World) {
    for (content, reason) in [
        (r#"{"ein":"530196605","name":"Am"#, "is truncated in line 1"),
        ("[{\"ein\":\"530196605\"}]", "is a JSON array"),
        ("", "is empty"),
    ] {
        let error = world.import_nonprofits(content).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(world.imports().await, 0);
}
