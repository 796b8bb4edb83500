//! Embedded scripts on a page of another origin, under a strict Content-Security-Policy.

use crate::browser::Browser;
use crate::site::Site;
use access::accounts::Username;
use access::accounts::store as accounts;
use access::origins::{Origin, store as origins};
use directory::nonprofits::ein::Ein;
use serde_json::json;
use thirtyfour::Key;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The first element of a selector in the shadow root of a script.
const SHADOW: &str = "const shadow = (selector) => [...document.querySelectorAll('div')]
    .map((host) => host.shadowRoot?.querySelector(selector)).find(Boolean);";

/// Serves a page at an origin of its own and returns the origin. Its policy allows nothing but the site.
async fn serve_partner(site: &Site, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    // The site is at 127.0.0.1, so that this is another origin and another site.
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let url = &site.url;
    let policy =
        format!("default-src 'none'; script-src {url}; connect-src {url}; img-src {url}; frame-src {url}");
    let html = format!(
        "<!doctype html><html lang=\"en\"><title>Partner</title><main><h1>Partner</h1>{body}</main></html>"
    );
    let response = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Security-Policy: {policy}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{html}",
        html.len()
    );
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let response = response.clone();
            tokio::spawn(async move {
                let mut request = [0; 4_096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(response.as_bytes()).await;
            });
        }
    });
    origin
}

async fn register(site: &Site, origin: &str) {
    let (db, now) = (&site.app.db, site.app.clock.millis());
    let username = Username::parse("partner").unwrap();
    let account = accounts::insert_without_password(db, &username, None, false, now).await;
    let origin = Origin::parse(origin).unwrap();
    origins::insert(db, account.unwrap().unwrap(), &origin, now)
        .await
        .unwrap();
}

fn button(site: &Site) -> String {
    let url = &site.url;
    format!(
        "<a href=\"{url}/american-red-cross\" data-causeway-button data-dialog>Give to American Red Cross</a><script src=\"{url}/embed/button.js\" async></script>"
    )
}

async fn shadow(browser: &Browser, script: &str) -> serde_json::Value {
    browser.run(&format!("{SHADOW} {script}")).await
}

async fn wait_for_shadow(browser: &Browser, script: &str, expected: impl Into<serde_json::Value>) {
    browser.wait_for(&format!("{SHADOW} {script}"), expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_donation_is_made_in_a_dialog_on_a_page_of_another_origin() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let partner = serve_partner(&site, &button(&site)).await;
    register(&site, &partner).await;
    browser.driver.goto(&partner).await.unwrap();
    let is_ready = "return Boolean(document.querySelector('div[data-dialog=ready]'));";
    browser.wait_for(is_ready, true).await;
    // By keyboard: the second amount.
    shadow(&browser, "shadow('li:nth-child(2) a').focus();").await;
    browser.key(Key::Enter).await;
    wait_for_shadow(&browser, "return Boolean(shadow('dialog[open]'));", true).await;
    let label = shadow(&browser, "return shadow('dialog').getAttribute('aria-label');").await;
    assert_eq!(label, "Give to American Red Cross");
    let frame = browser
        .driver
        .execute(format!("{SHADOW} return shadow('dialog iframe');"), vec![])
        .await
        .unwrap();
    frame.element().unwrap().enter_frame().await.unwrap();
    let selected = "return document.querySelector('input[name=amount]:checked')?.value ?? null;";
    browser.wait_for(selected, "25").await;
    let header = "return getComputedStyle(document.querySelector('.site-header')).display;";
    assert_eq!(browser.run(header).await, "none");
    browser.click("form.form button").await;
    browser.fill("#card", "4242424242424242").await;
    browser.click("form.form button").await;
    let title = "return document.querySelector('h1')?.textContent ?? null;";
    browser.wait_for(title, "Thank you for your donation").await;
    browser.driver.enter_default_frame().await.unwrap();
    assert_eq!(browser.run("return location.origin;").await, partner);
    // The dialog is closed by its button, and the focus returns to the amount.
    shadow(&browser, "shadow('dialog button').click();").await;
    wait_for_shadow(&browser, "return Boolean(shadow('dialog'));", false).await;
    let focused = "return document.activeElement.shadowRoot?.activeElement?.textContent ?? null;";
    browser.wait_for(focused, "$25").await;
    // A script of the page opens the form at an amount, and learns when it is closed.
    let open =
        "document.addEventListener('causeway-close', (event) => { window.closedForm = event.detail.url; });
        causeway.setOptions({ partner_donation_id: 'order-17' });
        causeway.open('american-red-cross', { amount: 44 });";
    browser.run(open).await;
    wait_for_shadow(&browser, "return Boolean(shadow('dialog[open]'));", true).await;
    shadow(&browser, "shadow('dialog button').click();").await;
    let url = "return window.closedForm?.split('&embed=')[0] ?? null;";
    let form = format!(
        "{}/american-red-cross/give?partner_donation_id=order-17&amount=44",
        site.url
    );
    browser.wait_for(url, form).await;
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_proven_origin_the_button_opens_the_page() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let partner = serve_partner(&site, &button(&site)).await;
    browser.driver.goto(&partner).await.unwrap();
    wait_for_shadow(&browser, "return shadow('a')?.textContent ?? null;", "$10").await;
    browser
        .wait_for_page(async { drop(shadow(&browser, "shadow('a').click();").await) })
        .await;
    let url = browser.run("return location.href;").await;
    assert_eq!(url, format!("{}/american-red-cross/give?amount=10", site.url));
    // Links of the hosted service name the form in the fragment.
    let here = "return location.pathname + location.search;";
    browser.goto(&site, "/american-red-cross#/donate/card").await;
    browser
        .wait_for(here, "/american-red-cross/give?method=card")
        .await;
    browser
        .goto(&site, "/american-red-cross?x=1#donate?amount=44")
        .await;
    browser
        .wait_for(here, "/american-red-cross/give?x=1&amount=44")
        .await;
    let chosen = "return document.querySelector('input[name=other_amount]')?.value ?? null;";
    browser.wait_for(chosen, "44").await;
    browser.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thermometer_appears_on_a_page_of_another_origin() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let keys = site.create_keys().await;
    let nonprofit = Ein::parse("530196605").unwrap().nonprofit_id().to_string();
    let body = json!({"nonprofitId": nonprofit, "title": "A run along the river", "goal": 100_000, "raisedOffline": 40_000});
    let fundraiser = site.create_fundraiser(&keys, &body).await;
    let (url, slug) = (&site.url, fundraiser["slug"].as_str().unwrap());
    let link = format!(
        "<a href=\"{url}/american-red-cross/f/{slug}\" data-causeway-thermometer data-scheme=\"dark\">A run</a><script src=\"{url}/embed/thermometer.js\" async></script>"
    );
    let partner = serve_partner(&site, &link).await;
    browser.driver.goto(&partner).await.unwrap();
    wait_for_shadow(
        &browser,
        "return shadow('.raised')?.textContent ?? null;",
        "$0.00 of $1,000.00",
    )
    .await;
    let width = shadow(&browser, "return shadow('.fill').getAttribute('width');").await;
    assert_eq!(width, "0");
    let give = shadow(&browser, "return shadow('.give').href;").await;
    assert_eq!(give, format!("{url}/american-red-cross/f/{slug}/give"));
    browser.stop().await;
}
