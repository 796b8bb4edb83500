//! Restarts and kills under load, with what clients saw.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::fleet::Fleet;
use super::limits;
use super::results::Finding;
use super::services::Services;
use super::traffic::{Progress, Report, Traffic};
use crate::format::seconds;
use crate::table::Verdict;

/// How long a killed service stays away.
const OUTAGE: Duration = Duration::from_secs(5);
/// Longer than `serve.max_stale`.
const DATABASE_OUTAGE: Duration = Duration::from_mins(1);
/// Successes of every kind of call that count as recovered.
const SUCCESSES: usize = 50;
const RECOVERY_TIMEOUT: Duration = Duration::from_mins(2);
/// The fraction of reads that are answered while PostgreSQL is away.
pub(super) const MIN_READS_ANSWERED: f64 = 0.99;

/// Stops each server with SIGTERM under load and starts it again.
pub(super) fn rolling_restart(fleet: &mut Fleet, traffic: &Traffic) -> Result<Finding> {
    let ((), report) = traffic.during(|progress| {
        settle(progress, Instant::now())?;
        for index in 0..fleet.len() {
            fleet.terminate(index)?;
            fleet.rejoin(index)?;
        }
        settle(progress, Instant::now())
    })?;
    Ok(Finding::bounded(report.describe(), report.failed() == 0))
}

/// Kills a server under load and starts it again.
pub(super) fn kill_server(fleet: &mut Fleet, traffic: &Traffic) -> Result<Finding> {
    let (killed, report) = traffic.during(|progress| {
        settle(progress, Instant::now())?;
        let killed = Instant::now();
        fleet.kill(0);
        thread::sleep(OUTAGE);
        fleet.rejoin(0)?;
        settle(progress, Instant::now())?;
        Ok(killed)
    })?;
    Ok(Finding::new(describe(&report, killed), Verdict::Unbounded))
}

/// Kills the first process of PostgreSQL's primary under load. Patroni starts it again or promotes the standby.
pub(super) fn kill_primary(services: &Services, traffic: &Traffic) -> Result<Finding> {
    services.wait_for_standby()?;
    let (killed, report) = traffic.during(|progress| {
        settle(progress, Instant::now())?;
        let primary = services.primary()?;
        let killed = Instant::now();
        services.kill_postgres(primary)?;
        settle(progress, killed)?;
        Ok(killed)
    })?;
    services.wait_for_standby()?;
    let value = format!(
        "{}, {:.2}% of reads answered",
        describe(&report, killed),
        report.reads_answered() * 100.0
    );
    Ok(Finding::bounded(
        value,
        report.reads_answered() >= MIN_READS_ANSWERED,
    ))
}

/// Takes PostgreSQL away from all servers for a minute under load: nothing listens at its address. Reads that need no row of
/// it go on through the balancer, also after the servers are no longer ready for writes.
pub(super) fn lose_database(services: &Services, traffic: &Traffic) -> Result<Finding> {
    let (lost, report) = traffic.during(|progress| {
        settle(progress, Instant::now())?;
        let lost = Instant::now();
        services.kill("database")?;
        thread::sleep(DATABASE_OUTAGE);
        services.start("database")?;
        settle(progress, Instant::now())?;
        Ok(lost)
    })?;
    let failed = report.failed_without_rows();
    let value = format!("{failed} of these failed; all: {}", describe(&report, lost));
    Ok(Finding::bounded(value, failed == 0))
}

/// Kills Redis under load. Returns what clients saw, and what was admitted with a new key meanwhile.
pub(super) fn kill_redis(fleet: &Fleet, traffic: &Traffic) -> Result<[Finding; 2]> {
    let services = fleet.services;
    ensure!(!services.redis_url.is_empty(), "the servers run without Redis");
    let ((killed, window), report) = traffic.during(|progress| {
        settle(progress, Instant::now())?;
        let killed = Instant::now();
        services.kill("redis")?;
        let window = limits::window_without_redis(fleet);
        thread::sleep(OUTAGE);
        services.start("redis")?;
        settle(progress, Instant::now())?;
        Ok((killed, window))
    })?;
    let finding = Finding::bounded(describe(&report, killed), report.failed() == 0);
    Ok([finding, window?])
}

/// Kills the blob store under load. It comes back with what it had.
pub(super) fn kill_blobs(services: &Services, traffic: &Traffic) -> Result<Finding> {
    ensure!(
        !services.blobs_url.is_empty(),
        "the servers run without a shared blob store"
    );
    let (killed, report) = traffic.during(|progress| {
        settle(progress, Instant::now())?;
        let saved = services.save_blobs()?;
        let killed = Instant::now();
        services.kill("moto")?;
        thread::sleep(OUTAGE);
        services.start_blobs(&saved)?;
        settle(progress, Instant::now())?;
        Ok(killed)
    })?;
    Ok(Finding::bounded(describe(&report, killed), report.failed() == 0))
}

/// Waits until every kind of call succeeds.
fn settle(progress: &Progress, since: Instant) -> Result<()> {
    ensure!(
        progress.wait_for_successes(since, SUCCESSES, RECOVERY_TIMEOUT),
        "calls still fail after {}: {}",
        seconds(RECOVERY_TIMEOUT),
        progress.describe_failures()
    );
    Ok(())
}

fn describe(report: &Report, killed: Instant) -> String {
    if report.failed() == 0 {
        return report.describe();
    }
    format!(
        "{}, the last {} after the kill",
        report.describe(),
        seconds(report.recovery(killed))
    )
}
