//! Measures the cost of checking a key and its limit: the real extractors with the real key ring and rate
//! limiter, without the rest of a request.
//!
//! Prints one table. A check may take two microseconds.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use access::accounts::{self, Username};
use access::keys::{KeyText, Kind, store};
use axum::extract::FromRequestParts;
use axum::http::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use causeway::app::App;
use causeway::config::Config;
use causeway::http::credentials::Credentials;
use causeway::http::public_key::{Fundraisers, PublicKey, Search};
use listener::ClientAddress;
use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

const KEY_COUNT: usize = 1_000;
const CALLS_PER_ROUND: u32 = 200_000;
const ROUNDS: usize = 7;
const CONTENDING_THREADS: usize = 8;
const MAX_NANOS: f64 = 2_000.0;

fn main() -> anyhow::Result<()> {
    // `cargo test` runs benchmark binaries too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let folder = tempfile::tempdir()?;
    let (unlimited, limited, keys, private_key) = runtime.block_on(prepare(folder.path()))?;
    let one = search_request(&keys[0]);
    let many: Vec<Parts> = keys.iter().map(|key| search_request(key)).collect();
    let mut mistyped = keys[0].clone();
    mistyped.replace_range(10..11, if mistyped.as_bytes()[10] == b'a' { "b" } else { "a" });
    let mistyped = search_request(&mistyped);
    let signed = create_request(&keys[0], &private_key);

    println!("| measurement                                 | ns per call |  ratio |     bound | verdict |");
    println!("|:--------------------------------------------|------------:|-------:|----------:|--------:|");
    let single = best(|index| check_public_key(&unlimited, &mut one.clone(), index, true));
    let cloning = best(|_| _ = black_box(one.clone()));
    row("key and limit, one key", single - cloning, None, Some(MAX_NANOS));
    let rotating =
        best(|index| check_public_key(&unlimited, &mut many[index % KEY_COUNT].clone(), index, true));
    row(
        "key and limit, 1,000 keys in rotation",
        rotating - cloning,
        None,
        Some(MAX_NANOS),
    );
    let over_limit = best(|index| check_public_key(&limited, &mut one.clone(), index, false));
    row(
        "rejected: over the limit",
        over_limit - cloning,
        None,
        Some(MAX_NANOS),
    );
    let wrong = best(|index| check_public_key(&unlimited, &mut mistyped.clone(), index, false));
    row(
        "rejected: one character mistyped",
        wrong - cloning,
        None,
        Some(MAX_NANOS),
    );
    let cloning = best(|_| _ = black_box(signed.clone()));
    let both = best(|_| check_credentials(&unlimited, &mut signed.clone()));
    row(
        "both keys and limit, Basic authentication",
        both - cloning,
        None,
        None,
    );

    let different_keys = under_contention(&unlimited, &many, |thread| thread + 1);
    let same_key = under_contention(&unlimited, &many, |_| 1);
    row("another key, 8 threads use 8 keys", different_keys, None, None);
    row(
        "another key, 8 threads use one key",
        same_key,
        Some(same_key / different_keys),
        None,
    );
    println!("\nThe last two rows are medians of single calls, including two reads of the clock.");
    runtime.block_on(async {
        unlimited.db.close().await;
        limited.db.close().await;
    });
    Ok(())
}

/// Builds two apps over one store, the first with unlimited keys and the second with the default limits.
///
/// Returns them with the public keys and one private key.
async fn prepare(folder: &std::path::Path) -> anyhow::Result<(App, App, Vec<String>, String)> {
    let limited = App::build(Config::for_tests(folder)).await?;
    let name = Username::parse("bench")?;
    let account = accounts::store::insert_without_password(&limited.db, &name, None, false, 0).await?;
    let account = account.ok_or_else(|| anyhow::anyhow!("the store is not empty"))?;
    let mut keys = Vec::new();
    for _ in 0..KEY_COUNT {
        let text = KeyText::generate(Kind::Public);
        store::insert(&limited.db, account, "", &text, 0).await?;
        keys.push(text.expose().to_owned());
    }
    let private_key = KeyText::generate(Kind::Private);
    store::insert(&limited.db, account, "", &private_key, 0).await?;
    limited.access.keys.refresh().await?;
    let mut config = Config::for_tests(folder);
    config.limits.search = u32::MAX;
    config.limits.fundraisers = u32::MAX;
    let unlimited = App::build(config).await?;
    Ok((unlimited, limited, keys, private_key.expose().to_owned()))
}

fn search_request(key: &str) -> Parts {
    let url = format!("/v0.2/search/red%20cross?take=10&apiKey={key}");
    Request::get(url)
        .body(())
        .expect("a valid request")
        .into_parts()
        .0
}

fn create_request(public_key: &str, private_key: &str) -> Parts {
    let credentials = STANDARD.encode(format!("{public_key}:{private_key}"));
    let request = Request::post("/v0.2/fundraiser").header(AUTHORIZATION, format!("Basic {credentials}"));
    request.body(()).expect("a valid request").into_parts().0
}

/// Checks a public key for a request from one of 64 addresses.
fn check_public_key(app: &App, parts: &mut Parts, index: usize, is_allowed: bool) {
    let address = std::net::IpAddr::from([192, 0, 2, index as u8 % 64]);
    parts.extensions.insert(ClientAddress(address));
    let outcome = poll_once(PublicKey::<Search>::from_request_parts(parts, app));
    assert!(!is_allowed || outcome.is_ok());
    _ = black_box(outcome);
}

fn check_credentials(app: &App, parts: &mut Parts) {
    let outcome = poll_once(Credentials::<Fundraisers>::from_request_parts(parts, app));
    assert!(black_box(outcome).is_ok());
}

/// Returns the result of a future that is ready at once.
fn poll_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("checking a known key must not wait"),
    }
}

/// Returns the nanoseconds per call in the fastest round.
fn best(mut call: impl FnMut(usize)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        (0..CALLS_PER_ROUND as usize).for_each(&mut call);
        started.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS_PER_ROUND)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

/// Returns the median nanoseconds per call with the first key while other threads use the keys that `key_of`
/// assigns to them.
fn under_contention(app: &App, keys: &[Parts], key_of: impl Fn(usize) -> usize + Sync) -> f64 {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..CONTENDING_THREADS {
            let (is_over, key_of) = (&is_over, &key_of);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    check_public_key(app, &mut keys[key_of(thread)].clone(), thread, true);
                }
            });
        }
        let mut latencies = Vec::new();
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(2) {
            let mut parts = keys[0].clone();
            let call = Instant::now();
            check_public_key(app, &mut parts, 0, true);
            latencies.push(call.elapsed());
        }
        is_over.store(true, Ordering::Relaxed);
        latencies.sort_unstable();
        latencies[latencies.len() / 2].as_secs_f64() * 1e9
    })
}

fn row(name: &str, nanos: f64, ratio: Option<f64>, bound: Option<f64>) {
    let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2} x"));
    let (limit, verdict) = match bound {
        Some(bound) if nanos < bound => (format!("< {bound}"), "met"),
        Some(bound) => (format!("< {bound}"), "MISSED"),
        None => (String::new(), ""),
    };
    println!("| {name:<43} | {nanos:>11.0} | {ratio:>6} | {limit:>9} | {verdict:>7} |");
}
