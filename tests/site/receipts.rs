//! Receipts, on the page and by email.

use crate::api::fundraisers::{NYU, Organizer, RED_CROSS, SPECIAL, id_of};
use crate::client::Client;
use crate::dashboard::operator::operator;
use crate::dashboard::visitor::{Visitor, between, hidden};
use crate::world::World;
use causeway::app::App;
use platform::mail::Delivery;
use serde_json::json;

on_both_databases!(
    a_receipt_says_what_a_tax_authority_wants_to_know,
    a_receipt_has_a_number_to_read_out_an_issuer_and_a_button_to_print,
    the_receipt_of_a_fundraiser_names_each_nonprofit_and_its_share,
    an_amount_is_chosen_or_typed,
    only_a_fundraiser_asks_for_a_message,
);

const CARD: [(&str, &str); 1] = [("card", "4242 4242 4242 4242")];

/// Gives $25.01 and returns the receipt and the email.
async fn give(world: &World, page: &str) -> (String, String) {
    let mut config = world.app.config.clone();
    // Nothing listens on this port, so the email stays in the queue.
    config.mail.delivery = Delivery::Smtp("smtp://127.0.0.1:1".into());
    let app = App::build_with_clock(config, world.app.clock.clone())
        .await
        .unwrap();
    let visitor = Visitor::with_client(&Client::new(&app, ""));
    let url = format!("{page}/give");
    let form = visitor.get(200, &url).await.text();
    let fields = [
        ("amount", "other"),
        ("other_amount", "25.01"),
        ("name", "Ada Lovelace"),
        ("email", "ada@example.org"),
        ("once", &hidden(&form, "once")),
    ];
    let started = visitor.post(303, &url, &fields).await;
    let pay = started.header("location");
    visitor.post(303, pay, &CARD).await;
    let receipt = visitor.get(200, pay).await.text();
    let emails = world.texts("select text from mail_queue").await;
    app.mail.finish().await;
    app.db.close().await;
    assert_eq!(emails.len(), 1);
    (receipt, emails[0].clone())
}

async fn a_receipt_says_what_a_tax_authority_wants_to_know(world: &World) {
    world.load_demo().await;
    let (receipt, email) = give(world, "/american-red-cross").await;
    let number = &world.texts("select external_id from ledger_entries").await[0];
    let year = jiff::Timestamp::from_millisecond(world.app.clock.millis())
        .unwrap()
        .strftime("%Y")
        .to_string();
    for text in [&receipt, &email] {
        for expected in [
            "Test mode: no money was charged",
            "$25.01",
            "Ada Lovelace",
            "American National Red Cross",
            "53-0196605",
            "Washington, DC 20006",
            "tax-deductible to the extent allowed by law",
            "No goods or services were provided in exchange for this contribution.",
            number,
            &year,
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}

async fn a_receipt_has_a_number_to_read_out_an_issuer_and_a_button_to_print(world: &World) {
    world.load_demo().await;
    let (receipt, email) = give(world, "/american-red-cross").await;
    let entry = &world
        .texts("select cast(sequence as text) from ledger_entries")
        .await[0];
    let number = between(&receipt, "<dt>Receipt number</dt><dd><strong>", "</strong>").unwrap();
    let (year, last) = number.split_once('-').unwrap();
    assert_eq!((year.len(), last), (4, &*format!("{entry:0>6}")));
    assert!(email.contains(&format!("Receipt number: {number}\n")), "{email}");
    for part in [
        &*format!("<title>Receipt number {number} · "),
        "<strong>Receipt of a donation</strong>",
        "Issued by Causeway, http://causeway.test",
        "hidden data-print>Print this receipt</button>",
    ] {
        assert!(receipt.contains(part), "{part}: {receipt}");
    }
    // Operators find the donation by it.
    let operator = operator(world).await;
    let found = operator
        .get(200, &format!("/dashboard/operator/search?q={number}"))
        .await
        .text();
    assert!(found.contains("/dashboard/operator/donations/"), "{found}");
}

async fn the_receipt_of_a_fundraiser_names_each_nonprofit_and_its_share(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": SPECIAL, "title": "Two at once", "type": "MULTIPLE_NONPROFITS",
        "forNonprofits": [id_of(RED_CROSS), id_of(NYU)], "forNonprofitWeights": [3, 1]});
    organizer.create(200, &body).await;
    let (receipt, email) = give(world, "/special-fundraiser/f/two-at-once").await;
    for text in [&receipt, &email] {
        for expected in [
            "$25.01",
            "American National Red Cross",
            "$18.76",
            "New York University",
            "$6.25",
            "13-5562308",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}

async fn an_amount_is_chosen_or_typed(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    let url = "/american-red-cross/give";
    let form = visitor.get(200, url).await.text();
    assert!(form.contains("value=\"25\" checked"), "{form}");
    let once = hidden(&form, "once");
    for (amount, other, is_valid) in [
        ("50", "", true),
        ("other", "7", true),
        ("other", "", false),
        ("other", "-5", false),
    ] {
        let fields = [
            ("amount", amount),
            ("other_amount", other),
            ("name", "Ada"),
            ("once", once.as_str()),
        ];
        if is_valid {
            let response = visitor.post(303, url, &fields).await;
            let shown = visitor.get(200, response.header("location")).await.text();
            let expected = if other.is_empty() { amount } else { other };
            assert!(shown.contains(&format!("${expected}.00")), "{shown}");
        } else {
            let again = visitor.post(422, url, &fields).await.text();
            assert!(
                again.contains("value=\"other\" checked") && again.contains("value=\"Ada\""),
                "{again}"
            );
            assert!(again.contains("Enter an amount greater than $0"), "{again}");
        }
    }
    // The box on the profile sends its amount in the query.
    let filled = visitor
        .get(200, &format!("{url}?amount=other&other_amount=17.50"))
        .await
        .text();
    assert!(filled.contains("value=\"17.50\""), "{filled}");
}

async fn only_a_fundraiser_asks_for_a_message(world: &World) {
    let organizer = Organizer::new(world).await;
    let body = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring run"});
    organizer.create(200, &body).await;
    let visitor = Visitor::new(world);
    let nonprofit = visitor.get(200, "/american-red-cross/give").await.text();
    assert!(!nonprofit.contains("name=\"message\"") && !nonprofit.contains("name=\"public\""));
    let fundraiser = visitor
        .get(200, "/american-red-cross/f/spring-run/give")
        .await
        .text();
    assert!(
        fundraiser.contains("name=\"message\"") && fundraiser.contains("neither your name nor your message")
    );
}
