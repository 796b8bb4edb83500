//! Keeps the view up to date: opens snapshots, applies small changes as an overlay, and rebuilds. Sitemaps follow.
//!
//! A process that builds holds a lock on a file in the folder, so an import and a server on the same machine never build
//! the same snapshot twice. The lock is released when the process ends. The usable file with the highest revision is
//! opened, damaged files are renamed, and older files are removed.

use crate::build::{BuildReport, build};
use crate::directory::Directory;
use crate::file::{SnapshotError, TEMPORARY_PREFIX, set_aside};
use crate::nonprofits::store;
use crate::overlay::Overlay;
use crate::rules::rules;
use crate::sitemaps::{self, Sitemaps};
use crate::snapshot::Snapshot;
use crate::view::View;
use anyhow::Context;
use platform::background_thread;
use platform::data_folder;
use platform::db::{Topic, Tx, run};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the next view of this process.
static NEXT_VIEW: AtomicU64 = AtomicU64::new(1);

const CHANGED_SINCE: &str =
    "select cast(coalesce(sum(added + changed + gone), 0) as bigint) from imports where revision > $1";
/// A large import records no changed nonprofits.
const LAST_LARGE_IMPORT: &str = "select coalesce(max(i.revision), 0) from imports i where i.added + i.changed + i.gone > 0 \
     and not exists (select 1 from directory_changes c where c.revision = i.revision)";

/// The result of [`Directory::refresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// The view shows the newest state of the store.
    UpToDate,
    /// There is no usable snapshot, or too much changed since it was built.
    NeedsRebuild,
}

impl Directory {
    /// Opens the newest usable snapshot, unless the view already shows it.
    ///
    /// A snapshot from before the last large import is not used, because the changes of that import are not recorded
    /// one by one, and it may have stopped before it built a snapshot. Without another snapshot the view stays as it is.
    pub async fn open_newest(self: &Arc<Self>) -> anyhow::Result<()> {
        let directory = Arc::clone(self);
        let current = self
            .view()
            .snapshot
            .as_ref()
            .map_or(-1, |snapshot| snapshot.meta().revision);
        let newer_than = current.max(last_large_import(&mut self.db.view().await?).await? - 1);
        let opened = tokio::task::spawn_blocking(move || directory.open_newer_than(newer_than)).await??;
        if let Some(snapshot) = opened {
            let snapshot = Arc::new(snapshot);
            let revision = snapshot.meta().revision;
            tracing::info!(revision, nonprofits = snapshot.len(), "directory snapshot opened");
            self.show(snapshot).await?;
        }
        Ok(())
    }

    /// Brings the view up to date with the store, if that does not require a rebuild.
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
        if self.show(Arc::clone(snapshot)).await? {
            Ok(RefreshOutcome::UpToDate)
        } else {
            Ok(RefreshOutcome::NeedsRebuild)
        }
    }

    /// Builds a snapshot of the current store and shows it. Returns `None` if another process is already building.
    pub async fn rebuild(self: &Arc<Self>) -> anyhow::Result<Option<BuildReport>> {
        let Some(_lock) = self.try_lock()? else {
            return Ok(None);
        };
        let built = self.build_locked().await?;
        self.open_newest().await?;
        Ok(Some(built))
    }

    /// Builds a snapshot after an import. Waits for another process that is building, because that one may not contain
    /// the import.
    pub async fn build_after_import(self: &Arc<Self>) -> anyhow::Result<BuildReport> {
        data_folder::create_folder(&self.folder)?;
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

    /// Returns the sitemaps. They are those of an older snapshot until [`refresh_sitemaps`](Directory::refresh_sitemaps)
    /// has run, and are written now if there are none. Returns `None` while there is no snapshot.
    pub async fn sitemaps(self: &Arc<Self>, public_url: &str) -> anyhow::Result<Option<Arc<Sitemaps>>> {
        if self.sitemaps.load().is_none() {
            self.refresh_sitemaps(public_url).await?;
        }
        Ok(self.sitemaps.load_full())
    }

    /// Writes the sitemaps of the current snapshot, unless the file exists, and serves them from now on.
    pub async fn refresh_sitemaps(self: &Arc<Self>, public_url: &str) -> anyhow::Result<()> {
        let Some(snapshot) = self.view().snapshot.clone() else {
            return Ok(());
        };
        let meta = sitemaps::meta(&snapshot, public_url);
        let is_current =
            |found: &Option<Arc<Sitemaps>>| found.as_ref().is_some_and(|found| *found.meta() == meta);
        if is_current(&self.sitemaps.load()) {
            return Ok(());
        }
        // Several requests may come before the first sitemaps are written: one writes them, the others wait.
        let _writing = self.sitemaps_lock.lock().await;
        if is_current(&self.sitemaps.load()) {
            return Ok(());
        }
        let (folder, public_url) = (self.folder.clone(), public_url.to_owned());
        let write = move || sitemaps::open_or_write(&folder, &snapshot, meta, &public_url);
        let opened = background_thread::run(write).await?;
        let opened = opened.context("could not write the sitemaps")?;
        self.sitemaps.store(Some(Arc::new(opened)));
        Ok(())
    }

    async fn changed_since(&self, revision: i64) -> sqlx::Result<i64> {
        let mut tx = self.db.view().await?;
        run!(&mut tx, c => sqlx::query_scalar(CHANGED_SINCE).bind(revision).fetch_one(c).await)
    }

    /// Shows a snapshot with an overlay of what changed since. Returns `false` if a large import came after it.
    async fn show(&self, snapshot: Arc<Snapshot>) -> anyhow::Result<bool> {
        let since = snapshot.meta().revision;
        let mut tx = self.db.view().await?;
        if last_large_import(&mut tx).await? > since {
            return Ok(false);
        }
        let revision = tx.revision(Topic::Directory).await?;
        let (rows, profiles) = store::list_changed(&mut tx, since).await?;
        let former_slugs = if rows.is_empty() {
            Vec::new()
        } else {
            store::list_former_slugs(&mut tx).await?
        };
        let (base, causes) = (Arc::clone(&snapshot), self.causes);
        let overlay =
            tokio::task::spawn_blocking(move || Overlay::new(&rows, &profiles, &former_slugs, causes, &base))
                .await??;
        let tag = format!("\"{:08x}-{revision:x}\"", self.tag_seed);
        self.view.store(Arc::new(View {
            number: NEXT_VIEW.fetch_add(1, Ordering::Relaxed),
            revision,
            tag: Some(tag.into()),
            snapshot: Some(snapshot),
            overlay,
        }));
        Ok(true)
    }

    fn open_newer_than(&self, newer_than: i64) -> anyhow::Result<Option<Snapshot>> {
        for (revision, path) in self.snapshot_files()?.into_iter().rev() {
            if revision <= newer_than {
                break;
            }
            match Snapshot::open(&path) {
                Ok(snapshot) if snapshot.meta().store == self.store && snapshot.meta().rules == rules() => {
                    return Ok(Some(snapshot));
                }
                // From another store or built by other rules: not damaged, and replaced by the next build.
                Ok(_) | Err(SnapshotError::UnsupportedFormat) => {}
                Err(SnapshotError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::error!(file = %path.display(), %error, "directory snapshot is unusable and will be rebuilt");
                    set_aside(&path)
                        .with_context(|| format!("cannot rename the damaged snapshot {}", path.display()))?;
                }
            }
        }
        Ok(None)
    }

    /// Returns the snapshot files in the folder, sorted by revision.
    fn snapshot_files(&self) -> io::Result<Vec<(i64, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
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

    /// Removes unfinished files and all snapshots except the newest. The caller holds the lock. A server that has a
    /// removed file mapped can still read it.
    fn remove_leftovers(&self) {
        let unfinished = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let unfinished = unfinished.filter(|path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(TEMPORARY_PREFIX))
        });
        let mut older = self.snapshot_files().unwrap_or_default();
        older.pop();
        for path in unfinished.chain(older.into_iter().map(|(_, path)| path)) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(file = %path.display(), %error, "cannot remove an old snapshot file");
            }
        }
    }

    fn try_lock(&self) -> anyhow::Result<Option<File>> {
        data_folder::create_folder(&self.folder)
            .with_context(|| format!("cannot create the folder {}", self.folder.display()))?;
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).context("cannot lock the directory folder"),
        }
    }

    fn lock_file(&self) -> io::Result<File> {
        data_folder::open_file(&self.folder.join("lock"))
    }
}

/// Returns the revision of the newest import that did not record which nonprofits it changed.
async fn last_large_import(tx: &mut Tx) -> sqlx::Result<i64> {
    run!(tx, c => sqlx::query_scalar(LAST_LARGE_IMPORT).fetch_one(c).await)
}
