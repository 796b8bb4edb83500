//! The documentation for developers: checked by the inspector, its console used, and read without scripts.

use crate::browser::Browser;
use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use thirtyfour::Key;

const PAGES: [(&str, &str); 8] = [
    ("docs-quick-start", "/developers/quick-start"),
    ("docs-authentication", "/developers/authentication"),
    ("docs-search-as-you-type", "/developers/search-as-you-type"),
    ("docs-errors", "/developers/errors"),
    ("docs-results", "/developers/search?q=limit"),
    ("docs-reference", "/developers/reference"),
    ("docs-operation", "/developers/reference/search"),
    ("docs-operation-write", "/developers/reference/create"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_the_documentation_is_accessible_on_phone_and_desktop() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    for (name, path) in PAGES {
        inspector.browser.goto(&site, path).await;
        inspector.inspect(name).await;
    }
    inspector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_sends_a_request_and_shows_the_remaining_limit() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let keys = site.create_keys().await;
    browser.goto(&site, "/developers/reference/search").await;
    browser.fill("#apiKey", &keys.public).await;
    browser.click("[data-console] button").await;
    let status = "return document.querySelector('[data-status]').textContent.split(' ')[0];";
    browser.wait_for(status, "200").await;
    assert_eq!(
        browser.text("[data-limit]").await,
        "499 of 500 requests left this minute"
    );
    assert!(
        browser
            .text("[data-request]")
            .await
            .starts_with("GET /v0.2/search/red%20cro?apiKey=")
    );
    assert!(
        browser
            .text("[data-body]")
            .await
            .contains("\"American Red Cross\"")
    );
    let headers = "return document.querySelector('[data-headers]').textContent.includes('x-request-id: ');";
    assert_eq!(browser.run(headers).await, true);

    // Without a private key the request is refused, and the browser does not ask for a password.
    browser.goto(&site, "/developers/reference/create").await;
    browser.fill("#apiKey", &keys.public).await;
    browser.fill("#privateKey", "wrong").await;
    browser.click("[data-console] button").await;
    browser.wait_for(status, "401").await;
    assert!(
        browser
            .text("[data-body]")
            .await
            .contains("\"invalid_credentials\"")
    );
    let shown = browser.text("[data-request]").await;
    assert!(
        shown.starts_with("POST /v0.2/fundraiser?dryRun=1") && !shown.contains("wrong"),
        "{shown}"
    );
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_language_of_samples_is_chosen_with_the_keyboard_and_remembered() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.goto(&site, "/developers/quick-start").await;
    browser.run("document.querySelector('.pick-curl').focus();").await;
    browser.key(Key::Right).await;
    browser.key(Key::Right).await;
    let shown = "return [...document.querySelectorAll('.sample:has(input) .sample-code')]
        .filter((code) => code.checkVisibility()).map((code) => code.className).join();";
    browser.wait_for(shown, "sample-code code-python").await;
    browser.goto(&site, "/developers/limits").await;
    browser
        .wait_for(shown, "sample-code code-python,sample-code code-python")
        .await;
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documentation_is_searched_while_typing_on_a_phone() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.resize(375).await;
    browser.goto(&site, "/developers").await;
    browser.click("#docs-q").await;
    browser.press("cors").await;
    let first = "return document.querySelector('.docs-live a')?.getAttribute('href') ?? null;";
    browser
        .wait_for(
            first,
            "/developers/authentication#call-the-api-from-a-web-page-cors",
        )
        .await;
    assert!(
        browser
            .text(".docs-live [role=status]")
            .await
            .ends_with("results")
    );
    browser.key(Key::Escape).await;
    browser.wait_for(first, serde_json::Value::Null).await;
    browser.wait_for_page(browser.key(Key::Enter)).await;
    assert_eq!(browser.path().await, "/developers/search");
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documentation_works_without_scripts() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.disable_scripts().await;
    browser.goto(&site, "/developers/limits").await;
    browser.click(".sample label:has(.pick-ruby)").await;
    assert!(browser.text(".sample .code-ruby").await.contains("require"));
    browser.fill("#docs-q", "private_key_exposed").await;
    browser.click(".docs-search button").await;
    browser.click(".docs-results a").await;
    assert_eq!(browser.path().await, "/developers/errors");
    browser.goto(&site, "/developers/reference/search").await;
    browser.fill("#apiKey", "cwpk_x").await;
    browser.click("[data-console] button").await;
    assert!(
        browser
            .text("[data-built]")
            .await
            .contains("/v0.2/search/red%20cro?apiKey=cwpk_x")
    );
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_developer_gets_a_search_box_on_a_page_of_another_origin() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.goto(&site, "/developers").await;
    let open = async |css: &str| browser.wait_for_page(browser.click(css)).await;
    open(".docs-text a[href='/developers/quick-start']").await;
    open(".docs-text a[href='/dashboard/sign-up']").await;
    for (field, text) in [
        ("#username", "grace"),
        ("#email", "grace@example.org"),
        ("#password", PASSWORD),
    ] {
        browser.fill(field, text).await;
    }
    open("form.form button").await;
    browser.goto(&site, "/dashboard/keys/new").await;
    browser.fill("#name", "website").await;
    open("form.form button").await;
    browser.goto(&site, "/developers/quick-start").await;
    open_search_sample(&browser).await;
    type_into_embedded_box(&browser).await;

    browser.goto(&site, "/developers/donate-links-and-embeds").await;
    open_search_sample(&browser).await;
    type_into_embedded_box(&browser).await;
    browser.key(Key::Down).await;
    browser.key(Key::Enter).await;
    let chosen = "return document.getElementById('chosen').textContent.split(',')[0];";
    browser
        .wait_for(chosen, "Doctors Without Borders USA (133433452")
        .await;

    browser.goto(&site, "/developers/search-as-you-type").await;
    open_search_sample(&browser).await;
    browser.fill("#term", "docters without bor").await;
    let first = "return document.querySelector('#results a')?.textContent ?? '';";
    browser.wait_for(first, "Doctors Without Borders USA").await;
    browser.stop().await;
}

/// Saves the first sample of the page that is a page with a search, and opens the file, which has another origin.
async fn open_search_sample(browser: &Browser) {
    let sample = "return [...document.querySelectorAll('.code-html code')].map((code) => code.textContent)
        .find((text) => text.includes('search'));";
    let page = browser.run(sample).await;
    let file = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
    std::fs::write(file.path(), page.as_str().unwrap()).unwrap();
    let url = format!("file://{}", file.path().display());
    browser.driver.goto(url).await.unwrap();
}

async fn type_into_embedded_box(browser: &Browser) {
    let is_ready = "return !!document.querySelector('body > div')?.shadowRoot;";
    browser.wait_for(is_ready, true).await;
    let focus = "document.querySelector('body > div').shadowRoot.querySelector('input').focus();";
    browser.run(focus).await;
    browser.press("docters without bor").await;
    let first = "return document.querySelector('body > div').shadowRoot.querySelector('li strong')?.textContent ?? '';";
    browser.wait_for(first, "Doctors Without Borders USA").await;
}
