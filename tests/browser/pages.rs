//! Every page, on a phone and on a desk, in light and dark: axe finds nothing, nothing sticks out to the side, and a
//! picture is kept in `target/screenshots` for people to look at.

use crate::axe;
use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;

/// Pages before the sign-in, and after it.
const OPEN: [(&str, &str); 7] = [
    ("sign-in", "/dashboard/sign-in"),
    ("sign-up", "/dashboard/sign-up"),
    ("sign-out", "/dashboard/sign-out"),
    ("reset", "/dashboard/reset"),
    ("stale-link", "/dashboard/reset/set?token=x"),
    ("not-found", "/no/such/page"),
    ("not-found-in-dashboard", "/dashboard/keys/x"),
];
const SIGNED_IN: [(&str, &str); 15] = [
    ("keys", "/dashboard"),
    ("key-new", "/dashboard/keys/new"),
    ("fundraisers", "/dashboard/fundraisers"),
    ("fundraiser-new", "/dashboard/fundraisers/new"),
    ("usage", "/dashboard/usage"),
    ("usage-week", "/dashboard/usage?span=7d"),
    ("usage-quarter", "/dashboard/usage?span=90d"),
    ("first-steps", "/dashboard/first-steps"),
    ("settings", "/dashboard/settings"),
    ("delete", "/dashboard/settings/delete"),
    ("operator-accounts", "/dashboard/operator"),
    ("operator-keys", "/dashboard/operator/keys"),
    ("operator-imports", "/dashboard/operator/imports"),
    ("operator-errors", "/dashboard/operator/errors"),
    ("operator-audit", "/dashboard/operator/audit"),
];

/// Looks at pages and keeps what is wrong with them.
struct Reader {
    browser: Browser,
    faults: RefCell<Vec<String>>,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_open_to_everybody_on_a_phone_and_on_a_desk_in_light_and_dark() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let reader = Reader {
        browser,
        faults: RefCell::default(),
    };
    let browser = &reader.browser;
    site.make_operator("operator").await;
    for (name, path) in OPEN {
        browser.goto(&site, path).await;
        reader.look_at(name).await;
    }
    browser.goto(&site, "/dashboard/sign-up").await;
    browser.fill("#username", "Ada <b>").await;
    browser.click("form.form button").await;
    reader.look_at("sign-up-refused").await;

    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    reader.look_at("keys-none").await;
    browser.goto(&site, "/dashboard/usage").await;
    reader.look_at("usage-none").await;
    browser.goto(&site, "/dashboard/first-steps").await;
    reader.look_at("first-steps-none").await;

    look_at_fundraisers(&reader, &site).await;
    let public = make_key(browser, &site, "Website of the river friends", "public").await;
    let private = make_key(browser, &site, "خادم الليل", "private").await;
    reader.look_at("key-made").await;
    for count in 0..40 {
        let path = match count % 8 {
            0 => "/v0.2/nonprofit/nobody-at-all",
            _ => "/v0.2/search/river",
        };
        browser.call(&format!("{path}?apiKey={public}")).await;
    }
    browser
        .call(&format!("/v0.2/search/river?apiKey={private}"))
        .await;
    site.app.save_counts().await.unwrap();

    let key = open_key(browser, &site).await;
    for path in ["", "/roll", "/revoke"] {
        browser.goto(&site, &format!("/dashboard/keys/{key}{path}")).await;
        reader.look_at(&format!("key{}", path.replace('/', "-"))).await;
    }
    let operated = format!("/dashboard/operator/keys/{key}");
    browser.goto(&site, &operated).await;
    reader.look_at("operator-key").await;
    browser.click("form[action$='/block'] button").await;
    reader.look_at("operator-key-refused").await;
    browser
        .fill("#reason", "Too many calls from one page; write to us.")
        .await;
    browser.click("form[action$='/block'] button").await;
    reader.look_at("operator-key-blocked").await;
    browser.goto(&site, "/dashboard").await;
    reader.look_at("keys-blocked").await;
    browser.goto(&site, &operated).await;
    browser.click("form[action$='/unblock'] button").await;
    for (name, path) in SIGNED_IN {
        browser.goto(&site, path).await;
        reader.look_at(name).await;
    }
    let faults = reader.faults.take();
    reader.browser.stop().await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The list before there are any, the form when it is refused, and one fundraiser with all that can be done to it.
async fn look_at_fundraisers(reader: &Reader, site: &Site) {
    let browser = &reader.browser;
    browser.goto(site, "/dashboard/fundraisers").await;
    reader.look_at("fundraisers-none").await;
    browser.goto(site, "/dashboard/fundraisers/new").await;
    browser
        .fill("#title", "A spring run along the river, for everybody who cares")
        .await;
    browser.fill("#description", "Come and run.").await;
    browser.fill("#goal", "5,000").await;
    browser.fill("#raisedOffline", "$1,234.50").await;
    browser.click("form.form button").await;
    reader.look_at("fundraiser-new-refused").await;
    browser.fill("#nonprofit", "53-0196605").await;
    browser.click("form.form button").await;
    reader.look_at("fundraiser").await;
    let address = browser
        .run("return location.pathname;")
        .await
        .as_str()
        .unwrap()
        .to_owned();
    for part in ["edit", "close", "reopen"] {
        browser.goto(site, &format!("{address}/{part}")).await;
        reader.look_at(&format!("fundraiser-{part}")).await;
    }
}

async fn make_key(browser: &Browser, site: &Site, name: &str, kind: &str) -> String {
    browser.goto(site, "/dashboard/keys/new").await;
    browser.fill("#name", name).await;
    browser.click(&format!("input[value='{kind}']")).await;
    browser.click("form.form button").await;
    browser.text("#key").await
}

/// The id of the public key.
async fn open_key(browser: &Browser, site: &Site) -> String {
    browser.goto(site, "/dashboard").await;
    let id = browser.find("code[id^='key-']").await.attr("id").await.unwrap();
    id.unwrap().trim_start_matches("key-").to_owned()
}

impl Reader {
    async fn look_at(&self, name: &str) {
        for width in [375, 1280] {
            self.browser.resize(width).await;
            let sticks_out =
                "const page = document.documentElement; return page.scrollWidth - page.clientWidth;";
            if self.browser.run(sticks_out).await != 0 {
                self.note(format!("{name} is too wide for {width}"));
            }
            for scheme in ["light", "dark"] {
                self.browser.prefer(scheme).await;
                let found = axe::findings(&self.browser).await;
                if !found.is_empty() {
                    self.note(format!("{name} at {width}, {scheme}:\n{found}"));
                }
                self.take_picture(&format!("{name}-{width}-{scheme}.png")).await;
            }
        }
    }

    fn note(&self, fault: String) {
        self.faults.borrow_mut().push(fault);
    }

    async fn take_picture(&self, file: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let parameters = json!({"captureBeyondViewport": true});
        let picture = self.browser.emulate("Page.captureScreenshot", parameters).await;
        let picture = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::write(folder.join(file), picture).unwrap();
    }
}
