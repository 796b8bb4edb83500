//! Limits over several servers: calls of a key in its first window, and attempts to sign in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::fleet::Fleet;
use super::http;
use super::results::Finding;
use crate::format::{seconds, with_commas};

/// The default limit of searches per minute and key.
pub(super) const LIMIT: usize = 500;
/// Calls to each server: each alone would reach the limit.
const CALLS_PER_SERVER: usize = 600;
const CLIENTS: usize = 6;
/// How often Redis is emptied and killed, and the calls to each server before each time: 600 in all.
const REDIS_LOSSES: usize = 10;
const CALLS_BETWEEN_LOSSES: usize = 20;
const WINDOW: Duration = Duration::from_mins(1);
/// Attempts to sign in to one account from one address, in a quarter of an hour.
pub(super) const ATTEMPTS: usize = 10;
const ATTEMPTS_PER_SERVER: usize = 12;

/// The statuses of calls, and how long all of them took.
struct Flood {
    statuses: BTreeMap<u16, usize>,
    elapsed: Duration,
}

impl Flood {
    fn count(&self, status: u16) -> usize {
        self.statuses.get(&status).copied().unwrap_or_default()
    }

    /// Fails if a call got anything but these two statuses.
    fn require_only(&self, expected: [u16; 2]) -> Result<()> {
        ensure!(
            self.statuses.keys().all(|status| expected.contains(status)),
            "statuses other than {expected:?}: {:?}",
            self.statuses
        );
        Ok(())
    }
}

/// Sends `calls` calls to each of the servers in turn, several at a time.
fn flood(
    servers: &[SocketAddr],
    calls: usize,
    call: impl Fn(SocketAddr) -> std::io::Result<u16> + Sync,
) -> Flood {
    let (next, statuses) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= calls * servers.len() {
                        return;
                    }
                    // A call without a response counts as status 0.
                    let status = call(servers[number % servers.len()]).unwrap_or(0);
                    if let Ok(mut statuses) = statuses.lock() {
                        *statuses.entry(status).or_default() += 1;
                    }
                }
            });
        }
    });
    Flood {
        statuses: statuses.into_inner().unwrap_or_default(),
        elapsed: started.elapsed(),
    }
}

/// Sends more searches with a new key than the limit allows, in less than a window.
fn search_over_limit(fleet: &Fleet, servers: usize) -> Result<Flood> {
    let (_, key) = fleet.create_key()?;
    let path = format!("/v0.2/search/food?take=1&apiKey={key}");
    let flood = flood(&fleet.addresses()[..servers], CALLS_PER_SERVER, |server| {
        http::get(server, &path).map(|response| response.status)
    });
    flood.require_only([200, 429])?;
    ensure!(
        flood.elapsed < WINDOW,
        "the calls took {}, longer than a window",
        seconds(flood.elapsed)
    );
    Ok(flood)
}

/// Counts the calls that are admitted in the first window of a key over this many servers.
pub(super) fn first_window(fleet: &Fleet, servers: usize) -> Result<Finding> {
    let flood = search_over_limit(fleet, servers)?;
    let admitted = flood.count(200);
    let value = format!(
        "{} of {} admitted in {}",
        with_commas(admitted as u64),
        with_commas((CALLS_PER_SERVER * servers) as u64),
        seconds(flood.elapsed)
    );
    Ok(Finding::bounded(value, admitted == LIMIT))
}

/// Counts the calls that are admitted with a new key while Redis is away: each server has its share of the limit.
pub(super) fn window_without_redis(fleet: &Fleet) -> Result<Finding> {
    let flood = search_over_limit(fleet, fleet.len())?;
    let admitted = flood.count(200);
    let value = format!(
        "{} of {} admitted",
        with_commas(admitted as u64),
        with_commas((CALLS_PER_SERVER * fleet.len()) as u64)
    );
    let is_met = (LIMIT - fleet.len()..=LIMIT).contains(&admitted);
    Ok(Finding::bounded(value, is_met))
}

/// Counts the calls that are admitted in a minute in which Redis is emptied and killed again and again.
pub(super) fn window_with_forgetful_redis(fleet: &Fleet) -> Result<Finding> {
    let services = fleet.services;
    let (_, key) = fleet.create_key()?;
    let path = format!("/v0.2/search/food?take=1&apiKey={key}");
    let started = Instant::now();
    let mut admitted = 0;
    for _ in 0..REDIS_LOSSES {
        let flood = flood(fleet.addresses(), CALLS_BETWEEN_LOSSES, |server| {
            http::get(server, &path).map(|response| response.status)
        });
        flood.require_only([200, 429])?;
        admitted += flood.count(200);
        services.empty_redis()?;
        services.kill("redis")?;
        services.start("redis")?;
        // So that some calls are decided without Redis, and some with one that knows nothing.
        thread::sleep(Duration::from_millis(500));
    }
    ensure!(
        started.elapsed() < WINDOW,
        "the calls took {}, longer than a window",
        seconds(started.elapsed())
    );
    let value = format!(
        "{admitted} of {} admitted",
        CALLS_BETWEEN_LOSSES * fleet.len() * REDIS_LOSSES
    );
    // Calls that are in flight at a loss may be counted by one server alone.
    Ok(Finding::bounded(value, admitted <= LIMIT + CLIENTS))
}

/// Counts the attempts to sign in to one account that are checked, over all servers.
pub(super) fn sign_in_attempts(fleet: &Fleet) -> Result<Finding> {
    let fields = "username=nobody&password=river+stone+lantern";
    let flood = flood(fleet.addresses(), ATTEMPTS_PER_SERVER, |server| {
        http::post_form(server, "/dashboard/sign-in", fields).map(|response| response.status)
    });
    flood.require_only([422, 429])?;
    let checked = flood.count(422);
    let value = format!("{checked} of {} checked", ATTEMPTS_PER_SERVER * fleet.len());
    Ok(Finding::bounded(value, checked == ATTEMPTS))
}
