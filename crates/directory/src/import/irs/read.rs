//! Reading EO BMF files: each row is compared with what the store holds, and what is new or changed is spooled.

use crate::import::bmf::{BmfReader, IrsRow};
use crate::import::lines::RejectedLine;
use crate::import::progress::{Progress, Unit};
use crate::import::report::RejectedLines;
use crate::import::row_file::{RowFile, RowFileWriter};
use crate::import::slugs::{self, UsedSlugs};
use crate::import::source::{Format, Source};
use crate::import::store::{Known, StoreContents};
use crate::import::summary::{ImportedFile, Summary};
use crate::nonprofits::ein::Ein;
use crate::nonprofits::filing::Filing;
use crate::nonprofits::prominence::{Known as Amounts, prominence};
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The number of rows between two updates of the progress bar.
const ROWS_PER_UPDATE: u64 = 4_096;

/// What reading the files led to.
pub struct ReadFiles {
    pub summary: Summary,
    pub rejected_lines: RejectedLines,
    pub known: HashMap<u32, Known>,
    pub used_slugs: UsedSlugs,
    pub seen: HashMap<u32, (u16, u32)>,
    pub spoiled: HashSet<u32>,
    /// Bodies that the files of the IRS named until now.
    pub listed: u64,
    pub new: RowFile,
    pub changed: RowFile,
    pub choosing: Vec<Choosing>,
}

/// A new body that is to get a slug.
pub struct Choosing {
    pub prominence: u32,
    pub begins: u64,
    pub place: u32,
    pub first_choice: Box<str>,
}

impl ReadFiles {
    /// The bodies that left the files. One whose row was refused is still in them.
    pub fn gone(&self) -> Vec<u32> {
        let is_named = |ein: &u32| self.seen.contains_key(ein) || self.spoiled.contains(ein);
        let is_gone = |(ein, known): &(&u32, &Known)| known.listed && !known.gone && !is_named(ein);
        let mut gone: Vec<u32> = self.known.iter().filter(is_gone).map(|(ein, _)| *ein).collect();
        gone.sort_unstable();
        gone
    }
}

/// Reads all files and compares them with what the store holds.
pub fn read_files(paths: &[PathBuf], folder: &Path, contents: StoreContents) -> anyhow::Result<ReadFiles> {
    let StoreContents {
        known, other_slugs, ..
    } = contents;
    let mut used_slugs = UsedSlugs::with_capacity(known.len() + other_slugs.len());
    for slug in known
        .values()
        .map(|known| &*known.slug)
        .chain(other_slugs.iter().map(String::as_str))
    {
        used_slugs.claim(slug);
    }
    let no_spool = "the data folder cannot hold a temporary file; make room on the disk and import again";
    let mut reading = Reading {
        summary: Summary::default(),
        rejected_lines: RejectedLines::default(),
        listed: known.values().filter(|known| known.listed && !known.gone).count() as u64,
        known,
        seen: HashMap::new(),
        spoiled: HashSet::new(),
        names: Vec::new(),
        new: RowFileWriter::new(folder).context(no_spool)?,
        changed: RowFileWriter::new(folder).context(no_spool)?,
        choosing: Vec::new(),
        filed: String::new(),
    };
    for path in paths {
        reading.file(path)?;
    }
    let mut summary = reading.summary;
    summary.refused = reading.rejected_lines.count();
    Ok(ReadFiles {
        summary,
        rejected_lines: reading.rejected_lines,
        known: reading.known,
        used_slugs,
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
    rejected_lines: RejectedLines,
    known: HashMap<u32, Known>,
    listed: u64,
    /// Where each EIN was seen: the number of the file, and the line.
    seen: HashMap<u32, (u16, u32)>,
    /// EINs of rows that were refused.
    spoiled: HashSet<u32>,
    names: Vec<String>,
    new: RowFileWriter,
    changed: RowFileWriter,
    choosing: Vec<Choosing>,
    /// The row at hand, as it is stored.
    filed: String,
}

impl Reading {
    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut source = Source::open(path, Format::Csv)?;
        let consumed = source.consumed();
        let mut progress = Progress::start("reading", source.length().unwrap_or_default(), Unit::Bytes);
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
                    self.rejected_lines.add(&name, refused);
                }
                if self.summary.lines.is_multiple_of(ROWS_PER_UPDATE) {
                    progress.set_position(consumed.load(Ordering::Relaxed));
                }
            }
        }
        progress.finish();
        let lines = self.summary.lines - before;
        self.summary.files.push(ImportedFile {
            name: path.display().to_string(),
            sha256: source.finish()?,
            lines,
        });
        Ok(())
    }

    fn row(&mut self, row: &IrsRow<'_>) -> anyhow::Result<Option<RejectedLine>> {
        let here = (self.names.len() as u16, row.line as u32);
        if let Some((file, line)) = self.seen.insert(row.ein.value(), here) {
            self.seen.insert(row.ein.value(), (file, line));
            let name = &self.names[file as usize - 1];
            let reason = format!(
                "EIN {} stands on line {line} of {name} already; keep one of the two",
                row.ein
            );
            return Ok(Some(RejectedLine {
                line: row.line,
                reason,
            }));
        }
        self.filed.clear();
        Filing {
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
