//! `causeway import`

use crate::cli::Cli;
use crate::files::{bmf, generated, nonprofit_row, nonprofit_rows};

#[test]
fn an_import_reports_its_summary_as_one_json_object() {
    let cli = Cli::new();
    cli.write("eo.csv", generated(200, 1));
    let first = cli.json(&["import", "irs", "eo.csv"]);
    assert_eq!(
        (&first["new"], &first["lines"], &first["revision"]),
        (&200.into(), &200.into(), &1.into())
    );
    assert_eq!(first["files"][0]["name"], "eo.csv");
    assert_eq!(first["files"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(first["snapshotSeconds"].is_number());
    let again = cli.json(&["import", "irs", "eo.csv"]);
    assert_eq!(
        (&again["new"], &again["changed"], &again["unchanged"]),
        (&0.into(), &0.into(), &200.into())
    );
}

#[test]
fn a_repeated_import_reports_that_nothing_changed() {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&nonprofit_rows(20)));
    assert!(
        cli.run(0, &["import", "irs", "eo.csv"])
            .stdout
            .starts_with("20 new, 0 changed, 0 gone, 0 unchanged")
    );
    let again = cli.run(0, &["import", "irs", "eo.csv"]).stdout;
    assert!(
        again.starts_with("nothing changed; 20 rows are unchanged"),
        "{again}"
    );
}

#[test]
fn refused_lines_are_listed_in_the_report() {
    let cli = Cli::new();
    let mut rows = nonprofit_rows(400);
    rows.push(nonprofit_row("100000001", "AN IMPOSTOR"));
    cli.write("eo.csv", bmf(&rows));
    let stdout = cli.run(0, &["import", "irs", "eo.csv"]).stdout;
    assert!(stdout.contains("1 refused"), "{stdout}");
    let report = stdout.lines().last().unwrap().rsplit(' ').next().unwrap();
    assert!(
        std::fs::read_to_string(report).unwrap().contains("line 402"),
        "{stdout}"
    );
}

#[test]
fn a_bad_file_is_reported_with_the_reason_and_what_to_do() {
    let cli = Cli::new();
    cli.write("empty.csv", "");
    cli.write("wrong.csv", "a,b,c\n1,2,3\n");
    let complete = bmf(&nonprofit_rows(20));
    cli.write("cut.csv", &complete[..complete.len() - 60]);
    cli.write(
        "bad.csv",
        bmf(&[
            nonprofit_row("0", "NO EIN"),
            nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        ]),
    );
    cli.write("bad.jsonl", "{\"ein\":\"530196605\",\"causes\":[\"nonsense\"]}\n");
    for file in ["empty.csv", "wrong.csv", "cut.csv", "bad.csv", "missing.csv", "."] {
        let error = cli.fail(&["import", "irs", file]);
        assert!(error.contains(file), "{error}");
    }
    let error = cli.fail(&["import", "nonprofits", "bad.jsonl"]);
    assert!(error.contains("nonsense"), "{error}");
    cli.write("eo.csv", bmf(&nonprofit_rows(100)));
    cli.run(0, &["import", "irs", "eo.csv"]);
    cli.write("eo.csv", bmf(&nonprofit_rows(50)));
    assert!(cli.fail(&["import", "irs", "eo.csv"]).contains("--force"));
    assert_eq!(cli.json(&["import", "irs", "eo.csv", "--force"])["gone"], 50);
}

#[test]
fn profiles_are_imported_from_json_lines() {
    let cli = Cli::new();
    cli.write(
        "more.jsonl",
        "{\"ein\":\"020240383\",\"name\":\"Granite Library\",\"causes\":[\"libraries\"]}\n",
    );
    assert_eq!(cli.json(&["import", "nonprofits", "more.jsonl"])["new"], 1);
    assert_eq!(cli.json(&["import", "nonprofits", "more.jsonl"])["unchanged"], 1);
}
