//! Password reset by email, and sign-up limited to email domains.

use super::visitor::{PASSWORD, Visitor, emails, hidden, link};
use crate::client::Client;
use crate::world::World;
use causeway::app::App;
use std::time::Duration;

on_both_databases!(
    a_forgotten_password_is_reset_by_email_once,
    a_reset_link_expires_after_an_hour,
    an_account_created_by_the_command_sets_its_password_by_email,
    reset_emails_are_limited_per_account,
    an_email_is_confirmed_first_when_sign_up_is_limited_to_domains,
    confirmation_emails_are_limited_per_account,
);

async fn a_forgotten_password_is_reset_by_email_once(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let stranger = Visitor::new(world);
    let known = stranger
        .post(200, "/dashboard/reset", &[("who", "Grace")])
        .await
        .text();
    let unknown = stranger
        .post(200, "/dashboard/reset", &[("who", "nobody@example.org")])
        .await
        .text();
    assert_eq!(known, unknown, "the response does not reveal who has an account");
    let email = emails(world, 1).await.remove(0);
    assert!(
        email.contains("To: grace@example.org") && email.contains("Hello grace"),
        "{email}"
    );
    let link = link(&email);
    let form = stranger.get(200, &link).await.text();
    let token = hidden(&form, "token");
    stranger
        .post(
            422,
            "/dashboard/reset/set",
            &[("token", &token), ("password", "short")],
        )
        .await;
    stranger
        .post(
            303,
            "/dashboard/reset/set",
            &[("token", &token), ("password", "meadow cloud teapot")],
        )
        .await;
    stranger.get(200, "/dashboard").await;
    visitor.get(303, "/dashboard").await;
    stranger.get(410, &link).await;
    stranger
        .post(
            410,
            "/dashboard/reset/set",
            &[("token", &token), ("password", "meadow cloud teapots")],
        )
        .await;
    visitor.sign_in(422, "grace", PASSWORD).await;
    visitor.sign_in(303, "grace", "meadow cloud teapot").await;
}

async fn a_reset_link_expires_after_an_hour(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor
        .post(200, "/dashboard/reset", &[("who", "grace@EXAMPLE.org")])
        .await;
    let link = link(&emails(world, 1).await.remove(0));
    visitor.get(200, &link).await;
    world.app.clock.advance(Duration::from_secs(3601));
    visitor.get(410, &link).await;
    for bad in ["", "x", "%00", &"a".repeat(43), &"a".repeat(10_000)] {
        visitor
            .get(410, &format!("/dashboard/reset/set?token={bad}"))
            .await;
    }
}

async fn an_account_created_by_the_command_sets_its_password_by_email(world: &World) {
    world
        .execute("update accounts set email = 'ada@example.org' where username = 'ada'")
        .await;
    let visitor = Visitor::new(world);
    visitor.post(200, "/dashboard/reset", &[("who", "ada")]).await;
    let form = visitor
        .get(200, &link(&emails(world, 1).await.remove(0)))
        .await
        .text();
    let fields = [
        ("token", hidden(&form, "token")),
        ("password", PASSWORD.to_owned()),
    ];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    visitor.post(303, "/dashboard/reset/set", &fields).await;
    assert!(
        visitor.get(200, "/dashboard").await.text().contains("test"),
        "the key of the account"
    );
}

async fn reset_emails_are_limited_per_account(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    for _ in 0..6 {
        visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    }
    assert_no_more_emails(world, 3).await;
}

async fn an_email_is_confirmed_first_when_sign_up_is_limited_to_domains(world: &World) {
    let mut config = world.app.config.clone();
    config.accounts.mail_domains = vec!["example.org".to_owned()];
    let visitor = Visitor::with_client(&Client::new(&App::build(config).await.unwrap(), ""));
    let foreign = [
        ("username", "grace"),
        ("email", "grace@elsewhere.net"),
        ("password", PASSWORD),
    ];
    assert!(
        visitor
            .post(422, "/dashboard/sign-up", &foreign)
            .await
            .text()
            .contains("Use an email address at example.org")
    );
    let fields = [
        ("username", "grace"),
        ("email", "grace@example.org"),
        ("password", PASSWORD),
    ];
    assert!(
        visitor
            .post(200, "/dashboard/sign-up", &fields)
            .await
            .text()
            .contains("Check your email")
    );
    visitor.get(303, "/dashboard").await;
    assert!(
        visitor
            .sign_in(200, "grace", PASSWORD)
            .await
            .text()
            .contains("Check your email")
    );
    visitor.get(303, "/dashboard").await;
    let form = visitor
        .get(200, &link(&emails(world, 1).await.remove(0)))
        .await
        .text();
    visitor
        .post(303, "/dashboard/confirm", &[("token", &hidden(&form, "token"))])
        .await;
    visitor.sign_in(303, "grace", PASSWORD).await;
    visitor.get(200, "/dashboard").await;
}

async fn confirmation_emails_are_limited_per_account(world: &World) {
    let mut config = world.app.config.clone();
    config.accounts.mail_domains = vec!["example.org".to_owned()];
    let visitor = Visitor::with_client(&Client::new(&App::build(config).await.unwrap(), ""));
    let fields = [
        ("username", "grace"),
        ("email", "grace@example.org"),
        ("password", PASSWORD),
    ];
    // The second one is a double click.
    for _ in 0..2 {
        assert!(
            visitor
                .post(200, "/dashboard/sign-up", &fields)
                .await
                .text()
                .contains("Check your email")
        );
    }
    for _ in 0..4 {
        visitor.sign_in(200, "grace", PASSWORD).await;
    }
    assert_no_more_emails(world, 3).await;
}

/// Asserts that no emails follow the first `count`. The pause gives one more email time to be sent.
async fn assert_no_more_emails(world: &World, count: usize) {
    emails(world, count).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(emails(world, count).await.len(), count);
}
