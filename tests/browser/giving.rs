//! Somebody finds a nonprofit, reads, gives, and sees what became of it: at a desk, on a phone, and without scripts.

use crate::browser::Browser;
use crate::site::{Keys, Site};
use serde_json::json;
use thirtyfour::prelude::*;

const CARD: &str = "4242 4242 4242 4242";
const RED_CROSS: &str = "/american-red-cross";

#[derive(Clone, Copy, PartialEq)]
enum Giver {
    AtADesk,
    OnAPhone,
    WithoutScripts,
}

struct Visit {
    giver: Giver,
    site: Site,
    browser: Browser,
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_at_a_desk_finds_by_keyboard_and_gives() {
    Visit::play(Giver::AtADesk).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_on_a_phone_finds_and_gives() {
    Visit::play(Giver::OnAPhone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_without_scripts_finds_and_gives() {
    Visit::play(Giver::WithoutScripts).await;
}

impl Visit {
    async fn play(giver: Giver) {
        let (site, browser) = (Site::start().await, Browser::start_with_requests().await);
        if giver == Giver::OnAPhone {
            browser.resize(375).await;
        }
        if giver == Giver::WithoutScripts {
            browser.turn_scripts_off().await;
        }
        let visit = Visit { giver, site, browser };
        visit.gives_to_a_nonprofit().await;
        let keys = visit.site.make_keys().await;
        visit.gives_to_a_fundraiser(&keys).await;
        visit.asked_nobody_else().await;
        visit.browser.stop().await;
    }

    async fn gives_to_a_nonprofit(&self) {
        let browser = &self.browser;
        browser.goto(&self.site, "/").await;
        self.sees_a_page().await;
        match self.giver {
            Giver::WithoutScripts => self.finds_with_the_form().await,
            _ => self.finds_while_typing().await,
        }
        assert_eq!(browser.path().await, RED_CROSS);
        assert_eq!(browser.text("h1").await, "American Red Cross");
        assert_eq!(browser.text("#ein").await, "53-0196605");
        assert!(browser.text("main").await.contains("501(c)(3)"));
        self.gives("12.34").await;
        assert!(browser.text("main").await.contains("$12.34"));
    }

    /// A key after the other; each is answered.
    async fn finds_while_typing(&self) {
        let browser = &self.browser;
        browser.click("#q").await;
        for letter in "red cro".chars() {
            browser.press(&letter.to_string()).await;
            browser
                .wait_for("return document.querySelector('#q').ariaExpanded;", "true")
                .await;
        }
        let first = "return document.querySelector('[role=option] strong').textContent;";
        browser.wait_for(first, "American Red Cross").await;
        self.sees_a_page().await;
        browser.key(Key::Down).await;
        browser.key(Key::Enter).await;
        browser.wait_for("return location.pathname;", RED_CROSS).await;
        self.sees_a_page().await;
    }

    async fn finds_with_the_form(&self) {
        let browser = &self.browser;
        let has_run = browser.driver.find(By::Css("#q[role=combobox]")).await;
        assert!(has_run.is_err(), "a script of the page has run");
        browser.fill("#q", "red cro").await;
        browser.click(".search-box button").await;
        assert_eq!(browser.path().await, "/search");
        assert_eq!(browser.text(".hit:first-child mark").await, "Red");
        self.sees_a_page().await;
        browser.click(".hit:first-child a").await;
        self.sees_a_page().await;
    }

    /// From a page with a box for giving to the receipt.
    async fn gives(&self, amount: &str) {
        let browser = &self.browser;
        let field = browser.find(".give #amount").await;
        field.clear().await.unwrap();
        field.send_keys(amount).await.unwrap();
        browser.click(".give button").await;
        self.sees_a_page().await;
        self.is_told_that_no_money_moves().await;
        let typed = browser.find("#amount").await.prop("value").await.unwrap();
        assert_eq!(typed.as_deref(), Some(amount));
        browser.fill("#name", "Ada Lovelace").await;
        browser.click("input[value=yes]").await;
        browser.fill("#message", "Run well!").await;
        browser.click("form.form button").await;
        self.sees_a_page().await;
        self.is_told_that_no_money_moves().await;

        browser.fill("#card", "4000 0000 0000 0002").await;
        browser.click("form.form button").await;
        self.sees_a_page().await;
        assert!(browser.text("#form-errors").await.contains("declined"));
        let card = browser.find("#card").await;
        card.clear().await.unwrap();
        card.send_keys(CARD).await.unwrap();
        browser.click("form.form button").await;
        self.sees_a_page().await;
        self.is_told_that_no_money_moves().await;
        assert_eq!(browser.text("h1").await, "Thank you for your gift");
        assert!(browser.path().await.starts_with("/gifts/"));
    }

    async fn gives_to_a_fundraiser(&self, keys: &Keys) {
        let nonprofit = self.site.get(keys, "/v0.2/nonprofit/american-red-cross").await;
        let body = json!({
            "nonprofitId": nonprofit["data"]["nonprofit"]["id"], "title": "Spring run", "goal": 10_000,
            "raisedOffline": 1_000, "description": "We run along the river.\n\nCome along.",
        });
        let fundraiser = self.site.make_fundraiser(keys, &body).await;
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
        browser.click(&format!("a[href='{page}']")).await;
        self.sees_a_page().await;
        assert_eq!(self.thermometer().await, ("$10.00".to_owned(), "10".to_owned()));
        self.gives("12.34").await;
        let after = self.site.get(keys, &raised).await;
        assert_eq!(
            (&after["raised"], &after["supporters"]),
            (&json!(2_234), &json!(1))
        );
        browser.click(&format!("main a[href='{page}']")).await;
        self.sees_a_page().await;
        assert_eq!(self.thermometer().await, ("$22.34".to_owned(), "22".to_owned()));
        let supporters = browser.text("[aria-labelledby=supporters]").await;
        for told in ["Ada Lovelace", "$12.34", "Run well!"] {
            assert!(supporters.contains(told), "{supporters}");
        }
    }

    async fn thermometer(&self) -> (String, String) {
        let raised = self.browser.text("#raised-amount").await;
        let percent = self.browser.find("progress").await.attr("value").await;
        (raised, percent.unwrap().unwrap())
    }

    /// Nothing sticks out to the side.
    async fn sees_a_page(&self) {
        let width = if self.giver == Giver::OnAPhone { 375 } else { 1280 };
        let script = "return document.scrollingElement.scrollWidth;";
        let used = self.browser.driver.execute(script, vec![]).await.unwrap();
        let used = used.json().as_u64().unwrap();
        assert!(used <= width, "{} is {used} wide", self.browser.path().await);
    }

    async fn is_told_that_no_money_moves(&self) {
        let told = self.browser.text(".alert-warn").await;
        assert!(told.contains("no money moves"), "{told}");
    }

    async fn asked_nobody_else(&self) {
        let requests = self.browser.requests().await;
        assert!(requests.len() > 20, "{requests:?}");
        let ours = [format!("{}/", self.site.url), "data:".to_owned()];
        for address in requests {
            assert!(ours.iter().any(|start| address.starts_with(start)), "{address}");
        }
        let complaints = self.browser.complaints().await;
        let are_refusals = complaints.iter().all(|told| told.contains("status of 422"));
        assert!(are_refusals, "{complaints:?}");
    }
}
