//! The director of a nonprofit claims its page by DNS, edits it, decides about a fundraiser and stops donations; by keyboard.

use crate::browser::Browser;
use crate::dns::serve_record;
use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use access::accounts::store;
use access::accounts::two_factor::store as two_factor;
use platform::db::Db;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// From the claim to the first edit.
const MAX_DURATION: Duration = Duration::from_mins(5);
const RETURN: &str = "insert into return_profiles (ein, website_url, website_period, is_final) \
     values (530196605, 'https://www.redcross.test/', 209901, false)";

#[tokio::test(flavor = "multi_thread")]
async fn a_nonprofit_claims_and_runs_its_page_by_keyboard() {
    let record = Arc::new(Mutex::new(String::new()));
    let site = Site::start_with_dns(serve_record(Arc::clone(&record)).await).await;
    file_website(&site).await;
    let inspector = Inspector::start().await;
    let browser = &inspector.browser;
    sign_up(browser, &site).await;
    turn_on_second_factor(browser, &site).await;
    let start = Instant::now();
    browser.goto(&site, "/american-red-cross").await;
    browser.wait_for_page(browser.press_on("a[href$='/claim']")).await;
    inspector.inspect("claim-new").await;
    browser.fill("#person", "Clara Barton").await;
    browser.fill("#position", "President").await;
    browser.click("input[value='domain']").await;
    browser.wait_for_page(browser.press_on("form.form button")).await;
    inspector.inspect("claim").await;
    let script = "return [...document.querySelectorAll('main code')].map((code) => code.textContent)[1];";
    let value = browser.run(script).await;
    record.lock().unwrap().push_str(value.as_str().unwrap());
    browser
        .wait_for_page(browser.press_on("form[action$='/check'] button"))
        .await;
    assert!(browser.text(".alert-good").await.contains("proof was found"));
    approve(&site).await;
    browser.goto(&site, "/dashboard/nonprofits").await;
    inspector.inspect("nonprofits").await;
    browser.wait_for_page(browser.press_on("main li a.button")).await;
    inspector.inspect("nonprofit").await;
    let manage = browser.path().await;
    browser.wait_for_page(browser.press_on("a[href$='/edit']")).await;
    inspector.inspect("nonprofit-edit").await;
    browser.clear("#description").await;
    browser.fill("#description", "We help in emergencies.").await;
    browser.fill("#thanks", "Thank you from all of us!").await;
    browser
        .wait_for_page(browser.press_on("form.form > button"))
        .await;
    assert!(browser.text(".alert-good").await.contains("Changes saved"));
    browser.goto(&site, "/american-red-cross").await;
    let is_shown = "return document.querySelector('main').textContent.includes('We help in emergencies.');";
    browser.reload_until(is_shown, true).await;
    assert!(start.elapsed() < MAX_DURATION);
    for page in ["logo", "cover", "donations", "fundraisers", "consent", "close"] {
        browser.goto(&site, &format!("{manage}/{page}")).await;
        inspector.inspect(&format!("nonprofit-{page}")).await;
    }
    give(browser, &site).await;
    assert!(browser.text("main").await.contains("Thank you from all of us!"));
    inspector.inspect("receipt-with-thanks").await;
    browser.goto(&site, &format!("{manage}/close")).await;
    browser.wait_for_page(browser.press_on("form.form button")).await;
    assert!(browser.text("main").await.contains("at its own request"));
    browser.goto(&site, "/american-red-cross/give").await;
    assert!(browser.text("main").await.contains("cannot receive donations"));
    inspector.stop().await;
}

async fn file_website(site: &Site) {
    let Db::Sqlite { writer, .. } = &site.app.db else {
        panic!("the browser tests use SQLite");
    };
    sqlx::query("delete from return_profiles where ein = 530196605")
        .execute(writer)
        .await
        .unwrap();
    sqlx::query(RETURN).execute(writer).await.unwrap();
}

async fn sign_up(browser: &Browser, site: &Site) {
    browser.goto(site, "/dashboard/sign-up").await;
    browser.fill("#username", "clara").await;
    browser.fill("#email", "clara@example.org").await;
    browser.fill("#password", PASSWORD).await;
    browser.wait_for_page(browser.click("form.form button")).await;
}

async fn turn_on_second_factor(browser: &Browser, site: &Site) {
    browser.goto(site, "/dashboard/settings/two-factor").await;
    browser.fill("#current", PASSWORD).await;
    browser.wait_for_page(browser.click("form.form button")).await;
    let account = store::find(&site.app.db, "clara").await.unwrap().unwrap().id;
    let secret = two_factor::find_pending(&site.app.db, &site.app.secret, account).await;
    let code = secret.unwrap().unwrap().code_at(site.app.clock.millis());
    browser.fill("#code", &code).await;
    browser.wait_for_page(browser.click("form.form button")).await;
}

/// An operator approves the claim in another browser.
async fn approve(site: &Site) {
    site.create_operator("operator").await;
    let inspector = Inspector::start().await;
    let browser = &inspector.browser;
    browser.goto(site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.wait_for_page(browser.click("form.form button")).await;
    browser.goto(site, "/dashboard/operator/claims").await;
    inspector.inspect("operator-claims-waiting").await;
    browser
        .wait_for_page(browser.press_on("form[action$='/approve'] button"))
        .await;
    assert!(browser.text(".alert-good").await.contains("Decision saved"));
    inspector.stop().await;
}

async fn give(browser: &Browser, site: &Site) {
    browser.goto(site, "/american-red-cross/give").await;
    browser.enter_amount("#donate", "25").await;
    browser.wait_for_page(browser.press_on("#donate > button")).await;
    browser.fill("#card", "4242 4242 4242 4242").await;
    browser.wait_for_page(browser.press_on("form.form button")).await;
}
