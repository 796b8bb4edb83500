//! Keys on the dashboard.

use super::visitor::{Visitor, between, emails, hidden};
use crate::wait::eventually;
use crate::world::World;
use access::accounts::{Username, store};
use access::keys::{KeyText, Kind, store as keys};
use axum::http::Method;
use platform::db::Topic;

on_both_databases!(
    a_key_created_on_the_dashboard_works_until_it_is_revoked,
    an_owner_limits_the_calls_of_one_address,
    a_private_key_is_shown_once_and_never_again,
    a_key_of_another_account_is_not_found,
    a_rotated_key_is_replaced_by_a_new_one,
    the_owner_of_an_exposed_key_is_warned_on_the_page_and_once_by_email,
    a_private_key_is_flagged_next_to_another_key_or_credentials,
    an_exposed_key_is_recorded_once,
    an_account_has_at_most_100_keys,
    an_unnamed_key_is_shown_by_its_id,
    a_key_in_the_path_is_not_echoed,
    first_steps_show_the_public_key_of_the_account,
);

async fn a_key_created_on_the_dashboard_works_until_it_is_revoked(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let key = visitor.create_key("public", "website").await;
    let page = visitor.get(200, "/dashboard").await.text();
    assert!(page.contains(&key) && page.contains("website") && page.contains("Active"));
    let caller = world.client.with_key(&key);
    caller.details(200, "530196605").await;
    let id = between(&page, "id=\"key-", "\"").unwrap();
    let confirm = visitor
        .get(200, &format!("/dashboard/keys/{id}/revoke"))
        .await
        .text();
    assert!(confirm.contains("website stops working"), "{confirm}");
    visitor
        .post(303, &format!("/dashboard/keys/{id}/revoke"), &[])
        .await;
    visitor
        .post(303, &format!("/dashboard/keys/{id}/revoke"), &[])
        .await;
    assert!(visitor.get(200, "/dashboard").await.text().contains("Revoked"));
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(caller.details(401, "530196605").await.code(), "invalid_key");
}

async fn an_owner_limits_the_calls_of_one_address(world: &World) {
    world.load_demo().await;
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let caller = world
        .client
        .with_key(&visitor.create_key("public", "website").await);
    let list = visitor.get(200, "/dashboard").await.text();
    let page = format!("/dashboard/keys/{}", between(&list, "id=\"key-", "\"").unwrap());
    let limits = format!("{page}/limits");
    let shown = visitor.get(200, &page).await.text();
    assert!(shown.contains("name=\"address_limit\"") && !shown.contains("from one IP address</th>"));
    for invalid in ["0", "-1", "1000001", "many", "1.5"] {
        let again = visitor.post(422, &limits, &[("address_limit", invalid)]).await;
        assert!(again.text().contains("Enter a whole number from 1 to 1,000,000"));
    }
    visitor.post(303, &limits, &[("address_limit", "2")]).await;
    world.app.access.keys.refresh().await.unwrap();
    let shown = visitor.get(200, &page).await.text();
    assert!(
        shown.contains("from one IP address</th><td class=\"number\">2</td>"),
        "{shown}"
    );
    assert!(shown.contains("value=\"2\""));
    for (host, status) in [(1, 200), (1, 200), (1, 429), (2, 200)] {
        caller.at([192, 0, 2, host]).details(status, "530196605").await;
    }
    // Refused calls are part of the usage.
    world.app.save_counts().await.unwrap();
    let shown = visitor.get(200, &page).await.text();
    assert_eq!(between(&shown, "id=\"refused\">", "<").unwrap(), "1");
    // Another account cannot change it.
    let other = Visitor::new(world);
    other.sign_up("eve").await;
    other.post(404, &limits, &[("address_limit", "1")]).await;
    visitor.post(303, &limits, &[("address_limit", "")]).await;
    world.app.access.keys.refresh().await.unwrap();
    caller.at([192, 0, 2, 1]).details(200, "530196605").await;
}

async fn a_private_key_is_shown_once_and_never_again(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let form = visitor.get(200, "/dashboard/keys/new").await.text();
    let once = hidden(&form, "once");
    let fields = [("name", "server"), ("kind", "private"), ("once", once.as_str())];
    let created = visitor.post(200, "/dashboard/keys/new", &fields).await;
    assert_eq!(created.header("cache-control"), "no-store");
    let key = between(&created.text(), "tabindex=\"0\">", "<").unwrap();
    assert!(key.starts_with("cwsk_"), "{key}");
    assert!(created.text().contains("href=\"/developers/quick-start\""));
    // The same form again creates no second key and shows none.
    let again = visitor.post(303, "/dashboard/keys/new", &fields).await;
    assert_eq!(again.header("location"), "/dashboard");
    for url in [
        "/dashboard",
        &format!("/dashboard/keys/{once}"),
        "/dashboard/first-steps",
        "/dashboard/settings",
    ] {
        assert!(!visitor.get(200, url).await.text().contains(&key), "{url}");
    }
    // Its owner recognizes it by its last four characters; no more of it is stored.
    let four = &key[key.len() - 4..];
    for url in ["/dashboard", &format!("/dashboard/keys/{once}")] {
        let page = visitor.get(200, url).await.text();
        assert!(page.contains(&format!("cwsk_…{four}<")), "{page}");
    }
    let stored = world
        .texts("select last_four from keys where name = 'server'")
        .await;
    assert_eq!(stored, [four]);
    assert!(
        world
            .texts("select last_four from keys where kind = 'public' and last_four is not null")
            .await
            .is_empty()
    );
    assert_eq!(
        world
            .texts("select name from keys where name = 'server'")
            .await
            .len(),
        1
    );
}

async fn a_key_of_another_account_is_not_found(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let id = world.key_id;
    for path in ["", "/revoke", "/rotate"] {
        visitor.get(404, &format!("/dashboard/keys/{id}{path}")).await;
    }
    for path in ["/revoke", "/rotate"] {
        visitor
            .post(404, &format!("/dashboard/keys/{id}{path}"), &[("overlap", "0")])
            .await;
    }
    for bad in ["x", "%00", "00000000-0000-0000-0000-000000000000"] {
        visitor.get(404, &format!("/dashboard/keys/{bad}/revoke")).await;
    }
    world.load_demo().await;
    world.client.details(200, "530196605").await;
}

async fn a_rotated_key_is_replaced_by_a_new_one(world: &World) {
    world.load_demo().await;
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let old = visitor.create_key("public", "website").await;
    let id = between(&visitor.get(200, "/dashboard").await.text(), "id=\"key-", "\"").unwrap();
    let rotate = format!("/dashboard/keys/{id}/rotate");
    assert!(
        visitor
            .get(200, &rotate)
            .await
            .text()
            .contains("name=\"overlap\"")
    );
    let page = visitor.post(200, &rotate, &[("overlap", "1h")]).await.text();
    let new = between(&page, "tabindex=\"0\">", "<").unwrap();
    assert_ne!(old, new);
    // Sent twice, the form creates no third key.
    visitor.post(303, &rotate, &[("overlap", "1h")]).await;
    assert_eq!(
        world
            .texts("select name from keys where name = 'website'")
            .await
            .len(),
        2
    );
    world.app.access.keys.refresh().await.unwrap();
    for key in [&old, &new] {
        world.client.with_key(key).details(200, "530196605").await;
    }
    world.app.clock.advance(std::time::Duration::from_secs(3601));
    assert_eq!(
        world.client.with_key(&old).details(401, "530196605").await.code(),
        "invalid_key"
    );
    world.client.with_key(&new).details(200, "530196605").await;
    assert!(visitor.get(200, "/dashboard").await.text().contains("Expired"));
}

async fn the_owner_of_an_exposed_key_is_warned_on_the_page_and_once_by_email(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let private = visitor.create_key("private", "server").await;
    for _ in 0..3 {
        let response = world.client.with_key(&private).details(401, "530196605").await;
        assert_eq!(response.code(), "private_key_exposed");
    }
    let email = emails(world, 1).await.remove(0);
    assert!(email.contains("grace@example.org") && email.contains("server") && !email.contains(&private));
    assert!(
        visitor
            .get(200, "/dashboard")
            .await
            .text()
            .contains("This private key was exposed")
    );
    access::keys::warnings::warn_owners(&world.app.db, world.app.notices()).await;
    assert_eq!(emails(world, 1).await.len(), 1);
}

async fn a_private_key_is_flagged_next_to_another_key_or_credentials(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let send = async |path: &str, headers: &[(&str, &str)]| {
        let private = visitor.create_key("private", "server").await;
        let url = format!("{path}?apiKey={}&apiKey={private}", world.client.key);
        let method = if headers.is_empty() {
            Method::GET
        } else {
            Method::POST
        };
        let response = world.client.send(401, &method, &url, headers).await;
        assert_eq!(response.code(), "private_key_exposed");
    };
    send("/v0.2/nonprofit/530196605", &[]).await;
    send("/v0.2/fundraiser", &[("authorization", "Basic x")]).await;
    // A response waits only for a short time until the key is flagged.
    let flagged = "select name from keys where exposed_at is not null";
    eventually("both keys are flagged", async || {
        (world.texts(flagged).await == ["server", "server"]).then_some(())
    })
    .await;
}

async fn an_exposed_key_is_recorded_once(world: &World) {
    let (_, private) = world.create_key(Kind::Private).await;
    let caller = world.client.with_key(&private);
    caller.details(401, "530196605").await;
    let revision = world.app.db.revision(Topic::Keys).await.unwrap();
    world.execute("update keys set exposed_at = null").await;
    for _ in 0..3 {
        assert_eq!(
            caller.details(401, "530196605").await.code(),
            "private_key_exposed"
        );
    }
    assert_eq!(world.app.db.revision(Topic::Keys).await.unwrap(), revision);
    assert!(
        world
            .texts("select name from keys where exposed_at is not null")
            .await
            .is_empty(),
        "it was recorded again"
    );
}

async fn an_account_has_at_most_100_keys(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let grace = store::find_id(&world.app.db, &Username::parse("grace").unwrap())
        .await
        .unwrap()
        .unwrap();
    for _ in 0..99 {
        keys::insert(
            &world.app.db,
            grace,
            "filler",
            &KeyText::generate(Kind::Public),
            0,
        )
        .await
        .unwrap();
    }
    visitor.create_key("public", "the last").await;
    let form = visitor.get(200, "/dashboard/keys/new").await.text();
    let once = hidden(&form, "once");
    let fields = [("name", "one more"), ("kind", "public"), ("once", once.as_str())];
    let page = visitor.post(422, "/dashboard/keys/new", &fields).await.text();
    assert!(
        page.contains("limit of 100 active keys") && page.contains("one more"),
        "{page}"
    );
    world
        .execute("update keys set revoked_at = 1 where name = 'the last'")
        .await;
    visitor.post(200, "/dashboard/keys/new", &fields).await;
    visitor.post(303, "/dashboard/keys/new", &fields).await;
}

async fn an_unnamed_key_is_shown_by_its_id(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor.create_key("public", "website").await;
    let id = between(&visitor.get(200, "/dashboard").await.text(), "id=\"key-", "\"").unwrap();
    world
        .execute("update keys set name = '', created_at = 1 where name = 'website'")
        .await;
    for url in ["/dashboard", &format!("/dashboard/keys/{id}")] {
        let page = visitor.get(200, url).await.text();
        assert!(
            page.contains(&format!("<bdi>{id}</bdi>")) && page.contains("Not in the last 90 days"),
            "{page}"
        );
    }
    assert!(
        visitor
            .get(200, &format!("/dashboard/keys/{id}/revoke"))
            .await
            .text()
            .contains(&format!("{id} stops"))
    );
}

async fn a_key_in_the_path_is_not_echoed(world: &World) {
    world.load_demo().await;
    let (_, private) = world.create_key(Kind::Private).await;
    let response = world.client.details(404, &private).await.text();
    assert!(
        !response.contains(&private) && response.contains("cwsk_…"),
        "{response}"
    );
}

async fn first_steps_show_the_public_key_of_the_account(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    assert!(
        visitor
            .get(200, "/dashboard/first-steps")
            .await
            .text()
            .contains("Create a public key first")
    );
    visitor.create_key("private", "server").await;
    let key = visitor.create_key("public", "website").await;
    let page = visitor.get(200, "/dashboard/first-steps").await.text();
    assert_eq!(page.matches(&key).count(), 4);
    assert!(page.contains("curl") && page.contains("fetch(") && page.contains("urllib"));
}
