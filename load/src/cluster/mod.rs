//! Three servers on shared services: limits, restarts, kills, failover, and what a call costs.
//!
//! `tests/cluster.sh` starts the services and this program. The program starts the servers, calls them directly and
//! through the balancer, kills one part after the other, and counts what clients saw.

mod changes;
mod failover;
mod faults;
mod fleet;
mod http;
mod limits;
mod rates;
mod results;
mod services;
mod traffic;
mod wait;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use self::fleet::{Fleet, Joined, Keys};
use self::results::{Finding, Results};
use self::services::Services;
use self::traffic::{Target, Traffic, create_body};
use crate::cleanup::ScratchDir;
use crate::format::{seconds, with_commas};
use crate::options::Options;
use crate::sample::sample_eins_from_file;
use crate::table::Table;

/// A server that joins is ready this long after it has fetched the snapshot.
const MAX_JOIN_SECONDS: f64 = 10.0;
/// Transactions per second of three idle servers: their combined checks, probes and leases, with room to spare.
const MAX_IDLE_TRANSACTIONS: f64 = 10.0;
/// Nonprofits whose details are requested.
const SAMPLE: usize = 200;

#[derive(Args)]
pub(crate) struct Cluster {
    #[command(flatten)]
    pub options: Options,
    /// Number of nonprofits to generate; more than directory.overlay_limit, so that an import of all builds a snapshot
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    nonprofits: u64,
    /// Measure only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,
    /// Copy the logs of the servers to this folder
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Part {
    Limits,
    Rates,
    Idle,
    Imports,
    Restarts,
    Kills,
    Outage,
    Failover,
    Restore,
}

impl Cluster {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let services = Services::from_environment()?;
        let mut fleet = Fleet::new(&services, &self.options.causeway, scratch)?;
        let measured = self.measure_fleet(&mut fleet);
        if let Some(folder) = &self.logs {
            fs::create_dir_all(folder)?;
            fleet.save_logs(folder);
        }
        measured
    }

    fn measure_fleet(&self, fleet: &mut Fleet) -> Result<Table> {
        let mut results = Results::new(format!(
            "{} servers, {} nonprofits; PostgreSQL with a synchronous standby, Redis, S3, HAProxy on one machine",
            fleet.len(),
            with_commas(self.nonprofits)
        ));
        let file = fleet.generate(self.nonprofits)?;
        fleet.run(&["import", "irs", &file.display().to_string()])?;
        let keys = fleet.create_keys()?;
        Self::start(fleet, &mut results)?;
        let eins = sample_eins_from_file(&file, SAMPLE)?;
        let mut target = create_target(fleet, &keys, &eins)?;
        let parts: BTreeSet<Part> = if self.only.is_empty() {
            Part::value_variants().iter().copied().collect()
        } else {
            self.only.iter().copied().collect()
        };
        for part in parts {
            // A measurement that failed may have left a server stopped.
            for index in 0..fleet.len() {
                if !fleet.is_ready(index) {
                    fleet.rejoin(index)?;
                }
            }
            // An import may have renamed it.
            target.slug = find_slug(fleet, &keys, &target.ein)?;
            self.measure_part(part, fleet, &keys, &target, (&file, &eins), &mut results)?;
        }
        let mut table = results.into_table();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        table.add_note(format!(
            "Servers, services and clients share {cores} cores. Patroni gives up on a primary after 20 s (ttl). Calls under load are details, search, \
             raised, profile pages and new fundraisers, one client for each."
        ));
        Ok(table)
    }

    fn start(fleet: &mut Fleet, results: &mut Results) -> Result<()> {
        fleet.start_ready(0)?;
        let joined = fleet.start_ready(1)?;
        results.add(
            "a second server joins",
            "ready 10 s after the fetch",
            Ok(describe_join(&joined)),
        );
        for index in 2..fleet.len() {
            fleet.rejoin(index)?;
        }
        Ok(())
    }

    fn measure_part(
        &self,
        part: Part,
        fleet: &mut Fleet,
        keys: &Keys,
        target: &Target,
        (file, eins): (&Path, &[String]),
        results: &mut Results,
    ) -> Result<()> {
        let services = fleet.services;
        let balancer = services.balancer;
        let traffic = Traffic {
            balancer,
            keys,
            target,
        };
        match part {
            Part::Limits => {
                for servers in 1..=fleet.len() {
                    let plural = if servers == 1 { "" } else { "s" };
                    let name = format!("limit 500, first minute, {servers} server{plural}");
                    results.add(&name, "500", limits::first_window(fleet, servers));
                }
                results.add(
                    "sign-in attempts, 3 servers",
                    "10",
                    limits::sign_in_attempts(fleet),
                );
            }
            Part::Rates => {
                let duration = self.options.round_duration()?;
                let (details, search) = rates::paths(keys, eins);
                for (name, paths) in [("details", &details), ("search", &search)] {
                    let one = rates::one_server(fleet, paths, duration);
                    results.add(&format!("{name}, one server"), "", one);
                    let all = rates::all_servers(fleet, paths, duration);
                    results.add(&format!("{name}, all servers at once"), "", all);
                }
            }
            Part::Idle => {
                let idle = rates::idle_transactions(fleet, MAX_IDLE_TRANSACTIONS);
                let bound = format!("<= {MAX_IDLE_TRANSACTIONS}/s");
                results.add("transactions of idle servers", &bound, idle);
            }
            Part::Imports => {
                let small = changes::small_import(fleet, keys, &eins[..5]);
                results.add("3 servers show an import of 5 names", "", small);
                let large = changes::large_import(fleet, keys, file, &eins[10]);
                results.add("3 servers show a new snapshot", "", large);
            }
            Part::Restarts => {
                let restart = faults::rolling_restart(fleet, &traffic);
                results.add("rolling restart under load", "0 failed", restart);
                let strict = Traffic {
                    balancer: services.strict_balancer,
                    ..traffic
                };
                let restart = faults::rolling_restart(fleet, &strict);
                results.add("the same, no request repeated by HAProxy", "0 failed", restart);
            }
            Part::Kills => {
                let killed = faults::kill_server(fleet, &traffic);
                results.add("kill -9 of a server", "", killed);
                let killed = faults::kill_primary(services, &traffic);
                results.add("kill -9 of PostgreSQL's primary", ">= 99% of reads", killed);
                let (killed, window) = match faults::kill_redis(fleet, &traffic) {
                    Ok([killed, window]) => (Ok(killed), Ok(window)),
                    Err(error) => (Err(error), Err(anyhow::anyhow!("not measured"))),
                };
                results.add("kill -9 of Redis", "0 failed", killed);
                results.add("limit 500 without Redis, 3 servers", "<= 500", window);
                let forgetful = limits::window_with_forgetful_redis(fleet);
                results.add(
                    "limit 500, Redis emptied and killed 10 times",
                    "<= 506",
                    forgetful,
                );
                let killed = faults::kill_blobs(services, &traffic);
                results.add("kill -9 of the blob store", "0 failed", killed);
            }
            Part::Outage => {
                let lost = faults::lose_database(services, &traffic);
                results.add(
                    "PostgreSQL away for 60 s: details, search, pages",
                    "0 failed",
                    lost,
                );
            }
            Part::Failover => {
                let lost = failover::lose_primary(fleet, balancer, target, self.options.rounds);
                results.add("loss of PostgreSQL's primary, donations", "0 lost", lost);
            }
            Part::Restore => {
                let restored = changes::restore(fleet, keys, &eins[..5]);
                results.add("restore of an older state", "every server", restored);
            }
        }
        Ok(())
    }
}

/// Without a moment of the fetch, the whole start has to be within the bound.
fn describe_join(joined: &Joined) -> Finding {
    let after_fetch = joined.after_fetch.map_or_else(
        || "the fetch was too short to be seen".to_owned(),
        |after_fetch| format!("{} after the fetch", seconds(after_fetch)),
    );
    Finding::bounded(
        format!(
            "ready {} after its start, {after_fetch}",
            seconds(joined.after_start)
        ),
        joined.after_fetch.unwrap_or(joined.after_start).as_secs_f64() <= MAX_JOIN_SECONDS,
    )
}

fn find_slug(fleet: &Fleet, keys: &Keys, ein: &str) -> Result<String> {
    let details = http::get(fleet.addresses()[0], &keys.path(&format!("nonprofit/{ein}")))?.json();
    let slug = details["data"]["nonprofit"]["primarySlug"].as_str();
    Ok(slug.with_context(|| format!("no slug in {details}"))?.to_owned())
}

/// Creates a fundraiser for the first nonprofit that can receive donations.
fn create_target(fleet: &Fleet, keys: &Keys, eins: &[String]) -> Result<Target> {
    let server = fleet.addresses()[0];
    let found = eins.iter().find_map(|ein| {
        let details = http::get(server, &keys.path(&format!("nonprofit/{ein}")))
            .ok()?
            .json();
        let nonprofit = &details["data"]["nonprofit"];
        let text = |name: &str| nonprofit[name].as_str().map(str::to_owned);
        (nonprofit["isDisbursable"] == true).then_some(())?;
        Some((ein.clone(), text("id")?, text("primarySlug")?))
    });
    let (ein, nonprofit, slug) = found.context("no nonprofit can receive donations")?;
    let headers = format!("{}Content-Type: application/json\r\n", keys.authorization);
    let body = create_body(&nonprofit, 0);
    let created = http::send(server, "POST", "/v0.2/fundraiser", &headers, &body)?;
    let body = created.json();
    let fundraiser = body["data"]["fundraiser"]["id"]
        .as_str()
        .with_context(|| format!("the fundraiser was not created: {} {body}", created.status))?
        .to_owned();
    Ok(Target {
        nonprofit,
        ein,
        slug,
        fundraiser,
    })
}
