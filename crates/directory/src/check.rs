//! Proving what is shown against the store, record by record.

use super::directory::Directory;
use super::record;
use super::refresh::RefreshOutcome;
use super::view::View;
use crate::nonprofits::assemble::assemble;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::rows::StoredNonprofit;
use crate::nonprofits::slug::Slug;
use crate::nonprofits::store;
use anyhow::bail;
use futures_util::TryStreamExt;
use platform::db::{Db, Topic, Tx, run};
use platform::ids::NonprofitId;
use std::sync::Arc;

/// What was compared, and what differs.
#[derive(Debug, Default)]
pub struct CheckReport {
    pub nonprofits: u64,
    /// One sentence each; a hundred at the most.
    pub differences: Vec<String>,
}

const MOST_DIFFERENCES: usize = 100;
/// How often an import may come between before the report is put off.
const MOST_LOOKS: usize = 10;

/// Compares every nonprofit of the store with the view that a server would show.
pub async fn check(directory: &Arc<Directory>, db: &Db, overlay_limit: usize) -> anyhow::Result<CheckReport> {
    let mut report = CheckReport::default();
    let (view, mut tx) = settled(directory, db, overlay_limit).await?;
    let profiles = store::list_profiles(&mut tx).await?;
    let former_slugs = store::list_former_slugs(&mut tx).await?;
    let mut shown = Vec::new();
    run!(&mut tx, c => {
        let mut rows = sqlx::query_as::<_, StoredNonprofit>(store::ALL).fetch(c);
        while let Some(stored) = rows.try_next().await? {
            report.nonprofits += 1;
            assemble(&stored, profiles.get(&stored.id), directory.causes(), |nonprofit| {
                shown.clear();
                record::write(nonprofit, &mut shown);
            });
            report.compare(&view, &stored, &shown);
        }
    });
    for (slug, id) in former_slugs {
        let found = Slug::parse(&slug).and_then(|slug| view.find(&Identifier::Slug(slug)));
        if found.is_none_or(|found| found.id.0 != id) {
            report.note(|| format!("the former slug {slug} does not find {id}"));
        }
    }
    if let Some(snapshot) = &view.snapshot {
        let known = u64::from(snapshot.len()) + view.overlay.count_new(snapshot) as u64;
        if known != report.nonprofits {
            let nonprofits = report.nonprofits;
            report.note(|| format!("the directory holds {known} nonprofits, the store {nonprofits}"));
        }
    }
    Ok(report)
}

/// The view and the store at one revision. A server that builds a snapshot right now is waited for.
async fn settled(
    directory: &Arc<Directory>,
    db: &Db,
    overlay_limit: usize,
) -> anyhow::Result<(Arc<View>, Tx)> {
    for _ in 0..MOST_LOOKS {
        if directory.refresh(overlay_limit).await? == RefreshOutcome::NeedsRebuild {
            directory.build_after_import().await?;
            continue;
        }
        let view = directory.view();
        let mut tx = db.view().await?;
        if tx.revision(Topic::Directory).await? == view.revision {
            return Ok((view, tx));
        }
    }
    bail!("the directory does not come to rest; check again when no import is running")
}

impl CheckReport {
    fn compare(&mut self, view: &View, stored: &StoredNonprofit, wanted: &[u8]) {
        let wanted = record::read(wanted);
        let ways = [
            Some(Identifier::Id(NonprofitId(stored.id))),
            stored.ein().map(Identifier::Ein),
            Slug::parse(&stored.slug).map(Identifier::Slug),
        ];
        for way in ways.into_iter().flatten() {
            if view.find(&way) != wanted {
                self.note(|| format!("{way:?} does not find {} as it is stored", stored.slug));
            }
        }
    }

    fn note(&mut self, difference: impl FnOnce() -> String) {
        if self.differences.len() < MOST_DIFFERENCES {
            self.differences.push(difference());
        }
    }
}
