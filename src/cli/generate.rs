//! `causeway generate`

use crate::cli::stdout::Stdout;
use anyhow::Context;
use clap::Args;
use directory::eligibility::business_days::day_of;
use ingest::generate::{MAX_ROWS, Returns, StandingLists};
use jiff::civil::Date;
use platform::clock::Clock;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  causeway generate --count 10000 --seed 1 > eo.csv && causeway import irs eo.csv\n  \
                  causeway generate --returns 30000 --count 10000 --seed 1 --out returns\n  \
                  causeway generate --lists 5000 --count 10000 --seed 1 --out lists && causeway import all lists"
)]
pub(super) struct Generate {
    /// The number of rows to write
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "returns",
        value_parser = clap::value_parser!(u64).range(..=MAX_ROWS)
    )]
    count: Option<u64>,
    /// The seed; the same seed always writes the same file
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Write this many Form 990 returns in ZIP bundles instead, with an index. They belong to the nonprofits that
    /// --count writes with the same seed; without --count, to a third as many nonprofits as returns
    #[arg(long, value_name = "N", group = "files", requires = "out", value_parser = clap::value_parser!(u64).range(1..=MAX_ROWS))]
    returns: Option<u64>,
    /// Write the lists of good standing instead: this many rows of the registry of California, the list of the tax board and
    /// the sanctions list. Rows with an EIN belong to the nonprofits that --count writes with the same seed
    #[arg(long, value_name = "N", group = "files", requires_all = ["out", "count"], value_parser = clap::value_parser!(u64).range(1..=MAX_ROWS))]
    lists: Option<u64>,
    /// The day of the lists; today by default
    #[arg(long, value_name = "DATE", requires = "lists")]
    as_of: Option<Date>,
    /// The folder for the bundles or lists
    #[arg(long, value_name = "FOLDER", requires = "files")]
    out: Option<PathBuf>,
    /// Damage one return in a hundred
    #[arg(long, requires = "returns")]
    damaged: bool,
}

impl Generate {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        const ADVICE: &str = "could not write the file; free disk space and run this again";
        if let (Some(count), Some(folder)) = (self.returns, &self.out) {
            let returns = Returns {
                count,
                nonprofits: self.count.unwrap_or(count.div_ceil(3)).max(1),
                seed: self.seed,
                damaged: self.damaged,
            };
            return returns.write(folder).context(ADVICE);
        }
        if let (Some(count), Some(folder)) = (self.lists, &self.out) {
            let as_of = self.as_of.unwrap_or_else(|| day_of(Clock::default().millis()));
            let lists = StandingLists {
                count,
                nonprofits: self.count.unwrap_or_default(),
                seed: self.seed,
                as_of: as_of.strftime("%Y/%m/%d").to_string(),
            };
            return lists.write(folder).context(ADVICE);
        }
        let mut out = BufWriter::with_capacity(1 << 20, Stdout::new());
        let count = self.count.unwrap_or_default();
        let written = ingest::generate::generate(count, self.seed, &mut out).and_then(|()| out.flush());
        let written = out.get_ref().ignore_closed_pipe(written);
        written.context(ADVICE)
    }
}
