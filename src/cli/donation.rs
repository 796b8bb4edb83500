//! `causeway donation`

use super::output::Output;
use crate::app::App;
use crate::cli::stdout::Stdout;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use giving::checkout::store as checkout;
use giving::donations::import::{ImportReport, import};
use giving::donations::listing::{DonationFilter, RecordedDonation};
use giving::donations::store;
use giving::donations::{Label, NewDonation, OPERATOR, RecipientName, RecordedEntry, Refund, find_recipient};
use giving::export::{Format, export};
use giving::ledger::entry::Mode;
use giving::payments::refunds::AskedRefund;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use platform::clock::rfc3339;
use platform::email_address::EmailAddress;
use platform::ids::FundraiserId;
use platform::money::Cents;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{BufWriter, Write, stderr};
use std::path::PathBuf;
use uuid::Uuid;

#[derive(Subcommand)]
pub(super) enum Donation {
    /// List the donations in the ledger, newest first
    #[command(after_help = "Example:\n  causeway donation list --nonprofit 530196605 --from 2026-05-01")]
    List(ListArgs),
    /// Show a donation
    #[command(after_help = "Example:\n  causeway donation show 17")]
    Show {
        /// The number of its ledger entry, or its ID at the checkout
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Record a donation; recording it again changes nothing
    #[command(
        after_help = "Example:\n  causeway donation record --nonprofit 530196605 --fundraiser spring-run --amount 2500 --donor d-17 --external-id ch_1"
    )]
    Record(RecordArgs),
    /// Record the donations in a JSON Lines file, each once
    #[command(
        after_help = "Example:\n  echo '{\"nonprofit\":\"530196605\",\"amount\":2500,\"donor\":\"d-17\",\"externalId\":\"ch_1\"}' > donations.jsonl\n  causeway donation import donations.jsonl"
    )]
    Import {
        /// A file of JSON Lines, one donation per line
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Record test donations, which only a server in test mode counts
        #[arg(long)]
        test: bool,
        /// The number of donations to record at the same time; they share commits
        #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
        at_once: u16,
    },
    /// Refund a donation or a part of it at Stripe, or record a refund that was made elsewhere, which changes nothing if it is
    /// recorded again
    ///
    /// With --source site and the ID of a donation that was paid with Stripe, the money goes back to the donor. With --refund-id,
    /// and for all other donations, the refund is only recorded.
    #[command(
        after_help = "Examples:\n  causeway donation refund --source site --external-id 0b6f8a3e-8a2f-8f0a-9c1d-5f8e1f3f2a11\n  causeway donation refund --external-id ch_1 --amount 500"
    )]
    Refund(RefundArgs),
    /// Write the whole ledger to standard output
    #[command(after_help = "Example:\n  causeway donation export --csv > ledger.csv")]
    Export {
        /// Write CSV instead of JSON Lines
        #[arg(long)]
        csv: bool,
    },
}

#[derive(Args)]
pub(super) struct ListArgs {
    /// Only donations to this nonprofit: ID, EIN or slug
    #[arg(long, value_name = "ID")]
    nonprofit: Option<String>,
    /// Only donations to the fundraiser with this ID
    #[arg(long, value_name = "ID")]
    fundraiser: Option<Uuid>,
    /// Only donations from this source
    #[arg(long)]
    source: Option<String>,
    /// Only donations recorded on this day or later, in UTC: 2026-05-01
    #[arg(long, value_name = "DATE")]
    from: Option<Date>,
    /// Only donations recorded on this day or earlier, in UTC
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    /// The number of donations to list
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    take: u32,
    /// The page of the list
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
}

#[derive(Args)]
pub(super) struct RecordArgs {
    /// The nonprofit: ID, EIN or slug; special-fundraiser for a fundraiser with several nonprofits
    #[arg(long, value_name = "ID")]
    nonprofit: String,
    /// The fundraiser: ID or slug
    #[arg(long, value_name = "ID")]
    fundraiser: Option<String>,
    /// The amount in cents
    #[arg(long, value_name = "CENTS", value_parser = parse_amount)]
    amount: Cents,
    /// The donor: an ID that reveals nothing about the person
    #[arg(long, value_name = "ID")]
    donor: Label,
    /// The ID of the payment at its source
    #[arg(long, value_name = "ID")]
    external_id: Label,
    /// The source of the payment
    #[arg(long, default_value = OPERATOR)]
    source: Label,
    /// The name of the donor; private without --public
    #[arg(long)]
    name: Option<Label>,
    /// Show the name publicly, with the consent of the donor
    #[arg(long, requires = "name")]
    public: bool,
    /// Record a test donation, which only a server in test mode counts
    #[arg(long)]
    test: bool,
}

#[derive(Args)]
pub(super) struct RefundArgs {
    /// The source of the payment
    #[arg(long, default_value = OPERATOR)]
    source: Label,
    /// The ID of the refunded payment at its source
    #[arg(long, value_name = "ID")]
    external_id: Label,
    /// The amount in cents; by default, everything that is left
    #[arg(long, value_name = "CENTS", value_parser = parse_amount)]
    amount: Option<Cents>,
    /// The ID of the refund; required for a second refund of one donation
    #[arg(long, value_name = "ID")]
    refund_id: Option<Label>,
}

/// Refunds a donation at Stripe, if it was paid there and no refund is named.
async fn refund_at_stripe(app: &App, args: &RefundArgs) -> anyhow::Result<Option<AskedRefund>> {
    let id = Uuid::try_parse(args.external_id.as_str()).ok();
    let (Some(payments), Some(id), None, "site") =
        (app.payments(), id, &args.refund_id, args.source.as_str())
    else {
        return Ok(None);
    };
    let Some(donation) = checkout::find(&app.db, id).await? else {
        return Ok(None);
    };
    if donation.payment.charge.is_none() {
        return Ok(None);
    }
    Ok(Some(payments.refund(donation, args.amount).await?))
}

fn parse_amount(text: &str) -> Result<Cents, String> {
    let cents = text.parse().ok().and_then(Cents::positive);
    cents.ok_or_else(|| format!("enter a whole number of cents from 1 to {}", Cents::MAX.get()))
}

impl Donation {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Donation::List(args) => list(app, output, args).await,
            Donation::Show { id } => show(app, output, &id).await,
            Donation::Record(args) => {
                let to = RecipientName::parse(&args.nonprofit, args.fundraiser.as_deref())?;
                let to = find_recipient(&app.db, &app.directory, &to).await?;
                let donation = NewDonation {
                    source: args.source,
                    external_id: args.external_id,
                    mode: mode(args.test),
                    to,
                    amount: args.amount,
                    donor: args.donor,
                    name: args.name,
                    is_public: args.public,
                };
                print(output, &app.giving.recorder.record(donation).await?, "donation")
            }
            Donation::Import { file, test, at_once } => {
                let (mode, at_once) = (mode(test), at_once.into());
                let imported = import(
                    &app.db,
                    &app.directory,
                    &app.giving.recorder,
                    &file,
                    mode,
                    at_once,
                );
                print_import(output, &imported.await?)
            }
            Donation::Refund(args) => {
                if let Some(refunded) = refund_at_stripe(app, &args).await? {
                    return print_refunded(output, &refunded);
                }
                let refund = Refund {
                    source: args.source,
                    external_id: args.external_id,
                    amount: args.amount,
                    refund_id: args.refund_id,
                };
                print(output, &app.giving.recorder.refund(refund).await?, "refund")
            }
            Donation::Export { csv } => {
                let format = if csv { Format::Csv } else { Format::JsonLines };
                let mut out = BufWriter::new(Stdout::new());
                let exported = export(&app.db, format, &mut out).await;
                out.get_ref().ignore_closed_pipe(exported)?;
                let flushed = out.flush();
                let flushed = out.get_ref().ignore_closed_pipe(flushed);
                flushed.context("could not write the export; check where standard output goes")
            }
        }
    }
}

fn mode(is_test: bool) -> Mode {
    if is_test { Mode::Test } else { Mode::Live }
}

async fn list(app: &App, output: Output, args: ListArgs) -> anyhow::Result<()> {
    let nonprofit = match &args.nonprofit {
        Some(text) => {
            let name = RecipientName::parse(text, None)?;
            Some(find_recipient(&app.db, &app.directory, &name).await?.nonprofit)
        }
        None => None,
    };
    let midnight = |day: Date| {
        day.to_zoned(TimeZone::UTC)
            .map(|start| start.timestamp().as_millisecond())
    };
    let filter = DonationFilter {
        nonprofit,
        fundraiser: args.fundraiser.map(FundraiserId),
        source: args.source,
        from: args.from.map(midnight).transpose()?,
        until: args
            .until
            .map(|day| day.tomorrow().and_then(midnight))
            .transpose()?,
    };
    let skip = i64::from(args.page - 1) * i64::from(args.take);
    let donations = store::list(&app.db, &filter, args.take.into(), skip).await?;
    let total = store::count(&app.db, &filter).await?;
    let shown: Vec<_> = donations.iter().map(to_json).collect();
    output.print(&json!({"donations": shown, "total": total}), || {
        let mut text = String::new();
        for donation in &donations {
            let _ = writeln!(
                text,
                "{}  {}  {}  {}  {}  {} {}  {:?}",
                donation.sequence,
                donation.mode.as_str(),
                rfc3339(donation.recorded_at),
                donation.amount,
                donation.state(),
                donation.source,
                donation.external_id,
                donation.name.as_deref().unwrap_or_default(),
            );
        }
        let _ = write!(text, "{} of {total} donations", donations.len());
        text
    })
}

async fn show(app: &App, output: Output, id: &str) -> anyhow::Result<()> {
    let (recorded, started) = match (id.parse(), Uuid::try_parse(id)) {
        (Ok(sequence), _) => (store::find(&app.db, sequence).await?, None),
        (_, Ok(id)) => (
            store::find_by_checkout(&app.db, id).await?,
            checkout::find_by_either_id(&app.db, id).await?,
        ),
        _ => (None, None),
    };
    let value = match (recorded, started) {
        (Some(recorded), _) => to_json(&recorded),
        (None, Some(started)) => json!({
            "id": started.id,
            "state": started.state.as_str(),
            "amount": started.amount.get(),
            "nonprofitId": started.nonprofit.0,
            "fundraiserId": started.fundraiser.map(|id| id.0),
            "name": started.name,
            "email": started.email.as_ref().map(EmailAddress::as_str),
            "startedAt": rfc3339(started.started_at),
        }),
        (None, None) => {
            bail!("there is no donation {id}; run causeway donation list to see all donations")
        }
    };
    output.print(&value, || {
        let mut text = String::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            if !value.is_null() {
                let _ = writeln!(text, "{name:14} {value}");
            }
        }
        text.trim_end().to_owned()
    })
}

fn to_json(donation: &RecordedDonation) -> serde_json::Value {
    json!({
        "entry": donation.sequence,
        "mode": donation.mode.as_str(),
        "id": donation.checkout_id,
        "state": donation.state(),
        "amount": donation.amount.get(),
        "refunded": donation.refunded.get(),
        "nonprofitId": donation.nonprofit.0,
        "fundraiserId": donation.fundraiser.map(|id| id.0),
        "source": donation.source,
        "externalId": donation.external_id,
        "donor": donation.donor,
        "name": donation.name,
        "public": donation.is_public,
        "email": donation.email,
        "message": donation.message,
        "designation": donation.designation,
        "partnerDonationId": donation.partner_id,
        "recordedAt": rfc3339(donation.recorded_at),
    })
}

fn print_refunded(output: Output, refund: &AskedRefund) -> anyhow::Result<()> {
    let value = json!({
        "refund": refund.id,
        "amount": refund.amount.get(),
        "confirmed": refund.is_confirmed,
    });
    output.print(&value, || {
        let how = if refund.is_confirmed {
            "is on its way to the donor"
        } else {
            "was asked for; it is recorded when Stripe confirms it"
        };
        format!("refund {} of {} {how}", refund.id, refund.amount)
    })
}

fn print(output: Output, recorded: &RecordedEntry, what: &str) -> anyhow::Result<()> {
    let value = json!({
        "entry": recorded.sequence,
        "mode": recorded.mode.as_str(),
        "amount": recorded.amount.get(),
        "new": recorded.is_new,
        "raised": recorded.totals.map(|totals| totals.raised.get()),
        "supporters": recorded.totals.map(|totals| totals.supporters),
    });
    output.print(&value, || {
        let how = if recorded.is_new {
            "recorded"
        } else {
            "was already recorded"
        };
        let (test, in_test_mode) = match recorded.mode {
            Mode::Live => ("", ""),
            Mode::Test => ("test ", " in test mode"),
        };
        let mut text = format!(
            "{test}{what} of {} {how} as entry {}",
            recorded.amount, recorded.sequence
        );
        if let Some(totals) = recorded.totals {
            let _ = write!(
                text,
                "\n  the fundraiser has raised {} from {} donors{in_test_mode}",
                totals.raised, totals.supporters
            );
        }
        text
    })
}

fn print_import(output: Output, imported: &ImportReport) -> anyhow::Result<()> {
    for error in &imported.errors {
        let _ = writeln!(stderr(), "{error}");
    }
    output.print(imported, || {
        format!(
            "{} lines: {} recorded, {} already recorded; {:.1} s",
            imported.lines, imported.new, imported.known, imported.seconds
        )
    })?;
    match imported.errors.len() {
        0 => Ok(()),
        count if imported.new + imported.known == 0 => {
            bail!(
                "{count} lines are invalid and nothing was recorded; correct them and import the file again"
            )
        }
        count => bail!(
            "{count} lines were refused and the others are recorded; correct them and import the file again"
        ),
    }
}
