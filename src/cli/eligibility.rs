//! `causeway eligibility`

use super::output::Output;
use super::stdout::Stdout;
use crate::api::eligibility::{Batch, EligibilityRowBody, row};
use crate::app::App;
use crate::cli::disburse::find_actor;
use access::audit::Actor;
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use directory::eligibility::business_days::day_of;
use directory::eligibility::changes::NewDecision;
use directory::eligibility::store::{self, HistoryRow, StandingList};
use directory::eligibility::{Check as CheckName, Outcome, Verdict};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::identifier::Identifier;
use platform::clock::rfc3339;
use platform::progress::{Progress, Unit};
use platform::text::{escape_formula, fold};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The number of rows that are checked together.
const BATCH_SIZE: usize = 1_000;
/// The most pairs or changes that are listed.
const MAX_LISTED: i64 = 1_000;

#[derive(Subcommand)]
pub(super) enum Eligibility {
    /// Check nonprofits: a few by their EINs, or the rows of a CSV file with a column ein
    #[command(
        after_help = "Examples:\n  causeway eligibility check 53-0196605\n  causeway eligibility check grantees.csv > checked.csv"
    )]
    Check(Check),
    /// Decide a check of a nonprofit: after comparing similar names, or with the check operator to stop a nonprofit
    #[command(
        after_help = "The decision ends when the rows that it is about change.\n\nExample:\n  causeway eligibility decide 53-0196605 --check sanctions --outcome pass --note 'Another organization, in Lebanon'"
    )]
    Decide(Decide),
    /// Undo the decision about a check of a nonprofit
    #[command(after_help = "Example:\n  causeway eligibility undo 53-0196605 --check operator")]
    Undo(Undo),
    /// List the pairs of similar names that a person has to compare
    #[command(after_help = "Example:\n  causeway eligibility queue")]
    Queue,
    /// List the verdicts of a nonprofit that changed, and why
    #[command(after_help = "Example:\n  causeway eligibility history 53-0196605")]
    History {
        /// The EIN, with or without a dash
        #[arg(value_parser = parse_ein)]
        ein: Ein,
    },
}

#[derive(Args)]
pub(super) struct Decide {
    /// The EIN, with or without a dash
    #[arg(value_parser = parse_ein)]
    ein: Ein,
    /// The check: california_registry, california_tax_board, sanctions, irs_deductible or operator
    #[arg(long, value_parser = parse_check)]
    check: CheckName,
    /// Whether the nonprofit passes the check
    #[arg(long, value_enum)]
    outcome: Decided,
    /// Why, for the audit log
    #[arg(long)]
    note: String,
    /// The username of the operator who decides
    #[arg(long, value_name = "USERNAME")]
    operator: Option<String>,
}

#[derive(Args)]
pub(super) struct Undo {
    /// The EIN, with or without a dash
    #[arg(value_parser = parse_ein)]
    ein: Ein,
    /// The check
    #[arg(long, value_parser = parse_check)]
    check: CheckName,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Decided {
    Pass,
    Fail,
}

fn parse_ein(text: &str) -> Result<Ein, &'static str> {
    Ein::parse_lenient(text).ok_or("an EIN has nine digits, such as 530196605 or 53-0196605")
}

fn parse_check(name: &str) -> Result<CheckName, String> {
    CheckName::find(name).ok_or_else(|| {
        let names: Vec<&str> = CheckName::ALL.into_iter().map(CheckName::name).collect();
        format!("use one of {}", names.join(", "))
    })
}

#[derive(Args)]
pub(super) struct Check {
    /// EINs, slugs or IDs, or one CSV file with a header
    #[arg(required = true, value_name = "EIN|FILE.csv")]
    nonprofits: Vec<String>,
}

/// What a command prints.
#[derive(Serialize)]
struct Report<'a> {
    rows: Vec<EligibilityRowBody<'a>>,
}

impl Eligibility {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        app.refresh_directory().await?;
        match self {
            Eligibility::Check(check) => check.run(app, output).await,
            Eligibility::Decide(decide) => decide.run(app, output).await,
            Eligibility::Undo(Undo { ein, check }) => {
                if !app.undo_eligibility(Actor::Command, ein, check).await? {
                    bail!(
                        "no decision about {} of {ein} is in force; see causeway eligibility check {ein}",
                        check.name()
                    );
                }
                let value = json!({"ein": ein.to_string(), "check": check.name(), "undone": true});
                output.print(&value, || {
                    format!("undid the decision about {} of {ein}", check.name())
                })
            }
            Eligibility::Queue => queue(app, output).await,
            Eligibility::History { ein } => history(app, ein, output).await,
        }
    }
}

impl Decide {
    async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let note = self.note.trim();
        if note.is_empty() {
            bail!("the note is empty; say why, for whoever reads the audit log");
        }
        let actor = find_actor(app, self.operator.as_deref()).await?;
        let decision = NewDecision {
            ein: self.ein,
            check: self.check,
            passes: self.outcome == Decided::Pass,
            note: note.to_owned(),
            decided_by: self.operator,
        };
        app.decide_eligibility(actor, decision).await??;
        let (ein, check) = (self.ein, self.check.name());
        let outcome = if self.outcome == Decided::Pass {
            "pass"
        } else {
            "fail"
        };
        let value = json!({"ein": ein.to_string(), "check": check, "outcome": outcome});
        output.print(&value, || format!("decided {check} of {ein}: {outcome}"))
    }
}

async fn queue(app: &App, output: Output) -> anyhow::Result<()> {
    let pairs = store::list_open(&mut app.db.view().await?, MAX_LISTED, 0).await?;
    let view = app.directory.view();
    let rows: Vec<Value> = pairs
        .iter()
        .filter_map(|pair| {
            let ein = Ein::new(pair.ein as u32)?;
            let nonprofit = view.find(&Identifier::Ein(ein))?;
            Some(json!({
                "ein": ein.to_string(),
                "name": nonprofit.name,
                "location": nonprofit.location(),
                "check": StandingList::find(&pair.list)?.check().name(),
                "listedName": pair.name,
                "listedCity": pair.city,
                "status": pair.status,
                "reasons": pair.reasons,
            }))
        })
        .collect();
    output.print(&json!({ "pairs": rows }), || {
        if rows.is_empty() {
            return "nothing to decide".to_owned();
        }
        let text = |row: &Value| {
            let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {} ({})\n  {}: {} ({}): {}",
                field("ein"),
                field("name"),
                field("location"),
                field("check"),
                field("listedName"),
                field("status"),
                field("reasons")
            )
        };
        rows.iter().map(text).collect::<Vec<_>>().join("\n")
    })
}

async fn history(app: &App, ein: Ein, output: Output) -> anyhow::Result<()> {
    let rows = store::list_history(&mut app.db.view().await?, ein.value(), MAX_LISTED).await?;
    let changes: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "changedAt": rfc3339(row.changed_at),
                "before": row.old_verdict.to_uppercase(),
                "after": row.new_verdict.to_uppercase(),
                "check": row.check_name,
                "reason": row.reason,
                "source": row.source_name.as_ref().map(|name| json!({"name": name, "sha256": row.source_hash})),
            })
        })
        .collect();
    output.print(&json!({"ein": ein.to_string(), "history": changes}), || {
        if rows.is_empty() {
            return format!("the verdict about {ein} has not changed");
        }
        let text = |row: &HistoryRow| {
            format!(
                "{}  {} → {}  {}: {}",
                rfc3339(row.changed_at),
                row.old_verdict.to_uppercase(),
                row.new_verdict.to_uppercase(),
                row.check_name,
                row.reason
            )
        };
        rows.iter().map(text).collect::<Vec<_>>().join("\n")
    })
}

impl Check {
    async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        if let [file] = self.nonprofits.as_slice()
            && is_csv(file)
        {
            return check_file(app, Path::new(file), output).await;
        }
        if let Some(file) = self.nonprofits.iter().find(|text| is_csv(text)) {
            bail!("{file} is a file; check files one at a time");
        }
        let view = app.directory.view();
        let now = app.clock.millis();
        let batch = Batch::prepare(app, self.nonprofits)
            .await
            .map_err(|error| failed(&error))?;
        let verdicts = batch.verdicts(&view, now);
        let each = verdicts.iter();
        let rows = each.map(|(identifier, verdict)| row(&view, identifier, verdict, now));
        let report = Report { rows: rows.collect() };
        output.print(&report, || {
            let rows = report.rows.iter().zip(&verdicts);
            let texts: Vec<String> = rows.map(|(row, (_, verdict))| text(row, verdict)).collect();
            texts.join("\n")
        })
    }
}

fn is_csv(text: &str) -> bool {
    let extension = Path::new(text).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

fn failed(error: &crate::http::error::Error) -> anyhow::Error {
    anyhow::Error::msg(format!("could not check eligibility: {error}; run this again"))
}

fn text(row: &EligibilityRowBody<'_>, verdict: &Verdict) -> String {
    let name = row.name.or(row.ein.as_deref()).unwrap_or(row.identifier);
    let mut text = format!("{}  {name}", row.verdict.eligible());
    if let (Some(ein), Some(_)) = (&row.ein, row.name) {
        let _ = write!(text, " ({ein})");
    }
    if let Some(problem) = row.problem {
        let _ = write!(text, ": {problem}");
    }
    for result in &verdict.checks {
        let _ = write!(
            text,
            "\n  {:<20}  {:<11}  {}",
            result.check.name(),
            outcome(result.outcome),
            result.reason
        );
        if let Some(until) = result.grace_until {
            let _ = write!(text, "; it counts after {until}");
        }
    }
    text
}

fn outcome(outcome: Outcome) -> &'static str {
    crate::api::eligibility::OutcomeName::new(outcome).text()
}

/// Checks the rows of a file, in batches, so that it can have any size. Prints the file with two new columns.
async fn check_file(app: &App, file: &Path, output: Output) -> anyhow::Result<()> {
    let length = std::fs::metadata(file).map(|metadata| metadata.len());
    let length = length.with_context(|| format!("could not read {}", file.display()))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(file)?;
    let header = reader.byte_headers()?.clone();
    let Some(column) = ein_column(&header) else {
        bail!(
            "{} has no column with EINs; give one of them the header ein",
            file.display()
        );
    };
    let mut stdout = Stdout::new();
    let written = write_file(app, &mut reader, (&header, column), length, output, &mut stdout).await;
    stdout.ignore_closed_pipe(written)
}

fn ein_column(header: &csv::ByteRecord) -> Option<usize> {
    header.iter().position(|title| {
        let title = String::from_utf8_lossy(title);
        matches!(
            &*fold(title.trim_start_matches('\u{feff}'), ' '),
            "ein" | "ein number" | "tax id" | "taxid" | "fein" | "tin" | "identifier"
        )
    })
}

async fn write_file(
    app: &App,
    reader: &mut csv::Reader<std::fs::File>,
    (header, column): (&csv::ByteRecord, usize),
    length: u64,
    output: Output,
    out: &mut Stdout,
) -> anyhow::Result<()> {
    let view = app.directory.view();
    let mut progress = Progress::start("checking", length, Unit::Bytes);
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
    // With --json, the rows of one object.
    let mut json: Vec<String> = Vec::new();
    if !output.json {
        let added: [&[u8]; 2] = [b"eligible", b"eligibility_reason"];
        writer.write_byte_record(&header.iter().chain(added).collect())?;
    }
    loop {
        let records = reader.byte_records().take(BATCH_SIZE);
        let records: Vec<csv::ByteRecord> = records
            .collect::<Result<_, _>>()
            .context("could not read the file; check that it is CSV")?;
        if records.is_empty() {
            break;
        }
        let eins = records.iter().map(|record| {
            let bytes = record.get(column).unwrap_or_default();
            String::from_utf8_lossy(bytes).trim().to_owned()
        });
        let now = app.clock.millis();
        let batch = Batch::prepare(app, eins.collect())
            .await
            .map_err(|error| failed(&error))?;
        let verdicts = batch.verdicts(&view, now);
        for (record, (identifier, verdict)) in records.iter().zip(&verdicts) {
            let body = row(&view, identifier, verdict, now);
            if output.json {
                json.push(serde_json::to_string(&body)?);
                continue;
            }
            let mut columns = record.clone();
            // A row may be shorter than the header.
            (columns.len()..header.len()).for_each(|_| columns.push_field(b""));
            columns.push_field(body.verdict.eligible().as_bytes());
            let deciding = verdict.deciding(app.directory.eligibility(), day_of(now));
            let reason = body.problem.or(deciding.map(|result| &*result.reason));
            columns.push_field(escape_formula(reason.unwrap_or_default()).as_bytes());
            writer.write_byte_record(&columns)?;
        }
        progress.set_position(reader.position().byte());
    }
    progress.finish();
    if output.json {
        writeln!(
            writer.into_inner().map_err(csv::IntoInnerError::into_error)?,
            "{{\"rows\":[{}]}}",
            json.join(",")
        )?;
    } else {
        writer.flush()?;
    }
    Ok(())
}
