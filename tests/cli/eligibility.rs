//! `causeway eligibility` and the lists that it reads.

use super::Cli;
use crate::files::{bmf, nonprofit_row};
use serde_json::{Value, json};

const LIBRARY: &str = "020240383";
const SHELTER: &str = "020240391";
const FUND: &str = "020240409";

/// Far in the future, so that the lists do not grow old.
const AS_OF: &str = "2099/08/05";

const HEADER: &str = "Registry Status,State Charity Reg#,FEIN,SOS/FTB#,Name,City,State,Issue Date,Last Renewal,Date Status Set,As-of Date\n";

fn imported(require: &str) -> Cli {
    let cli = Cli::new();
    let rows = [
        nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY"),
        nonprofit_row(SHELTER, "GRANITE ANIMAL SHELTER INC"),
        nonprofit_row(FUND, "MERCY RELIEF FUND"),
    ];
    cli.write("eo.csv", bmf(&rows));
    cli.write("settings.toml", format!("[eligibility]\nrequire = [{require}]\n"));
    cli.run(0, &["import", "irs", "eo.csv"]);
    cli
}

fn may_not_operate(rows: &[&str]) -> String {
    format!("{HEADER}{}\n", rows.join("\n"))
}

fn row(status: &str, number: &str, ein: &str, state_number: &str, name: &str, set: &str) -> String {
    format!(
        "{status},{number},{ein},{state_number},\"{name}\",CONCORD,NH,2001/02/03,2019/05/06,{set},{AS_OF}"
    )
}

fn check(cli: &Cli, identifier: &str) -> Value {
    let mut report = cli.json(&["--config", "settings.toml", "eligibility", "check", identifier]);
    report["rows"][0].take()
}

fn outcome<'a>(row: &'a Value, check: &str) -> &'a Value {
    let checks = row["checks"].as_array().unwrap();
    checks.iter().find(|result| result["check"] == check).unwrap()
}

#[test]
fn a_required_list_that_is_missing_is_a_question_and_a_revoked_charity_is_stopped() {
    let cli = imported("\"california_registry\"");
    assert_eq!(check(&cli, LIBRARY)["eligible"], "REVIEW");
    let rows = [
        row(
            "Revoked",
            "CT001",
            "02-0240383",
            "1000001",
            "GRANITE TOWN LIBRARY",
            "2020/01/02",
        ),
        row(
            "Mutual Benefit",
            "CT002",
            SHELTER,
            "",
            "GRANITE ANIMAL SHELTER",
            "2020/01/02",
        ),
        // Joined by name and city only.
        row(
            "Delinquent",
            "CT003",
            "",
            "",
            "The Mercy Relief Fund, Inc.",
            "2020/01/02",
        ),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    cli.write("charities-may-not-operate.csv", may_not_operate(&rows));
    let summary = cli.json(&["import", "california", "charities-may-not-operate.csv"]);
    assert_eq!(
        (&summary["new"], &summary["byEin"], &summary["similarNames"]),
        (&json!(3), &json!(2), &json!(1)),
        "{summary}"
    );
    let library = check(&cli, "02-0240383");
    assert_eq!(library["eligible"], "NO");
    let result = outcome(&library, "california_registry");
    assert_eq!(result["outcome"], "FAIL");
    assert_eq!(result["since"], "2020-01-02");
    assert_eq!(result["graceUntil"], "2020-01-09");
    assert_eq!(result["source"]["name"], "charities-may-not-operate.csv");
    assert_eq!(
        result["source"]["asOf"],
        format!("{}T00:00:00.000Z", AS_OF.replace('/', "-"))
    );
    assert_eq!(check(&cli, SHELTER)["eligible"], "YES");
    let fund = check(&cli, FUND);
    assert_eq!(outcome(&fund, "california_registry")["outcome"], "REVIEW");
    assert_eq!(fund["eligible"], "REVIEW");
    // Twice is once.
    let again = cli.json(&["import", "california", "charities-may-not-operate.csv"]);
    assert_eq!((&again["unchanged"], &again["changed"]), (&json!(3), &json!(0)));
    assert_eq!(check(&cli, LIBRARY)["eligible"], "NO");
    // It comes back.
    let rows = [
        row(
            "Current",
            "CT001",
            LIBRARY,
            "1000001",
            "GRANITE TOWN LIBRARY",
            "2026/08/01",
        ),
        row("Current", "CT009", "", "", "OTHER", "2026/08/01"),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    cli.write("may-operate.csv", may_not_operate(&rows));
    cli.run(0, &["import", "california", "may-operate.csv", "--force"]);
    assert_eq!(check(&cli, LIBRARY)["eligible"], "YES");
}

#[test]
fn a_state_number_joins_the_tax_board_to_the_registry() {
    let cli = imported("\"california_tax_board\"");
    let rows = [row(
        "Current",
        "CT001",
        LIBRARY,
        "01000001",
        "GRANITE TOWN LIBRARY",
        "2020/01/02",
    )];
    cli.write("current.csv", may_not_operate(&[&rows[0]]));
    cli.run(0, &["import", "california", "current.csv"]);
    cli.write(
        "ftb.csv",
        "Entity Number,Entity Name,City,Revoked Date\n1000001,SOMETHING ELSE,ELSEWHERE,06/01/2026\n",
    );
    let summary = cli.json(&["import", "tax-board", "ftb.csv"]);
    assert_eq!(summary["byStateNumber"], 1);
    let library = check(&cli, LIBRARY);
    assert_eq!(library["eligible"], "NO");
    assert_eq!(outcome(&library, "california_tax_board")["since"], "2026-06-01");
    assert_eq!(check(&cli, SHELTER)["eligible"], "YES");
}

#[test]
fn a_similar_name_on_the_sanctions_list_is_a_question() {
    let cli = imported("\"sanctions\"");
    cli.write(
        "sdn.csv",
        "36,\"RELIEF OF MERCY FOUNDATION\",-0- ,\"SDGT] [FTO\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \n\
         37,\"SHELTER, Granite\",individual,\"SDNT\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \n\x1A",
    );
    cli.write("alt.csv", "36,12,\"aka\",\"MERCY RELIEF FUND\",-0- \n");
    cli.write("add.csv", "36,25,-0- ,\"Beirut\",\"Lebanon\",-0- \n");
    let alone = cli.run(1, &["import", "sanctions", "alt.csv"]);
    assert!(
        alone.stderr.contains("import sdn.csv together"),
        "{}",
        alone.stderr
    );
    let summary = cli.json(&["import", "sanctions", "sdn.csv", "alt.csv", "add.csv"]);
    assert_eq!(
        (&summary["new"], &summary["similarNames"]),
        (&json!(2), &json!(1))
    );
    let fund = check(&cli, FUND);
    assert_eq!(fund["eligible"], "REVIEW");
    assert_eq!(outcome(&fund, "sanctions")["outcome"], "REVIEW");
    assert_eq!(check(&cli, LIBRARY)["eligible"], "YES");
}

#[test]
fn invalid_files_are_refused_in_one_line() {
    let cli = imported("");
    let complete = row("Revoked", "CT001", LIBRARY, "1", "A", "2020/01/02");
    for (name, content, expected) in [
        (
            "column.csv",
            HEADER.replace("FEIN,", "") + "x\n",
            "no column FEIN",
        ),
        (
            "cut.csv",
            format!("{HEADER}{complete}\nRevoked,CT002,02024"),
            "truncated in line 3",
        ),
        (
            "other.csv",
            "EIN,NAME\n1,2\n".to_owned(),
            "no column Registry Status",
        ),
        ("long.csv", "x".repeat(200_000), "longer than 65536 bytes"),
        ("empty.csv", HEADER.to_owned(), "which of the four lists"),
    ] {
        cli.write(name, content);
        let refused = cli.run(1, &["import", "california", name]);
        assert!(refused.stderr.contains(expected), "{name}: {}", refused.stderr);
        assert_eq!(refused.stderr.lines().count(), 2, "{}", refused.stderr);
    }
    // Another order of columns, Latin-1 and a date that does not exist.
    let mut content =
        b"Name,FEIN,Registry Status,State Charity Reg#,SOS/FTB#,City,State,Issue Date,Last Renewal,Date Status Set,As-of Date\n"
            .to_vec();
    for number in 0..300 {
        content.extend_from_slice(
            format!("N{number},,Revoked,CT{number},,LA,CA,2020/01/01,2020/01/01,2020/01/01,2026/08/05\n")
                .as_bytes(),
        );
    }
    content.extend_from_slice(b"PE\xD1A,020240383,Revoked,CT999,,LA,CA,,,2026/02/30,2026/08/05\n");
    cli.write("latin.csv", content);
    let summary = cli.json(&["import", "california", "latin.csv"]);
    assert_eq!((&summary["new"], &summary["refused"]), (&json!(301), &json!(1)));
    let result = check(&cli, LIBRARY);
    assert_eq!(outcome(&result, "california_registry")["outcome"], "FAIL");
    cli.write("ftb.csv", "Name,City\nA,B\n");
    let refused = cli.run(1, &["import", "tax-board", "ftb.csv"]);
    assert!(
        refused.stderr.contains("entity numbers or EINs"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_folder_is_imported_by_content_and_a_file_is_checked() {
    let cli = imported("\"california_registry\"");
    let rows = [row("Suspended", "CT001", LIBRARY, "1", "A", "2020/01/02")];
    std::fs::create_dir(cli.path().join("all")).unwrap();
    cli.write("all/a.txt", may_not_operate(&[&rows[0]]));
    cli.write(
        "all/b.txt",
        "36,\"X\",-0- ,\"SDGT\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \n",
    );
    let summary = cli.json(&["import", "all", "all"]);
    let kinds: Vec<_> = summary["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["california", "sanctions"]);
    cli.write(
        "list.csv",
        format!("Grantee,EIN\nA,02-0240383\nB,{SHELTER}\nC,1234\n"),
    );
    let checked = cli.run(
        0,
        &["--config", "settings.toml", "eligibility", "check", "list.csv"],
    );
    let lines: Vec<&str> = checked.stdout.lines().collect();
    assert_eq!(lines[0], "Grantee,EIN,eligible,eligibility_reason");
    assert_eq!(
        lines[1],
        "A,02-0240383,NO,The status in the registry of California is Suspended"
    );
    assert!(lines[2].starts_with("B,020240391,YES,"), "{}", lines[2]);
    assert!(
        lines[3].starts_with("C,1234,NO,\"an EIN has nine digits"),
        "{}",
        lines[3]
    );
}

#[test]
fn a_decision_holds_until_the_row_changes_and_every_change_is_in_the_history() {
    let cli = imported("\"california_registry\"");
    let list = |status: &str| {
        let rows = [
            row(
                status,
                "CT001",
                LIBRARY,
                "1",
                "GRANITE TOWN LIBRARY",
                "2020/01/02",
            ),
            row("Delinquent", "CT003", "", "", "MERCY RELIEF FUND", "2020/01/02"),
        ];
        cli.write("list.csv", may_not_operate(&[&rows[0], &rows[1]]));
        cli.json(&["--config", "settings.toml", "import", "california", "list.csv"])
    };
    let run =
        |arguments: &[&str]| cli.json(&[&["--config", "settings.toml", "eligibility"], arguments].concat());
    let decide = |outcome: &str| {
        run(&[
            "decide",
            FUND,
            "--check",
            "california_registry",
            "--outcome",
            outcome,
            "--note",
            "Compared",
        ])
    };
    assert_eq!(list("Revoked")["verdictsChanged"], 1);
    let queue = run(&["queue"]);
    assert_eq!(queue["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(queue["pairs"][0]["reasons"], "name equal; same city");
    decide("pass");
    assert_eq!(check(&cli, FUND)["eligible"], "YES");
    assert_eq!(run(&["queue"])["pairs"].as_array().unwrap().len(), 0);
    // Another row changes; the decision stays.
    assert_eq!(list("Suspended")["verdictsChanged"], 0);
    assert_eq!(check(&cli, FUND)["eligible"], "YES");
    run(&["undo", FUND, "--check", "california_registry"]);
    assert_eq!(check(&cli, FUND)["eligible"], "REVIEW");
    decide("fail");
    assert_eq!(check(&cli, FUND)["eligible"], "NO");
    let rows = [row("Revoked", "CT003", "", "", "MERCY RELIEF FUND", "2026/01/02")];
    cli.write("list.csv", may_not_operate(&[&rows[0]]));
    let arguments = [
        "--config",
        "settings.toml",
        "import",
        "california",
        "list.csv",
        "--force",
    ];
    assert_eq!(cli.json(&arguments)["verdictsChanged"], 2);
    assert_eq!(check(&cli, FUND)["eligible"], "REVIEW");
    let history = run(&["history", FUND]);
    let verdicts: Vec<_> = history["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            (
                change["before"].as_str().unwrap(),
                change["after"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        verdicts,
        [
            ("NO", "REVIEW"),
            ("REVIEW", "NO"),
            ("YES", "REVIEW"),
            ("REVIEW", "YES")
        ]
    );
}

#[test]
fn an_operator_stops_a_nonprofit_without_any_list() {
    let cli = imported("\"california_registry\"");
    let run =
        |arguments: &[&str]| cli.json(&[&["--config", "settings.toml", "eligibility"], arguments].concat());
    let list = row("Revoked", "CT003", "", "", "NOBODY", "2026/01/02");
    cli.write("list.csv", may_not_operate(&[&list]));
    cli.json(&["--config", "settings.toml", "import", "california", "list.csv"]);
    let refused = cli.run(
        1,
        &[
            "eligibility",
            "decide",
            SHELTER,
            "--check",
            "irs_listed",
            "--outcome",
            "pass",
            "--note",
            "x",
        ],
    );
    assert!(
        refused.stderr.contains("cannot be decided here"),
        "{}",
        refused.stderr
    );
    run(&[
        "decide",
        SHELTER,
        "--check",
        "operator",
        "--outcome",
        "fail",
        "--note",
        "It wants no donations",
    ]);
    assert_eq!(check(&cli, SHELTER)["eligible"], "NO");
    run(&["undo", SHELTER, "--check", "operator"]);
    assert_eq!(check(&cli, SHELTER)["eligible"], "YES");
}

#[test]
fn what_the_irs_files_change_is_in_the_history() {
    let cli = imported("\"irs_listed\"");
    let file = |rows: &[crate::files::Row]| {
        cli.write("eo2.csv", bmf(rows));
        cli.run(0, &["import", "irs", "eo2.csv", "--force"]);
    };
    let history = || {
        let listed = cli.json(&["eligibility", "history", LIBRARY]);
        listed["history"].as_array().unwrap().clone()
    };
    let other = nonprofit_row(SHELTER, "GRANITE ANIMAL SHELTER INC");
    let library = nonprofit_row(LIBRARY, "GRANITE TOWN LIBRARY");
    assert_eq!(history().len(), 0);
    file(std::slice::from_ref(&other));
    assert_eq!(history().len(), 1);
    assert_eq!(history()[0]["after"], "NO");
    assert_eq!(history()[0]["check"], "irs_listed");
    file(&[other.clone(), library.clone()]);
    file(&[other.clone(), library.clone()]);
    assert_eq!(history().len(), 2);
    assert_eq!(history()[0]["before"], "NO");
    file(&[other, library.with("SUBSECTION", "04")]);
    assert_eq!(history().len(), 3);
}
