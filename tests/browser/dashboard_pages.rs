//! Every page of the dashboard, checked by the inspector.

use crate::browser::Browser;
use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use directory::nonprofits::ein::Ein;
use platform::db::Db;
use serde_json::json;
use uuid::Uuid;

/// Pages before sign-in.
const PUBLIC: [(&str, &str); 6] = [
    ("sign-in", "/dashboard/sign-in"),
    ("sign-up", "/dashboard/sign-up"),
    ("sign-out", "/dashboard/sign-out"),
    ("reset", "/dashboard/reset"),
    ("stale-link", "/dashboard/reset/set?token=x"),
    ("not-found-in-dashboard", "/dashboard/keys/x"),
];
/// Pages after sign-in.
const SIGNED_IN: [(&str, &str); 28] = [
    ("keys", "/dashboard"),
    ("key-new", "/dashboard/keys/new"),
    ("fundraisers", "/dashboard/fundraisers"),
    ("fundraiser-new", "/dashboard/fundraisers/new"),
    ("usage", "/dashboard/usage"),
    ("usage-month", "/dashboard/usage?span=30d"),
    ("usage-year", "/dashboard/usage?span=12mo"),
    ("first-steps", "/dashboard/first-steps"),
    ("settings", "/dashboard/settings"),
    ("public-profile", "/dashboard/settings/profile"),
    ("delete", "/dashboard/settings/delete"),
    ("two-factor-off", "/dashboard/settings/two-factor"),
    ("operator-home", "/dashboard/operator"),
    ("operator-search", "/dashboard/operator/search?q=red%20cross"),
    ("operator-search-none", "/dashboard/operator/search?q=zzzzzz"),
    ("operator-nonprofit", "/dashboard/operator/nonprofits/530196605"),
    ("operator-accounts", "/dashboard/operator/accounts"),
    ("operator-keys", "/dashboard/operator/keys"),
    ("operator-account", "/dashboard/operator/accounts/organizer"),
    ("operator-review", "/dashboard/operator/fundraisers"),
    ("operator-fundraisers", "/dashboard/operator/fundraisers?show=all"),
    ("operator-reports", "/dashboard/operator/reports"),
    ("operator-donations", "/dashboard/operator/donations"),
    ("operator-origins", "/dashboard/operator/origins"),
    ("operator-imports", "/dashboard/operator/imports"),
    ("operator-design", "/dashboard/operator/design"),
    ("operator-errors", "/dashboard/operator/errors"),
    ("operator-audit", "/dashboard/operator/audit"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_dashboard_page_is_accessible_on_phone_and_desktop() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    let browser = &inspector.browser;
    site.create_operator("operator").await;
    for (name, path) in PUBLIC {
        browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    browser.goto(&site, "/dashboard/sign-up").await;
    browser.fill("#username", "Ada <b>").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("sign-up-refused").await;

    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("keys-none").await;
    browser.goto(&site, "/dashboard/usage").await;
    inspector.inspect("usage-none").await;
    browser.goto(&site, "/dashboard/first-steps").await;
    inspector.inspect("first-steps-none").await;

    inspect_fundraisers(&inspector, &site).await;
    let public = create_key(browser, &site, "Website of the river friends", "public").await;
    let private = create_key(browser, &site, "خادم الليل", "private").await;
    inspector.inspect("key-created").await;
    for count in 0..40 {
        let path = if count % 8 == 0 {
            "/v0.2/nonprofit/nobody-at-all"
        } else {
            "/v0.2/search/river"
        };
        browser.call(&format!("{path}?apiKey={public}")).await;
    }
    browser
        .call(&format!("/v0.2/search/river?apiKey={private}"))
        .await;
    site.app.save_counts().await.unwrap();

    let key = public_key_id(browser, &site).await;
    for path in ["", "/rotate", "/revoke"] {
        browser.goto(&site, &format!("/dashboard/keys/{key}{path}")).await;
        inspector.inspect(&format!("key{}", path.replace('/', "-"))).await;
    }
    let operator_page = format!("/dashboard/operator/keys/{key}");
    browser.goto(&site, &operator_page).await;
    inspector.inspect("operator-key").await;
    browser
        .wait_for_page(browser.click("form[action$='/block'] button"))
        .await;
    inspector.inspect("operator-key-refused").await;
    browser
        .fill("#reason", "Too many calls from one page; write to us.")
        .await;
    browser
        .wait_for_page(browser.click("form[action$='/block'] button"))
        .await;
    inspector.inspect("operator-key-blocked").await;
    browser.goto(&site, "/dashboard").await;
    inspector.inspect("keys-blocked").await;
    browser.goto(&site, &operator_page).await;
    browser.click("form[action$='/unblock'] button").await;
    inspect_moderation(&inspector, &site).await;
    for (name, path) in SIGNED_IN {
        browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    inspector.stop().await;
}

/// Inspects the empty list, the refused form, and every page of a fundraiser.
async fn inspect_fundraisers(inspector: &Inspector, site: &Site) {
    let browser = &inspector.browser;
    browser.goto(site, "/dashboard/fundraisers").await;
    inspector.inspect("fundraisers-none").await;
    browser.goto(site, "/dashboard/fundraisers/new").await;
    browser
        .fill("#title", "A spring run along the river, for everybody who cares")
        .await;
    browser.fill("#description", "Come and run.").await;
    browser.fill("#goal", "5,000").await;
    browser.fill("#raisedOffline", "$1,234.50").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("fundraiser-new-refused").await;
    browser.fill("#nonprofit", "zoo").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("fundraiser-new-matches").await;
    browser.find("#nonprofit").await.clear().await.unwrap();
    browser.fill("#nonprofit", "53-0196605").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("fundraiser-preview").await;
    browser
        .wait_for_page(browser.click("button[value=publish]"))
        .await;
    inspector.inspect("fundraiser").await;
    let path = browser
        .run("return location.pathname;")
        .await
        .as_str()
        .unwrap()
        .to_owned();
    for part in ["edit", "close", "reopen"] {
        browser.goto(site, &format!("{path}/{part}")).await;
        inspector.inspect(&format!("fundraiser-{part}")).await;
    }
}

/// Fills the pages of moderation, and inspects those of one fundraiser.
async fn inspect_moderation(inspector: &Inspector, site: &Site) {
    let (browser, keys) = (&inspector.browser, site.create_keys().await);
    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id();
    let body = json!({
        "nonprofitId": nonprofit.0, "title": "A concert in the park, with three bands and a very long title",
        "description": "Three bands.\n\nOne evening.", "raisedOffline": 12_300,
    });
    let fundraiser = site.create_fundraiser(&keys, &body).await;
    let page = fundraiser["url"].as_str().unwrap().replace(&site.url, "");
    let once = Uuid::now_v7().to_string();
    let fields = [
        ("amount", "25"),
        ("name", "Ada Lovelace"),
        ("message", "For my grandmother, who sang here every spring."),
        ("public", "yes"),
        ("email", "ada@example.org"),
        ("once", &once),
    ];
    let donation = site.send_form(&format!("{page}/give"), &fields).await;
    site.send_form(&donation, &[("card", "4242424242424242")]).await;
    let id = donation.rsplit('/').next().unwrap();
    browser
        .goto(site, &format!("/dashboard/operator/donations/{id}"))
        .await;
    inspector.inspect("operator-donation").await;
    browser.goto(site, &format!("{page}/report")).await;
    inspector.inspect("report").await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("report-refused").await;
    browser.click("input[value='fraud']").await;
    browser
        .fill("#details", "The bands know nothing of it: https://example.org/a-very-long-path-without-any-spaces-in-it-at-all")
        .await;
    browser.wait_for_page(browser.click("form.form button")).await;
    inspector.inspect("report-sent").await;
    browser.goto(site, "/dashboard/settings").await;
    browser
        .fill("#origin", "https://shop.river-friends.example.org")
        .await;
    browser
        .wait_for_page(browser.click("form[action$='/origins'] button"))
        .await;
    inspector.inspect("settings-origin").await;

    let path = format!(
        "/dashboard/operator/fundraisers/{}",
        fundraiser["id"].as_str().unwrap()
    );
    browser.goto(site, &path).await;
    inspector.inspect("operator-fundraiser").await;
    browser
        .wait_for_page(browser.click("form[action$='/hide'] button"))
        .await;
    inspector.inspect("operator-fundraiser-hidden").await;
    browser.goto(site, &page).await;
    inspector.inspect("fundraiser-page-hidden").await;
    let review = "update fundraisers set in_review_since = created_at, hidden_at = null, hidden_reason = null where hidden_at is not null";
    match &site.app.db {
        Db::Sqlite { writer, .. } => _ = sqlx::query(review).execute(writer).await.unwrap(),
        Db::Postgres(postgres) => _ = sqlx::query(review).execute(&postgres.pool()).await.unwrap(),
    }
}

async fn create_key(browser: &Browser, site: &Site, name: &str, kind: &str) -> String {
    browser.goto(site, "/dashboard/keys/new").await;
    browser.fill("#name", name).await;
    browser.click(&format!("input[value='{kind}']")).await;
    browser.click("form.form button").await;
    browser.text("#key").await
}

/// The ID of the public key.
async fn public_key_id(browser: &Browser, site: &Site) -> String {
    browser.goto(site, "/dashboard").await;
    let id = browser.find("code[id^='key-']").await.attr("id").await.unwrap();
    id.unwrap().trim_start_matches("key-").to_owned()
}
