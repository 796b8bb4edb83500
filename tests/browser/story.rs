//! A developer gets a key, uses it, sees it used, exchanges it, and ends it.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_developer_gets_keys_uses_them_and_sees_what_became_of_them() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.goto(&site, "/dashboard").await;
    browser.click("a[href='/dashboard/sign-up']").await;
    browser.fill("#username", "grace").await;
    browser.fill("#email", "grace@example.org").await;
    browser.fill("#password", "short").await;
    browser.click("form.form button").await;
    assert!(
        browser
            .text("#form-errors")
            .await
            .contains("at least 10 characters")
    );
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("Welcome"));

    let public = make_key(&browser, "website", "public").await;
    let private = make_key(&browser, "server", "private").await;
    assert!(public.starts_with("cwpk_") && private.starts_with("cwsk_"));

    let search = |key: &str| format!("/v0.2/search/red%20cross?apiKey={key}");
    for _ in 0..5 {
        assert_eq!(browser.call(&search(&public)).await, 200);
    }
    assert_eq!(
        browser
            .call(&format!("/v0.2/nonprofit/nobody-at-all?apiKey={public}"))
            .await,
        404
    );
    // The script that asked for these stands nowhere; the chart tells.
    browser.goto(&site, "/dashboard/usage").await;
    wait_until(&browser, "#served", "5").await;
    assert_eq!(browser.text("#failed").await, "1");

    // Both keys together may do what only the account may; every other pair may not.
    let own = "/v0.2/fundraisers";
    for _ in 0..2 {
        assert_eq!(browser.call_with(own, &public, &private).await, 200);
    }
    for (name, password) in [(&private, &public), (&public, &public), (&private, &private)] {
        assert_eq!(browser.call_with(own, name, password).await, 401);
    }
    browser.goto(&site, "/dashboard/usage").await;
    wait_until(&browser, "#served", "7").await;

    // A private key in an address is refused, and its owner is told on the page and by mail.
    assert_eq!(browser.call(&search(&private)).await, 401);
    browser.goto(&site, "/dashboard").await;
    assert!(browser.text(".alert-bad").await.contains("exposed"));
    let mail = site.mail().await;
    assert!(mail.contains("grace@example.org") && !mail.contains(&private));

    browser.click("main li:has(code) h2 a").await;
    browser.click("a[href$='/roll']").await;
    browser.click("input[value='1h']").await;
    browser.click("form.form button").await;
    let rolled = browser.text("#key").await;
    assert_ne!(rolled, public);
    for key in [&public, &rolled] {
        assert_eq!(browser.call(&search(key)).await, 200);
    }
    browser.click(".actions a[href^='/dashboard/keys/']").await;
    browser.click("a[href$='/revoke']").await;
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("revoked"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(browser.call(&search(&rolled)).await, 401);
    assert_eq!(browser.call_with(own, &rolled, &private).await, 401);
    assert_eq!(
        browser.call_with(own, &public, &private).await,
        200,
        "the old one ends later"
    );

    let page = browser.driver.source().await.unwrap();
    assert!(page.contains(&public) && !page.contains(&private));
    browser.stop().await;
}

async fn make_key(browser: &Browser, name: &str, kind: &str) -> String {
    browser.click(".part-nav a[href='/dashboard']").await;
    browser.click("a[href='/dashboard/keys/new']").await;
    browser.fill("#name", name).await;
    browser.click(&format!("input[value='{kind}']")).await;
    browser.click("form.form button").await;
    let key = browser.text("#key").await;
    // What can be downloaded is what is shown.
    let file = browser
        .find("a[download]")
        .await
        .attr("href")
        .await
        .unwrap()
        .unwrap();
    assert!(file.ends_with(&key), "{file}");
    key
}

/// Usage is added up about once a second.
pub async fn wait_until(browser: &Browser, css: &str, text: &str) {
    for _ in 0..50 {
        let found = browser
            .run(&format!("return document.querySelector({css:?})?.textContent;"))
            .await;
        if found == text {
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        browser.driver.refresh().await.unwrap();
    }
    panic!("{css} did not become {text}");
}
