//! `causeway import`

use crate::cli::Shell;
use crate::files::{bmf, bodies, body, generated};

#[test]
fn an_import_tells_what_it_did_in_one_json_object() {
    let shell = Shell::new();
    shell.write("eo.csv", generated(200, 1));
    let first = shell.json(&["import", "irs", "eo.csv"]);
    assert_eq!(
        (&first["new"], &first["lines"], &first["revision"]),
        (&200.into(), &200.into(), &1.into())
    );
    assert_eq!(first["files"][0]["name"], "eo.csv");
    assert_eq!(first["files"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(first["snapshotSeconds"].is_number());
    let again = shell.json(&["import", "irs", "eo.csv"]);
    assert_eq!(
        (&again["new"], &again["changed"], &again["unchanged"]),
        (&0.into(), &0.into(), &200.into())
    );
}

#[test]
fn an_import_again_says_that_nothing_changed() {
    let shell = Shell::new();
    shell.write("eo.csv", bmf(&bodies(20)));
    assert!(
        shell
            .run(0, &["import", "irs", "eo.csv"])
            .out
            .starts_with("20 new, 0 changed, 0 gone, 0 unchanged")
    );
    let again = shell.run(0, &["import", "irs", "eo.csv"]).out;
    assert!(
        again.starts_with("nothing changed: 20 rows are as they were"),
        "{again}"
    );
}

#[test]
fn refused_lines_are_named_by_their_report() {
    let shell = Shell::new();
    let mut rows = bodies(400);
    rows.push(body("100000001", "AN IMPOSTOR"));
    shell.write("eo.csv", bmf(&rows));
    let said = shell.run(0, &["import", "irs", "eo.csv"]).out;
    assert!(said.contains("1 refused"), "{said}");
    let report = said.lines().last().unwrap().rsplit(' ').next().unwrap();
    assert!(
        std::fs::read_to_string(report).unwrap().contains("line 402"),
        "{said}"
    );
}

#[test]
fn each_bad_file_is_one_line_why_and_one_line_what_to_do() {
    let shell = Shell::new();
    shell.write("empty.csv", "");
    shell.write("wrong.csv", "a,b,c\n1,2,3\n");
    let whole = bmf(&bodies(20));
    shell.write("cut.csv", &whole[..whole.len() - 60]);
    shell.write(
        "bad.csv",
        bmf(&[body("0", "NOBODY"), body("020240383", "GRANITE TOWN LIBRARY")]),
    );
    shell.write("bad.jsonl", "{\"ein\":\"530196605\",\"causes\":[\"nonsense\"]}\n");
    for file in ["empty.csv", "wrong.csv", "cut.csv", "bad.csv", "missing.csv", "."] {
        let fault = shell.fail(&["import", "irs", file]);
        assert!(fault.contains(file), "{fault}");
    }
    let fault = shell.fail(&["import", "nonprofits", "bad.jsonl"]);
    assert!(fault.contains("nonsense"), "{fault}");
    shell.write("eo.csv", bmf(&bodies(100)));
    shell.run(0, &["import", "irs", "eo.csv"]);
    shell.write("eo.csv", bmf(&bodies(50)));
    assert!(shell.fail(&["import", "irs", "eo.csv"]).contains("--force"));
    assert_eq!(shell.json(&["import", "irs", "eo.csv", "--force"])["gone"], 50);
}

#[test]
fn profiles_are_imported_from_json_lines() {
    let shell = Shell::new();
    shell.write(
        "more.jsonl",
        "{\"ein\":\"020240383\",\"name\":\"Granite Library\",\"causes\":[\"libraries\"]}\n",
    );
    assert_eq!(shell.json(&["import", "nonprofits", "more.jsonl"])["new"], 1);
    assert_eq!(
        shell.json(&["import", "nonprofits", "more.jsonl"])["unchanged"],
        1
    );
}
