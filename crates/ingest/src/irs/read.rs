//! Reads EO BMF files and compares each row with the store. New and changed rows are put in temporary files.

use crate::digest::digest;
use crate::files::lines::RejectedLine;
use crate::files::source::{Format, Source};
use crate::irs::bmf::{BmfReader, BmfRow};
use crate::irs::row_file::{RowFile, RowFileWriter};
use crate::report::RejectedLines;
use crate::slugs::{self, UsedSlugs};
use crate::summary::{ImportedFile, Summary};
use anyhow::Context;
use directory::nonprofits::bulk::store::{ExistingNonprofit, StoreContents};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::irs::IrsFacts;
use directory::nonprofits::prominence::{ProminenceFactors, prominence};
use platform::progress::{Progress, Unit};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The number of rows between two updates of the progress bar.
const ROWS_PER_UPDATE: u64 = 4_096;

/// The result of reading the files.
pub(super) struct ReadResult {
    pub summary: Summary,
    pub rejected_lines: RejectedLines,
    pub existing: HashMap<u32, ExistingNonprofit>,
    pub used_slugs: UsedSlugs,
    /// The file number and the line of each EIN.
    pub seen: HashMap<u32, (u16, u32)>,
    /// EINs of rejected rows.
    pub rejected_eins: HashSet<u32>,
    /// The number of nonprofits that the previous IRS files listed.
    pub listed: u64,
    pub new: RowFile,
    pub changed: RowFile,
    pub slug_requests: Vec<SlugRequest>,
}

/// A new nonprofit that needs a slug.
pub(super) struct SlugRequest {
    pub prominence: u32,
    /// The offset of the row in the file of new rows.
    pub offset: u64,
    /// The index of the row among the new rows.
    pub index: u32,
    pub first_choice: Box<str>,
}

impl ReadResult {
    /// Returns the EINs of nonprofits that are no longer in the files. Nonprofits with a rejected row do not count.
    pub(super) fn gone(&self) -> Vec<u32> {
        let is_in_files = |ein: &u32| self.seen.contains_key(ein) || self.rejected_eins.contains(ein);
        let is_gone = |(ein, existing): &(&u32, &ExistingNonprofit)| {
            existing.listed && !existing.gone && !is_in_files(ein)
        };
        let mut gone: Vec<u32> = self
            .existing
            .iter()
            .filter(is_gone)
            .map(|(ein, _)| *ein)
            .collect();
        gone.sort_unstable();
        gone
    }
}

/// Reads all files and compares them with the store.
pub(super) fn read_files(
    paths: &[PathBuf],
    folder: &Path,
    contents: StoreContents,
) -> anyhow::Result<ReadResult> {
    let StoreContents {
        existing,
        other_slugs,
        ..
    } = contents;
    let mut used_slugs = UsedSlugs::with_capacity(existing.len() + other_slugs.len());
    for slug in existing
        .values()
        .map(|existing| &*existing.slug)
        .chain(other_slugs.iter().map(String::as_str))
    {
        used_slugs.claim(slug);
    }
    let no_file = "cannot create a temporary file in the data folder; free disk space and import again";
    let mut reader = FilesReader {
        summary: Summary::default(),
        rejected_lines: RejectedLines::default(),
        listed: existing
            .values()
            .filter(|existing| existing.listed && !existing.gone)
            .count() as u64,
        existing,
        seen: HashMap::new(),
        rejected_eins: HashSet::new(),
        names: Vec::new(),
        new: RowFileWriter::new(folder).context(no_file)?,
        changed: RowFileWriter::new(folder).context(no_file)?,
        slug_requests: Vec::new(),
        filed: String::new(),
    };
    for path in paths {
        reader.read_file(path)?;
    }
    let mut summary = reader.summary;
    summary.refused = reader.rejected_lines.count();
    Ok(ReadResult {
        summary,
        rejected_lines: reader.rejected_lines,
        existing: reader.existing,
        used_slugs,
        seen: reader.seen,
        rejected_eins: reader.rejected_eins,
        listed: reader.listed,
        new: reader.new.finish().context(no_file)?,
        changed: reader.changed.finish().context(no_file)?,
        slug_requests: reader.slug_requests,
    })
}

struct FilesReader {
    summary: Summary,
    rejected_lines: RejectedLines,
    existing: HashMap<u32, ExistingNonprofit>,
    listed: u64,
    /// The file number and the line of each EIN.
    seen: HashMap<u32, (u16, u32)>,
    /// EINs of rejected rows.
    rejected_eins: HashSet<u32>,
    names: Vec<String>,
    new: RowFileWriter,
    changed: RowFileWriter,
    slug_requests: Vec<SlugRequest>,
    /// The current row in its stored form.
    filed: String,
}

impl FilesReader {
    fn read_file(&mut self, path: &Path) -> anyhow::Result<()> {
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
                let rejected = match row {
                    Ok(row) => self.add_row(&row)?,
                    Err(rejected) => {
                        self.rejected_eins.extend(reader.ein().map(Ein::value));
                        Some(rejected)
                    }
                };
                if let Some(rejected) = rejected {
                    self.rejected_lines.add(&name, rejected);
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

    /// Compares a row with the store. Returns a rejected line if an earlier row has the same EIN.
    fn add_row(&mut self, row: &BmfRow<'_>) -> anyhow::Result<Option<RejectedLine>> {
        let here = (self.names.len() as u16, row.line as u32);
        if let Some((file, line)) = self.seen.insert(row.ein.value(), here) {
            self.seen.insert(row.ein.value(), (file, line));
            let name = &self.names[file as usize - 1];
            let reason = format!(
                "EIN {} is already on line {line} of {name}; remove one of the two",
                row.ein
            );
            return Ok(Some(RejectedLine {
                line: row.line,
                reason,
            }));
        }
        self.filed.clear();
        let filing = &row.filing;
        filing.write(&mut self.filed);
        let digest = digest(&self.filed);
        let no_space = "cannot write a temporary file in the data folder; free disk space and import again";
        match self.existing.get(&row.ein.value()) {
            Some(existing) if existing.digest == digest && existing.listed && !existing.gone => {
                self.summary.unchanged += 1;
            }
            Some(_) => {
                self.summary.changed += 1;
                self.changed
                    .push(row.ein, digest, &self.filed)
                    .context(no_space)?;
            }
            None => {
                let offset = self.new.push(row.ein, digest, &self.filed).context(no_space)?;
                self.slug_requests.push(SlugRequest {
                    prominence: prominence_of(&filing.facts.unwrap_or_default()),
                    offset,
                    index: self.summary.new as u32,
                    first_choice: slugs::first_choice(filing.name, filing.city, filing.state, row.ein)
                        .as_str()
                        .into(),
                });
                self.summary.new += 1;
            }
        }
        Ok(None)
    }
}

fn prominence_of(facts: &IrsFacts) -> u32 {
    prominence(&ProminenceFactors {
        revenue: facts.revenue,
        income: facts.income,
        assets: facts.assets,
        is_deductible: facts.is_deductible(),
        is_subordinate: facts.is_subordinate(),
        files_returns: facts.tax_period != 0,
        has_unverified_amounts: facts.tax_period == 0,
        has_ruling: facts.ruling != 0,
        ..ProminenceFactors::default()
    })
}
