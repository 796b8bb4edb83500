//! Every page, on a phone and on a desk, in light and dark: axe finds nothing, nothing sticks out to the side, and a
//! picture is kept in `target/screenshots` for people to look at.

use crate::axe;
use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use serde_json::json;
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
const SIGNED_IN: [(&str, &str); 13] = [
    ("keys", "/dashboard"),
    ("key-new", "/dashboard/keys/new"),
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

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_open_to_everybody_on_a_phone_and_on_a_desk_in_light_and_dark() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    site.make_operator("operator").await;
    for (name, path) in OPEN {
        browser.goto(&site, path).await;
        look_at(&browser, name).await;
    }
    browser.goto(&site, "/dashboard/sign-up").await;
    browser.fill("#username", "Ada <b>").await;
    browser.click("form.form button").await;
    look_at(&browser, "sign-up-refused").await;

    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    look_at(&browser, "keys-none").await;
    browser.goto(&site, "/dashboard/usage").await;
    look_at(&browser, "usage-none").await;
    browser.goto(&site, "/dashboard/first-steps").await;
    look_at(&browser, "first-steps-none").await;

    let public = make_key(&browser, &site, "Website of the river friends", "public").await;
    let private = make_key(&browser, &site, "خادم الليل", "private").await;
    look_at(&browser, "key-made").await;
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

    let key = open_key(&browser, &site).await;
    for path in ["", "/roll", "/revoke"] {
        browser.goto(&site, &format!("/dashboard/keys/{key}{path}")).await;
        look_at(&browser, &format!("key{}", path.replace('/', "-"))).await;
    }
    let operated = format!("/dashboard/operator/keys/{key}");
    browser.goto(&site, &operated).await;
    look_at(&browser, "operator-key").await;
    browser.click("form[action$='/block'] button").await;
    look_at(&browser, "operator-key-refused").await;
    browser
        .fill("#reason", "Too many calls from one page; write to us.")
        .await;
    browser.click("form[action$='/block'] button").await;
    look_at(&browser, "operator-key-blocked").await;
    for (name, path) in SIGNED_IN {
        browser.goto(&site, path).await;
        look_at(&browser, name).await;
    }
    browser.stop().await;
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

async fn look_at(browser: &Browser, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    for width in [375, 1280] {
        browser.resize(width).await;
        let wide = browser
            .run("return document.documentElement.scrollWidth - document.documentElement.clientWidth;")
            .await;
        assert_eq!(wide, 0, "{name} is too wide for {width}");
        for scheme in ["light", "dark"] {
            browser.prefer(scheme).await;
            let found = axe::findings(browser).await;
            assert!(found.is_empty(), "{name} at {width}, {scheme}:\n{found}");
            let parameters = json!({"captureBeyondViewport": true});
            let picture = browser.emulate("Page.captureScreenshot", parameters).await;
            let picture = base64::Engine::decode(
                &base64::engine::general_purpose::STANDARD,
                picture["data"].as_str().unwrap(),
            );
            std::fs::write(
                folder.join(format!("{name}-{width}-{scheme}.png")),
                picture.unwrap(),
            )
            .unwrap();
        }
    }
}
