//! Compares the directory with the store, record by record.

use crate::directory::Directory;
use crate::nonprofits::assemble::assemble;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::rows::StoredNonprofit;
use crate::nonprofits::slug::Slug;
use crate::nonprofits::store;
use crate::snapshot::counts::Counts;
use crate::snapshot::item::{self, Item};
use crate::snapshot::record;
use crate::snapshot::refresh::RefreshOutcome;
use crate::snapshot::view::View;
use anyhow::bail;
use platform::db::{Db, Topic, Tx};
use platform::ids::NonprofitId;
use std::sync::Arc;

/// The result of [`check`].
#[derive(Debug, Default)]
pub struct CheckReport {
    /// The number of nonprofits compared.
    pub nonprofits: u64,
    /// One sentence for each difference, at most 100.
    pub differences: Vec<String>,
}

const MAX_DIFFERENCES: usize = 100;
/// How many imports may interrupt a check before it gives up.
const MAX_ATTEMPTS: usize = 10;

/// Compares every nonprofit of the store with the view that a server would show.
pub async fn check(directory: &Arc<Directory>, db: &Db, overlay_limit: usize) -> anyhow::Result<CheckReport> {
    let mut report = CheckReport::default();
    let (view, mut tx) = consistent_view(directory, db, overlay_limit).await?;
    let profiles = store::list_profiles(&mut tx).await?;
    let former_slugs = store::list_former_slugs(&mut tx).await?;
    let mut expected = Vec::new();
    let mut counts = Counts::default();
    store::for_each(&mut tx, |row| {
        report.nonprofits += 1;
        assemble(
            row,
            profiles.get(&row.stored.id),
            directory.causes(),
            |nonprofit| {
                expected.clear();
                record::write(nonprofit, &mut expected);
                counts = counts.plus(Counts::of(nonprofit));
            },
        );
        report.compare(&view, &row.stored, &expected);
    })
    .await?;
    for (slug, id) in former_slugs {
        let found = Slug::parse(&slug).and_then(|slug| view.find(&Identifier::Slug(slug)));
        if found.is_none_or(|found| found.id.0 != id) {
            report.add(|| format!("the former slug {slug} does not find {id}"));
        }
    }
    // Where records differ, so may the counts.
    if report.differences.is_empty() && view.counts().is_some_and(|found| found != counts) {
        report.add(|| "the counts of the directory differ from the store".to_owned());
    }
    report.compare_items(&view, directory.causes());
    if let Some(snapshot) = &view.snapshot {
        let found = u64::from(snapshot.len()) + view.overlay.count_new(snapshot) as u64;
        if found != report.nonprofits {
            let nonprofits = report.nonprofits;
            report.add(|| format!("the directory holds {found} nonprofits, the store {nonprofits}"));
        }
    }
    Ok(report)
}

/// Returns a view and a transaction that show the same revision. Waits for a server that is building a snapshot.
async fn consistent_view(
    directory: &Arc<Directory>,
    db: &Db,
    overlay_limit: usize,
) -> anyhow::Result<(Arc<View>, Tx)> {
    for _ in 0..MAX_ATTEMPTS {
        if directory.refresh(overlay_limit).await? == RefreshOutcome::NeedsRebuild {
            directory.build_after_import().await?;
            continue;
        }
        let view = directory.view();
        let mut tx = db.view().await?;
        if tx.current_revision(Topic::Directory).await? == view.revision {
            return Ok((view, tx));
        }
    }
    bail!("the directory keeps changing; check again when no import is running")
}

impl CheckReport {
    fn compare(&mut self, view: &View, stored: &StoredNonprofit, expected: &[u8]) {
        let expected = record::read(expected);
        let identifiers = [
            Some(Identifier::Id(NonprofitId(stored.id))),
            stored.ein().map(Identifier::Ein),
            Slug::parse(&stored.slug).map(Identifier::Slug),
        ];
        for identifier in identifiers.into_iter().flatten() {
            if view.find(&identifier) != expected {
                self.add(|| format!("{identifier:?} does not find {} as it is stored", stored.slug));
            }
        }
    }

    /// Compares the items of responses with the nonprofits that they are made from.
    fn compare_items(&mut self, view: &View, causes: &Causes) {
        let Some(snapshot) = &view.snapshot else {
            return;
        };
        for position in 0..snapshot.len() {
            let made = snapshot
                .nonprofit(position)
                .map(|nonprofit| item::to_vec(&nonprofit, causes));
            if snapshot.item(position) != made.as_deref().and_then(Item::read) {
                self.add(|| format!("the item at position {position} differs from its nonprofit"));
            }
        }
    }

    fn add(&mut self, difference: impl FnOnce() -> String) {
        if self.differences.len() < MAX_DIFFERENCES {
            self.differences.push(difference());
        }
    }
}
