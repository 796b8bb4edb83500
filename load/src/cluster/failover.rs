//! Donations while the machine of PostgreSQL's primary is lost: whatever a donor was told is in the ledger once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::fleet::Fleet;
use super::http;
use super::results::Finding;
use super::traffic::Target;
use super::wait::wait_for;
use crate::format::{seconds, with_commas};

const WRITERS: usize = 4;
/// Donations that are acknowledged before the primary is lost, and after the failover.
const DONATIONS: usize = 100;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// The card number that the test provider accepts.
const CARD: &str = "4242424242424242";
/// Entries of the ledger for each receipt.
const ENTRIES: &str = "select d.receipt_id, count(e.sequence) from donations d \
     left join ledger_entries e on e.external_id = d.id::text group by d.receipt_id";

/// The donations that donors were told about. A line of the log counts once it is on disk.
struct Acknowledged {
    log: File,
    receipts: Vec<String>,
    last: Instant,
    longest_pause: Duration,
    failed: usize,
}

/// Loses the primary `rounds` times while donors donate through the balancer.
pub(super) fn lose_primary(
    fleet: &Fleet,
    balancer: SocketAddr,
    target: &Target,
    rounds: u32,
) -> Result<Finding> {
    let services = fleet.services;
    let (_, log) = fleet.create_file("acknowledged.log")?;
    let acknowledged = Mutex::new(Acknowledged {
        log,
        receipts: Vec::new(),
        last: Instant::now(),
        longest_pause: Duration::ZERO,
        failed: 0,
    });
    for round in 0..rounds {
        services.wait_for_standby()?;
        let is_over = AtomicBool::new(false);
        with(&acknowledged, |acknowledged| acknowledged.last = Instant::now());
        let count = || with(&acknowledged, |acknowledged| acknowledged.receipts.len());
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (is_over, acknowledged) = (&is_over, &acknowledged);
                scope.spawn(move || {
                    donate_until_over(balancer, target, [round as usize, writer], is_over, acknowledged);
                });
            }
            let lose = || {
                let before = count();
                wait_for("donations are acknowledged", || count() >= before + DONATIONS)?;
                let primary = services.primary()?;
                services.kill_machine(primary)?;
                let before = count();
                let promoted = wait_for("donations are acknowledged again", || {
                    count() >= before + DONATIONS
                });
                services.start_machine(primary)?;
                promoted
            };
            let result = lose();
            is_over.store(true, Ordering::Relaxed);
            result
        })?;
        services
            .wait_for_standby()
            .with_context(|| format!("the lost machine does not come back: {}", services.members()))?;
    }
    let acknowledged = acknowledged.into_inner().ok().context("a writer panicked")?;
    let stored = services.sql(ENTRIES)?;
    let stored: BTreeMap<&str, &str> = stored.lines().filter_map(|line| line.split_once('|')).collect();
    let is_lost = |receipt: &&String| stored.get(receipt.as_str()).is_none_or(|entries| *entries == "0");
    let lost = acknowledged.receipts.iter().filter(is_lost).count();
    let doubled = stored
        .values()
        .filter(|entries| !matches!(**entries, "0" | "1"))
        .count();
    let check = fleet.run(&["check"]);
    let value = format!(
        "{} acknowledged in {rounds} failovers, {lost} lost, {doubled} doubled, {} forms failed and were sent again, \
         longest pause {}, check {}",
        with_commas(acknowledged.receipts.len() as u64),
        with_commas(acknowledged.failed as u64),
        seconds(acknowledged.longest_pause),
        check
            .as_ref()
            .map_or_else(|error| format!("{error:#}"), |_| "clean".to_owned())
    );
    ensure!(!acknowledged.receipts.is_empty(), "nothing was acknowledged");
    Ok(Finding::bounded(
        value,
        lost == 0 && doubled == 0 && check.is_ok(),
    ))
}

fn with<T>(acknowledged: &Mutex<Acknowledged>, change: impl FnOnce(&mut Acknowledged) -> T) -> T {
    change(
        &mut acknowledged
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner),
    )
}

/// Donates again and again. A donation that failed is sent again with the same idempotency key.
fn donate_until_over(
    balancer: SocketAddr,
    target: &Target,
    [round, writer]: [usize; 2],
    is_over: &AtomicBool,
    acknowledged: &Mutex<Acknowledged>,
) {
    for number in 0.. {
        // The form accepts a UUID as its idempotency key.
        let key = format!(
            "{:08x}-{round:04x}-4000-8000-{writer:04x}{number:08x}",
            std::process::id()
        );
        let receipt = loop {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            if let Some(receipt) = donate(balancer, target, &key) {
                break receipt;
            }
            with(acknowledged, |acknowledged| acknowledged.failed += 1);
            thread::sleep(RETRY_INTERVAL);
        };
        with(acknowledged, |acknowledged| {
            let is_logged =
                writeln!(acknowledged.log, "{receipt}").and_then(|()| acknowledged.log.sync_data());
            if is_logged.is_ok() {
                let pause = acknowledged.last.elapsed();
                acknowledged.longest_pause = acknowledged.longest_pause.max(pause);
                acknowledged.last = Instant::now();
                acknowledged.receipts.push(receipt);
            }
        });
    }
}

/// Sends the forms of the checkout. Returns the receipt ID if the donation was acknowledged.
fn donate(balancer: SocketAddr, target: &Target, key: &str) -> Option<String> {
    let start = format!("/{}/f/{}/give", target.nonprofit, target.fundraiser);
    let page = send_form(balancer, &start, &format!("amount=2.50&public=no&once={key}"))?;
    let receipt = send_form(balancer, &page, &format!("card={CARD}"))?;
    receipt.strip_prefix("/donations/").map(str::to_owned)
}

/// Sends a form and returns the path that it redirects to.
fn send_form(balancer: SocketAddr, path: &str, fields: &str) -> Option<String> {
    let response = http::post_form(balancer, path, fields).ok()?;
    if response.status != 303 {
        return None;
    }
    response.header("location").map(str::to_owned)
}
