//! The search field while somebody types: what the keys do, what is said, and that old answers stay old.

use crate::browser::Browser;
use crate::site::Site;
use thirtyfour::Key;

const EXPANDED: &str = "return document.querySelector('#q').ariaExpanded;";
const NAMES: &str = "return [...document.querySelectorAll('[role=option] strong')].map((name) => name.textContent).join('|');";
const CHOSEN: &str = "const at = document.querySelector('#q').getAttribute('aria-activedescendant');
    return at && document.getElementById(at).matches('[aria-selected=true]') ? at : null;";
const SAID: &str = "return document.querySelector('[role=status]').textContent;";

/// Keeps the answers to the first letter until `release` is called.
const HOLD_BACK: &str = "const ask = window.fetch;
    window.fetch = async (address) => {
        const answer = await ask(address);
        if (address.endsWith('q=r')) await new Promise((done) => { window.release = done; });
        return answer;
    };";

#[tokio::test(flavor = "multi_thread")]
async fn keys_move_through_the_answers_and_leave_them() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.goto(&site, "/").await;
    browser.click("#q").await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    browser.press("univ").await;
    browser.wait_for(EXPANDED, "true").await;
    let count = "return String(document.querySelectorAll('[role=option]').length);";
    browser.wait_for(SAID, said(&browser.run(count).await)).await;

    browser.key(Key::Down).await;
    assert_eq!(browser.run(CHOSEN).await, "hit-0");
    browser.key(Key::Down).await;
    assert_eq!(browser.run(CHOSEN).await, "hit-1");
    browser.key(Key::Up).await;
    browser.key(Key::Up).await;
    let last = browser
        .run("return document.querySelector('[role=option]:last-child').id;")
        .await;
    assert_eq!(browser.run(CHOSEN).await, last);

    browser.key(Key::Escape).await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    assert!(browser.run(CHOSEN).await.is_null());
    let typed = "return document.querySelector('#q').value;";
    assert_eq!(browser.run(typed).await, "univ", "what was typed stays");
    browser.key(Key::Down).await;
    assert_eq!(browser.run(EXPANDED).await, "true");

    // Nothing is chosen: Enter searches for what was typed.
    browser.key(Key::Escape).await;
    browser.key(Key::Enter).await;
    browser
        .wait_for("return location.pathname + location.search;", "/search?q=univ")
        .await;
    browser.click("#q").await;
    // Two words that nobody has: a single one would be left out.
    browser.press(" zzqqxxjj qqxxjjzz").await;
    browser.wait_for(SAID, "No nonprofit found").await;
    assert_eq!(browser.run(EXPANDED).await, "false");
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_answer_never_takes_the_place_of_a_newer_one() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.goto(&site, "/").await;
    browser.run(HOLD_BACK).await;
    browser.click("#q").await;
    browser.press("r").await;
    browser
        .wait_for("return typeof window.release;", "function")
        .await;
    browser.press("ed cro").await;
    let first = "return document.querySelector('[role=option] strong')?.textContent;";
    browser.wait_for(first, "American Red Cross").await;
    let newest = "return (await (await fetch('/search.json?q=red%20cro')).json()).nonprofits.map(({ name }) => name).join('|');";
    let newest = browser.run(newest).await;
    browser.wait_for(NAMES, newest.clone()).await;

    browser
        .run("window.release(); await new Promise((done) => setTimeout(done, 300));")
        .await;
    assert_eq!(browser.run(NAMES).await, newest);
    let oldest = "release = null; const asked = fetch('/search.json?q=r'); while (!release) await new Promise(requestAnimationFrame);
        release(); return (await (await asked).json()).nonprofits.map(({ name }) => name).join('|');";
    assert_ne!(
        browser.run(oldest).await,
        newest,
        "the old answer was another one"
    );

    // Nor does an answer open the list for somebody who has left the field.
    for leave in [Key::Tab, Key::Escape] {
        browser.goto(&site, "/").await;
        browser.run(HOLD_BACK).await;
        browser.click("#q").await;
        browser.press("r").await;
        browser
            .wait_for("return typeof window.release;", "function")
            .await;
        browser.key(leave).await;
        browser
            .run("window.release(); await new Promise((done) => setTimeout(done, 300));")
            .await;
        assert_eq!(browser.run(EXPANDED).await, "false");
    }
    browser.stop().await;
}

fn said(count: &serde_json::Value) -> String {
    let count = count.as_str().unwrap();
    assert_ne!(count, "1");
    format!("{count} nonprofits found; arrow down to reach them")
}
