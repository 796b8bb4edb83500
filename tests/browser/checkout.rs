//! A visitor finds a nonprofit and donates: on a desktop, on a phone, and without scripts.

use crate::browser::Browser;
use crate::combobox::{focus_search, type_and_wait};
use crate::site::{Keys, Site};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use thirtyfour::prelude::*;

const CARD: &str = "4242 4242 4242 4242";
const RED_CROSS: &str = "/american-red-cross";

#[derive(Clone, Copy, PartialEq)]
enum Device {
    Desktop,
    Phone,
    WithoutScripts,
}

struct Visit {
    device: Device,
    site: Site,
    browser: Browser,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_on_a_desktop_finds_a_nonprofit_by_keyboard_and_donates() {
    Visit::run(Device::Desktop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_on_a_phone_finds_a_nonprofit_and_donates() {
    Visit::run(Device::Phone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_without_scripts_finds_a_nonprofit_and_donates() {
    Visit::run(Device::WithoutScripts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_that_is_changed_after_back_is_shown_and_charged() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.goto(&site, &format!("{RED_CROSS}/give")).await;
    let enter_amount = async |amount: &str| {
        browser.enter_amount("form.form", amount).await;
        browser.click("form.form button").await;
    };
    enter_amount("2500").await;
    assert_eq!(browser.text(".figure").await, "$2,500.00");
    let first = browser.path().await;
    browser.driver.back().await.unwrap();
    assert_eq!(browser.path().await, format!("{RED_CROSS}/give"));
    enter_amount("25").await;
    assert_ne!(browser.path().await, first);
    assert_eq!(browser.text(".figure").await, "$25.00");
    browser.fill("#card", CARD).await;
    browser.click("form.form button").await;
    assert_eq!(browser.text("h1").await, "Thank you for your donation");
    assert_eq!(browser.text(".figure").await, "$25.00");
    // The receipt stays what it is when the form is changed once more.
    let receipt = browser.path().await;
    browser.goto(&site, &first).await;
    assert_eq!(browser.text("h1").await, "Complete your donation");
    browser.goto(&site, &receipt).await;
    assert_eq!(browser.text(".figure").await, "$25.00");
    let mut export = Vec::new();
    let format = giving::export::Format::JsonLines;
    giving::export::export(&site.app.db, format, &mut export)
        .await
        .unwrap();
    let entries = String::from_utf8(export).unwrap();
    assert_eq!(entries.lines().count(), 1, "{entries}");
    assert!(entries.contains("\"amount\":2500,"), "{entries}");
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_donor_prints_the_receipt_and_shares_the_fundraiser() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    // A device with a share sheet, and permission to read the clipboard.
    let share = json!({"source": "navigator.share = async (data) => { window.shared = data; };"});
    browser
        .emulate("Page.addScriptToEvaluateOnNewDocument", share)
        .await;
    let permissions = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.emulate("Browser.grantPermissions", permissions).await;
    let keys = site.create_keys().await;
    let nonprofit = site.get(&keys, "/v0.2/nonprofit/american-red-cross").await;
    let body = json!({"nonprofitId": nonprofit["data"]["nonprofit"]["id"], "title": "Spring run"});
    let fundraiser = site.create_fundraiser(&keys, &body).await;
    let url = fundraiser["url"].as_str().unwrap();
    browser.goto(&site, &url.replace(&site.url, "")).await;
    browser.enter_amount(".give", "12.34").await;
    browser.click(".give button").await;
    browser.fill("#name", "Ada Lovelace").await;
    browser.click("form.form button").await;
    browser.fill("#card", CARD).await;
    browser.click("form.form button").await;
    assert_eq!(browser.text("h1").await, "Thank you for your donation");

    browser.click("[data-share]").await;
    let shared = browser.run("return window.shared;").await;
    assert_eq!(shared, json!({"title": "Spring run", "url": url}));
    browser.click("[data-copy=share-url]").await;
    let label = "return document.querySelector('[data-copy=share-url]').textContent;";
    browser.wait_for(label, "Copied").await;
    assert_eq!(browser.run("return navigator.clipboard.readText();").await, url);
    browser.click(".qr summary").await;
    let is_loaded = "return document.querySelector('.qr img').naturalWidth > 0;";
    browser.wait_for(is_loaded, true).await;
    let hosts = format!(
        "return [...document.querySelectorAll('.share-sites a')]
            .map(({{ host, href }}) => decodeURIComponent(href).includes({url:?}) ? host : href).join(' ');"
    );
    assert_eq!(
        browser.run(&hosts).await,
        "www.facebook.com x.com wa.me www.linkedin.com"
    );

    let pdf = browser.emulate("Page.printToPDF", json!({})).await;
    let pdf = STANDARD.decode(pdf["data"].as_str().unwrap()).unwrap();
    let pages = pdf.windows(12).filter(|bytes| *bytes == b"/Type /Page\n").count();
    assert_eq!(pages, 1, "the receipt is printed on one page");
    browser
        .emulate("Emulation.setEmulatedMedia", json!({"media": "print"}))
        .await;
    let printed = browser.run("return document.body.innerText;").await;
    let printed = printed.as_str().unwrap();
    for expected in [
        "$12.34",
        "Ada Lovelace",
        "American National Red Cross",
        "53-0196605",
        "No goods or services were provided",
        "Test mode: no money was charged",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    for hidden in ["Developers", "Facebook", "Print this page"] {
        assert!(!printed.contains(hidden), "{hidden}: {printed}");
    }
    browser.stop().await;
}

impl Visit {
    async fn run(device: Device) {
        let (site, browser) = (Site::start().await, Browser::start_with_request_log().await);
        if device == Device::Phone {
            browser.resize(375).await;
        }
        if device == Device::WithoutScripts {
            browser.disable_scripts().await;
        }
        let visit = Visit {
            device,
            site,
            browser,
        };
        visit.donate_to_nonprofit().await;
        let keys = visit.site.create_keys().await;
        visit.donate_to_fundraiser(&keys).await;
        visit.check_requests().await;
        visit.browser.stop().await;
    }

    async fn donate_to_nonprofit(&self) {
        let browser = &self.browser;
        if self.device == Device::WithoutScripts {
            self.find_with_form().await;
        } else {
            self.find_while_typing().await;
        }
        assert_eq!(browser.path().await, RED_CROSS);
        assert_eq!(browser.text("h1").await, "American Red Cross");
        assert_eq!(browser.text("#ein").await, "53-0196605");
        assert!(browser.text("main").await.contains("501(c)(3)"));
        self.donate("12.34", false).await;
        let receipt = browser.text("main").await;
        for expected in [
            "$12.34",
            "American National Red Cross",
            "53-0196605",
            "tax-deductible to the extent allowed by law",
            "No goods or services were provided in exchange for this contribution.",
        ] {
            assert!(receipt.contains(expected), "{expected}: {receipt}");
        }
    }

    /// Types letter by letter and selects the first result.
    async fn find_while_typing(&self) {
        let browser = &self.browser;
        focus_search(browser, &self.site).await;
        self.check_page().await;
        for letter in "red cro".chars() {
            type_and_wait(browser, &letter.to_string()).await;
            let expanded = "return document.querySelector('#q').ariaExpanded;";
            assert_eq!(browser.run(expanded).await, "true");
        }
        let first = "return document.querySelector('[role=option] strong').textContent;";
        assert_eq!(browser.run(first).await, "American Red Cross");
        self.check_page().await;
        browser.key(Key::Down).await;
        browser.wait_for_page(browser.key(Key::Enter)).await;
        self.check_page().await;
    }

    async fn find_with_form(&self) {
        let browser = &self.browser;
        browser.goto(&self.site, "/").await;
        self.check_page().await;
        let combobox = browser.driver.find(By::Css("#q[role=combobox]")).await;
        assert!(combobox.is_err(), "a script of the page has run");
        browser.fill("#q", "red cro").await;
        browser.click(".search-box button").await;
        assert_eq!(browser.path().await, "/search");
        assert_eq!(browser.text(".hit:first-child mark").await, "Red");
        self.check_page().await;
        browser.click(".hit:first-child a").await;
        self.check_page().await;
    }

    /// Donates from a page with a donation box, up to the receipt.
    async fn donate(&self, amount: &str, to_fundraiser: bool) {
        let browser = &self.browser;
        browser.enter_amount(".give", amount).await;
        browser.click(".give button").await;
        self.check_page().await;
        self.check_test_notice().await;
        let typed = browser.find("#other_amount").await.prop("value").await.unwrap();
        assert_eq!(typed.as_deref(), Some(amount));
        browser.fill("#name", "Ada Lovelace").await;
        if to_fundraiser {
            browser.click("input[name=public][value=yes]").await;
            browser.fill("#message", "Run well!").await;
        }
        browser.click("form.form button").await;
        self.check_page().await;
        self.check_test_notice().await;

        browser.fill("#card", "4000 0000 0000 0002").await;
        browser.click("form.form button").await;
        self.check_page().await;
        assert!(browser.text("#form-errors").await.contains("declined"));
        let card = browser.find("#card").await;
        card.clear().await.unwrap();
        card.send_keys(CARD).await.unwrap();
        browser.click("form.form button").await;
        self.check_page().await;
        self.check_test_notice().await;
        assert_eq!(browser.text("h1").await, "Thank you for your donation");
        assert!(browser.path().await.starts_with("/donations/"));
    }

    async fn donate_to_fundraiser(&self, keys: &Keys) {
        let nonprofit = self.site.get(keys, "/v0.2/nonprofit/american-red-cross").await;
        let body = json!({
            "nonprofitId": nonprofit["data"]["nonprofit"]["id"], "title": "Spring run", "goal": 10_000,
            "raisedOffline": 1_000, "description": "We run along the river.\n\nCome along.",
        });
        let fundraiser = self.site.create_fundraiser(keys, &body).await;
        let slug = fundraiser["slug"].as_str().unwrap();
        let page = format!("{RED_CROSS}/f/{slug}");
        let raised = format!("/v0.2/nonprofit{RED_CROSS}/fundraiser/{slug}/raised");
        let before = self.site.get(keys, &raised).await;
        assert_eq!(
            (&before["raised"], &before["supporters"]),
            (&json!(1_000), &json!(0))
        );

        let browser = &self.browser;
        browser.goto(&self.site, RED_CROSS).await;
        let link = format!("a[href='{page}']");
        // A busy server may show the profile without what its database does not tell it in time.
        while browser.driver.find(By::Css(link.as_str())).await.is_err() {
            browser.driver.refresh().await.unwrap();
        }
        browser.click(&link).await;
        self.check_page().await;
        assert_eq!(self.thermometer().await, ("$0.00".to_owned(), "0".to_owned()));
        self.donate("12.34", true).await;
        let after = self.site.get(keys, &raised).await;
        assert_eq!(
            (&after["raised"], &after["supporters"]),
            (&json!(2_234), &json!(1))
        );
        browser.click(&format!("main a[href='{page}']")).await;
        self.check_page().await;
        assert_eq!(self.thermometer().await, ("$12.34".to_owned(), "12".to_owned()));
        let notice = browser.text("[aria-labelledby=raised] .alert-warn").await;
        assert!(notice.starts_with("Test mode: "), "{notice}");
        let supporters = browser.text("[aria-labelledby=supporters]").await;
        for expected in ["Ada Lovelace", "$12.34", "Run well!"] {
            assert!(supporters.contains(expected), "{supporters}");
        }
    }

    async fn thermometer(&self) -> (String, String) {
        let raised = self.browser.text("#raised-amount").await;
        let percent = self.browser.find("progress").await.attr("value").await;
        (raised, percent.unwrap().unwrap())
    }

    /// Asserts that the page does not scroll sideways.
    async fn check_page(&self) {
        let width = if self.device == Device::Phone { 375 } else { 1280 };
        let script = "return document.scrollingElement.scrollWidth;";
        let used = self.browser.driver.execute(script, vec![]).await.unwrap();
        let used = used.json().as_u64().unwrap();
        assert!(
            used <= width,
            "{} is {used} pixels wide",
            self.browser.path().await
        );
    }

    async fn check_test_notice(&self) {
        let notice = self.browser.text(".slim .alert-warn").await;
        assert!(notice.contains("Test mode: no money"), "{notice}");
    }

    /// Asserts that all requests go to the site, and that the console contains only refused forms.
    async fn check_requests(&self) {
        let requests = self.browser.requests().await;
        assert!(requests.len() > 20, "{requests:?}");
        let own = [format!("{}/", self.site.url), "data:".to_owned()];
        for url in requests {
            assert!(own.iter().any(|prefix| url.starts_with(prefix)), "{url}");
        }
        let console = self.browser.console().await;
        let is_expected = console.iter().all(|message| message.contains("status of 422"));
        assert!(is_expected, "{console:?}");
    }
}
