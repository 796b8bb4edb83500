//! `causeway doctor` with Stripe as the provider.

use super::bank::{Bank, VALID_CARD, WEBHOOK_SECRET};
use crate::cli::binary;
use crate::world::World;
use serde_json::{Value, json};
use std::process::Stdio;

on_both_databases!(doctor_examines_the_account_and_the_events);

/// Runs `causeway doctor` with a key, and returns `status: seen` of a subject.
async fn examine(world: &World, bank: &Bank, key: &'static str, subject: &str) -> String {
    let mut command = binary();
    command
        .args(["doctor", "--json", "--data"])
        .arg(world.data())
        .env("CAUSEWAY_LISTEN", "127.0.0.1:9")
        .env("CAUSEWAY_GIVING__PROVIDER", "stripe")
        .env("CAUSEWAY_STRIPE__SECRET_KEY", key)
        .env("CAUSEWAY_STRIPE__WEBHOOK_SECRET", WEBHOOK_SECRET)
        .env("CAUSEWAY_STRIPE__API_BASE", &bank.url)
        .env("CAUSEWAY_RECIPIENT__LEGAL_NAME", "Causeway Foundation")
        .env("CAUSEWAY_RECIPIENT__EIN", "123456789")
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
