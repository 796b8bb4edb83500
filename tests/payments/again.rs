//! Donations that were not paid: they are started again with the same values, and a monthly one whose first payment the bank
//! refuses days later is paid with a card, or ends.

use super::bank::{Bank, PROFILE, VALID_CARD, session_of};
use crate::api::fundraisers::Organizer;
use crate::dashboard::visitor::hidden;
use crate::world::World;
use platform::mail::Delivery;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    an_expired_donation_is_started_again_with_the_same_values,
    a_monthly_gift_whose_first_debit_fails_begins_with_a_card,
    a_monthly_gift_whose_first_debit_fails_ends_if_it_is_not_paid,
);

const DAY: u64 = 86_400;
const FUNDRAISER: &str = "/american-red-cross/f/spring-run";
const DONATIONS: &str = "select state || ' ' || cast(amount as text) from donations order by started_at, id";
const GIFTS: &str = "select state || ' ' || cast(amount as text) from monthly_gifts";
const SUBJECTS: &str = "select subject from mail_queue order by id";

/// A bank whose server queues emails: nothing listens on the port of the mail server.
async fn bank_with_mail(world: &World) -> Bank {
    Bank::open_with(world, |config| {
        config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    })
    .await
}

/// The path of the page of the first donation.
async fn page_of_first(world: &World) -> String {
    let ids: Vec<uuid::Uuid> = world
        .app
        .db
        .fetch_scalars(platform::db::query(
            "select receipt_id from donations order by started_at, id",
        ))
        .await
        .unwrap();
    format!("/donations/{}", ids[0])
}

/// Moves the clocks of both forward. The events of that time arrive afterwards.
async fn pass(world: &World, bank: &Bank, days: u64) {
    world.app.clock.advance(Duration::from_secs(days * DAY));
    bank.control("clock", json!({ "advance": days * DAY })).await;
    bank.settle(world).await;
}

fn assert_shows(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text}: {page}");
    }
}

async fn an_expired_donation_is_started_again_with_the_same_values(world: &World) {
    let bank = bank_with_mail(world).await;
    let organizer = Organizer::new(world).await;
    organizer.create_fundraiser(json!({})).await;
    let give = format!("{FUNDRAISER}/give?designation=the+roof&partner_donation_id=order-17");
    let form = bank.visitor.get(200, &give).await.text();
    let once = hidden(&form, "once");
    let fields = [
        ("amount", "other"),
        ("other_amount", "33"),
        ("frequency", "monthly"),
        ("cover", "yes"),
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
        ("share_contact", "yes"),
        ("public", "yes"),
        ("message", "Run, everybody"),
        ("dedication", "memory"),
        ("dedicatee", "Byron"),
        ("notice_email", "annabella@example.org"),
        ("notice_message", "Thinking of you"),
        ("once", once.as_str()),
    ];
    bank.visitor.post(303, &give, &fields).await;
    let path = page_of_first(world).await;
    let page = bank.visitor.get(200, &path).await.text();
    assert!(!page.contains("Start again"), "{page}");

    pass(world, &bank, 2).await;
    assert_eq!(world.texts(DONATIONS).await, ["expired 3429"]);
    let page = bank.visitor.get(200, &path).await.text();
    assert_shows(&page, &["This donation was not paid", "Start again"]);
    let id = path.rsplit('/').next().unwrap();
    let again = format!("{FUNDRAISER}/give?again={id}");
    assert_shows(&page, &[&format!("href=\"{again}\"")]);
    let answer = bank.visitor.get(200, &again).await;
    assert_eq!(answer.header("cache-control"), "private, no-store");
    let form = answer.text();
    assert_shows(
        &form,
        &[
            "value=\"33\"",
            "value=\"monthly\" checked",
            "value=\"Ada Lovelace\"",
            "value=\"ada@example.org\"",
            "value=\"Run, everybody\"",
            "value=\"memory\" checked",
            "value=\"Byron\"",
            "value=\"annabella@example.org\"",
            "value=\"Thinking of you\"",
        ],
    );
    for field in ["share_contact", "cover", "public"] {
        let (_, rest) = form
            .split_once(&format!("name=\"{field}\" value=\"yes\""))
            .unwrap();
        assert!(
            rest.split('>').next().unwrap().contains("checked"),
            "{field}: {form}"
        );
    }
    // What is sent is what counts, with what the partner's link passed on.
    let once = hidden(&form, "once");
    let mut changed = fields;
    changed[1] = ("other_amount", "44");
    changed[13] = ("once", once.as_str());
    let url = bank.visitor.post(303, &again, &changed).await;
    bank.pay(&session_of(url.header("location")), VALID_CARD).await;
    bank.settle(world).await;
    assert_eq!(world.texts(DONATIONS).await, ["expired 3429", "completed 4562"]);
    let passed_on = "select designation || ' ' || partner_id from donations order by started_at, id";
    assert_eq!(world.texts(passed_on).await, vec!["the roof order-17"; 2]);

    // It fills in no other form, and a donation that was paid fills in none.
    let other = bank
        .visitor
        .get(200, &format!("{PROFILE}/give?again={id}"))
        .await
        .text();
    assert!(!other.contains("Ada Lovelace"), "{other}");
    world
        .execute("update donations set state = 'completed' where state = 'expired'")
        .await;
    let paid = bank.visitor.get(200, &again).await.text();
    assert!(!paid.contains("Ada Lovelace"), "{paid}");
    for invalid in ["1", "", "00000000-0000-0000-0000-000000000000"] {
        bank.visitor
            .get(200, &format!("{FUNDRAISER}/give?again={invalid}"))
            .await;
    }
}

/// Starts a monthly gift by a bank debit that the bank refuses five days later.
async fn fail_to_start(world: &World, bank: &Bank) -> String {
    let fields = [
        ("amount", "25"),
        ("frequency", "monthly"),
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
    ];
    let session = session_of(&bank.start(PROFILE, &fields).await);
    let body = json!({ "account_number": "000222222227", "email": "ada@example.org" });
    bank.control(&format!("sessions/{session}/pay"), body).await;
    bank.settle(world).await;
    assert_eq!(world.texts(DONATIONS).await, ["processing 2500"]);
    assert_eq!(world.texts(GIFTS).await, ["active 2500"]);
    let path = page_of_first(world).await;
    let page = bank.visitor.get(200, &path).await.text();
    assert_shows(&page, &["Your donation is being processed"]);
    pass(world, bank, 5).await;
    assert_eq!(world.texts(DONATIONS).await, ["failed 2500"]);
    assert_eq!(world.texts(GIFTS).await, ["past_due 2500"]);
    path
}

async fn a_monthly_gift_whose_first_debit_fails_begins_with_a_card(world: &World) {
    let bank = bank_with_mail(world).await;
    let path = fail_to_start(world, &bank).await;
    let failed = "select text from mail_queue where subject like '%could not be charged%'";
    let emails = world.texts(failed).await;
    assert_eq!(emails.len(), 1, "{emails:?}");
    assert_shows(
        &emails[0],
        &[
            "You were not charged",
            "within two weeks",
            "/donations/monthly?token=",
        ],
    );
    // Another visit of the payment page would start another gift.
    let page = bank.visitor.get(200, &path).await.text();
    assert_shows(&page, &["did not go through", "Enter a new card"]);
    assert!(!page.contains("Continue to payment"), "{page}");
    let manage = bank.visitor.post(303, &path, &[]).await;
    let manage = manage.header("location").to_owned();
    let page = bank.visitor.get(200, &manage).await.text();
    assert_shows(
        &page,
        &["Payment failed", "It continues if you enter a new card."],
    );
    let portal = bank.visitor.post(303, &manage, &[("action", "card")]).await;
    bank.send_form(portal.header("location"), &[("card_number", VALID_CARD)])
        .await;
    let page = bank.visitor.get(200, &format!("{manage}&done=card")).await.text();
    assert_shows(&page, &["We will charge your new card from now on", "Active"]);
    bank.settle(world).await;
    assert_eq!(world.texts(DONATIONS).await, ["completed 2500"]);
    assert_eq!(world.texts(GIFTS).await, ["active 2500"]);
    let page = bank.visitor.get(200, &path).await.text();
    assert_shows(&page, &["Thank you for your donation"]);
    pass(world, &bank, 27).await;
    assert_eq!(world.texts(DONATIONS).await, vec!["completed 2500"; 2]);
    let subscriptions = bank.read("subscriptions?status=all").await;
    assert_eq!(subscriptions["data"].as_array().unwrap().len(), 1);
    bank.assert_reconciled().await;
}

async fn a_monthly_gift_whose_first_debit_fails_ends_if_it_is_not_paid(world: &World) {
    let bank = bank_with_mail(world).await;
    let path = fail_to_start(world, &bank).await;
    let payments = bank.app.payments().unwrap();
    pass(world, &bank, 8).await;
    payments.sweep().await.unwrap();
    assert_eq!(
        world.texts(GIFTS).await,
        ["past_due 2500"],
        "two weeks have not passed"
    );
    pass(world, &bank, 2).await;
    payments.sweep().await.unwrap();
    bank.settle(world).await;
    assert_eq!(world.texts(GIFTS).await, ["canceled 2500"]);
    assert_eq!(world.texts(DONATIONS).await, ["expired 2500"]);
    let subscriptions = bank.read("subscriptions?status=all").await;
    assert_eq!(subscriptions["data"][0]["status"], "canceled");
    assert_eq!(
        world.texts(SUBJECTS).await,
        [
            "Test mode: Your monthly donation of $25.00",
            "Test mode: Your monthly donation could not be charged",
            "Test mode: Your monthly donation has ended",
        ]
    );
    let page = bank.visitor.get(200, &path).await.text();
    assert_shows(&page, &["This donation was not paid", "Start again"]);
    pass(world, &bank, 31).await;
    let charges = bank.read("charges").await;
    let charges = charges["data"].as_array().unwrap();
    assert!(
        charges.iter().all(|charge| charge["status"] == "failed"),
        "{charges:?}"
    );
    bank.assert_reconciled().await;
}
