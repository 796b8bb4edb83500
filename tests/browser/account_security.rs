//! The owner of an account turns on two-factor sign-in, signs in with a code and with a recovery code, and changes the
//! email address.

use crate::browser::Browser;
use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use access::accounts::store;
use access::accounts::two_factor::{TotpSecret, store as two_factor};

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_signs_in_with_a_second_factor_and_with_a_recovery_code() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    let browser = &inspector.browser;
    sign_up(browser, &site).await;
    browser.goto(&site, "/dashboard/settings").await;
    browser.click("a[href='/dashboard/settings/two-factor']").await;
    browser.fill("#current", PASSWORD).await;
    browser.click("form.form button").await;
    browser
        .wait_for(
            "return location.pathname;",
            "/dashboard/settings/two-factor/setup",
        )
        .await;
    inspector.inspect("two-factor-setup").await;
    let account = store::find(&site.app.db, "grace").await.unwrap().unwrap().id;
    let secret = two_factor::find_pending(&site.app.db, &site.app.secret, account).await;
    let secret = secret.unwrap().unwrap();
    let shown = browser.text("#secret").await;
    assert_eq!(shown.replace(' ', ""), secret.to_base32());
    browser.fill("#code", "12").await;
    browser.click("form.form button").await;
    assert!(
        browser
            .text("#form-errors")
            .await
            .contains("That code is incorrect")
    );
    browser.fill("#code", &code(&site, &secret, 0)).await;
    browser.click("form.form button").await;
    assert!(browser.text("h1").await.contains("Recovery codes"));
    inspector.inspect("recovery-codes").await;
    let script = "return [...document.querySelectorAll('#codes code')].map((code) => code.textContent);";
    let codes: Vec<String> = serde_json::from_value(browser.run(script).await).unwrap();
    assert_eq!(codes.len(), 10);

    enter_password(browser, &site).await;
    inspector.inspect("sign-in-code").await;
    browser.fill("#code", "000000").await;
    browser.click("form.form button").await;
    assert!(
        browser
            .text("#form-errors")
            .await
            .contains("incorrect or has already been used")
    );
    // The code of the next half minute, because the current one is used.
    browser.fill("#code", &code(&site, &secret, 30_000)).await;
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("signed in"));

    enter_password(browser, &site).await;
    browser.fill("#code", &codes[0]).await;
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("signed in"));
    browser.goto(&site, "/dashboard/settings/two-factor").await;
    assert_eq!(browser.text("#codes-left").await, "9");
    inspector.inspect("two-factor-on").await;
    enter_password(browser, &site).await;
    browser.fill("#code", &codes[0]).await;
    browser.click("form.form button").await;
    assert!(
        browser
            .text("#form-errors")
            .await
            .contains("incorrect or has already been used")
    );
    inspector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_changes_the_email_address() {
    let (site, inspector) = (Site::start().await, Inspector::start().await);
    let browser = &inspector.browser;
    sign_up(browser, &site).await;
    browser.goto(&site, "/dashboard/settings").await;
    browser.fill("#email", "grace@new.example").await;
    browser.fill("#email-password", PASSWORD).await;
    browser.click("form[action$='/email'] button").await;
    assert!(browser.text("main").await.contains("grace@new.example"));
    let email = site.email().await.replace("=\r\n", "").replace("=3D", "=");
    let link = email.split("/dashboard/settings/email/confirm").nth(1);
    let link = link.and_then(|rest| rest.split_whitespace().next());
    let link = format!("/dashboard/settings/email/confirm{}", link.expect("a link"));
    browser.goto(&site, &link).await;
    inspector.inspect("email-change").await;
    browser.click("form.form button").await;
    assert!(
        browser
            .text(".alert-good")
            .await
            .contains("Email address changed")
    );
    assert!(browser.text("main dl").await.contains("grace@new.example"));
    // Times are shown in the time zone of the visitor, and the tooltip names UTC.
    let title = browser.run("return document.querySelector('time').title;").await;
    assert!(title.as_str().unwrap().ends_with("UTC)"), "{title}");
    inspector.stop().await;
}

async fn sign_up(browser: &Browser, site: &Site) {
    browser.goto(site, "/dashboard/sign-up").await;
    browser.fill("#username", "grace").await;
    browser.fill("#email", "grace@example.org").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("Welcome"));
}

/// Signs out, and takes the first step of signing in.
async fn enter_password(browser: &Browser, site: &Site) {
    browser.goto(site, "/dashboard/sign-out").await;
    browser.click("form.form button").await;
    browser.goto(site, "/dashboard/sign-in").await;
    browser.fill("#username", "grace").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    browser
        .wait_for("return location.pathname;", "/dashboard/sign-in/code")
        .await;
}

fn code(site: &Site, secret: &TotpSecret, later: i64) -> String {
    secret.code_at(site.app.clock.millis() + later)
}
