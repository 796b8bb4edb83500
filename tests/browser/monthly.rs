//! A donor gives every month to a fundraiser for two nonprofits, replaces a card that fails, pauses, resumes and cancels, and
//! the operator deals with refunds and disputes: on a desktop, and on a phone without scripts.

use crate::axe;
use crate::browser::Browser;
use crate::site::Site;
use directory::nonprofits::ein::Ein;
use giving::fundraisers::SPECIAL;
use giving::monthly::token;
use giving::payments::store::list_differences;
use platform::db::query;
use platform::public_url::PublicUrl;
use serde_json::{Value, json};
use std::time::Duration;
use stripe_simulator::{Settings, Simulator};
use uuid::Uuid;

const CARD: &str = "4242424242424242";
const DAY: u64 = 86_400;

#[tokio::test(flavor = "multi_thread")]
async fn a_donor_gives_every_month_and_the_books_stay_exact() {
    Box::pin(tell(false)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_donor_on_a_phone_without_scripts_gives_every_month() {
    Box::pin(tell(true)).await;
}

/// The site, the simulator of Stripe, and a browser.
struct Stage {
    site: Site,
    simulator: Simulator,
    browser: Browser,
    http: reqwest::Client,
}

async fn tell(without_scripts: bool) {
    let simulator = Simulator::start(Settings::default()).await.unwrap();
    let stage = Stage {
        site: Site::start_with_stripe(&simulator).await,
        browser: Browser::start().await,
        http: reqwest::Client::new(),
        simulator,
    };
    let (site, browser) = (&stage.site, &stage.browser);
    let fundraiser = stage.create_fundraiser().await;
    if without_scripts {
        browser.resize(375).await;
        browser.set_color_scheme("dark").await;
        browser.disable_scripts().await;
    }
    browser
        .goto(site, &format!("{fundraiser}/give?frequency=MONTHLY"))
        .await;
    stage.assert_accessible(without_scripts).await;
    browser.enter_amount("form.form", "25").await;
    browser.fill("#email", "ada@example.org").await;
    browser.click("input[name=cover][value=yes]").await;
    browser.click("form.form button").await;
    stage.submit_card("4242424242424242").await;
    assert_eq!(browser.text("h1").await, "Thank you for your donation");
    assert!(browser.text("main").await.contains("This is a monthly donation."));
    stage.assert_accessible(without_scripts).await;
    stage.assert_raised(&fundraiser, "$26.06").await;
    browser.goto(site, &stage.link().await).await;
    assert!(browser.text("main").await.contains("$26.06 every month"));
    stage.assert_accessible(without_scripts).await;

    stage.pass(32).await;
    stage.assert_raised(&fundraiser, "$52.12").await;

    // The card fails, and the link of the email leads to a page for a new one.
    let subscription = stage.read("subscriptions").await["data"][0]["id"].clone();
    let path = format!("subscriptions/{}", subscription.as_str().unwrap());
    stage
        .call(&path, "default_payment_method=pm_card_chargeCustomerFail")
        .await;
    stage.pass(31).await;
    browser.goto(site, &stage.link().await).await;
    assert!(browser.text("main").await.contains("Your card was declined."));
    stage.assert_accessible(without_scripts).await;
    stage.press("card").await;
    browser.fill("input[name=card_number]", CARD).await;
    browser.fill("input[name=name]", "Ada Lovelace").await;
    browser.click("form button").await;
    let page = browser.text("main").await;
    assert!(
        page.contains("We will charge your new card from now on") && page.contains("Active"),
        "{page}"
    );
    stage.settle().await;
    stage.assert_raised(&fundraiser, "$78.18").await;

    browser.goto(site, &stage.link().await).await;
    stage.press("pause").await;
    assert!(browser.text("main").await.contains("The donation is paused."));
    stage.press("resume").await;
    assert!(browser.text("main").await.contains("The donation has resumed."));
    stage.press("cancel").await;
    assert!(
        browser
            .text("main")
            .await
            .contains("You will not be charged again.")
    );
    stage.assert_accessible(without_scripts).await;
    stage.pass(62).await;
    stage.assert_raised(&fundraiser, "$78.18").await;

    stage.decide_payments().await;
    // One was refunded, one dispute lost, and one won.
    stage.assert_raised(&fundraiser, "$26.06").await;
    stage.assert_exact().await;
    stage.browser.stop().await;
}

impl Stage {
    async fn create_fundraiser(&self) -> String {
        let keys = self.site.create_keys().await;
        let id_of = |ein: &str| Ein::parse(ein).unwrap().nonprofit_id().to_string();
        let body = json!({
            "nonprofitId": SPECIAL.to_string(), "title": "Two rivers", "description": "For both.", "type": "MULTIPLE_NONPROFITS",
            "forNonprofits": [id_of("530196605"), id_of("135562308")],
        });
        let created = self.site.create_fundraiser(&keys, &body).await;
        let slug = created["slug"].as_str().unwrap_or_else(|| panic!("{created}"));
        format!("/special-fundraiser/f/{slug}")
    }

    /// Sends the form with a value of `action`.
    async fn press(&self, action: &str) {
        let button = format!("form:has(input[name=action][value={action}]) button");
        self.browser.click(&button).await;
    }

    async fn submit_card(&self, number: &str) {
        self.browser.fill("#card input[name=card_number]", number).await;
        self.browser.fill("#card input[name=name]", "Ada Lovelace").await;
        self.browser.click("#card button").await;
    }

    /// A link to the page of the gift, as emails have it.
    async fn link(&self) -> String {
        let app = &self.site.app;
        let gift: Uuid = app
            .db
            .fetch_scalar(query("select id from monthly_gifts"))
            .await
            .unwrap();
        token::link(&PublicUrl::new(""), &app.secret, gift, app.clock.millis())
    }

    /// axe runs as a script.
    async fn assert_accessible(&self, without_scripts: bool) {
        if !without_scripts {
            assert_eq!(axe::violations(&self.browser).await, "");
        }
    }

    async fn assert_raised(&self, fundraiser: &str, raised: &str) {
        self.settle().await;
        self.browser.goto(&self.site, fundraiser).await;
        let page = self.browser.text("main").await;
        assert!(page.contains(raised), "{raised}: {page}");
    }

    /// Moves the clocks of the site and of the simulator forward.
    async fn pass(&self, days: u64) {
        self.site.app.clock.advance(Duration::from_secs(days * DAY));
        self.control("clock", json!({ "advance": days * DAY })).await;
        self.settle().await;
    }

    /// Asks Stripe about everything: this site gets no events.
    async fn settle(&self) {
        self.control("idle", json!({})).await;
        let payments = self.site.app.payments().unwrap();
        self.site.app.clock.advance(Duration::from_hours(2));
        payments.sweep().await.unwrap();
        payments.reconcile(Some(0), None).await.unwrap();
    }

    /// The operator refunds the first payment, loses a dispute about the second, and wins one about the third.
    async fn decide_payments(&self) {
        let app = &self.site.app;
        let ids: Vec<Uuid> = app
            .db
            .fetch_scalars(query("select id from donations order by started_at"))
            .await
            .unwrap();
        let mut donations = Vec::new();
        for id in ids {
            donations.push(giving::checkout::store::find(&app.db, id).await.unwrap().unwrap());
        }
        let payments = app.payments().unwrap();
        let charge = |index: usize| donations[index].payment.charge.clone().unwrap();
        payments.refund(donations[0].clone(), None).await.unwrap();
        for (index, verdict) in [(1, "lose"), (2, "win")] {
            let opened = self
                .control(&format!("charges/{}/dispute", charge(index)), json!({}))
                .await;
            let id = opened["id"]
                .as_str()
                .unwrap_or_else(|| panic!("{opened}"))
                .to_owned();
            self.settle().await;
            self.control(&format!("disputes/{id}/{verdict}"), json!({})).await;
        }
        self.settle().await;
    }

    async fn assert_exact(&self) {
        let app = &self.site.app;
        let differences = list_differences(&app.db).await.unwrap();
        assert!(differences.is_empty(), "{differences:?}");
        let payments = app.payments().unwrap();
        let compared = payments.reconcile(Some(0), None).await.unwrap();
        assert_eq!(compared.balance, compared.ledger_balance);
        let checked = giving::check::check(&app.db).await.unwrap();
        assert!(checked.errors.is_empty(), "{:?}", checked.errors);
    }

    async fn control(&self, path: &str, body: Value) -> Value {
        let url = format!("{}/simulator/{path}", self.simulator.url());
        let response = self.http.post(url).body(body.to_string()).send().await.unwrap();
        let text = response.text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}"))
    }

    async fn call(&self, path: &str, form: &'static str) {
        let request = self.http.post(format!("{}/v1/{path}", self.simulator.url()));
        let request = request
            .header("authorization", "Bearer sk_test_browser")
            .header("content-type", "application/x-www-form-urlencoded");
        assert!(request.body(form).send().await.unwrap().status().is_success());
    }

    async fn read(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}/v1/{path}", self.simulator.url()));
        let request = request.header("authorization", "Bearer sk_test_browser");
        let text = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }
}
