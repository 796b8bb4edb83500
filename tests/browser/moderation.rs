//! A visitor reports a fundraiser, and an operator hides it, shows it again, and removes the name of its owner.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use access::accounts::store::{self, profile};
use directory::nonprofits::ein::Ein;
use serde_json::json;

const RUDE: &str = "A rude word";

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_reports_a_fundraiser_and_an_operator_moderates_it() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let keys = site.create_keys().await;
    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id();
    let body = json!({"nonprofitId": nonprofit.0, "title": "A concert in the park"});
    let fundraiser = site.create_fundraiser(&keys, &body).await;
    let page = fundraiser["url"].as_str().unwrap().replace(&site.url, "");
    let owner = store::find(&site.app.db, "organizer").await.unwrap().unwrap().id;
    let named = profile::update(&site.app.db, owner, Some(RUDE), None);
    named.await.unwrap();

    browser.goto(&site, &page).await;
    assert!(browser.text("main").await.contains(RUDE));
    browser.click(&format!("a[href='{page}/report']")).await;
    browser.click("input[value=fraud]").await;
    browser.fill("#details", "The bands know nothing of it.").await;
    browser.click("form.form button").await;
    assert!(browser.text("h1").await.contains("Thank you"));

    site.create_operator("olga").await;
    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "olga").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    browser.click(".part-nav a[href='/dashboard/operator']").await;
    browser
        .click("#attention-list a[href='/dashboard/operator/reports']")
        .await;
    assert!(
        browser
            .text("main")
            .await
            .contains("The bands know nothing of it.")
    );
    browser.click("form[action$='/hide'] button").await;
    assert!(browser.text(".alert-good").await.contains("hidden"));
    assert_eq!(status_without_session(&browser, &page).await, 404);
    browser.goto(&site, "/dashboard/operator/reports").await;
    assert!(browser.text("main").await.contains("No reports."));

    browser
        .goto(&site, "/dashboard/operator/fundraisers?show=hidden")
        .await;
    browser
        .click("main a[href^='/dashboard/operator/fundraisers/']")
        .await;
    browser.click("form[action$='/show'] button").await;
    assert!(browser.text(".alert-good").await.contains("published"));
    assert_eq!(status_without_session(&browser, &page).await, 200);

    browser
        .click("main a[href='/dashboard/operator/accounts/organizer']")
        .await;
    browser.click("a[href$='/remove-name']").await;
    assert_eq!(browser.text("h1").await, "Remove display name");
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("Display name removed"));
    browser.goto(&site, &page).await;
    let shown = browser.text("main").await;
    assert!(shown.contains("organizer") && !shown.contains(RUDE), "{shown}");
    browser.stop().await;
}

/// The status of a page for a visitor who is not signed in.
async fn status_without_session(browser: &Browser, page: &str) -> u64 {
    let script = format!("return (await fetch({page:?}, {{ credentials: 'omit' }})).status;");
    browser.run(&script).await.as_u64().unwrap()
}
