//! `causeway import irs`: EO BMF files, which together are the whole directory of the IRS.
//!
//! Reading compares each row with what the store holds and spools what is new or changed. Then the more prominent
//! of the new bodies choose their slugs first, and everything is written in one transaction: the lock is held for
//! the writing alone, which for a monthly update is short.

mod write;

use super::bmf::{BmfReader, IrsRow};
use super::lines::Refused;
use super::progress::{Progress, Unit};
use super::slugs::{self, Taken};
use super::source::{Format, Source};
use super::spool::{Spool, SpoolWriter};
use super::store::{self, Holdings, Known};
use super::{FileRead, Refusals, Summary};
use crate::app::App;
use crate::directory::nonprofits::ein::Ein;
use crate::directory::nonprofits::filed::Filed;
use crate::directory::nonprofits::prominence::{Known as Amounts, prominence};
use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// An import that would lose more than one body in twenty is taken for incomplete.
const MOST_GONE_IN_HUNDRED: u64 = 5;
/// How often the bar moves.
const ROWS_PER_LOOK: u64 = 4_096;

/// Imports EO BMF files.
pub async fn import(app: &App, files: &[PathBuf], force: bool) -> anyhow::Result<Summary> {
    let started_at = app.clock.millis();
    let holdings = store::holdings(&app.db).await?;
    let names = store::list_profile_names(&app.db).await?;
    let revision = holdings.revision;
    let (paths, data) = (files.to_owned(), app.config.data.clone());
    let read = tokio::task::spawn_blocking(move || read_files(&paths, &data, holdings)).await??;
    let mut summary = read.summary.clone();
    summary.report = read
        .refusals
        .write(&app.config.data, "irs", started_at)
        .context("the report file cannot be written; make room on the disk and import again")?;
    summary.admit(&read.refusals)?;
    let gone = read.gone();
    summary.gone = gone.len() as u64;
    if summary.gone * 100 > read.listed * MOST_GONE_IN_HUNDRED && !force {
        bail!(
            "{} of {} nonprofits are not in these files, more than 5 %; nothing was imported. \
             Give all files of the IRS at once, or --force if they are really gone",
            summary.gone,
            read.listed
        );
    }
    write::write(app, read, &names, &gone, revision, started_at, &mut summary).await?;
    Ok(summary)
}

/// What reading the files led to.
struct ReadFiles {
    summary: Summary,
    refusals: Refusals,
    known: HashMap<u32, Known>,
    taken: Taken,
    seen: HashMap<u32, (u16, u32)>,
    spoiled: HashSet<u32>,
    /// Bodies that the files of the IRS named until now.
    listed: u64,
    new: Spool,
    changed: Spool,
    choosing: Vec<Choosing>,
}

/// A new body that is to get a slug.
struct Choosing {
    prominence: u32,
    begins: u64,
    place: u32,
    first_choice: Box<str>,
}

impl ReadFiles {
    /// The bodies that left the files. One whose row was refused is still in them.
    fn gone(&self) -> Vec<u32> {
        let is_named = |ein: &u32| self.seen.contains_key(ein) || self.spoiled.contains(ein);
        let is_gone = |(ein, known): &(&u32, &Known)| known.listed && !known.gone && !is_named(ein);
        let mut gone: Vec<u32> = self.known.iter().filter(is_gone).map(|(ein, _)| *ein).collect();
        gone.sort_unstable();
        gone
    }
}

fn read_files(paths: &[PathBuf], folder: &Path, holdings: Holdings) -> anyhow::Result<ReadFiles> {
    let Holdings {
        known, other_slugs, ..
    } = holdings;
    let mut taken = Taken::with_capacity(known.len() + other_slugs.len());
    for slug in known
        .values()
        .map(|known| &*known.slug)
        .chain(other_slugs.iter().map(String::as_str))
    {
        taken.take(slug);
    }
    let no_spool = "the data folder cannot hold a temporary file; make room on the disk and import again";
    let mut reading = Reading {
        summary: Summary::default(),
        refusals: Refusals::default(),
        listed: known.values().filter(|known| known.listed && !known.gone).count() as u64,
        known,
        seen: HashMap::new(),
        spoiled: HashSet::new(),
        names: Vec::new(),
        new: SpoolWriter::new(folder).context(no_spool)?,
        changed: SpoolWriter::new(folder).context(no_spool)?,
        choosing: Vec::new(),
        filed: String::new(),
    };
    for path in paths {
        reading.file(path)?;
    }
    let mut summary = reading.summary;
    summary.refused = reading.refusals.count;
    Ok(ReadFiles {
        summary,
        refusals: reading.refusals,
        known: reading.known,
        taken,
        seen: reading.seen,
        spoiled: reading.spoiled,
        listed: reading.listed,
        new: reading.new.finish().context(no_spool)?,
        changed: reading.changed.finish().context(no_spool)?,
        choosing: reading.choosing,
    })
}

struct Reading {
    summary: Summary,
    refusals: Refusals,
    known: HashMap<u32, Known>,
    listed: u64,
    /// Where each EIN was seen: the number of the file, and the line.
    seen: HashMap<u32, (u16, u32)>,
    /// EINs of rows that were refused.
    spoiled: HashSet<u32>,
    names: Vec<String>,
    new: SpoolWriter,
    changed: SpoolWriter,
    choosing: Vec<Choosing>,
    /// The row at hand, as it is stored.
    filed: String,
}

impl Reading {
    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut source = Source::open(path, Format::Csv)?;
        let consumed = source.consumed();
        let mut progress = Progress::begin("reading", source.length().unwrap_or_default(), Unit::Bytes);
        let before = self.summary.lines;
        while let Some(part) = source.next_part()? {
            let name = part.name.clone();
            let mut reader = BmfReader::open(part, name.clone())?;
            self.names.push(name.clone());
            while let Some(row) = reader.next_row()? {
                self.summary.lines += 1;
                let refused = match row {
                    Ok(row) => self.row(&row)?,
                    Err(refused) => {
                        self.spoiled.extend(reader.ein().map(Ein::value));
                        Some(refused)
                    }
                };
                if let Some(refused) = refused {
                    self.refusals.add(&name, refused);
                }
                if self.summary.lines.is_multiple_of(ROWS_PER_LOOK) {
                    progress.reach(consumed.load(Ordering::Relaxed));
                }
            }
        }
        progress.end();
        let lines = self.summary.lines - before;
        self.summary.files.push(FileRead {
            name: path.display().to_string(),
            sha256: source.finish()?,
            lines,
        });
        Ok(())
    }

    fn row(&mut self, row: &IrsRow<'_>) -> anyhow::Result<Option<Refused>> {
        let here = (self.names.len() as u16, row.line as u32);
        if let Some((file, line)) = self.seen.insert(row.ein.value(), here) {
            self.seen.insert(row.ein.value(), (file, line));
            let name = &self.names[file as usize - 1];
            let reason = format!(
                "EIN {} stands on line {line} of {name} already; keep one of the two",
                row.ein
            );
            return Ok(Some(Refused {
                line: row.line,
                reason,
            }));
        }
        self.filed.clear();
        Filed {
            name: row.name,
            chapter: row.sort_name,
            city: row.city,
            state: row.state,
            zip: row.zip,
            ntee: row.ntee,
            facts: Some(row.facts),
        }
        .write(&mut self.filed);
        let digest = digest(&self.filed);
        let no_room =
            "the data folder has no room for the rows that are being read; make room and import again";
        match self.known.get(&row.ein.value()) {
            Some(known) if known.digest == digest && known.listed && !known.gone => {
                self.summary.unchanged += 1;
            }
            Some(_) => {
                self.summary.changed += 1;
                self.changed.push(row.ein, digest, &self.filed).context(no_room)?;
            }
            None => {
                let begins = self.new.push(row.ein, digest, &self.filed).context(no_room)?;
                self.choosing.push(Choosing {
                    prominence: filed_prominence(row),
                    begins,
                    place: self.summary.new as u32,
                    first_choice: slugs::first_choice(row.name, row.city, row.state, row.ein)
                        .as_str()
                        .into(),
                });
                self.summary.new += 1;
            }
        }
        Ok(None)
    }
}

/// A number that changes when anything in the row does.
fn digest(filed: &str) -> i64 {
    let hash = Sha256::digest(filed);
    i64::from_le_bytes(*hash.first_chunk().expect("a hash has 32 bytes"))
}

fn filed_prominence(row: &IrsRow<'_>) -> u32 {
    prominence(&Amounts {
        revenue: row.facts.revenue,
        income: row.facts.income,
        assets: row.facts.assets,
        is_deductible: row.facts.is_deductible(),
        is_subordinate: row.facts.is_subordinate(),
        files_returns: row.facts.tax_period != 0,
        has_bare_amounts: row.facts.tax_period == 0,
        has_ruling: row.facts.ruling != 0,
        ..Amounts::default()
    })
}
