//! Imports that are refused: too many nonprofits missing, or too many bad rows.

use crate::files::{bmf, nonprofit_row, nonprofit_rows};
use crate::world::World;

on_both_databases!(
    a_file_that_drops_more_than_5_percent_is_refused_unless_forced,
    a_file_may_drop_exactly_5_percent,
    nonprofits_never_listed_by_the_irs_do_not_count_as_gone,
    more_than_5_bad_rows_in_1000_stop_the_import_with_a_report,
    up_to_5_bad_rows_in_1000_are_reported_and_the_rest_is_imported,
    a_nonprofit_with_a_bad_row_does_not_count_as_gone,
    a_duplicate_ein_is_refused_with_both_line_numbers,
    an_ein_in_two_files_is_refused_with_the_name_of_the_first,
    the_same_file_given_twice_is_refused,
);

async fn a_file_that_drops_more_than_5_percent_is_refused_unless_forced(world: &World) {
    let rows = nonprofit_rows(100);
    world.import_irs(bmf(&rows)).await.unwrap();
    let before = world.dump().await;
    let error = world.import_irs(bmf(&rows[..94])).await.unwrap_err().to_string();
    assert!(
        error.contains("6 of 100") && error.contains("5%") && error.contains("--force"),
        "{error}"
    );
    assert_eq!(world.dump().await, before);
    assert_eq!(world.imports().await, 1);
    let forced = world
        .import_irs_files(&[world.file("eo.csv", bmf(&rows[..94]))], true)
        .await
        .unwrap();
    assert_eq!((forced.gone, forced.unchanged), (6, 94));
}

async fn a_file_may_drop_exactly_5_percent(world: &World) {
    let rows = nonprofit_rows(100);
    world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(world.import_irs(bmf(&rows[..95])).await.unwrap().gone, 5);
    // The share refers to what is listed now: of 95 nonprofits 4 may be missing, but not 5.
    let error = world.import_irs(bmf(&rows[..90])).await.unwrap_err().to_string();
    assert!(error.contains("5 of 95"), "{error}");
    assert_eq!(world.import_irs(bmf(&rows[..91])).await.unwrap().gone, 4);
}

async fn nonprofits_never_listed_by_the_irs_do_not_count_as_gone(world: &World) {
    world.load_demo().await;
    let summary = world.import_irs(bmf(&nonprofit_rows(10))).await.unwrap();
    assert_eq!((summary.new, summary.gone), (10, 0));
    assert_eq!(
        world.client.details(200, "530196605").await.nonprofit()["isDisbursable"],
        true
    );
}

async fn more_than_5_bad_rows_in_1000_stop_the_import_with_a_report(world: &World) {
    let mut rows = nonprofit_rows(1_000);
    world.import_irs(bmf(&rows)).await.unwrap();
    let before = world.dump().await;
    for row in rows.iter_mut().take(6) {
        *row = row.clone().with("EIN", "no number");
    }
    rows.push(nonprofit_row("020240383", "GRANITE TOWN LIBRARY"));
    let error = world.import_irs(bmf(&rows)).await.unwrap_err().to_string();
    assert!(
        error.contains("6 of 1001 lines are invalid") && error.contains("line 2"),
        "{error}"
    );
    assert_eq!(world.dump().await, before);
    assert_eq!(world.imports().await, 1);
    world.client.details(404, "020240383").await;
    let [report] = world.reports().try_into().unwrap();
    assert!(
        error.contains(report.to_str().unwrap()),
        "the error does not name the report: {error}"
    );
    let report = std::fs::read_to_string(report).unwrap();
    assert_eq!(report.lines().count(), 6, "{report}");
    assert!(
        report.lines().all(|line| line.contains("EIN is not a number")),
        "{report}"
    );
    assert!(
        !report.contains("no number"),
        "the report contains a value: {report}"
    );
}

async fn up_to_5_bad_rows_in_1000_are_reported_and_the_rest_is_imported(world: &World) {
    let mut rows = nonprofit_rows(1_000);
    for row in rows.iter_mut().take(5) {
        *row = row.clone().with("NAME", "");
    }
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!((summary.new, summary.refused, summary.lines), (995, 5, 1_000));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    for (index, line) in report.lines().enumerate() {
        assert!(
            line.ends_with(&format!("eo.csv: line {}: NAME is empty", index + 2)),
            "{line}"
        );
    }
}

async fn a_nonprofit_with_a_bad_row_does_not_count_as_gone(world: &World) {
    let mut rows = nonprofit_rows(400);
    world.import_irs(bmf(&rows)).await.unwrap();
    rows[0] = rows[0].clone().with("STATE", "NEW HAMPSHIRE");
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(
        (summary.refused, summary.gone),
        (1, 0),
        "a refused row still has an EIN"
    );
}

async fn a_duplicate_ein_is_refused_with_both_line_numbers(world: &World) {
    let mut rows = nonprofit_rows(300);
    rows.push(nonprofit_row("100000001", "AN IMPOSTOR"));
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!((summary.new, summary.refused), (300, 1));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    assert!(
        report.contains("line 302: EIN 100000001 is already on line 2 of"),
        "{report}"
    );
    assert_eq!(
        world.client.details(200, "100000001").await.nonprofit()["name"],
        "Shelter 100000001 House"
    );
}

async fn an_ein_in_two_files_is_refused_with_the_name_of_the_first(world: &World) {
    let files = [
        world.file("eo1.csv", bmf(&nonprofit_rows(300))),
        world.file(
            "eo2.csv",
            bmf(&[
                nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
                nonprofit_row("100000007", "AN IMPOSTOR"),
            ]),
        ),
    ];
    let summary = world.import_irs_files(&files, false).await.unwrap();
    assert_eq!((summary.new, summary.refused), (301, 1));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    assert!(
        report.contains("eo2.csv: line 3: EIN 100000007 is already on line 8 of"),
        "{report}"
    );
    assert!(report.contains("eo1.csv;"), "{report}");
    assert_eq!(
        world.client.details(200, "100000007").await.nonprofit()["name"],
        "Shelter 100000007 House"
    );
}

async fn the_same_file_given_twice_is_refused(world: &World) {
    let file = world.file("eo.csv", bmf(&nonprofit_rows(10)));
    let error = world
        .import_irs_files(&[file.clone(), file], false)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("10 of 20 lines are invalid"), "{error}");
    assert_eq!(world.imports().await, 0);
}
