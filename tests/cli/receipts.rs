//! `causeway check` compares receipts with the ledger, and receipts show what the ledger says.

use super::server::{command, run};
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;

on_both_databases!(a_changed_receipt_is_found_and_not_shown,);

/// Gives an amount and returns the path of the receipt.
async fn give(visitor: &Visitor, amount: &str) -> String {
    let url = "/american-red-cross/give";
    let form = visitor.get(200, url).await.text();
    let once = hidden(&form, "once");
    let fields = [("amount", "other"), ("other_amount", amount), ("once", &once)];
    let started = visitor.post(303, url, &fields).await;
    let receipt = started.header("location").to_owned();
    let card = [("card", "4242 4242 4242 4242")];
    visitor.post(303, &receipt, &card).await;
    receipt
}

fn check(world: &World, arguments: &[&str]) -> String {
    let output = command(world).arg("check").args(arguments).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    error
}

async fn a_changed_receipt_is_found_and_not_shown(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let receipt = give(&visitor, "34").await;
    give(&visitor, "20").await;
    assert_eq!(run(world, &["check"])["receipts"], 2);
    let changes = [
        (
            "amount = 103300",
            "amount = 3400",
            "has the amount $1,033.00, but entry 1 has $34.00",
        ),
        (
            "livemode = not livemode",
            "livemode = not livemode",
            "has the mode live",
        ),
        (
            "state = 'refunded'",
            "state = 'completed'",
            "is refunded, but nothing of entry 1 went back",
        ),
        (
            "state = 'failed'",
            "state = 'completed'",
            "is failed, but it is in the ledger",
        ),
        (
            "entry = 2",
            "entry = 1",
            "names entry 2, which is that of donation",
        ),
        (
            "entry = 9",
            "entry = 1",
            "names entry 9, which is no donation made here",
        ),
        ("entry = null", "entry = 1", "entry 1 is donation"),
    ];
    // The first donation, whatever its entry is.
    let ids = world
        .texts("select external_id from ledger_entries order by sequence")
        .await;
    let row = match &world.app.db {
        platform::db::Db::Sqlite { .. } => format!("id = x'{}'", ids[0].replace('-', "")),
        platform::db::Db::Postgres(_) => format!("id = '{}'", ids[0]),
    };
    for (change, undo, expected) in changes {
        world
            .execute_owned(format!("update donations set {change} where {row}"))
            .await;
        let error = check(world, &[]);
        assert!(error.contains(expected), "{change}: {error}");
        assert!(check(world, &["--full"]).contains(expected));
        if change.starts_with("amount") {
            let page = visitor.get(200, &receipt).await.text();
            assert!(page.contains("$34.00") && !page.contains("1,033"), "{page}");
        }
        world
            .execute_owned(format!("update donations set {undo} where {row}"))
            .await;
    }
    world
        .execute_owned(format!("delete from donations where {row}"))
        .await;
    let error = check(world, &[]);
    assert!(error.contains("but its receipt is missing"), "{error}");
}
