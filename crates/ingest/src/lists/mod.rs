//! `causeway import pub78`, `import revocations` and `import 990n`: the list files of the IRS.
//!
//! Each file is the complete list of its kind, so its table becomes what the file says. The file is read into a sorted
//! list of small rows, which is compared with the stored rows in one pass. Then what differs is written in one transaction.

mod compare;
mod date;
mod epostcards;
mod kind;
mod list;
mod publication_78;
mod read;
mod reader;
mod revocations;
#[cfg(test)]
mod tests;

pub use self::kind::ListKind;

use self::compare::{Comparison, add_changes, compare};
use self::epostcards::Epostcards;
use self::list::List;
use self::publication_78::Publication78List;
use self::read::{ReadResult, read_file};
use self::revocations::Revocations;
use crate::importer::Importer;
use crate::summary::Summary;
use anyhow::{Context, bail};
use directory::history;
use directory::history::imports::store as imports;
use directory::nonprofits::bulk::store as bulk;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::lists::store::{self, ListRow};
use directory::nonprofits::sources::SourceId;
use platform::db::{Topic, Tx};
use platform::progress::{Progress, Unit};
use std::path::Path;

/// The share of missing rows, in percent, above which a file is considered incomplete.
const MAX_GONE_PERCENT: u64 = 5;
/// The number of rows that are prepared at a time.
const CHUNK_SIZE: usize = 10_000;

impl Importer<'_> {
    /// Imports a list file of the IRS. Unless `force` is set, a file that lacks more than 5% of the stored rows is refused.
    pub async fn import_list(&self, kind: ListKind, file: &Path, force: bool) -> anyhow::Result<Summary> {
        match kind {
            ListKind::Publication78 => import::<Publication78List>(self, file, force).await,
            ListKind::Revocations => import::<Revocations>(self, file, force).await,
            ListKind::Epostcards => import::<Epostcards>(self, file, force).await,
        }
    }
}

async fn import<L: List>(importer: &Importer<'_>, file: &Path, force: bool) -> anyhow::Result<Summary> {
    let started_at = importer.clock.millis();
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || read_file::<L>(&path)).await??;
    let mut summary = read.summary.clone();
    summary.report = read
        .rejected_lines
        .write(importer.data, L::KIND.name(), started_at)
        .context("cannot write the report file; free disk space and import again")?;
    summary.validate(&read.rejected_lines)?;

    let mut view = importer.db.view().await?;
    let revision = view.revision(Topic::Directory).await?;
    let comparison = compare(&mut view, &read).await?;
    drop(view);
    summary.new = comparison.new.len() as u64;
    summary.changed = comparison.changed.len() as u64;
    summary.unchanged = comparison.unchanged;
    summary.gone = comparison.gone.len() as u64;
    if summary.gone * 100 > comparison.stored * MAX_GONE_PERCENT && !force {
        bail!(
            "{} of {} rows of {} are not in this file, more than 5%; nothing was imported. \
             Check that the file is complete, or use --force if the rows are really gone",
            summary.gone,
            comparison.stored,
            L::KIND.title(),
        );
    }
    write(importer, &read, &comparison, revision, started_at, &mut summary).await?;
    Ok(summary)
}

/// Writes what differs and sets the revision of `summary`.
async fn write<L: List>(
    importer: &Importer<'_>,
    read: &ReadResult<L>,
    comparison: &Comparison,
    revision: i64,
    started_at: i64,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let (mut tx, new_revision) = imports::begin(importer.db).await?;
    if new_revision != revision + 1 {
        bail!("the directory changed while this import was reading; nothing was imported, run it again");
    }
    summary.revision = new_revision;
    let source = SourceId {
        revision: new_revision,
        position: 1,
    };
    let changed = comparison.changed.iter().map(|index| read.ein(*index as usize));
    let replaced: Vec<u32> = changed.chain(comparison.gone.iter().copied()).collect();
    store::remove::<L::Row>(&mut tx, &replaced).await?;
    let mut progress = Progress::start("writing", summary.new + summary.changed, Unit::Rows);
    let mut done = 0;
    for indexes in [&comparison.changed, &comparison.new] {
        for chunk in indexes.chunks(CHUNK_SIZE) {
            let rows = chunk.iter().map(|index| read.row(*index as usize, source));
            L::Row::insert(&mut tx, &rows.collect::<Vec<_>>()).await?;
            done += chunk.len() as u64;
            progress.set_position(done);
        }
    }
    progress.finish();
    record_history(&mut tx, read, comparison, new_revision).await?;
    if summary.total_changes() > importer.overlay_limit as u64 {
        imports::remove_changes_before(&mut tx, new_revision).await?;
    } else {
        let new = comparison.new.iter().map(|index| read.ein(*index as usize));
        let eins = replaced.iter().copied().chain(new);
        let ids: Vec<_> = eins
            .filter_map(Ein::new)
            .map(|ein| ein.nonprofit_id().0)
            .collect();
        imports::insert_changes(&mut tx, new_revision, &ids).await?;
    }
    summary
        .record(&mut tx, L::KIND.name(), started_at, importer.clock.millis())
        .await?;
    tx.commit()
        .await
        .context("cannot commit the import; free disk space and import again")
}

/// Records what changed about nonprofits in the directory. The first file of a kind changes nothing: it is the first that is
/// known.
async fn record_history<L: List>(
    tx: &mut Tx,
    read: &ReadResult<L>,
    comparison: &Comparison,
    revision: i64,
) -> sqlx::Result<()> {
    if comparison.stored == 0 {
        return Ok(());
    }
    let mut changes = comparison.changes.clone();
    for index in &comparison.new {
        let source = SourceId {
            revision,
            position: 1,
        };
        let row = read.row(*index as usize, source);
        add_changes::<L>(read.ein(*index as usize), None, Some(&row), &mut changes);
    }
    let mut eins: Vec<u32> = changes.iter().map(|change| change.ein).collect();
    eins.dedup();
    let known = bulk::list_known(tx, &eins).await?;
    changes.retain(|change| known.contains(&change.ein));
    history::store::insert(tx, revision, &changes).await
}
