//! Floods of requests that cost the server much more than the client: memory for bodies and responses, and work.
//!
//! Each runs from one address and from fifty. A refusal is what such a client should get, so 429 and 503 are no failures.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::json;

use crate::base64::base64;
use crate::floods::{FLOODS, SMALL_BUFFER, STREAMS_PER_CONNECTION, Sockets, Target, busy_connections};
use crate::http2_frames::{preface, push_get};
use crate::requests::{Requests, get_request};

/// The pages with forms that anyone can send.
const PUBLIC_FORMS: [&str; 5] = [
    "/dashboard/sign-in",
    "/dashboard/sign-up",
    "/dashboard/reset",
    "/dashboard/pictures",
    "/donations/receipts",
];
/// Pages with forms of people who are signed in.
const SIGNED_IN_FORMS: [&str; 4] = [
    "/dashboard/keys/new",
    "/dashboard/fundraisers/new",
    "/dashboard/pictures",
    "/dashboard/settings/profile",
];
/// The bytes of an unfinished body that are sent at once. The rest follows byte by byte.
const BODY_START: usize = 150_000;
/// The length that an unfinished body declares. A form may have 256 KiB.
const BODY_LENGTH: usize = 200_000;
/// The number of floods of a mix that run at the same time.
const MIXED_AT_ONCE: usize = 4;
/// How long each flood of a mix runs, and what its counts are divided by.
const MIXED_DURATION: Duration = Duration::from_secs(2);
const MIXED_DIVISOR: usize = 8;

/// 64 connections that read a fundraiser whose story is full of tables.
pub(crate) fn tables(target: &Target) -> Result<String> {
    let requests = Requests::of_path(target.address, &target.content.page);
    busy_connections(target, &requests, usize::MAX, target.duration)
}

/// 64 connections that read the fundraisers in all orders.
pub(crate) fn sorted_lists(target: &Target) -> Result<String> {
    let mut requests = Requests::new(target.address);
    for path in ["/fundraisers?sort=raised", "/fundraisers", "/"] {
        requests.push(path);
    }
    busy_connections(target, &requests, usize::MAX, target.duration)
}

/// 64 connections that extend as many rows by as many properties as one request may.
pub(crate) fn data_extension(target: &Target) -> Result<String> {
    let properties = ["name", "ein", "causes", "revenue", "website", "city", "nteeCode"];
    let properties: Vec<_> = properties.iter().map(|id| json!({"id": id})).collect();
    let query = json!({"ids": target.content.nonprofits, "properties": properties}).to_string();
    let repeated =
        json!({"ids": vec!["x"; 1_000], "properties": vec![json!({"id": "name"}); 40]}).to_string();
    let path = format!("/reconcile?apiKey={}", target.public_key);
    let mut requests = Requests::new(target.address);
    requests.push_form(&path, "extend", &query);
    requests.push_form(&path, "extend", &repeated);
    busy_connections(target, &requests, usize::MAX, target.duration)
}

/// 1,500 connections that send most of a body to a route that takes one, and the rest byte by byte.
pub(crate) fn unfinished_bodies(target: &Target) -> Result<String> {
    const JSON: &str = "application/json";
    const FORM: &str = "application/x-www-form-urlencoded";
    let credentials = base64(format!("{}:{}", target.public_key, target.private_key).as_bytes());
    let key = &target.public_key;
    let mut heads = Vec::new();
    for (method, path) in &target.content.operations {
        heads.push(format!(
            "{method} {path} HTTP/1.1\r\nAuthorization: Basic {credentials}\r\nContent-Type: {JSON}"
        ));
    }
    heads.push(format!("POST /mcp?apiKey={key} HTTP/1.1\r\nContent-Type: {JSON}"));
    heads.push(format!(
        "POST /reconcile?apiKey={key} HTTP/1.1\r\nContent-Type: {FORM}"
    ));
    for path in PUBLIC_FORMS {
        heads.push(format!(
            "POST {path} HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\nContent-Type: {FORM}"
        ));
    }
    for path in SIGNED_IN_FORMS {
        heads.push(format!(
            "POST {path} HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\nCookie: {}\r\nContent-Type: {FORM}",
            target.content.session
        ));
    }
    let body = " ".repeat(BODY_START);
    let mut sockets = Sockets::new(target.count(1_500));
    for number in 0..sockets.capacity {
        let request = format!(
            "{}\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Length: {BODY_LENGTH}\r\n\r\n{body}",
            heads[number % heads.len()],
            target.address
        );
        sockets.open(target, number, None)?.send(request.into_bytes());
    }
    sockets.hold(target, |_| Some(b" "));
    Ok(sockets.summary())
}

/// 100 HTTP/2 connections with 100 streams each that ask for a large picture and grant no window, and 500 HTTP/1
/// connections that read it byte by byte.
pub(crate) fn unread_pictures(target: &Target) -> Result<String> {
    let picture = &target.content.picture;
    let (http2, http1) = (target.count(100), target.count(500));
    let mut sockets = Sockets::new(http2 + http1);
    for number in 0..http2 {
        let mut bytes = preface([0, 1, 1024][number % 3]);
        for index in 0..STREAMS_PER_CONNECTION {
            push_get(&mut bytes, index, "127.0.0.1", picture);
        }
        sockets.open(target, number, None)?.send(bytes);
    }
    for number in 0..http1 {
        let width = ["", "?w=512", "?w=256"][number % 3];
        let request = get_request(target.address, &format!("{picture}{width}"));
        sockets
            .open(target, number, Some(SMALL_BUFFER))?
            .send(request.into_bytes());
    }
    sockets.hold(target, |socket| {
        let _ = socket.stream.read(&mut [0]);
        None
    });
    Ok(sockets.summary())
}

/// All other floods in a random order, four at the same time.
pub(crate) fn random_mix(target: &Target) -> Result<String> {
    let started = Instant::now();
    let floods: Vec<_> = FLOODS.iter().filter(|flood| !flood.is_mix).collect();
    let run = |mut state: u64| -> Result<usize> {
        let mut count = 0;
        while started.elapsed() < target.duration {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let part = Target {
                divisor: target.divisor * MIXED_DIVISOR,
                duration: MIXED_DURATION.min(target.duration / 2),
                ..target.clone()
            };
            (floods[(state >> 33) as usize % floods.len()].run)(&part)?;
            count += 1;
        }
        Ok(count)
    };
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = (0..MIXED_AT_ONCE)
            .map(|number| scope.spawn(move || run(number as u64)))
            .collect();
        let results = threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a flood of the mix panicked")))
        });
        results.collect::<Result<Vec<_>>>()
    })?;
    Ok(format!("{} floods", counts.into_iter().sum::<usize>()))
}
