//! Sign-up, sign-in, sign-out, sessions and account deletion.

use super::visitor::{PASSWORD, Visitor, hidden};
use crate::client::Client;
use crate::world::World;
use access::accounts::{SignUp, Username, attempts, store};
use causeway::app::App;
use listener::client_network;
use std::time::Duration;

on_both_databases!(
    signing_up_out_and_in_again,
    the_session_cookie_is_http_only_and_same_site,
    a_wrong_password_and_an_unknown_username_get_the_same_response,
    password_guessing_is_limited_without_locking_out_the_owner,
    sign_up_does_not_reveal_that_an_email_is_in_use,
    a_sign_up_sent_twice_creates_one_account,
    sessions_are_listed_and_ended,
    a_session_shows_where_it_began_and_when_it_was_last_used,
    a_session_expires_after_a_month_without_use,
    changing_the_password_ends_all_other_sessions,
    a_deleted_account_leaves_no_personal_data,
    a_server_with_closed_sign_up_creates_no_accounts,
);

/// A client of an app with the same database and other settings.
async fn with_settings(world: &World, change: impl FnOnce(&mut causeway::config::Config)) -> Client {
    let mut config = world.app.config.clone();
    change(&mut config);
    Client::new(&App::build(config).await.unwrap(), "")
}

async fn signing_up_out_and_in_again(world: &World) {
    let visitor = Visitor::new(world);
    let response = visitor.get(303, "/dashboard/settings").await;
    assert_eq!(
        response.header("location"),
        "/dashboard/sign-in?next=/dashboard/settings"
    );
    visitor.sign_up("grace").await;
    let first = visitor.get(200, "/dashboard").await.text();
    assert!(
        first.contains("Welcome.") && first.contains("No keys yet"),
        "{first}"
    );
    let again = visitor.get(200, "/dashboard").await.text();
    assert!(!again.contains("Welcome."), "a message is shown once");
    let cookies = visitor.cookies.borrow().clone();
    visitor.post(303, "/dashboard/sign-out", &[]).await;
    visitor.get(303, "/dashboard").await;
    // The cookie of an ended session is invalid.
    *visitor.cookies.borrow_mut() = cookies.clone();
    visitor.get(303, "/dashboard").await;
    let form = visitor
        .get(200, "/dashboard/sign-in?next=/dashboard/settings")
        .await
        .text();
    let fields = [
        ("username", " Grace"),
        ("password", PASSWORD),
        ("next", &hidden(&form, "next")),
    ];
    let response = visitor.post(303, "/dashboard/sign-in", &fields).await;
    assert_eq!(response.header("location"), "/dashboard/settings");
    visitor.get(200, "/dashboard/settings").await;
    assert_ne!(*visitor.cookies.borrow(), cookies, "a sign-in gives a new cookie");
}

async fn the_session_cookie_is_http_only_and_same_site(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let response = visitor.sign_in(303, "grace", PASSWORD).await;
    let cookies: Vec<_> = response
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|field| field.to_str().unwrap())
        .collect();
    let session = cookies
        .iter()
        .find(|field| field.starts_with("causeway_session="))
        .unwrap();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(session.contains(part), "{session}");
    }
    let token = session.split(['=', ';']).nth(1).unwrap();
    let stored = world.texts("select agent from sessions").await;
    assert!(!stored.is_empty() && !stored.iter().any(|text| text.contains(token)));
    let secure = with_settings(world, |config| {
        config.public_url = String::from("https://causeway.test");
    })
    .await;
    let response = Visitor::with_client(&secure)
        .sign_in(303, "grace", PASSWORD)
        .await;
    let session = response
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|field| field.to_str().unwrap().to_owned());
    let session = session
        .into_iter()
        .find(|field| field.starts_with("__Host-causeway_session="))
        .unwrap();
    assert!(session.contains("Secure"), "{session}");
    let mut fields = response
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|field| field.to_str().unwrap());
    assert!(
        fields.all(|field| field.contains("Secure")),
        "the flash message too"
    );
}

async fn a_wrong_password_and_an_unknown_username_get_the_same_response(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let visitor = Visitor::new(world);
    let wrong = visitor.sign_in(422, "grace", "river stone lanterns").await.text();
    let unknown = visitor
        .sign_in(422, "nobody", "river stone lanterns")
        .await
        .text();
    // An account created by the command has no password yet.
    let without = visitor.sign_in(422, "ada", "river stone lanterns").await.text();
    assert_eq!(wrong, unknown.replace("nobody", "grace"));
    assert_eq!(wrong, without.replace("value=\"ada\"", "value=\"grace\""));
    assert!(!wrong.contains("river"));
}

async fn password_guessing_is_limited_without_locking_out_the_owner(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let thief = Visitor::new(world);
    let mut refused = 0;
    for _ in 0..12 {
        let fields = [("username", "grace"), ("password", "guess guess guess")];
        refused = thief.post_any("/dashboard/sign-in", &fields).await;
    }
    assert_eq!(refused, 429);
    // Open sessions stay valid, and the limit expires.
    visitor.get(200, "/dashboard").await;
    world.app.clock.advance(Duration::from_mins(15));
    thief.sign_in(303, "grace", PASSWORD).await;
    assert!(
        attempts::Attempts::default()
            .sign_in(
                "grace",
                client_network([10, 0, 0, 1].into()),
                world.app.clock.instant()
            )
            .is_ok()
    );
}

async fn sign_up_does_not_reveal_that_an_email_is_in_use(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let other = Visitor::new(world);
    let fields = [
        ("username", "hopper"),
        ("email", "grace@example.org"),
        ("password", PASSWORD),
    ];
    other.post(303, "/dashboard/sign-up", &fields).await;
    let page = other.get(200, "/dashboard/settings").await.text();
    assert!(page.contains("grace@example.org"));
}

async fn a_sign_up_sent_twice_creates_one_account(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    visitor.sign_up("grace").await;
    assert_eq!(
        world
            .texts("select username from accounts where username = 'grace'")
            .await
            .len(),
        1
    );
    let fields = [
        ("username", "grace"),
        ("email", "x@example.org"),
        ("password", "another stone lantern"),
    ];
    let page = Visitor::new(world)
        .post(422, "/dashboard/sign-up", &fields)
        .await
        .text();
    assert!(page.contains("This username is taken"), "{page}");
    // Sign-up does not sign in to an older account, because only sign-in limits guesses.
    world.app.clock.advance(Duration::from_secs(61));
    let fields = [
        ("username", "grace"),
        ("email", "grace@example.org"),
        ("password", PASSWORD),
    ];
    Visitor::new(world).post(422, "/dashboard/sign-up", &fields).await;
}

async fn sessions_are_listed_and_ended(world: &World) {
    let (here, there) = (Visitor::new(world), Visitor::new(world));
    here.sign_up("grace").await;
    there.sign_in(303, "grace", PASSWORD).await;
    let page = here.get(200, "/dashboard/settings").await.text();
    let id = hidden(&page, "session");
    // Another account cannot end the session.
    let stranger = Visitor::new(world);
    stranger.sign_up("mallory").await;
    stranger
        .post(303, "/dashboard/settings/sessions", &[("session", &id)])
        .await;
    there.get(200, "/dashboard").await;
    here.post(303, "/dashboard/settings/sessions", &[("session", &id)])
        .await;
    there.get(303, "/dashboard").await;
    there.sign_in(303, "grace", PASSWORD).await;
    for bad in ["x", &id[1..], &"g".repeat(64), "é"] {
        here.post(303, "/dashboard/settings/sessions", &[("session", bad)])
            .await;
    }
    there.get(200, "/dashboard").await;
    here.post(303, "/dashboard/settings/sessions", &[]).await;
    there.get(303, "/dashboard").await;
    here.get(200, "/dashboard").await;
}

async fn a_session_shows_where_it_began_and_when_it_was_last_used(world: &World) {
    world.app.clock.stop();
    Visitor::new(world).sign_up("grace").await;
    let visitor = Visitor::with_client(&world.client.at([192, 0, 2, 77]));
    visitor.sign_in(303, "grace", PASSWORD).await;
    let page = visitor.get(200, "/dashboard/settings").await.text();
    assert!(page.contains("192.0.2.77"), "{page}");
    // The last use is written at most every five minutes, so that most pages write nothing.
    let seen = "select cast(max(seen_at) as text) from sessions";
    let before = world.texts(seen).await;
    world.app.clock.advance(Duration::from_mins(5));
    visitor.get(200, "/dashboard").await;
    assert_eq!(world.texts(seen).await, before);
    world.app.clock.advance(Duration::from_secs(1));
    visitor.get(200, "/dashboard").await;
    assert_ne!(world.texts(seen).await, before);
}

async fn a_session_expires_after_a_month_without_use(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    world.app.clock.advance(Duration::from_hours(20 * 24));
    visitor.get(200, "/dashboard").await;
    world.app.clock.advance(Duration::from_hours(20 * 24));
    visitor.get(200, "/dashboard").await;
    world.app.clock.advance(Duration::from_hours(31 * 24));
    visitor.get(303, "/dashboard").await;
}

async fn changing_the_password_ends_all_other_sessions(world: &World) {
    let (here, there) = (Visitor::new(world), Visitor::new(world));
    here.sign_up("grace").await;
    there.sign_in(303, "grace", PASSWORD).await;
    let wrong = [
        ("current", "not the password"),
        ("password", "meadow cloud teapot"),
    ];
    let page = here
        .post(422, "/dashboard/settings/password", &wrong)
        .await
        .text();
    assert!(page.contains("not your current password") && !page.contains("meadow"));
    let right = [("current", PASSWORD), ("password", "meadow cloud teapot")];
    here.post(303, "/dashboard/settings/password", &right).await;
    here.get(200, "/dashboard").await;
    there.get(303, "/dashboard").await;
    there.sign_in(422, "grace", PASSWORD).await;
    there.sign_in(303, "grace", "meadow cloud teapot").await;
}

async fn a_deleted_account_leaves_no_personal_data(world: &World) {
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let key = visitor.create_key("public", "website of grace").await;
    let caller = world.client.with_key(&key);
    world.load_demo().await;
    caller.details(200, "530196605").await;
    visitor
        .post(
            422,
            "/dashboard/settings/delete",
            &[("current", "wrong password")],
        )
        .await;
    visitor
        .post(303, "/dashboard/settings/delete", &[("current", PASSWORD)])
        .await;
    visitor.get(303, "/dashboard").await;
    visitor.sign_in(422, "grace", PASSWORD).await;
    world.app.access.keys.refresh().await.unwrap();
    assert_eq!(caller.details(401, "530196605").await.code(), "invalid_key");
    for sql in [
        "select username || coalesce(email, '') || coalesce(password, '') from accounts where username like 'deleted-%'",
        "select name from keys",
    ] {
        for text in world.texts(sql).await {
            assert!(!text.contains("grace") && !text.contains("argon"), "{text}");
        }
    }
    assert!(world.texts("select agent from sessions").await.is_empty());
    // The username is available again.
    Visitor::new(world).sign_up("grace").await;
}

async fn a_server_with_closed_sign_up_creates_no_accounts(world: &World) {
    let client = with_settings(world, |config| config.accounts.sign_up = SignUp::Closed).await;
    let visitor = Visitor::with_client(&client);
    assert!(
        visitor
            .get(200, "/dashboard/sign-up")
            .await
            .text()
            .contains("Sign-up is closed")
    );
    let fields = [
        ("username", "grace"),
        ("email", "grace@example.org"),
        ("password", PASSWORD),
    ];
    visitor.post(403, "/dashboard/sign-up", &fields).await;
    let username = Username::parse("grace").unwrap();
    assert!(store::find_id(&world.app.db, &username).await.unwrap().is_none());
}
