//! The checkout cannot be flooded: limits on started donations and on receipts, and removal of what is never paid.

use crate::client::Client;
use crate::dashboard::visitor::{Visitor, emails, hidden};
use crate::wait::eventually;
use crate::world::World;
use causeway::app::App;
use causeway::server::background;
use futures_util::future::join_all;
use std::time::Duration;

on_both_databases!(
    one_network_can_start_a_limited_number_of_donations,
    one_mailbox_gets_a_limited_number_of_receipts,
    receipts_are_counted_across_servers,
    donations_are_removed_when_they_can_no_longer_be_paid,
);

const GIVE: &str = "/american-red-cross/give";
const VALID_CARD: &str = "4242424242424242";

/// Sends the donation form and returns the path of the payment page.
async fn start(visitor: &Visitor, email: &str) -> String {
    let form = visitor.get(200, GIVE).await.text();
    let fields = [
        ("amount", "5"),
        ("email", email),
        ("once", &hidden(&form, "once")),
    ];
    let response = visitor.post(303, GIVE, &fields).await;
    response.header("location").to_owned()
}

async fn donate(visitor: &Visitor, email: &str) {
    let page = start(visitor, email).await;
    visitor.post(303, &page, &[("card", VALID_CARD)]).await;
    let receipt = visitor.get(200, &page).await.text();
    assert!(receipt.contains("Thank you"), "{receipt}");
}

async fn one_network_can_start_a_limited_number_of_donations(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::with_client(&world.client.at([192, 0, 2, 1]));
    let form = visitor.get(200, GIVE).await.text();
    let once = hidden(&form, "once");
    let fields = [("amount", "7"), ("once", once.as_str())];
    let first = visitor.post(303, GIVE, &fields).await;
    for _ in 1..30 {
        start(&visitor, "").await;
    }
    let others = [("amount", "8"), ("once", once.as_str())];
    let refused = visitor.post(429, GIVE, &others).await;
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let page = refused.text();
    assert!(
        page.contains("30 per minute") && page.contains(&format!("{seconds} seconds")),
        "{page}"
    );
    // Nothing was stored, a donation that exists can still be opened and paid, and other networks are not affected.
    let count = "select cast(count(*) as text) from donations";
    assert_eq!(world.texts(count).await, ["30"]);
    let again = visitor.post(303, GIVE, &fields).await;
    assert_eq!(again.header("location"), first.header("location"));
    visitor
        .post(303, first.header("location"), &[("card", VALID_CARD)])
        .await;
    start(&Visitor::with_client(&world.client.at([192, 0, 2, 2])), "").await;
    world.app.clock.advance(Duration::from_secs(seconds));
    visitor.post(303, GIVE, &others).await;
}

async fn one_mailbox_gets_a_limited_number_of_receipts(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    for number in 0..12 {
        let email = ["ada@example.org", "Ada@Example.org", "ada+x@example.org"][number % 3];
        donate(&visitor, email).await;
    }
    donate(&visitor, "eve@example.org").await;
    let completed = "select cast(count(*) as text) from donations where state = 'completed'";
    assert_eq!(world.texts(completed).await, ["13"]);
    let emails_to = async |count: usize| {
        let emails = emails(world, count).await;
        let is_to_ada = |email: &&String| email.to_lowercase().contains("to: ada");
        emails.iter().filter(is_to_ada).count()
    };
    assert_eq!(emails_to(11).await, 10);
    // A restart does not reset the limit, and neither does another server.
    let (app, client) = world.restart().await;
    donate(&Visitor::with_client(&client), "ada@example.org").await;
    app.db.close().await;
    world.app.clock.advance(Duration::from_mins(61));
    donate(&visitor, "ada@example.org").await;
    assert_eq!(emails_to(12).await, 11);
    let marked = "select cast(count(*) as text) from donations where receipt_at is not null";
    assert_eq!(world.texts(marked).await, ["12"]);
}

async fn receipts_are_counted_across_servers(world: &World) {
    world.load_demo().await;
    let mut apps: Vec<App> = Vec::new();
    for _ in 0..2 {
        let mut config = world.app.config.clone();
        config.checkout.receipts_per_hour = 3;
        apps.push(App::build(config).await.unwrap());
    }
    let visitors: Vec<Visitor> = apps
        .iter()
        .map(|app| Visitor::with_client(&Client::new(app, "")))
        .collect();
    let donations = (0..12).map(|number| donate(&visitors[number % 2], "ada@example.org"));
    join_all(donations).await;
    let marked = "select cast(count(*) as text) from donations where receipt_at is not null";
    assert_eq!(world.texts(marked).await, ["3"]);
    for app in apps {
        app.db.close().await;
    }
}

async fn donations_are_removed_when_they_can_no_longer_be_paid(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    for (provider, state, days) in [
        ("test", "started", 1),
        ("test", "started", 3),
        ("test", "failed", 3),
        ("test", "pending", 31),
        ("test", "completed", 31),
        ("test", "refunded", 31),
        ("link", "started", 29),
        ("link", "started", 31),
        // A provider that charges money has to say that it was not paid.
        ("stripe", "started", 31),
        ("stripe", "failed", 31),
        ("stripe", "processing", 31),
        ("stripe", "expired", 1),
        ("stripe", "expired", 3),
        ("stripe", "disputed", 31),
    ] {
        start(&visitor, "").await;
        let changed_at = world.app.clock.millis() - days * 24 * 60 * 60 * 1_000;
        // No nonprofit has this ID, so the pending one cannot be recorded.
        let sql = format!(
            "update donations set provider = '{provider}', state = '{state}', changed_at = {changed_at}, nonprofit_id = id, \
             message = '{provider} {state} {days}' where message is null"
        );
        world.execute_owned(sql).await;
    }
    let background = tokio::spawn(background::run(world.app.clone()));
    let left = eventually("unpaid donations are removed", async || {
        let left = world
            .texts("select message from donations order by message")
            .await;
        (left.len() <= 10).then_some(left)
    })
    .await;
    let expected = [
        "link started 29",
        "stripe disputed 31",
        "stripe expired 1",
        "stripe failed 31",
        "stripe processing 31",
        "stripe started 31",
        "test completed 31",
        "test pending 31",
        "test refunded 31",
        "test started 1",
    ];
    assert_eq!(left, expected);
    background.abort();
}
