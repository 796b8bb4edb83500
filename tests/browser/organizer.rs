//! The journey of an organizer on a phone, from the profile of a nonprofit to a page that is shared, and of the donors who get
//! the link. Forms are sent without scripts.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use giving::providers::Provider;
use serde_json::Value;

const CARD: &str = "4242 4242 4242 4242";
/// The most pages between the profile and the shared page.
const MAX_STEPS: usize = 9;

/// Counts the pages that a person sees on the way.
struct Journey<'a> {
    browser: &'a Browser,
    steps: usize,
}

impl Journey<'_> {
    async fn click(&mut self, css: &str) {
        self.browser.click(css).await;
        self.steps += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organizer_on_a_phone_publishes_and_shares_a_page_in_nine_steps() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.resize(375).await;
    browser.disable_scripts().await;
    browser.goto(&site, "/american-red-cross").await;
    let mut journey = Journey {
        browser: &browser,
        steps: 1,
    };
    journey.click("a[href*='/dashboard/fundraisers/new']").await;
    journey.click("main a[href*='/dashboard/sign-up']").await;
    browser.fill("#username", "grace").await;
    browser.fill("#email", "grace@example.org").await;
    browser.fill("#password", PASSWORD).await;
    journey.click("form.form button").await;
    // The nonprofit was not lost on the way.
    let chosen = browser.find("#nonprofit").await.prop("value").await.unwrap();
    assert_eq!(chosen.as_deref(), Some("American Red Cross"));
    browser.fill("#title", "A run along the river").await;
    browser.fill("#description", "Every spring we **run**.").await;
    browser.fill("#focusY", "Above the center").await;
    journey.click("button[value=preview]").await;
    assert_eq!(browser.text("h1").await, "A run along the river");
    for part in [
        ".preview-bar",
        ".prose strong",
        "#supporters",
        "#give",
        ".share-preview",
    ] {
        browser.find(part).await;
    }
    journey.click("button[value=publish]").await;
    // The first thing below the title are links to share.
    let shared = browser.text("#share-url").await;
    let page = shared.strip_prefix(&site.url).unwrap().to_owned();
    assert_eq!(page, "/american-red-cross/f/a-run-along-the-river");
    let own = browser.path().await;
    browser.goto(&site, &page).await;
    journey.steps += 1;
    assert!(journey.steps <= MAX_STEPS, "{}", journey.steps);
    assert_eq!(browser.text("h1").await, "A run along the river");

    // A donor gets the link, gives on a phone, and has a receipt with a number to read out.
    browser.click(".give-now .button").await;
    browser.fill("#name", "Ada").await;
    browser.fill("#email", "ada@example.org").await;
    browser.click("form.form button").await;
    browser.fill("#card", CARD).await;
    browser.click("form.form button").await;
    assert_eq!(browser.text("h1").await, "Thank you for your donation");
    let receipt = browser.text(".receipt").await;
    let number = receipt.split_once("Receipt number").unwrap().1;
    let number = number.trim_start().lines().next().unwrap();
    assert!(number.len() == 11 && number.ends_with("-000001"), "{number}");

    // The organizer thanks, and sees no address.
    browser.goto(&site, &own).await;
    browser.click("a[href$='/thank']").await;
    browser.fill("#message", "Thank you, from all of us!").await;
    browser.click("form.form button").await;
    let done = browser.text(".alert-good").await;
    assert!(done.contains("We are sending your message"), "{done}");
    assert!(!browser.text("main").await.contains("ada@example.org"));
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_donor_on_a_phone_knows_where_the_money_goes_before_paying() {
    let link = Provider::Link("https://pay.example.org/?ein={ein}&a={amount}".to_owned());
    let (site, browser) = (Site::start_with(link).await, Browser::start().await);
    browser.resize(375).await;
    browser.goto(&site, "/american-red-cross/give").await;
    let note = browser.text(".form-note").await;
    assert!(
        note.starts_with("Where your money goes\nYou pay on pay.example.org"),
        "{note}"
    );
    assert_eq!(browser.text("main").await.matches("pay.example.org").count(), 1);
    let order = "const button = document.querySelector('form.form > button');
        return Boolean(document.querySelector('.form-note').compareDocumentPosition(button) & 4);";
    assert_eq!(browser.run(order).await, Value::Bool(true));
    browser.click("form.form > button").await;
    let main = browser.text("main").await;
    assert!(main.contains("Continue to pay.example.org"), "{main}");
    assert_eq!(main.matches("pay.example.org").count(), 1, "{main}");
    browser.stop().await;

    let (site, browser) = (Site::start_with(Provider::Off).await, Browser::start().await);
    browser.resize(375).await;
    for page in ["/american-red-cross", "/american-red-cross/give"] {
        browser.goto(&site, page).await;
        let own = browser.find("a.button[href='https://www.redcross.org']").await;
        assert_eq!(own.text().await.unwrap(), "Visit redcross.org", "{page}");
    }
    browser.stop().await;
}
