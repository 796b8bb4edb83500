//! Keeps the view up to date: opens snapshots, and applies small changes as an overlay. Sitemaps follow.
//!
//! The usable file with the highest revision is opened, damaged files are renamed, and all other files are removed.
//! [`rebuild`](crate::snapshot::rebuild) builds new ones.
//!
//! A file is usable only if its revision is part of the history of the store: after an older copy of the database is
//! restored, files of the lost history may even have the same names. The view stays as it is until a snapshot of the
//! current history is open.

use crate::directory::Directory;
use crate::eligibility::Standings;
use crate::history::imports::store as imports;
use crate::nonprofits::store;
use crate::snapshot::Snapshot;
use crate::snapshot::build::{BuildReport, build};
use crate::snapshot::file::{SnapshotError, SnapshotMeta, TEMPORARY_PREFIX, set_aside};
use crate::snapshot::overlay::Overlay;
use crate::snapshot::rules::rules;
use crate::snapshot::sitemaps::{self, Sitemaps};
use crate::snapshot::view::View;
use anyhow::Context;
use platform::background_thread;
use platform::data_folder;
use platform::db::{Revision, Topic, Tx};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

/// The number of the next view of this process.
static NEXT_VIEW: AtomicU64 = AtomicU64::new(1);

/// The result of [`Directory::refresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// The view shows the newest state of the store.
    UpToDate,
    /// There is no usable snapshot, or too much changed since it was built.
    NeedsRebuild,
}

impl Directory {
    /// Opens the newest usable snapshot, unless the view already shows it. Without a usable snapshot the view stays as it
    /// is.
    pub async fn open_newest(self: &Arc<Self>) -> anyhow::Result<()> {
        // Until none is left: a damaged file is set aside, and then the one before it is tried.
        loop {
            let mut tx = self.db.view().await?;
            let Some((meta, path)) = self.newest_usable(&mut tx).await? else {
                return Ok(());
            };
            if let Some(open) = &self.view().snapshot
                && open.meta().revision >= meta.revision
                && is_current(&mut tx, open.meta().revision()).await?
            {
                return Ok(());
            }
            drop(tx);
            let directory = Arc::clone(self);
            let opened = tokio::task::spawn_blocking(move || directory.open_file(&path)).await??;
            if let Some(snapshot) = opened {
                let snapshot = Arc::new(snapshot);
                if self.show(Arc::clone(&snapshot)).await? {
                    let revision = snapshot.meta().revision;
                    tracing::info!(revision, nonprofits = snapshot.len(), "directory snapshot opened");
                }
                return Ok(());
            }
        }
    }

    /// Opens the newest usable snapshot while the store is unavailable, and shows it as it was built. Returns `false` if there
    /// is none.
    pub async fn open_without_store(self: &Arc<Self>) -> anyhow::Result<bool> {
        let directory = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || directory.newest_of_store()).await??;
        let Some(snapshot) = opened else {
            return Ok(false);
        };
        let revision = snapshot.meta().revision();
        tracing::info!(
            revision = revision.number,
            nonprofits = snapshot.len(),
            "directory snapshot opened"
        );
        let standings = Arc::clone(&self.view().standings);
        self.set_view(Arc::new(snapshot), revision, Overlay::default(), standings);
        Ok(true)
    }

    /// Brings the view up to date with the store, if that does not require a rebuild.
    pub async fn refresh(self: &Arc<Self>, overlay_limit: usize) -> anyhow::Result<RefreshOutcome> {
        let current = self.db.current_revision(Topic::Directory).await?;
        let view = self.view();
        if view.shows(current) {
            self.refresh_holds().await?;
            return Ok(RefreshOutcome::UpToDate);
        }
        self.open_newest().await?;
        let view = self.view();
        let Some(snapshot) = &view.snapshot else {
            return Ok(RefreshOutcome::NeedsRebuild);
        };
        if view.shows(current) {
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

    /// Replaces the view if a list grew old or a period of grace ended since it was made.
    pub async fn refresh_holds(&self) -> anyhow::Result<()> {
        let view = self.view();
        if view.holds.until <= self.clock.millis()
            && let Some(snapshot) = &view.snapshot
        {
            self.show(Arc::clone(snapshot)).await?;
        }
        Ok(())
    }

    /// Builds a snapshot of the current store. The caller holds the lock.
    pub(crate) async fn build_locked(&self) -> anyhow::Result<BuildReport> {
        self.remove_leftovers().await?;
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
        imports::count_changes_since(&mut tx, revision).await
    }

    /// Shows a snapshot with an overlay of what changed since. Returns `false` if it is not usable any more.
    async fn show(&self, snapshot: Arc<Snapshot>) -> anyhow::Result<bool> {
        let since = snapshot.meta().revision;
        let mut tx = self.db.view().await?;
        if !is_current(&mut tx, snapshot.meta().revision()).await? {
            return Ok(false);
        }
        let revision = tx.current_revision(Topic::Directory).await?;
        let (rows, profiles) = store::list_changed(&mut tx, since).await?;
        let former_slugs = store::list_changed_former_slugs(&mut tx, since).await?;
        let standings = self.load_standings(&mut tx).await?;
        drop(tx);
        let (base, causes) = (Arc::clone(&snapshot), self.causes);
        let overlay =
            tokio::task::spawn_blocking(move || Overlay::new(&rows, &profiles, &former_slugs, causes, &base))
                .await??;
        self.set_view(snapshot, revision, overlay, standings);
        Ok(true)
    }

    fn set_view(
        &self,
        snapshot: Arc<Snapshot>,
        revision: Revision,
        overlay: Overlay,
        standings: Arc<Standings>,
    ) {
        let made_at = self.clock.millis();
        let holds = standings.holds(made_at);
        self.view.store(Arc::new(View {
            number: NEXT_VIEW.fetch_add(1, Ordering::Relaxed),
            revision,
            tag: Some(self.tag(revision, holds.checksum)),
            snapshot: Some(snapshot),
            overlay,
            by_meaning: self.by_meaning,
            counts: OnceLock::new(),
            standings,
            holds,
            made_at,
        }));
    }

    /// Returns the entity tag of a revision. Equal numbers of two histories get different tags.
    fn tag(&self, revision: Revision, holds: u32) -> Arc<str> {
        let (token, _) = revision.token.as_u64_pair();
        format!(
            "\"{:08x}-{token:016x}-{:x}\"",
            self.tag_seed ^ holds,
            revision.number
        )
        .into()
    }

    /// Returns the file with the highest revision that this server can use, and what it was built from.
    ///
    /// A snapshot from before the last large import is not used, because the changes of that import are not recorded
    /// one by one, and it may have stopped before it built a snapshot.
    async fn newest_usable(&self, tx: &mut Tx) -> anyhow::Result<Option<(SnapshotMeta, PathBuf)>> {
        for (_, path) in self.snapshot_files()?.into_iter().rev() {
            let meta = match SnapshotMeta::read(&path) {
                Ok(meta) => meta,
                // Built by another version: not damaged, and replaced by the next build.
                Err(SnapshotError::UnsupportedFormat) => continue,
                Err(SnapshotError::Io(error)) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.report_damage(&path, &error)?;
                    continue;
                }
            };
            if meta.store == self.store
                && meta.rules == rules()
                && is_current(&mut *tx, meta.revision()).await?
            {
                return Ok(Some((meta, path)));
            }
        }
        Ok(None)
    }

    /// Opens the file with the highest revision of this store, whose history cannot be asked.
    fn newest_of_store(&self) -> anyhow::Result<Option<Snapshot>> {
        for (_, path) in self.snapshot_files()?.into_iter().rev() {
            match SnapshotMeta::read(&path) {
                Ok(meta) if meta.store == self.store && meta.rules == rules() => {}
                // A damaged file is set aside when the store is back.
                Ok(_) | Err(_) => continue,
            }
            if let Some(snapshot) = self.open_file(&path)? {
                return Ok(Some(snapshot));
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

    /// Removes unfinished files and all snapshots except the newest usable one. The caller holds the lock. A server that
    /// has a removed file mapped can still read it.
    pub(crate) async fn remove_leftovers(&self) -> anyhow::Result<()> {
        let usable = self.newest_usable(&mut self.db.view().await?).await?;
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
        let snapshots = self.snapshot_files().unwrap_or_default();
        let others = snapshots.into_iter().map(|(_, path)| path);
        let others = others.filter(|path| usable.as_ref().is_none_or(|(_, usable)| usable != path));
        for path in unfinished.chain(others) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(file = %path.display(), %error, "cannot remove an old snapshot file");
            }
        }
        Ok(())
    }

    /// Locks the folder. Returns `None` if another process has locked it.
    pub(crate) fn try_lock(&self) -> anyhow::Result<Option<File>> {
        data_folder::create_folder(&self.folder)
            .with_context(|| format!("cannot create the folder {}", self.folder.display()))?;
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).context("cannot lock the directory folder"),
        }
    }

    pub(crate) fn lock_file(&self) -> io::Result<File> {
        data_folder::open_file(&self.folder.join("lock"))
    }
}

impl Directory {
    /// Opens a snapshot, unless it was removed. One that is damaged is renamed.
    fn open_file(&self, path: &Path) -> anyhow::Result<Option<Snapshot>> {
        match Snapshot::open(path) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(SnapshotError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                self.report_damage(path, &error)?;
                Ok(None)
            }
        }
    }

    fn report_damage(&self, path: &Path, error: &SnapshotError) -> anyhow::Result<()> {
        tracing::error!(file = %path.display(), %error, "directory snapshot is unusable and will be rebuilt");
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        damaged.push(path.to_owned());
        drop(damaged);
        set_aside(path).with_context(|| format!("cannot rename the damaged snapshot {}", path.display()))
    }

    /// Returns the snapshots that this process found to be damaged, and renamed.
    pub fn damaged_snapshots(&self) -> Vec<PathBuf> {
        self.damaged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Returns whether everything that changed since a revision is recorded: it is part of the history of the store, and no
/// import after it was too large to record which nonprofits it changed.
pub(crate) async fn is_current(tx: &mut Tx, revision: Revision) -> sqlx::Result<bool> {
    if !tx.has_revision(Topic::Directory, revision).await? {
        return Ok(false);
    }
    Ok(!imports::has_large_import_since(tx, revision.number).await?)
}
