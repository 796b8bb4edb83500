//! "Near me" on the results page: the browser is asked for the location only after a click.

use crate::browser::Browser;
use crate::site::Site;
use serde_json::json;
use thirtyfour::Key;

/// Counts how often a page asks for the location, and replaces the answer of the browser with that of the test.
const COUNT_REQUESTS: &str = "window.requests = 0;
    navigator.geolocation.getCurrentPosition = (found, failed) => {
        window.requests += 1;
        if (window.isRefused) failed(new Error('refused'));
        else found({ coords: { latitude: 40.750649, longitude: -73.997298 } });
    };";

#[tokio::test(flavor = "multi_thread")]
async fn near_me_asks_only_after_a_click() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.resize(375).await;
    browser
        .emulate(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": COUNT_REQUESTS}),
        )
        .await;
    browser.goto(&site, "/search?q=university").await;
    let allowed = "return document.featurePolicy?.allowsFeature('geolocation') ?? true;";
    assert_eq!(browser.run(allowed).await, true);
    assert_eq!(browser.run("return window.requests;").await, 0);

    browser.run("window.isRefused = true;").await;
    browser.click(".filters summary").await;
    browser.click("button[data-near]").await;
    assert_eq!(
        browser.text(".near + [role=status]").await,
        "Your location is not available. Enter a ZIP code."
    );
    assert_eq!(browser.run("return window.requests;").await, 1);

    browser
        .run("window.isRefused = false; document.getElementById('near').focus();")
        .await;
    browser.key(Key::Tab).await;
    let has_focus = "return document.activeElement.matches('button[data-near]');";
    assert_eq!(browser.run(has_focus).await, true);
    browser.wait_for_page(browser.key(Key::Enter)).await;
    let query = browser.run("return location.search;").await;
    assert_eq!(
        query,
        "?q=university&cause=&state=&city=&size=&near=40.75%2C-74.00&radius=25"
    );
    assert_eq!(browser.run("return window.requests;").await, 0);
    let first = browser.text(".hit .soft").await;
    assert!(first.contains("mile"), "{first}");
    let total = browser.text(".results-total").await;
    assert!(total.ends_with(" near New York, NY"), "{total}");
    let chip = browser.text(".chip").await;
    assert!(chip.contains("Within 25 miles of New York, NY"), "{chip}");

    browser.goto(&site, "/").await;
    let allowed = "return document.featurePolicy?.allowsFeature('geolocation') ?? false;";
    assert_eq!(browser.run(allowed).await, false);
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_distance_can_be_chosen_without_scripts() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.disable_scripts().await;
    browser.goto(&site, "/search?q=university").await;
    let button = browser.find("button[data-near]").await;
    assert!(!button.is_displayed().await.unwrap());
    browser.click(".filters summary").await;
    browser.fill("#near", "10001").await;
    browser.click(".filters-fields > button").await;
    assert!(
        browser
            .text("main")
            .await
            .contains("Within 25 miles of New York, NY")
    );
    assert!(browser.text(".hit .soft").await.contains("mile"));
    browser.stop().await;
}
