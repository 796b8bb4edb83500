//! `causeway generate`

use crate::cli::stdout::Stdout;
use anyhow::Context;
use clap::Args;
use std::io::{BufWriter, Write};

#[derive(Args)]
#[command(
    after_help = "Example:\n  causeway generate --count 10000 --seed 1 > eo.csv && causeway import irs eo.csv"
)]
pub struct Generate {
    /// The number of rows to write
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=directory::generate::MAX_ROWS))]
    count: u64,
    /// The seed; the same seed always writes the same file
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

impl Generate {
    pub fn run(&self) -> anyhow::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, Stdout::new());
        let written =
            directory::generate::generate(self.count, self.seed, &mut out).and_then(|()| out.flush());
        let written = out.get_ref().ignore_closed_pipe(written);
        written.context("could not write the file; free disk space and run this again")
    }
}
