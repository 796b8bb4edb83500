//! Webhook endpoints on the dashboard, from creating one to deleting it.

use super::operator::operator;
use super::visitor::{Visitor, between};
use crate::api::webhooks::{Partner, Received};
use crate::client::Client;
use crate::world::World;
use platform::clock::rfc3339;

on_both_databases!(
    an_owner_creates_tests_fixes_rotates_and_deletes_an_endpoint,
    an_invalid_endpoint_is_refused_with_what_was_typed,
    nobody_sees_or_changes_the_endpoint_of_another_account,
    an_operator_sees_all_endpoints_and_disables_one_with_a_reason,
);

const NEW: &str = "/dashboard/webhooks/new";
const EVENTS: [(&str, &str); 2] = [("ping", "1"), ("donation.succeeded", "1")];

/// A browser at the server of the partner.
fn visitor(partner: &Partner) -> Visitor {
    Visitor::with_client(&Client::new(&partner.app, ""))
}

/// Creates an endpoint, and returns the path of its page and its secret.
async fn create(partner: &Partner, visitor: &Visitor, path: &str) -> (String, String) {
    let url = partner.receiver.url(path);
    let fields = [&[("url", url.as_str()), ("format", "standard")], &EVENTS[..]].concat();
    let page = visitor.post(200, NEW, &fields).await.text();
    (page_of(&page), secret_of(&page))
}

fn page_of(page: &str) -> String {
    let id = between(page, "button-quiet\" href=\"/dashboard/webhooks/", "\"").unwrap();
    format!("/dashboard/webhooks/{id}")
}

fn secret_of(page: &str) -> String {
    between(page, "id=\"secret\" tabindex=\"0\">", "<").unwrap()
}

fn only(mut received: Vec<Received>) -> Received {
    assert_eq!(received.len(), 1);
    received.remove(0)
}

async fn an_owner_creates_tests_fixes_rotates_and_deletes_an_endpoint(world: &World) {
    let partner = Partner::new(world).await;
    let visitor = visitor(&partner);
    visitor.sign_up("grace").await;
    let list = visitor.get(200, "/dashboard/webhooks").await.text();
    assert!(list.contains("No endpoints yet"), "{list}");
    let (page, secret) = create(&partner, &visitor, "/hook").await;
    let shown = visitor.get(200, &page).await.text();
    assert!(shown.contains("Enabled") && !shown.contains(&secret), "{shown}");

    partner.receiver.answer("/hook", "500 <script>");
    visitor.post(303, &format!("{page}/test"), &[]).await;
    partner.deliver().await;
    assert!(only(partner.receiver.take("/hook")).verify(&secret));
    let shown = visitor.get(200, &page).await.text();
    assert!(
        shown.contains(">Waiting</span>") && shown.contains(">500<"),
        "{shown}"
    );
    let none = visitor
        .get(200, &format!("{page}?event=ping&status=delivered"))
        .await
        .text();
    assert!(none.contains("No delivery matches"), "{none}");
    let delivery = between(&shown, &format!("href=\"{page}/deliveries/"), "\"").unwrap();
    let delivery = format!("{page}/deliveries/{delivery}");
    let shown = visitor.get(200, &delivery).await.text();
    for part in [
        "Attempt 1",
        "status 500",
        "webhook-signature: v1,",
        "curl &#39;http://127.0.0.1:",
        "Send now",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("<script>") && !shown.contains(&secret), "{shown}");

    partner.receiver.answer("/hook", "204 No Content");
    visitor.post(303, &format!("{delivery}/retry"), &[]).await;
    partner.deliver().await;
    let first = only(partner.receiver.take("/hook"));
    let shown = visitor.get(200, &delivery).await.text();
    assert!(
        shown.contains("Attempt 2") && shown.contains("Send again"),
        "{shown}"
    );

    let rotated = visitor.post(200, &format!("{page}/rotate"), &[]).await.text();
    let new_secret = secret_of(&rotated);
    assert_ne!(new_secret, secret);
    let since = rfc3339(world.app.clock.millis() - 3_600_000)[..16].to_owned();
    visitor
        .post(422, &format!("{page}/replay"), &[("since", "yesterday")])
        .await;
    visitor
        .post(303, &format!("{page}/replay"), &[("since", &since)])
        .await;
    visitor.post(303, &format!("{page}/test"), &[]).await;
    partner.deliver().await;
    let again = partner.receiver.take("/hook");
    assert!(!again.is_empty());
    for received in &again {
        assert!(received.verify(&secret) && received.verify(&new_secret));
        assert_ne!(received.id(), first.id(), "a test is not replayed");
    }

    visitor.post(303, &format!("{page}/disable"), &[]).await;
    visitor.post(303, &format!("{page}/test"), &[]).await;
    let shown = visitor.get(200, &page).await.text();
    assert!(
        shown.contains("This endpoint is disabled. Enable it first."),
        "{shown}"
    );
    partner.deliver().await;
    assert!(partner.receiver.take("/hook").is_empty());
    visitor.post(303, &format!("{page}/enable"), &[]).await;
    let url = partner.receiver.url("/other");
    let fields = [
        ("url", url.as_str()),
        ("description", "production"),
        ("ping", "1"),
    ];
    visitor.post(303, &format!("{page}/edit"), &fields).await;
    let list = visitor.get(200, "/dashboard/webhooks").await.text();
    assert!(list.contains("/other") && list.contains("production"), "{list}");
    visitor.post(303, &format!("{page}/delete"), &[]).await;
    visitor.get(404, &page).await;
}

async fn an_invalid_endpoint_is_refused_with_what_was_typed(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let fields = [
        ("url", "ftp://example.org/<b>"),
        ("description", "mine"),
        ("format", "standard"),
    ];
    let page = visitor.post(422, NEW, &fields).await.text();
    assert!(
        page.contains("value=\"ftp://example.org/&#60;b&#62;\"") || page.contains("&lt;b&gt;"),
        "{page}"
    );
    assert!(
        page.contains("value=\"mine\"") && page.contains("id=\"events-error\""),
        "{page}"
    );
    visitor.get(404, "/dashboard/webhooks/x").await;
}

async fn nobody_sees_or_changes_the_endpoint_of_another_account(world: &World) {
    let partner = Partner::new(world).await;
    let owner = visitor(&partner);
    owner.sign_up("grace").await;
    let (page, _) = create(&partner, &owner, "/hook").await;
    owner.post(303, &format!("{page}/test"), &[]).await;
    partner.deliver().await;
    let shown = owner.get(200, &page).await.text();
    let delivery = between(&shown, &format!("href=\"{page}/deliveries/"), "\"").unwrap();
    let eve = visitor(&partner);
    eve.sign_up("eve").await;
    for path in [
        "",
        "/edit",
        "/rotate",
        "/delete",
        &format!("/deliveries/{delivery}"),
    ] {
        eve.get(404, &format!("{page}{path}")).await;
    }
    for action in [
        "test",
        "enable",
        "disable",
        "rotate",
        "replay",
        "delete",
        &format!("deliveries/{delivery}/retry"),
    ] {
        eve.post(404, &format!("{page}/{action}"), &[("since", "2026-01-01T00:00")])
            .await;
    }
    assert!(
        eve.get(200, "/dashboard/webhooks")
            .await
            .text()
            .contains("No endpoints yet")
    );
}

async fn an_operator_sees_all_endpoints_and_disables_one_with_a_reason(world: &World) {
    let partner = Partner::new(world).await;
    let owner = visitor(&partner);
    owner.sign_up("grace").await;
    let (page, _) = create(&partner, &owner, "/hook").await;
    owner.post(303, &format!("{page}/test"), &[]).await;
    while partner.app.fan_out_events().await.unwrap() {}
    let operator = operator(world).await;
    let list = operator.get(200, "/dashboard/operator/webhooks").await.text();
    assert!(list.contains("/hook") && list.contains(">grace</a>"), "{list}");
    let disable = page.replace("/dashboard/", "/dashboard/operator/") + "/disable";
    operator.post(422, &disable, &[("reason", " ")]).await;
    operator
        .post(303, &disable, &[("reason", "It floods a stranger.")])
        .await;
    let shown = owner.get(200, &page).await.text();
    assert!(shown.contains("It floods a stranger."), "{shown}");
}
