//! Signs events and sends them to the webhook endpoint, again and again until it answers with 2xx.

use crate::hex::hex;
use crate::jobs;
use crate::json::maybe_text;
use crate::shared::Shared;
use crate::state::real_millis;
use anyhow::{Context, Result, bail};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How many events are on their way at once.
const MAX_IN_FLIGHT: usize = 8;
/// How often jobs and deliveries are looked for.
const TICK: Duration = Duration::from_millis(20);

/// Returns the value of `Stripe-Signature`. During a rotation there are several secrets, separated by commas.
pub(crate) fn signature(secrets: &str, time: i64, body: &[u8]) -> String {
    let mut header = format!("t={time}");
    for secret in secrets.split(',') {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key fits");
        mac.update(format!("{time}.").as_bytes());
        mac.update(body);
        header.push_str(",v1=");
        header.push_str(&hex(&mac.finalize().into_bytes()));
    }
    header
}

/// Runs jobs that are due and delivers events until the simulator stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    let in_flight = Arc::new(Mutex::new(HashSet::new()));
    loop {
        let due: Vec<u64> = {
            let mut state = shared.lock();
            jobs::run_due(&mut state);
            let now = real_millis();
            let busy = in_flight.lock().expect("no task panics with the lock");
            let due = state
                .store
                .due_deliveries(now)
                .filter(|number| !busy.contains(number));
            due.take(MAX_IN_FLIGHT.saturating_sub(busy.len())).collect()
        };
        for number in due {
            in_flight
                .lock()
                .expect("no task panics with the lock")
                .insert(number);
            let (shared, in_flight) = (shared.clone(), in_flight.clone());
            tokio::spawn(async move {
                attempt(&shared, number).await;
                in_flight
                    .lock()
                    .expect("no task panics with the lock")
                    .remove(&number);
                shared.wake.notify_one();
            });
        }
        tokio::select! {
            () = shared.wake.notified() => {}
            () = sleep(TICK) => {}
        }
    }
}

/// Sends an event once, and removes its delivery or plans the next attempt.
async fn attempt(shared: &Shared, number: u64) {
    let Some((url, headers, body, wait)) = prepare(shared, number) else {
        return;
    };
    let result = timeout(wait, post(&url, &headers, &body)).await;
    let is_accepted = matches!(result, Ok(Ok(200..=299)));
    let mut state = shared.lock();
    let Some(mut delivery) = state.store.deliveries().get(&number).cloned() else {
        return;
    };
    delivery.failures += 1;
    if is_accepted || delivery.failures >= state.tuning().max_attempts {
        state.store.remove_delivery(number);
        let event = delivery.event;
        let pending = state
            .store
            .deliveries()
            .values()
            .filter(|delivery| delivery.event == event)
            .count();
        state
            .store
            .change(&event, |record| record.value["pending_webhooks"] = pending.into());
    } else {
        let retries = &state.tuning().retries;
        let index = (delivery.failures as usize - 1).min(retries.len().saturating_sub(1));
        delivery.due = real_millis() + retries.get(index).copied().unwrap_or(1_000);
        state.store.put_delivery(number, delivery);
    }
    state.store.commit();
}

type Request = (String, String, Vec<u8>, Duration);

fn prepare(shared: &Shared, number: u64) -> Option<Request> {
    let state = shared.lock();
    let delivery = state.store.deliveries().get(&number)?;
    let event = state.object(&delivery.event);
    let url = state.endpoint.url.clone()?;
    let is_connected = maybe_text(&event, "account").is_some();
    let secret = if is_connected {
        &state.endpoint.connect_secret
    } else {
        &state.endpoint.secret
    };
    let body = serde_json::to_vec_pretty(&event).expect("an event is JSON");
    let time = state.clock_millis().div_euclid(1_000);
    let headers = format!("Stripe-Signature: {}\r\n", signature(secret, time, &body));
    Some((
        url,
        headers,
        body,
        Duration::from_millis(state.tuning().delivery_timeout),
    ))
}

/// Sends a POST request over plain HTTP and returns the status. Webhook endpoints of tests need nothing else.
async fn post(url: &str, headers: &str, body: &[u8]) -> Result<u16> {
    let (host, path) = split_url(url)?;
    let mut stream = TcpStream::connect(host).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)\r\n\
         Accept: */*\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    let mut answer = Vec::new();
    let mut buffer = [0; 1024];
    while !answer.contains(&b'\n') {
        match stream.read(&mut buffer).await? {
            0 => break,
            length => answer.extend_from_slice(&buffer[..length]),
        }
    }
    let line = String::from_utf8_lossy(&answer);
    let status = line
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse().ok());
    status.context("the endpoint did not answer with HTTP")
}

/// Splits `http://127.0.0.1:8080/webhooks` into host and path.
pub(crate) fn split_url(url: &str) -> Result<(&str, &str)> {
    let Some(rest) = url.strip_prefix("http://") else {
        bail!("{url} does not start with http://; the simulator sends events over plain HTTP only");
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if !host.contains(':') {
        bail!("{url} has no port; add one, such as http://127.0.0.1:8080/webhooks/stripe");
    }
    Ok((host, if path.is_empty() { "/" } else { path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_time_and_body() {
        // python3: hmac.new(b"whsec_test", b"1700000000.{}", "sha256").hexdigest()
        let expected = "35495024f4ef3f94e5a93e22221544c4b75e9a42300cd965ab81cb85cd994e91";
        assert_eq!(
            signature("whsec_test", 1_700_000_000, b"{}"),
            format!("t=1700000000,v1={expected}")
        );
    }

    #[test]
    fn each_secret_of_a_rotation_signs() {
        let both = signature("whsec_old,whsec_new", 5, b"x");
        assert!(both.starts_with(&signature("whsec_old", 5, b"x")));
        assert!(both.ends_with(signature("whsec_new", 5, b"x").trim_start_matches("t=5")));
    }

    #[test]
    fn a_url_has_a_port_and_a_path() {
        assert_eq!(
            split_url("http://127.0.0.1:80/a/b").unwrap(),
            ("127.0.0.1:80", "/a/b")
        );
        assert_eq!(split_url("http://localhost:81").unwrap(), ("localhost:81", "/"));
        assert!(split_url("https://localhost:81").is_err());
        assert!(split_url("http://localhost/a").is_err());
    }
}
