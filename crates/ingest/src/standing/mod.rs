//! `causeway import california`, `import tax-board` and `import sanctions`: the lists that tell whether a nonprofit is in
//! good standing.
//!
//! Files are read completely before anything is written. Then the stored rows become what the files say, in one
//! transaction: rows that differ are written and recorded, and rows without an EIN get that of another row with the same
//! state number, or else are compared with the names in the directory.

mod california;
mod dates;
mod read;
mod rows;
mod sanctions;
mod state;
mod tax_board;

pub(crate) use read::recognize_head;

use crate::importer::Importer;
use crate::summary::{StandingCounts, Summary};
use anyhow::{Context, bail};
use directory::View;
use directory::eligibility::changes::Recording;
use directory::eligibility::names;
use directory::eligibility::store::{self, Entry, EntryChange, StandingList};
use directory::history::imports::store as imports;
use directory::nonprofits::sources::SourceId;
use platform::db::{Topic, Tx};
use platform::progress::{Progress, Unit};
use read::ReadResult;
use state::title;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// The share of missing rows, in percent, above which files are considered incomplete.
const MAX_GONE_PERCENT: u64 = 20;
/// The number of rows that are written at a time.
const CHUNK_SIZE: usize = 10_000;
/// The number of removed rows from which removing all of a part is faster.
const MAX_REMOVED: usize = 20_000;

/// How files differ from the stored rows.
#[derive(Debug, Default)]
struct Comparison {
    stored: u64,
    unchanged: u64,
    new: u64,
    changed: u64,
    /// The numbers of rows that are gone.
    gone: Vec<String>,
    /// The indexes of the rows to write: new and changed ones.
    written: Vec<usize>,
    /// The numbers of the stored rows that are replaced.
    replaced: Vec<String>,
    changes: Vec<EntryChange>,
}

impl Importer<'_> {
    /// Imports the files of a list. Unless `force` is set, files that lack more than 20% of the stored rows are refused.
    /// Names are compared with the directory of `recording`, which also records the verdicts that change.
    pub async fn import_standing(
        &self,
        list: StandingList,
        files: &[PathBuf],
        force: bool,
        recording: &Recording<'_>,
    ) -> anyhow::Result<Summary> {
        let started_at = self.clock.millis();
        let paths = files.to_owned();
        let mut read = tokio::task::spawn_blocking(move || read::read_files(list, &paths)).await??;
        let mut summary = read.summary.clone();
        summary.report = read
            .rejected_lines
            .write(self.data, list.name(), started_at)
            .context("cannot write the report file; free disk space and import again")?;
        summary.validate(&read.rejected_lines)?;

        let mut stored = self.db.view().await?;
        let revision = stored.revision(Topic::Directory).await?;
        join_by_state_number(&mut stored, list, &mut read.entries).await?;
        let comparison = compare(&mut stored, list, &read).await?;
        drop(stored);
        summary.new = comparison.new;
        summary.changed = comparison.changed;
        summary.unchanged = comparison.unchanged;
        summary.gone = comparison.gone.len() as u64;
        if summary.gone * 100 > comparison.stored * MAX_GONE_PERCENT && !force {
            bail!(
                "{} of {} rows of {} are not in these files, more than {MAX_GONE_PERCENT}%; nothing was imported. \
                 Check that the files are complete, or use --force if the rows are really gone",
                summary.gone,
                comparison.stored,
                title(list),
            );
        }
        self.write_standing(
            list,
            &read,
            &comparison,
            (revision, started_at),
            recording,
            &mut summary,
        )
        .await?;
        Ok(summary)
    }

    async fn write_standing(
        &self,
        list: StandingList,
        read: &ReadResult,
        comparison: &Comparison,
        (revision, started_at): (i64, i64),
        recording: &Recording<'_>,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        let (mut tx, new_revision) = imports::begin(self.db).await?;
        if new_revision != revision + 1 {
            bail!("the directory changed while this import was reading; nothing was imported, run it again");
        }
        summary.revision = new_revision;
        let before = recording.before(&mut tx).await?;
        let mut written: Vec<&Entry> = comparison
            .written
            .iter()
            .map(|index| &read.entries[*index])
            .collect();
        if comparison.replaced.len() + comparison.gone.len() > MAX_REMOVED {
            for part in read.parts() {
                store::remove_part(&mut tx, list, part).await?;
            }
            // A changed row may come from another part.
            store::remove_entries(&mut tx, list, &comparison.replaced).await?;
            written = read.entries.iter().collect();
        } else {
            store::remove_entries(&mut tx, list, &comparison.replaced).await?;
            store::remove_entries(&mut tx, list, &comparison.gone).await?;
        }
        let mut progress = Progress::start("writing", written.len() as u64, Unit::Rows);
        for (index, chunk) in written.chunks(CHUNK_SIZE).enumerate() {
            store::insert_entries(&mut tx, list, chunk).await?;
            progress.set_position((index * CHUNK_SIZE + chunk.len()) as u64);
        }
        progress.finish();
        // The first file changes nothing: it is the first that is known.
        if comparison.stored + comparison.changed > 0 {
            store::insert_changes(&mut tx, new_revision, list, &comparison.changes).await?;
        }
        for (position, file) in (1..).zip(&read.files) {
            let source = SourceId {
                revision: new_revision,
                position,
            };
            let as_of = file.as_of.unwrap_or(started_at);
            store::set_file(&mut tx, list, &file.part, source, as_of).await?;
        }
        if list == StandingList::California {
            join_tax_board(&mut tx).await?;
        }
        let mut similar = 0;
        for list in StandingList::ALL {
            similar += pair_names(&mut tx, list, recording.view).await?.0;
        }
        // Verdicts name the files of this import.
        summary
            .record(&mut tx, list.name(), started_at, self.clock.millis())
            .await?;
        let verdicts_changed = recording.after(&mut tx, new_revision, &before).await?;
        imports::set_changed(&mut tx, new_revision, verdicts_changed).await?;
        let count = |joined| {
            let with_ein = read.entries.iter().filter(|entry| entry.ein.is_some());
            with_ein.filter(|entry| entry.joined == joined).count() as u64
        };
        summary.standing = Some(StandingCounts {
            by_ein: count(0),
            by_state_number: count(1),
            similar_names: similar,
            verdicts_changed,
        });
        tx.commit()
            .await
            .context("cannot commit the import; free disk space and import again")
    }

    /// Compares the names of rows without an EIN with the directory again, after an import changed it.
    pub async fn pair_names(&self, recording: &Recording<'_>) -> anyhow::Result<()> {
        let (mut tx, revision) = imports::begin(self.db).await?;
        let before = recording.before(&mut tx).await?;
        let mut differs = false;
        for list in StandingList::ALL {
            differs |= pair_names(&mut tx, list, recording.view).await?.1;
        }
        if differs {
            recording.finish(&mut tx, revision, &before).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

/// Compares names. Returns the number of pairs, and whether they differ from the stored ones.
async fn pair_names(tx: &mut Tx, list: StandingList, view: &View) -> sqlx::Result<(u64, bool)> {
    let unnamed = store::list_unnamed(tx, list).await?;
    // Nothing else runs in an import.
    let found = tokio::task::block_in_place(|| names::find(view, list, &unnamed));
    let differs = store::set_matches(tx, list, &found).await?;
    Ok((found.len() as u64, differs))
}

/// Gives rows without an EIN that of another row with the same state number, unless two nonprofits have it.
async fn join_by_state_number(tx: &mut Tx, list: StandingList, entries: &mut [Entry]) -> sqlx::Result<()> {
    if list == StandingList::Sanctions {
        return Ok(());
    }
    let mut numbers: HashMap<String, Option<i64>> = HashMap::new();
    let mut add = |number: String, ein: i64| {
        let known = numbers.entry(number).or_insert(Some(ein));
        if *known != Some(ein) {
            *known = None;
        }
    };
    let other = match list {
        StandingList::California => StandingList::TaxBoard,
        _ => StandingList::California,
    };
    for (number, ein) in store::list_state_numbers(tx, other).await? {
        add(number, ein);
    }
    for entry in entries.iter() {
        if let (Some(number), Some(ein)) = (&entry.state_number, entry.ein) {
            add(number.clone(), ein);
        }
    }
    for entry in entries.iter_mut().filter(|entry| entry.ein.is_none()) {
        let number = entry.state_number.as_ref();
        if let Some(ein) = number.and_then(|number| numbers.get(number)).copied().flatten() {
            entry.ein = Some(ein);
            entry.joined = 1;
        }
    }
    Ok(())
}

/// Gives rows of the tax board the EINs that the registry has for their numbers.
async fn join_tax_board(tx: &mut Tx) -> sqlx::Result<()> {
    let mut unnamed = store::list_unnamed(tx, StandingList::TaxBoard).await?;
    if unnamed.is_empty() {
        return Ok(());
    }
    join_by_state_number(tx, StandingList::TaxBoard, &mut unnamed).await?;
    for entry in &unnamed {
        if let Some(ein) = entry.ein {
            store::set_ein(tx, StandingList::TaxBoard, &entry.entry, ein).await?;
        }
    }
    Ok(())
}

/// Compares files with the stored rows, both sorted by their numbers.
async fn compare(tx: &mut Tx, list: StandingList, read: &ReadResult) -> sqlx::Result<Comparison> {
    let mut comparison = Comparison::default();
    let parts: BTreeSet<&str> = read.parts().collect();
    let positions: HashMap<&str, usize> = (0..)
        .zip(&read.entries)
        .map(|(index, entry)| (entry.entry.as_str(), index))
        .collect();
    let mut is_stored = vec![false; read.entries.len()];
    store::for_each_entry(tx, list, |stored| {
        let is_in_part = parts.contains(stored.part.as_str());
        comparison.stored += u64::from(is_in_part);
        let Some(index) = positions.get(stored.entry.as_str()) else {
            if is_in_part {
                comparison.changes.push(EntryChange {
                    ein: stored.ein,
                    old: Some(describe(&stored)),
                    new: None,
                    entry: stored.entry.clone(),
                });
                comparison.gone.push(stored.entry);
            }
            return;
        };
        is_stored[*index] = true;
        let entry = &read.entries[*index];
        if *entry == stored {
            comparison.unchanged += 1;
            return;
        }
        comparison.changed += 1;
        comparison.changes.push(EntryChange {
            entry: stored.entry.clone(),
            ein: entry.ein.or(stored.ein),
            old: Some(describe(&stored)),
            new: Some(describe(entry)),
        });
        comparison.written.push(*index);
        comparison.replaced.push(stored.entry);
    })
    .await?;
    for (index, entry) in read.entries.iter().enumerate() {
        if !is_stored[index] {
            comparison.new += 1;
            comparison.written.push(index);
            if comparison.stored > 0 {
                comparison.changes.push(EntryChange {
                    entry: entry.entry.clone(),
                    ein: entry.ein,
                    old: None,
                    new: Some(describe(entry)),
                });
            }
        }
    }
    Ok(comparison)
}

/// Describes a row for its history.
fn describe(entry: &Entry) -> String {
    let since = entry.since.as_deref().unwrap_or("no date");
    format!("{}, {since}, {}", entry.status, entry.name)
}
