//! Refunds, failed refunds, disputes and inquiries.

use super::bank::{Bank, VALID_CARD};
use crate::dashboard::visitor::{between, emails};
use crate::world::World;
use giving::checkout::store as checkout;
use giving::payments::error::PaymentError;
use platform::money::Cents;
use serde_json::json;
use uuid::Uuid;

on_both_databases!(
    a_refund_goes_back_to_the_donor_once,
    a_refund_whose_answer_is_an_error_is_found_at_stripe,
    a_refund_from_the_dashboard_of_stripe_is_entered,
    a_refund_that_fails_is_reversed,
    a_dispute_that_is_won_gives_the_money_back,
    a_lost_dispute_keeps_the_money_away_and_an_inquiry_moves_none,
);

const STATES: &str = "select state from donations";
const KINDS: &str = "select kind || ' ' || cast(amount as text) from ledger_entries order by sequence";

pub async fn donation(world: &World) -> giving::checkout::Donation {
    let mut tx = world.app.db.view().await.unwrap();
    let ids: Vec<Uuid> = tx
        .fetch_scalars(platform::db::query("select id from donations"))
        .await
        .unwrap();
    checkout::find(&world.app.db, ids[0]).await.unwrap().unwrap()
}

/// The subjects of the emails to the donor about what became of the donation, in order of the alphabet.
async fn subjects(world: &World, bank: &Bank, count: usize) -> Vec<String> {
    bank.app.giving_notices().queue_events().await.unwrap();
    let sent = emails(world, count + 1).await;
    let mut subjects: Vec<String> = sent
        .iter()
        .filter_map(|email| between(email, "Subject: Test mode: ", "\n"))
        .collect();
    subjects.retain(|subject| !subject.starts_with("Your donation of "));
    subjects.sort();
    subjects
}

async fn a_refund_goes_back_to_the_donor_once(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let payments = bank.app.payments().unwrap();
    // All answers are lost, also those to the question what became of it, and the operator asks again.
    let fault = json!({ "kind": "hang_up_after", "path": "/v1/refunds" });
    bank.control("faults", fault).await;
    let part = Some(Cents::new(500));
    payments.refund(donation(world).await, part).await.unwrap_err();
    bank.remove_faults().await;
    let first = payments.refund(donation(world).await, part).await.unwrap();
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    let totals = bank.read("refunds").await;
    assert_eq!(totals["data"].as_array().unwrap().len(), 1, "{totals}");
    // Another one of the same amount is another refund.
    let second = payments.refund(donation(world).await, part).await.unwrap();
    assert_ne!(first.id, second.id);
    let error = payments
        .refund(donation(world).await, Some(Cents::new(1_501)))
        .await;
    assert!(
        matches!(error, Err(PaymentError::MoreThanLeft { .. })),
        "{error:?}"
    );
    payments.refund(donation(world).await, None).await.unwrap();
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["refunded"]);
    bank.assert_reconciled().await;
}

async fn a_refund_from_the_dashboard_of_stripe_is_entered(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let charge = donation(world).await.payment.charge.unwrap();
    bank.call("refunds", &format!("charge={charge}")).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["refunded"]);
    assert_eq!(
        world.texts(KINDS).await,
        [
            "donation 2500",
            "settlement 2397",
            "refund -2500",
            "settlement -2500"
        ]
    );
    bank.assert_reconciled().await;
}

async fn a_refund_that_fails_is_reversed(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", "4000000000005126").await;
    bank.settle(world).await;
    let payments = bank.app.payments().unwrap();
    let refund = payments.refund(donation(world).await, None).await.unwrap();
    bank.control(
        &format!("refunds/{}/fail", refund.id),
        json!({ "reason": "lost_or_stolen_card" }),
    )
    .await;
    bank.settle(world).await;
    assert_eq!(
        subjects(world, &bank, 2).await,
        [
            "$25.00 of your donation was refunded",
            "A refund of $25.00 did not reach you"
        ]
    );
    assert_eq!(world.texts(STATES).await, ["completed"]);
    let kinds = world.texts(KINDS).await;
    assert!(kinds.contains(&"refund_failed 2500".to_owned()), "{kinds:?}");
    bank.assert_reconciled().await;
}

async fn a_dispute_that_is_won_gives_the_money_back(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let charge = donation(world).await.payment.charge.unwrap();
    let dispute = bank
        .control(
            &format!("charges/{charge}/dispute"),
            json!({ "reason": "fraudulent" }),
        )
        .await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["disputed"]);
    let payments = bank.app.payments().unwrap();
    let error = payments.refund(donation(world).await, None).await;
    assert!(matches!(error, Err(PaymentError::Disputed)), "{error:?}");
    bank.assert_reconciled().await;
    let id = dispute["id"].as_str().unwrap();
    bank.control(&format!("disputes/{id}/win"), json!({})).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    bank.assert_reconciled().await;
    assert_eq!(
        subjects(world, &bank, 2).await,
        [
            "The dispute about your donation has ended",
            "Your bank asks about your donation of $25.00"
        ]
    );
}

async fn a_lost_dispute_keeps_the_money_away_and_an_inquiry_moves_none(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let charge = donation(world).await.payment.charge.unwrap();
    let inquiry = bank
        .control(
            &format!("charges/{charge}/inquire"),
            json!({ "reason": "general" }),
        )
        .await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    let payments = bank.app.payments().unwrap();
    let error = payments.refund(donation(world).await, None).await;
    assert!(matches!(error, Err(PaymentError::Disputed)), "{error:?}");
    let id = inquiry["id"].as_str().unwrap();
    bank.control(&format!("disputes/{id}/escalate"), json!({})).await;
    bank.control(&format!("disputes/{id}/lose"), json!({})).await;
    bank.settle(world).await;
    assert_eq!(
        subjects(world, &bank, 2).await,
        [
            "Your bank asks about your donation of $25.00",
            "Your bank has returned $25.00 to you"
        ]
    );
    assert_eq!(world.texts(STATES).await, ["disputed"]);
    bank.assert_reconciled().await;
}

async fn a_refund_whose_answer_is_an_error_is_found_at_stripe(world: &World) {
    let bank = Bank::open(world).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    // Stripe acts, answers with an error, and repeats that for a day.
    let fault = json!({ "kind": "error_after", "method": "POST", "path": "/v1/refunds", "count": 1 });
    bank.control("faults", fault).await;
    let payments = bank.app.payments().unwrap();
    let part = Some(Cents::new(500));
    let refund = payments.refund(donation(world).await, part).await.unwrap();
    bank.settle(world).await;
    let refunds = bank.read("refunds").await;
    assert_eq!(refunds["data"].as_array().unwrap().len(), 1, "{refunds}");
    assert_eq!(refunds["data"][0]["id"], refund.id.as_str());
    bank.assert_reconciled().await;
}
