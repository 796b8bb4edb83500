//! Reconciliation names every difference with its amount and its ID.

use super::bank::{Bank, VALID_CARD};
use crate::world::World;
use serde_json::{Value, json};

on_both_databases!(
    a_planted_difference_of_one_cent_is_named,
    a_missed_charge_is_entered_and_a_foreign_one_is_named,
    a_doubled_entry_is_named,
    payouts_and_fees_of_stripe_are_entered,
);

/// The newest balance transaction.
async fn transaction(bank: &Bank) -> Value {
    bank.read("balance_transactions?limit=1").await["data"][0].clone()
}

async fn a_planted_difference_of_one_cent_is_named(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let transaction = transaction(&bank).await;
    let id = transaction["id"].as_str().unwrap();
    bank.control(&format!("transactions/{id}"), json!({ "fee": 104 }))
        .await;
    let (compared, differences) = bank.reconcile().await;
    assert_eq!(
        differences,
        [format!("other entry {id} 2396"), "balance balance -1".to_owned()]
    );
    assert_eq!(compared.ledger_balance.get() - compared.balance.get(), 1);
    // Stripe corrects it.
    bank.control(&format!("transactions/{id}"), json!({ "fee": 103 }))
        .await;
    bank.assert_reconciled().await;
}

async fn a_missed_charge_is_entered_and_a_foreign_one_is_named(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let (compared, differences) = bank.reconcile().await;
    assert!(differences.is_empty(), "{differences:?}");
    assert_eq!(compared.entered, 1);
    assert_eq!(world.texts("select state from donations").await, ["completed"]);
    let form = "amount=700&currency=usd&confirm=true&payment_method=pm_card_visa\
        &automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never";
    bank.call("payment_intents", form).await;
    bank.settle(world).await;
    let foreign = transaction(&bank).await;
    let (id, net) = (foreign["id"].as_str().unwrap(), &foreign["net"]);
    let (_, differences) = bank.reconcile().await;
    assert_eq!(
        differences,
        [
            format!("unknown transaction {id} {net}"),
            format!("balance balance {net}")
        ]
    );
    let payments = bank.app.payments().unwrap();
    assert!(payments.explain(id, "sold a calendar").await.unwrap());
    bank.assert_reconciled().await;
}

async fn a_doubled_entry_is_named(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    bank.assert_reconciled().await;
    let movement = giving::books::Movement::OtherSettlement {
        transaction: "txn_doubled".parse().unwrap(),
        mode: giving::ledger::entry::Mode::Test,
        net: platform::money::Cents::new(2_397),
    };
    bank.app.giving.recorder.enter(movement).await.unwrap();
    let (_, differences) = bank.reconcile().await;
    assert_eq!(
        differences,
        ["no transaction txn_doubled 2397", "balance balance -2397"]
    );
    let payments = bank.app.payments().unwrap();
    payments.explain("balance", "no reason").await.unwrap_err();
    assert!(payments.explain("txn_doubled", "entered twice").await.unwrap());
    bank.assert_reconciled().await;
}

async fn payouts_and_fees_of_stripe_are_entered(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", "4000000000000077").await;
    bank.settle(world).await;
    bank.control(
        "transactions",
        json!({ "amount": -25, "type": "stripe_fee", "category": "fee", "count": 1 }),
    )
    .await;
    bank.control("payouts", json!({ "livemode": false })).await;
    bank.settle(world).await;
    bank.assert_reconciled().await;
    let kinds = world.texts("select kind from ledger_entries order by kind").await;
    assert_eq!(kinds, ["donation", "payout", "settlement", "settlement"]);
}
