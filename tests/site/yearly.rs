//! Yearly statements for donors, and the email in January.

use crate::client::Client;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use causeway::app::App;
use giving::yearly::link;
use jiff::civil::date;
use jiff::tz::TimeZone;
use platform::email_address::EmailAddress;
use platform::mail::Delivery;
use std::time::Duration;

on_both_databases!(
    a_donor_prints_what_was_given_in_a_year,
    every_donor_gets_one_email_in_january,
);

const DAY_MILLIS: i64 = 86_400_000;

async fn give(visitor: &Visitor, page: &str, amount: &str, email: &str) {
    let url = format!("{page}/give");
    let form = visitor.get(200, &url).await.text();
    let fields = [
        ("amount", "other"),
        ("other_amount", amount),
        ("name", "Ada Lovelace"),
        ("email", email),
        ("once", &hidden(&form, "once")),
    ];
    let started = visitor.post(303, &url, &fields).await;
    let card = [("card", "4242 4242 4242 4242")];
    visitor.post(303, started.header("location"), &card).await;
}

fn path(app: &App, email: &str, year: i16) -> String {
    let email = EmailAddress::parse(email).unwrap();
    let token = link::token(&app.secret, &email, app.clock.millis() + DAY_MILLIS);
    format!("/donations/statement?token={token}&year={year}")
}

async fn a_donor_prints_what_was_given_in_a_year(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    give(&visitor, "/american-red-cross", "250", "ada@example.org").await;
    give(&visitor, "/american-red-cross", "40", "Ada@example.org").await;
    give(&visitor, "/american-red-cross", "10", "other@example.org").await;
    // Half past eleven on December 31 in New York, which is the next year in UTC.
    let new_york = TimeZone::get("America/New_York").unwrap();
    let paid_at = date(2025, 12, 31).at(23, 30, 0, 0).to_zoned(new_york).unwrap();
    let paid_at = paid_at.timestamp().as_millisecond();
    world
        .execute_owned(format!(
            "update donations set paid_at = {paid_at} where amount = 25000"
        ))
        .await;
    let page = visitor
        .get(200, &path(&world.app, "ada@example.org", 2025))
        .await
        .text();
    for expected in [
        "Donations in 2025",
        "December 31, 2025",
        "$250.00",
        "53-0196605",
        "No goods or services were provided in exchange for this contribution.",
        "Test mode",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("$40.00") && !page.contains("$10.00"), "{page}");
    let year = world.app.yearly_statements().year_of(world.app.clock.millis());
    let this_year = path(&world.app, "ada@example.org", year);
    let page = visitor.get(200, &this_year).await.text();
    assert!(page.contains("$40.00") && page.contains("Other years:"), "{page}");
    let csv = visitor.get(200, &format!("{this_year}&format=csv")).await;
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert!(csv.text().contains(",40.00,\"yes\",\"none\""), "{}", csv.text());
    let list = this_year.replace("/statement?", "/receipts?");
    let page = visitor.get(200, &list).await.text();
    assert!(page.contains("Donations in 2025"), "{page}");
    visitor.get(404, "/donations/statement?token=x&year=2025").await;
}

async fn every_donor_gets_one_email_in_january(world: &World) {
    world.load_demo().await;
    let mut config = world.app.config.clone();
    // Nothing listens on this port, so emails stay in the queue.
    config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    let app = App::build_with_clock(config.clone(), world.app.clock.clone())
        .await
        .unwrap();
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    for email in ["ada@example.org", "ada@example.org", "bo@example.org"] {
        give(&visitor, "/american-red-cross", "25", email).await;
    }
    let count = "select cast(count(*) as text) from mail_queue where subject like 'Your donations in %'";
    let year = app.yearly_statements().year_of(app.clock.millis());
    let noon = |month, day| {
        let noon = date(year + 1, month, day)
            .at(12, 0, 0, 0)
            .to_zoned(app.config.time_zone.clone());
        noon.unwrap().timestamp().as_millisecond()
    };
    let advance_to = |at: i64| {
        let millis = (at - app.clock.millis()) as u64;
        app.clock.advance(Duration::from_millis(millis));
    };
    // Late events of December may still arrive.
    advance_to(noon(1, 3));
    assert_eq!(app.yearly_statements().queue_emails().await.unwrap(), 0);
    advance_to(noon(1, 8));
    assert_eq!(app.yearly_statements().queue_emails().await.unwrap(), 2);
    let restarted = App::build_with_clock(config, app.clock.clone()).await.unwrap();
    assert_eq!(restarted.yearly_statements().queue_emails().await.unwrap(), 0);
    assert_eq!(world.texts(count).await, ["2"]);
    let texts = world
        .texts("select text from mail_queue where subject like 'Your donations in %'")
        .await;
    let link = texts[0]
        .split_whitespace()
        .find(|word| word.contains("/donations/statement?"))
        .unwrap();
    let link = link.strip_prefix("http://causeway.test").unwrap();
    let page = visitor.get(200, link).await.text();
    assert!(page.contains(&format!("Donations in {year}")), "{page}");
    advance_to(noon(2, 1));
    assert_eq!(app.yearly_statements().queue_emails().await.unwrap(), 0);
    app.mail.finish().await;
    restarted.db.close().await;
    app.db.close().await;
}
