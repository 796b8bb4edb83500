//! Floods the server in every way that has been seen to hurt servers, with an honest client beside each flood.
//!
//! No call of the honest client may fail, its p99 may rise to 50 ms or to five times that of an idle server, whichever is
//! larger, and the memory of the server may rise by 256 MiB.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use crate::base64::base64;
use crate::cleanup::ScratchDir;
use crate::connection::Connection;
use crate::floods::{FLOODS, Flood, Target};
use crate::format::{latency, mebibytes};
use crate::honest::{Calls, HonestClient};
use crate::hostile_content::HostileContent;
use crate::interference::{CpuMonitor, note};
use crate::options::{DirectoryOptions, Options};
use crate::process::resident_memory;
use crate::sample::ApiClient;
use crate::table::{Table, Verdict};

const MAX_MEMORY_GROWTH: u64 = 256 << 20;
const MIN_P99_BOUND: Duration = Duration::from_millis(50);
const MAX_P99_RATIO: u32 = 5;

/// The open files that a flood of 5,000 connections needs, on either side.
const OPEN_FILES: u64 = 6_000;

/// What `--quick` divides all counts by.
const QUICK_DIVISOR: usize = 20;

const MEMORY_INTERVAL: Duration = Duration::from_millis(20);

/// The time for a server to free what the last flood held.
const SETTLE_TIME: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(crate) struct Hostile {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    directory: DirectoryOptions,
    /// Send a twentieth of each flood, once, and judge only failed calls and memory
    #[arg(long)]
    quick: bool,
    /// Only run the floods whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Seconds of each random mix of the floods
    #[arg(long, value_name = "S", default_value_t = 30)]
    mix_seconds: u64,
}

/// The honest client and the memory of the server during one round of a flood.
struct Round {
    sent: String,
    calls: Calls,
    memory_growth: u64,
}

impl Hostile {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        if !self.quick {
            check_open_files(&fs::read_to_string("/proc/self/limits")?)?;
        }
        let prepared = self.directory.prepare(&self.options.causeway, scratch)?;
        let key = prepared.causeway.create_public_key(self.directory.limit)?;
        let private_key = prepared.causeway.create_private_key()?;
        let monitors = CpuMonitor::for_machine();
        let rounds = if self.quick { 1 } else { self.options.rounds };
        let mut table = Table::new(
            "Hostile clients",
            &["flood", "sent", "calls", "failed", "p99", "bound", "memory"],
        );
        let mut idle_p99 = None;
        let content = {
            let server = prepared.causeway.serve_unpinned()?;
            let api = ApiClient {
                address: server.address,
                key: key.value.clone(),
            };
            let credentials = base64(format!("{}:{private_key}", key.value).as_bytes());
            let content = HostileContent::create(&api, &format!("Basic {credentials}"))?;
            server.stop(scratch)?;
            content
        };
        for (flood, addresses) in self.floods() {
            let name = name_of(flood, addresses);
            eprintln!("{name}");
            let server = prepared.causeway.serve_unpinned()?;
            let target = Target {
                address: server.address,
                public_key: key.value.clone(),
                private_key: private_key.clone(),
                divisor: if self.quick { QUICK_DIVISOR } else { 1 },
                duration: if flood.is_mix {
                    Duration::from_secs(self.mix_seconds)
                } else {
                    self.options.round_duration()?
                },
                addresses,
                content: content.clone(),
            };
            let paths = honest_paths(target.address, &key.value)?;
            // The first calls fill caches and connections.
            let idle = run_idle(&target, &paths, self.options.round_duration()?)?;
            ensure!(
                idle.failed == 0,
                "calls to the idle server fail: {:?}",
                idle.first_error
            );
            let idle_p99 = *idle_p99.get_or_insert_with(|| idle.latencies.percentile(0.99));
            let memory = server.resident_memory()?;
            let rounds = if flood.is_mix { 1 } else { rounds };
            let measured = (0..rounds)
                .map(|_| run_round(flood, &target, &paths, server.process_id(), memory))
                .collect::<Result<Vec<_>>>()?;
            self.add_row(&mut table, &name, &measured, idle_p99);
            server.stop(scratch)?;
        }
        if let Some(idle_p99) = idle_p99 {
            table.add_note(format!(
                "The p99 beside an idle server was {}. Values are medians of {rounds} rounds, failed calls and memory the most.",
                latency(idle_p99)
            ));
        }
        table.add_note(note(&monitors));
        Ok(table)
    }

    /// Lists the floods to run, and from how many addresses. A quick test has the mix instead of each costly flood.
    fn floods(&self) -> impl Iterator<Item = (&'static Flood, usize)> {
        let is_selected = |flood: &&Flood| flood.name.contains(&self.only) && (!self.quick || flood.is_quick);
        let all = FLOODS.iter().filter(is_selected);
        all.flat_map(|flood| {
            let addresses = if self.quick {
                &flood.addresses[flood.addresses.len() - 1..]
            } else {
                flood.addresses
            };
            addresses.iter().map(move |addresses| (flood, *addresses))
        })
    }

    fn add_row(&self, table: &mut Table, name: &str, rounds: &[Round], idle_p99: Duration) {
        let failed = rounds.iter().map(|round| round.calls.failed).max().unwrap_or(0);
        let growth = rounds.iter().map(|round| round.memory_growth).max().unwrap_or(0);
        let calls: u64 = rounds.iter().map(|round| round.calls.count).sum();
        let mut p99s: Vec<Duration> = rounds
            .iter()
            .map(|round| round.calls.latencies.percentile(0.99))
            .collect();
        p99s.sort_unstable();
        let p99 = p99s[p99s.len() / 2];
        let bound = MIN_P99_BOUND.max(idle_p99 * MAX_P99_RATIO);
        let is_met = failed == 0 && growth <= MAX_MEMORY_GROWTH && (self.quick || p99 <= bound);
        let bound = if self.quick {
            format!("<= {}", mebibytes(MAX_MEMORY_GROWTH))
        } else {
            format!("<= {}, {}", latency(bound), mebibytes(MAX_MEMORY_GROWTH))
        };
        table.add_row(
            &[
                name,
                &rounds[0].sent,
                &calls.to_string(),
                &failed.to_string(),
                &latency(p99),
                &bound,
                &format!("+{}", mebibytes(growth)),
            ],
            Verdict::of(is_met),
        );
        if let Some(error) = rounds.iter().find_map(|round| round.calls.first_error.as_ref()) {
            table.add_note(format!("{name}: {error}"));
        }
    }
}

/// Returns the name of a flood and the number of addresses that it comes from, if there are several ways to run it.
fn name_of(flood: &Flood, addresses: usize) -> String {
    match (flood.addresses.len(), addresses) {
        (1, _) => flood.name.to_owned(),
        (_, 1) => format!("{}, 1 address", flood.name),
        _ => format!("{}, {addresses} addresses", flood.name),
    }
}

/// Returns the paths that the honest client requests.
fn honest_paths(address: SocketAddr, key: &str) -> Result<Vec<String>> {
    let api = ApiClient {
        address,
        key: key.to_owned(),
    };
    let found = api.json(&mut Connection::open(address)?, "search/f", "&take=5")?;
    let nonprofits = found["nonprofits"].as_array().cloned().unwrap_or_default();
    let mut paths = vec![
        "/healthz".to_owned(),
        api.path("search/food", ""),
        api.path("browse/animals", ""),
    ];
    for nonprofit in &nonprofits {
        let ein = nonprofit["ein"].as_str().context("a search result has no EIN")?;
        paths.push(api.path(&format!("nonprofit/{ein}"), ""));
    }
    Ok(paths)
}

fn run_idle(target: &Target, paths: &[String], duration: Duration) -> Result<Calls> {
    let honest = HonestClient::start(target.address, paths);
    thread::sleep(duration);
    honest.stop()
}

fn run_round(flood: &Flood, target: &Target, paths: &[String], server: u32, memory: u64) -> Result<Round> {
    let is_over = Arc::new(AtomicBool::new(false));
    let sampling = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            let mut peak = 0;
            while !is_over.load(Ordering::Relaxed) {
                peak = resident_memory(server)?.max(peak);
                thread::sleep(MEMORY_INTERVAL);
            }
            Ok::<u64, anyhow::Error>(peak)
        }
    });
    let honest = HonestClient::start(target.address, paths);
    let sent = (flood.run)(target);
    thread::sleep(SETTLE_TIME);
    let calls = honest.stop()?;
    is_over.store(true, Ordering::Relaxed);
    let peak = sampling
        .join()
        .map_err(|_| anyhow!("the memory could not be read"))??;
    Ok(Round {
        sent: sent.with_context(|| format!("the flood of {} failed", flood.name))?,
        calls,
        memory_growth: peak.saturating_sub(memory),
    })
}

/// Fails if the limit on open files, which the server inherits, is too low for the floods.
fn check_open_files(limits: &str) -> Result<()> {
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
        .and_then(|values| values.split_whitespace().next())
        .and_then(|soft| soft.parse().ok())
        .unwrap_or(u64::MAX);
    ensure!(
        limit >= OPEN_FILES,
        "only {limit} files may be open, and the floods need {OPEN_FILES}: run `ulimit -n {OPEN_FILES}` first"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_limit_on_open_files_is_reported() {
        let limits = |soft: &str| {
            format!("Limit  Soft  Hard  Units\nMax open files            {soft}   20000  files\n")
        };
        assert!(
            check_open_files(&limits("1024"))
                .unwrap_err()
                .to_string()
                .contains("ulimit -n")
        );
        assert!(check_open_files(&limits("20000")).is_ok());
        assert!(check_open_files(&limits("unlimited")).is_ok());
    }
}
