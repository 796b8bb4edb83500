//! `causeway ledger`

use super::stdout::Stdout;
use crate::app::App;
use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use giving::books::export::{BooksFormat, export};
use giving::ledger::entry::Mode;
use std::io::{BufWriter, Write};

#[derive(Subcommand)]
pub(super) enum Ledger {
    /// Write the books as plain-text accounting to standard output: settlements, payouts and payments to nonprofits
    #[command(after_help = "Example:\n  causeway ledger export --format hledger > books.journal")]
    Export {
        /// The program that reads the export
        #[arg(long, value_enum)]
        format: Program,
        /// Write the entries of test mode instead of the live ones
        #[arg(long)]
        test: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Program {
    Hledger,
    Beancount,
}

impl Ledger {
    pub(super) async fn run(self, app: &App) -> anyhow::Result<()> {
        let Ledger::Export { format, test } = self;
        let format = match format {
            Program::Hledger => BooksFormat::Hledger,
            Program::Beancount => BooksFormat::Beancount,
        };
        let mode = if test { Mode::Test } else { Mode::Live };
        let mut out = BufWriter::new(Stdout::new());
        let exported = export(
            &app.db,
            &app.directory,
            format,
            mode,
            &app.config.time_zone,
            &mut out,
        )
        .await;
        out.get_ref().ignore_closed_pipe(exported)?;
        let flushed = out.flush();
        let flushed = out.get_ref().ignore_closed_pipe(flushed);
        flushed.context("could not write the export; check where standard output goes")
    }
}
