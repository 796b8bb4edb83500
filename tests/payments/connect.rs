//! Nonprofits with an account of their own at Stripe are charged there, and are the donee.

use super::bank::{Bank, PROFILE, VALID_CARD, WEBHOOK_SECRET, session_of};
use super::events::{send, sign};
use crate::api::fundraisers::{NYU, Organizer, RED_CROSS, SPECIAL, id_of};
use crate::world::World;
use giving::payments::store::list_differences;
use serde_json::{Value, json};

on_both_databases!(
    a_nonprofit_with_an_account_is_charged_there_and_is_the_donee,
    refunds_and_disputes_on_an_account_of_a_nonprofit_are_entered_without_settlement,
    without_an_account_the_platform_receives_it_or_there_is_no_form,
    events_of_accounts_have_a_secret_of_their_own,
    a_monthly_gift_is_charged_on_the_account_of_its_nonprofit,
);

const ACCOUNT: &str = "acct_redcross";
const CONNECT_SECRET: &str = "whsec_connected";
const OTHER: &str = "/new-york-university";
const ENTRIES: &str = "select kind || ' ' || cast(amount as text) from ledger_entries order by sequence";
const STATES: &str = "select state from donations order by started_at";

/// Starts a server that charges nonprofits on their own accounts. The Red Cross has one.
async fn open(world: &World, has_recipient: bool) -> Bank {
    let bank = Bank::open_with(world, |config| {
        "connect".clone_into(&mut config.stripe.account);
        config.stripe.connect_webhook_secret = CONNECT_SECRET.into();
        if !has_recipient {
            config.recipient = None;
        }
    })
    .await;
    bank.sign_for_accounts_with(CONNECT_SECRET).await;
    let line = json!({"ein": "530196605", "stripeAccount": ACCOUNT});
    world.import_nonprofits(&line.to_string()).await.unwrap();
    bank.app.refresh_directory().await.unwrap();
    bank
}

async fn session(bank: &Bank, id: &str, account: &str) -> Value {
    bank.read_of(account, &format!("checkout/sessions/{id}")).await
}

async fn a_nonprofit_with_an_account_is_charged_there_and_is_the_donee(world: &World) {
    let bank = open(world, true).await;
    let form = bank.visitor.get(200, &format!("{PROFILE}/give")).await.text();
    assert!(!form.contains("Causeway Foundation"), "{form}");
    let id = bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    assert_eq!(session(&bank, &id, ACCOUNT).await["payment_status"], "paid");
    assert_eq!(
        session(&bank, &id, "").await["error"]["type"],
        "invalid_request_error"
    );
    assert_eq!(world.texts(STATES).await, ["completed"]);
    assert_eq!(world.texts(ENTRIES).await, ["donation 2500"]);
    let mut tx = world.app.db.view().await.unwrap();
    let receipts: Vec<uuid::Uuid> = tx
        .fetch_scalars(platform::db::query("select receipt_id from donations"))
        .await
        .unwrap();
    drop(tx);
    let receipt = bank
        .visitor
        .get(200, &format!("/donations/{}", receipts[0]))
        .await
        .text();
    for text in ["American National Red Cross", "53-0196605", "tax-deductible"] {
        assert!(receipt.contains(text), "{text}: {receipt}");
    }
    for text in ["Causeway Foundation", "It is meant for"] {
        assert!(!receipt.contains(text), "{text}: {receipt}");
    }
    // What is lost is found by the sweep, and the comparison with our own balance skips it.
    bank.send_events_to(None).await;
    bank.give("30", VALID_CARD).await;
    world.app.clock.advance(std::time::Duration::from_secs(121));
    bank.app.payments().unwrap().sweep().await.unwrap();
    assert_eq!(world.texts(ENTRIES).await, ["donation 2500", "donation 3000"]);
    bank.assert_reconciled().await;
    crate::cli::server::run(world, &["check"]);
}

async fn refunds_and_disputes_on_an_account_of_a_nonprofit_are_entered_without_settlement(world: &World) {
    let bank = open(world, true).await;
    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let charge = world.texts("select charge from donations").await[0].clone();
    let payments = bank.app.payments().unwrap();
    let mut tx = world.app.db.view().await.unwrap();
    let ids: Vec<uuid::Uuid> = tx
        .fetch_scalars(platform::db::query("select id from donations"))
        .await
        .unwrap();
    drop(tx);
    let donation = giving::checkout::store::find(&world.app.db, ids[0])
        .await
        .unwrap()
        .unwrap();
    let part = platform::money::Cents::new(500);
    payments.refund(donation, Some(part)).await.unwrap();
    bank.settle(world).await;
    let dispute = bank
        .control(
            &format!("charges/{charge}/dispute"),
            json!({ "reason": "fraudulent" }),
        )
        .await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["disputed"]);
    let id = dispute["id"].as_str().unwrap();
    bank.control(&format!("disputes/{id}/win"), json!({})).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
    let kinds = world
        .texts("select distinct kind from ledger_entries order by kind")
        .await;
    assert_eq!(kinds, ["dispute", "dispute_won", "donation", "refund"]);
    bank.assert_reconciled().await;
}

async fn without_an_account_the_platform_receives_it_or_there_is_no_form(world: &World) {
    let bank = open(world, true).await;
    let form = bank.visitor.get(200, &format!("{OTHER}/give")).await.text();
    assert!(
        form.contains("Your donation is made to Causeway Foundation"),
        "{form}"
    );
    let url = bank.start(OTHER, &[("amount", "25")]).await;
    let created = session(&bank, &session_of(&url), "").await;
    assert_eq!(created["amount_total"], 2_500, "{created}");
    // One charge has one account, so what is shared goes to the platform.
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": SPECIAL, "title": "Two at once", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of(RED_CROSS), id_of(NYU)], "forNonprofitWeights": [3, 1]});
    organizer.create(200, &body).await;
    organizer.create_fundraiser(json!({})).await;
    let (shared, single) = (
        "/special-fundraiser/f/two-at-once",
        "/american-red-cross/f/spring-run",
    );
    for (page, account) in [(shared, ""), (single, ACCOUNT)] {
        let url = bank.start(page, &[("amount", "10")]).await;
        let created = session(&bank, &session_of(&url), account).await;
        assert_eq!(created["amount_total"], 1_000, "{page}: {created}");
    }
    let alone = open(world, false).await;
    let form = alone.visitor.get(200, &format!("{OTHER}/give")).await.text();
    assert!(
        form.contains("cannot receive donations here") && !form.contains("name=\"amount\""),
        "{form}"
    );
    for (profile, has_form) in [(OTHER, false), (PROFILE, true)] {
        let page = alone.visitor.get(200, profile).await.text();
        assert_eq!(
            page.contains(&format!("action=\"{profile}/give\"")),
            has_form,
            "{page}"
        );
    }
    let form = alone.visitor.get(200, &format!("{shared}/give")).await.text();
    assert!(!form.contains("name=\"amount\""), "{form}");
    let once = uuid::Uuid::now_v7().to_string();
    let fields = [("amount", "5"), ("once", once.as_str())];
    alone.visitor.post(422, &format!("{OTHER}/give"), &fields).await;
    let form = alone.visitor.get(200, &format!("{PROFILE}/give")).await.text();
    assert!(form.contains("name=\"amount\""), "{form}");
}

async fn deliver(bank: &Bank, expected: u16, body: &str, secret: &str) {
    let now = bank.app.clock.millis() / 1_000;
    send(bank, expected, body, &sign(body, secret, now)).await;
}

async fn events_of_accounts_have_a_secret_of_their_own(world: &World) {
    let bank = open(world, true).await;
    bank.send_events_to(None).await;
    let id = bank.give("25", VALID_CARD).await;
    let paid = session(&bank, &id, ACCOUNT).await;
    let event = |name: &str, account: Option<&str>| {
        let mut event = json!({
            "id": format!("evt_{name}"), "type": "checkout.session.completed", "created": 1, "livemode": false,
            "data": {"object": paid},
        });
        if let Some(account) = account {
            event["account"] = account.into();
        }
        event.to_string()
    };
    // The secret of the platform does not sign for accounts, another account has no say, and without its account it is none of
    // theirs.
    for (name, account, secret, status) in [
        ("platform", Some(ACCOUNT), WEBHOOK_SECRET, 200),
        ("other", Some("acct_other"), CONNECT_SECRET, 200),
        ("none", None, WEBHOOK_SECRET, 200),
        ("mixed", None, CONNECT_SECRET, 200),
        ("forged", Some(ACCOUNT), "whsec_forged", 400),
    ] {
        deliver(&bank, status, &event(name, account), secret).await;
    }
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["started"]);
    assert!(list_differences(&world.app.db).await.unwrap().is_empty());
    deliver(&bank, 200, &event("right", Some(ACCOUNT)), CONNECT_SECRET).await;
    bank.settle(world).await;
    assert_eq!(world.texts(STATES).await, ["completed"]);
}

async fn a_monthly_gift_is_charged_on_the_account_of_its_nonprofit(world: &World) {
    let bank = open(world, true).await;
    let fields = [
        ("amount", "25"),
        ("frequency", "monthly"),
        ("email", "ada@example.org"),
    ];
    let id = session_of(&bank.start(PROFILE, &fields).await);
    bank.pay(&id, VALID_CARD).await;
    bank.settle(world).await;
    assert_eq!(session(&bank, &id, ACCOUNT).await["mode"], "subscription");
    assert_eq!(world.texts(ENTRIES).await, ["donation 2500"]);
    let pass = async |days: u64| {
        world
            .app
            .clock
            .advance(std::time::Duration::from_secs(days * 86_400));
        bank.control("clock", json!({ "advance": days * 86_400 })).await;
        bank.settle(world).await;
    };
    pass(32).await;
    assert_eq!(world.texts(ENTRIES).await, vec!["donation 2500"; 2]);

    // The donor changes the amount and the card on the account of the nonprofit.
    let receipts: Vec<uuid::Uuid> = world
        .app
        .db
        .fetch_scalars(platform::db::query(
            "select receipt_id from donations order by started_at desc",
        ))
        .await
        .unwrap();
    let receipt = bank
        .visitor
        .get(200, &format!("/donations/{}", receipts[0]))
        .await
        .text();
    assert!(receipt.contains("American National Red Cross"), "{receipt}");
    let start = receipt.find("/donations/monthly?token=").unwrap();
    let manage = receipt[start..].split('"').next().unwrap().to_owned();
    let change = [("action", "amount"), ("amount", "40"), ("cover", "no")];
    bank.visitor.post(303, &manage, &change).await;
    let portal = bank.visitor.post(303, &manage, &[("action", "card")]).await;
    bank.send_form(portal.header("location"), &[("card_number", VALID_CARD)])
        .await;
    bank.visitor.get(200, &format!("{manage}&done=card")).await;
    bank.settle(world).await;

    // A month without events is found by the sweep.
    bank.send_events_to(None).await;
    pass(31).await;
    bank.app.payments().unwrap().sweep().await.unwrap();
    let expected = ["donation 2500", "donation 2500", "donation 4000"];
    assert_eq!(world.texts(ENTRIES).await, expected);

    // Another account cannot report payments of this gift.
    let subscription = bank.read_of(ACCOUNT, "subscriptions").await["data"][0].clone();
    let metadata = &subscription["metadata"];
    let forged = json!({
        "id": "evt_forged", "type": "customer.subscription.deleted", "created": 1, "livemode": false,
        "account": "acct_other", "data": {"object": {"id": subscription["id"], "metadata": metadata}},
    });
    deliver(&bank, 200, &forged.to_string(), CONNECT_SECRET).await;
    bank.settle(world).await;
    bank.visitor.post(303, &manage, &[("action", "cancel")]).await;
    let canceled = bank.read_of(ACCOUNT, "subscriptions?status=all").await;
    assert_eq!(canceled["data"][0]["status"], "canceled");
    assert!(
        bank.read("subscriptions?status=all").await["data"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(list_differences(&world.app.db).await.unwrap().is_empty());
    bank.assert_reconciled().await;
    crate::cli::server::run(world, &["check"]);
}
