//! The overview for operators, and the search for everything.

use super::operator::operator;
use super::visitor::{Visitor, between};
use crate::api::fundraisers::{Organizer, donate, donate_in};
use crate::cli::server::{command, run};
use crate::world::World;
use giving::ledger::entry::Mode;
use platform::mail::{self, Email};
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    the_overview_lists_what_needs_attention,
    the_donations_of_today_are_summed_by_mode,
    one_search_finds_accounts_keys_fundraisers_donations_and_nonprofits,
    a_private_key_is_not_searched_for,
    the_page_of_a_nonprofit_has_its_reports_and_fundraisers,
);

const HOME: &str = "/dashboard/operator";

async fn the_overview_lists_what_needs_attention(world: &World) {
    world.app.clock.stop();
    let organizer = Organizer::new(world).await;
    organizer.create_fundraiser(json!({})).await;
    let operator = operator(world).await;
    let page = operator.get(200, HOME).await.text();
    let texts = [
        "Open reports: 1",
        "Fundraisers waiting for review: 1",
        "A background job is failing: keys",
        "Requests that failed with a server error in the last 24 hours: 1",
        "causeway import irs failed",
        "Emails that could not be delivered: 1",
        "Emails waiting for more than an hour: 1",
        "no new anchor for 11 minutes",
        "more than 45 days ago",
    ];
    for text in texts {
        assert!(!page.contains(text), "{text}: {page}");
    }

    let visitor = Visitor::new(world);
    let fields = [
        ("reason", "fraud"),
        ("details", "Not theirs"),
        ("once", "0190a000-0000-7000-8000-000000000001"),
    ];
    visitor.post(200, "/american-red-cross/report", &fields).await;
    world
        .execute("update fundraisers set in_review_since = created_at")
        .await;
    world
        .app
        .telemetry
        .failing_jobs
        .add("keys", "no connection <b>".to_owned(), world.app.clock.millis());
    let failed = command(world)
        .args(["import", "irs", "nowhere.csv"])
        .output()
        .unwrap();
    assert_eq!(failed.status.code(), Some(1));
    let mut tx = world.app.db.write().await.unwrap();
    for subject in ["first", "second"] {
        let email = Email::new("ada@example.org", subject, "");
        mail::store::insert(&mut tx, &email, world.app.clock.millis())
            .await
            .unwrap();
    }
    tx.commit().await.unwrap();
    world
        .execute("update mail_queue set failed_at = queued_at where subject = 'first'")
        .await;
    world.app.clock.advance(Duration::from_mins(61));
    let page = operator.get(200, HOME).await.text();
    for text in &texts[..3] {
        assert!(page.contains(text), "{text}: {page}");
    }
    for text in &texts[4..7] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains("no new anchor for 61 minutes"), "{page}");
    assert!(page.contains("no connection &#60;b&#62;"), "{page}");
    assert!(page.contains("nowhere.csv"), "{page}");

    // What works again is no longer listed.
    world.app.telemetry.failing_jobs.remove("keys");
    let file = world.file("eo.csv", generated());
    run(world, &["import", "irs", "--force", file.to_str().unwrap()]);
    world.execute("update mail_queue set failed_at = queued_at").await;
    let page = operator.get(200, HOME).await.text();
    for text in [texts[2], texts[4], texts[6]] {
        assert!(!page.contains(text), "{text}: {page}");
    }
    world.app.clock.advance(Duration::from_hours(46 * 24));
    operator.sign_in(303, "olga", super::visitor::PASSWORD).await;
    let page = operator.get(200, HOME).await.text();
    assert!(page.contains("more than 45 days ago"), "{page}");
}

/// A small EO BMF file.
fn generated() -> String {
    let output = crate::cli::binary()
        .args(["generate", "--count", "20", "--seed", "1"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

async fn the_donations_of_today_are_summed_by_mode(world: &World) {
    world.app.clock.stop();
    // Noon, so that a day later is another day.
    let now = world.app.clock.millis();
    let noon = access::usage::day_of(now) + access::usage::DAY_MILLIS * 3 / 2;
    world
        .app
        .clock
        .advance(Duration::from_millis(u64::try_from(noon - now).unwrap()));
    let organizer = Organizer::new(world).await;
    let fundraiser = organizer.create_fundraiser(json!({})).await;
    for number in 0..7 {
        let id = format!("yesterday-{number}");
        donate(world, &fundraiser, &id, "ada", 1_000).await.unwrap();
    }
    world.app.clock.advance(Duration::from_hours(24));
    for number in 0..3 {
        let id = format!("today-{number}");
        donate(world, &fundraiser, &id, "ada", 2_550).await.unwrap();
    }
    donate_in(Mode::Test, world, &fundraiser, "test", "ada", 99)
        .await
        .unwrap();
    let operator = operator(world).await;
    let page = operator.get(200, HOME).await.text();
    let row = |mode: &str, count: u32, amount: &str| {
        format!(
            "<th scope=\"row\">{mode}</th><td class=\"number\">{count}</td><td class=\"number\">{amount}</td>"
        )
    };
    assert!(page.contains(&row("Live", 3, "$76.50")), "{page}");
    assert!(page.contains(&row("Test", 1, "$0.99")), "{page}");
    let link = between(&page, "<a href=\"/dashboard/operator/donations?", "\"").unwrap();
    let list = operator
        .get(200, &format!("/dashboard/operator/donations?{link}"))
        .await
        .text();
    assert!(list.contains("Donations found: 4"), "{list}");
    world.app.clock.advance(Duration::from_hours(24));
    let page = operator.get(200, HOME).await.text();
    assert!(page.contains(&row("Live", 0, "$0.00")), "{page}");
}

async fn one_search_finds_accounts_keys_fundraisers_donations_and_nonprofits(world: &World) {
    let organizer = Organizer::new(world).await;
    let fundraiser = organizer
        .create_fundraiser(json!({"title": "Run 100% for _everyone_"}))
        .await;
    let id = fundraiser["id"].as_str().unwrap();
    donate(world, &fundraiser, "first", "ada", 1_234).await.unwrap();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let fields = [
        ("amount", "25"),
        ("name", "Ada Lovelace"),
        ("email", "Donor+news@example.org"),
        ("once", "0190a000-0000-7000-8000-000000000002"),
    ];
    let started = visitor.post(303, "/american-red-cross/give", &fields).await;
    let receipt = started.header("location").rsplit('/').next().unwrap().to_owned();

    let operator = operator(world).await;
    let (key, slug) = (world.key_id.to_string(), fundraiser["slug"].as_str().unwrap());
    let link = format!("http://causeway.test/american-red-cross/f/{slug}?x=1");
    let fundraiser_path = format!("/dashboard/operator/fundraisers/{id}");
    let key_path = format!("/dashboard/operator/keys/{key}");
    let nonprofit_path = "/dashboard/operator/nonprofits/";
    for (query, expected) in [
        ("GRA", "/dashboard/operator/accounts/grace"),
        ("grace@EXAMPLE.org", "/dashboard/operator/accounts/grace"),
        (key.as_str(), key_path.as_str()),
        (&world.client.key, &key_path),
        (id, &fundraiser_path),
        (&link, &fundraiser_path),
        ("100% for _EVERY", &fundraiser_path),
        ("1", "/dashboard/operator/donations/1"),
        (&receipt, "/dashboard/operator/donations/"),
        ("donor@example.org", "/dashboard/operator/donations/"),
        ("american red cross", nonprofit_path),
        ("53-0196605", nonprofit_path),
    ] {
        let encoded: String =
            percent_encoding::utf8_percent_encode(query, percent_encoding::NON_ALPHANUMERIC).collect();
        let page = operator
            .get(200, &format!("{HOME}/search?q={encoded}"))
            .await
            .text();
        let path = page
            .split("<li><a href=\"")
            .filter_map(|rest| rest.split('"').next())
            .find(|path| path.starts_with(expected))
            .unwrap_or_else(|| panic!("{query}: {page}"));
        operator.get(200, path).await;
    }
    // A wildcard is a character like any other.
    for query in ["%25%25%25", "qqzzxxy", "", "%00"] {
        let page = operator
            .get(200, &format!("{HOME}/search?q={query}"))
            .await
            .text();
        assert!(page.contains("Nothing to show."), "{query}: {page}");
    }
    let page = operator
        .get(200, &format!("{HOME}/search?q=%22%3E%3Cscript%3Ex"))
        .await
        .text();
    assert!(!page.contains("<script>x"), "{page}");
}

async fn a_private_key_is_not_searched_for(world: &World) {
    let (_, private) = world.create_key(access::keys::Kind::Private).await;
    let operator = operator(world).await;
    let page = operator
        .get(200, &format!("{HOME}/search?q={private}"))
        .await
        .text();
    assert!(
        page.contains("Do not search for a private key") && !page.contains(&private),
        "{page}"
    );
}

async fn the_page_of_a_nonprofit_has_its_reports_and_fundraisers(world: &World) {
    let organizer = Organizer::new(world).await;
    organizer
        .create_fundraiser(json!({"title": "River <i>run"}))
        .await;
    let visitor = Visitor::new(world);
    let fields = [
        ("reason", "misleading"),
        ("details", "Wrong <b>logo"),
        ("once", "0190a000-0000-7000-8000-000000000003"),
    ];
    visitor.post(200, "/american-red-cross/report", &fields).await;
    let operator = operator(world).await;
    let path = format!("{HOME}/nonprofits/american-red-cross");
    let page = operator.get(200, &path).await.text();
    for text in [
        "Can receive donations",
        "Wrong &#60;b&#62;logo",
        "River &#60;i&#62;run",
        "530196605",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let close = between(&page, "action=\"/dashboard/operator/reports/", "\"").unwrap();
    operator
        .post(303, &format!("/dashboard/operator/reports/{close}"), &[])
        .await;
    assert!(!operator.get(200, &path).await.text().contains("Wrong"));
    operator
        .get(404, &format!("{HOME}/nonprofits/nobody-at-all"))
        .await;
}
