//! When an import is refused as a whole: too many gone, too many bad rows.

use crate::files::{bmf, bodies, body};
use crate::world::World;

on_both_databases!(
    a_file_that_loses_over_five_in_a_hundred_is_refused_unless_forced,
    exactly_five_in_a_hundred_may_leave,
    bodies_that_no_file_of_the_irs_ever_named_do_not_count_as_gone,
    over_five_bad_rows_in_a_thousand_end_the_import_and_leave_a_report,
    five_bad_rows_in_a_thousand_are_reported_and_the_rest_is_taken,
    a_body_whose_row_is_bad_this_time_is_not_taken_for_gone,
    an_ein_that_stands_twice_is_refused_with_both_lines,
    an_ein_that_stands_in_two_files_is_refused_with_the_name_of_the_first,
    the_same_file_given_twice_is_refused,
);

async fn a_file_that_loses_over_five_in_a_hundred_is_refused_unless_forced(world: &World) {
    let rows = bodies(100);
    world.import_irs(bmf(&rows)).await.unwrap();
    let before = world.dump().await;
    let fault = world.import_irs(bmf(&rows[..94])).await.unwrap_err().to_string();
    assert!(
        fault.contains("6 of 100") && fault.contains("5 %") && fault.contains("--force"),
        "{fault}"
    );
    assert_eq!(world.dump().await, before);
    assert_eq!(world.imports().await, 1);
    let forced = world
        .import_irs_files(&[world.file("eo.csv", bmf(&rows[..94]))], true)
        .await
        .unwrap();
    assert_eq!((forced.gone, forced.unchanged), (6, 94));
}

async fn exactly_five_in_a_hundred_may_leave(world: &World) {
    let rows = bodies(100);
    world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(world.import_irs(bmf(&rows[..95])).await.unwrap().gone, 5);
    // Counted from what is listed now: four of ninety-five may leave next, five may not.
    let fault = world.import_irs(bmf(&rows[..90])).await.unwrap_err().to_string();
    assert!(fault.contains("5 of 95"), "{fault}");
    assert_eq!(world.import_irs(bmf(&rows[..91])).await.unwrap().gone, 4);
}

async fn bodies_that_no_file_of_the_irs_ever_named_do_not_count_as_gone(world: &World) {
    world.load_demo().await;
    let summary = world.import_irs(bmf(&bodies(10))).await.unwrap();
    assert_eq!((summary.new, summary.gone), (10, 0));
    assert_eq!(
        world.client.details(200, "530196605").await.nonprofit()["isDisbursable"],
        true
    );
}

async fn over_five_bad_rows_in_a_thousand_end_the_import_and_leave_a_report(world: &World) {
    let mut rows = bodies(1_000);
    world.import_irs(bmf(&rows)).await.unwrap();
    let before = world.dump().await;
    for row in rows.iter_mut().take(6) {
        *row = row.clone().with("EIN", "no number");
    }
    rows.push(body("020240383", "GRANITE TOWN LIBRARY"));
    let fault = world.import_irs(bmf(&rows)).await.unwrap_err().to_string();
    assert!(
        fault.contains("6 of 1001 lines are bad") && fault.contains("line 2"),
        "{fault}"
    );
    assert_eq!(world.dump().await, before);
    assert_eq!(world.imports().await, 1);
    world.client.details(404, "020240383").await;
    let [report] = world.reports().try_into().unwrap();
    assert!(
        fault.contains(report.to_str().unwrap()),
        "the operator is not told where the report is: {fault}"
    );
    let report = std::fs::read_to_string(report).unwrap();
    assert_eq!(report.lines().count(), 6, "{report}");
    assert!(
        report.lines().all(|line| line.contains("EIN is not a number")),
        "{report}"
    );
    assert!(
        !report.contains("no number"),
        "a report repeats no value: {report}"
    );
}

async fn five_bad_rows_in_a_thousand_are_reported_and_the_rest_is_taken(world: &World) {
    let mut rows = bodies(1_000);
    for row in rows.iter_mut().take(5) {
        *row = row.clone().with("NAME", "");
    }
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!((summary.new, summary.refused, summary.lines), (995, 5, 1_000));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    for (place, line) in report.lines().enumerate() {
        assert!(
            line.ends_with(&format!("eo.csv: line {}: NAME is empty", place + 2)),
            "{line}"
        );
    }
}

async fn a_body_whose_row_is_bad_this_time_is_not_taken_for_gone(world: &World) {
    let mut rows = bodies(400);
    world.import_irs(bmf(&rows)).await.unwrap();
    rows[0] = rows[0].clone().with("STATE", "NEW HAMPSHIRE");
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!(
        (summary.refused, summary.gone),
        (1, 0),
        "a refused row still names its EIN"
    );
}

async fn an_ein_that_stands_twice_is_refused_with_both_lines(world: &World) {
    let mut rows = bodies(300);
    rows.push(body("100000001", "AN IMPOSTOR"));
    let summary = world.import_irs(bmf(&rows)).await.unwrap();
    assert_eq!((summary.new, summary.refused), (300, 1));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    assert!(
        report.contains("line 302: EIN 100000001 stands on line 2 of"),
        "{report}"
    );
    assert_eq!(
        world.client.details(200, "100000001").await.nonprofit()["name"],
        "Shelter 100000001 House"
    );
}

async fn an_ein_that_stands_in_two_files_is_refused_with_the_name_of_the_first(world: &World) {
    let files = [
        world.file("eo1.csv", bmf(&bodies(300))),
        world.file(
            "eo2.csv",
            bmf(&[
                body("020240383", "GRANITE TOWN LIBRARY"),
                body("100000007", "AN IMPOSTOR"),
            ]),
        ),
    ];
    let summary = world.import_irs_files(&files, false).await.unwrap();
    assert_eq!((summary.new, summary.refused), (301, 1));
    let report = std::fs::read_to_string(summary.report.unwrap()).unwrap();
    assert!(
        report.contains("eo2.csv: line 3: EIN 100000007 stands on line 8 of"),
        "{report}"
    );
    assert!(report.contains("eo1.csv already"), "{report}");
    assert_eq!(
        world.client.details(200, "100000007").await.nonprofit()["name"],
        "Shelter 100000007 House"
    );
}

async fn the_same_file_given_twice_is_refused(world: &World) {
    let file = world.file("eo.csv", bmf(&bodies(10)));
    let fault = world
        .import_irs_files(&[file.clone(), file], false)
        .await
        .unwrap_err()
        .to_string();
    assert!(fault.contains("10 of 20 lines are bad"), "{fault}");
    assert_eq!(world.imports().await, 0);
}
