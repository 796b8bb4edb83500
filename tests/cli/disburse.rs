//! `causeway disburse` and `causeway payee`: from donations that are owed to payments, with everything that can go wrong between.

use super::server::{command, run};
use crate::api::fundraisers::{NYU, RED_CROSS, id_of};
use crate::world::{Database, World};
use giving::books::{EntryName, FeesPaidBy, Movement};
use giving::donations::{Label, NewDonation, RecipientName, find_recipient};
use giving::ledger::entry::Mode;
use platform::db::Db;
use platform::money::Cents;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

on_both_databases!(
    a_month_is_paid_returned_and_paid_again,
    a_payee_file_with_an_error_imports_nothing,
    payees_that_change_are_held,
    money_is_reassigned_once,
    no_account_number_is_stored_in_clear,
);

/// No account number of a test has these digits by accident.
const ACCOUNT: &str = "90817263549";
const ROUTING: &str = "021000021";

/// A command whose server holds no donation, and knows what the bank prescribes.
fn disburse(world: &World) -> Command {
    let mut command = command(world);
    command
        .env("CAUSEWAY_DISBURSE__HOLD_DAYS", "0")
        .env("CAUSEWAY_DISBURSE__ACH__DESTINATION", "091000019")
        .env("CAUSEWAY_DISBURSE__ACH__ORIGIN", "1530196605")
        .env("CAUSEWAY_DISBURSE__ACH__COMPANY_ID", "1530196605")
        .env("CAUSEWAY_DISBURSE__ACH__COMPANY_NAME", "CAUSEWAY TEST");
    command
}

/// Runs a command that succeeds, and returns its JSON.
fn ok(world: &World, arguments: &[&str]) -> Value {
    let output = disburse(world).args(arguments).arg("--json").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a command that is refused, and returns its error, which has two lines and no account number.
fn refused(world: &World, arguments: &[&str]) -> String {
    let output = disburse(world).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end().lines().count(), 2, "{error}");
    assert!(!error.contains(ACCOUNT), "{error}");
    error
}

/// Records a donation of test mode, and settles it with a fee.
async fn give(world: &World, ein: &str, id: &str, cents: i64) {
    let label = |text: &str| Label::parse(text).unwrap();
    let name = RecipientName::parse(ein, None).unwrap();
    let to = find_recipient(&world.app.db, &world.app.directory, &name)
        .await
        .unwrap();
    let donation = NewDonation {
        source: label("test"),
        external_id: label(id),
        mode: Mode::Test,
        to,
        amount: Cents::new(cents),
        donor: label("ana"),
        name: None,
        is_public: false,
    };
    let recorder = &world.app.giving.recorder;
    recorder.record(donation).await.unwrap();
    let settlement = Movement::Settlement {
        transaction: label(&format!("txn_{id}")),
        settles: EntryName {
            source: label("test"),
            external_id: label(id),
        },
        amount: Cents::new(cents),
        fee: Cents::new(100),
        fees_paid_by: FeesPaidBy::Nonprofit,
    };
    recorder.enter(settlement).await.unwrap();
}

fn import(world: &World, rows: &str) -> Value {
    let file = world.file("payees.csv", rows);
    ok(world, &["payee", "import", file.to_str().unwrap()])
}

async fn a_month_is_paid_returned_and_paid_again(world: &World) {
    world.load_demo().await;
    run(world, &["account", "create", "grace", "--operator"]);
    for (ein, id, cents) in [
        (RED_CROSS, "ch_1", 10_000),
        (RED_CROSS, "ch_2", 5_000),
        (NYU, "ch_3", 2_500),
    ] {
        give(world, ein, id, cents).await;
    }
    let listed = ok(world, &["disburse", "list"]);
    assert_eq!(listed["owed"], 17_500 - 300);
    assert_eq!(listed["nonprofits"][0]["holds"][0]["reason"], "no_payee");
    assert!(refused(world, &["disburse", "prepare"]).contains("nothing can be paid"));
    let rows = format!(
        "ein,method,routing_number,account_number,account_type,street,city,state,zip\n\
         {RED_CROSS},ach,{ROUTING},{ACCOUNT},savings,,,,\n{NYU},check,,,,70 Washington Sq,New York,NY,10012\n"
    );
    assert_eq!(import(world, &rows)["new"], 2);

    let batch = ok(world, &["disburse", "prepare"]);
    assert_eq!(
        (batch["batch"].as_i64(), batch["lines"].as_i64()),
        (Some(1), Some(2))
    );
    assert_eq!(batch["amount"], 17_200);
    assert!(refused(world, &["disburse", "prepare"]).contains("nothing can be paid"));
    assert!(refused(world, &["disburse", "export", "1", "--format", "nacha"]).contains("not approved"));
    assert!(refused(world, &["disburse", "approve", "1"]).contains("same operator"));
    assert!(refused(world, &["disburse", "approve", "1", "--operator", "ada"]).contains("not an operator"));
    assert!(
        refused(
            world,
            &["disburse", "mark", "1", "1", "returned", "--reference", "R03"]
        )
        .contains("queued")
    );
    let approved = ok(world, &["disburse", "approve", "1", "--operator", "grace"]);
    assert_eq!(approved["state"], "approved");
    assert!(refused(world, &["disburse", "approve", "1", "--operator", "grace"]).contains("only a draft"));

    let export = |format: &str| {
        let output = disburse(world)
            .args(["disburse", "export", "1", "--format", format])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let file = export("nacha");
    assert!(
        file.lines().all(|line| line.len() == 94) && file.lines().count() == 10,
        "{file}"
    );
    let entry = file.lines().nth(2).unwrap();
    assert!(
        entry.starts_with(&format!("632{ROUTING}{ACCOUNT:<17}{:010}1-1", 14_800)),
        "{entry}"
    );
    assert_eq!(export("nacha"), file);
    let checks = export("checks");
    assert!(
        checks.contains("\"70 Washington Sq\",\"New York\",\"NY\""),
        "{checks}"
    );

    assert!(refused(world, &["disburse", "mark", "1", "1", "paid"]).contains("--reference"));
    ok(
        world,
        &["disburse", "mark", "1", "2", "paid", "--reference", "check 7"],
    );
    let again = ok(
        world,
        &["disburse", "mark", "1", "2", "paid", "--reference", "check 7"],
    );
    assert_eq!(again["new"], false);
    assert!(
        refused(
            world,
            &["disburse", "mark", "1", "1", "paid", "--reference", "check 7"]
        )
        .contains("already")
    );
    let returned = ok(
        world,
        &["disburse", "mark", "1", "1", "returned", "--reference", "R03 1"],
    );
    assert_eq!(returned["batchState"], "closed");
    let listed = ok(world, &["disburse", "list"]);
    assert_eq!(listed["nonprofits"][0]["holds"][0]["reason"], "payee_returned");

    pay_again(world).await;
    verify_report(world);
}

/// With another account, and after the hold, what came back is paid again.
async fn pay_again(world: &World) {
    import(
        world,
        &format!("ein,method,routing_number,account_number\n{RED_CROSS},ach,{ROUTING},11{ACCOUNT}\n"),
    );
    let listed = ok(world, &["disburse", "list"]);
    assert_eq!(listed["nonprofits"][0]["holds"][0]["reason"], "payee_changed");
    world
        .execute("update payees set held_until = 1 where held_until is not null")
        .await;
    let batch = ok(world, &["disburse", "prepare", "--operator", "grace"]);
    assert_eq!(batch["amount"], 14_800);
    ok(world, &["disburse", "approve", "2"]);
    let out = world.file("batch-2.ach", "");
    ok(
        world,
        &[
            "disburse",
            "export",
            "2",
            "--format",
            "nacha",
            "--out",
            out.to_str().unwrap(),
        ],
    );
    ok(
        world,
        &["disburse", "mark", "2", "1", "paid", "--reference", "T1"],
    );
    assert_eq!(ok(world, &["disburse", "list"])["owed"], 0);

    let statement = ok(world, &["disburse", "statement", "2", "1"]);
    let net: i64 = statement["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["net"].as_i64().unwrap())
        .sum();
    assert_eq!(net, 14_800);
}

/// The report has the closing balances of the books, and `check` finds nothing.
fn verify_report(world: &World) {
    let year = jiff::Timestamp::now().strftime("%Y").to_string();
    let report = ok(world, &["disburse", "report", "--year", &year]);
    let totals = &report["totals"];
    assert_eq!(totals["donations"], 17_500);
    assert_eq!(totals["fees"], -300);
    assert_eq!(totals["paid"], -(17_200 + 14_800));
    assert_eq!(totals["returned"], 14_800);
    assert_eq!(totals["closing"], 0);
    let checked = run(world, &["check", "--balances"]);
    assert_eq!(checked["payments"], 3);
    assert_eq!(checked["balances"]["test"]["bank"], -17_200);
    assert_eq!(
        checked["balances"]["test"][format!("owed:{}", id_of(RED_CROSS))],
        0
    );
}

async fn a_payee_file_with_an_error_imports_nothing(world: &World) {
    world.load_demo().await;
    let header = "ein,method,routing_number,account_number,name";
    for (rows, expected) in [
        (
            format!("{RED_CROSS},ach,021000022,{ACCOUNT},"),
            "row 2: the routing number has a wrong check digit",
        ),
        (
            format!("{RED_CROSS},ach,{ROUTING},{ACCOUNT}x,"),
            "row 2: the account number may only have digits",
        ),
        (
            format!("{RED_CROSS},ach,{ROUTING},{ACCOUNT},=cmd()"),
            "row 2: name begins with =, as a formula does",
        ),
        (
            format!("{RED_CROSS},check,,,\n53-0196605,check,,,"),
            "row 3: row 2 is about the same nonprofit; remove one of the two",
        ),
        (
            "999999999,check,,,".to_owned(),
            "row 2: there is no nonprofit 999999999",
        ),
        ("12,check,,,".to_owned(), "row 2: the EIN is not nine digits"),
        (format!("{RED_CROSS},wire,,,"), "row 2: the method is unknown"),
        (
            format!("{NYU},check,,,\n{RED_CROSS},ach"),
            "row 3: it has 2 columns",
        ),
    ] {
        let file = world.file("bad.csv", format!("{header}\n{rows}\n"));
        let error = refused(world, &["payee", "import", file.to_str().unwrap()]);
        let line = error.replace("\n  ", "; ");
        assert!(line.contains(expected), "{expected}: {error}");
    }
    for (content, expected) in [
        ("ein,method,surname\n", "there is no column"),
        ("ein,ein,method\n", "appears twice"),
        ("method\n", "the column ein is missing"),
        ("ein,method\n", "no rows"),
    ] {
        let file = world.file("bad.csv", content);
        let error = refused(world, &["payee", "import", file.to_str().unwrap()]);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert_eq!(ok(world, &["payee", "list"])["total"], 0);
    // A byte-order mark and blank lines are fine.
    let rows = format!("\u{feff}EIN,Method\r\n\r\n{RED_CROSS},check\r\n");
    assert_eq!(import(world, &rows)["new"], 1);
    assert_eq!(import(world, &rows)["unchanged"], 1);
}

async fn payees_that_change_are_held(world: &World) {
    world.load_demo().await;
    run(world, &["account", "create", "grace", "--operator"]);
    give(world, RED_CROSS, "ch_1", 10_000).await;
    let row = |account: &str| {
        format!("ein,method,routing_number,account_number\n{RED_CROSS},ach,{ROUTING},{account}\n")
    };
    import(world, &row(ACCOUNT));
    ok(world, &["disburse", "prepare"]);
    ok(world, &["disburse", "approve", "1", "--operator", "grace"]);
    // What was approved is not paid to another account.
    assert_eq!(import(world, &row("12345678"))["changed"], 1);
    let error = refused(world, &["disburse", "export", "1", "--format", "nacha"]);
    assert!(
        error.contains("was changed after the batch was prepared"),
        "{error}"
    );
    ok(world, &["disburse", "mark", "1", "1", "void"]);
    let listed = ok(world, &["disburse", "list"]);
    assert_eq!(listed["payable"], 0);
    assert_eq!(listed["nonprofits"][0]["holds"][0]["reason"], "payee_changed");
    let payees = ok(world, &["payee", "list"]);
    assert_eq!(payees["payees"][0]["lastFour"], "5678");
    assert!(payees["payees"][0]["heldUntil"].is_string());
    assert_eq!(run(world, &["check"])["differences"], serde_json::json!([]));
}

async fn money_is_reassigned_once(world: &World) {
    world.load_demo().await;
    give(world, RED_CROSS, "ch_1", 10_000).await;
    let reassign = |from: &str, to: &str, amount: &str| {
        let arguments = [
            "disburse",
            "reassign",
            "--from",
            from,
            "--to",
            to,
            "--amount",
            amount,
            "--reason",
            "They agreed",
        ];
        arguments.map(str::to_owned).to_vec()
    };
    let call = |arguments: &[String]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        refused(world, &arguments)
    };
    assert!(call(&reassign(RED_CROSS, RED_CROSS, "100")).contains("two nonprofits"));
    assert!(call(&reassign(RED_CROSS, NYU, "0")).contains("two nonprofits"));
    assert!(call(&reassign(RED_CROSS, NYU, "9901")).contains("only $99.00 is owed"));
    assert!(call(&reassign("999999999", NYU, "1")).contains("there is no nonprofit"));
    let all = [
        "disburse",
        "reassign",
        "--from",
        RED_CROSS,
        "--to",
        NYU,
        "--reason",
        "They agreed",
    ];
    assert_eq!(ok(world, &all)["amount"], 9_900);
    assert!(refused(world, &all).contains("only $0.00 is owed"));
    let listed = ok(world, &["disburse", "list"]);
    assert_eq!(listed["owed"], 9_900);
    assert_eq!(listed["nonprofits"][0]["ein"], NYU);
    assert_eq!(run(world, &["check"])["differences"], serde_json::json!([]));
}

/// Whether a file in a folder contains a text.
fn is_in_files(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_in_files(&path, text);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        content
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    })
}

async fn no_account_number_is_stored_in_clear(world: &World) {
    world.load_demo().await;
    run(world, &["account", "create", "grace", "--operator"]);
    give(world, RED_CROSS, "ch_1", 10_000).await;
    import(
        world,
        &format!("ein,method,routing_number,account_number\n{RED_CROSS},ach,{ROUTING},{ACCOUNT}\n"),
    );
    ok(world, &["disburse", "prepare"]);
    ok(world, &["disburse", "approve", "1", "--operator", "grace"]);
    let out = disburse(world)
        .args(["disburse", "export", "1", "--format", "csv"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).contains(ACCOUNT));
    let backup = tempfile::tempdir().unwrap();
    let folder = backup.path().join("backup");
    run(world, &["backup", folder.to_str().unwrap()]);
    assert!(!is_in_files(&folder, ACCOUNT));
    assert!(!is_in_files(world.data(), ACCOUNT));
    let database = match world.app.db {
        Db::Sqlite { .. } => Database::Sqlite,
        Db::Postgres(_) => Database::Postgres,
    };
    if database == Database::Postgres {
        // Bytes are hexadecimal in the text of a row.
        let digits = platform::text::hex(ACCOUNT.as_bytes());
        for table in ["payees", "disbursement_files", "disbursement_lines", "audit"] {
            let sql: &'static str = Box::leak(format!("select t::text from {table} t").into_boxed_str());
            let rows = world.texts(sql).await.concat();
            assert!(!rows.contains(ACCOUNT) && !rows.contains(&digits), "{table}");
        }
    }
}
