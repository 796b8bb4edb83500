//! A developer creates keys, uses them, sees their usage, rotates and revokes them.

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};

#[tokio::test(flavor = "multi_thread")]
async fn a_developer_creates_uses_rotates_and_revokes_keys() {
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

    let public = create_key(&browser, "website", "public").await;
    let private = create_key(&browser, "server", "private").await;
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
    // Usage is saved about once per second, so the last calls may be counted later than the first ones.
    browser.goto(&site, "/dashboard/usage").await;
    browser.reload_until_text("#served", "5").await;
    browser.reload_until_text("#failed", "1").await;

    // Only both keys together give access to the account.
    let fundraisers = "/v0.2/fundraisers";
    for _ in 0..2 {
        assert_eq!(browser.call_with_keys(fundraisers, &public, &private).await, 200);
    }
    for (name, password) in [(&private, &public), (&public, &public), (&private, &private)] {
        assert_eq!(browser.call_with_keys(fundraisers, name, password).await, 401);
    }
    browser.goto(&site, "/dashboard/usage").await;
    browser.reload_until_text("#served", "7").await;

    // A private key in a URL is refused, and its owner is warned on the page and by email.
    assert_eq!(browser.call(&search(&private)).await, 401);
    browser.goto(&site, "/dashboard").await;
    let warning = "return document.querySelector('.alert-bad')?.textContent.includes('exposed') ?? false;";
    browser.reload_until(warning, true).await;
    let email = site.email().await;
    assert!(email.contains("grace@example.org") && !email.contains(&private));

    browser.click("main li:has([data-copy]) h2 a").await;
    browser.click("a[href$='/rotate']").await;
    browser.click("input[value='1h']").await;
    browser.click("form.form button").await;
    let rotated = browser.text("#key").await;
    assert_ne!(rotated, public);
    for key in [&public, &rotated] {
        assert_eq!(browser.call(&search(key)).await, 200);
    }
    browser.click(".actions a[href^='/dashboard/keys/']").await;
    browser.click("a[href$='/revoke']").await;
    browser.click("form.form button").await;
    assert!(browser.text(".alert-good").await.contains("revoked"));
    browser.wait_for_status(&search(&rotated), 401).await;
    assert_eq!(browser.call_with_keys(fundraisers, &rotated, &private).await, 401);
    assert_eq!(
        browser.call_with_keys(fundraisers, &public, &private).await,
        200,
        "the old key still works"
    );

    let page = browser.driver.source().await.unwrap();
    assert!(page.contains(&public) && !page.contains(&private));
    browser.stop().await;
}

async fn create_key(browser: &Browser, name: &str, kind: &str) -> String {
    browser.click(".part-nav a[href='/dashboard']").await;
    browser.click("a[href='/dashboard/keys/new']").await;
    browser.fill("#name", name).await;
    browser.click(&format!("input[value='{kind}']")).await;
    browser.click("form.form button").await;
    let key = browser.text("#key").await;
    // The download contains the key that is shown.
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
