//! A donor pays on the page of Stripe and returns to the receipt: on a desktop, and on a phone without scripts.

use crate::axe;
use crate::browser::Browser;
use crate::site::Site;
use stripe_simulator::{Settings, Simulator};

const GIVE: &str = "/american-red-cross/give";
const CARD: &str = "4242424242424242";

#[tokio::test(flavor = "multi_thread")]
async fn a_donor_covers_the_fee_and_pays_at_stripe() {
    let simulator = Simulator::start(Settings::default()).await.unwrap();
    let (site, browser) = (Site::start_with_stripe(&simulator).await, Browser::start().await);
    browser.goto(&site, GIVE).await;
    assert!(browser.text("main").await.contains("made to Causeway Foundation"));
    assert_eq!(axe::violations(&browser).await, "");
    // A mistake keeps what was typed.
    browser.fill("#email", "ada@example").await;
    browser.click("input[name=cover][value=yes]").await;
    browser.enter_amount("form.form", "25").await;
    browser.click("form.form button").await;
    let covers = "return document.querySelector('input[name=cover][value=yes]').checked;";
    assert_eq!(browser.run(covers).await, true);
    browser
        .run("document.querySelector('#email').value = ''; return null;")
        .await;
    browser.fill("#email", "ada@example.org").await;
    pay(&site, &browser, "$26.06").await;
    assert_eq!(axe::violations(&browser).await, "");
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_does_the_work_that_is_asked_while_cards_are_tried_out() {
    let simulator = Simulator::start(Settings::default()).await.unwrap();
    // Without any declined payment allowed, every donor is asked.
    let site = Site::start_with_stripe_and(&simulator, |config| config.guard.in_all = 0).await;
    let browser = Browser::start().await;
    browser.goto(&site, GIVE).await;
    browser.enter_amount("form.form", "25").await;
    browser.fill("#email", "ada@example.org").await;
    browser.click("form.form button").await;
    assert_eq!(browser.text("#check").await, "One more step");
    assert_eq!(axe::violations(&browser).await, "");
    // Who does not wait leaves as soon as the work is done.
    browser.click("form[data-proof] button").await;
    let is_at_stripe = "return document.querySelector('#card') !== null;";
    browser.wait_for(is_at_stripe, true).await;
    submit_card(&browser, CARD).await;
    assert_eq!(browser.text("h1").await, "Thank you for your donation");
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_donor_on_a_phone_without_scripts_pays_at_stripe_after_a_decline() {
    let simulator = Simulator::start(Settings::default()).await.unwrap();
    let (site, browser) = (Site::start_with_stripe(&simulator).await, Browser::start().await);
    browser.resize(375).await;
    browser.disable_scripts().await;
    browser.goto(&site, GIVE).await;
    browser.enter_amount("form.form", "25").await;
    browser.fill("#email", "ada@example.org").await;
    browser.click("form.form button").await;
    submit_card(&browser, "4000000000000002").await;
    // The donor looks at our page, and goes on from there.
    browser.goto(&site, &donation_path(&site).await).await;
    assert_eq!(browser.text("h1").await, "Complete your donation");
    pay(&site, &browser, "$25.00").await;
    browser.stop().await;
}

/// Goes on to the page of Stripe, pays there, and looks at the receipt.
async fn pay(site: &Site, browser: &Browser, charged: &str) {
    browser.click("form.form button").await;
    assert!(browser.text("body").await.contains(charged));
    submit_card(browser, CARD).await;
    assert_eq!(browser.text("h1").await, "Thank you for your donation");
    assert_eq!(browser.text(".figure").await, charged);
    let receipt = browser.text("main").await;
    for text in [
        "Causeway Foundation",
        "12-3456789",
        "Test mode: no money was charged",
    ] {
        assert!(receipt.contains(text), "{receipt}");
    }
    assert!(browser.path().await.starts_with(&donation_path(site).await));
}

/// Fills in the page of Stripe, and sends it.
async fn submit_card(browser: &Browser, number: &str) {
    browser.fill("#card input[name=card_number]", number).await;
    browser.fill("#card input[name=name]", "Ada Lovelace").await;
    browser.click("#card button").await;
}

/// The path of the page of the only donation.
async fn donation_path(site: &Site) -> String {
    let query = platform::db::query("select receipt_id from donations");
    let id: uuid::Uuid = site.app.db.fetch_scalar(query).await.unwrap();
    format!("/donations/{id}")
}
