//! Imports donations from a JSON Lines file. All lines are checked before the first is recorded, each once.
//!
//! A line is a JSON object: `{"nonprofit": "530196605", "fundraiser": "my-run", "amount": 2500, "donor": "d-17",
//! "externalId": "p-1"}`. `fundraiser`, `source`, `name` and `public` are optional. Amounts are in
//! US cents, and `--test` makes donations test donations, so a line with any other field is refused.

use super::donation::{NewDonation, admit_source};
use super::label::{Label, OPERATOR};
use super::outcome::{DonationError, RecordedEntry};
use super::recipient::{Recipient, RecipientName, find_recipient};
use crate::ledger::entry::Mode;
use crate::ledger::writer::WriteError;
use crate::recorder::Recorder;
use anyhow::{Context, bail};
use directory::Directory;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use platform::clock::Stopwatch;
use platform::db::Db;
use platform::money::Cents;
use platform::progress::{Progress, Unit};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// The maximum number of errors that are reported.
const MAX_ERRORS: usize = 1_000;

/// The fields of a line. Any other is refused, because what it says, such as a currency, would be ignored.
const FIELDS: [&str; 12] = [
    "nonprofit",
    "nonprofitId",
    "fundraiser",
    "fundraiserId",
    "amount",
    "donor",
    "donorId",
    "externalId",
    "external_id",
    "source",
    "name",
    "public",
];

/// The byte-order mark that some programs write at the beginning of a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    pub lines: u64,
    pub new: u64,
    /// Donations that were recorded before.
    pub known: u64,
    /// Lines that were valid but could not be recorded.
    pub refused: u64,
    /// What is wrong, with line numbers. If any line is invalid, nothing was recorded.
    #[serde(rename = "faults")]
    pub errors: Vec<String>,
    /// How long the recording took.
    pub seconds: f64,
}

/// Reads a file twice: first to validate every line, then to record the donations, `concurrency` at a time. Input that can
/// be read only once, such as a pipe, is copied to a file first.
pub async fn import(
    db: &Db,
    directory: &Arc<Directory>,
    recorder: &Recorder,
    path: &Path,
    mode: Mode,
    concurrency: usize,
) -> anyhow::Result<ImportReport> {
    let spooled = spool(path)?;
    let path = spooled.as_ref().map_or(path, NamedTempFile::path);
    let mut report = ImportReport::default();
    let mut recipients = Recipients {
        db: db.clone(),
        directory: Arc::clone(directory),
        found: HashMap::new(),
    };
    for (number, line) in lines(path)? {
        report.lines += 1;
        match read(&mut recipients, mode, &line?).await {
            Ok(_) => {}
            Err(LineError::Invalid(reason)) => report.note(number, &reason),
            Err(LineError::Store(error)) => return Err(error.into()),
        }
    }
    if !report.errors.is_empty() {
        return Ok(report);
    }
    // In its own task, as the writer is, so that both mostly run on one thread.
    let path = path.to_owned();
    let recording = record_all(recorder.clone(), path, mode, concurrency, report, recipients);
    tokio::spawn(recording).await?
}

/// Records the donations of a validated file.
async fn record_all(
    recorder: Recorder,
    path: PathBuf,
    mode: Mode,
    concurrency: usize,
    mut report: ImportReport,
    mut recipients: Recipients,
) -> anyhow::Result<ImportReport> {
    let stopwatch = Stopwatch::start();
    let mut progress = Progress::start("recording", report.lines, Unit::Rows);
    let mut in_flight = FuturesUnordered::new();
    let numbered = async |number, donation| (number, recorder.record(donation).await);
    for (number, line) in lines(&path)? {
        // Checked before, but the file may have changed since.
        match read(&mut recipients, mode, &line?).await {
            Ok(donation) => in_flight.push(numbered(number, donation)),
            Err(LineError::Invalid(reason)) => report.refuse(number, &reason),
            Err(LineError::Store(error)) => return Err(error.into()),
        }
        if in_flight.len() >= concurrency {
            report.count(in_flight.next().await)?;
            progress.set_position(report.new + report.known);
        }
    }
    while !in_flight.is_empty() {
        report.count(in_flight.next().await)?;
    }
    progress.finish();
    report.seconds = stopwatch.elapsed().as_secs_f64();
    if report.new + report.known + report.refused != report.lines {
        bail!(
            "the file changed while it was read: {} donations are new and {} were known, of {} lines; \
             import it again; no donation is recorded twice",
            report.new,
            report.known,
            report.lines
        );
    }
    Ok(report)
}

/// Copies input that can be read only once, such as a pipe, to a temporary file. Returns `None` for a regular file.
fn spool(path: &Path) -> anyhow::Result<Option<NamedTempFile>> {
    let about = || format!("could not read {}; check that it exists", path.display());
    let mut file = File::open(path).with_context(about)?;
    if file.metadata().with_context(about)?.is_file() {
        return Ok(None);
    }
    let mut spooled =
        NamedTempFile::new().context("could not create a temporary file; check that there is space")?;
    std::io::copy(&mut file, &mut spooled).with_context(about)?;
    Ok(Some(spooled))
}

type Outcome = (usize, Result<RecordedEntry, DonationError>);

/// Yields the lines that are not blank, numbered from 1, without the byte-order mark.
fn lines(path: &Path) -> anyhow::Result<impl Iterator<Item = (usize, std::io::Result<Vec<u8>>)> + use<>> {
    let about = || format!("could not read {}; check that it exists", path.display());
    let mut file = BufReader::new(File::open(path).with_context(about)?);
    if file.fill_buf().with_context(about)?.starts_with(BYTE_ORDER_MARK) {
        file.consume(BYTE_ORDER_MARK.len());
    }
    let lines = file.split(b'\n');
    Ok((1..)
        .zip(lines)
        .filter(|(_, line)| !line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty())))
}

/// The recipients of the donations in a file, each looked up once.
struct Recipients {
    db: Db,
    directory: Arc<Directory>,
    found: HashMap<RecipientName, Recipient>,
}

/// Why a line is not a donation.
enum LineError {
    /// Everything that is wrong with it.
    Invalid(String),
    Store(WriteError),
}

/// Parses a line and finds its recipient.
async fn read(recipients: &mut Recipients, mode: Mode, line: &[u8]) -> Result<NewDonation, LineError> {
    let invalid = |reason: &str| LineError::Invalid(reason.to_owned());
    let line = std::str::from_utf8(line).map_err(|_| invalid("it is not valid UTF-8"))?;
    let value: Value = serde_json::from_str(line)
        .map_err(|error| LineError::Invalid(format!("it is not valid JSON: {error}")))?;
    let object = value
        .as_object()
        .ok_or_else(|| invalid("it is not a JSON object"))?;
    let unknown = object.keys().filter(|name| !FIELDS.contains(&name.as_str()));
    let mut fields = Fields {
        value: &value,
        errors: unknown
            .map(|name| format!("there is no field {name:?}"))
            .collect(),
    };
    let nonprofit = fields.text(&["nonprofit", "nonprofitId"]);
    let fundraiser = fields.optional(&["fundraiser", "fundraiserId"]);
    let amount = value["amount"].as_i64().and_then(Cents::positive);
    if amount.is_none() {
        fields
            .errors
            .push("amount must be a whole number of cents greater than zero".to_owned());
    }
    let donor = fields.label(&["donor", "donorId"]);
    let external_id = fields.label(&["externalId", "external_id"]);
    let source = match fields.optional(&["source"]) {
        Some(_) => fields.label(&["source"]),
        None => Label::parse(OPERATOR).ok(),
    };
    if let Some(Err(reserved)) = source.as_ref().map(admit_source) {
        fields.errors.push(reserved.to_string());
    }
    let name = fields.optional(&["name"]).and_then(|_| fields.label(&["name"]));
    let is_public = fields.flag("public");
    let mut errors = fields.errors;
    let to = match nonprofit {
        None => None,
        Some(nonprofit) => match recipients.find(nonprofit, fundraiser).await {
            Ok(to) => Some(to),
            Err(DonationError::Store(error)) => return Err(LineError::Store(error)),
            Err(error) => {
                errors.push(error.to_string());
                None
            }
        },
    };
    match (to, amount, donor, external_id, source) {
        (Some(to), Some(amount), Some(donor), Some(external_id), Some(source)) if errors.is_empty() => {
            Ok(NewDonation {
                source,
                external_id,
                mode,
                to,
                amount,
                donor,
                name,
                is_public,
            })
        }
        _ => Err(LineError::Invalid(errors.join("; "))),
    }
}

impl Recipients {
    async fn find(&mut self, nonprofit: &str, fundraiser: Option<&str>) -> Result<Recipient, DonationError> {
        let name = RecipientName::parse(nonprofit, fundraiser)?;
        if let Some(found) = self.found.get(&name) {
            return Ok(found.clone());
        }
        let found = find_recipient(&self.db, &self.directory, &name).await?;
        self.found.insert(name, found.clone());
        Ok(found)
    }
}

/// The fields of a line. Each can have two names.
struct Fields<'a> {
    value: &'a Value,
    errors: Vec<String>,
}

impl<'a> Fields<'a> {
    /// A field that may be left out or null.
    fn optional(&mut self, names: &[&str]) -> Option<&'a str> {
        let found = names
            .iter()
            .map(|name| &self.value[*name])
            .find(|found| !found.is_null())?;
        let text = found.as_str();
        if text.is_none() {
            self.errors.push(format!("{} must be a text", names[0]));
        }
        text
    }

    fn text(&mut self, names: &[&str]) -> Option<&'a str> {
        let before = self.errors.len();
        let text = self.optional(names);
        if text.is_none() && self.errors.len() == before {
            self.errors.push(format!("{} is missing", names[0]));
        }
        text
    }

    fn label(&mut self, names: &[&str]) -> Option<Label> {
        match Label::parse(self.text(names)?) {
            Ok(label) => Some(label),
            Err(error) => {
                self.errors.push(format!("{} is invalid: {error}", names[0]));
                None
            }
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        match &self.value[name] {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            _ => {
                self.errors.push(format!("{name} must be true or false"));
                false
            }
        }
    }
}

impl ImportReport {
    /// Adds the outcome of one donation.
    fn count(&mut self, outcome: Option<Outcome>) -> anyhow::Result<()> {
        let Some(outcome) = outcome else {
            return Ok(());
        };
        match outcome {
            (_, Ok(RecordedEntry { is_new: true, .. })) => self.new += 1,
            (_, Ok(_)) => self.known += 1,
            (_, Err(DonationError::Store(error))) => return Err(error.into()),
            (number, Err(refused)) => self.refuse(number, &refused.to_string()),
        }
        Ok(())
    }

    fn refuse(&mut self, number: usize, error: &str) {
        self.refused += 1;
        self.note(number, error);
    }

    fn note(&mut self, number: usize, error: &str) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(format!("line {number}: {error}"));
        }
    }
}
