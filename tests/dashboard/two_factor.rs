//! Two-factor sign-in: setting it up, codes, recovery codes, and what must not get around it.

use super::operator::operator;
use super::visitor::{PASSWORD, Visitor, between, emails, hidden, link};
use crate::cli::server::run;
use crate::client::Client;
use crate::world::{World, redis_url};
use access::accounts::attempts::CODES;
use access::accounts::store;
use access::accounts::two_factor::TotpSecret;
use access::accounts::two_factor::store as two_factor;
use futures_util::future::join_all;
use platform::db::Db;
use platform::ids::AccountId;
use std::time::Duration;

on_both_databases!(
    a_second_factor_is_set_up_and_asked_for,
    a_recovery_code_works_once,
    a_code_is_accepted_once_on_several_servers,
    guesses_of_codes_are_limited,
    guesses_of_codes_at_all_servers_count_together,
    resetting_the_password_does_not_bypass_the_second_factor,
    a_started_sign_in_expires_and_cannot_be_forged,
    turning_it_off_needs_the_password_and_a_code,
    operators_reset_the_second_factor_of_an_account,
    secrets_and_recovery_codes_are_not_readable_in_the_database,
);

const PAGE: &str = "/dashboard/settings/two-factor";
const SETUP: &str = "/dashboard/settings/two-factor/setup";
const CODE: &str = "/dashboard/sign-in/code";

async fn account(world: &World, username: &str) -> AccountId {
    store::find(&world.app.db, username).await.unwrap().unwrap().id
}

/// Begins to set up the second factor of a signed-in visitor.
async fn begin(world: &World, visitor: &Visitor, username: &str) -> TotpSecret {
    let response = visitor.post(303, PAGE, &[("current", PASSWORD)]).await;
    assert_eq!(response.header("location"), SETUP);
    let account = account(world, username).await;
    let secret = two_factor::find_pending(&world.app.db, &world.app.secret, account).await;
    secret.unwrap().unwrap()
}

/// Turns on the second factor of a signed-in visitor. Returns the secret and the recovery codes.
pub(super) async fn enable(world: &World, visitor: &Visitor, username: &str) -> (TotpSecret, Vec<String>) {
    let secret = begin(world, visitor, username).await;
    let page = visitor
        .post(200, SETUP, &[("code", &code(world, &secret))])
        .await
        .text();
    let codes = page.split("<li><code>").skip(1);
    let codes: Vec<String> = codes
        .map(|rest| rest.split('<').next().unwrap().to_owned())
        .collect();
    assert_eq!(codes.len(), 10, "{page}");
    (secret, codes)
}

fn code(world: &World, secret: &TotpSecret) -> String {
    secret.code_at(world.app.clock.millis())
}

/// A code that is certainly not valid now.
fn wrong_code(world: &World, secret: &TotpSecret) -> String {
    let now = world.app.clock.millis();
    let valid: Vec<String> = (-2..=2).map(|step| secret.code_at(now + step * 30_000)).collect();
    let codes = (0..).map(|number| format!("{number:06}"));
    codes.into_iter().find(|code| !valid.contains(code)).unwrap()
}

/// A visitor that has entered the password.
async fn with_password(world: &World) -> Visitor {
    let visitor = Visitor::new(world);
    let response = visitor.sign_in(303, "grace", PASSWORD).await;
    assert_eq!(response.header("location"), CODE);
    visitor.get(303, "/dashboard").await;
    visitor
}

async fn a_second_factor_is_set_up_and_asked_for(world: &World) {
    world.app.clock.stop();
    let (visitor, other) = (Visitor::new(world), Visitor::new(world));
    visitor.sign_up("grace").await;
    other.sign_in(303, "grace", PASSWORD).await;
    visitor.post(422, PAGE, &[("current", "wrong password")]).await;
    visitor.get(303, SETUP).await;
    let secret = begin(world, &visitor, "grace").await;
    let page = visitor.get(200, SETUP).await.text();
    let shown = between(&page, "id=\"secret\" tabindex=\"0\">", "<").unwrap();
    assert_eq!(shown.replace(' ', ""), secret.to_base32());
    assert!(page.contains("class=\"qr-code\"") && page.contains("otpauth://totp/causeway.test:grace"));
    // It is off until a code confirms that the app has the secret.
    let wrong = wrong_code(world, &secret);
    visitor.post(422, SETUP, &[("code", &wrong)]).await;
    other.sign_in(303, "grace", PASSWORD).await;
    other.get(200, "/dashboard").await;
    let first = code(world, &secret);
    let page = visitor
        .post(
            200,
            SETUP,
            &[("code", &format!(" {} {}", &first[..3], &first[3..]))],
        )
        .await;
    assert!(page.text().contains("Two-factor sign-in is on"));
    visitor.get(200, "/dashboard").await;
    other.get(303, "/dashboard").await;
    let sent = emails(world, 2).await;
    assert!(sent.iter().any(|email| email.contains("turned on")), "{sent:?}");
    visitor.get(303, SETUP).await;

    let fields = [
        ("username", "grace"),
        ("password", PASSWORD),
        ("next", "/dashboard/settings"),
    ];
    let response = other.post(303, "/dashboard/sign-in", &fields).await;
    assert_eq!(
        response.header("location"),
        "/dashboard/sign-in/code?next=/dashboard/settings"
    );
    let form = other.get(200, response.header("location")).await.text();
    assert_eq!(hidden(&form, "next"), "/dashboard/settings");
    other.post(422, CODE, &[("code", "")]).await;
    other.post(422, CODE, &[("code", &wrong)]).await;
    other.post(422, CODE, &[("code", &first)]).await;
    other.get(303, "/dashboard").await;
    world.app.clock.advance(Duration::from_secs(30));
    let second = code(world, &secret);
    let fields = [("code", second.as_str()), ("next", "/dashboard/settings")];
    let response = other.post(303, CODE, &fields).await;
    assert_eq!(response.header("location"), "/dashboard/settings");
    let page = other.get(200, "/dashboard/settings").await.text();
    assert!(page.contains("Manage two-factor sign-in"), "{page}");
    // The cookie of the first step is gone, and the code is used.
    other.get(303, CODE).await;
    with_password(world)
        .await
        .post(422, CODE, &[("code", &second)])
        .await;
    // A phone may be half a minute ahead.
    let ahead = secret.code_at(world.app.clock.millis() + 30_000);
    with_password(world)
        .await
        .post(303, CODE, &[("code", &ahead)])
        .await;
}

async fn a_recovery_code_works_once(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, codes) = enable(world, &visitor, "grace").await;
    let typed = codes[3].to_uppercase().replace('-', " ");
    with_password(world)
        .await
        .post(303, CODE, &[("code", &typed)])
        .await;
    assert!(
        emails(world, 3)
            .await
            .iter()
            .any(|email| email.contains("recovery codes"))
    );
    let thief = with_password(world).await;
    thief.post(422, CODE, &[("code", &codes[3])]).await;
    let page = visitor.get(200, PAGE).await.text();
    assert_eq!(between(&page, "id=\"codes-left\">", "<").unwrap(), "9");
    world.app.clock.advance(Duration::from_secs(30));
    let fields = [
        ("codes-password", PASSWORD),
        ("codes-code", &code(world, &secret)),
    ];
    let page = visitor.post(200, &format!("{PAGE}/codes"), &fields).await.text();
    assert!(!page.contains(&codes[4]));
    thief.post(422, CODE, &[("code", &codes[4])]).await;
    let new = between(&page, "<li><code>", "<").unwrap();
    thief.post(303, CODE, &[("code", &new)]).await;
    // Codes belong to their account.
    let other = Visitor::new(world);
    other.sign_up("hopper").await;
    let (_, foreign) = enable(world, &other, "hopper").await;
    with_password(world)
        .await
        .post(422, CODE, &[("code", &foreign[0])])
        .await;
}

async fn a_code_is_accepted_once_on_several_servers(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, codes) = enable(world, &visitor, "grace").await;
    world.app.clock.advance(Duration::from_secs(30));
    let (_, client) = world.restart().await;
    for code in [code(world, &secret), codes[0].clone()] {
        let mut visitors = Vec::new();
        for client in [&world.client, &client, &world.client, &client] {
            let visitor = Visitor::with_client(client);
            visitor.sign_in(303, "grace", PASSWORD).await;
            visitors.push(visitor);
        }
        let fields = [("code", code.as_str())];
        let sent = join_all(visitors.iter().map(|visitor| visitor.post_any(CODE, &fields))).await;
        let accepted = sent.iter().filter(|status| **status == 303).count();
        assert_eq!(accepted, 1, "{sent:?}");
    }
}

async fn guesses_of_codes_are_limited(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, _) = enable(world, &visitor, "grace").await;
    let wrong = wrong_code(world, &secret);
    // From many networks, each with the right password.
    let mut statuses = Vec::new();
    for number in 0..CODES.attempts() + 5 {
        let client = world.client.at([192, 0, 2, number as u8]);
        let thief = Visitor::with_client(&client);
        thief.sign_in(303, "grace", PASSWORD).await;
        statuses.push(thief.post_any(CODE, &[("code", &wrong)]).await);
    }
    assert!(
        statuses[..CODES.attempts()].iter().all(|status| *status == 422),
        "{statuses:?}"
    );
    assert!(
        statuses[CODES.attempts()..].iter().all(|status| *status == 429),
        "{statuses:?}"
    );
    // Sessions stay, and the limit expires.
    visitor.get(200, "/dashboard").await;
    world.app.clock.advance(Duration::from_hours(1));
    let fields = [("code", code(world, &secret))];
    let owner = with_password(world).await;
    owner.post(303, CODE, &[("code", &fields[0].1)]).await;
}

async fn guesses_of_codes_at_all_servers_count_together(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, _) = enable(world, &visitor, "grace").await;
    let wrong = wrong_code(world, &secret);
    let servers = [
        world.sharing_server(&redis_url()).await,
        world.sharing_server(&redis_url()).await,
    ];
    let mut statuses = Vec::new();
    for number in 0..CODES.attempts() + 2 {
        let client = Client::new(&servers[number % 2], "").at([192, 0, 2, number as u8]);
        let thief = Visitor::with_client(&client);
        thief.sign_in(303, "grace", PASSWORD).await;
        statuses.push(thief.post_any(CODE, &[("code", &wrong)]).await);
    }
    assert!(
        statuses[..CODES.attempts()].iter().all(|status| *status == 422),
        "{statuses:?}"
    );
    assert!(
        statuses[CODES.attempts()..].iter().all(|status| *status == 429),
        "{statuses:?}"
    );
}

async fn resetting_the_password_does_not_bypass_the_second_factor(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, _) = enable(world, &visitor, "grace").await;
    visitor.post(200, "/dashboard/reset", &[("who", "grace")]).await;
    let emails = emails(world, 2).await;
    let email = emails
        .iter()
        .find(|email| email.contains("/dashboard/reset"))
        .unwrap();
    let thief = Visitor::new(world);
    let form = thief.get(200, &link(email)).await.text();
    let fields = [
        ("token", hidden(&form, "token")),
        ("password", "meadow cloud teapot".to_owned()),
    ];
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let response = thief.post(303, "/dashboard/reset/set", &fields).await;
    assert_eq!(response.header("location"), CODE);
    thief.get(303, "/dashboard").await;
    thief.post(422, CODE, &[("code", "123456")]).await;
    world.app.clock.advance(Duration::from_secs(30));
    thief.post(303, CODE, &[("code", &code(world, &secret))]).await;
    thief.get(200, "/dashboard").await;
    // A password that is changed in a session does not end that session.
    let fields = [("current", "meadow cloud teapot"), ("password", PASSWORD)];
    thief.post(303, "/dashboard/settings/password", &fields).await;
    thief.get(200, "/dashboard").await;
}

async fn a_started_sign_in_expires_and_cannot_be_forged(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, _) = enable(world, &visitor, "grace").await;
    let started = with_password(world).await;
    let cookie = started.cookies.borrow()["causeway_sign_in"].clone();
    let mallory = Visitor::new(world);
    mallory.sign_up("mallory").await;
    enable(world, &mallory, "mallory").await;
    let other = Visitor::new(world);
    other.sign_in(303, "mallory", PASSWORD).await;
    let own = other.cookies.borrow()["causeway_sign_in"].clone();
    let account = cookie.split('.').next().unwrap();
    let rest = own.split_once('.').unwrap().1;
    for forged in [
        format!("{account}.{rest}"),
        format!("{account}.x.y"),
        "x".to_owned(),
        String::new(),
    ] {
        other
            .cookies
            .borrow_mut()
            .insert("causeway_sign_in".to_owned(), forged);
        assert_eq!(
            other.get(303, CODE).await.header("location"),
            "/dashboard/sign-in"
        );
    }
    world.app.clock.advance(Duration::from_mins(9));
    started.get(200, CODE).await;
    world.app.clock.advance(Duration::from_mins(2));
    assert_eq!(
        started.get(303, CODE).await.header("location"),
        "/dashboard/sign-in"
    );
    started.post(303, CODE, &[("code", &code(world, &secret))]).await;
    started.get(303, "/dashboard").await;
    // A new password ends a sign-in that was started with the old one.
    let started = with_password(world).await;
    let fields = [("current", PASSWORD), ("password", "meadow cloud teapot")];
    visitor.post(303, "/dashboard/settings/password", &fields).await;
    started.get(303, CODE).await;
}

async fn turning_it_off_needs_the_password_and_a_code(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, codes) = enable(world, &visitor, "grace").await;
    world.app.clock.advance(Duration::from_secs(30));
    let off = format!("{PAGE}/off");
    let right = code(world, &secret);
    for (password, code) in [
        ("wrong password", right.as_str()),
        (PASSWORD, "000"),
        (PASSWORD, ""),
    ] {
        let page = visitor
            .post(422, &off, &[("current", password), ("code", code)])
            .await
            .text();
        assert!(page.contains("role=\"alert\""), "{page}");
    }
    // A wrong password does not use up the code.
    visitor
        .post(303, &off, &[("current", PASSWORD), ("code", &right)])
        .await;
    assert!(visitor.get(200, PAGE).await.text().contains("is off"));
    assert!(
        emails(world, 2)
            .await
            .iter()
            .any(|email| email.contains("turned off"))
    );
    let other = Visitor::new(world);
    other.sign_in(303, "grace", PASSWORD).await;
    other.get(200, "/dashboard").await;
    visitor.get(303, SETUP).await;
    // The recovery codes of the first time do not come back.
    world.app.clock.advance(Duration::from_secs(30));
    enable(world, &visitor, "grace").await;
    with_password(world)
        .await
        .post(422, CODE, &[("code", &codes[0])])
        .await;
}

async fn operators_reset_the_second_factor_of_an_account(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    enable(world, &visitor, "grace").await;
    let page = "/dashboard/operator/accounts/grace";
    let reset = format!("{page}/reset-two-factor");
    visitor.post(403, &reset, &[]).await;
    let operator = operator(world).await;
    assert!(
        operator
            .get(200, page)
            .await
            .text()
            .contains("Reset two-factor sign-in")
    );
    operator.post(303, &reset, &[]).await;
    assert!(
        !operator
            .get(200, page)
            .await
            .text()
            .contains("Reset two-factor sign-in")
    );
    Visitor::new(world).sign_in(303, "grace", PASSWORD).await;
    operator.post(303, &reset, &[]).await;
    assert!(operator.get(200, page).await.text().contains("Nothing changed"));

    world.app.clock.advance(Duration::from_secs(30));
    enable(world, &visitor, "grace").await;
    let result = run(world, &["account", "reset-two-factor", "grace"]);
    assert_eq!(result["twoFactor"], false);
    let signed_in = Visitor::new(world);
    signed_in.sign_in(303, "grace", PASSWORD).await;
    signed_in.get(200, "/dashboard").await;
    let audit = world
        .texts("select act || ' ' || subject from audit order by id")
        .await;
    assert_eq!(
        audit,
        ["account reset-two-factor grace", "account reset-two-factor grace"]
    );
}

async fn secrets_and_recovery_codes_are_not_readable_in_the_database(world: &World) {
    world.app.clock.stop();
    let visitor = Visitor::new(world);
    visitor.sign_up("grace").await;
    let (secret, codes) = enable(world, &visitor, "grace").await;
    let [secrets, hashes] = match &world.app.db {
        Db::Sqlite { .. } => [
            "select hex(secret) from two_factor",
            "select hex(hash) from recovery_codes",
        ],
        Db::Postgres(_) => [
            "select upper(encode(secret, 'hex')) from two_factor",
            "select upper(encode(hash, 'hex')) from recovery_codes",
        ],
    };
    let stored = [world.texts(secrets).await, world.texts(hashes).await]
        .concat()
        .join(" ");
    let hex = |bytes: &[u8]| platform::text::hex(bytes).to_uppercase();
    assert!(!stored.contains(&hex(secret.to_base32().as_bytes())));
    // 12 bytes of nonce, 20 of the secret, 16 of the tag.
    assert_eq!(world.texts(secrets).await[0].len(), 2 * 48);
    for code in codes {
        assert!(!stored.contains(&hex(code.as_bytes())));
        assert!(!stored.contains(&hex(code.replace('-', "").as_bytes())));
    }
    let fields = [("current", PASSWORD)];
    visitor.post(303, "/dashboard/settings/delete", &fields).await;
    assert!(world.texts(secrets).await.is_empty());
    assert!(world.texts(hashes).await.is_empty());
}
