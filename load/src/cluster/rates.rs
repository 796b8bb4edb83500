//! The rate of calls to one server and to all of them at once, the CPU time of a call, and what idle servers do.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::fleet::{Fleet, Keys};
use super::results::Finding;
use crate::client::{Round, saturate};
use crate::format::{latency, rate};
use crate::requests::Requests;
use crate::table::Verdict;

const CONNECTIONS: usize = 16;
/// Longer than the interval in which idle connections report their statistics.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// Time for the work that follows other measurements, such as saving the usage.
const SETTLING_TIME: Duration = Duration::from_secs(15);

/// Measures one server, and the others while they are idle.
pub(super) fn one_server(fleet: &Fleet, paths: &[String], duration: Duration) -> Result<Finding> {
    let before = fleet.cpu_time(0)?;
    let round = send(fleet.addresses()[0], paths, duration)?;
    let used = fleet.cpu_time(0)?.saturating_sub(before);
    Ok(Finding::new(
        format!(
            "{}, {} of CPU time per call",
            rate(round.rate()),
            per_call(used, round.requests)
        ),
        Verdict::Unbounded,
    ))
}

/// Measures all servers at once, on the cores of this machine.
pub(super) fn all_servers(fleet: &Fleet, paths: &[String], duration: Duration) -> Result<Finding> {
    let before = total_cpu_time(fleet)?;
    let rounds = thread::scope(|scope| {
        let clients: Vec<_> = fleet
            .addresses()
            .iter()
            .map(|server| scope.spawn(|| send(*server, paths, duration)))
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().ok().context("a client panicked")?)
            .collect::<Result<Vec<Round>>>()
    })?;
    let used = total_cpu_time(fleet)?.saturating_sub(before);
    let requests = rounds.iter().map(|round| round.requests).sum();
    let rates: Vec<String> = rounds.iter().map(|round| rate(round.rate())).collect();
    Ok(Finding::new(
        format!(
            "{}, {} of CPU time per call",
            rates.join(" + "),
            per_call(used, requests)
        ),
        Verdict::Unbounded,
    ))
}

/// Measures the transactions of the database while no client calls.
pub(super) fn idle_transactions(fleet: &Fleet, bound: f64) -> Result<Finding> {
    thread::sleep(SETTLING_TIME);
    let before = fleet.services.transactions()?;
    thread::sleep(IDLE_TIME);
    // One of them is the statement that counts.
    let count = fleet.services.transactions()? - before - 1.0;
    let per_second = count / IDLE_TIME.as_secs_f64();
    Ok(Finding::bounded(
        format!("{per_second:.1}/s with {} servers", fleet.len()),
        per_second <= bound,
    ))
}

/// Paths of searches and of details.
pub(super) fn paths(keys: &Keys, eins: &[String]) -> (Vec<String>, Vec<String>) {
    let words = [
        "food", "art", "church", "school", "health", "animal", "youth", "house",
    ];
    let prefixes = words
        .iter()
        .flat_map(|word| (2..=word.len()).map(|length| &word[..length]));
    let search = prefixes.map(|prefix| keys.search_path(prefix)).collect();
    let details = eins
        .iter()
        .map(|ein| keys.path(&format!("nonprofit/{ein}")))
        .collect();
    (details, search)
}

fn send(server: SocketAddr, paths: &[String], duration: Duration) -> Result<Round> {
    let mut requests = Requests::new(server);
    for path in paths {
        requests.push(path);
    }
    saturate(&requests, CONNECTIONS, duration)
}

fn total_cpu_time(fleet: &Fleet) -> Result<Duration> {
    (0..fleet.len()).map(|index| fleet.cpu_time(index)).sum()
}

fn per_call(used: Duration, calls: u64) -> String {
    latency(used.div_f64(calls.max(1) as f64))
}
