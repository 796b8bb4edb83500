//! `causeway doctor` about payments: Stripe, payment links and monthly donations.

use super::bank::{Bank, PROFILE, VALID_CARD, WEBHOOK_SECRET, session_of};
use crate::cli::binary;
use crate::world::World;
use serde_json::{Value, json};
use std::process::Stdio;

on_both_databases!(
    doctor_examines_the_account_and_the_events,
    doctor_examines_the_endpoint_and_monthly_donations,
    doctor_examines_the_payment_link,
);

/// Runs `causeway doctor` with a key of Stripe, and returns `status: seen` of a subject.
async fn examine(world: &World, bank: &Bank, key: &'static str, subject: &str) -> String {
    let variables = [
        ("CAUSEWAY_GIVING__PROVIDER", "stripe"),
        ("CAUSEWAY_STRIPE__SECRET_KEY", key),
        ("CAUSEWAY_STRIPE__WEBHOOK_SECRET", WEBHOOK_SECRET),
        ("CAUSEWAY_STRIPE__API_BASE", &bank.url),
        ("CAUSEWAY_RECIPIENT__LEGAL_NAME", "Causeway Foundation"),
        ("CAUSEWAY_RECIPIENT__EIN", "123456789"),
        ("CAUSEWAY_PUBLIC_URL", bank.server_url()),
    ];
    examine_with(world, &variables, subject).await
}

/// Runs `causeway doctor` with settings, and returns `status: seen` of a subject.
async fn examine_with(world: &World, variables: &[(&str, &str)], subject: &str) -> String {
    let mut command = binary();
    command
        .args(["doctor", "--json", "--data"])
        .arg(world.data())
        .env("CAUSEWAY_LISTEN", "127.0.0.1:9")
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    if let Some(url) = world.app.config.database.exposed_url() {
        command.env("CAUSEWAY_DATABASE_URL", url);
    }
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["subject"] == subject);
    let found = found.unwrap_or_else(|| panic!("nothing about {subject}: {report}"));
    format!(
        "{}: {}",
        found["status"].as_str().unwrap(),
        found["seen"].as_str().unwrap()
    )
}

async fn doctor_examines_the_account_and_the_events(world: &World) {
    let bank = Bank::open(world).await;
    let seen = examine(world, &bank, "sk_test_story", "stripe").await;
    assert!(
        seen.starts_with("warning: the key of the account acct_") && seen.contains("test mode"),
        "{seen}"
    );
    let seen = examine(world, &bank, "sk_test_story", "stripe clock").await;
    assert!(seen.starts_with("ok: agrees"), "{seen}");
    let seen = examine(world, &bank, "sk_test_story", "events").await;
    assert!(seen.starts_with("ok: none yet"), "{seen}");
    bank.control("down", json!({ "down": true })).await;
    let seen = examine(world, &bank, "sk_test_story", "stripe").await;
    assert!(seen.starts_with("problem: Stripe "), "{seen}");
    bank.control("down", json!({ "down": false })).await;

    bank.give("25", VALID_CARD).await;
    bank.settle(world).await;
    let seen = examine(world, &bank, "sk_test_story", "events").await;
    assert!(seen.starts_with("ok: the last one came at"), "{seen}");
    // A donation that was paid an hour ago, of which no event has told.
    world
        .execute("update donations set paid_at = paid_at - 3600000, started_at = started_at - 3600000")
        .await;
    world
        .execute("update provider_events set received_at = received_at - 7200000")
        .await;
    let seen = examine(world, &bank, "sk_test_story", "events").await;
    assert!(
        seen.starts_with("problem: Stripe sent none since") && seen.ends_with(": 1"),
        "{seen}"
    );
}

async fn doctor_examines_the_endpoint_and_monthly_donations(world: &World) {
    let bank = Bank::open(world).await;
    let seen = examine(world, &bank, "sk_test_story", "webhook").await;
    assert_eq!(
        seen,
        format!(
            "ok: Stripe sends all events to {}/webhooks/stripe",
            bank.server_url()
        )
    );
    let seen = examine(world, &bank, "sk_test_story", "monthly").await;
    assert_eq!(seen, "ok: none yet");
    let fields = [
        ("amount", "25"),
        ("frequency", "monthly"),
        ("email", "ada@example.org"),
    ];
    let session = session_of(&bank.start(PROFILE, &fields).await);
    bank.pay(&session, VALID_CARD).await;
    bank.settle(world).await;
    let seen = examine(world, &bank, "sk_test_story", "monthly").await;
    assert_eq!(seen, "ok: all 1 are looked after");
    world.execute("update monthly_gifts set check_at = 1").await;
    let seen = examine(world, &bank, "sk_test_story", "monthly").await;
    assert!(
        seen.starts_with("problem: 1 of 1 have not been looked at"),
        "{seen}"
    );
    // With the key of the other mode, nobody can ask about it.
    let seen = examine(world, &bank, "sk_live_story", "monthly").await;
    assert!(
        seen.starts_with("problem: nobody looks after these donations with stripe in test mode"),
        "{seen}"
    );
    bank.send_events_to(None).await;
    let seen = examine(world, &bank, "sk_test_story", "webhook").await;
    assert!(
        seen.starts_with("warning: Stripe has 0 enabled endpoints for"),
        "{seen}"
    );
    let seen = examine(world, &bank, "sk_live_story", "webhook").await;
    assert!(
        seen.starts_with("problem: Stripe has 0 enabled endpoints for"),
        "{seen}"
    );
}

async fn doctor_examines_the_payment_link(world: &World) {
    world.load_demo().await;
    let link = [
        ("CAUSEWAY_GIVING__PROVIDER", "link"),
        ("CAUSEWAY_GIVING__LINK", "https://pay.example.org/?ref={donation}"),
    ];
    let seen = examine_with(world, &link, "payment link").await;
    assert!(seen.starts_with("warning: no payment is reported"), "{seen}");
    let secret = (
        "CAUSEWAY_GIVING__LINK_SECRET",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    );
    let reported = [link[0], link[1], secret];
    let seen = examine_with(world, &reported, "payment link").await;
    assert_eq!(seen, "ok: no report yet; a secret is set");
    world
        .execute(
            "insert into provider_events (provider, id, kind, object, livemode, created_at, received_at, retry_at) \
             values ('link', 'm1', 'payment.succeeded', 'p1', true, 1, 1795003200000, 1)",
        )
        .await;
    let seen = examine_with(world, &reported, "payment link").await;
    assert_eq!(seen, "ok: the last report came at 2026-11-18T12:00:00.000Z");
}
