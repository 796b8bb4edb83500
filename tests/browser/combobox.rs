//! The search field while a visitor types: keys, screen reader messages, and late responses.

use crate::browser::Browser;
use crate::site::Site;
use thirtyfour::Key;

const EXPANDED: &str = "return document.querySelector('#q').ariaExpanded;";
const NAMES: &str = "return [...document.querySelectorAll('[role=option] strong')]
    .map((name) => name.textContent).join('|');";
const SELECTED: &str = "const id = document.querySelector('#q').getAttribute('aria-activedescendant');
    return id && document.getElementById(id).matches('[aria-selected=true]') ? id : null;";
const MESSAGE: &str = "return document.querySelector('[role=status]').textContent;";

/// Counts the search requests whose results are not shown yet in `pending`. With `holdBack`, a response to the first
/// letter waits until `release` is called.
const WATCH_REQUESTS: &str = "const send = window.fetch;
    window.pending = 0;
    window.signals = [];
    window.fetch = async (url, options) => {
        window.pending += 1;
        window.signals.push(options?.signal);
        const response = await send(url);
        if (window.holdBack && url.endsWith('q=r')) await new Promise((resolve) => { window.release = resolve; });
        const read = response.json.bind(response);
        response.json = async () => {
            const body = await read();
            // The page shows the results before the next task.
            setTimeout(() => { window.pending -= 1; });
            return body;
        };
        return response;
    };";

/// Opens the home page and focuses its search field.
pub async fn focus_search(browser: &Browser, site: &Site) {
    browser.goto(site, "/").await;
    browser.run(WATCH_REQUESTS).await;
    browser.click("#q").await;
}

/// Types into the search field and waits until all results are shown, so that no late result moves the selection.
pub async fn type_and_wait(browser: &Browser, text: &str) {
    browser.press(text).await;
    browser.wait_for("return window.pending;", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_while_typing_show_causes_by_their_titles() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    focus_search(&browser, &site).await;
    type_and_wait(&browser, "feeding ameri").await;
    let about = "return document.querySelector('[role=option] span')?.textContent ?? null;";
    browser
        .wait_for(about, "Chicago, IL · Coronavirus · Food security")
        .await;
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arrow_keys_move_through_the_results_and_escape_closes_them() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    focus_search(&browser, &site).await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    type_and_wait(&browser, "univ").await;
    assert_eq!(browser.run(EXPANDED).await, "true");
    let count = "return String(document.querySelectorAll('[role=option]').length);";
    let count = browser.run(count).await;
    let count = count.as_str().unwrap();
    assert_ne!(count, "1");
    let message = format!("{count} nonprofits found. Press the down arrow to select one.");
    browser.wait_for(MESSAGE, message).await;

    browser.key(Key::Down).await;
    assert_eq!(browser.run(SELECTED).await, "hit-0");
    browser.key(Key::Down).await;
    assert_eq!(browser.run(SELECTED).await, "hit-1");
    browser.key(Key::Up).await;
    browser.key(Key::Up).await;
    let last = browser
        .run("return document.querySelector('[role=option]:last-child').id;")
        .await;
    assert_eq!(browser.run(SELECTED).await, last);

    browser.key(Key::Escape).await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    assert!(browser.run(SELECTED).await.is_null());
    let typed = "return document.querySelector('#q').value;";
    assert_eq!(browser.run(typed).await, "univ", "the typed text stays");
    browser.key(Key::Down).await;
    assert_eq!(browser.run(EXPANDED).await, "true");

    // Without a selection, Enter searches for the typed text.
    browser.key(Key::Escape).await;
    browser.wait_for_page(browser.key(Key::Enter)).await;
    let url = "return location.pathname + location.search;";
    assert_eq!(browser.run(url).await, "/search?q=univ");
    browser.click("#q").await;
    // Unknown words beside a known one would be left out.
    browser
        .run("document.querySelector('#q').select(); return null;")
        .await;
    browser.press("zzqqxxjj qqxxjjzz").await;
    browser.wait_for(MESSAGE, "No nonprofits found").await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_response_never_replaces_a_newer_one() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    type_with_late_response(&browser, &site).await;
    browser.press("ed cro").await;
    let first = "return document.querySelector('[role=option] strong')?.textContent ?? null;";
    browser.wait_for(first, "American Red Cross").await;
    let aborted = "const [newest, ...before] = window.signals.filter(Boolean).reverse();
        return before.length > 3 && before.every((signal) => signal.aborted) && !newest.aborted;";
    assert_eq!(browser.run(aborted).await, true);
    // Only the first letter is still pending.
    browser.wait_for("return window.pending;", 1).await;
    let newest = browser.run(NAMES).await;

    release(&browser).await;
    assert_eq!(browser.run(NAMES).await, newest);
    let late = "window.holdBack = false;
        const response = await fetch('/search.json?q=r');
        return (await response.json()).nonprofits.map(({ name }) => name).join('|');";
    assert_ne!(
        browser.run(late).await,
        newest,
        "the late response has other results"
    );

    // A late response does not open the list after the visitor has left the field.
    for leave in [Key::Tab, Key::Escape] {
        type_with_late_response(&browser, &site).await;
        browser.key(leave).await;
        release(&browser).await;
        assert_eq!(browser.run(EXPANDED).await, "false");
    }
    browser.stop().await;
}

/// Types a letter whose response is held back.
async fn type_with_late_response(browser: &Browser, site: &Site) {
    focus_search(browser, site).await;
    browser.run("window.holdBack = true;").await;
    browser.press("r").await;
    browser
        .wait_for("return typeof window.release;", "function")
        .await;
}

/// Lets the late response arrive.
async fn release(browser: &Browser) {
    browser.run("window.release();").await;
    browser.wait_for("return window.pending;", 0).await;
}
