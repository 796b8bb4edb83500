//! Text that wants to run: a payload a line in `payloads.txt`, put into every field that stores text, and every page
//! that shows it opened. Nothing runs, nothing has to be stopped by the policy, and no page holds an element that is not
//! ours.

mod detector;
mod fields;

use crate::browser::Browser;
use crate::site::{PASSWORD, Site};
use causeway::web::guard::POLICY;
use detector::Detector;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

fn payloads() -> Vec<&'static str> {
    include_str!("payloads.txt").lines().collect()
}

/// All payloads, as many in a text as fit into this many characters.
fn texts(most: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    for payload in payloads() {
        let last = texts.last_mut().unwrap();
        match last.chars().count() + payload.chars().count() < most {
            true => last.extend([payload, " "]),
            false => texts.push(format!("{payload} ")),
        }
    }
    texts.iter().map(|text| text.trim().to_owned()).collect()
}

/// Stored text alone is no proof: where it is written as it is, the detector must tell.
#[tokio::test(flavor = "multi_thread")]
async fn the_detector_tells_when_text_is_not_escaped() {
    assert!(payloads().len() >= 100);
    let detector = Detector::new(Browser::start().await).await;
    for policy in ["", POLICY] {
        let site = unsafe_site(policy).await;
        for told in [
            "<script>hurt()</script>",
            "<img src=x onerror=hurt()>",
            "\" onfocus=hurt() autofocus x=\"",
        ] {
            detector.visit(&site, &page_of(told)).await;
            let faults = detector.take().await;
            let is_told = faults.iter().any(|fault| {
                fault.contains(if policy.is_empty() {
                    "a script ran"
                } else {
                    "script-src"
                })
            });
            assert!(is_told, "{told}: {faults:?}");
        }
    }
    let (site, mut missed) = (unsafe_site(POLICY).await, Vec::new());
    for payload in payloads() {
        detector.visit(&site, &page_of(payload)).await;
        if detector.take().await.is_empty() {
            missed.push(payload);
        }
    }
    // What is harmless in HTML is aimed at other places: addresses, scripts, templates, text that is decoded twice.
    assert!(missed.len() < 30, "{missed:#?}");
    detector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_import_stores_hurts_nobody() {
    let site = Site::start().await;
    let detector = Detector::new(Browser::start().await).await;
    // The shortest field, a country, takes 60 characters.
    let told = texts(60);
    let eins = fields::import(&site, &told).await;
    for (ein, text) in eins.iter().zip(&told) {
        detector.visit(&site.url, &format!("/{ein}")).await;
        detector.shows(text).await;
    }
    for page in 1..=(2 * eins.len()).div_ceil(20) {
        detector
            .visit(&site.url, &format!("/causes/autism?page={page}"))
            .await;
    }
    for path in [
        "/",
        "/search?q=hurt",
        "/search?q=script",
        "/causes",
        "/sitemap.xml",
        "/sitemaps/0.xml",
        "/search.json?q=hurt",
    ] {
        detector.visit(&site.url, path).await;
    }
    detector.types(&site.url, "hurt").await;
    detector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_searched_for_or_asked_of_a_link_hurts_nobody() {
    let site = Site::start().await;
    let detector = Detector::new(Browser::start().await).await;
    let names = [
        "amount",
        "suggestedAmounts",
        "min_value",
        "frequency",
        "email",
        "first_name",
        "last_name",
        "description",
        "success_url",
        "exit_url",
        "partner_donation_id",
        "partner_metadata",
        "designation",
    ];
    for told in texts(255) {
        let text = utf8_percent_encode(&told, NON_ALPHANUMERIC);
        detector
            .visit(
                &site.url,
                &format!("/search?q={text}&cause={text}&state={text}&page={text}"),
            )
            .await;
        detector.shows(&told).await;
        let query: Vec<String> = names.iter().map(|name| format!("{name}={text}")).collect();
        detector
            .visit(
                &site.url,
                &format!("/american-red-cross/give?{}", query.join("&")),
            )
            .await;
        detector.shows(&told).await;
        for kind in ["button", "search"] {
            let asked = format!("kind={kind}&nonprofit={text}&key={text}&amounts={text}&scheme={text}");
            detector
                .visit(&site.url, &format!("/developers/embed?{asked}"))
                .await;
        }
    }
    detector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fundraisers_and_givers_write_hurts_nobody() {
    let site = Site::start().await;
    let detector = Detector::new(Browser::start().await).await;
    for (text, pages) in fields::fundraisers(&site, texts(100)).await {
        for page in pages {
            detector.visit(&site.url, &page).await;
            detector.shows(&text).await;
        }
    }
    for path in ["", "/fundraisers.xml"] {
        detector
            .visit(&site.url, &format!("/american-red-cross{path}"))
            .await;
    }
    detector.visit(&site.url, "/feeds/fundraisers.xml").await;
    detector.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_dashboard_stores_hurts_nobody() {
    let site = Site::start().await;
    let detector = Detector::new(Browser::start().await).await;
    let account = site.make_operator("operator").await;
    let told = texts(60);
    let key = fields::keys(&site, account, &told).await;
    let addresses = fields::accounts(&site, &told).await;
    fields::import(&site, &told).await;
    let browser = &detector.browser;
    let agent = json!({"userAgent": payloads().concat()});
    browser.emulate("Network.setUserAgentOverride", agent).await;
    for text in texts(500) {
        let script = "const [[user, password]] = arguments; document.querySelector('#username').value = user;
            document.querySelector('#password').value = password; document.querySelector('form.form').submit();";
        detector.visit(&site.url, "/dashboard/sign-in").await;
        browser
            .driver
            .execute(script, vec![json!([text, text])])
            .await
            .unwrap();
        detector.look("/dashboard/sign-in, refused").await;
    }
    browser.goto(&site, "/dashboard/sign-in").await;
    browser.fill("#username", "operator").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form.form button").await;
    for path in [
        "",
        "/fundraisers",
        "/usage",
        "/first-steps",
        "/settings",
        "/operator",
        "/operator/keys",
        "/operator/imports",
        "/operator/errors",
        "/operator/audit",
    ] {
        detector.visit(&site.url, &format!("/dashboard{path}")).await;
        if path.is_empty() {
            for text in &told {
                detector.shows(text).await;
            }
        }
    }
    for (list, next, shown) in [
        ("", "[rel=next]", &addresses),
        ("/keys", "[rel=next]", &told),
        ("/audit", "main [href*='before=']", &told),
    ] {
        let list = format!("/dashboard/operator{list}");
        detector.turns_to_all(&site.url, &list, next, shown).await;
    }
    for path in ["/keys/", "/operator/keys/"] {
        detector.visit(&site.url, &format!("/dashboard{path}{key}")).await;
    }
    detector.stop().await;
}

/// A server that writes what it is told as it is, under a policy.
async fn unsafe_site(policy: &'static str) -> String {
    use axum::extract::Query;
    use axum::http::header::CONTENT_SECURITY_POLICY;
    use axum::response::Html;
    use std::collections::HashMap;
    let page = async move |Query(asked): Query<HashMap<String, String>>| {
        let told = &asked["told"];
        let html = format!(
            "<!doctype html><title>x</title><p>{told}</p><p><a href=\"{told}\" title='{told}'>x</a>\
             <script type=\"application/ld+json\">{{\"name\":\"{told}\"}}</script>"
        );
        let headers = (!policy.is_empty()).then_some([(CONTENT_SECURITY_POLICY, policy)]);
        (headers, Html(html))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = axum::Router::new().route("/", axum::routing::get(page));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}")
}

fn page_of(told: &str) -> String {
    format!("/?told={}", utf8_percent_encode(told, NON_ALPHANUMERIC))
}
