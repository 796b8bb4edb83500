//! Every page of the dashboard, looked at by the reader.

use crate::browser::Browser;
use crate::reader::Reader;
use crate::site::{PASSWORD, Site};

/// Pages before the sign-in, and after it.
const OPEN: [(&str, &str); 6] = [
    ("sign-in", "/dashboard/sign-in"),
    ("sign-up", "/dashboard/sign-up"),
    ("sign-out", "/dashboard/sign-out"),
    ("reset", "/dashboard/reset"),
    ("stale-link", "/dashboard/reset/set?token=x"),
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

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_the_dashboard_is_open_to_everybody_on_a_phone_and_on_a_desk() {
    let (site, reader) = (Site::start().await, Reader::start().await);
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
    reader.stop().await;
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
