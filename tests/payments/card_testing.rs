//! Somebody tries out stolen cards with small donations, and ordinary donors give meanwhile.

use super::bank::{Bank, PROFILE, VALID_CARD, session_of};
use crate::client::Client;
use crate::dashboard::operator::operator;
use crate::dashboard::visitor::{Visitor, emails, hidden};
use crate::world::{Database, World, run_story};
use causeway::server::scrape::scrape;
use giving::guard::{GuardSettings, proof};
use serde_json::json;
use std::net::IpAddr;

on_both_databases!(
    scripts_are_kept_out_and_no_ordinary_donor_is_refused,
    who_has_no_script_continues_with_a_link_by_email,
    a_page_on_which_too_many_cards_were_tried_is_closed,
    operators_see_what_was_tried_and_what_was_let_through,
);

const STATES: &str = "select state from donations order by started_at, id";
const CAPS: GuardSettings = GuardSettings {
    per_card: 3,
    per_address: 3,
    per_nonprofit: 4,
    in_all: 100,
    proof_bits: 8,
};

/// How many scripted attempts come from how many addresses with how many cards, and how many ordinary donors give meanwhile.
struct Size {
    attempts: usize,
    addresses: usize,
    cards: usize,
    donors: usize,
}

fn stolen_card(number: usize) -> String {
    format!("4100000010{number:04}19")
}

fn visitor(client: &Client, network: u8, number: usize) -> Visitor {
    let address = IpAddr::from([10, network, (number / 250) as u8, (number % 250 + 1) as u8]);
    Visitor::with_client(&client.at_address(address))
}

/// Sends the form, and returns where it leads.
async fn start(visitor: &Visitor, email: &str) -> String {
    let once = uuid::Uuid::now_v7().to_string();
    let fields = [("amount", "1"), ("email", email), ("once", once.as_str())];
    let response = visitor.post(303, &format!("{PROFILE}/give"), &fields).await;
    response.header("location").to_owned()
}

/// Tries a card on a payment page.
async fn try_card(bank: &Bank, url: &str, card: &str) {
    let body = json!({ "card_number": card, "email": "ada@example.org" });
    let path = format!("sessions/{}/pay", session_of(url));
    let _ = bank.try_control(&path, body).await;
}

/// Does the work that a browser does on the page of a donation, and returns where the form leads.
async fn prove(visitor: &Visitor, page: &str) -> String {
    let html = visitor.get(200, page).await.text();
    let value = |name| crate::dashboard::visitor::between(&html, &format!("{name}=\""), "\"").unwrap();
    let number = proof::work(&value("data-proof"), value("data-bits").parse().unwrap());
    let response = visitor.post(303, page, &[("proof", &number)]).await;
    response.header("location").to_owned()
}

/// Gives as a person with a browser does, whatever is asked on the way.
async fn give(bank: &Bank, visitor: &Visitor) {
    let mut url = start(visitor, "ada@example.org").await;
    if url.starts_with("/donations/") {
        url = prove(visitor, &url).await;
    }
    bank.pay(&session_of(&url), VALID_CARD).await;
}

/// Attacks while others give. Returns how many scripted attempts reached the provider.
async fn attack(world: &World, bank: &Bank, size: &Size) -> usize {
    let mut reached = 0;
    let mut donors = 0;
    for number in 0..size.attempts {
        let script = visitor(&bank.client, 1, number % size.addresses);
        let url = start(&script, "").await;
        if url.starts_with("/donations/") {
            // A script that sends the next form as well does not get further. A number could be a proof by chance.
            let _ = script.post_any(&url, &[("proof", "none")]).await;
        } else {
            reached += 1;
            try_card(bank, &url, &stolen_card(number % size.cards)).await;
            bank.settle(world).await;
        }
        if number * size.donors / size.attempts >= donors {
            give(bank, &visitor(&bank.client, 2, donors)).await;
            donors += 1;
        }
        if number % (20 * size.addresses) == 0 {
            // One network can start 30 donations per minute.
            world.app.clock.advance(std::time::Duration::from_secs(61));
        }
    }
    bank.settle(world).await;
    let completed = "select state from donations where state = 'completed'";
    assert_eq!(world.texts(completed).await.len(), size.donors);
    bank.assert_reconciled().await;
    reached
}

async fn scripts_are_kept_out_and_no_ordinary_donor_is_refused(world: &World) {
    let bank = Bank::open_with(world, |config| config.guard = CAPS).await;
    let size = Size {
        attempts: 100,
        addresses: 20,
        cards: 5,
        donors: 10,
    };
    let reached = attack(world, &bank, &size).await;
    assert!(reached <= 4, "{reached} attempts reached the provider");
    let sessions = "select session from donations where session is not null";
    assert_eq!(world.texts(sessions).await.len(), reached + size.donors);
}

/// The size that the caps are meant for, with the settings as they are. `make card-testing` runs it.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_scripted_attempts_are_kept_out() {
    run_story(Database::Sqlite, async |world: &World| {
        let bank = Bank::open_with(world, |config| config.guard.proof_bits = 12).await;
        let size = Size {
            attempts: 10_000,
            addresses: 200,
            cards: 50,
            donors: 200,
        };
        let reached = attack(world, &bank, &size).await;
        println!(
            "{reached} of {} scripted attempts reached the provider",
            size.attempts
        );
        assert!(reached * 100 <= size.attempts);
    });
}

/// Makes the profile suspicious.
async fn make_suspicious(world: &World, bank: &Bank) {
    for number in 0..4 {
        let url = start(&visitor(&bank.client, 1, number), "").await;
        try_card(bank, &url, &stolen_card(number)).await;
    }
    bank.settle(world).await;
}

async fn who_has_no_script_continues_with_a_link_by_email(world: &World) {
    let bank = Bank::open_with(world, |config| config.guard = CAPS).await;
    make_suspicious(world, &bank).await;
    let donor = visitor(&bank.client, 2, 1);
    let page = start(&donor, "grace@example.org").await;
    let html = donor.get(200, &page).await.text();
    for text in [
        "One more step",
        "role=\"status\"",
        "This needs JavaScript",
        "value=\"grace@example.org\"",
        "$1.00",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    // Neither an empty nor a wrong proof opens the payment page, and nothing is lost.
    for proof in ["", "x", "99999999999999999999"] {
        let html = donor.post(422, &page, &[("proof", proof)]).await.text();
        assert!(
            html.contains("has not finished") && html.contains("grace@example.org"),
            "{html}"
        );
    }
    let fields = [("action", "email"), ("link_email", "grace")];
    let html = donor.post(422, &page, &fields).await.text();
    assert!(
        html.contains("Enter an email address") && html.contains("value=\"grace\""),
        "{html}"
    );
    let fields = [("action", "email"), ("link_email", "grace@example.org")];
    let html = donor.post(200, &page, &fields).await.text();
    assert!(html.contains("We sent you an email"), "{html}");
    let email = emails(world, 1).await.pop().unwrap();
    let link = crate::dashboard::visitor::link(&email);
    assert!(email.contains("$1.00") && link.starts_with(&page), "{email}");
    // Opening the link changes nothing: programs that look for viruses do it too.
    let opened = donor.get(200, &link).await.text();
    assert!(opened.contains("Thank you for opening the link"), "{opened}");
    let forged = donor
        .post(422, &page, &[("token", "00112233445566778899aabbccddeeff")])
        .await;
    assert!(forged.text().contains("has not finished"));
    let token = hidden(&opened, "token");
    // The link of one donation does not open the page of another.
    let other = start(&donor, "grace@example.org").await;
    donor.post(422, &other, &[("token", &token)]).await;
    let response = donor.post(303, &page, &[("token", &token)]).await;
    bank.pay(&session_of(response.header("location")), VALID_CARD)
        .await;
    bank.settle(world).await;
    let completed = "select passed_by from donations where state = 'completed'";
    assert_eq!(world.texts(completed).await, ["email"]);
}

async fn a_page_on_which_too_many_cards_were_tried_is_closed(world: &World) {
    let bank = Bank::open_with(world, |config| config.guard = CAPS).await;
    let script = visitor(&bank.client, 1, 1);
    let url = start(&script, "").await;
    for number in 0..3 {
        try_card(&bank, &url, &stolen_card(number)).await;
        bank.settle(world).await;
    }
    assert_eq!(world.texts(STATES).await, ["expired"]);
    let session = bank
        .read(&format!("checkout/sessions/{}", session_of(&url)))
        .await;
    assert_eq!(session["status"], "expired", "{session}");
    let networks = world
        .texts("select network from donations where network is not null")
        .await;
    assert!(
        networks.iter().all(|network| !network.contains("10.1.")),
        "{networks:?}"
    );
    // The same network is asked from now on, also at another nonprofit, and others are not.
    let once = uuid::Uuid::now_v7().to_string();
    let fields = [("amount", "5"), ("once", once.as_str())];
    let other = script.post(303, "/new-york-university/give", &fields).await;
    assert!(other.header("location").starts_with("/donations/"));
    give(&bank, &visitor(&bank.client, 2, 1)).await;
    bank.settle(world).await;
    let asked = "select state from donations where proof_bits is not null";
    assert_eq!(world.texts(asked).await, ["started"]);
    // After an hour it is forgotten, after two days the held donation is deleted, and after a week the network is erased.
    world.app.clock.advance(std::time::Duration::from_secs(3_700));
    assert!(start(&script, "").await.contains("cs_test_"));
    world.app.clock.advance(std::time::Duration::from_hours(49));
    let now = world.app.clock.millis();
    giving::checkout::store::remove_unpaid(&world.app.db, now)
        .await
        .unwrap();
    assert!(world.texts(asked).await.is_empty());
    world.app.clock.advance(std::time::Duration::from_hours(24 * 7));
    bank.app.guard().clean_up().await.unwrap();
    let left = "select network from donations where network is not null union select charge from declines";
    assert!(world.texts(left).await.is_empty());
}

async fn operators_see_what_was_tried_and_what_was_let_through(world: &World) {
    let bank = Bank::open_with(world, |config| config.guard = CAPS).await;
    let operator = operator(world).await.at(&bank.client);
    let page = operator.get(200, "/dashboard/operator/money").await.text();
    assert!(page.contains("No payment was declined"), "{page}");
    make_suspicious(world, &bank).await;
    start(&visitor(&bank.client, 2, 1), "").await;
    give(&bank, &visitor(&bank.client, 2, 2)).await;
    bank.settle(world).await;
    let home = operator.get(200, "/dashboard/operator").await.text();
    for text in [
        "trying out stolen cards. Payments declined in the last hour: 4",
        "program: 2. Let through: 1.",
    ] {
        assert!(home.contains(text), "{text}: {home}");
    }
    let page = operator.get(200, "/dashboard/operator/money").await.text();
    for text in [
        "<dt>Declined</dt><dd>4</dd>",
        "<dt>Different cards</dt><dd>4</dd>",
        "<dt>Different networks</dt><dd>4</dd>",
        "<dt>Donations held</dt><dd>2</dd>",
        "<dt>Let through by a proof of work</dt><dd>1</dd>",
        "American Red Cross",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let metrics = scrape(&bank.app).await;
    for line in [
        "causeway_payments_declined 4\n",
        "causeway_donations_held 2\n",
        "causeway_donations_let_through 1\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}
