//! `causeway match`: matches the rows of a CSV file to nonprofits.

use super::output::Output;
use super::stdout::Stdout;
use crate::api::matching::MatchedRowBody;
use crate::app::App;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use directory::View;
use directory::query::matching::{Matcher, Row};
use platform::progress::{Progress, Unit};
use platform::text::{escape_formula, fold};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const DEFAULT_TAKE: usize = 3;

/// The columns that a CSV file gets.
const NEW_COLUMNS: [&str; 8] = [
    "match",
    "match_score",
    "match_id",
    "match_ein",
    "match_name",
    "match_slug",
    "match_location",
    "match_reasons",
];

#[derive(Args)]
#[command(
    after_help = "Columns are recognized by their headers: name, EIN, city, state, ZIP code, website and ID.\n\n\
                  Examples:\n  causeway match grantees.csv --output matched.csv\n  \
                  causeway match grantees.csv --format jsonl | jq 'select(.match | not)'"
)]
pub(super) struct Match {
    /// A CSV file with a header
    file: PathBuf,
    /// csv: the file with the best candidate in new columns. jsonl: all candidates, one line for each row
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Jsonl,
}

/// What was found, for the summary.
#[derive(Default, Serialize)]
struct Counts {
    rows: u64,
    /// Rows with a certain match.
    matched: u64,
    /// Rows with candidates of which none is certain.
    uncertain: u64,
}

impl Match {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        app.refresh_directory().await?;
        let view = app.directory.view();
        if view.snapshot.as_ref().is_none_or(|snapshot| snapshot.is_empty()) {
            bail!(
                "the directory is empty; import one with causeway import irs, or start causeway serve to load the demo"
            );
        }
        // This command does nothing else, so it may block.
        let counts = tokio::task::block_in_place(|| self.write(app, &view))?;
        let missing = counts.rows - counts.matched - counts.uncertain;
        let line = || {
            format!(
                "{} rows: {} matched, {} uncertain, {missing} not found",
                counts.rows, counts.matched, counts.uncertain
            )
        };
        if self.output.is_some() {
            let json = json!({"rows": counts.rows, "matched": counts.matched, "uncertain": counts.uncertain, "notFound": missing});
            output.print(&json, line)
        } else {
            // Standard output has the rows.
            let _ = writeln!(std::io::stderr(), "{}", line());
            Ok(())
        }
    }

    fn write(&self, app: &App, view: &View) -> anyhow::Result<Counts> {
        if let Some(path) = &self.output {
            let file = File::create(path).with_context(|| format!("could not create {}", path.display()))?;
            return self.write_to(app, view, BufWriter::new(file));
        }
        let mut stdout = Stdout::new();
        let counts = self.write_to(app, view, BufWriter::new(&mut stdout));
        stdout.ignore_closed_pipe(counts)
    }

    /// Reads a row, writes its result, and goes on to the next, so a file can have any size.
    fn write_to(&self, app: &App, view: &View, out: impl Write) -> anyhow::Result<Counts> {
        let length = std::fs::metadata(&self.file).map(|metadata| metadata.len());
        let length = length.with_context(|| format!("could not read {}", self.file.display()))?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(&self.file)?;
        let header = reader.byte_headers()?.clone();
        let columns = Columns::find(&header, &self.file)?;
        let mut writer = Writer::new(self.format, out, &header)?;
        let mut progress = Progress::start("matching", length, Unit::Bytes);
        let mut matcher = Matcher::new(view);
        let mut counts = Counts::default();
        let mut record = csv::ByteRecord::new();
        while reader
            .read_byte_record(&mut record)
            .with_context(|| format!("could not read {}", self.file.display()))?
        {
            let texts = columns.texts(&record);
            let found = matcher.find(&texts.row(), DEFAULT_TAKE);
            let id = (!texts.id.is_empty()).then_some(texts.id.clone());
            let body = MatchedRowBody::new(view, &app.site.urls, id, &found);
            counts.rows += 1;
            match found.first() {
                Some(first) if first.is_match => counts.matched += 1,
                Some(_) => counts.uncertain += 1,
                None => {}
            }
            writer.write(counts.rows, &record, &body)?;
            progress.set_position(reader.position().byte());
        }
        progress.finish();
        writer.finish()?;
        Ok(counts)
    }
}

/// The columns of a file that say what a row means.
#[derive(Default)]
struct Columns {
    id: Option<usize>,
    name: Option<usize>,
    city: Option<usize>,
    state: Option<usize>,
    zip: Option<usize>,
    ein: Option<usize>,
    website: Option<usize>,
}

impl Columns {
    /// Recognizes columns by their headers. The first of several is used.
    fn find(header: &csv::ByteRecord, file: &Path) -> anyhow::Result<Columns> {
        let mut columns = Columns::default();
        for (index, title) in header.iter().enumerate() {
            let title = String::from_utf8_lossy(title);
            let column = match &*fold(title.trim_start_matches('\u{feff}'), ' ') {
                "id" | "row id" | "record id" | "key" => &mut columns.id,
                "name" | "organization" | "organization name" | "organisation" | "org" | "org name"
                | "nonprofit" | "nonprofit name" | "charity" | "charity name" | "legal name" | "grantee"
                | "grantee name" | "company" | "company name" => &mut columns.name,
                "city" | "town" | "city name" => &mut columns.city,
                "state" | "st" | "state code" | "province" => &mut columns.state,
                "zip" | "zip code" | "zipcode" | "postal code" | "postcode" => &mut columns.zip,
                "ein"
                | "ein number"
                | "tax id"
                | "taxid"
                | "fein"
                | "tin"
                | "federal tax id"
                | "employer identification number" => &mut columns.ein,
                "website" | "web site" | "url" | "website url" | "web address" | "domain" | "homepage" => {
                    &mut columns.website
                }
                _ => continue,
            };
            column.get_or_insert(index);
        }
        if columns.name.is_none() && columns.ein.is_none() {
            bail!(
                "{} has no column with names or EINs; give one of them the header name or ein",
                file.display()
            );
        }
        Ok(columns)
    }

    fn texts<'r>(&self, record: &'r csv::ByteRecord) -> Texts<'r> {
        let text = |column: Option<usize>| {
            let bytes = column.and_then(|column| record.get(column));
            String::from_utf8_lossy(bytes.unwrap_or_default())
        };
        Texts {
            id: text(self.id),
            name: text(self.name),
            city: text(self.city),
            state: text(self.state),
            zip: text(self.zip),
            ein: text(self.ein),
            website: text(self.website),
        }
    }
}

/// The texts of a row. Characters that are not UTF-8 are replaced.
struct Texts<'r> {
    id: Cow<'r, str>,
    name: Cow<'r, str>,
    city: Cow<'r, str>,
    state: Cow<'r, str>,
    zip: Cow<'r, str>,
    ein: Cow<'r, str>,
    website: Cow<'r, str>,
}

impl Texts<'_> {
    fn row(&self) -> Row<'_> {
        Row {
            name: &self.name,
            city: &self.city,
            state: &self.state,
            zip: &self.zip,
            ein: &self.ein,
            website: &self.website,
        }
    }
}

/// Writes results in one of the formats.
enum Writer<W: Write> {
    Csv {
        out: Box<csv::Writer<W>>,
        /// The number of columns of the file.
        columns: usize,
    },
    Jsonl(W),
}

#[derive(Serialize)]
struct Line<'a> {
    /// The number of the row, from 1.
    row: u64,
    #[serde(flatten)]
    body: &'a MatchedRowBody<'a>,
}

impl<W: Write> Writer<W> {
    fn new(format: Format, out: W, header: &csv::ByteRecord) -> anyhow::Result<Writer<W>> {
        if format == Format::Jsonl {
            return Ok(Writer::Jsonl(out));
        }
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
        let new_columns = NEW_COLUMNS.iter().map(|name| name.as_bytes());
        writer.write_byte_record(&header.iter().chain(new_columns).collect())?;
        Ok(Writer::Csv {
            out: Box::new(writer),
            columns: header.len(),
        })
    }

    fn write(&mut self, row: u64, record: &csv::ByteRecord, body: &MatchedRowBody<'_>) -> anyhow::Result<()> {
        match self {
            Writer::Jsonl(out) => {
                serde_json::to_writer(&mut *out, &Line { row, body })?;
                out.write_all(b"\n")?;
            }
            Writer::Csv { out, columns: width } => {
                let mut columns = record.clone();
                // A row may be shorter than the header.
                (columns.len()..*width).for_each(|_| columns.push_field(b""));
                if let Some(best) = body.candidates.first() {
                    columns.push_field(if best.r#match { b"yes" } else { b"no" });
                    columns.push_field(best.score.to_string().as_bytes());
                    columns.push_field(best.id.to_string().as_bytes());
                    columns.push_field(best.ein.as_deref().unwrap_or_default().as_bytes());
                    columns.push_field(escape_formula(best.name).as_bytes());
                    columns.push_field(best.slug.as_bytes());
                    columns.push_field(best.location.as_bytes());
                    columns.push_field(best.reasons.join("; ").as_bytes());
                } else {
                    columns.push_field(b"no");
                    (1..NEW_COLUMNS.len()).for_each(|_| columns.push_field(b""));
                }
                out.write_byte_record(&columns)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Writer::Jsonl(mut out) => out.flush()?,
            Writer::Csv { mut out, .. } => out.flush()?,
        }
        Ok(())
    }
}
