//! The keys of payment providers are used and refused, and must not appear in anything that a server writes.

use super::bank::{Bank, PROFILE, VALID_CARD};
use crate::cli::secrets::{contains, database_content};
use crate::cli::server::{Server, command, send_body};
use crate::dashboard::visitor::hidden;
use crate::world::World;
use serde_json::json;
use std::process::Stdio;

on_both_databases!(keys_of_providers_are_never_stored_logged_or_shown);

const KEY: &str = "sk_test_canary1river2stone3";
const WEBHOOK_SECRET: &str = "whsec_canary4meadow5cloud6";
const CONNECT_SECRET: &str = "whsec_canary7teapot8lantern9";
const LINK_SECRET: &str = "whsec_Y2FuYXJ5MTBiZWhpbmR0aGVjb3VudGVyMTE=";

fn settings(bank: &Bank) -> [(&'static str, String); 9] {
    [
        ("CAUSEWAY_GIVING__PROVIDER", "stripe".to_owned()),
        ("CAUSEWAY_GIVING__LINK_SECRET", LINK_SECRET.to_owned()),
        ("CAUSEWAY_STRIPE__SECRET_KEY", KEY.to_owned()),
        ("CAUSEWAY_STRIPE__WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
        (
            "CAUSEWAY_STRIPE__CONNECT_WEBHOOK_SECRET",
            CONNECT_SECRET.to_owned(),
        ),
        ("CAUSEWAY_STRIPE__ACCOUNT", "connect".to_owned()),
        ("CAUSEWAY_STRIPE__API_BASE", bank.url.clone()),
        ("CAUSEWAY_RECIPIENT__LEGAL_NAME", "Causeway Foundation".to_owned()),
        ("CAUSEWAY_RECIPIENT__EIN", "123456789".to_owned()),
    ]
}

/// Opens the form of a server, starts a donation and pays it. Returns what the server answered.
async fn give(bank: &Bank, server: &Server) -> Vec<String> {
    let path = format!("{PROFILE}/give");
    let form = server.send("GET", &path, "");
    let fields = format!("amount=25&once={}", hidden(&form, "once"));
    let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
    let answer = send_body(&server.address, "POST", &path, headers, &fields);
    if let Some((_, rest)) = answer.split_once("cs_") {
        let session = rest
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next();
        bank.pay(&format!("cs_{}", session.unwrap()), VALID_CARD).await;
    }
    vec![form, answer]
}

async fn keys_of_providers_are_never_stored_logged_or_shown(world: &World) {
    let bank = Bank::open(world).await;
    let settings = settings(&bank);
    let variables: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let server = Server::start_with(world, "canary", &variables);
    let endpoint = json!({
        "url": format!("http://{}/webhooks/stripe", server.address),
        "secret": WEBHOOK_SECRET, "connect_secret": CONNECT_SECRET,
    });
    bank.control("webhooks", endpoint).await;
    let mut shown = give(&bank, &server).await;
    assert!(
        shown[1].contains("303") && shown[1].contains("cs_"),
        "{}",
        shown[1]
    );
    let idle = bank.control("idle", json!({ "timeout_ms": 60_000 })).await;
    assert_eq!(idle["idle"], true, "{idle}");
    // Every call is refused, or its answer is lost.
    for kind in ["rate_limit", "error_before", "hang_up_after"] {
        bank.control("faults", json!({ "kind": kind, "count": 3 })).await;
        shown.extend(give(&bank, &server).await);
    }
    bank.remove_faults().await;
    for path in ["/webhooks/stripe", "/webhooks/link"] {
        for signature in ["", "t=1,v1=00", "v1,AAAA"] {
            let headers = format!(
                "Content-Type: application/json\r\nStripe-Signature: {signature}\r\nWebhook-Signature: {signature}\r\n"
            );
            shown.push(send_body(&server.address, "POST", path, &headers, "{}"));
        }
    }
    let commands = [
        &["doctor"][..],
        &["payments", "reconcile", "--json"],
        &["check"],
        &["donation", "refund", "--source", "site", "--external-id", "none"],
    ];
    for arguments in commands {
        let mut run = command(world);
        run.args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        let output = tokio::task::spawn_blocking(move || run.output().unwrap())
            .await
            .unwrap();
        shown.push(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned());
    }
    let log = server.log();
    server.stop();
    assert!(
        log.contains("refused an event of Stripe"),
        "the log has what was refused"
    );
    let donations = "select kind from ledger_entries where kind = 'donation'";
    assert!(!world.texts(donations).await.is_empty());
    let content = database_content(world).await;
    for secret in [KEY, WEBHOOK_SECRET, CONNECT_SECRET, LINK_SECRET] {
        assert!(!contains(log.as_bytes(), secret), "the log contains {secret}");
        assert!(!contains(&content, secret), "the database contains {secret}");
        for text in &shown {
            assert!(!contains(text.as_bytes(), secret), "{secret} is shown: {text}");
        }
    }
}
