//! Endpoints are public servers, at creation and at every attempt, whatever a name resolves to.

use super::Partner;
use crate::api::fundraisers::fields;
use crate::world::World;
use platform::outbound::addresses::AddressPolicy;
use platform::outbound::post::{Lookup, PostError, Poster};
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;

on_both_databases!(hostile_urls_are_refused_and_hostile_names_are_never_connected_to);

/// URLs that an endpoint may never have on a server for others.
const HOSTILE_URLS: &[&str] = &[
    "http://example.org/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "https://",
    "https:///hook",
    "https:example.org",
    "//example.org/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fd00:ec2::254]/",
    "https://metadata.google.internal/",
    "https://10.0.0.1/",
    "https://192.168.0.1/",
    "https://172.16.0.1/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://[fe80::1]/",
    "https://[fc00::1]/",
    "https://8.8.8.8/",
    "https://user:pass@example.org/",
    "https://example.org@127.0.0.1/",
    "https://example.org\\@127.0.0.1/",
    "https://example.org/#fragment",
    "https://example.org:22/",
    "https://example.org:80/",
    "https://example.org:0/",
    "https://example.org:65536/",
    "https://example.org/a b",
    "https://ex\u{e4}mple.org/",
    "https://example.org\u{3002}/",
    "https://%31%32%37.0.0.1/",
    "https://intranet/",
    "https://printer.local/",
    "https://causeway.test/hook",
    "https://no-such-name.invalid/",
];

/// What names resolve to.
const HOSTILE_ADDRESSES: &[&str] = &[
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::169.254.169.254",
    "2002:7f00:1::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::1",
];

async fn hostile_urls_are_refused_and_hostile_names_are_never_connected_to(world: &World) {
    let partner = Partner::new(world).await;
    let public = crate::api::fundraisers::Organizer {
        client: world.client.clone(),
        basic: partner.organizer.basic.clone(),
    };
    for url in HOSTILE_URLS
        .iter()
        .copied()
        .chain([&*format!("https://example.org/{}", "x".repeat(3_000))])
    {
        let body = json!({"url": url}).to_string();
        world.app.clock.advance(std::time::Duration::from_secs(2));
        let refused = public
            .write(400, &axum::http::Method::POST, "/v0.2/webhook", body, &[])
            .await;
        assert_eq!(fields(&refused), ["url"], "{url}");
    }
    let policy = AddressPolicy {
        allows_private: false,
    };
    for hostile in HOSTILE_ADDRESSES {
        let address: IpAddr = hostile.parse().unwrap();
        // The first lookup gives a public address as well, and the next ones the hostile one alone.
        let lookup: Lookup = Arc::new(move |host| {
            let mut found = vec![address];
            if host.starts_with("mixed") {
                found.insert(0, "93.184.216.34".parse().unwrap());
            }
            Box::pin(async move { Ok(found) })
        });
        let poster = Poster::with_lookup(policy, lookup);
        for host in ["mixed.example", "hostile.example"] {
            let url = format!("http://{host}:{}/hook", partner.receiver.port);
            let posted = poster.post(&url, &[], "{}".to_owned()).await;
            assert_eq!(posted, Err(PostError::NotPublic), "{host} {hostile}");
        }
    }
    assert_eq!(partner.receiver.take("/hook").len(), 0);
    // An endpoint that was allowed before is checked again at every attempt.
    partner.create("/hook", json!({})).await;
    partner.organizer.create_fundraiser(json!({})).await;
    while world.app.fan_out_events().await.unwrap() {}
    world.app.event_sender().send_due().await.unwrap();
    assert_eq!(partner.receiver.take("/hook").len(), 0);
    let attempts = world.texts("select error from webhook_attempts").await;
    assert_eq!(
        attempts,
        ["the host name resolves to an address that is not public"]
    );
    partner.app.db.close().await;
}
