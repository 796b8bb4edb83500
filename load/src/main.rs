//! Benchmarks the built `causeway` binary from outside, through its commands and over HTTP.
//!
//! Each subcommand prints one table. Every measurement is compared with a baseline from the same run on the
//! same machine, because absolute times mean little on other hardware.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

mod base64;
mod baseline;
mod causeway;
mod cleanup;
mod client;
mod cluster;
mod connection;
mod cores;
mod costly_floods;
mod details;
mod everyday;
mod floods;
mod format;
mod fundraisers;
mod histogram;
mod honest;
mod hostile;
mod hostile_content;
mod hostile_terms;
mod http2_frames;
mod import;
mod import_summary;
mod input;
mod intent;
mod interference;
mod meaning;
mod options;
mod payments;
mod pictures;
mod process;
mod receiver;
mod relevance;
mod requests;
mod response;
mod returns;
mod sample;
mod search;
mod search_table;
mod site;
mod stripe;
mod table;
mod webhooks;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::cleanup::ScratchDir;

/// Benchmark the built causeway binary and print one table
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Measure the time and memory of an import, compared with sqlite3's .import
    #[command(after_help = "Example: causeway-load import --file directory.csv.gz --rounds 1")]
    Import(import::Import),
    /// Measure the time and memory of an import of Form 990 returns, compared with unzipping and parsing them
    #[command(after_help = "Example: causeway-load returns --generate 10000 --nonprofits 5000 --rounds 1")]
    Returns(returns::Returns),
    /// Measure startup time, memory and the rate of nonprofit details, compared with /healthz
    #[command(after_help = "Example: causeway-load details --data data --file directory.csv.gz")]
    Details(details::Details),
    /// Measure the rate, latency, memory and relevance of search, compared with /healthz
    #[command(
        after_help = "Example: causeway-load search --data data --log keystrokes.jsonl.gz --out search.md"
    )]
    Search(search::Search),
    /// Measure what word vectors add to the time of a search
    #[command(
        after_help = "Example: causeway-load meaning --data data --log keystrokes.jsonl.gz --intent intent.jsonl"
    )]
    Meaning(meaning::Meaning),
    /// Measure the rate of donations and new fundraisers, compared with sqlite3, and of raised totals
    #[command(after_help = "Example: causeway-load fundraisers --generate 2000")]
    Fundraisers(fundraisers::Fundraisers),
    /// Measure payments by Stripe: donations that events complete, compared with sqlite3, everything else while Stripe is
    /// silent, and the memory of a comparison
    #[command(after_help = "Example: causeway-load payments --generate 2000 --transactions 10000")]
    Payments(payments::Payments),
    /// Measure webhooks: deliveries next to a plain client, delays, and what endpoints cost, also one that is dead
    #[command(after_help = "Example: causeway-load webhooks --generate 2000 --backlog 10000")]
    Webhooks(webhooks::Webhooks),
    /// Measure the rate of profile pages, compared with /healthz, and the home page search, compared with the
    /// API
    #[command(after_help = "Example: causeway-load site --generate 2000")]
    Site(site::Site),
    /// Measure the time and memory of importing each hostile picture of the test suite
    #[command(after_help = "Example: causeway-load pictures --rounds 1")]
    Pictures(pictures::Pictures),
    /// Flood the server in several ways and measure an honest client beside each flood; exits with 1 when a bound is
    /// missed
    #[command(after_help = "Example: causeway-load hostile --generate 100000")]
    Hostile(hostile::Hostile),
    /// Run three servers on shared services, kill one part after the other under load, and count what clients saw; exits
    /// with 1 when a bound is missed
    #[command(after_help = "Example: tests/cluster.sh target/release/causeway-load cluster")]
    Cluster(cluster::Cluster),
}

fn main() -> ExitCode {
    match run(&Cli::parse().benchmark) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("causeway-load: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(benchmark: &Benchmark) -> Result<ExitCode> {
    cleanup::install_signal_handler()?;
    let options = match benchmark {
        Benchmark::Import(import) => &import.options,
        Benchmark::Returns(returns) => &returns.options,
        Benchmark::Details(details) => &details.options,
        Benchmark::Search(search) => &search.options,
        Benchmark::Meaning(meaning) => &meaning.options,
        Benchmark::Fundraisers(fundraisers) => &fundraisers.options,
        Benchmark::Payments(payments) => &payments.options,
        Benchmark::Webhooks(webhooks) => &webhooks.options,
        Benchmark::Site(site) => &site.options,
        Benchmark::Pictures(pictures) => &pictures.options,
        Benchmark::Hostile(hostile) => &hostile.options,
        Benchmark::Cluster(cluster) => &cluster.options,
    };
    let scratch = ScratchDir::new(options.temp.as_deref())?;
    let table = match benchmark {
        Benchmark::Import(import) => import.measure(&scratch),
        Benchmark::Returns(returns) => returns.measure(&scratch),
        Benchmark::Details(details) => details.measure(&scratch),
        Benchmark::Search(search) => search.measure(&scratch),
        Benchmark::Meaning(meaning) => meaning.measure(&scratch),
        Benchmark::Fundraisers(fundraisers) => fundraisers.measure(&scratch),
        Benchmark::Payments(payments) => payments.measure(&scratch),
        Benchmark::Webhooks(webhooks) => webhooks.measure(&scratch),
        Benchmark::Site(site) => site.measure(&scratch),
        Benchmark::Pictures(pictures) => pictures.measure(&scratch),
        Benchmark::Hostile(hostile) => hostile.measure(&scratch),
        Benchmark::Cluster(cluster) => cluster.measure(&scratch),
    }?;
    print!("{table}");
    if let Some(file) = &options.out {
        table.write(file)?;
    }
    let must_meet_bounds =
        options.check || matches!(benchmark, Benchmark::Hostile(_) | Benchmark::Cluster(_));
    let failed = must_meet_bounds && table.missed_bounds() > 0;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
