//! Measures the built `causeway` binary from outside, by its commands and over HTTP, and prints one table a
//! program. Every figure stands beside one of the same run and machine, because seconds alone say little elsewhere.

mod answer;
mod baseline;
mod causeway;
mod cleanup;
mod connection;
mod cores;
mod details;
mod disturbance;
mod drive;
mod figures;
mod fundraisers;
mod histogram;
mod hostile;
mod import;
mod input;
mod options;
mod pictures;
mod process;
mod relevance;
mod requests;
mod sample;
mod search;
mod search_table;
mod site;
mod summary;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::cleanup::Workplace;

/// Measures the built causeway binary and prints one table
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    program: Program,
}

#[derive(Subcommand)]
enum Program {
    /// Time and memory of an import, beside sqlite3's own .import
    #[command(after_help = "Example: causeway-load import --file directory.csv.gz --rounds 1")]
    Import(import::Import),
    /// Ready time, memory and rate of details, beside /healthz
    #[command(after_help = "Example: causeway-load details --data data --file directory.csv.gz")]
    Details(details::Details),
    /// Rate, latency, memory and quality of search, beside /healthz
    #[command(
        after_help = "Example: causeway-load search --data data --log keystrokes.jsonl.gz --out search.md"
    )]
    Search(search::Search),
    /// Rate of gifts and new fundraisers beside single-row commits, and of raised beside /healthz
    #[command(after_help = "Example: causeway-load fundraisers --generate 2000")]
    Fundraisers(fundraisers::Fundraisers),
    /// Rate of profile pages beside /healthz, and of the home search beside the interface
    #[command(after_help = "Example: causeway-load site --generate 2000")]
    Site(site::Site),
    /// Time and memory of every hostile picture of the tests, sent through an import
    #[command(after_help = "Example: causeway-load pictures --rounds 1")]
    Pictures(pictures::Pictures),
}

fn main() -> ExitCode {
    match measure(&Cli::parse().program) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("causeway-load: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(program: &Program) -> Result<ExitCode> {
    cleanup::on_signals()?;
    let options = match program {
        Program::Import(import) => &import.options,
        Program::Details(details) => &details.options,
        Program::Search(search) => &search.options,
        Program::Fundraisers(fundraisers) => &fundraisers.options,
        Program::Site(site) => &site.options,
        Program::Pictures(pictures) => &pictures.options,
    };
    let workplace = Workplace::new(options.temp.as_deref())?;
    let table = match program {
        Program::Import(import) => import.measure(&workplace),
        Program::Details(details) => details.measure(&workplace),
        Program::Search(search) => search.measure(&workplace),
        Program::Fundraisers(fundraisers) => fundraisers.measure(&workplace),
        Program::Site(site) => site.measure(&workplace),
        Program::Pictures(pictures) => pictures.measure(&workplace),
    }?;
    print!("{table}");
    if let Some(file) = &options.out {
        table.write(file)?;
    }
    let failed = options.check && table.missed() > 0;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
