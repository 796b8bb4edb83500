//! `causeway match`

use super::Cli;
use crate::files::{bmf, nonprofit_row};
use serde_json::{Value, json};

fn imported() -> Cli {
    let cli = Cli::new();
    let rows = [
        nonprofit_row("020240383", "GRANITE TOWN LIBRARY"),
        nonprofit_row("020240391", "GRANITE ANIMAL SHELTER"),
    ];
    cli.write("eo.csv", bmf(&rows));
    cli.run(0, &["import", "irs", "eo.csv"]);
    cli
}

const LIST: &str = "\u{feff}Row ID,Organization Name,City,State,Note\n\
                    1,granite town library,Concord,NH,\"a, b\"\n\
                    2,Granite Animals,,,short\n\
                    3,Blue Whale Rescue\n";

#[test]
fn a_csv_file_gets_columns_with_the_best_candidate() {
    let cli = imported();
    cli.write("list.csv", LIST);
    let output = cli.run(0, &["match", "list.csv"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(
        lines[0].trim_start_matches('\u{feff}'),
        "Row ID,Organization Name,City,State,Note,\
         match,match_score,match_id,match_ein,match_name,match_slug,match_location,match_reasons"
    );
    assert!(lines[1].starts_with("1,granite town library,Concord,NH,\"a, b\",yes,100,"));
    assert!(lines[1].ends_with(
        ",020240383,Granite Town Library,granite-town-library,\"Concord, NH\",name equal; same city; same state"
    ));
    assert!(
        lines[2].starts_with("2,Granite Animals,,,short,no,"),
        "{}",
        lines[2]
    );
    assert_eq!(lines[3], "3,Blue Whale Rescue,,,,no,,,,,,,");
    assert!(
        output
            .stderr
            .contains("3 rows: 1 matched, 1 uncertain, 1 not found"),
        "{}",
        output.stderr
    );
}

#[test]
fn json_lines_have_all_candidates_and_the_summary_is_json() {
    let cli = imported();
    cli.write("list.csv", LIST);
    let summary = cli.json(&["match", "list.csv", "--format", "jsonl", "--output", "out.jsonl"]);
    assert_eq!(
        summary,
        json!({"rows": 3, "matched": 1, "uncertain": 1, "notFound": 1})
    );
    let written = std::fs::read_to_string(cli.path().join("out.jsonl")).unwrap();
    let rows: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (&rows[0]["row"], &rows[0]["id"], &rows[0]["match"]),
        (&json!(1), &json!("1"), &json!(true))
    );
    assert_eq!(rows[0]["candidates"][0]["ein"], "020240383");
    assert_eq!(
        rows[2],
        json!({"row": 3, "id": "3", "match": false, "candidates": []})
    );
}

#[test]
fn a_file_without_names_is_refused() {
    let cli = imported();
    cli.write("list.csv", "city,state\nConcord,NH\n");
    let error = cli.fail(&["match", "list.csv"]);
    assert!(error.contains("has no column with names or EINs"), "{error}");
    let error = cli.fail(&["match", "missing.csv"]);
    assert!(error.contains("could not read missing.csv"), "{error}");
}
