//! An owner creates a webhook endpoint, sees its test fail, fixes the receiver, and rotates, replays and disables, with the
//! keyboard alone.

use crate::inspector::Inspector;
use crate::site::{PASSWORD, Site};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A receiver that answers 500 with markup until it is fixed.
struct Receiver {
    url: String,
    is_fixed: Arc<AtomicBool>,
    received: Arc<AtomicUsize>,
}

impl Receiver {
    async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Receiver {
            url: format!("http://{}/hook", listener.local_addr().unwrap()),
            is_fixed: Arc::default(),
            received: Arc::default(),
        };
        let (is_fixed, received) = (Arc::clone(&receiver.is_fixed), Arc::clone(&receiver.received));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                received.fetch_add(1, Ordering::SeqCst);
                let answer = if is_fixed.load(Ordering::SeqCst) {
                    "204 No Content\r\nConnection: close\r\n\r\n"
                } else {
                    "500 Broken\r\nConnection: close\r\nContent-Length: 24\r\n\r\n<script>alert(1)</script"
                };
                let _ = stream.write_all(format!("HTTP/1.1 {answer}").as_bytes()).await;
            }
        });
        receiver
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_creates_tests_fixes_rotates_replays_and_disables_an_endpoint() {
    let (site, inspector) = (
        Site::start_with_private_webhooks().await,
        Inspector::start().await,
    );
    let (browser, receiver) = (&inspector.browser, Receiver::start().await);
    browser.goto(&site, "/dashboard/sign-up").await;
    browser.fill("#username", "grace").await;
    browser.fill("#email", "grace@example.org").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    browser.click(".part-nav a[href='/dashboard/webhooks']").await;
    inspector.inspect("webhooks-none").await;
    browser.press_on("a.button[href='/dashboard/webhooks/new']").await;
    inspector.inspect("webhook-new").await;
    browser.fill("#url", "ftp://example.org").await;
    browser.wait_for_page(browser.press_on("form.form button")).await;
    inspector.inspect("webhook-refused").await;
    browser.clear("#url").await;
    browser.fill("#url", &receiver.url).await;
    browser.wait_for_page(browser.press_on("form.form button")).await;
    inspector.inspect("webhook-created").await;
    let secret = browser.text("#secret").await;
    assert!(secret.starts_with("whsec_"));

    browser
        .press_on("a[href^='/dashboard/webhooks/']:not([href$='webhooks/new'])")
        .await;
    let page = browser.path().await;
    browser.press_on("form[action$='/test'] button").await;
    assert!(browser.text(".alert-good").await.contains("Test event queued"));
    browser.reload_until_text("tbody td:nth-child(3)", "500").await;
    inspector.inspect("webhook").await;
    browser.press_on("tbody a").await;
    inspector.inspect("webhook-delivery").await;
    let text = browser.text("main").await;
    assert!(
        text.contains("<script>alert(1)</script") && !text.contains(&secret),
        "{text}"
    );

    receiver.is_fixed.store(true, Ordering::SeqCst);
    browser.press_on("form[action$='/retry'] button").await;
    browser.reload_until_text(".head .badge", "Delivered").await;
    assert!(receiver.received.load(Ordering::SeqCst) >= 2);

    browser.goto(&site, &page).await;
    browser.press_on("a[href$='/rotate']").await;
    browser.wait_for_page(browser.press_on("form.form button")).await;
    assert_ne!(browser.text("#secret").await, secret);
    browser.goto(&site, &page).await;
    browser
        .run("document.querySelector('#since').value = '2026-01-01T00:00'; return true;")
        .await;
    browser.press_on("form[action$='/replay'] button").await;
    browser.goto(&site, &page).await;
    browser.press_on("form[action$='/disable'] button").await;
    assert!(browser.text(".alert-bad").await.contains("Nothing is sent"));
    inspector.inspect("webhook-disabled").await;
    browser.press_on("form[action$='/enable'] button").await;
    browser.goto(&site, "/dashboard/webhooks").await;
    inspector.inspect("webhooks").await;
    for action in ["edit", "rotate", "delete"] {
        browser.goto(&site, &format!("{page}/{action}")).await;
        inspector.inspect(&format!("webhook-{action}")).await;
    }
    inspector.stop().await;
}
