//! Gets a newer snapshot: fetches one that another server published, or builds one.
//!
//! A process that builds holds a lock on a file in the folder, so an import and a server on the same machine never build
//! the same snapshot twice. The lock is released when the process ends. Servers that share a store also share a lease:
//! one of them builds and publishes, and the others fetch. If that fails, each builds its own, one after the other.
//!
//! The lease only saves work: it lapses if its holder dies, and two servers that build at once publish two snapshots
//! with the same content. The others look for a manifest twice a second.

use crate::directory::Directory;
use crate::snapshot::build::BuildReport;
use crate::snapshot::publish::{Publisher, Sharing};
use crate::snapshot::refresh::is_current;
use anyhow::Context;
use platform::data_folder;
use platform::db::Topic;
use platform::lease::Lease;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// The lease of the server that builds.
const LEASE: &str = "snapshot";
/// The interval between two looks whether another server has finished building.
const LEASE_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The result of looking for a published snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Published {
    /// A newer one is shown now.
    Newer,
    /// There is none that is newer and usable.
    None,
    /// The blob store or the database failed.
    Unavailable,
}

impl Directory {
    /// Shows a snapshot of the current store. Returns `None` if nothing was built, because another process is already
    /// building, or because another server published a newer snapshot, which is shown now.
    pub async fn rebuild(self: &Arc<Self>) -> anyhow::Result<Option<BuildReport>> {
        let Some(lock) = self.try_lock()? else {
            return Ok(None);
        };
        let Some(sharing) = &self.sharing else {
            let built = self.build_locked().await?;
            self.open_newest().await?;
            return Ok(Some(built));
        };
        let published = self.show_published(sharing).await;
        if published == Published::Newer {
            return Ok(None);
        }
        let Some(lease) = Lease::try_acquire(&self.db, LEASE, sharing.lease_duration).await? else {
            drop(lock);
            // The caller tries again at once, and the other server needs a while.
            sleep(LEASE_POLL_INTERVAL).await;
            return Ok(None);
        };
        // Another server may have published one just before this one got the lease.
        let work = async {
            if published == Published::None && self.show_published(sharing).await == Published::Newer {
                Ok(None)
            } else {
                self.build_and_publish(sharing).await.map(Some)
            }
        };
        let outcome = lease.hold(work).await;
        // An import that waits for the lock should not also wait for a database that has stopped responding.
        drop(lock);
        release(lease).await;
        outcome
    }

    /// Gets a snapshot that contains an import. Waits for other processes that are building, because what they build may
    /// not contain it. Returns `None` if what another server built contains it.
    pub async fn build_after_import(self: &Arc<Self>) -> anyhow::Result<Option<BuildReport>> {
        data_folder::create_folder(&self.folder)?;
        let lock = self.lock_file()?;
        let _lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await??;
        let Some(sharing) = &self.sharing else {
            return self.build_locked().await.map(Some);
        };
        let revision = self.db.revision(Topic::Directory).await?;
        let lease = loop {
            let lease = Lease::try_acquire(&self.db, LEASE, sharing.lease_duration).await?;
            if let Some(lease) = lease {
                break lease;
            }
            sleep(LEASE_POLL_INTERVAL).await;
        };
        let work = async {
            self.open_newest().await?;
            self.show_published(sharing).await;
            if self.shown_revision().await? >= revision {
                Ok(None)
            } else {
                self.build_and_publish(sharing).await.map(Some)
            }
        };
        let outcome = lease.hold(work).await;
        release(lease).await;
        outcome
    }

    /// Builds a snapshot, shows it, and publishes it for the other servers. The caller holds the lock and the lease.
    async fn build_and_publish(self: &Arc<Self>, sharing: &Sharing) -> anyhow::Result<BuildReport> {
        let built = self.build_locked().await?;
        self.open_newest().await?;
        if let Some(publisher) = &sharing.publisher
            && let Err(error) = publisher.publish(&built.path, &built.meta).await
        {
            let error = format!("{error:#}");
            tracing::warn!(
                error,
                "could not publish the directory snapshot; other servers will build their own"
            );
        }
        Ok(built)
    }

    /// Shows a published snapshot that is newer than what the view shows. The caller holds the lock.
    async fn show_published(self: &Arc<Self>, sharing: &Sharing) -> Published {
        let Some(publisher) = &sharing.publisher else {
            return Published::None;
        };
        match self.fetch_published(publisher).await {
            Ok(true) => Published::Newer,
            Ok(false) => Published::None,
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "could not fetch a published directory snapshot");
                Published::Unavailable
            }
        }
    }

    async fn fetch_published(self: &Arc<Self>, publisher: &Publisher) -> anyhow::Result<bool> {
        let shown = self.shown_revision().await?;
        let newest = self.db.revision(Topic::Directory).await?;
        for (name, manifest) in publisher.list_usable(shown + 1..=newest).await? {
            if !is_current(&mut self.db.view().await?, manifest.revision()).await? {
                continue;
            }
            self.remove_leftovers().await?;
            let context = || format!("could not fetch {}", manifest.file);
            if publisher
                .fetch(&manifest, &self.folder)
                .await
                .with_context(context)?
            {
                tracing::info!(
                    revision = manifest.revision,
                    bytes = manifest.size,
                    "directory snapshot fetched"
                );
                self.open_newest().await?;
                if self.shown_revision().await? >= manifest.revision {
                    return Ok(true);
                }
            }
            publisher.refuse(name);
        }
        Ok(false)
    }

    /// Returns the revision of the snapshot that the view shows, or -1 if there is none that an overlay can bring up to
    /// date.
    async fn shown_revision(&self) -> sqlx::Result<i64> {
        let view = self.view();
        let Some(snapshot) = &view.snapshot else {
            return Ok(-1);
        };
        let revision = snapshot.meta().revision();
        let is_current = is_current(&mut self.db.view().await?, revision).await?;
        Ok(if is_current { revision.number } else { -1 })
    }
}

/// Releases a lease. If that fails, it lapses.
async fn release(lease: Lease) {
    if let Err(error) = lease.release().await {
        tracing::warn!(%error, "could not release the lease for building snapshots; it lapses soon");
    }
}
