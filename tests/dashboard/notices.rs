//! Emails to the owners of accounts: about donations, goals, ends and sign-ins, summaries, and stopping them.

use super::visitor::{PASSWORD, Visitor, between, emails};
use crate::api::fundraisers::{Organizer, donate};
use crate::wait::eventually;
use crate::world::World;
use axum::http::Method;
use causeway::app::App;
use platform::clock::rfc3339;
use platform::mail::Delivery;
use serde_json::json;
use std::time::Duration;

on_both_databases!(
    the_owner_of_a_fundraiser_is_emailed_about_donations_and_the_goal_once,
    above_one_email_about_donations_an_hour_a_summary_follows,
    emails_stop_with_one_click_without_signing_in,
    a_fundraiser_that_ends_in_three_days_is_announced_once,
    a_sign_in_from_an_unknown_browser_is_announced,
    emails_about_events_are_queued_once_by_several_servers_that_are_killed,
);

const HOUR: Duration = Duration::from_hours(1);

/// An organizer whose account has an email address.
async fn organizer(world: &World) -> Organizer {
    let organizer = Organizer::new(world).await;
    world
        .execute("update accounts set email = 'ada@example.org' where username = 'ada'")
        .await;
    organizer
}

/// Queues the emails about everything that has happened.
async fn notify(world: &World) {
    world.app.giving_notices().queue_events().await.unwrap();
}

fn subject(email: &str) -> String {
    between(email, "Subject: ", "\n").unwrap()
}

async fn the_owner_of_a_fundraiser_is_emailed_about_donations_and_the_goal_once(world: &World) {
    let organizer = organizer(world).await;
    let run = organizer.create_fundraiser(json!({"goal": 3000})).await;
    let id = run["id"].as_str().unwrap();
    donate(world, &run, "p-1", "d-1", 2_500).await.unwrap();
    notify(world).await;
    notify(world).await;
    world.app.clock.advance(HOUR);
    donate(world, &run, "p-2", "d-2", 500).await.unwrap();
    notify(world).await;
    world.app.clock.advance(HOUR);
    donate(world, &run, "p-3", "d-3", 100).await.unwrap();
    // Recording a donation again is no event.
    donate(world, &run, "p-3", "d-3", 100).await.unwrap();
    notify(world).await;
    let sent = emails(world, 4).await;
    let mut subjects: Vec<String> = sent.iter().map(|email| subject(email)).collect();
    subjects.sort();
    assert_eq!(
        subjects,
        [
            "$1.00 for Spring run",
            "$25.00 for Spring run",
            "$5.00 for Spring run",
            "Spring run has reached its goal"
        ]
    );
    let first = &sent[0];
    assert!(
        first.contains("To: ada@example.org") && first.contains("Hello ada,"),
        "{first}"
    );
    assert!(
        first.contains("Raised so far: $25.00 of $30.00\nSupporters: 1"),
        "{first}"
    );
    let link = format!("http://causeway.test/dashboard/fundraisers/{id}");
    assert!(
        first.contains(&format!("See your donations: {link}\n")),
        "{first}"
    );
    let goal = sent.iter().find(|email| subject(email).contains("goal")).unwrap();
    assert!(
        goal.contains("Raised so far: $30.00 of $30.00\nSupporters: 2"),
        "{goal}"
    );
    // The HTML version has a button.
    assert!(
        first.contains(&format!("href=\"{link}\">See your donations</a>")),
        "{first}"
    );
}

async fn above_one_email_about_donations_an_hour_a_summary_follows(world: &World) {
    let run = organizer(world).await.create_fundraiser(json!({})).await;
    for number in 0..12 {
        let id = format!("p-{number}");
        donate(world, &run, &id, "d-1", 100 + number).await.unwrap();
    }
    notify(world).await;
    assert_eq!(emails(world, 1).await.len(), 1);
    let notices = world.app.notices();
    notices.queue_summaries(&world.app.db).await.unwrap();
    world.app.clock.advance(HOUR);
    notices.queue_summaries(&world.app.db).await.unwrap();
    notices.queue_summaries(&world.app.db).await.unwrap();
    let sent = emails(world, 2).await;
    assert_eq!(sent.len(), 2);
    let summary = sent
        .iter()
        .find(|email| subject(email).starts_with("11 more"))
        .unwrap();
    assert!(
        summary.contains("$1.01 for Spring run\n$1.02 for Spring run\n"),
        "{summary}"
    );
    assert_eq!(subject(summary), "11 more: donations to your fundraisers");
}

async fn emails_stop_with_one_click_without_signing_in(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    world.load_demo().await;
    let run = Organizer::new(world).await.create_fundraiser(json!({})).await;
    world
        .execute("update fundraisers set account_id = (select id from accounts where username = 'grace')")
        .await;
    donate(world, &run, "p-1", "d-1", 2_500).await.unwrap();
    notify(world).await;
    let email = emails(world, 1).await.remove(0);
    assert!(
        email.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"),
        "{email}"
    );
    let url = between(&email, "List-Unsubscribe: <http://causeway.test", ">").unwrap();
    assert!(email.contains(&format!(
        "Stop emails about donations to your fundraisers: http://causeway.test{url}"
    )));

    // Opening the link changes nothing, because programs that scan emails open links too.
    let stranger = Visitor::new(world);
    let page = stranger.get(200, &url).await.text();
    assert!(page.contains("Donations to my fundraisers"), "{page}");
    assert_eq!(world.texts("select kind from stopped_notices").await.len(), 0);
    // A mail program sends no cookie and no origin, and a body of either type.
    let headers = [("content-type", "multipart/form-data; boundary=x")];
    let body =
        "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n";
    for _ in 0..2 {
        let page = stranger
            .send(200, &Method::POST, &url, &headers, body)
            .await
            .text();
        assert!(page.contains("You will not get these emails anymore"), "{page}");
    }
    for wrong in [
        url.replace("donation", "ending"),
        format!("{url}0"),
        url[..30].to_owned(),
    ] {
        let page = stranger
            .send(404, &Method::POST, &wrong, &headers, body)
            .await
            .text();
        assert!(page.contains("This link does not work"), "{page}");
    }
    donate(world, &run, "p-2", "d-2", 2_500).await.unwrap();
    notify(world).await;

    let settings = visitor.get(200, "/dashboard/settings").await.text();
    assert!(
        settings.contains("name=\"donation\" value=\"1\"><span>"),
        "{settings}"
    );
    assert!(
        settings.contains("name=\"ending\" value=\"1\" checked>"),
        "{settings}"
    );
    visitor
        .post(303, "/dashboard/settings/emails", &[("donation", "1")])
        .await;
    assert_eq!(
        world
            .texts("select kind from stopped_notices order by kind")
            .await,
        ["ending", "goal-reached", "return", "webhook-failing"]
    );
    world.app.clock.advance(HOUR);
    donate(world, &run, "p-3", "d-3", 700).await.unwrap();
    notify(world).await;
    let sent = emails(world, 2).await;
    assert_eq!(sent.len(), 2);
    assert_eq!(subject(&sent[1]), "$7.00 for Spring run");

    let form = visitor.get(200, "/dashboard/settings/delete").await.text();
    assert!(!form.is_empty());
    visitor
        .post(303, "/dashboard/settings/delete", &[("current", PASSWORD)])
        .await;
    let rows = "select kind from stopped_notices union all select kind from notice_windows";
    assert_eq!(world.texts(rows).await.len(), 0);
}

async fn a_fundraiser_that_ends_in_three_days_is_announced_once(world: &World) {
    let organizer = organizer(world).await;
    let now = world.app.clock.millis();
    let days = |days: i64| rfc3339(now + days * 24 * 3_600_000);
    organizer
        .create_fundraiser(json!({"title": "Soon", "endDate": days(2)}))
        .await;
    organizer
        .create_fundraiser(json!({"title": "Later", "endDate": days(5)}))
        .await;
    let remind = async || world.app.giving_notices().queue_endings().await.unwrap();
    remind().await;
    world.app.clock.advance(47 * HOUR);
    remind().await;
    // The one that was created two days before its end needs no email.
    assert_eq!(world.texts("select kind from sent_notices").await.len(), 0);
    world.app.clock.advance(2 * HOUR);
    remind().await;
    remind().await;
    let sent = emails(world, 1).await;
    assert_eq!(sent.len(), 1);
    assert!(subject(&sent[0]).starts_with("Later ends on "), "{}", sent[0]);
}

async fn a_sign_in_from_an_unknown_browser_is_announced(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let form = visitor.get(200, "/dashboard/sign-out").await.text();
    assert!(form.contains("/dashboard/sign-out"));
    visitor.post(303, "/dashboard/sign-out", &[]).await;
    // The browser is known although its session has ended.
    visitor.sign_in(303, "grace", PASSWORD).await;
    let other = Visitor::new(world);
    other.sign_in(422, "grace", "not the password").await;
    other.sign_in(303, "grace", PASSWORD).await;
    other.sign_in(303, "grace", PASSWORD).await;
    let sent = emails(world, 1).await;
    assert_eq!(sent.len(), 1);
    assert_eq!(subject(&sent[0]), "New sign-in to your account");
    assert!(
        sent[0].contains("To: grace@example.org") && sent[0].contains("Browser: "),
        "{}",
        sent[0]
    );
    assert!(!sent[0].contains("List-Unsubscribe"), "{}", sent[0]);
}

async fn emails_about_events_are_queued_once_by_several_servers_that_are_killed(world: &World) {
    const DONATIONS: i64 = 8;
    let run = organizer(world)
        .await
        .create_fundraiser(json!({"goal": 100}))
        .await;
    let mut servers = Vec::new();
    for _ in 0..2 {
        let mut config = world.app.config.clone();
        // Nobody listens there, so emails stay in the queue.
        config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:9".to_owned().into());
        let app = App::build_with_clock(config, world.app.clock.clone())
            .await
            .unwrap();
        servers.push(app);
    }
    for number in 0..DONATIONS {
        let id = format!("p-{number}");
        donate(world, &run, &id, "d-1", 100).await.unwrap();
        // A future that is dropped at any point rolls its transaction back, as a killed server does.
        for (at, server) in servers.iter().enumerate() {
            let micros = (number as u64 * 2 + at as u64) * 150;
            let pass = server.giving_notices().queue_events();
            _ = tokio::time::timeout(Duration::from_micros(micros), pass).await;
        }
    }
    let (first, second) = (servers[0].giving_notices(), servers[1].giving_notices());
    let (first, second) = tokio::join!(first.queue_events(), second.queue_events());
    first.unwrap();
    second.unwrap();
    let subjects = "select subject from mail_queue order by subject";
    let queued = eventually("the emails are in the queue", async || {
        let queued = world.texts(subjects).await;
        (queued.len() > 1).then_some(queued)
    })
    .await;
    // The first donation of the hour has an email of its own, and each of the others waits once for the summary.
    assert_eq!(
        queued,
        ["$1.00 for Spring run", "Spring run has reached its goal"]
    );
    let waiting = "select cast(waiting as text) from notice_windows where kind = 'donation'";
    assert_eq!(world.texts(waiting).await, [(DONATIONS - 1).to_string()]);
    for server in servers {
        server.mail.finish().await;
        server.db.close().await;
    }
}
