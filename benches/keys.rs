//! What it costs to check a key and its limit: the real extractors over the real ring and windows, without the rest of
//! a request. Prints one table; the bound for a call is two microseconds.

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

const KEYS: usize = 1_000;
const CALLS: u32 = 200_000;
const ROUNDS: usize = 7;
const PRESSING: usize = 8;
const BOUND: f64 = 2_000.0;

fn main() -> anyhow::Result<()> {
    // Cargo runs the binaries of benchmarks in its tests too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let folder = tempfile::tempdir()?;
    let (free, tight, keys, private) = runtime.block_on(prepare(folder.path()))?;
    let one = parts(&keys[0]);
    let many: Vec<Parts> = keys.iter().map(|key| parts(key)).collect();
    let mut mistyped = keys[0].clone();
    mistyped.replace_range(10..11, if mistyped.as_bytes()[10] == b'a' { "b" } else { "a" });
    let mistyped = parts(&mistyped);
    let signed = signed(&keys[0], &private);

    println!("| what                                        | ns a call |  ratio |     bound | verdict |");
    println!("|:--------------------------------------------|----------:|-------:|----------:|--------:|");
    let alone = best(|place| public(&free, &mut one.clone(), place, true));
    let copying = best(|_| _ = black_box(one.clone()));
    row("key and limit, one key", alone - copying, None, Some(BOUND));
    let spread = best(|place| public(&free, &mut many[place % KEYS].clone(), place, true));
    row(
        "key and limit, 1,000 keys in turn",
        spread - copying,
        None,
        Some(BOUND),
    );
    let refused = best(|place| public(&tight, &mut one.clone(), place, false));
    row("refused: over the limit", refused - copying, None, Some(BOUND));
    let wrong = best(|place| public(&free, &mut mistyped.clone(), place, false));
    row(
        "refused: one character mistyped",
        wrong - copying,
        None,
        Some(BOUND),
    );
    let copying = best(|_| _ = black_box(signed.clone()));
    let both = best(|_| privileged(&free, &mut signed.clone()));
    row(
        "two keys and limit, Basic authentication",
        both - copying,
        None,
        None,
    );

    let apart = beside(&free, &many, |thread| thread + 1);
    let together = beside(&free, &many, |_| 1);
    row("another key, 8 threads press 8 keys", apart, None, None);
    row(
        "another key, 8 threads press one key",
        together,
        Some(together / apart),
        None,
    );
    println!("\nThe median of the call alone for the last two, with the two reads of the clock around it.");
    runtime.block_on(async {
        free.db.close().await;
        tight.db.close().await;
    });
    Ok(())
}

/// Two apps over one store, one that lets everything through and one with the limits of the default; public keys
/// and one private key.
async fn prepare(folder: &std::path::Path) -> anyhow::Result<(App, App, Vec<String>, String)> {
    let tight = App::build(Config::for_tests(folder)).await?;
    let name = Username::parse("bench")?;
    let account = accounts::store::insert(&tight.db, &name, None, false, 0).await?;
    let account = account.ok_or_else(|| anyhow::anyhow!("the store is not empty"))?;
    let mut keys = Vec::new();
    for _ in 0..KEYS {
        let text = KeyText::generate(Kind::Public);
        store::insert(&tight.db, account, "", &text, 0).await?;
        keys.push(text.expose().to_owned());
    }
    let private = KeyText::generate(Kind::Private);
    store::insert(&tight.db, account, "", &private, 0).await?;
    tight.keys.refresh().await?;
    let mut config = Config::for_tests(folder);
    config.limits.search = u32::MAX;
    config.limits.fundraisers = u32::MAX;
    let free = App::build(config).await?;
    Ok((free, tight, keys, private.expose().to_owned()))
}

fn parts(key: &str) -> Parts {
    let address = format!("/v0.2/search/red%20cross?take=10&apiKey={key}");
    Request::get(address).body(()).expect("a request").into_parts().0
}

fn signed(public: &str, private: &str) -> Parts {
    let pair = STANDARD.encode(format!("{public}:{private}"));
    let request = Request::post("/v0.2/fundraiser").header(AUTHORIZATION, format!("Basic {pair}"));
    request.body(()).expect("a request").into_parts().0
}

/// One call with a public key, of one of 64 visitors.
fn public(app: &App, parts: &mut Parts, place: usize, passes: bool) {
    let address = std::net::IpAddr::from([192, 0, 2, place as u8 % 64]);
    parts.extensions.insert(ClientAddress(address));
    let outcome = at_once(PublicKey::<Search>::from_request_parts(parts, app));
    assert!(!passes || outcome.is_ok());
    _ = black_box(outcome);
}

fn privileged(app: &App, parts: &mut Parts) {
    let outcome = at_once(Credentials::<Fundraisers>::from_request_parts(parts, app));
    assert!(black_box(outcome).is_ok());
}

/// The result of a future that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("the check of a known key waited for something"),
    }
}

/// Nanoseconds a call in the best of some rounds.
fn best(mut call: impl FnMut(usize)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        (0..CALLS as usize).for_each(&mut call);
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

/// The median of calls of the first key while eight threads press others.
fn beside(app: &App, keys: &[Parts], pressed: impl Fn(usize) -> usize + Sync) -> f64 {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..PRESSING {
            let (over, pressed) = (&over, &pressed);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    public(app, &mut keys[pressed(thread)].clone(), thread, true);
                }
            });
        }
        let mut took = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(2) {
            let mut parts = keys[0].clone();
            let call = Instant::now();
            public(app, &mut parts, 0, true);
            took.push(call.elapsed());
        }
        over.store(true, Ordering::Relaxed);
        took.sort_unstable();
        took[took.len() / 2].as_secs_f64() * 1e9
    })
}

fn row(what: &str, nanos: f64, ratio: Option<f64>, bound: Option<f64>) {
    let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2} x"));
    let (limit, verdict) = match bound {
        Some(bound) if nanos < bound => (format!("< {bound}"), "kept"),
        Some(bound) => (format!("< {bound}"), "MISSED"),
        None => (String::new(), ""),
    };
    println!("| {what:<43} | {nanos:>9.0} | {ratio:>6} | {limit:>9} | {verdict:>7} |");
}
