//! Keys on the dashboard.

use super::visitor::{Visitor, between, hidden};
use crate::world::World;

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
}
