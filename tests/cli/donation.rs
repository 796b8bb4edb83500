//! `causeway donation`

use super::Cli;
use crate::files::{bmf, nonprofit_rows};
use serde_json::Value;

const NONPROFIT: &str = "100000001";

/// A data folder with a directory of three nonprofits.
fn cli_with_directory() -> Cli {
    let cli = Cli::new();
    cli.write("eo.csv", bmf(&nonprofit_rows(3)));
    cli.run(0, &["import", "irs", "eo.csv"]);
    cli
}

fn record<'a>(external_id: &'a str, amount: &'a str) -> Vec<&'a str> {
    vec![
        "donation",
        "record",
        "--nonprofit",
        NONPROFIT,
        "--amount",
        amount,
        "--donor",
        "d-1",
        "--external-id",
        external_id,
    ]
}

fn exported_entries(cli: &Cli) -> Vec<Value> {
    let stdout = cli.run(0, &["donation", "export"]).stdout;
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_donation_is_recorded_once_and_refunded_once() {
    let cli = cli_with_directory();
    let first = cli.json(&record("p-1", "2500"));
    assert_eq!(
        (&first["entry"], &first["new"], &first["amount"]),
        (&1.into(), &true.into(), &2_500.into())
    );
    assert_eq!(cli.json(&record("p-1", "2500"))["new"], false);
    let conflict = cli.fail(&record("p-1", "2501"));
    assert!(conflict.contains("entry 1, a donation of $25.00"), "{conflict}");
    let refund = ["donation", "refund", "--external-id", "p-1"];
    let part = [&refund[..], &["--amount", "500"]].concat();
    assert_eq!(cli.json(&part)["amount"], -500);
    assert_eq!(cli.json(&part)["new"], false);
    let another = cli.fail(&[&refund[..], &["--amount", "600"]].concat());
    assert!(another.contains("entry 2, a refund of $5.00"), "{another}");
    let unnamed = cli.fail(&refund);
    assert!(
        unnamed.contains("$20.00 is left") && unnamed.contains("--refund-id"),
        "{unnamed}"
    );
    let rest = [&refund[..], &["--refund-id", "r-2"]].concat();
    assert_eq!(cli.json(&rest)["amount"], -2_000);
    assert_eq!(cli.json(&rest)["new"], false);
    assert!(
        cli.fail(&[&refund[..], &["--refund-id", "r-3"]].concat())
            .contains("$0.00")
    );
    let sum: i64 = exported_entries(&cli)
        .iter()
        .map(|entry| entry["amount"].as_i64().unwrap())
        .sum();
    assert_eq!(sum, 0);
    assert_eq!(cli.json(&["check"])["entries"], 3);
}

#[test]
fn a_donor_name_is_private_unless_the_donor_agreed() {
    let cli = cli_with_directory();
    cli.run(0, &[&record("p-1", "5")[..], &["--name", "Ana"]].concat());
    cli.run(
        0,
        &[&record("p-2", "5")[..], &["--name", "Ben", "--public"]].concat(),
    );
    cli.run(0, &record("p-3", "5"));
    cli.run(2, &[&record("p-4", "5")[..], &["--public"]].concat());
    let names: Vec<_> = exported_entries(&cli)
        .iter()
        .map(|entry| (entry["name"].clone(), entry["nameIsPublic"].clone()))
        .collect();
    assert_eq!(
        names,
        [
            ("Ana".into(), false.into()),
            ("Ben".into(), true.into()),
            (Value::Null, Value::Null)
        ]
    );
}

#[test]
fn donations_are_live_unless_they_are_recorded_as_tests() {
    let cli = cli_with_directory();
    assert_eq!(cli.json(&record("p-1", "2500"))["mode"], "live");
    let test = [&record("t-1", "900")[..], &["--test"]].concat();
    assert_eq!(cli.json(&test)["mode"], "test");
    assert!(
        cli.run(0, &test)
            .stdout
            .starts_with("test donation of $9.00 was already recorded")
    );
    let conflict = cli.fail(&record("t-1", "900"));
    assert!(
        conflict.contains("entry 2, a test donation of $9.00"),
        "{conflict}"
    );
    let refund = ["donation", "refund", "--external-id", "t-1"];
    assert_eq!(cli.json(&refund)["mode"], "test");
    let line = format!(r#"{{"nonprofit":"{NONPROFIT}","amount":5,"donor":"d","externalId":"p-2"}}"#);
    cli.write("donations.jsonl", &line);
    cli.run(0, &["donation", "import", "donations.jsonl"]);
    cli.write("tests.jsonl", line.replace("p-2", "t-2"));
    cli.run(0, &["donation", "import", "--test", "tests.jsonl"]);
    let modes: Vec<Value> = exported_entries(&cli)
        .iter()
        .map(|entry| entry["mode"].clone())
        .collect();
    assert_eq!(modes, ["live", "test", "test", "live", "test"]);
    let csv = cli.run(0, &["donation", "export", "--csv"]).stdout;
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    let column = csv
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "mode")
        .unwrap();
    let modes: Vec<String> = csv.records().map(|row| row.unwrap()[column].to_owned()).collect();
    assert_eq!(modes, ["live", "test", "test", "live", "test"]);
    let check = cli.json(&["check"]);
    assert_eq!(check["entries"], 5);
}

#[test]
fn the_source_of_our_own_pages_is_reserved() {
    let cli = cli_with_directory();
    let site = [&record("p-1", "5")[..], &["--source", "site"]].concat();
    let error = cli.fail(&site);
    assert!(
        error.contains("the source site is reserved for donations made at our own checkout")
            && error.contains("choose another source"),
        "{error}"
    );
    let line = format!(
        r#"{{"nonprofit":"{NONPROFIT}","amount":5,"donor":"d","externalId":"p-1","source":" site "}}"#
    );
    cli.write("donations.jsonl", line);
    let output = cli.run(1, &["donation", "import", "donations.jsonl"]);
    assert!(
        output.stderr.contains("line 1: the source site is reserved"),
        "{}",
        output.stderr
    );
    assert_eq!(exported_entries(&cli).len(), 0);
}

#[test]
fn a_file_is_imported_completely_or_not_at_all_and_only_once() {
    let cli = cli_with_directory();
    let line = |id: u32, cents: i64| {
        format!(
            r#"{{"nonprofit":"{NONPROFIT}","amount":{cents},"donor":"d-{}","externalId":"p-{id}"}}"#,
            id % 7
        )
    };
    let good: Vec<String> = (0..600).map(|id| line(id, i64::from(id) + 1)).collect();
    cli.write("donations.jsonl", good.join("\n\n"));
    let mut bad = good.clone();
    bad[1] = r#"{"nonprofit":"nobody-at-all","amount":0,"donor":"","public":"yes"}"#.to_owned();
    bad[2] = good[2].replace('{', r#"{"currency":"EUR","test":true,"#);
    bad[4] = "{".to_owned();
    bad[6] = "[]".to_owned();
    let latin1 = [bad.join("\n").as_bytes(), b"\n{\"donor\":\"Ren\xe9\"}\n"].concat();
    cli.write("bad.jsonl", latin1);
    let output = cli.run(1, &["donation", "import", "bad.jsonl"]);
    for expected in [
        "line 2: ",
        "amount must be a whole number of cents",
        "donor is invalid",
        "externalId is missing",
        "public must be true or false",
        "there is no nonprofit nobody-at-all",
        "line 3: there is no field \"currency\"; there is no field \"test\"",
        "line 5: it is not valid JSON",
        "line 7: it is not a JSON object",
        "line 601: it is not valid UTF-8",
        "5 lines are invalid and nothing was recorded",
    ] {
        assert!(
            output.stderr.contains(expected),
            "{expected} is missing from {}",
            output.stderr
        );
    }
    assert_eq!(exported_entries(&cli).len(), 0);
    let output = cli.json(&["donation", "import", "donations.jsonl"]);
    assert_eq!((&output["new"], &output["known"]), (&600.into(), &0.into()));
    let output = cli.json(&["donation", "import", "donations.jsonl"]);
    assert_eq!((&output["new"], &output["known"]), (&0.into(), &600.into()));
    let mut other = good;
    other[10] = line(10, 999);
    other.push(line(700, 5));
    cli.write("other.jsonl", other.join("\n"));
    let output = cli.run(1, &["donation", "import", "other.jsonl"]);
    assert!(
        output
            .stderr
            .contains("line 11: operator p-10 is already recorded"),
        "{}",
        output.stderr
    );
    let entries = exported_entries(&cli);
    assert_eq!(entries.len(), 601);
    let sum: i64 = entries
        .iter()
        .map(|entry| entry["amount"].as_i64().unwrap())
        .sum();
    assert_eq!(sum, 600 * 601 / 2 + 5);
    assert_eq!(cli.json(&["check"])["entries"], 601);
}

#[test]
fn the_csv_export_has_a_row_for_each_entry() {
    let cli = cli_with_directory();
    cli.run(0, &record("p-1", "5"));
    cli.run(0, &record("p,\"2\"", "7"));
    cli.run(0, &record("=1+1", "9"));
    let stdout = cli.run(0, &["donation", "export", "--csv"]).stdout;
    let mut csv = csv::Reader::from_reader(stdout.as_bytes());
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!((&rows[0][3], &rows[1][3]), ("p-1", "p,\"2\""));
    assert_eq!((&rows[0][9], &rows[1][9]), ("5", "7"));
    assert_eq!(&rows[2][3], "'=1+1");
}

#[test]
fn an_invalid_donation_is_refused_with_a_clear_message() {
    let cli = cli_with_directory();
    for amount in ["0", "-5", "1.5", "x", "1000000000001"] {
        let amount = format!("--amount={amount}");
        let arguments = [
            "donation",
            "record",
            "--nonprofit",
            NONPROFIT,
            "--donor",
            "d",
            "--external-id",
            "p",
            &amount,
        ];
        assert!(
            cli.run(2, &arguments).stderr.contains("whole number of cents"),
            "{amount}"
        );
    }
    let mut elsewhere = record("p-1", "5");
    elsewhere[3] = "nobody-at-all";
    assert!(cli.fail(&elsewhere).contains("no nonprofit nobody-at-all"));
    for nonprofit in [NONPROFIT, "special-fundraiser", "SPECIAL-FUNDRAISER"] {
        let mut fundraiser = [&record("p-1", "5")[..], &["--fundraiser", "none"]].concat();
        fundraiser[3] = nonprofit;
        assert!(
            cli.fail(&fundraiser).contains("no fundraiser none"),
            "{nonprofit}"
        );
    }
    let offline = [&record("p-1", "5")[..], &["--source", "offline"]].concat();
    assert!(cli.fail(&offline).contains("another source"));
    assert!(
        cli.fail(&["donation", "refund", "--external-id", "p-1"])
            .contains("no donation p-1")
    );
    assert!(
        cli.fail(&["donation", "import", "missing.jsonl"])
            .contains("missing.jsonl")
    );
}

#[test]
fn a_pipe_is_imported_like_a_file() {
    let cli = cli_with_directory();
    let pipe = cli.path().join("pipe");
    let created = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(created.success());
    let line = format!(r#"{{"nonprofit":"{NONPROFIT}","amount":5,"donor":"d","externalId":"p-1"}}"#);
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, line).unwrap()
    });
    cli.run(0, &["donation", "import", "pipe"]);
    writer.join().unwrap();
    assert_eq!(exported_entries(&cli).len(), 1);
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark() {
    let cli = cli_with_directory();
    let line = |id| format!(r#"{{"nonprofit":"{NONPROFIT}","amount":5,"donor":"d","externalId":"p-{id}"}}"#);
    cli.write(
        "donations.jsonl",
        format!("\u{feff}{}\r\n{}\r\n", line(1), line(2)),
    );
    cli.run(0, &["donation", "import", "donations.jsonl"]);
    assert_eq!(exported_entries(&cli).len(), 2);
    // A mark anywhere else is not part of the encoding.
    cli.write("two.jsonl", format!("{}\n\u{feff}{}\n", line(3), line(4)));
    let error = cli.run(1, &["donation", "import", "two.jsonl"]).stderr;
    assert!(error.contains("line 2"), "{error}");
    assert_eq!(exported_entries(&cli).len(), 2);
}
