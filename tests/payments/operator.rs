//! What operators see and do about payments: the money page, the page of a donation, the overview and the metrics.

use super::bank::{Bank, VALID_CARD};
use crate::client::Response;
use crate::dashboard::operator::operator;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use causeway::server::scrape::scrape;
use serde_json::json;

on_both_databases!(
    the_money_page_is_for_operators_of_servers_with_stripe,
    an_operator_sees_differences_and_explains_them,
    disputes_are_listed_until_they_are_decided,
    payments_that_take_too_long_are_listed,
    an_operator_refunds_a_donation_on_its_page,
    a_refund_that_cannot_be_made_says_why,
);

const HOME: &str = "/dashboard/operator";
const MONEY: &str = "/dashboard/operator/money";
const REFUNDS: &str = "select kind || ' ' || cast(amount as text) from ledger_entries where kind = 'refund'";

/// Signs up an operator at the server that uses Stripe.
async fn operator_of(world: &World, bank: &Bank) -> Visitor {
    operator(world).await.at(&bank.client)
}

fn assert_shows(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text}: {page}");
    }
}

/// The path of the operator's page of the only donation.
async fn donation_page(world: &World) -> String {
    let entries = "select cast(entry as text) from donations where entry is not null";
    format!("{HOME}/donations/{}", world.texts(entries).await[0])
}

async fn charge(world: &World) -> String {
    world.texts("select charge from donations").await[0].clone()
}

async fn the_money_page_is_for_operators_of_servers_with_stripe(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator_of(world, &bank).await;
    let page = operator.get(200, MONEY).await.text();
    assert_shows(
        &page,
        &[
            "There are no open differences.",
            "There are no open disputes.",
            "No payment is taking longer than usual.",
            "has not been compared with Stripe yet",
            "Test mode: no real money moves",
        ],
    );
    assert!(page.contains("href=\"/dashboard/operator/money\""), "{page}");
    let elsewhere = operator.at(&world.client);
    elsewhere.get(404, MONEY).await;
    let home = elsewhere.get(200, HOME).await.text();
    assert!(!home.contains("operator/money"), "{home}");
    assert!(!scrape(&world.app).await.contains("causeway_unreconciled_cents"));
    let visitor = Visitor::with_client(&bank.client);
    visitor.get(303, MONEY).await;
    visitor.sign_up("grace").await;
    visitor.get(403, MONEY).await;
    visitor
        .post(403, &format!("{MONEY}/txn_1/explain"), &[("note", "mine")])
        .await;
}

async fn an_operator_sees_differences_and_explains_them(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator_of(world, &bank).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let form = "amount=700&currency=usd&confirm=true&payment_method=pm_card_visa\
        &automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never";
    bank.call("payment_intents", form).await;
    bank.settle(world).await;
    let transaction = bank.read("balance_transactions?limit=1").await["data"][0].clone();
    let (id, net) = (
        transaction["id"].as_str().unwrap(),
        transaction["net"].as_i64().unwrap(),
    );
    bank.reconcile().await;

    let home = operator.get(200, HOME).await.text();
    assert_shows(&home, &["Differences between Stripe and the ledger: 2"]);
    let page = operator.get(200, MONEY).await.text();
    let link = format!("https://dashboard.stripe.com/test/search?query={id}");
    assert_shows(
        &page,
        &[
            "Transaction that belongs to nothing in the ledger",
            "which the ledger does not know",
            &link,
            "All transactions until",
            "<dt>At Stripe</dt><dd>$23.97</dd>",
            "<dt>Fees kept by Stripe</dt><dd>$1.03</dd>",
            "<dt>Owed to nonprofits</dt><dd>$23.97</dd>",
        ],
    );
    let metrics = scrape(&bank.app).await;
    assert_shows(
        &metrics,
        &[
            &format!("causeway_unreconciled_cents {}\n", 2 * net),
            "causeway_payment_events_waiting 0\n",
            "causeway_disputes_unanswered 0\n",
        ],
    );

    let explain = format!("{MONEY}/{id}/explain");
    let refused = operator.post(422, &explain, &[("note", " ")]).await.text();
    assert_shows(&refused, &["Enter an explanation", "aria-invalid=\"true\""]);
    // The balance follows from the other differences.
    operator
        .post(404, &format!("{MONEY}/balance/explain"), &[("note", "no idea")])
        .await;
    let note = [("note", "sold a <b>calendar</b>")];
    operator.post(303, &explain, &note).await;
    operator.post(303, &explain, &note).await;
    bank.assert_reconciled().await;
    let page = operator.get(200, MONEY).await.text();
    assert_shows(&page, &["There are no open differences."]);
    let audit = operator.get(200, &format!("{HOME}/audit")).await.text();
    assert_eq!(audit.matches("payment explain").count(), 1, "{audit}");
    // Sums that start at a checkpoint are the same.
    crate::cli::server::run(world, &["check"]);
    let page = operator.get(200, MONEY).await.text();
    let cash = format!(
        "<dt>At Stripe</dt><dd>{}</dd>",
        platform::money::Cents::new(2_397 + net)
    );
    assert_shows(&page, &[&cash]);
}

async fn disputes_are_listed_until_they_are_decided(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator_of(world, &bank).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let path = format!("charges/{}/dispute", charge(world).await);
    let dispute = bank
        .control(&path, json!({ "reason": "product_not_received" }))
        .await;
    bank.settle(world).await;
    let home = operator.get(200, HOME).await.text();
    assert_shows(
        &home,
        &[
            "Disputes that need a response: 1",
            "Respond to the first one by",
            MONEY,
        ],
    );
    let id = dispute["id"].as_str().unwrap();
    let link = format!("https://dashboard.stripe.com/test/disputes/{id}");
    let shown = ["product not received", "Respond by", "Needs a response", &link];
    assert_shows(&operator.get(200, MONEY).await.text(), &shown);
    let page = operator.get(200, &donation_page(world).await).await.text();
    assert_shows(&page, &shown);
    assert!(!page.contains("/refund\""), "{page}");
    bank.control(&format!("disputes/{id}/win"), json!({})).await;
    bank.settle(world).await;
    let page = operator.get(200, MONEY).await.text();
    assert_shows(&page, &["There are no open disputes."]);
    let home = operator.get(200, HOME).await.text();
    assert!(!home.contains("need a response"), "{home}");
    let page = operator.get(200, &donation_page(world).await).await.text();
    assert_shows(&page, &["dispute won", "<dt>Status</dt><dd>completed</dd>"]);
}

async fn payments_that_take_too_long_are_listed(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator_of(world, &bank).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    world
        .execute("update donations set state = 'processing', changed_at = changed_at - 600000000")
        .await;
    let page = operator.get(200, MONEY).await.text();
    assert_shows(&page, &["No payment is taking longer than usual."]);
    world
        .execute("update donations set changed_at = changed_at - 10000000")
        .await;
    let page = operator.get(200, MONEY).await.text();
    assert_shows(&page, &["processing for more than a week", "<td>processing</td>"]);
}

/// Sends the refund form as the page shows it, with another amount.
async fn refund(operator: &Visitor, page: &str, expected: u16, amount: &str) -> Response {
    let shown = operator.get(200, page).await.text();
    let left = hidden(&shown, "left");
    let fields = [("amount", amount), ("left", &left)];
    operator.post(expected, &format!("{page}/refund"), &fields).await
}

async fn an_operator_refunds_a_donation_on_its_page(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator_of(world, &bank).await;
    let session = bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let page = donation_page(world).await;
    let shown = operator.get(200, &page).await.text();
    let charge = format!(
        "https://dashboard.stripe.com/test/payments/{}",
        charge(world).await
    );
    assert_shows(
        &shown,
        &[
            &session,
            &charge,
            "checkout.session.completed",
            "charge.succeeded",
            "settlement",
            "$23.97",
            "At most $25.00",
        ],
    );
    let old = [("amount", "5"), ("left", "25")];
    refund(&operator, &page, 303, "5").await;
    bank.settle(world).await;
    assert_eq!(world.texts(REFUNDS).await, ["refund -500"]);
    // The same form again, by a double click or with the back button.
    let refused = operator.post(422, &format!("{page}/refund"), &old).await.text();
    assert_shows(&refused, &["This donation has changed", "At most $20.00"]);
    assert_eq!(world.texts(REFUNDS).await, ["refund -500"]);
    refund(&operator, &page, 303, "$20.00").await;
    bank.settle(world).await;
    let shown = operator.get(200, &page).await.text();
    assert_shows(&shown, &["<dt>Status</dt><dd>refunded</dd>", "re_"]);
    assert!(!shown.contains("/refund\""), "{shown}");
    operator.post(404, &format!("{page}/refund"), &old).await;
    let audit = operator.get(200, &format!("{HOME}/audit")).await.text();
    assert_eq!(audit.matches("donation refund").count(), 2, "{audit}");
    bank.assert_reconciled().await;
}

async fn a_refund_that_cannot_be_made_says_why(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator_of(world, &bank).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let page = donation_page(world).await;
    for (amount, text) in [
        ("", "Enter an amount greater than $0"),
        ("0", "Enter an amount greater than $0"),
        ("1.005", "Enter an amount greater than $0"),
        ("25.01", "Only $25.00 of this donation is left"),
    ] {
        let refused = refund(&operator, &page, 422, amount).await.text();
        assert_shows(&refused, &[text, "href=\"#amount\""]);
    }
    // All answers are lost, also those to the question what became of it.
    let fault = json!({ "kind": "hang_up_after", "path": "/v1/refunds" });
    bank.control("faults", fault).await;
    let refused = refund(&operator, &page, 422, "5").await.text();
    bank.remove_faults().await;
    assert_shows(&refused, &["Stripe did not answer", "Waiting for Stripe"]);
    bank.settle(world).await;
    let shown = operator.get(200, &page).await.text();
    assert_shows(&shown, &["A refund of $5.00 was requested", "value=\"5\""]);
    let refused = refund(&operator, &page, 422, "6").await.text();
    assert_shows(&refused, &["Request that amount again first"]);
    refund(&operator, &page, 303, "5").await;
    bank.settle(world).await;
    assert_eq!(world.texts(REFUNDS).await, ["refund -500"]);
    let path = format!("charges/{}/inquire", charge(world).await);
    let left = hidden(&operator.get(200, &page).await.text(), "left");
    bank.control(&path, json!({ "reason": "general" })).await;
    bank.settle(world).await;
    let fields = [("amount", "1"), ("left", left.as_str())];
    let refused = operator
        .post(422, &format!("{page}/refund"), &fields)
        .await
        .text();
    assert_shows(&refused, &["This donation is disputed"]);
    bank.assert_reconciled().await;
}
