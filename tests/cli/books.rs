//! The books: `causeway check --balances`, and `causeway ledger export`, which hledger and beancount verify independently.

use super::server::{command, run};
use crate::api::fundraisers::{NYU, Organizer, RED_CROSS, SPECIAL, donate_in, id_of};
use crate::world::World;
use giving::books::{BooksError, EntryName, FeesPaidBy, Movement};
use giving::donations::{Dispute, Label, Refund, Reversal};
use giving::ledger::entry::Mode;
use platform::ids::NonprofitId;
use platform::money::Cents;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use uuid::Uuid;

on_both_databases!(
    balances_follow_the_money_and_accounting_programs_agree,
    a_movement_is_entered_once,
    a_changed_entry_of_the_books_is_found,
);

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

fn nonprofit(ein: &str) -> NonprofitId {
    NonprofitId(Uuid::parse_str(&id_of(ein)).unwrap())
}

/// The balance transaction of an entry.
fn settlement(external_id: &str, amount: i64, fee: i64) -> Movement {
    Movement::Settlement {
        transaction: label(&format!("txn_{}", external_id.replace(' ', "_"))),
        settles: EntryName {
            source: label("test"),
            external_id: label(external_id),
        },
        amount: Cents::new(amount),
        fee: Cents::new(fee),
        fees_paid_by: FeesPaidBy::Nonprofit,
    }
}

fn payout(id: &str, amount: i64) -> Movement {
    Movement::Payout {
        transaction: label(id),
        mode: Mode::Live,
        amount: Cents::new(amount),
        fee: Cents::ZERO,
    }
}

fn disbursement(id: &str, amount: i64) -> Movement {
    Movement::Disbursement {
        id: label(id),
        mode: Mode::Live,
        nonprofit: nonprofit(RED_CROSS),
        amount: Cents::new(amount),
    }
}

async fn enter(world: &World, movement: Movement) {
    let entered = world.app.giving.recorder.enter(movement).await.unwrap();
    assert!(entered.is_new);
}

/// A charge for two nonprofits with a refund that fails, a dispute that is won and one that is lost, a payout, and payments.
async fn write_history(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": SPECIAL, "title": "Together", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of(RED_CROSS), id_of(NYU)], "forNonprofitWeights": [2, 1]});
    let shared = organizer.create(200, &body).await.json["data"]["fundraiser"].clone();
    for (id, cents) in [("ch_1", 10_000), ("ch_2", 5_000), ("ch_3", 2_500)] {
        donate_in(Mode::Live, world, &shared, id, "ana", cents)
            .await
            .unwrap();
        enter(world, settlement(id, cents, cents * 29 / 1_000 + 30)).await;
    }
    donate_in(Mode::Test, world, &shared, "ch_t", "ana", 700)
        .await
        .unwrap();
    enter(world, settlement("ch_t", 700, 50)).await;
    let recorder = &world.app.giving.recorder;
    let refund = Refund {
        source: label("test"),
        external_id: label("ch_1"),
        amount: Some(Cents::new(1_001)),
        refund_id: Some(label("re_1")),
    };
    recorder.refund(refund).await.unwrap();
    enter(world, settlement("re_1", -1_001, 0)).await;
    for (charge, dispute, amount) in [("ch_2", "dp_1", 5_000), ("ch_3", "dp_2", 2_500)] {
        let dispute = Dispute {
            source: label("test"),
            external_id: label(charge),
            amount: Cents::new(amount),
            dispute_id: label(dispute),
        };
        recorder.dispute(dispute).await.unwrap();
    }
    enter(world, settlement("dp_1", -5_000, 1_500)).await;
    enter(world, settlement("dp_2", -2_500, 1_500)).await;
    for reversed in ["re_1", "dp_1"] {
        let reversal = Reversal {
            source: label("test"),
            external_id: label(reversed),
        };
        recorder.reverse(reversal).await.unwrap();
    }
    enter(world, settlement("re_1 failed", 1_001, 0)).await;
    enter(world, settlement("dp_1 won", 5_000, -1_500)).await;
    enter(world, payout("txn_po_1", 8_000)).await;
    enter(world, payout("txn_po_2", 2_000)).await;
    enter(world, payout("txn_po_2 failed", -2_000)).await;
    enter(
        world,
        Movement::OtherSettlement {
            transaction: label("txn_fee"),
            mode: Mode::Live,
            net: Cents::new(-200),
        },
    )
    .await;
    enter(world, disbursement("b1-1", 4_000)).await;
    enter(world, disbursement("b1-2", 1_000)).await;
    enter(world, Movement::DisbursementReturned { id: label("b1-2") }).await;
    enter(
        world,
        Movement::Reassignment {
            id: label("r-1"),
            mode: Mode::Live,
            from: nonprofit(NYU),
            to: nonprofit(RED_CROSS),
            amount: Cents::new(25),
            reason: label("It asked us to; see \"letter\" of May 1"),
        },
    )
    .await;
}

/// The balances of `causeway check --balances`, by the names of the export.
fn exported_names(balances: &Value) -> BTreeMap<String, i64> {
    let balances = balances.as_object().unwrap().iter();
    balances
        .map(|(party, balance)| {
            let name = match party.split_once(':') {
                Some(("owed", id)) => format!("Liabilities:Owed:N-{id}"),
                Some(("cash", _)) => "Assets:Stripe".to_owned(),
                Some(("fees", _)) => "Expenses:Stripe-Fees".to_owned(),
                _ if party == "bank" => "Assets:Bank".to_owned(),
                _ => "Income:Operator".to_owned(),
            };
            (name, balance.as_i64().unwrap())
        })
        .filter(|(_, balance)| *balance != 0)
        .collect()
}

/// Runs a program that must succeed, and returns its output.
fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The balances that hledger computes.
fn hledger_balances(file: &Path) -> BTreeMap<String, i64> {
    let mut check = Command::new("hledger");
    output_of(check.arg("-f").arg(file).args(["check", "--strict"]));
    let mut balance = Command::new("hledger");
    let csv = output_of(
        balance
            .arg("-f")
            .arg(file)
            .args(["balance", "--flat", "-N", "-O", "csv"]),
    );
    let rows = csv.lines().skip(1).map(|line| {
        let (account, amount) = line.trim_matches('"').split_once("\",\"").unwrap();
        (account.to_owned(), cents(amount.trim_end_matches(" USD")))
    });
    rows.filter(|(_, balance)| *balance != 0).collect()
}

/// Loads an export with beancount and prints the balance of each account.
const BEANCOUNT_BALANCES: &str = "
import sys
from collections import Counter
from beancount import loader
entries, errors, options = loader.load_file(sys.argv[1])
assert not errors, errors
balances = Counter()
for entry in entries:
    for posting in getattr(entry, 'postings', None) or ():
        balances[posting.account] += posting.units.number
for account, number in balances.items():
    print(account, f'{number:.2f}')
";

/// The balances that beancount computes.
fn beancount_balances(file: &Path) -> BTreeMap<String, i64> {
    let folder = std::env::var("CAUSEWAY_TEST_BEANCOUNT").expect("tests/with-services.sh sets it");
    let folder = Path::new(&folder);
    output_of(Command::new(folder.join("bean-check")).arg(file));
    let mut python = Command::new(folder.join("python"));
    let balances = output_of(python.args(["-c", BEANCOUNT_BALANCES]).arg(file));
    let rows = balances.lines().map(|line| {
        let (account, amount) = line.split_once(' ').unwrap();
        (account.to_owned(), cents(amount))
    });
    rows.filter(|(_, balance)| *balance != 0).collect()
}

fn cents(decimal: &str) -> i64 {
    decimal.replace(['.', ','], "").parse().unwrap()
}

async fn balances_follow_the_money_and_accounting_programs_agree(world: &World) {
    world.load_demo().await;
    let text = output_of(command(world).args(["check", "--balances"]));
    assert!(text.ends_with("the books have no entries\n"), "{text}");
    write_history(world).await;
    let balances = run(world, &["check", "--balances"])["balances"].clone();
    let owed = |ein: &str| balances["live"][format!("owed:{}", id_of(ein))].as_i64().unwrap();
    // Charges of $175.00 less fees of $5.98, a lost dispute with its fee, a payout, and a fee of Stripe.
    let fees = 320 + 175 + 102;
    assert_eq!(
        balances["live"]["cash:stripe"],
        17_500 - fees - 2_500 - 1_500 - 8_000 - 200
    );
    assert_eq!(balances["live"]["fees:stripe"], fees + 1_500);
    assert_eq!(balances["live"]["bank"], 8_000 - 4_000);
    assert_eq!(balances["live"]["operator"], 200 - fees);
    assert_eq!(owed(RED_CROSS) + owed(NYU), -(17_500 - fees - 2_500 - 4_000));
    assert_eq!(balances["test"]["cash:stripe"], 650);
    // The checkpoint has the same balances as the whole ledger.
    for arguments in [&["check", "--balances"][..], &["check", "--balances", "--full"]] {
        assert_eq!(run(world, arguments)["balances"], balances);
    }
    let text = output_of(command(world).args(["check", "--balances"]));
    for expected in ["balances of live entries:", "  cash:stripe: $47.03", "  owed to "] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for (flags, mode) in [(&[][..], "live"), (&["--test"][..], "test")] {
        let export = |format: &str| {
            let exported = output_of(
                command(world)
                    .args(["ledger", "export", "--format", format])
                    .args(flags),
            );
            world.file(&format!("{mode}.{format}"), exported)
        };
        let expected = exported_names(&balances[mode]);
        assert_eq!(beancount_balances(&export("beancount")), expected);
        assert_eq!(hledger_balances(&export("hledger")), expected);
    }
}

async fn a_movement_is_entered_once(world: &World) {
    world.load_demo().await;
    write_history(world).await;
    let before = run(world, &["check", "--balances"]);
    let recorder = &world.app.giving.recorder;
    let operators = match settlement("ch_1", 10_000, 320) {
        Movement::Settlement {
            transaction,
            settles,
            amount,
            fee,
            ..
        } => Movement::Settlement {
            transaction,
            settles,
            amount,
            fee,
            fees_paid_by: FeesPaidBy::Operator,
        },
        other => other,
    };
    // The setting changed since, but this charge was already settled.
    for repeated in [
        operators,
        payout("txn_po_1", 8_000),
        disbursement("b1-1", 4_000),
        Movement::DisbursementReturned { id: label("b1-2") },
    ] {
        assert!(!recorder.enter(repeated).await.unwrap().is_new);
    }
    let renamed = match settlement("ch_1", 10_000, 320) {
        Movement::Settlement {
            settles,
            amount,
            fee,
            fees_paid_by,
            ..
        } => Movement::Settlement {
            transaction: label("txn_other"),
            settles,
            amount,
            fee,
            fees_paid_by,
        },
        other => other,
    };
    let error = async |movement| recorder.enter(movement).await.unwrap_err();
    assert!(matches!(error(renamed).await, BooksError::AlreadySettled { .. }));
    assert!(matches!(
        error(settlement("ch_1", 10_000, 321)).await,
        BooksError::Conflict { .. }
    ));
    assert!(matches!(
        error(payout("txn_po_1", 8_001)).await,
        BooksError::Conflict { .. }
    ));
    assert!(matches!(
        error(settlement("ch_9", 1, 0)).await,
        BooksError::NoSuchEntry { .. }
    ));
    assert!(matches!(
        error(disbursement("b2-1", 100_000)).await,
        BooksError::MoreThanOwed { .. }
    ));
    donate_again_and_settle_another_amount(world).await;
    let after = run(world, &["check", "--balances"]);
    assert_eq!(before["balances"], after["balances"]);
}

/// One cent more than the donor gave is not entered.
async fn donate_again_and_settle_another_amount(world: &World) {
    let to = json!({"nonprofitId": id_of(RED_CROSS)});
    donate_in(Mode::Live, world, &to, "ch_4", "ben", 900)
        .await
        .unwrap();
    let recorder = &world.app.giving.recorder;
    let error = recorder.enter(settlement("ch_4", 901, 0)).await.unwrap_err();
    assert!(matches!(error, BooksError::AmountDiffers { .. }), "{error}");
    let sentence = error.to_string();
    assert!(
        sentence.contains("$9.00") && sentence.contains("$9.01"),
        "{sentence}"
    );
}

async fn a_changed_entry_of_the_books_is_found(world: &World) {
    world.load_demo().await;
    write_history(world).await;
    run(world, &["check"]);
    world
        .execute("update ledger_postings set amount = amount + 1 where party = 'bank' and amount = 8000")
        .await;
    let output = command(world).args(["check", "--full"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("payout txn_po_1"), "{error}");
}
