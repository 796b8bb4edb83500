//! Sign-ins that race with a password change, and the cost of a sign-in.

use super::visitor::{PASSWORD, Visitor, emails, hidden, link};
use crate::world::World;
use access::accounts::verified_password::VerifiedPassword;
use access::accounts::{changes, store};
use causeway::http::session::{self, Browser, SignIn};
use futures_util::future::join_all;

on_both_databases!(
    a_sign_in_in_progress_fails_after_a_password_change,
    a_sign_in_in_progress_fails_after_a_reset_or_account_deletion,
    a_password_change_ends_sign_ins_that_race_with_it,
    every_sign_in_costs_exactly_one_hash,
);

const NEW_PASSWORD: &str = "meadow cloud teapot";

/// The state of a sign-in that has verified the password but not begun the session.
async fn verify_password(world: &World, username: &str) -> VerifiedPassword {
    let account = store::find(&world.app.db, username).await.unwrap();
    let proof = VerifiedPassword::verify(&world.app.access.hashing, account.as_ref(), PASSWORD).await;
    proof.unwrap()
}

async fn can_begin_session(world: &World, proof: &VerifiedPassword) -> bool {
    let session = session::begin(&world.app, proof, &Browser::default()).await;
    matches!(session.unwrap(), SignIn::Started(_))
}

/// The number of passwords hashed so far, from the metrics.
fn hashes(world: &World) -> u64 {
    let page = world.app.telemetry.metrics.render();
    let line = page
        .lines()
        .find(|line| line.starts_with("causeway_password_hashes_total "));
    let count = line.unwrap_or_else(|| panic!("{page}")).rsplit(' ').next();
    count.unwrap().parse().unwrap()
}

async fn a_sign_in_in_progress_fails_after_a_password_change(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let proof = verify_password(world, "grace").await;
    assert!(can_begin_session(world, &proof).await);
    visitor
        .post(
            303,
            "/dashboard/settings/password",
            &[("current", PASSWORD), ("password", NEW_PASSWORD)],
        )
        .await;
    assert!(
        !can_begin_session(world, &proof).await,
        "the old password began a session"
    );
    // The stale proof can neither change the password nor delete the account.
    assert!(!changes::set_password(&world.app.db, &proof, "x").await.unwrap());
    assert!(!world.app.giving.recorder.remove_account(proof).await.unwrap());
    assert_eq!(
        world.texts("select agent from sessions").await.len(),
        1,
        "the session of the visitor"
    );
    visitor.get(200, "/dashboard").await;
    visitor.sign_in(303, "grace", NEW_PASSWORD).await;
}

async fn a_sign_in_in_progress_fails_after_a_reset_or_account_deletion(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    let form = visitor
        .get(200, &link(&emails(world, 1).await.remove(0)))
        .await
        .text();
    let proof = verify_password(world, "grace").await;
    visitor
        .post(
            303,
            "/dashboard/reset/set",
            &[("token", &hidden(&form, "token")), ("password", NEW_PASSWORD)],
        )
        .await;
    assert!(
        !can_begin_session(world, &proof).await,
        "the forgotten password began a session"
    );
    visitor
        .post(
            303,
            "/dashboard/settings/password",
            &[("current", NEW_PASSWORD), ("password", PASSWORD)],
        )
        .await;
    let proof = verify_password(world, "grace").await;
    visitor
        .post(303, "/dashboard/settings/delete", &[("current", PASSWORD)])
        .await;
    assert!(
        !can_begin_session(world, &proof).await,
        "a deleted account began a session"
    );
}

async fn a_password_change_ends_sign_ins_that_race_with_it(world: &World) {
    let owner = Visitor::new(world);
    owner.sign_up("grace").await;
    let proof = verify_password(world, "grace").await;
    let browser = Browser::default();
    let sign_ins = join_all((0..40).map(|_| session::begin(&world.app, &proof, &browser)));
    let fields = [("current", PASSWORD), ("password", NEW_PASSWORD)];
    let change = owner.post(303, "/dashboard/settings/password", &fields);
    let (started, _) = tokio::join!(sign_ins, change);
    let started = started.into_iter().map(Result::unwrap);
    let started: Vec<_> = started
        .filter(|session| matches!(session, SignIn::Started(_)))
        .collect();
    assert_eq!(
        world.texts("select agent from sessions").await.len(),
        1,
        "of {} that began",
        started.len()
    );
    owner.get(200, "/dashboard").await;
}

async fn every_sign_in_costs_exactly_one_hash(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let gone = Visitor::new(world);
    gone.sign_up("hopper").await;
    gone.post(303, "/dashboard/settings/delete", &[("current", PASSWORD)])
        .await;
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
    assert_eq!(hashes(world) - before, 1, "the right password costs the same");
}
