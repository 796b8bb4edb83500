//! Thank-you emails of an organizer to the donors of a fundraiser.

use super::visitor::{Visitor, between, emails, hidden};
use crate::api::fundraisers::RED_CROSS;
use crate::client::Client;
use crate::world::World;
use axum::http::Method;
use causeway::app::App;
use giving::thanks;
use platform::mail::Delivery;
use std::time::Duration;

on_both_databases!(
    donors_are_thanked_once_and_the_organizer_sees_no_address,
    a_donor_stops_all_thanks_with_one_click,
    servers_that_send_the_same_message_send_it_once,
    only_the_organizer_can_thank_and_only_in_plain_text,
);

const DAY: Duration = Duration::from_hours(24);

/// An organizer with a fundraiser, and the path of its page on the dashboard.
async fn organizer(world: &World) -> (Visitor, String) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let new = "/dashboard/fundraisers/new";
    let once = hidden(&visitor.get(200, new).await.text(), "once");
    let fields = [
        ("nonprofit", RED_CROSS),
        ("title", "Spring <run>"),
        ("once", &once),
    ];
    visitor.post(303, new, &fields).await;
    (visitor, format!("/dashboard/fundraisers/{once}"))
}

/// Gives to the fundraiser on its page.
async fn give(world: &World, email: &str) {
    let donor = Visitor::new(world);
    let give = "/american-red-cross/f/spring-run/give";
    let once = hidden(&donor.get(200, give).await.text(), "once");
    let fields = [("amount", "25"), ("email", email), ("once", &once)];
    let started = donor.post(303, give, &fields).await;
    let pay = started.header("location");
    donor.post(303, pay, &[("card", "4242 4242 4242 4242")]).await;
}

async fn write(visitor: &Visitor, expected: u16, page: &str, message: &str) -> String {
    let thank = format!("{page}/thank");
    let form = visitor.get(200, &thank).await.text();
    let once =
        between(&form, "name=\"once\" value=\"", "\"").unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let fields = [("message", message), ("once", once.as_str())];
    visitor.post(expected, &thank, &fields).await.text()
}

async fn send(app: &App) {
    thanks::send(app.giving_notices(), &app.directory).await.unwrap();
}

/// The thank-you emails in the data folder, once there are at least `count` emails.
async fn thanked(world: &World, count: usize) -> Vec<String> {
    let mut all = emails(world, count).await;
    all.retain(|email| email.contains("Subject: grace thanks you"));
    all
}

async fn donors_are_thanked_once_and_the_organizer_sees_no_address(world: &World) {
    let (visitor, page) = organizer(world).await;
    let nobody = visitor.get(200, &format!("{page}/thank")).await.text();
    assert!(
        nobody.contains("No donor has left an email address yet"),
        "{nobody}"
    );
    give(world, "ada@example.org").await;
    // The same person again, with a tag, somebody else, and somebody without an address.
    give(world, "Ada+news@example.org").await;
    give(world, "lise@example.org").await;
    give(world, "").await;
    let own = visitor.get(200, &page).await.text();
    assert!(own.contains(&format!("href=\"{page}/thank\"")), "{own}");
    let form = visitor.get(200, &format!("{page}/thank")).await.text();
    assert!(form.contains("Your message goes to 2 donors"), "{form}");
    write(
        &visitor,
        303,
        &page,
        "Thank you <b>all</b>!\r\n\r\nAmount: $1\r\nGrace",
    )
    .await;
    for _ in 0..2 {
        send(&world.app).await;
    }
    // Three receipts and two messages.
    let sent = thanked(world, 5).await;
    assert_eq!(sent.len(), 2, "{sent:?}");
    let to_lise = sent
        .iter()
        .find(|email| email.contains("To: lise@example.org"))
        .unwrap();
    for part in [
        "Subject: grace thanks you: Spring <run>",
        "grace, the organizer of \"Spring <run>\", thanks you for your donation and wrote to you:",
        "> Thank you <b>all</b>!\n>\n> Amount: $1\n> Grace\n",
        "http://causeway.test/american-red-cross/f/spring-run",
        "who does not know your email address",
        "Thank you &lt;b&gt;all&lt;/b&gt;!",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ] {
        assert!(to_lise.contains(part), "{part}: {to_lise}");
    }
    let own = visitor.get(200, &page).await.text();
    assert!(own.contains("Your last message was sent to 2 donors."), "{own}");
    for shown in [
        own,
        form,
        visitor.get(200, &format!("{page}/donations.csv")).await.text(),
    ] {
        assert!(
            !shown.contains("lise@example.org") && !shown.contains("ada@"),
            "{shown}"
        );
    }

    // Not again on the same day, and then only to new donors.
    give(world, "emmy@example.org").await;
    let early = write(&visitor, 422, &page, "Once more").await;
    assert!(early.contains("You thanked your donors on"), "{early}");
    world.app.clock.advance(DAY);
    write(&visitor, 303, &page, "Welcome, Emmy").await;
    send(&world.app).await;
    let sent = thanked(world, 7).await;
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().any(|email| email.contains("To: emmy@example.org")));
    world.app.clock.advance(DAY);
    let form = visitor.get(200, &format!("{page}/thank")).await.text();
    assert!(
        form.contains("Every donor who left an email address has been thanked"),
        "{form}"
    );
    let audited = world
        .texts("select detail from audit where act = 'fundraiser thank' order by id")
        .await;
    assert_eq!(audited.len(), 2);
    assert!(audited[1].ends_with("Welcome, Emmy"), "{audited:?}");
}

async fn a_donor_stops_all_thanks_with_one_click(world: &World) {
    let (visitor, page) = organizer(world).await;
    give(world, "ada@example.org").await;
    write(&visitor, 303, &page, "Thank you").await;
    send(&world.app).await;
    let email = thanked(world, 2).await.remove(0);
    let url = between(&email, "List-Unsubscribe: <http://causeway.test", ">").unwrap();
    assert!(!url.contains("ada"), "{url}");
    let stranger = Visitor::new(world);
    // Programs that scan emails open links too.
    let shown = stranger.get(200, &url).await.text();
    assert!(shown.contains("Stop these emails"), "{shown}");
    assert!(world.texts("select mailbox from stopped_thanks").await.is_empty());
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    for _ in 0..2 {
        let body = "List-Unsubscribe=One-Click";
        stranger.send(200, &Method::POST, &url, &headers, body).await;
    }
    for wrong in [format!("{url}0"), url.replace("token=", "token=0")] {
        stranger.send(404, &Method::POST, &wrong, &headers, "").await;
    }
    let stored = world.texts("select mailbox from stopped_thanks").await;
    assert!(stored.len() == 1 && !stored[0].contains("ada"), "{stored:?}");
    world.app.clock.advance(DAY);
    give(world, "ADA+run@example.org").await;
    give(world, "lise@example.org").await;
    write(&visitor, 303, &page, "Thank you again").await;
    send(&world.app).await;
    let sent = thanked(world, 5).await;
    let again: Vec<_> = sent.iter().filter(|email| email.contains("again")).collect();
    assert!(
        again.len() == 1 && again[0].contains("To: lise@example.org"),
        "{again:?}"
    );
}

async fn servers_that_send_the_same_message_send_it_once(world: &World) {
    let mut config = world.app.config.clone();
    // Nothing listens on this port, so the emails stay in the queue.
    config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    let (visitor, page) = organizer(world).await;
    for number in 0..7 {
        give(world, &format!("donor{number}@example.org")).await;
    }
    let build = async || {
        App::build_with_clock(config.clone(), world.app.clock.clone())
            .await
            .unwrap()
    };
    let (one, other) = (build().await, build().await);
    let writer = visitor.at(&Client::new(&one, ""));
    write(&writer, 303, &page, "Thank you").await;
    // Of two, one sends a batch while the other waits, and a server that is killed has sent nothing or all of a batch.
    drop(tokio::time::timeout(Duration::from_millis(3), send(&one)).await);
    tokio::join!(send(&one), send(&other));
    let queued = "select recipient from mail_queue where subject like '%thanks you%' order by recipient";
    let to = world.texts(queued).await;
    assert_eq!(to.len(), 7, "{to:?}");
    assert!(to.windows(2).all(|pair| pair[0] != pair[1]), "{to:?}");
    for app in [one, other] {
        app.mail.finish().await;
        app.db.close().await;
    }
}

async fn only_the_organizer_can_thank_and_only_in_plain_text(world: &World) {
    let (visitor, page) = organizer(world).await;
    give(world, "ada@example.org").await;
    let stranger = Visitor::new(world);
    stranger.sign_up("mallory").await;
    stranger.get(404, &format!("{page}/thank")).await;
    stranger
        .post(
            404,
            &format!("{page}/thank"),
            &[("message", "x"), ("once", &uuid::Uuid::now_v7().to_string())],
        )
        .await;
    for (message, expected) in [
        (" ", "Write a message"),
        ("Look at https://evil.example", "Leave out links"),
        (&"x".repeat(2_001), "Write at most 2,000 characters"),
    ] {
        let shown = write(&visitor, 422, &page, message).await;
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(world.texts("select message from thank_yous").await.is_empty());
    // A message of a fundraiser that was hidden meanwhile is not sent.
    write(&visitor, 303, &page, "Thank you").await;
    world.execute("update fundraisers set hidden_at = 1").await;
    send(&world.app).await;
    visitor.get(404, &format!("{page}/thank")).await;
    world.execute("update fundraisers set hidden_at = null").await;
    send(&world.app).await;
    assert!(thanked(world, 1).await.is_empty());
}
