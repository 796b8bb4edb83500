//! Monthly gifts in test mode, and the links with which donors manage them.

use crate::client::Client;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use causeway::app::App;
use giving::providers::Provider;
use platform::mail::Delivery;
use std::time::Duration;

on_both_databases!(
    a_monthly_gift_in_test_mode_renews_by_our_own_clock,
    links_to_a_monthly_gift_expire_and_cannot_be_forged,
    the_form_for_links_does_not_say_who_gives,
    donors_are_warned_before_a_card_expires_and_reminded_once_a_year,
    a_forgotten_donor_gives_no_more,
    a_payment_link_offers_single_donations_only,
);

const GIVE: &str = "/american-red-cross/give";
const GIFTS: &str = "select state || ' ' || cast(amount as text) from monthly_gifts order by started_at";
const DONATIONS: &str = "select state || ' ' || cast(amount as text) from donations order by started_at";
const MONTH: Duration = Duration::from_hours(31 * 24);
const CARD: [(&str, &str); 1] = [("card", "4242 4242 4242 4242")];

/// A server that queues emails: nothing listens on the port of the mail server.
async fn server(world: &World) -> (App, Visitor) {
    world.load_demo().await;
    let mut config = world.app.config.clone();
    config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    (app, visitor)
}

/// Starts a gift of $25 a month, and returns the path of its receipt.
async fn start(visitor: &Visitor) -> String {
    let form = visitor
        .get(200, &format!("{GIVE}?frequency=Monthly"))
        .await
        .text();
    assert!(form.contains("value=\"monthly\" checked"), "{form}");
    let once = hidden(&form, "once");
    let fields = [
        ("amount", "25"),
        ("frequency", "monthly"),
        ("once", once.as_str()),
    ];
    let refused = visitor.post(422, GIVE, &fields).await.text();
    assert!(refused.contains("Enter your email address, so that"), "{refused}");
    assert!(refused.contains("value=\"monthly\" checked"), "{refused}");
    let fields = [&fields[..], &[("email", "ada@example.org")]].concat();
    let pay = visitor
        .post(303, GIVE, &fields)
        .await
        .header("location")
        .to_owned();
    visitor.post(303, &pay, &CARD).await;
    pay
}

/// The link in a receipt.
async fn link(visitor: &Visitor, receipt: &str) -> String {
    let page = visitor.get(200, receipt).await.text();
    let start = page
        .find("/donations/monthly?token=")
        .expect("a link to the gift");
    page[start..].split('"').next().unwrap().to_owned()
}

async fn a_monthly_gift_in_test_mode_renews_by_our_own_clock(world: &World) {
    let (app, visitor) = server(world).await;
    let form = visitor.get(200, GIVE).await.text();
    assert!(
        form.contains("value=\"once\" checked"),
        "monthly is never selected unasked"
    );
    let yearly = visitor.get(200, &format!("{GIVE}?frequency=YEARLY")).await.text();
    assert!(
        yearly.contains("Yearly donations are not available") && yearly.contains("value=\"once\" checked")
    );
    let receipt = start(&visitor).await;
    let link = link(&visitor, &receipt).await;
    let page = visitor.get(200, &link).await.text();
    for text in [
        "$25.00 every month",
        "American Red Cross",
        "Test mode",
        "Active",
        "Pause the donation",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(
        !page.contains("Enter a new card"),
        "there is no card in test mode"
    );
    app.settlement().renew_test_gifts().await.unwrap();
    assert_eq!(world.texts(DONATIONS).await.len(), 1);
    for donations in [2, 3] {
        world.app.clock.advance(MONTH);
        for _ in 0..2 {
            app.settlement().renew_test_gifts().await.unwrap();
        }
        assert_eq!(world.texts(DONATIONS).await, vec!["completed 2500"; donations]);
    }
    world.app.clock.advance(Duration::from_hours(1));
    let link = self::link(&visitor, &latest_receipt(world).await).await;
    visitor
        .post(303, &link, &[("action", "amount"), ("amount", "30")])
        .await;
    visitor
        .post(303, &link, &[("action", "pause"), ("months", "1")])
        .await;
    assert_eq!(world.texts(GIFTS).await, ["paused 3000"]);
    world.app.clock.advance(MONTH);
    app.settlement().renew_test_gifts().await.unwrap();
    assert_eq!(world.texts(DONATIONS).await.len(), 3);
    world.app.clock.advance(MONTH);
    for _ in 0..2 {
        app.settlement().renew_test_gifts().await.unwrap();
    }
    assert_eq!(world.texts(GIFTS).await, ["active 3000"]);
    assert_eq!(world.texts(DONATIONS).await.last().unwrap(), "completed 3000");
    let link = self::link(&visitor, &latest_receipt(world).await).await;
    visitor.post(303, &link, &[("action", "cancel")]).await;
    world.app.clock.advance(MONTH);
    app.settlement().renew_test_gifts().await.unwrap();
    assert_eq!(world.texts(DONATIONS).await.len(), 4);
    let kinds = world
        .texts("select kind from outbox where kind like 'monthly%' order by sequence")
        .await;
    assert_eq!(kinds.first().unwrap(), "monthly_gift_started");
    assert_eq!(kinds.last().unwrap(), "monthly_gift_canceled");
    app.mail.finish().await;
    app.db.close().await;
}

async fn latest_receipt(world: &World) -> String {
    let mut tx = world.app.db.view().await.unwrap();
    let ids: Vec<uuid::Uuid> = tx
        .fetch_scalars(platform::db::query(
            "select receipt_id from donations order by started_at desc",
        ))
        .await
        .unwrap();
    format!("/donations/{}", ids[0])
}

async fn links_to_a_monthly_gift_expire_and_cannot_be_forged(world: &World) {
    let (app, visitor) = server(world).await;
    let receipt = start(&visitor).await;
    let link = link(&visitor, &receipt).await;
    let (message, signature) = link.rsplit_once('.').unwrap();
    let (until, gift) = message.rsplit_once('.').unwrap();
    let other = uuid::Uuid::now_v7().simple().to_string();
    for forged in [
        format!("{until}.{other}.{signature}"),
        format!("{until}9.{gift}.{signature}"),
        message.to_owned(),
        "/donations/monthly?token=".to_owned(),
    ] {
        visitor.get(404, &forged).await;
        visitor.post(404, &forged, &[("action", "cancel")]).await;
    }
    visitor.get(200, &link).await;
    world.app.clock.advance(Duration::from_hours(60 * 24));
    visitor.get(404, &link).await;
    visitor.post(404, &link, &[("action", "cancel")]).await;
    assert_eq!(world.texts(GIFTS).await, ["active 2500"]);
    app.mail.finish().await;
    app.db.close().await;
}

async fn the_form_for_links_does_not_say_who_gives(world: &World) {
    let (app, visitor) = server(world).await;
    start(&visitor).await;
    let path = "/donations/monthly";
    visitor.post(422, path, &[("email", "ada")]).await;
    let known = visitor
        .post(200, path, &[("email", "ada@example.org")])
        .await
        .text();
    let unknown = visitor
        .post(200, path, &[("email", "eve@example.org")])
        .await
        .text();
    assert_eq!(known, unknown);
    let links = "select text from mail_queue where subject = 'Your monthly donations'";
    let text = crate::wait::eventually("the link is queued", async || world.texts(links).await.pop()).await;
    for expected in [
        "$25.00 to American Red Cross (active):",
        "/donations/monthly?token=",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    app.mail.finish().await;
    app.db.close().await;
}

async fn donors_are_warned_before_a_card_expires_and_reminded_once_a_year(world: &World) {
    let (app, visitor) = server(world).await;
    start(&visitor).await;
    let count = async |subject: &str| {
        for _ in 0..2 {
            app.settlement().send_monthly_notices().await.unwrap();
        }
        let subjects = world.texts("select subject from mail_queue").await;
        subjects.iter().filter(|found| found.contains(subject)).count()
    };
    let expires_at = world.app.clock.millis() + 40 * 86_400_000;
    world
        .execute_owned(format!("update monthly_gifts set card_expires_at = {expires_at}"))
        .await;
    assert_eq!(count("expires soon").await, 0);
    world.app.clock.advance(Duration::from_hours(11 * 24));
    assert_eq!(count("expires soon").await, 1);
    assert_eq!(count("reminder").await, 0);
    world.app.clock.advance(Duration::from_hours(355 * 24));
    assert_eq!(count("reminder").await, 1);
    world.app.clock.advance(Duration::from_hours(366 * 24));
    assert_eq!(count("reminder").await, 2);
    app.mail.finish().await;
    app.db.close().await;
}

async fn a_forgotten_donor_gives_no_more(world: &World) {
    let (app, visitor) = server(world).await;
    start(&visitor).await;
    let email = platform::email_address::EmailAddress::parse("ada@example.org").unwrap();
    let actor = access::audit::Actor::Command;
    let data = giving::donors::export(app.settlement(), &email, actor)
        .await
        .unwrap();
    assert_eq!(data.monthly_gifts.len(), 1);
    giving::donors::forget(app.settlement(), app.payments(), &email, actor)
        .await
        .unwrap();
    assert_eq!(world.texts(GIFTS).await, ["canceled 2500"]);
    assert!(world.texts("select text from mail_queue").await.is_empty());
    app.mail.finish().await;
    app.db.close().await;
}

async fn a_payment_link_offers_single_donations_only(world: &World) {
    world.load_demo().await;
    let provider = Provider::Link("https://pay.example.org/".to_owned());
    let (_app, client) = world.with_provider(provider).await;
    let visitor = Visitor::with_client(&client);
    let form = visitor
        .get(200, &format!("{GIVE}?frequency=monthly"))
        .await
        .text();
    assert!(
        form.contains("Monthly donations are not available on this site"),
        "{form}"
    );
    assert!(!form.contains("name=\"frequency\""));
}
