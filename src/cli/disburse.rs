//! `causeway disburse`

use super::output::Output;
use super::stdout::Stdout;
use crate::app::App;
use access::accounts::store as accounts;
use access::audit::Actor;
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use giving::disbursement::DisburseError;
use giving::disbursement::batches::{Batch, ExportFormat, Line, Mark, store};
use giving::disbursement::holds::OwedStanding;
use giving::disbursement::reports::{Amounts, Report};
use jiff::ToSpan;
use jiff::civil::Date;
use platform::clock::rfc3339;
use platform::money::Cents;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use uuid::Uuid;

#[derive(Subcommand)]
pub(super) enum Disburse {
    /// List what is owed to each nonprofit, what the next batch pays, and why the rest is held
    #[command(after_help = "Example:\n  causeway disburse list")]
    List(ListArgs),
    /// Prepare a batch with everything that can be paid
    #[command(after_help = "Example:\n  causeway disburse prepare --until 2026-10-31")]
    Prepare(PrepareArgs),
    /// List the batches, the newest first
    #[command(after_help = "Example:\n  causeway disburse batches")]
    Batches,
    /// Show a batch and its lines
    #[command(after_help = "Example:\n  causeway disburse show 3")]
    Show {
        /// The number of the batch
        #[arg(value_name = "BATCH")]
        batch: i64,
    },
    /// Approve a batch, as another operator than the one who prepared it
    #[command(after_help = "Example:\n  causeway disburse approve 3 --operator grace")]
    Approve {
        /// The number of the batch
        #[arg(value_name = "BATCH")]
        batch: i64,
        #[command(flatten)]
        operator: OperatorArgs,
    },
    /// Export the payments of an approved batch to standard output or a file; exporting again returns the same bytes
    #[command(after_help = "Example:\n  causeway disburse export 3 --format nacha --out batch-3.ach")]
    Export(ExportArgs),
    /// Mark a line as paid, returned or void, or as sent without a file; what came back can be paid again
    #[command(after_help = "Example:\n  causeway disburse mark 3 2 paid --reference 2026112300417")]
    Mark(MarkArgs),
    /// Reassign what is owed to a nonprofit that can no longer receive it to another one
    #[command(
        after_help = "Example:\n  causeway disburse reassign --from 530196605 --to 131740011 --reason 'The donors agreed on May 3'"
    )]
    Reassign(ReassignArgs),
    /// Print the statement of a payment and the link to it
    #[command(after_help = "Example:\n  causeway disburse statement 3 2 --csv > statement.csv")]
    Statement {
        /// The number of the batch
        #[arg(value_name = "BATCH")]
        batch: i64,
        /// The number of the line
        #[arg(value_name = "LINE")]
        line: i64,
        /// Write CSV
        #[arg(long)]
        csv: bool,
    },
    /// Report a month or a year: opening balance, donations, fees, refunds, disputes, payments and closing balance
    #[command(after_help = "Example:\n  causeway disburse report --month 2026-10 --csv > october.csv")]
    Report(ReportArgs),
}

#[derive(Args)]
pub(super) struct ListArgs {
    /// Only donations made on this day or earlier, in the time zone of the operator
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    /// Only nonprofits of which a donation waits longer than disburse.max_days, with the donors to tell
    #[arg(long)]
    overdue: bool,
}

#[derive(Args)]
pub(super) struct PrepareArgs {
    /// Only donations made on this day or earlier, in the time zone of the operator
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    #[command(flatten)]
    operator: OperatorArgs,
}

/// Who does it. The command line counts as one operator.
#[derive(Args)]
pub(super) struct OperatorArgs {
    /// The operator who does this; without it, the command line
    #[arg(long, value_name = "USERNAME")]
    operator: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum FileFormat {
    /// The payments by ACH, for the bank
    Nacha,
    /// The checks, as CSV
    Checks,
    /// All payments, as CSV
    Csv,
}

#[derive(Args)]
pub(super) struct ExportArgs {
    /// The number of the batch
    #[arg(value_name = "BATCH")]
    batch: i64,
    /// The format of the file, which has bank accounts in clear
    #[arg(long, value_enum)]
    format: FileFormat,
    /// Write to this file, which nobody else can read, instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    operator: OperatorArgs,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum MarkName {
    /// It was sent without a file, such as by wire
    Sent,
    /// The bank paid it
    Paid,
    /// It came back
    Returned,
    /// It is withdrawn
    Void,
}

#[derive(Args)]
pub(super) struct MarkArgs {
    /// The number of the batch
    #[arg(value_name = "BATCH")]
    batch: i64,
    /// The number of the line
    #[arg(value_name = "LINE")]
    line: i64,
    /// What happened to it
    #[arg(value_enum)]
    mark: MarkName,
    /// The reference of the bank, or the number of the check; required for paid and returned
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    #[command(flatten)]
    operator: OperatorArgs,
}

#[derive(Args)]
pub(super) struct ReassignArgs {
    /// The nonprofit to which the money is owed: EIN, ID or slug
    #[arg(long, value_name = "NONPROFIT")]
    from: String,
    /// The nonprofit that receives it
    #[arg(long, value_name = "NONPROFIT")]
    to: String,
    /// The amount in cents; by default, everything that is in no batch
    #[arg(long, value_name = "CENTS")]
    amount: Option<i64>,
    /// Why, for the ledger and the statements
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    operator: OperatorArgs,
}

#[derive(Args)]
#[group(required = true, multiple = false, id = "period")]
pub(super) struct ReportPeriod {
    /// The month, such as 2026-10, in the time zone of the operator
    #[arg(long, value_name = "YYYY-MM")]
    month: Option<String>,
    /// The year
    #[arg(long, value_name = "YYYY", value_parser = clap::value_parser!(i16).range(1_970..=9_998))]
    year: Option<i16>,
}

#[derive(Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    period: ReportPeriod,
    /// Write CSV
    #[arg(long)]
    csv: bool,
}

impl Disburse {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Disburse::List(args) => list(app, output, &args).await,
            Disburse::Prepare(args) => {
                let actor = find_actor(app, args.operator.operator.as_deref()).await?;
                let until = args.until.map(|day| end_of(app, day)).transpose()?;
                let batch = app.disbursements().prepare(until, actor).await?;
                print_batch(app, output, &batch, "prepared").await
            }
            Disburse::Batches => {
                let batches = store::list_batches(&app.db, i64::MAX, 100).await?;
                let value: Vec<Value> = batches.iter().map(batch_json).collect();
                output.print(&json!({"batches": value}), || {
                    batches.iter().map(batch_text).collect::<Vec<_>>().join("\n")
                })
            }
            Disburse::Show { batch } => {
                let found = store::find_batch(&app.db, batch).await?;
                let batch = found.ok_or(DisburseError::NoSuchBatch { batch })?;
                let title = batch.state.as_str();
                print_batch(app, output, &batch, title).await
            }
            Disburse::Approve { batch, operator } => {
                let actor = find_actor(app, operator.operator.as_deref()).await?;
                let batch = app.disbursements().approve(batch, actor).await?;
                print_batch(app, output, &batch, "approved").await
            }
            Disburse::Export(args) => export(app, output, &args).await,
            Disburse::Mark(args) => mark(app, output, &args).await,
            Disburse::Reassign(args) => reassign(app, output, &args).await,
            Disburse::Statement { batch, line, csv } => statement(app, output, (batch, line), csv).await,
            Disburse::Report(args) => report(app, output, &args).await,
        }
    }
}

/// Returns who acts: an operator, or the command line.
pub(super) async fn find_actor(app: &App, username: Option<&str>) -> anyhow::Result<Actor> {
    let Some(username) = username else {
        return Ok(Actor::Command);
    };
    let account = accounts::find(&app.db, username).await?;
    let account = account.filter(|account| account.operator && account.suspended_at.is_none());
    let account = account.ok_or_else(|| DisburseError::NoOperator {
        username: username.to_owned(),
    })?;
    Ok(Actor::Account(account.id))
}

/// Returns the time at which a day begins in the time zone of the operator, in milliseconds.
fn start_of(app: &App, day: Date) -> anyhow::Result<i64> {
    let start = day.to_zoned(app.config.time_zone.clone())?;
    Ok(start.timestamp().as_millisecond())
}

fn end_of(app: &App, day: Date) -> anyhow::Result<i64> {
    start_of(app, day.tomorrow()?)
}

async fn list(app: &App, output: Output, args: &ListArgs) -> anyhow::Result<()> {
    let until = args.until.map(|day| end_of(app, day)).transpose()?;
    let (now, max) = (app.clock.millis(), app.config.disburse.max_millis());
    let mut standings = app.disbursements().list_owed(until).await?;
    if args.overdue {
        standings.retain(|standing| standing.is_overdue(now, max));
    }
    let mut rows = Vec::new();
    for standing in &standings {
        let mut row = standing_json(standing, standing.is_overdue(now, max));
        if args.overdue {
            let waiting = app
                .disbursements()
                .list_overdue_donors(standing.candidate.nonprofit)
                .await?;
            let donors = waiting.iter().map(|donor| {
                json!({
                    "donation": donor.donation,
                    "givenAt": rfc3339(donor.given_at),
                    "amount": donor.amount.get(),
                    "name": donor.name,
                    "email": donor.email,
                })
            });
            row["donors"] = donors.collect();
        }
        rows.push(row);
    }
    let sum = |amount: fn(&OwedStanding) -> Cents| {
        Cents::new(standings.iter().map(|standing| amount(standing).get()).sum())
    };
    let (owed, payable) = (sum(|standing| standing.owed), sum(|standing| standing.payable));
    let value = json!({"nonprofits": rows, "owed": owed.get(), "payable": payable.get()});
    output.print(&value, || {
        let mut text = String::new();
        for (standing, row) in standings.iter().zip(&rows) {
            let candidate = &standing.candidate;
            let _ = writeln!(
                text,
                "{}  {:?}  owed {}, can be paid {}",
                candidate.ein.as_deref().unwrap_or("no EIN"),
                candidate.name,
                standing.owed,
                standing.payable
            );
            for (hold, amount) in &standing.holds {
                let _ = writeln!(text, "  {amount} is held. {}", hold.reason());
            }
            if let Some(oldest) = standing.oldest_at {
                let _ = writeln!(
                    text,
                    "  the oldest unpaid donation is {} days old",
                    (now - oldest) / 86_400_000
                );
            }
            for donor in row["donors"].as_array().into_iter().flatten() {
                let _ = writeln!(text, "  tell {}: {}", donor["email"], donor["donation"]);
            }
        }
        let _ = write!(
            text,
            "{} nonprofits: owed {owed}, can be paid {payable}",
            standings.len()
        );
        text
    })
}

fn standing_json(standing: &OwedStanding, is_overdue: bool) -> Value {
    let candidate = &standing.candidate;
    let holds = standing.holds.iter().map(
        |(hold, amount)| json!({"reason": hold.name(), "detail": hold.reason(), "amount": amount.get()}),
    );
    json!({
        "nonprofitId": candidate.nonprofit.0,
        "ein": candidate.ein,
        "name": candidate.name,
        "owed": standing.owed.get(),
        "payable": standing.payable.get(),
        "holds": holds.collect::<Vec<_>>(),
        "oldestAt": standing.oldest_at.map(rfc3339),
        "overdue": is_overdue,
    })
}

fn batch_json(batch: &Batch) -> Value {
    json!({
        "batch": batch.number,
        "livemode": !batch.mode.is_test(),
        "state": batch.state.as_str(),
        "lines": batch.lines,
        "amount": batch.amount.get(),
        "preparedAt": rfc3339(batch.prepared_at),
        "approvedAt": batch.approved_at.map(rfc3339),
        "exportedAt": batch.exported_at.map(rfc3339),
        "closedAt": batch.closed_at.map(rfc3339),
    })
}

fn batch_text(batch: &Batch) -> String {
    let test = if batch.mode.is_test() { "test mode, " } else { "" };
    format!(
        "batch {}: {test}{}, {} lines, {}, prepared {}",
        batch.number,
        batch.state.as_str(),
        batch.lines,
        batch.amount,
        rfc3339(batch.prepared_at)
    )
}

fn line_json(app: &App, line: &Line) -> Value {
    json!({
        "line": line.number,
        "nonprofitId": line.nonprofit.0,
        "payee": line.payee_name,
        "method": line.method.as_str(),
        "lastFour": line.last_four,
        "amount": line.amount.get(),
        "state": line.state.as_str(),
        "reference": line.reference,
        "returnReference": line.return_reference,
        "sentAt": line.sent_at.map(rfc3339),
        "statementUrl": app.disbursements().statement_url(line),
    })
}

async fn print_batch(app: &App, output: Output, batch: &Batch, what: &str) -> anyhow::Result<()> {
    let lines = store::list_lines(&app.db, batch.number).await?;
    let mut value = batch_json(batch);
    value["payments"] = lines.iter().map(|line| line_json(app, line)).collect();
    output.print(&value, || {
        let mut text = format!(
            "{what} batch {}: {} lines, {}",
            batch.number, batch.lines, batch.amount
        );
        for line in &lines {
            let _ = write!(
                text,
                "\n  line {}: {} to {:?} by {}, {}",
                line.number,
                line.amount,
                line.payee_name,
                line.method.as_str(),
                line.state.as_str()
            );
        }
        text
    })
}

async fn export(app: &App, output: Output, args: &ExportArgs) -> anyhow::Result<()> {
    let actor = find_actor(app, args.operator.operator.as_deref()).await?;
    let format = match args.format {
        FileFormat::Nacha => ExportFormat::Nacha,
        FileFormat::Checks => ExportFormat::Checks,
        FileFormat::Csv => ExportFormat::Csv,
    };
    let exported = app.disbursements().export(args.batch, format, actor).await?;
    // The emails about the payments are sent in the background.
    app.mail.finish().await;
    let mut notes = String::new();
    if exported.batch.mode.is_test() {
        notes.push_str("causeway: this batch is of test mode; do not give the file to a bank\n");
    }
    if !exported.withdrawn.is_empty() {
        let lines: Vec<String> = exported.withdrawn.iter().map(ToString::to_string).collect();
        let lines = lines.join(", ");
        let _ = writeln!(
            notes,
            "causeway: lines {lines} of this file were returned or voided since; do not give it to the bank again"
        );
    }
    // The file is complete even if the note cannot be printed.
    let _ = io::stderr().write_all(notes.as_bytes());
    let Some(path) = &args.out else {
        let mut out = Stdout::new();
        let written = out.write_all(&exported.content).and_then(|()| out.flush());
        return out
            .ignore_closed_pipe(written)
            .context("could not write the file; check where standard output goes");
    };
    write_file(path, &exported.content).with_context(|| {
        format!(
            "could not write {}; check the folder, and run this again",
            path.display()
        )
    })?;
    let value = json!({
        "batch": exported.batch.number,
        "format": format.as_str(),
        "lines": exported.lines,
        "file": path.display().to_string(),
        "new": exported.is_new,
    });
    output.print(&value, || {
        format!(
            "wrote {} payments of batch {} to {}\n  the file has bank accounts in clear: give it to the bank and delete it",
            exported.lines,
            exported.batch.number,
            path.display()
        )
    })
}

/// Writes a file that only its owner can read, and that is complete or absent.
fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    platform::data_folder::replace_file(path, content)
}

async fn mark(app: &App, output: Output, args: &MarkArgs) -> anyhow::Result<()> {
    let actor = find_actor(app, args.operator.operator.as_deref()).await?;
    let mark = match args.mark {
        MarkName::Sent => Mark::Sent,
        MarkName::Paid => Mark::Paid,
        MarkName::Returned => Mark::Returned,
        MarkName::Void => Mark::Void,
    };
    let reference = args.reference.as_deref();
    let marked = app
        .disbursements()
        .mark((args.batch, args.line), mark, reference, actor)
        .await?;
    let mut value = line_json(app, &marked.line);
    value["batch"] = marked.batch.number.into();
    value["batchState"] = marked.batch.state.as_str().into();
    value["new"] = marked.is_new.into();
    output.print(&value, || {
        let line = &marked.line;
        let again = if marked.is_new { "" } else { " already" };
        format!(
            "line {} of batch {} is{again} {}; the batch is {}",
            line.number,
            line.batch,
            line.state.as_str(),
            marked.batch.state.as_str()
        )
    })
}

async fn reassign(app: &App, output: Output, args: &ReassignArgs) -> anyhow::Result<()> {
    let actor = find_actor(app, args.operator.operator.as_deref()).await?;
    let amount = args.amount.map(Cents::new);
    let names = (args.from.as_str(), args.to.as_str());
    let id = (Uuid::now_v7(), actor);
    let reassigned = app
        .disbursements()
        .reassign(names, amount, &args.reason, id)
        .await?;
    let value = json!({
        "from": reassigned.from,
        "to": reassigned.to,
        "amount": reassigned.amount.get(),
        "entry": reassigned.entry,
    });
    output.print(&value, || {
        format!(
            "reassigned {} from {} to {} (ledger entry {})",
            reassigned.amount, reassigned.from, reassigned.to, reassigned.entry
        )
    })
}

async fn statement(app: &App, output: Output, (batch, line): (i64, i64), csv: bool) -> anyhow::Result<()> {
    let found = app.disbursements().find_statement(batch, line).await?;
    let statement = found.ok_or(DisburseError::NoSuchLine { batch, line })?;
    if csv {
        let text = statement.to_csv(&app.config.time_zone);
        return Stdout::print(text.trim_end())
            .context("could not write to standard output; check where it goes");
    }
    let items = statement.items.iter().map(|item| {
        json!({
            "entry": item.entry,
            "kind": item.kind.as_str(),
            "at": rfc3339(item.at),
            "gross": item.gross.get(),
            "fee": item.fee.get(),
            "net": item.net.get(),
            "fundraiser": item.fundraiser,
            "designation": item.designation,
            "donorName": item.donor_name,
            "donorEmail": item.donor_email,
            "note": item.note,
        })
    });
    let direct = statement.direct.iter().map(|direct| {
        json!({"at": rfc3339(direct.at), "amount": direct.amount.get(), "fundraiser": direct.fundraiser})
    });
    let mut value = line_json(app, &statement.line);
    value["batch"] = batch.into();
    value["items"] = items.collect();
    value["receivedDirectly"] = direct.collect();
    output.print(&value, || {
        let mut text = format!(
            "payment {batch}-{line} of {} to {}",
            statement.line.amount, statement.name
        );
        for item in &statement.items {
            let _ = write!(
                text,
                "\n  {}  {}  {} less {} = {}",
                rfc3339(item.at),
                item.kind.title(),
                item.gross,
                item.fee,
                item.net
            );
        }
        let _ = write!(text, "\n{}", app.disbursements().statement_url(&statement.line));
        text
    })
}

/// Returns the days from the first, and before the second, of a period.
fn parse_period(period: &ReportPeriod) -> anyhow::Result<(Date, Date)> {
    if let Some(year) = period.year {
        return Ok((Date::new(year, 1, 1)?, Date::new(year + 1, 1, 1)?));
    }
    let month = period.month.as_deref().unwrap_or_default();
    let first: Option<Date> = format!("{month}-01").parse().ok();
    let Some(first) = first.filter(|_| month.len() == 7) else {
        bail!("{month:?} is no month; write one such as 2026-10");
    };
    Ok((first, first.checked_add(1.month())?))
}

async fn report(app: &App, output: Output, args: &ReportArgs) -> anyhow::Result<()> {
    let (first, next) = parse_period(&args.period)?;
    let period = (start_of(app, first)?, start_of(app, next)?);
    let report = app.disbursements().report(period).await?;
    if args.csv {
        return Stdout::print(report.to_csv().trim_end())
            .context("could not write to standard output; check where it goes");
    }
    output.print(&report_json(&report), || report_text(&report))
}

fn amounts_json(amounts: &Amounts) -> Value {
    json!({
        "opening": amounts.opening.get(),
        "donations": amounts.donations.get(),
        "donationCount": amounts.donation_count,
        "fees": amounts.fees.get(),
        "refunds": amounts.refunds.get(),
        "disputes": amounts.disputes.get(),
        "reassigned": amounts.reassigned.get(),
        "paid": amounts.paid.get(),
        "returned": amounts.returned.get(),
        "closing": amounts.closing.get(),
    })
}

fn report_json(report: &Report) -> Value {
    let row = |row: &giving::disbursement::reports::ReportRow| {
        let mut value = amounts_json(&row.amounts);
        value["nonprofitId"] = row.nonprofit.to_string().into();
        value["name"] = row.name.as_str().into();
        value["ein"] = row.ein.as_deref().into();
        value["state"] = row.state.as_str().into();
        value["averageDaysUntilSent"] = row.average_days.into();
        value
    };
    let states = report.states.iter().map(
        |(state, (count, amount))| json!({"state": state, "donationCount": count, "donations": amount.get()}),
    );
    json!({
        "from": rfc3339(report.period.0),
        "before": rfc3339(report.period.1),
        "nonprofits": report.rows.iter().map(row).collect::<Vec<_>>(),
        "states": states.collect::<Vec<_>>(),
        "totals": amounts_json(&report.totals),
        "averageDaysUntilSent": report.average_days,
    })
}

fn report_text(report: &Report) -> String {
    let mut text = String::new();
    for (name, amounts) in report
        .rows
        .iter()
        .map(|row| (row.name.as_str(), &row.amounts))
        .chain([("Total", &report.totals)])
    {
        let _ = writeln!(
            text,
            "{name}\n  opening {}, donations {}, fees {}, refunds {}, disputes {}, reassigned {}, paid {}, returned {}, closing {}",
            amounts.opening,
            amounts.donations,
            amounts.fees,
            amounts.refunds,
            amounts.disputes,
            amounts.reassigned,
            amounts.paid,
            amounts.returned,
            amounts.closing
        );
    }
    if let Some(days) = report.average_days {
        let _ = writeln!(
            text,
            "donations waited {days:.1} days on average until they were sent"
        );
    }
    text.trim_end().to_owned()
}
