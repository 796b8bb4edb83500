//! "Email me my receipts".

use crate::dashboard::visitor::{Visitor, emails, hidden, link};
use crate::world::World;
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use std::time::Duration;

on_both_databases!(
    a_link_lists_all_donations_of_an_address,
    a_donor_who_returns_finds_the_way_to_the_receipts,
    the_answer_does_not_say_who_has_given,
    links_expire_and_cannot_be_forged,
    links_to_one_address_are_throttled,
);

const PATH: &str = "/donations/receipts";

async fn give(visitor: &Visitor, amount: &str, email: &str) -> String {
    let url = "/american-red-cross/give";
    let form = visitor.get(200, url).await.text();
    let once = hidden(&form, "once");
    let fields = [
        ("amount", "other"),
        ("other_amount", amount),
        ("email", email),
        ("once", &once),
    ];
    let started = visitor.post(303, url, &fields).await;
    let receipt = started.header("location").to_owned();
    visitor
        .post(303, &receipt, &[("card", "4242 4242 4242 4242")])
        .await;
    receipt
}

/// The links that were emailed, once there are at least `count` emails in all.
async fn links(world: &World, count: usize) -> Vec<String> {
    let emails = emails(world, count).await;
    let with_link = emails
        .iter()
        .filter(|email| email.contains("Subject: Your donations and receipts"));
    with_link.map(|email| link(email)).collect()
}

async fn a_link_lists_all_donations_of_an_address(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let mine = [
        give(&visitor, "25", "ada@example.org").await,
        give(&visitor, "7.50", "Ada@example.org").await,
    ];
    let other = give(&visitor, "99", "bob@example.org").await;
    // Started and never paid.
    let form = visitor.get(200, "/american-red-cross/give").await.text();
    let once = hidden(&form, "once");
    let fields = [("amount", "100"), ("email", "ada@example.org"), ("once", &once)];
    let unpaid = visitor.post(303, "/american-red-cross/give", &fields).await;
    assert!(visitor.get(200, &mine[0]).await.text().contains(PATH));
    assert!(visitor.get(200, PATH).await.text().contains("Email me a link"));
    visitor.post(200, PATH, &[("email", "ADA@example.org")]).await;
    let links = links(world, 4).await;
    let page = visitor.get(200, &links[0]).await;
    assert_eq!(page.header("cache-control"), "private, no-store");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let page = page.text();
    for receipt in &mine {
        assert!(page.contains(&format!("href=\"{receipt}\"")), "{page}");
    }
    for shown in ["$25.00", "$7.50", "American Red Cross", ">Test</span>"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains(&other) && !page.contains("$99.00"), "{page}");
    assert!(!page.contains(unpaid.header("location")), "{page}");
    visitor.get(200, &mine[1]).await;
}

async fn a_donor_who_returns_finds_the_way_to_the_receipts(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let home = visitor.get(200, "/").await.text();
    assert!(
        home.contains("<a href=\"/donations/receipts\">Find your receipts</a>"),
        "{home}"
    );
    let hint = "You gave without an email address";
    let with_email = give(&visitor, "25", "ada@example.org").await;
    let with_email = visitor.get(200, &with_email).await.text();
    let emailed = "We are emailing you a copy.";
    assert!(
        !with_email.contains(hint) && with_email.contains(emailed),
        "{with_email}"
    );
    let without = give(&visitor, "25", "").await;
    let without = visitor.get(200, &without).await.text();
    assert!(without.contains(hint) && !without.contains(emailed), "{without}");
}

async fn the_answer_does_not_say_who_has_given(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    give(&visitor, "25", "ada@example.org").await;
    let answers = [
        visitor
            .post(200, PATH, &[("email", "bob@example.org")])
            .await
            .text(),
        visitor
            .post(200, PATH, &[("email", "ada@example.org")])
            .await
            .text(),
    ];
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].contains("Check your email"), "{}", answers[0]);
    // A receipt and a link, both to ada.
    let sent = emails(world, 2).await;
    assert!(
        sent.iter().all(|email| email.contains("To: ada@example.org")),
        "{sent:?}"
    );
    for bad in ["", "nobody", "a@b@c"] {
        let page = visitor.post(422, PATH, &[("email", bad)]).await.text();
        assert!(page.contains("Enter an email address"), "{page}");
    }
}

async fn links_expire_and_cannot_be_forged(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    give(&visitor, "25", "ada@example.org").await;
    visitor.post(200, PATH, &[("email", "ada@example.org")]).await;
    let link = links(world, 2).await.remove(0);
    visitor.get(200, &link).await;
    let (message, signature) = link.split_once("token=").unwrap().1.split_once('.').unwrap();
    // The same time, with the address of somebody else.
    let text = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(message).unwrap()).unwrap();
    let other = BASE64_URL_SAFE_NO_PAD.encode(text.replace("ada", "bob"));
    for forged in [
        format!("{other}.{signature}"),
        format!("{message}.{}", "0".repeat(32)),
        format!("{message}."),
        message.to_owned(),
        "x.y".to_owned(),
        String::new(),
    ] {
        let page = visitor.get(404, &format!("{PATH}?token={forged}")).await.text();
        assert!(page.contains("This link no longer works"), "{page}");
    }
    world.app.clock.advance(Duration::from_hours(24));
    visitor.get(404, &link).await;
}

async fn links_to_one_address_are_throttled(world: &World) {
    world.app.clock.stop();
    world.load_demo().await;
    let visitor = Visitor::new(world);
    give(&visitor, "25", "ada@example.org").await;
    give(&visitor, "25", "bob@example.org").await;
    let per_hour = world.app.config.checkout.receipts_per_hour as usize;
    let network = "203.0.113.9/32".parse().unwrap();
    // The limit holds for the mailbox, with or without a tag, whoever asks.
    for _ in 0..per_hour {
        let now = world.app.clock.instant();
        let attempts = &world.app.access.attempts;
        assert!(
            attempts
                .receipt_link("ada@example.org", per_hour, network, now)
                .await
                .is_ok()
        );
    }
    for email in ["ada@example.org", "Ada+x@example.org", "bob@example.org"] {
        // The answer stays the same.
        let page = visitor.post(200, PATH, &[("email", email)]).await.text();
        assert!(page.contains("Check your email"), "{page}");
    }
    let sent = emails(world, 3).await;
    let to_ada = |email: &&String| email.contains("Subject: Your donations") && email.contains("To: ada");
    assert_eq!(sent.iter().filter(to_ada).count(), 0, "{sent:?}");
    assert_eq!(links(world, 3).await.len(), 1);
}
