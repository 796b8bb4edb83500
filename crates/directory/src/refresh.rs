//! Keeping the view fresh: opening snapshots, taking in small changes, building anew.
//!
//! Whoever builds holds a lock on a file in the folder, so an import and a server on one machine never build the
//! same snapshot twice; the lock falls with its process. The file with the highest revision that can be used
//! wins, one that is damaged is set aside, older ones are removed.

use super::build::{BuildReport, build};
use super::directory::Directory;
use super::file::{SnapshotError, set_aside};
use super::overlay::Overlay;
use super::rules::rules;
use super::snapshot::Snapshot;
use super::view::View;
use crate::nonprofits::store;
use anyhow::Context;
use platform::db::{Topic, Tx, run};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Views of this process so far.
static VIEWS: AtomicU64 = AtomicU64::new(1);

const CHANGED_SINCE: &str =
    "select cast(coalesce(sum(added + changed + gone), 0) as bigint) from imports where revision > $1";
/// A large import does not note what it touched.
const LAST_LARGE: &str = "select coalesce(max(i.revision), 0) from imports i where i.added + i.changed + i.gone > 0 \
     and not exists (select 1 from directory_changes c where c.revision = i.revision)";

/// What a look at the store led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// The view shows the newest state.
    UpToDate,
    /// Another process builds, or too much changed: a snapshot is due.
    NeedsRebuild,
}

impl Directory {
    /// Opens the newest usable snapshot, at start and whenever a newer one may have come.
    ///
    /// The view stays as it is where there is none, or none but from before a large import: what that changed is
    /// noted nowhere, and it may have died before it built a snapshot of its own. The store answers then.
    pub async fn open_newest(self: &Arc<Self>) -> anyhow::Result<()> {
        let directory = Arc::clone(self);
        let shown = self
            .view()
            .snapshot
            .as_ref()
            .map_or(-1, |snapshot| snapshot.meta().revision);
        let known = shown.max(last_large(&mut self.db.view().await?).await? - 1);
        let opened = tokio::task::spawn_blocking(move || directory.open_newer_than(known)).await??;
        if let Some(snapshot) = opened {
            let snapshot = Arc::new(snapshot);
            let revision = snapshot.meta().revision;
            tracing::info!(revision, nonprofits = snapshot.len(), "directory snapshot opened");
            self.show(snapshot).await?;
        }
        Ok(())
    }

    /// Brings the view to the newest state of the store, if that takes no building.
    pub async fn refresh(self: &Arc<Self>, overlay_limit: usize) -> anyhow::Result<RefreshOutcome> {
        let current = self.db.revision(Topic::Directory).await?;
        let view = self.view();
        if view.snapshot.is_some() && view.revision == current {
            return Ok(RefreshOutcome::UpToDate);
        }
        self.open_newest().await?;
        let view = self.view();
        let Some(snapshot) = &view.snapshot else {
            return Ok(RefreshOutcome::NeedsRebuild);
        };
        if view.revision == current {
            return Ok(RefreshOutcome::UpToDate);
        }
        let since = snapshot.meta().revision;
        let changed: i64 = self.changed_since(since).await?;
        if changed as usize > overlay_limit {
            return Ok(RefreshOutcome::NeedsRebuild);
        }
        match self.show(Arc::clone(snapshot)).await? {
            true => Ok(RefreshOutcome::UpToDate),
            false => Ok(RefreshOutcome::NeedsRebuild),
        }
    }

    /// Builds a snapshot of the store as it is now and shows it, unless another process is at it already.
    pub async fn rebuild(self: &Arc<Self>) -> anyhow::Result<Option<BuildReport>> {
        let Some(_lock) = self.try_lock()? else {
            return Ok(None);
        };
        let built = self.build_locked().await?;
        self.open_newest().await?;
        Ok(Some(built))
    }

    /// Builds a snapshot after an import, waiting for a server that is at it, so that the import's state gets one.
    pub async fn build_after_import(self: &Arc<Self>) -> anyhow::Result<BuildReport> {
        fs::create_dir_all(&self.folder)?;
        let lock = self.lock_file()?;
        let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await??;
        let built = self.build_locked().await?;
        drop(lock);
        Ok(built)
    }

    async fn build_locked(&self) -> anyhow::Result<BuildReport> {
        self.remove_leftovers();
        build(&self.db, self.store, self.causes, &self.folder).await
    }

    async fn changed_since(&self, revision: i64) -> sqlx::Result<i64> {
        let mut tx = self.db.view().await?;
        run!(&mut tx, c => sqlx::query_scalar(CHANGED_SINCE).bind(revision).fetch_one(c).await)
    }

    /// Shows a snapshot together with what changed after it; not where a large import came after it.
    async fn show(&self, snapshot: Arc<Snapshot>) -> anyhow::Result<bool> {
        let since = snapshot.meta().revision;
        let mut tx = self.db.view().await?;
        if last_large(&mut tx).await? > since {
            return Ok(false);
        }
        let revision = tx.revision(Topic::Directory).await?;
        let (rows, profiles) = store::list_changed(&mut tx, since).await?;
        let former_slugs = match rows.is_empty() {
            true => Vec::new(),
            false => store::list_former_slugs(&mut tx).await?,
        };
        let (settled, causes) = (Arc::clone(&snapshot), self.causes);
        let overlay = tokio::task::spawn_blocking(move || {
            Overlay::new(&rows, &profiles, &former_slugs, causes, &settled)
        })
        .await??;
        let tag = format!("\"{:08x}-{revision:x}\"", self.surroundings);
        self.view.store(Arc::new(View {
            number: VIEWS.fetch_add(1, Ordering::Relaxed),
            revision,
            tag: Some(tag.into()),
            snapshot: Some(snapshot),
            overlay,
        }));
        Ok(true)
    }

    fn open_newer_than(&self, known: i64) -> anyhow::Result<Option<Snapshot>> {
        for (revision, path) in self.snapshot_files()?.into_iter().rev() {
            if revision <= known {
                break;
            }
            match Snapshot::open(&path) {
                Ok(snapshot) if snapshot.meta().store == self.store && snapshot.meta().rules == rules() => {
                    return Ok(Some(snapshot));
                }
                // Of another store or made by other rules: not damaged, and replaced by the next build.
                Ok(_) | Err(SnapshotError::UnsupportedFormat) => {}
                Err(SnapshotError::Io(fault)) if fault.kind() == io::ErrorKind::NotFound => {}
                Err(fault) => {
                    tracing::error!(file = %path.display(), %fault, "a directory snapshot is set aside and built anew");
                    set_aside(&path).with_context(|| format!("{} cannot be set aside", path.display()))?;
                }
            }
        }
        Ok(None)
    }

    /// The snapshot files of the folder, by rising revision.
    fn snapshot_files(&self) -> io::Result<Vec<(i64, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            if let Some(revision) = name
                .strip_suffix(".snapshot")
                .and_then(|number| number.parse().ok())
            {
                files.push((revision, path));
            }
        }
        files.sort();
        Ok(files)
    }

    /// Removes half-written files and all snapshots but the newest. Called under the lock; a server that still
    /// reads a removed file keeps it until it lets go.
    fn remove_leftovers(&self) {
        let half_written = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let half_written = half_written.filter(|path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with("building-"))
        });
        let mut older = self.snapshot_files().unwrap_or_default();
        older.pop();
        for path in half_written.chain(older.into_iter().map(|(_, path)| path)) {
            if let Err(fault) = fs::remove_file(&path) {
                tracing::warn!(file = %path.display(), %fault, "a file that is no longer needed cannot be removed");
            }
        }
    }

    fn try_lock(&self) -> anyhow::Result<Option<File>> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("the folder {} cannot be made", self.folder.display()))?;
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(fault)) => {
                Err(fault).context("the lock of the directory folder cannot be taken")
            }
        }
    }

    fn lock_file(&self) -> io::Result<File> {
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.folder.join("lock"))
    }
}

/// The newest import of which it is not noted what it touched.
async fn last_large(tx: &mut Tx) -> sqlx::Result<i64> {
    run!(tx, c => sqlx::query_scalar(LAST_LARGE).fetch_one(c).await)
}
