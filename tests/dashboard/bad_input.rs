//! Invalid input from people and programs.

use super::visitor::{PASSWORD, Visitor, encode};
use crate::world::World;
use axum::http::Method;

on_both_databases!(
    unusual_usernames_are_refused_with_a_clear_message,
    an_invalid_email_and_a_weak_password_are_reported_together,
    forged_cookies_do_not_sign_in,
    a_form_from_another_origin_is_refused,
    a_body_that_is_not_a_form_is_refused,
    sign_in_never_redirects_to_another_site,
    key_names_are_escaped_on_every_page,
);

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn unusual_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "\0",
        "ада",
        "慈善",
        "\u{202e}evil",
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "a'; drop table accounts; --",
        "../../etc/passwd",
        "{{7*7}}",
        "🦊🦊🦊",
        "a\r\nSet-Cookie: x=y",
        "deleted-",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("x".repeat(10_000));
    texts.push("𝕏".repeat(10_000));
    texts
}

async fn unusual_usernames_are_refused_with_a_clear_message(world: &World) {
    let visitor = Visitor::new(world);
    for name in &unusual_texts() {
        let fields = [
            ("username", name.as_str()),
            ("email", "x@example.org"),
            ("password", PASSWORD),
        ];
        let page = visitor.post(422, "/dashboard/sign-up", &fields).await.text();
        assert!(page.contains("Use 2 to 40 lowercase letters"), "{page:.300}");
        assert!(
            page.contains("href=\"#username\"") && page.contains("x@example.org"),
            "the other input is lost"
        );
        assert!(
            !page.contains("<script>alert") && !page.contains("<img"),
            "{name:.50}"
        );
        visitor.sign_in(422, name, PASSWORD).await;
        visitor.post(200, "/dashboard/reset", &[("who", name)]).await;
        world.app.clock.advance(std::time::Duration::from_hours(1));
    }
}

async fn an_invalid_email_and_a_weak_password_are_reported_together(world: &World) {
    let visitor = Visitor::new(world);
    for email in [
        "",
        "ada",
        "@",
        "ada@",
        "@example.org",
        "a b@example.org",
        "ada@exa mple.org",
        "ada@example.org\r\nBcc: x@y.z",
        "<b>@example.org>",
    ] {
        let fields = [("username", "x"), ("email", email), ("password", "short")];
        let page = visitor.post(422, "/dashboard/sign-up", &fields).await.text();
        for field in ["#username", "#email", "#password"] {
            assert!(page.contains(&format!("href=\"{field}\"")), "{field} {email:?}");
        }
    }
    let long = "lantern ".repeat(512);
    for (password, expected) in [
        ("short", "Use at least 10"),
        ("password1234", "harder to guess"),
        ("gracehopper", "your username as"),
        (&long, "Use at most 1024 bytes"),
    ] {
        let fields = [
            ("username", "gracehopper"),
            ("email", "x@example.org"),
            ("password", password),
        ];
        let page = visitor.post(422, "/dashboard/sign-up", &fields).await.text();
        assert!(page.contains(expected), "{password:.30}: {page}");
        assert!(!page.contains("value=\"short") && !page.contains("lantern lantern"));
    }
    let huge = "x".repeat(300_000);
    visitor
        .post(413, "/dashboard/sign-up", &[("username", &huge)])
        .await;
}

async fn forged_cookies_do_not_sign_in(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let good = visitor.cookies.borrow()["causeway_session"].clone();
    let mut forged: Vec<String> = unusual_texts()
        .into_iter()
        .filter(|text| !text.contains(['\0', '\r']))
        .collect();
    forged.extend([
        good[1..].to_owned(),
        good.replace(&good[..1], "-"),
        good.to_lowercase(),
        format!("{good}="),
    ]);
    forged.retain(|text| *text != good && text.len() < 5_000);
    for cookie in forged {
        let header = format!("causeway_session={cookie}");
        let headers = [("cookie", header.as_str())];
        world.client.send(303, &Method::GET, "/dashboard", &headers).await;
    }
    let host = format!("__Host-causeway_session={good}");
    world
        .client
        .send(303, &Method::GET, "/dashboard", &[("cookie", &host)])
        .await;
    for garbage in [
        ";;;=;",
        "causeway_session",
        "causeway_flash=<script>",
        "causeway_flash=welcome; causeway_flash=x",
    ] {
        world
            .client
            .send(303, &Method::GET, "/dashboard", &[("cookie", garbage)])
            .await;
    }
}

async fn a_form_from_another_origin_is_refused(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let body = encode(&[("current", PASSWORD)]);
    for headers in [
        vec![
            FORM,
            ("sec-fetch-site", "cross-site"),
            ("origin", "https://evil.example"),
        ],
        vec![FORM, ("sec-fetch-site", "same-site")],
        vec![
            FORM,
            ("origin", "https://evil.example"),
            ("host", "causeway.test"),
        ],
        vec![FORM, ("origin", "null"), ("host", "causeway.test")],
    ] {
        let page = visitor
            .send(
                403,
                &Method::POST,
                "/dashboard/settings/delete",
                &headers,
                body.clone(),
            )
            .await;
        assert!(page.text().contains("another website"), "{}", page.text());
    }
    visitor.get(200, "/dashboard").await;
    let own = [FORM, ("origin", "http://causeway.test"), ("host", "inner.local")];
    visitor
        .send(303, &Method::POST, "/dashboard/sign-out", &own, String::new())
        .await;
}

async fn a_body_that_is_not_a_form_is_refused(world: &World) {
    let visitor = Visitor::new(world);
    for media_type in [
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
    ] {
        let headers = [("content-type", media_type)];
        visitor
            .send(
                415,
                &Method::POST,
                "/dashboard/sign-in",
                &headers,
                "{}".to_owned(),
            )
            .await;
    }
    visitor
        .send(415, &Method::POST, "/dashboard/sign-in", &[], String::new())
        .await;
    visitor
        .send(
            422,
            &Method::POST,
            "/dashboard/sign-in",
            &[FORM],
            "%FF%FE=%&&==&username=%C3%28".to_owned(),
        )
        .await;
}

async fn sign_in_never_redirects_to_another_site(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    for next in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/dashboard/\r\nx",
        "javascript:alert(1)",
    ] {
        let fields = [("username", "grace"), ("password", PASSWORD), ("next", next)];
        let response = visitor.post(303, "/dashboard/sign-in", &fields).await;
        assert_eq!(response.header("location"), "/dashboard", "{next}");
    }
}

async fn key_names_are_escaped_on_every_page(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    for name in unusual_texts() {
        let once = uuid::Uuid::now_v7().to_string();
        let fields = [("name", name.as_str()), ("kind", "public"), ("once", &once)];
        let status = visitor.post_any("/dashboard/keys/new", &fields).await;
        assert!(matches!(status, 200 | 422), "{name:.50} {status}");
    }
    let page = visitor.get(200, "/dashboard").await.text();
    assert!(page.contains("&#60;script&#62;") && !page.contains("<script>alert") && !page.contains("<img"));
}
