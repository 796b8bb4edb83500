//! Monthly gifts by Stripe: every payment is one donation, whatever is lost, doubled or late.

use super::bank::{Bank, PROFILE, VALID_CARD, session_of};
use crate::api::fundraisers::{Organizer, RED_CROSS, id_of};
use crate::dashboard::operator::operator;
use crate::facts::import_facts;
use crate::world::World;
use causeway::server::scrape::scrape;
use giving::monthly::token;
use platform::clock::rfc3339;
use platform::mail::Delivery;
use platform::public_url::PublicUrl;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases!(
    every_paid_invoice_is_one_donation_with_a_receipt,
    operators_see_monthly_gifts_and_those_without_a_recipient,
    payments_are_found_when_every_event_is_lost,
    a_card_that_fails_is_replaced_and_the_gift_goes_on,
    a_gift_that_cannot_be_charged_ends_and_its_donor_is_told_why,
    a_donor_changes_pauses_resumes_and_cancels_a_gift,
    a_gift_is_paused_when_its_nonprofit_can_no_longer_receive_donations,
    a_gift_to_a_fundraiser_goes_on_to_its_nonprofit_when_the_fundraiser_ends,
);

const DAY: u64 = 86_400;
const DONATIONS: &str = "select state || ' ' || cast(amount as text) || ' ' || cast(covered as text) from donations order by started_at, id";
const GIFTS: &str = "select state || ' ' || cast(amount as text) from monthly_gifts";
const SUBJECTS: &str = "select subject from mail_queue order by id";
const OUTBOX: &str = "select kind from outbox where kind like 'monthly_gift%' order by sequence";

/// A bank whose server queues emails: nothing listens on the port of the mail server.
async fn bank_with_mail(world: &World) -> Bank {
    Bank::open_with(world, |config| {
        config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    })
    .await
}

/// Starts a gift of $25 a month with the fee covered, and returns its session.
async fn start(bank: &Bank, card: &str) -> String {
    let fields = [
        ("amount", "25"),
        ("frequency", "MONTHLY"),
        ("cover", "yes"),
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
    ];
    let session = session_of(&bank.start(PROFILE, &fields).await);
    bank.pay(&session, card).await;
    session
}

/// Moves the clocks of both forward. The events of that time arrive afterwards.
pub async fn pass(world: &World, bank: &Bank, days: u64) {
    world.app.clock.advance(Duration::from_secs(days * DAY));
    bank.control("clock", json!({ "advance": days * DAY })).await;
    bank.settle(world).await;
}

async fn subscription(bank: &Bank) -> Value {
    bank.read("subscriptions?status=all").await["data"][0].clone()
}

/// A new link to the page of the only gift.
pub async fn new_link(world: &World, bank: &Bank) -> String {
    let mut tx = world.app.db.view().await.unwrap();
    let ids: Vec<uuid::Uuid> = tx
        .fetch_scalars(platform::db::query("select id from monthly_gifts"))
        .await
        .unwrap();
    token::link(
        &PublicUrl::new(""),
        &bank.app.secret,
        ids[0],
        world.app.clock.millis(),
    )
}

/// The link to the page of the gift in the first email that has one.
async fn link(world: &World) -> String {
    let texts = world.texts("select text from mail_queue order by id").await;
    let text = texts
        .iter()
        .find(|text| text.contains("/donations/monthly?token="))
        .unwrap();
    let start = text.find("/donations/monthly?token=").unwrap();
    text[start..].split_whitespace().next().unwrap().to_owned()
}

fn assert_shows(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text}: {page}");
    }
}

async fn every_paid_invoice_is_one_donation_with_a_receipt(world: &World) {
    let bank = bank_with_mail(world).await;
    bank.control("faults", json!({ "kind": "double_event" })).await;
    let session = start(&bank, VALID_CARD).await;
    bank.settle(world).await;
    let session = bank.read(&format!("checkout/sessions/{session}")).await;
    assert_eq!(
        (&session["mode"], &session["submit_type"]),
        (&json!("subscription"), &json!("donate"))
    );
    let subscription = subscription(&bank).await;
    assert_eq!(
        subscription["metadata"]["donation"],
        session["metadata"]["donation"]
    );
    assert_eq!(world.texts(DONATIONS).await, ["completed 2606 106"]);
    assert_eq!(world.texts(GIFTS).await, ["active 2606"]);
    assert_eq!(world.texts(OUTBOX).await, ["monthly_gift_started"]);
    let subjects = world.texts(SUBJECTS).await;
    assert_eq!(subjects.len(), 2, "the terms and one receipt: {subjects:?}");
    let page = bank.visitor.get(200, &link(world).await).await.text();
    assert_shows(
        &page,
        &[
            "$26.06 every month",
            "American Red Cross",
            "Active",
            "Next payment",
            "December 31, 2034",
        ],
    );

    pass(world, &bank, 32).await;
    pass(world, &bank, 31).await;
    let events = bank.read("events?limit=100").await;
    for event in events["data"].as_array().unwrap() {
        let id = event["id"].as_str().unwrap();
        bank.control(&format!("events/{id}/resend"), json!({})).await;
    }
    bank.settle(world).await;
    // An event that came before what it needs is handled again later, and the sweep asks for the fee of a charge that was
    // not entered yet when its event came.
    world.app.clock.advance(Duration::from_hours(1));
    let payments = bank.app.payments().unwrap();
    payments.handle_open_events().await.unwrap();
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2606 106"; 3]);
    let entries = "select kind || ' ' || cast(amount as text) from ledger_entries order by kind, sequence";
    let mut expected = vec!["donation 2606"; 3];
    expected.extend(["settlement 2500"; 3]);
    assert_eq!(world.texts(entries).await, expected);
    let donors = "select distinct donor from ledger_entries where donor is not null";
    assert_eq!(world.texts(donors).await.len(), 1);
    let receipts = "select text from mail_queue where subject like '%Your donation of%'";
    let receipts = world.texts(receipts).await;
    assert!(!receipts.is_empty());
    // The queue keeps emails for a month only.
    assert_eq!(
        world
            .texts("select cast(receipt_at as text) from donations where receipt_at is not null")
            .await
            .len(),
        3
    );
    assert!(
        receipts
            .iter()
            .all(|text| text.contains("/donations/monthly?token="))
    );
    assert_eq!(world.texts(OUTBOX).await, ["monthly_gift_started"]);
    bank.assert_reconciled().await;
}

async fn operators_see_monthly_gifts_and_those_without_a_recipient(world: &World) {
    let bank = Bank::open(world).await;
    let operator = operator(world).await.at(&bank.client);
    start(&bank, VALID_CARD).await;
    bank.settle(world).await;
    let page = operator.get(200, "/dashboard/operator/monthly").await.text();
    assert_shows(&page, &["$26.06 a month", "American Red Cross", "sub_"]);
    let paused = operator
        .get(200, "/dashboard/operator/monthly?state=paused")
        .await
        .text();
    assert!(!paused.contains("sub_"), "{paused}");
    let donation = operator.get(200, &gift_page(world).await).await.text();
    assert_shows(&donation, &["This donation started it", "Active", "invoice.paid"]);
    assert_shows(
        &scrape(&bank.app).await,
        &[
            "causeway_monthly_gifts 1\n",
            "causeway_monthly_gifts_past_due 0\n",
        ],
    );
    world
        .execute("update monthly_gifts set state = 'paused', cause = 'recipient'")
        .await;
    let home = operator.get(200, "/dashboard/operator").await.text();
    assert_shows(
        &home,
        &["Monthly donations whose nonprofit can no longer receive donations: 1"],
    );
}

/// The operator's page of the donation that started the only gift.
async fn gift_page(world: &World) -> String {
    let entries = "select cast(entry as text) from donations where id = monthly_gift_id";
    format!("/dashboard/operator/donations/{}", world.texts(entries).await[0])
}

async fn payments_are_found_when_every_event_is_lost(world: &World) {
    let bank = Bank::open(world).await;
    bank.send_events_to(None).await;
    start(&bank, VALID_CARD).await;
    let payments = bank.app.payments().unwrap();
    world.app.clock.advance(Duration::from_secs(121));
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(DONATIONS).await, ["completed 2606 106"]);
    // Two months without an event.
    pass(world, &bank, 32).await;
    pass(world, &bank, 31).await;
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2606 106"; 3]);
    // The operator cancels it in Stripe's dashboard.
    let id = subscription(&bank).await["id"].as_str().unwrap().to_owned();
    bank.delete(&format!("subscriptions/{id}")).await;
    pass(world, &bank, 1).await;
    world.app.clock.advance(Duration::from_mins(1));
    payments.sweep().await.unwrap();
    assert_eq!(world.texts(GIFTS).await, ["canceled 2606"]);
    bank.assert_reconciled().await;
}

/// Replaces the card of the only subscription by one whose payments fail.
pub async fn let_card_fail(bank: &Bank) {
    let id = subscription(bank).await["id"].as_str().unwrap().to_owned();
    let form = "default_payment_method=pm_card_chargeCustomerFail";
    bank.call(&format!("subscriptions/{id}"), form).await;
}

async fn a_card_that_fails_is_replaced_and_the_gift_goes_on(world: &World) {
    let bank = bank_with_mail(world).await;
    start(&bank, VALID_CARD).await;
    bank.settle(world).await;
    let_card_fail(&bank).await;
    pass(world, &bank, 32).await;
    assert_eq!(world.texts(GIFTS).await, ["past_due 2606"]);
    assert_eq!(world.texts(DONATIONS).await, ["completed 2606 106"]);
    let failed = "select text from mail_queue where subject like '%could not be charged%'";
    let email = world.texts(failed).await[0].clone();
    assert_shows(
        &email,
        &[
            "Your card was declined.",
            "We will try again on",
            "/donations/monthly?token=",
        ],
    );
    let link = link(world).await;
    let page = bank.visitor.get(200, &link).await.text();
    assert_shows(
        &page,
        &["Payment failed", "Your card was declined.", "Enter a new card"],
    );
    let portal = bank.visitor.post(303, &link, &[("action", "card")]).await;
    let portal = portal.header("location").to_owned();
    bank.send_form(&portal, &[("card_number", VALID_CARD)]).await;
    let page = bank.visitor.get(200, &format!("{link}&done=card")).await.text();
    assert_shows(&page, &["We will charge your new card from now on", "Active"]);
    bank.settle(world).await;
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2606 106"; 2]);
    assert_eq!(
        world.texts(OUTBOX).await,
        [
            "monthly_gift_started",
            "monthly_gift_payment_failed",
            "monthly_gift_changed"
        ]
    );
    pass(world, &bank, 31).await;
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2606 106"; 3]);
    bank.assert_reconciled().await;
}

async fn a_gift_that_cannot_be_charged_ends_and_its_donor_is_told_why(world: &World) {
    let bank = bank_with_mail(world).await;
    start(&bank, VALID_CARD).await;
    bank.settle(world).await;
    let_card_fail(&bank).await;
    // The first attempt, and three more after 3, 5 and 7 days.
    for days in [32, 4, 6, 8] {
        pass(world, &bank, days).await;
    }
    assert_eq!(world.texts(GIFTS).await, ["canceled 2606"]);
    let subjects = world.texts(SUBJECTS).await;
    let about_gift: Vec<&str> = subjects
        .iter()
        .filter_map(|subject| subject.strip_prefix("Test mode: "))
        .filter(|subject| !subject.starts_with("Your donation of"))
        .collect();
    assert_eq!(
        about_gift,
        [
            "Your monthly donation of $26.06",
            "Your monthly donation could not be charged",
            "The last attempt to charge your monthly donation",
            "Your monthly donation has ended",
        ]
    );
    let end = world
        .texts("select text from mail_queue where subject like '%has ended%'")
        .await;
    assert_shows(&end[0], &["Your card was declined.", "start a new one"]);
    let kinds = world.texts(OUTBOX).await;
    let mut expected = vec!["monthly_gift_started"];
    expected.extend(["monthly_gift_payment_failed"; 4]);
    expected.push("monthly_gift_canceled");
    assert_eq!(kinds, expected);
    bank.assert_reconciled().await;
}

async fn a_donor_changes_pauses_resumes_and_cancels_a_gift(world: &World) {
    let bank = bank_with_mail(world).await;
    start(&bank, VALID_CARD).await;
    bank.settle(world).await;
    let first_link = link(world).await;
    let change = async |fields: &[(&str, &str)]| {
        let link = new_link(world, &bank).await;
        let answer = bank.visitor.post(303, &link, fields).await;
        bank.visitor.get(200, answer.header("location")).await.text()
    };
    let page = bank
        .visitor
        .post(422, &first_link, &[("action", "amount"), ("amount", "0.001")])
        .await
        .text();
    assert_shows(&page, &["Enter an amount greater than $0", "value=\"0.001\""]);
    let page = change(&[("action", "amount"), ("amount", "40"), ("cover", "no")]).await;
    assert_shows(&page, &["$40.00 every month", "starting with the next payment"]);
    assert_eq!(
        world.texts(DONATIONS).await,
        ["completed 2606 106"],
        "nothing is charged for the rest of the month"
    );
    pass(world, &bank, 32).await;
    assert_eq!(
        world.texts(DONATIONS).await,
        ["completed 2606 106", "completed 4000 0"]
    );

    for months in ["0", "13", "x"] {
        let link = new_link(world, &bank).await;
        bank.visitor
            .post(422, &link, &[("action", "pause"), ("months", months)])
            .await;
    }
    let page = change(&[("action", "pause"), ("months", "2")]).await;
    assert_shows(
        &page,
        &["Paused", "The donation is paused.", "Resume the donation"],
    );
    // Two payments are left out, and the third is charged.
    for _ in 0..2 {
        pass(world, &bank, 31).await;
        assert_eq!(world.texts(DONATIONS).await.len(), 2);
    }
    pass(world, &bank, 31).await;
    assert_eq!(world.texts(DONATIONS).await.len(), 3);
    assert_eq!(world.texts(GIFTS).await, ["active 4000"]);

    change(&[("action", "pause"), ("months", "12")]).await;
    let page = change(&[("action", "resume")]).await;
    assert_shows(&page, &["Active", "The donation has resumed."]);
    let page = change(&[("action", "cancel")]).await;
    assert_shows(
        &page,
        &[
            "Canceled",
            "You will not be charged again.",
            "give?frequency=monthly",
        ],
    );
    let link = new_link(world, &bank).await;
    bank.visitor
        .post(422, &link, &[("action", "amount"), ("amount", "10")])
        .await;
    change(&[("action", "cancel")]).await;
    assert_eq!(subscription(&bank).await["status"], "canceled");
    pass(world, &bank, 62).await;
    assert_eq!(world.texts(DONATIONS).await.len(), 3);
    // The link of the first email has expired, and others are refused.
    let stale = bank.visitor.get(404, &first_link).await.text();
    assert_shows(&stale, &["This link no longer works"]);
    bank.visitor.get(404, "/donations/monthly?token=1.2.3").await;
    bank.visitor.post(404, &first_link, &[("action", "cancel")]).await;
    bank.assert_reconciled().await;
}

async fn a_gift_is_paused_when_its_nonprofit_can_no_longer_receive_donations(world: &World) {
    let bank = bank_with_mail(world).await;
    start(&bank, VALID_CARD).await;
    bank.settle(world).await;
    let revoked = "insert into revocations (ein, revoked_on, exemption_type, source) values (530196605, '2015-05-15', 3, :source)";
    import_facts(world, "revocations", "revoked.zip", &["530196605"], &[revoked]).await;
    bank.app.refresh_directory().await.unwrap();
    pass(world, &bank, 2).await;
    bank.app.payments().unwrap().sweep().await.unwrap();
    assert_eq!(world.texts(GIFTS).await, ["paused 2606"]);
    let link = link(world).await;
    let page = bank.visitor.get(200, &link).await.text();
    assert_shows(&page, &["can no longer receive donations here"]);
    bank.visitor.post(422, &link, &[("action", "resume")]).await;
    let notices = "select text from mail_queue where subject like '%is paused%'";
    assert_shows(
        &world.texts(notices).await[0],
        &["can no longer receive donations here"],
    );
    pass(world, &bank, 31).await;
    assert_eq!(world.texts(DONATIONS).await.len(), 1);
}

async fn a_gift_to_a_fundraiser_goes_on_to_its_nonprofit_when_the_fundraiser_ends(world: &World) {
    let bank = bank_with_mail(world).await;
    let organizer = Organizer::new(world).await;
    let ends_at = rfc3339(world.app.clock.millis() + 10 * DAY as i64 * 1_000);
    let fundraiser = organizer.create_fundraiser(json!({ "endDate": ends_at })).await;
    let page = "/american-red-cross/f/spring-run";
    let fields = [
        ("amount", "25"),
        ("frequency", "monthly"),
        ("email", "ada@example.org"),
    ];
    let session = session_of(&bank.start(page, &fields).await);
    bank.pay(&session, VALID_CARD).await;
    bank.settle(world).await;
    pass(world, &bank, 32).await;
    bank.visitor.get(200, page).await;
    let form = bank.visitor.get(200, &format!("{page}/give")).await.text();
    assert_shows(&form, &["This fundraiser is not open"]);
    // The sweep, which pauses gifts without a recipient, leaves it alone.
    bank.app.payments().unwrap().sweep().await.unwrap();
    assert_eq!(world.texts(GIFTS).await, ["active 2500"]);
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2500 0"; 2]);
    let page = bank.visitor.get(200, &link(world).await).await.text();
    assert_shows(&page, &["Active", "Spring run"]);

    // The nonprofit gets both, and they count for the fundraiser that raised them.
    let received = "select party_id || ' ' || cast(sum(amount) as text) from ledger_postings \
         where party = 'nonprofit' group by party_id";
    let expected = format!("{} 5000", id_of(RED_CROSS));
    assert_eq!(world.texts(received).await, [expected]);
    assert_eq!(organizer.raised(&fundraiser).await["raised"], 5_000);
    pass(world, &bank, 31).await;
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2500 0"; 3]);
    bank.assert_reconciled().await;
}
