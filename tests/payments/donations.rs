//! Donations by Stripe, from the form to the ledger, whatever is lost on the way.

use super::bank::{Bank, PROFILE, VALID_CARD, session_of};
use crate::world::World;
use giving::checkout::State;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    a_donation_is_paid_on_the_page_of_stripe_and_reaches_the_books,
    a_donation_without_any_event_is_settled_when_the_donor_returns,
    a_donation_whose_donor_never_returns_is_settled_by_the_sweep,
    a_form_that_is_sent_again_leads_to_the_same_session,
    a_lost_answer_creates_no_second_session,
    a_declined_card_can_be_replaced,
    a_bank_debit_is_processing_until_the_bank_confirms,
    a_bank_debit_that_failed_can_be_tried_again,
    payments_go_on_after_another_provider_was_chosen,
    a_session_that_is_never_paid_expires_at_stripe_first,
    a_second_charge_is_refunded_and_listed,
    a_donation_on_new_years_eve_counts_for_the_old_year,
);

const STATES: &str = "select state from donations order by started_at";
const ENTRIES: &str = "select kind || ' ' || cast(amount as text) from ledger_entries order by sequence";

async fn a_donation_is_paid_on_the_page_of_stripe_and_reaches_the_books(world: &World) {
    let bank = Bank::open(world).await;
    let form = bank.visitor.get(200, &format!("{PROFILE}/give")).await;
    let policy = form.header("content-security-policy").to_owned();
    assert!(
        policy.contains("form-action 'self' http://127.0.0.1:"),
        "{policy}"
    );
    let url = bank
        .start(PROFILE, &[("amount", "25"), ("email", "ada@example.org")])
        .await;
    let session = session_of(&url);
    assert_eq!(world.texts(STATES).await, ["started"]);
    let created = bank.read(&format!("checkout/sessions/{session}")).await;
    assert_eq!(created["submit_type"], "donate");
    assert_eq!(created["amount_total"], 2_500);
    bank.pay(&session, VALID_CARD).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    // The donation, and its settlement: 2.9% and 30 cents stay with Stripe.
    assert_eq!(world.texts(ENTRIES).await, ["donation 2500", "settlement 2397"]);
    let receipt = receipt(world, &bank).await;
    for text in [
        "Thank you",
        "$25.00",
        "Causeway Foundation",
        "12-3456789",
        "It is meant for:",
        "Test mode: no money was charged",
    ] {
        assert!(receipt.contains(text), "{text}: {receipt}");
    }
    bank.assert_reconciled().await;
}

/// Opens the page of the only donation.
async fn receipt(world: &World, bank: &Bank) -> String {
    bank.visitor.get(200, &path(world).await).await.text()
}

/// The path of the page of the donation that has another session.
async fn other_path(world: &World, session: &str) -> String {
    let query = platform::db::query("select receipt_id from donations where session <> $1").bind(session);
    let id: uuid::Uuid = world.app.db.fetch_scalar(query).await.unwrap();
    format!("/donations/{id}")
}

async fn path(world: &World) -> String {
    let mut tx = world.app.db.view().await.unwrap();
    let ids: Vec<uuid::Uuid> = tx
        .fetch_scalars(platform::db::query("select receipt_id from donations"))
        .await
        .unwrap();
    format!("/donations/{}", ids[0])
}

async fn a_donation_without_any_event_is_settled_when_the_donor_returns(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    bank.give("25", VALID_CARD).await;
    assert_eq!(world.texts(STATES).await, ["started"]);
    // The session of another donation says nothing about this one.
    let paid = world.texts("select session from donations").await[0].clone();
    bank.start(PROFILE, &[("amount", "30")]).await;
    let unpaid = other_path(world, &paid).await;
    let query = format!("{unpaid}?paid=true&session_id={paid}");
    let page = bank.visitor.get(200, &query).await.text();
    assert!(page.contains("Complete your donation"), "{page}");
    assert_eq!(world.texts(STATES).await, ["started", "started"]);
    world
        .execute_owned(format!("delete from donations where session <> '{paid}'"))
        .await;
    assert!(receipt(world, &bank).await.contains("Thank you"));
    assert_eq!(world.texts(STATES).await, ["completed"]);
    // Stripe tells its fee later; the reconciliation enters what no event told.
    bank.settle(world).await;
    bank.assert_reconciled().await;
    assert_eq!(world.texts(ENTRIES).await, ["donation 2500", "settlement 2397"]);
}

async fn a_donation_whose_donor_never_returns_is_settled_by_the_sweep(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    bank.give("25", VALID_CARD).await;
    let payments = bank.app.payments().unwrap();
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(STATES).await, ["started"], "not yet two minutes old");
    world.app.clock.advance(Duration::from_secs(121));
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(STATES).await, ["completed"]);
    bank.settle(world).await;
    world.app.clock.advance(Duration::from_secs(121));
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(ENTRIES).await, ["donation 2500", "settlement 2397"]);
    bank.assert_reconciled().await;
}

async fn a_form_that_is_sent_again_leads_to_the_same_session(world: &World) {
    let bank = Bank::open(world).await;
    let give = format!("{PROFILE}/give");
    let form = bank.visitor.get(200, &give).await.text();
    let once = crate::dashboard::visitor::hidden(&form, "once");
    let fields = [("amount", "25"), ("once", once.as_str())];
    let clicks = std::iter::repeat_with(|| bank.visitor.post(303, &give, &fields)).take(6);
    let responses = futures_util::future::join_all(clicks).await;
    let first = responses[0].header("location");
    assert!(
        responses
            .iter()
            .all(|response| response.header("location") == first)
    );
    // Once it is paid, the same form shows the receipt.
    bank.pay(&session_of(first), VALID_CARD).await;
    bank.settle(world).await;
    let again = bank.visitor.post(303, &give, &fields).await;
    assert_eq!(again.header("location"), path(world).await);
    assert_eq!(
        bank.read("checkout/sessions").await["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn a_lost_answer_creates_no_second_session(world: &World) {
    let bank = Bank::open(world).await;
    let fault =
        json!({ "kind": "hang_up_after", "method": "POST", "path": "/v1/checkout/sessions", "count": 1 });
    bank.control("faults", fault).await;
    bank.give("25", VALID_CARD).await;
    // Every answer is lost, so the donor sees the page of the donation; the sweep finds the session.
    let fault =
        json!({ "kind": "hang_up_after", "method": "POST", "path": "/v1/checkout/sessions", "count": 3 });
    bank.control("faults", fault).await;
    let location = bank.start(PROFILE, &[("amount", "30")]).await;
    assert!(location.starts_with("/donations/"), "{location}");
    let page = bank.visitor.get(200, &location).await.text();
    assert!(page.contains("Continue to payment"), "{page}");
    let url = bank.visitor.post(303, &location, &[]).await;
    bank.pay(&session_of(url.header("location")), VALID_CARD).await;
    bank.settle(world).await;
    assert_eq!(
        bank.read("checkout/sessions").await["data"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(world.texts(STATES).await, ["completed", "completed"]);
    bank.assert_reconciled().await;
}

async fn a_declined_card_can_be_replaced(world: &World) {
    let bank = Bank::open(world).await;
    let url = bank.start(PROFILE, &[("amount", "25")]).await;
    let session = session_of(&url);
    let body = json!({ "card_number": "4000000000000002", "email": "ada@example.org" });
    let _ = bank.try_control(&format!("sessions/{session}/pay"), body).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["failed"]);
    bank.pay(&session, VALID_CARD).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    bank.assert_reconciled().await;
}

async fn a_bank_debit_is_processing_until_the_bank_confirms(world: &World) {
    let bank = Bank::open(world).await;
    let url = bank.start(PROFILE, &[("amount", "25")]).await;
    let session = session_of(&url);
    let body = json!({ "account_number": "000123456789", "email": "ada@example.org" });
    bank.control(&format!("sessions/{session}/pay"), body).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["processing"]);
    let page = receipt(world, &bank).await;
    assert!(page.contains("being processed"), "{page}");
    bank.control("clock", json!({ "advance": 5 * 86_400 })).await;
    world.app.clock.advance(Duration::from_hours(120));
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    bank.assert_reconciled().await;
}

async fn a_bank_debit_that_failed_can_be_tried_again(world: &World) {
    let bank = Bank::open(world).await;
    let fields = [("amount", "25"), ("name", "Ada"), ("email", "ada@example.org")];
    let first = session_of(&bank.start(PROFILE, &fields).await);
    let body = json!({ "account_number": "000222222227", "email": "ada@example.org" });
    bank.control(&format!("sessions/{first}/pay"), body).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["processing"]);
    bank.control("clock", json!({ "advance": 5 * 86_400 })).await;
    world.app.clock.advance(Duration::from_hours(120));
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["failed"]);
    let page = receipt(world, &bank).await;
    for text in ["did not go through", "$25.00", "Ada", "Continue to payment"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // Two clicks lead to one new session.
    let page = path(world).await;
    let clicks = std::iter::repeat_with(|| bank.visitor.post(303, &page, &[])).take(3);
    let clicks = futures_util::future::join_all(clicks).await;
    let urls: Vec<&str> = clicks
        .iter()
        .map(|response| response.header("location"))
        .collect();
    let second = session_of(urls[0]);
    assert!(
        second != first && urls.iter().all(|url| session_of(url) == second),
        "{urls:?}"
    );
    // What is reported late about the first attempt changes nothing, and the new one is not given up too early.
    let body = json!({ "account_number": "000123456789", "email": "ada@example.org" });
    bank.control(&format!("sessions/{second}/pay"), body).await;
    bank.settle(world).await;
    let payments = bank.app.payments().unwrap();
    for session in [&first, &second] {
        let event = json!({
            "id": format!("evt_late_{session}"), "type": "checkout.session.async_payment_failed", "created": 1,
            "livemode": false, "data": {"object": bank.read(&format!("checkout/sessions/{first}")).await},
        });
        let event: giving::providers::stripe::objects::Event = serde_json::from_value(event).unwrap();
        assert!(payments.receive(&event, false).await.unwrap());
        payments.handle(event).await.unwrap();
    }
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(STATES).await, ["processing"]);
    bank.control("clock", json!({ "advance": 5 * 86_400 })).await;
    world.app.clock.advance(Duration::from_hours(120));
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    assert_eq!(world.texts(ENTRIES).await[0], "donation 2500");
    bank.assert_reconciled().await;
}

async fn payments_go_on_after_another_provider_was_chosen(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    let session = session_of(&bank.start(PROFILE, &[("amount", "25")]).await);
    bank.start(PROFILE, &[("amount", "30")]).await;
    let mut config = bank.app.config.clone();
    config.giving = giving::providers::Provider::Link("https://pay.example.org/{ein}".to_owned());
    let app = causeway::app::App::build_with_clock(config.clone(), world.app.clock.clone())
        .await
        .unwrap();
    // The page of Stripe is still open, so nobody may pay the same donation elsewhere.
    let visitor = crate::dashboard::visitor::Visitor::with_client(&crate::client::Client::new(&app, ""));
    let page = visitor.get(200, &path(world).await).await.text();
    assert!(
        !page.contains("pay.example.org") && page.contains("no longer accepts payments"),
        "{page}"
    );
    let form = visitor.get(200, &format!("{PROFILE}/give")).await.text();
    assert!(!form.contains("Cover the fees"), "{form}");
    bank.pay(&session, VALID_CARD).await;
    world.app.clock.advance(Duration::from_secs(121));
    app.payments().unwrap().sweep().await.unwrap();
    let mut states = world.texts(STATES).await;
    states.sort();
    assert_eq!(states, ["completed", "started"]);
    // Without the key nobody can ask, and the operator is told.
    config.stripe.secret_key = "".into();
    let blind = causeway::app::App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let client = crate::client::Client::new(&blind, "");
    let operator = crate::dashboard::operator::operator(world).await.at(&client);
    let home = operator.get(200, "/dashboard/operator").await.text();
    // The completed one may be settled by now.
    let watched = |count: u32| home.contains(&format!("payments that were started with Stripe: {count}<"));
    assert!(watched(1) || watched(2), "{home}");
    app.db.close().await;
    blind.db.close().await;
}

async fn a_session_that_is_never_paid_expires_at_stripe_first(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    bank.start(PROFILE, &[("amount", "25")]).await;
    let payments = bank.app.payments().unwrap();
    // Our clock alone ends nothing: Stripe's page can still be open.
    world.app.clock.advance(Duration::from_secs(86_300));
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(STATES).await, ["started"]);
    world.app.clock.advance(Duration::from_secs(3_700));
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(STATES).await, ["expired"]);
    let sessions = bank.read("checkout/sessions").await;
    assert_eq!(sessions["data"][0]["status"], "expired");
    let removed = giving::checkout::store::remove_unpaid(&world.app.db, world.app.clock.millis()).await;
    assert_eq!(removed.unwrap(), 0);
    world.app.clock.advance(Duration::from_hours(49));
    let removed = giving::checkout::store::remove_unpaid(&world.app.db, world.app.clock.millis()).await;
    assert_eq!(removed.unwrap(), 1);
}

async fn a_second_charge_is_refunded_and_listed(world: &World) {
    let bank = Bank::open(world).await;
    let session = bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let paid = bank.read(&format!("checkout/sessions/{session}")).await;
    let metadata = &paid["metadata"];
    let form = format!(
        "amount=2500&currency=usd&confirm=true&payment_method=pm_card_visa&metadata[donation]={}&metadata[store]={}\
         &automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never",
        metadata["donation"].as_str().unwrap(),
        metadata["store"].as_str().unwrap()
    );
    let second = bank.call("payment_intents", &form).await;
    assert_eq!(second["status"], "succeeded", "{second}");
    bank.settle(world).await;
    let charge = second["latest_charge"].as_str().unwrap();
    let charge = bank.read(&format!("charges/{charge}")).await;
    assert_eq!(charge["amount_refunded"], 2_500);
    assert_eq!(world.texts(STATES).await, ["completed"]);
    let (compared, differences) = bank.reconcile().await;
    assert_eq!(
        differences,
        [format!("second charge {} 2500", charge["id"].as_str().unwrap())]
    );
    assert_eq!(compared.balance, compared.ledger_balance);
    let payments = bank.app.payments().unwrap();
    let id = charge["id"].as_str().unwrap();
    assert!(payments.explain(id, "paid twice, refunded").await.unwrap());
    assert!(!payments.explain(id, "again").await.unwrap());
    bank.assert_reconciled().await;
}

async fn a_donation_on_new_years_eve_counts_for_the_old_year(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    // Half past eleven in New York, on December 31.
    let paid_at: jiff::Timestamp = "2026-12-31T23:30:00-05:00".parse().unwrap();
    let now = world.app.clock.millis() / 1_000;
    let advance = paid_at.as_second() - now;
    assert!(advance > 0, "choose a later year");
    bank.control("clock", json!({ "advance": advance })).await;
    bank.give("25", VALID_CARD).await;
    // The event arrives on January 2.
    bank.control("clock", json!({ "advance": 2 * 86_400 })).await;
    world
        .app
        .clock
        .advance(Duration::from_secs(u64::try_from(advance).unwrap() + 2 * 86_400));
    let page = receipt(world, &bank).await;
    assert!(page.contains("December 31, 2026"), "{page}");
    let state = State::find(&world.texts(STATES).await[0]);
    assert_eq!(state, Some(State::Completed));
}
