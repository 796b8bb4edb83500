//! `causeway donation`

use super::output::Output;
use crate::app::App;
use crate::cli::stdout::Stdout;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use giving::donations::import::{ImportReport, import};
use giving::donations::{Label, NewDonation, OPERATOR, RecordedEntry, Refund, find_recipient};
use giving::export::{Format, export};
use platform::money::Cents;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{BufWriter, Write, stderr};
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum Donation {
    /// Record a gift; recording it again changes nothing
    #[command(
        after_help = "Example:\n  causeway donation record --nonprofit 530196605 --fundraiser spring-run --amount 2500 --donor d-17 --external-id ch_1"
    )]
    Record(Record),
    /// Record the gifts of a JSON Lines file, each once
    #[command(
        after_help = "Example:\n  echo '{\"nonprofit\":\"530196605\",\"amount\":2500,\"donor\":\"d-17\",\"externalId\":\"ch_1\"}' > gifts.jsonl\n  causeway donation import gifts.jsonl"
    )]
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Gifts under way at the same time; they share commits
        #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
        at_once: u16,
    },
    /// Record that a gift, or a part of it, went back; doing so again changes nothing
    #[command(after_help = "Example:\n  causeway donation refund --external-id ch_1 --amount 500")]
    Refund(Back),
    /// Write the whole journal to standard output
    #[command(after_help = "Example:\n  causeway donation export --csv > journal.csv")]
    Export {
        /// One CSV line an entry instead of JSON Lines
        #[arg(long)]
        csv: bool,
    },
}

#[derive(Args)]
pub struct Record {
    /// Who gets it: ID, EIN or slug; special-fundraiser with a fundraiser of several
    #[arg(long, value_name = "ID")]
    nonprofit: String,
    /// The fundraiser that brought it in: ID or slug
    #[arg(long, value_name = "ID")]
    fundraiser: Option<String>,
    /// In cents
    #[arg(long, value_name = "CENTS", value_parser = amount)]
    amount: Cents,
    /// Who gave, by an id that says nothing about the person
    #[arg(long, value_name = "ID")]
    donor: Label,
    /// The name of the payment where it was made
    #[arg(long, value_name = "ID")]
    external_id: Label,
    /// Where it was made
    #[arg(long, default_value = OPERATOR)]
    source: Label,
    /// The name of the donor; private unless --public
    #[arg(long)]
    name: Option<Label>,
    /// The donor agreed that the name is shown
    #[arg(long, requires = "name")]
    public: bool,
}

#[derive(Args)]
pub struct Back {
    /// Where the gift was made
    #[arg(long, default_value = OPERATOR)]
    source: Label,
    /// The name of the payment that goes back
    #[arg(long, value_name = "ID")]
    external_id: Label,
    /// In cents; all that is left unless given
    #[arg(long, value_name = "CENTS", value_parser = amount)]
    amount: Option<Cents>,
    /// The name of the refund itself; a second refund of one gift needs one
    #[arg(long, value_name = "ID")]
    refund_id: Option<Label>,
}

fn amount(text: &str) -> Result<Cents, String> {
    let cents = text.parse().ok().and_then(Cents::positive);
    cents.ok_or_else(|| {
        format!(
            "an amount is a whole number of cents from 1 to {}",
            Cents::MAX.get()
        )
    })
}

impl Donation {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Donation::Record(told) => {
                let fundraiser = told.fundraiser.as_deref();
                let to = find_recipient(&app.db, &app.directory, &told.nonprofit, fundraiser).await?;
                let gift = NewDonation {
                    source: told.source,
                    external_id: told.external_id,
                    to,
                    amount: told.amount,
                    donor: told.donor,
                    name: told.name,
                    is_public: told.public,
                };
                say(output, &app.recorder.record(gift).await?, "gift")
            }
            Donation::Import { file, at_once } => {
                let imported = import(&app.db, &app.directory, &app.recorder, &file, at_once.into());
                say_import(output, &imported.await?)
            }
            Donation::Refund(told) => {
                let back = Refund {
                    source: told.source,
                    external_id: told.external_id,
                    amount: told.amount,
                    refund_id: told.refund_id,
                };
                say(output, &app.recorder.refund(back).await?, "refund")
            }
            Donation::Export { csv } => {
                let format = if csv { Format::Csv } else { Format::JsonLines };
                let mut out = BufWriter::new(Stdout::new());
                let written = export(&app.db, format, &mut out).await;
                out.get_ref().outcome(written)?;
                let flushed = out.flush();
                let flushed = out.get_ref().outcome(flushed);
                flushed.context("the export cannot be written; check where it goes")
            }
        }
    }
}

fn say(output: Output, recorded: &RecordedEntry, what: &str) -> anyhow::Result<()> {
    let value = json!({
        "entry": recorded.sequence,
        "amount": recorded.amount.get(),
        "new": recorded.is_new,
        "raised": recorded.totals.map(|totals| totals.raised.get()),
        "supporters": recorded.totals.map(|totals| totals.supporters),
    });
    output.say(&value, || {
        let how = if recorded.is_new {
            "recorded"
        } else {
            "was recorded before"
        };
        let mut text = format!(
            "{what} of {} {how} as entry {}",
            recorded.amount, recorded.sequence
        );
        if let Some(totals) = recorded.totals {
            let _ = write!(
                text,
                "\n  the fundraiser stood at {} from {} donors",
                totals.raised, totals.supporters
            );
        }
        text
    })
}

fn say_import(output: Output, imported: &ImportReport) -> anyhow::Result<()> {
    for fault in &imported.errors {
        let _ = writeln!(stderr(), "{fault}");
    }
    output.say(imported, || {
        format!(
            "{} lines: {} recorded, {} known before; {:.1} s",
            imported.lines, imported.new, imported.known, imported.seconds
        )
    })?;
    match imported.errors.len() {
        0 => Ok(()),
        count if imported.new + imported.known == 0 => {
            bail!("{count} lines are wrong and nothing was recorded; correct them and import the file again")
        }
        count => bail!(
            "{count} lines were refused, all others are recorded; correct them and import the file again"
        ),
    }
}
