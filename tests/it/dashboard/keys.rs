//! Keys on the dashboard.

use super::visitor::{Visitor, between, hidden, mails};
use crate::world::World;
use access::accounts::{Username, store};
use access::keys::{KeyText, Kind, store as keys};
use axum::http::Method;
use platform::db::Topic;

on_both! {
    async fn a_key_that_was_made_on_the_dashboard_works_until_it_is_revoked(world: &World) {
        world.load_demo().await;
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let key = visitor.make_key("public", "website").await;
        let page = visitor.get(200, "/dashboard").await.text();
        assert!(page.contains(&key) && page.contains("website") && page.contains("Active"));
        let caller = world.client.with_key(&key);
        caller.details(200, "530196605").await;
        let id = between(&page, "id=\"key-", "\"").unwrap();
        let confirm = visitor.get(200, &format!("/dashboard/keys/{id}/revoke")).await.text();
        assert!(confirm.contains("website stops working"), "{confirm}");
        visitor.post(303, &format!("/dashboard/keys/{id}/revoke"), &[]).await;
        visitor.post(303, &format!("/dashboard/keys/{id}/revoke"), &[]).await;
        assert!(visitor.get(200, "/dashboard").await.text().contains("Revoked"));
        world.app.keys.refresh().await.unwrap();
        assert_eq!(caller.details(401, "530196605").await.code(), "invalid_key");
    }

    async fn a_private_key_is_shown_once_and_never_again(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let form = visitor.get(200, "/dashboard/keys/new").await.text();
        let once = hidden(&form, "once");
        let fields = [("name", "server"), ("kind", "private"), ("once", once.as_str())];
        let made = visitor.post(200, "/dashboard/keys/new", &fields).await;
        assert_eq!(made.header("cache-control"), "no-store");
        let key = between(&made.text(), "tabindex=\"0\">", "<").unwrap();
        assert!(key.starts_with("cwsk_"), "{key}");
        // The same form again makes no second key, and shows none.
        let again = visitor.post(303, "/dashboard/keys/new", &fields).await;
        assert_eq!(again.header("location"), "/dashboard");
        for address in ["/dashboard", &format!("/dashboard/keys/{once}"), "/dashboard/first-steps", "/dashboard/settings"] {
            assert!(!visitor.get(200, address).await.text().contains(&key), "{address}");
        }
        assert_eq!(world.texts("select name from keys where name = 'server'").await.len(), 1);
    }

    async fn a_key_of_another_account_is_not_there(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let id = world.key_id;
        for path in ["", "/revoke", "/roll"] {
            visitor.get(404, &format!("/dashboard/keys/{id}{path}")).await;
        }
        for path in ["/revoke", "/roll"] {
            visitor.post(404, &format!("/dashboard/keys/{id}{path}"), &[("overlap", "0")]).await;
        }
        for bad in ["x", "%00", "00000000-0000-0000-0000-000000000000"] {
            visitor.get(404, &format!("/dashboard/keys/{bad}/revoke")).await;
        }
        world.load_demo().await;
        world.client.details(200, "530196605").await;
    }

    async fn a_rolled_key_gives_way_to_a_new_one(world: &World) {
        world.load_demo().await;
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let old = visitor.make_key("public", "website").await;
        let id = between(&visitor.get(200, "/dashboard").await.text(), "id=\"key-", "\"").unwrap();
        let roll = format!("/dashboard/keys/{id}/roll");
        assert!(visitor.get(200, &roll).await.text().contains("name=\"overlap\""));
        let page = visitor.post(200, &roll, &[("overlap", "1h")]).await.text();
        let new = between(&page, "tabindex=\"0\">", "<").unwrap();
        assert_ne!(old, new);
        // Sent twice, it gives no third key.
        visitor.post(303, &roll, &[("overlap", "1h")]).await;
        assert_eq!(world.texts("select name from keys where name = 'website'").await.len(), 2);
        world.app.keys.refresh().await.unwrap();
        for key in [&old, &new] {
            world.client.with_key(key).details(200, "530196605").await;
        }
        world.app.clock.advance(std::time::Duration::from_secs(3601));
        assert_eq!(world.client.with_key(&old).details(401, "530196605").await.code(), "invalid_key");
        world.client.with_key(&new).details(200, "530196605").await;
        assert!(visitor.get(200, "/dashboard").await.text().contains("Ended"));
    }

    async fn the_owner_of_an_exposed_key_is_told_on_the_page_and_once_by_mail(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let private = visitor.make_key("private", "server").await;
        for _ in 0..3 {
            let answer = world.client.with_key(&private).details(401, "530196605").await;
            assert_eq!(answer.code(), "private_key_exposed");
        }
        let sent = mails(world, 1).await;
        assert!(sent[0].contains("grace@example.org") && sent[0].contains("server") && !sent[0].contains(&private));
        assert!(visitor.get(200, "/dashboard").await.text().contains("This private key was exposed"));
        access::keys::warnings::warn_owners(&world.app).await;
        assert_eq!(mails(world, 1).await.len(), 1);
    }

    async fn a_private_key_is_flagged_beside_another_key_and_beside_credentials(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let sent = async |path: &str, headers: &[(&str, &str)]| {
            let private = visitor.make_key("private", "server").await;
            let address = format!("{path}?apiKey={}&apiKey={private}", world.client.key);
            let method = if headers.is_empty() { Method::GET } else { Method::POST };
            let answer = world.client.send(401, &method, &address, headers).await;
            assert_eq!(answer.code(), "private_key_exposed");
        };
        sent("/v0.2/nonprofit/530196605", &[]).await;
        sent("/v0.2/fundraiser", &[("authorization", "Basic x")]).await;
        let exposed = world.texts("select name from keys where exposed_at is not null").await;
        assert_eq!(exposed, ["server", "server"]);
    }

    async fn an_exposed_key_is_written_down_once(world: &World) {
        let (_, private) = world.make_key(Kind::Private).await;
        let caller = world.client.with_key(&private);
        caller.details(401, "530196605").await;
        let revision = world.app.db.revision(Topic::Keys).await.unwrap();
        world.execute("update keys set exposed_at = null").await;
        for _ in 0..3 {
            assert_eq!(caller.details(401, "530196605").await.code(), "private_key_exposed");
        }
        assert_eq!(world.app.db.revision(Topic::Keys).await.unwrap(), revision);
        assert!(world.texts("select name from keys where exposed_at is not null").await.is_empty(), "it was asked again");
    }

    async fn an_account_has_at_most_a_hundred_keys_and_the_same_form_is_still_done(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let grace = store::find_id(&world.app.db, &Username::parse("grace").unwrap()).await.unwrap().unwrap();
        for _ in 0..99 {
            keys::insert(&world.app.db, grace, "many", &KeyText::generate(Kind::Public), 0).await.unwrap();
        }
        visitor.make_key("public", "the last").await;
        let form = visitor.get(200, "/dashboard/keys/new").await.text();
        let once = hidden(&form, "once");
        let fields = [("name", "one more"), ("kind", "public"), ("once", once.as_str())];
        let page = visitor.post(422, "/dashboard/keys/new", &fields).await.text();
        assert!(page.contains("You have 100 keys") && page.contains("one more"), "{page}");
        world.execute("update keys set revoked_at = 1 where name = 'the last'").await;
        visitor.post(200, "/dashboard/keys/new", &fields).await;
        visitor.post(303, "/dashboard/keys/new", &fields).await;
    }

    async fn a_key_without_a_name_is_shown_by_its_id(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        visitor.make_key("public", "website").await;
        let id = between(&visitor.get(200, "/dashboard").await.text(), "id=\"key-", "\"").unwrap();
        world.execute("update keys set name = '', created_at = 1 where name = 'website'").await;
        for address in ["/dashboard", &format!("/dashboard/keys/{id}")] {
            let page = visitor.get(200, address).await.text();
            assert!(page.contains(&format!("<bdi>{id}</bdi>")) && page.contains("not in the last 90 days"), "{page}");
        }
        assert!(visitor.get(200, &format!("/dashboard/keys/{id}/revoke")).await.text().contains(&format!("{id} stops")));
    }

    async fn a_key_in_the_path_is_not_repeated(world: &World) {
        world.load_demo().await;
        let (_, private) = world.make_key(Kind::Private).await;
        let answer = world.client.details(404, &private).await.text();
        assert!(!answer.contains(&private) && answer.contains("cwsk_…"), "{answer}");
    }

    async fn first_steps_hold_the_own_public_key(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        assert!(visitor.get(200, "/dashboard/first-steps").await.text().contains("First, a public key"));
        visitor.make_key("private", "server").await;
        let key = visitor.make_key("public", "website").await;
        let page = visitor.get(200, "/dashboard/first-steps").await.text();
        assert_eq!(page.matches(&key).count(), 4);
        assert!(page.contains("curl") && page.contains("fetch(") && page.contains("urllib"));
    }
}
