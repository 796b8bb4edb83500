//! `causeway donation`: gifts, refunds and the journal from a shell.

use super::Shell;
use crate::files::{bmf, bodies};
use serde_json::Value;

const BODY: &str = "100000001";

/// A shell beside a directory of three.
fn shell() -> Shell {
    let shell = Shell::new();
    shell.write("eo.csv", bmf(&bodies(3)));
    shell.run(0, &["import", "irs", "eo.csv"]);
    shell
}

fn record<'a>(external_id: &'a str, amount: &'a str) -> Vec<&'a str> {
    vec![
        "donation",
        "record",
        "--nonprofit",
        BODY,
        "--amount",
        amount,
        "--donor",
        "d-1",
        "--external-id",
        external_id,
    ]
}

fn exported(shell: &Shell) -> Vec<Value> {
    let out = shell.run(0, &["donation", "export"]).out;
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_gift_is_recorded_once_and_refunded_once() {
    let shell = shell();
    let first = shell.json(&record("p-1", "2500"));
    assert_eq!(
        (&first["entry"], &first["new"], &first["amount"]),
        (&1.into(), &true.into(), &2_500.into())
    );
    assert_eq!(shell.json(&record("p-1", "2500"))["new"], false);
    let conflict = shell.fail(&record("p-1", "2501"));
    assert!(conflict.contains("entry 1, a gift of $25.00"), "{conflict}");
    let refund = ["donation", "refund", "--external-id", "p-1"];
    let part = [&refund[..], &["--amount", "500"]].concat();
    assert_eq!(shell.json(&part)["amount"], -500);
    assert_eq!(shell.json(&part)["new"], false);
    let another = shell.fail(&[&refund[..], &["--amount", "600"]].concat());
    assert!(another.contains("entry 2, a refund of $5.00"), "{another}");
    let unnamed = shell.fail(&refund);
    assert!(
        unnamed.contains("$20.00 are left") && unnamed.contains("--refund-id"),
        "{unnamed}"
    );
    let rest = [&refund[..], &["--refund-id", "r-2"]].concat();
    assert_eq!(shell.json(&rest)["amount"], -2_000);
    assert_eq!(shell.json(&rest)["new"], false);
    assert!(
        shell
            .fail(&[&refund[..], &["--refund-id", "r-3"]].concat())
            .contains("$0.00")
    );
    let sum: i64 = exported(&shell)
        .iter()
        .map(|entry| entry["amount"].as_i64().unwrap())
        .sum();
    assert_eq!(sum, 0);
    assert_eq!(shell.json(&["check"])["entries"], 3);
}

#[test]
fn a_name_is_private_unless_the_donor_agreed() {
    let shell = shell();
    shell.run(0, &[&record("p-1", "5")[..], &["--name", "Ana"]].concat());
    shell.run(
        0,
        &[&record("p-2", "5")[..], &["--name", "Ben", "--public"]].concat(),
    );
    shell.run(0, &record("p-3", "5"));
    shell.run(2, &[&record("p-4", "5")[..], &["--public"]].concat());
    let names: Vec<_> = exported(&shell)
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
fn a_file_is_imported_whole_or_not_at_all_and_twice_is_once() {
    let shell = shell();
    let line = |id: u32, cents: i64| {
        format!(
            r#"{{"nonprofit":"{BODY}","amount":{cents},"donor":"d-{}","externalId":"p-{id}"}}"#,
            id % 7
        )
    };
    let good: Vec<String> = (0..600).map(|id| line(id, i64::from(id) + 1)).collect();
    shell.write("gifts.jsonl", good.join("\n\n"));
    let mut bad = good.clone();
    bad[1] = r#"{"nonprofit":"nobody-at-all","amount":0,"donor":"","public":"yes"}"#.to_owned();
    bad[4] = "{".to_owned();
    bad[6] = "[]".to_owned();
    let latin1 = [bad.join("\n").as_bytes(), b"\n{\"donor\":\"Ren\xe9\"}\n"].concat();
    shell.write("bad.jsonl", latin1);
    let done = shell.run(1, &["donation", "import", "bad.jsonl"]);
    for told in [
        "line 2: ",
        "amount is a whole number",
        "donor cannot be used",
        "externalId is missing",
        "public is true or false",
        "there is no nonprofit nobody-at-all",
        "line 5: it is no JSON",
        "line 7: it is no JSON object",
        "line 601: it is not written in UTF-8",
        "4 lines are wrong and nothing was recorded",
    ] {
        assert!(done.err.contains(told), "{told} is not in {}", done.err);
    }
    assert_eq!(exported(&shell).len(), 0);
    let done = shell.json(&["donation", "import", "gifts.jsonl"]);
    assert_eq!((&done["new"], &done["known"]), (&600.into(), &0.into()));
    let done = shell.json(&["donation", "import", "gifts.jsonl"]);
    assert_eq!((&done["new"], &done["known"]), (&0.into(), &600.into()));
    let mut other = good;
    other[10] = line(10, 999);
    other.push(line(700, 5));
    shell.write("other.jsonl", other.join("\n"));
    let done = shell.run(1, &["donation", "import", "other.jsonl"]);
    assert!(
        done.err.contains("line 11: operator p-10 is recorded already"),
        "{}",
        done.err
    );
    let entries = exported(&shell);
    assert_eq!(entries.len(), 601);
    let sum: i64 = entries
        .iter()
        .map(|entry| entry["amount"].as_i64().unwrap())
        .sum();
    assert_eq!(sum, 600 * 601 / 2 + 5);
    assert_eq!(shell.json(&["check"])["entries"], 601);
}

#[test]
fn the_export_as_csv_has_a_line_for_each_entry() {
    let shell = shell();
    shell.run(0, &record("p-1", "5"));
    shell.run(0, &record("p,\"2\"", "7"));
    shell.run(0, &record("=1+1", "9"));
    let out = shell.run(0, &["donation", "export", "--csv"]).out;
    let mut csv = csv::Reader::from_reader(out.as_bytes());
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!((&rows[0][3], &rows[1][3]), ("p-1", "p,\"2\""));
    assert_eq!((&rows[0][9], &rows[1][9]), ("5", "7"));
    assert_eq!(&rows[2][3], "'=1+1");
}

#[test]
fn what_cannot_be_recorded_is_told_in_one_sentence() {
    let shell = shell();
    for amount in ["0", "-5", "1.5", "x", "1000000000001"] {
        let amount = format!("--amount={amount}");
        let arguments = [
            "donation",
            "record",
            "--nonprofit",
            BODY,
            "--donor",
            "d",
            "--external-id",
            "p",
            &amount,
        ];
        assert!(
            shell.run(2, &arguments).err.contains("whole number of cents"),
            "{amount}"
        );
    }
    let mut elsewhere = record("p-1", "5");
    elsewhere[3] = "nobody-at-all";
    assert!(shell.fail(&elsewhere).contains("no nonprofit nobody-at-all"));
    for nonprofit in [BODY, "special-fundraiser", "SPECIAL-FUNDRAISER"] {
        let mut fundraiser = [&record("p-1", "5")[..], &["--fundraiser", "none"]].concat();
        fundraiser[3] = nonprofit;
        assert!(
            shell.fail(&fundraiser).contains("no fundraiser none"),
            "{nonprofit}"
        );
    }
    let offline = [&record("p-1", "5")[..], &["--source", "offline"]].concat();
    assert!(shell.fail(&offline).contains("another source"));
    assert!(
        shell
            .fail(&["donation", "refund", "--external-id", "p-1"])
            .contains("no gift p-1")
    );
    assert!(
        shell
            .fail(&["donation", "import", "missing.jsonl"])
            .contains("missing.jsonl")
    );
}

#[test]
fn a_pipe_is_imported_like_a_file() {
    let shell = shell();
    let gifts = shell.data().join("gifts");
    let made = std::process::Command::new("mkfifo").arg(&gifts).status().unwrap();
    assert!(made.success());
    let line = format!(r#"{{"nonprofit":"{BODY}","amount":5,"donor":"d","externalId":"p-1"}}"#);
    let writer = std::thread::spawn({
        let gifts = gifts.clone();
        move || std::fs::write(gifts, line).unwrap()
    });
    shell.run(0, &["donation", "import", "gifts"]);
    writer.join().unwrap();
    assert_eq!(exported(&shell).len(), 1);
}
