//! What a password proves: only as long as it is the password, and at the same price for everybody.

use super::visitor::{PASSWORD, Visitor, hidden, link, mails};
use crate::world::World;
use access::accounts::store;
use access::accounts::verified_password::VerifiedPassword;
use access::sessions;
use axum::http::HeaderMap;
use futures_util::future::join_all;

const NEW: &str = "meadow cloud teapot";

/// Where a sign-in stands that has compared the password and has not begun the session yet.
async fn proven(world: &World, username: &str) -> VerifiedPassword {
    let account = store::find(&world.app.db, username).await.unwrap();
    let proof = VerifiedPassword::verify(&world.app.hashing, account.as_ref(), PASSWORD).await;
    proof.unwrap()
}

async fn begins(world: &World, proof: &VerifiedPassword) -> bool {
    let begun = sessions::begin(&world.app, proof, &HeaderMap::new()).await;
    begun.unwrap().is_some()
}

/// Passwords hashed so far, as the metrics tell.
fn hashes(world: &World) -> u64 {
    let page = world.app.metrics.render();
    let line = page
        .lines()
        .find(|line| line.starts_with("causeway_password_hashes_total "));
    let count = line.unwrap_or_else(|| panic!("{page}")).rsplit(' ').next();
    count.unwrap().parse().unwrap()
}

on_both! {
    async fn a_sign_in_under_way_does_not_outlive_a_changed_password(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let proof = proven(world, "grace").await;
        assert!(begins(world, &proof).await);
        visitor.post(303, "/dashboard/settings/password", &[("current", PASSWORD), ("password", NEW)]).await;
        assert!(!begins(world, &proof).await, "the old password opened a session");
        // Nor does it change the password back or end the account.
        assert!(!store::set_password(&world.app.db, &proof, "x").await.unwrap());
        assert!(!store::remove(&world.app.db, &proof, 0).await.unwrap());
        assert_eq!(world.texts("select agent from sessions").await.len(), 1, "that of the visitor");
        visitor.get(200, "/dashboard").await;
        visitor.sign_in(303, "grace", NEW).await;
    }

    async fn a_sign_in_under_way_does_not_outlive_a_reset_nor_the_account(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
        let form = visitor.get(200, &link(&mails(world, 1).await.remove(0))).await.text();
        let proof = proven(world, "grace").await;
        visitor.post(303, "/dashboard/reset/set", &[("token", &hidden(&form, "token")), ("password", NEW)]).await;
        assert!(!begins(world, &proof).await, "the forgotten password opened a session");
        visitor.post(303, "/dashboard/settings/password", &[("current", NEW), ("password", PASSWORD)]).await;
        let proof = proven(world, "grace").await;
        visitor.post(303, "/dashboard/settings/delete", &[("current", PASSWORD)]).await;
        assert!(!begins(world, &proof).await, "a deleted account was entered");
    }

    async fn sign_ins_at_the_very_moment_of_a_change_are_all_outside_afterwards(world: &World) {
        let owner = Visitor::new(world);
        owner.sign_up("grace").await;
        let proof = proven(world, "grace").await;
        let headers = HeaderMap::new();
        let thieves = join_all((0..40).map(|_| sessions::begin(&world.app, &proof, &headers)));
        let fields = [("current", PASSWORD), ("password", NEW)];
        let change = owner.post(303, "/dashboard/settings/password", &fields);
        let (begun, _) = tokio::join!(thieves, change);
        let begun: Vec<_> = begun.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(world.texts("select agent from sessions").await.len(), 1, "of {} that began", begun.len());
        owner.get(200, "/dashboard").await;
    }

    async fn whoever_is_named_a_sign_in_costs_one_hash(world: &World) {
        let visitor = Visitor::new(world);
        visitor.sign_up("grace").await;
        let gone = Visitor::new(world);
        gone.sign_up("hopper").await;
        gone.post(303, "/dashboard/settings/delete", &[("current", PASSWORD)]).await;
        let long = "lantern ".repeat(512);
        let guesses = [
            ("grace", "another lantern stone"),
            ("nobody", PASSWORD),
            ("ada", PASSWORD),
            ("hopper", PASSWORD),
            ("Ünknown <b>", PASSWORD),
            ("", ""),
            ("grace", ""),
            ("nobody", ""),
            ("grace", &long),
            ("nobody", &long),
        ];
        for (username, password) in guesses {
            let before = hashes(world);
            Visitor::new(world).sign_in(422, username, password).await;
            assert_eq!(hashes(world) - before, 1, "{username} {password:.20}");
        }
        let before = hashes(world);
        Visitor::new(world).sign_in(303, "grace", PASSWORD).await;
        assert_eq!(hashes(world) - before, 1, "nor does the right one");
    }
}
