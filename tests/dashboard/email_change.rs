//! Changing the email address of an account.

use super::visitor::{PASSWORD, Visitor, emails, hidden, link};
use crate::client::Client;
use crate::world::World;
use causeway::app::App;
use platform::mail::Delivery;
use std::time::Duration;

on_both_databases!(
    a_new_email_address_is_confirmed_by_a_link,
    an_unconfirmed_change_expires_and_changes_nothing,
    an_invalid_new_email_address_is_refused,
    a_server_without_email_changes_the_address_at_once,
);

const PATH: &str = "/dashboard/settings/email";
const NEW: &str = "grace@new.example";

fn fields(email: &str) -> [(&str, &str); 2] {
    [("email", email), ("email-password", PASSWORD)]
}

async fn stored(world: &World) -> Vec<String> {
    world
        .texts("select email from accounts where username = 'grace'")
        .await
}

async fn a_new_email_address_is_confirmed_by_a_link(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    let reset = link(&emails(world, 1).await.remove(0));
    let page = visitor
        .post(200, PATH, &fields(" Grace@NEW.example"))
        .await
        .text();
    assert!(page.contains(NEW), "{page}");
    assert_eq!(
        stored(world).await,
        ["grace@example.org"],
        "until it is confirmed"
    );
    let sent = emails(world, 2).await;
    let email = sent
        .iter()
        .find(|email| email.contains(&format!("To: {NEW}")))
        .unwrap();
    // A program that opens the link changes nothing.
    let stranger = Visitor::new(world);
    let link = link(email);
    let form = stranger.get(200, &link).await.text();
    assert!(form.contains(NEW) && form.contains("grace"), "{form}");
    assert_eq!(stored(world).await, ["grace@example.org"]);
    let token = hidden(&form, "token");
    // A token for another purpose does not change it.
    stranger
        .post(410, "/dashboard/confirm", &[("token", &token)])
        .await;
    let confirm = format!("{PATH}/confirm");
    stranger.post(303, &confirm, &[("token", &token)]).await;
    assert_eq!(stored(world).await, [NEW]);
    let notice = emails(world, 3).await;
    let notice = notice.iter().find(|email| email.contains("was changed")).unwrap();
    assert!(
        notice.contains("To: grace@example.org") && !notice.contains(NEW),
        "{notice}"
    );
    assert!(visitor.get(200, "/dashboard/settings").await.text().contains(NEW));
    // Neither link works again, also not the one that was sent to the old address.
    stranger.get(410, &link).await;
    stranger.post(410, &confirm, &[("token", &token)]).await;
    stranger.get(410, &reset).await;
}

async fn an_unconfirmed_change_expires_and_changes_nothing(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor.post(200, PATH, &fields(NEW)).await;
    let link = link(&emails(world, 1).await.remove(0));
    let form = visitor.get(200, &link).await.text();
    let token = hidden(&form, "token");
    world.app.clock.advance(Duration::from_secs(24 * 3600 + 1));
    visitor.get(410, &link).await;
    let confirm = format!("{PATH}/confirm");
    visitor.post(410, &confirm, &[("token", &token)]).await;
    for bad in ["", "x", &"a".repeat(43)] {
        visitor.post(410, &confirm, &[("token", bad)]).await;
    }
    assert_eq!(stored(world).await, ["grace@example.org"]);
}

async fn an_invalid_new_email_address_is_refused(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    for email in ["", "grace", "a@b@c", "grace@EXAMPLE.org"] {
        let page = visitor.post(422, PATH, &fields(email)).await.text();
        assert!(page.contains("href=\"#email\""), "{email}: {page}");
    }
    let wrong = [("email", NEW), ("email-password", "wrong password")];
    let page = visitor.post(422, PATH, &wrong).await.text();
    assert!(
        page.contains("href=\"#email-password\"") && page.contains(NEW),
        "{page}"
    );
    // One mailbox gets a few emails per hour.
    let mut last = 0;
    for _ in 0..5 {
        last = visitor.post_any(PATH, &fields(NEW)).await;
    }
    assert_eq!(last, 422);
    assert_eq!(emails(world, 3).await.len(), 3);
    let mut config = world.app.config.clone();
    config.accounts.mail_domains = vec!["example.org".to_owned()];
    let client = Client::new(&App::build(config).await.unwrap(), "");
    let visitor = Visitor::with_client(&client);
    visitor.sign_in(303, "grace", PASSWORD).await;
    let page = visitor
        .post(422, PATH, &fields("grace@other.example"))
        .await
        .text();
    assert!(page.contains("example.org"), "{page}");
}

async fn a_server_without_email_changes_the_address_at_once(world: &World) {
    let mut config = world.app.config.clone();
    config.mail.delivery = Delivery::Off;
    let client = Client::new(&App::build(config).await.unwrap(), "");
    let visitor = Visitor::with_client(&client);
    visitor.sign_up("grace").await;
    assert!(
        visitor
            .get(200, "/dashboard/settings")
            .await
            .text()
            .contains("does not send email")
    );
    visitor
        .post(422, PATH, &[("email", NEW), ("email-password", "wrong password")])
        .await;
    visitor.post(303, PATH, &fields(NEW)).await;
    assert_eq!(stored(world).await, [NEW]);
}
