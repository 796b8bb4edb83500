//! Checkout with the test provider, from the form to the receipt.

use crate::client::Client;
use crate::dashboard::visitor::{Visitor, hidden};
use crate::world::World;
use axum::http::Method;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use causeway::app::App;
use futures_util::future::join_all;
use giving::checkout::amounts::AmountLimits;
use serde_json::json;

on_both_databases!(
    a_donation_is_paid_once_however_often_the_forms_are_sent,
    an_invalid_amount_keeps_the_input_and_starts_no_donation,
    an_amount_outside_the_limits_of_the_operator_is_refused,
    a_failed_card_is_reported_and_can_be_retried,
    a_paid_donation_left_pending_is_recorded_when_its_page_is_opened,
    a_paid_donation_that_cannot_be_recorded_does_not_block_others,
    a_nonprofit_that_cannot_receive_donations_has_no_checkout,
    a_donation_counts_toward_its_fundraiser_until_it_is_closed,
    an_amount_that_is_changed_after_back_is_shown_and_charged,
    a_form_that_is_sent_to_another_nonprofit_starts_another_donation,
    only_valid_email_addresses_are_accepted,
    the_receipt_is_private_and_its_former_url_redirects,
);

const PROFILE: &str = "/american-red-cross";
const VALID_CARD: &str = "4242 4242 4242 4242";

/// Starts a donation and returns the path of its payment page.
async fn start(visitor: &Visitor, page: &str, amount: &str) -> String {
    let form = visitor.get(200, &format!("{page}/give")).await.text();
    let fields = [
        ("amount", amount),
        ("name", "Ada L"),
        ("public", "yes"),
        ("once", &hidden(&form, "once")),
    ];
    let response = visitor.post(303, &format!("{page}/give"), &fields).await;
    response.header("location").to_owned()
}

async fn a_donation_is_paid_once_however_often_the_forms_are_sent(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let form = visitor
        .get(200, &format!("{PROFILE}/give?amount=20"))
        .await
        .text();
    assert!(
        form.contains("value=\"20\"") && form.contains("Test mode: no money is charged"),
        "{form}"
    );
    let once = hidden(&form, "once");
    let fields = [("amount", "20"), ("once", once.as_str())];
    let give = format!("{PROFILE}/give");
    let clicks = std::iter::repeat_with(|| visitor.post(303, &give, &fields)).take(8);
    let responses = join_all(clicks).await;
    let pay = responses[0].header("location").to_owned();
    assert!(pay.starts_with("/donations/"), "{pay}");
    assert!(
        responses
            .iter()
            .all(|response| response.header("location") == pay)
    );
    for _ in 0..3 {
        visitor.post(303, &pay, &[("card", VALID_CARD)]).await;
    }
    let receipt = visitor.get(200, &pay).await.text();
    assert!(
        receipt.contains("Thank you")
            && receipt.contains("$20.00")
            && receipt.contains("Test mode: no money was charged")
    );
    let entries = world
        .texts("select source || ' ' || cast(amount as text) from ledger_entries")
        .await;
    assert_eq!(entries, ["site 2000"]);
    // A form that is sent again after the payment shows the receipt.
    let again = visitor.post(303, &give, &fields).await;
    assert_eq!(again.header("location"), pay);
    assert_eq!(world.texts("select state from donations").await, ["completed"]);
}

async fn an_invalid_amount_keeps_the_input_and_starts_no_donation(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    for amount in [
        "0",
        "-5",
        "five",
        "1.005",
        "25.000",
        "1000000000000000",
        "",
        "<b>",
    ] {
        let form = visitor.get(200, &format!("{PROFILE}/give")).await.text();
        let once = hidden(&form, "once");
        let fields = [("amount", amount), ("name", "Ada & Co"), ("once", once.as_str())];
        let page = visitor
            .post(422, &format!("{PROFILE}/give"), &fields)
            .await
            .text();
        assert!(
            page.contains("value=\"Ada &#38; Co\"") && page.contains("aria-invalid"),
            "{page}"
        );
    }
    let fields = [("amount", "5"), ("once", "0190f5a0-0000-7000-8000-000000000001")];
    visitor
        .post(422, &format!("{PROFILE}/give?min_value=10"), &fields)
        .await;
    assert!(world.texts("select state from donations").await.is_empty());
}

async fn an_amount_outside_the_limits_of_the_operator_is_refused(world: &World) {
    world.load_demo().await;
    let mut config = world.app.config.clone();
    config.amounts = AmountLimits::new(1_500, 50_000).unwrap();
    let app = App::build(config).await.unwrap();
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    let path = format!("{PROFILE}/give");
    let form = visitor.get(200, &path).await.text();
    assert!(
        !form.contains("value=\"10\"") && form.contains("value=\"25\""),
        "{form}"
    );
    let once = hidden(&form, "once");
    for (amount, expected) in [
        ("14.99", "Enter $15.00 or more."),
        ("500.01", "Enter $500.00 or less."),
        ("20.001", "Enter an amount greater than $0"),
    ] {
        let fields = [("amount", amount), ("once", once.as_str())];
        let page = visitor.post(422, &path, &fields).await.text();
        assert!(page.contains(expected), "{page}");
    }
    assert!(world.texts("select state from donations").await.is_empty());
    for amount in ["15", "500"] {
        visitor
            .post(303, &path, &[("amount", amount), ("once", once.as_str())])
            .await;
    }
    app.db.close().await;
}

async fn a_failed_card_is_reported_and_can_be_retried(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let pay = start(&visitor, PROFILE, "12.50").await;
    for (card, status) in [
        ("1234", 422),
        ("4000 0000 0000 0002", 422),
        ("4000000000009995", 422),
        ("4000000000000119", 503),
    ] {
        let page = visitor.post(status, &pay, &[("card", card)]).await.text();
        assert!(page.contains(&format!("value=\"{card}\"")), "{page}");
    }
    assert_eq!(world.texts("select state from donations").await, ["failed"]);
    assert!(world.texts("select source from ledger_entries").await.is_empty());
    visitor.post(303, &pay, &[("card", VALID_CARD)]).await;
    assert_eq!(world.texts("select state from donations").await, ["completed"]);
}

async fn a_paid_donation_left_pending_is_recorded_when_its_page_is_opened(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let pay = start(&visitor, PROFILE, "3").await;
    world.execute("update donations set state = 'pending'").await;
    for _ in 0..2 {
        assert!(visitor.get(200, &pay).await.text().contains("Thank you"));
    }
    assert_eq!(world.texts("select source from ledger_entries").await, ["site"]);
}

async fn a_paid_donation_that_cannot_be_recorded_does_not_block_others(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    start(&visitor, PROFILE, "3").await;
    // No nonprofit has this ID.
    world
        .execute("update donations set state = 'pending', changed_at = 0, nonprofit_id = id")
        .await;
    start(&visitor, PROFILE, "4").await;
    world.execute("update donations set state = 'pending'").await;
    assert!(world.app.settlement().settle_pending().await.is_err());
    assert_eq!(
        world
            .texts("select cast(amount as text) from ledger_entries")
            .await,
        ["400"]
    );
    assert_eq!(
        world.texts("select state from donations order by amount").await,
        ["pending", "completed"]
    );
}

async fn a_nonprofit_that_cannot_receive_donations_has_no_checkout(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let page = visitor.get(200, "/aarp/give").await.text();
    assert!(page.contains("cannot receive donations"), "{page}");
    let fields = [("amount", "5"), ("once", "0190f5a0-0000-7000-8000-000000000002")];
    visitor.post(422, "/aarp/give", &fields).await;
    visitor
        .get(404, "/donations/0190f5a0-0000-7000-8000-000000000002")
        .await;
    visitor.get(404, "/donations/nonsense").await;
}

async fn a_donation_counts_toward_its_fundraiser_until_it_is_closed(world: &World) {
    world.load_demo().await;
    let nonprofit = world.client.details(200, "american-red-cross").await.nonprofit()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (_, private) = world.create_key(access::keys::Kind::Private).await;
    world.app.access.keys.refresh().await.unwrap();
    let basic = format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{private}", world.client.key))
    );
    let headers = [
        ("authorization", basic.as_str()),
        ("content-type", "application/json"),
    ];
    let body = json!({ "nonprofitId": nonprofit, "title": "Spring <i>run</i>", "description": "Why <b>we</b> run", "goal": 10_000 });
    let created = world
        .client
        .send_body(200, &Method::POST, "/v0.2/fundraiser", &headers, body.to_string())
        .await;
    let fundraiser = &created.json["data"]["fundraiser"];
    let page = format!("{PROFILE}/f/{}", fundraiser["slug"].as_str().unwrap());
    let visitor = Visitor::new(world);
    let before = visitor.get(200, &page).await.text();
    assert!(
        before.contains("Spring &#60;i&#62;run&#60;/i&#62;") && before.contains("No donations yet"),
        "{before}"
    );
    assert!(visitor.get(200, PROFILE).await.text().contains(&page));
    let pay = start(&visitor, &page, "20").await;
    visitor.post(303, &pay, &[("card", VALID_CARD)]).await;
    let after = visitor.get(200, &page).await.text();
    for expected in [
        "$20.00",
        "Ada L",
        "value=\"20\"",
        "1 supporter",
        "/proof\">Verified total</a>",
    ] {
        assert!(after.contains(expected), "{expected}: {after}");
    }
    let raised = world
        .client
        .get(
            200,
            &format!(
                "/v0.2/nonprofit/american-red-cross/fundraiser/{}/raised",
                fundraiser["slug"].as_str().unwrap()
            ),
        )
        .await;
    assert_eq!(
        (raised.json["raised"].as_i64(), raised.json["supporters"].as_i64()),
        (Some(2_000), Some(1))
    );
    let late = start(&visitor, &page, "5").await;
    let close = format!("/v0.2/fundraiser/{}/close", fundraiser["id"].as_str().unwrap());
    world
        .client
        .send_body(200, &Method::POST, &close, &headers, String::new())
        .await;
    let refused = visitor.post(422, &late, &[("card", VALID_CARD)]).await.text();
    assert!(refused.contains("is not open"), "{refused}");
    assert!(
        visitor
            .get(200, &format!("{page}/give"))
            .await
            .text()
            .contains("is not open")
    );
    assert_eq!(world.texts("select source from ledger_entries").await, ["site"]);
}

async fn an_amount_that_is_changed_after_back_is_shown_and_charged(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let give = format!("{PROFILE}/give");
    let once = hidden(&visitor.get(200, &give).await.text(), "once");
    let send = async |amount: &str, name: &str| {
        let fields = [("amount", amount), ("name", name), ("once", once.as_str())];
        let response = visitor.post(303, &give, &fields).await;
        response.header("location").to_owned()
    };
    let first = send("2500", "Ada").await;
    let second = send("25", "Ada").await;
    assert_ne!(first, second);
    assert_eq!(second, send("25.00", " Ada ").await, "the same content");
    assert_ne!(second, send("25", "Eve").await, "another name");
    let page = visitor.get(200, &second).await.text();
    assert!(page.contains("$25.00") && !page.contains("$2,500.00"), "{page}");
    visitor.post(303, &second, &[("card", VALID_CARD)]).await;
    let amounts = "select cast(amount as text) from ledger_entries order by sequence";
    assert_eq!(world.texts(amounts).await, ["2500"]);
    // A paid donation does not change; the changed form is a donation that is not paid.
    let third = send("30", "Ada").await;
    let receipt = visitor.get(200, &second).await.text();
    assert!(
        receipt.contains("Thank you") && receipt.contains("$25.00"),
        "{receipt}"
    );
    let page = visitor.get(200, &third).await.text();
    assert!(
        page.contains("Complete your donation") && page.contains("$30.00"),
        "{page}"
    );
    // Every payment page charges what it says.
    let page = visitor.get(200, &first).await.text();
    assert!(page.contains("$2,500.00"), "{page}");
    visitor.post(303, &first, &[("card", VALID_CARD)]).await;
    assert_eq!(world.texts(amounts).await, ["2500", "250000"]);
}

async fn a_form_that_is_sent_to_another_nonprofit_starts_another_donation(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let once = hidden(&visitor.get(200, &format!("{PROFILE}/give")).await.text(), "once");
    let fields = [("amount", "5"), ("once", once.as_str())];
    let mut pages = Vec::new();
    for (slug, name) in [
        ("american-red-cross", "American Red Cross"),
        ("doctors-without-borders-usa", "Doctors Without Borders USA"),
    ] {
        let response = visitor.post(303, &format!("/{slug}/give"), &fields).await;
        let page = response.header("location").to_owned();
        let text = visitor.get(200, &page).await.text();
        assert!(
            text.contains(name) && text.contains(&format!("href=\"/{slug}\"")),
            "{text}"
        );
        pages.push(page);
    }
    assert_ne!(pages[0], pages[1]);
    // What the link of a partner says is a part of the donation, too.
    let url = format!("{PROFILE}/give?designation=boats");
    let response = visitor.post(303, &url, &fields).await;
    assert!(!pages.contains(&response.header("location").to_owned()));
}

async fn only_valid_email_addresses_are_accepted(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let give = format!("{PROFILE}/give");
    let once = hidden(&visitor.get(200, &give).await.text(), "once");
    let long = format!("{}@example.org", "x".repeat(250));
    for email in [
        "a@b c",
        "a@",
        "a@b",
        "a@b@example.org",
        "a\u{7}@example.org",
        "a@example.org\r\nBcc: b@example.org",
        "a@example..org",
        &long,
    ] {
        let fields = [("amount", "5"), ("email", email), ("once", once.as_str())];
        let page = visitor.post(422, &give, &fields).await.text();
        assert!(page.contains("href=\"#email\""), "{email:?}: {page}");
    }
    assert!(world.texts("select state from donations").await.is_empty());
    for (number, email) in ["Ada+river@Example.org", "ada@m\u{fc}nchen.example", ""]
        .iter()
        .enumerate()
    {
        let amount = (number + 1).to_string();
        let fields = [
            ("amount", amount.as_str()),
            ("email", email),
            ("once", once.as_str()),
        ];
        visitor.post(303, &give, &fields).await;
    }
    assert_eq!(
        world
            .texts("select coalesce(email, 'none') from donations order by amount")
            .await,
        ["Ada+river@example.org", "ada@xn--mnchen-3ya.example", "none"]
    );
}

async fn the_receipt_is_private_and_its_former_url_redirects(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let page = start(&visitor, PROFILE, "5").await;
    for referrer_policy in ["same-origin", "no-referrer"] {
        let response = visitor.get(200, &page).await;
        assert_eq!(response.header("cache-control"), "private, no-store");
        assert_eq!(response.header("x-robots-tag"), "noindex");
        assert_eq!(response.header("referrer-policy"), referrer_policy);
        visitor.post(303, &page, &[("card", VALID_CARD)]).await;
    }
    let former = page.replace("/donations/", "/gifts/");
    let response = visitor.get(301, &former).await;
    assert_eq!(response.header("location"), page);
    visitor.get(404, "/gifts/nonsense").await;
    let robots = visitor.get(200, "/robots.txt").await.text();
    assert!(robots.contains("Disallow: /donations/"), "{robots}");
}
