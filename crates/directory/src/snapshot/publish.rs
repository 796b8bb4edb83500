//! Publishes snapshots to the blob store, and fetches those that other servers published.
//!
//! A published snapshot is two blobs in `snapshots/<store>`: the file, and a manifest that describes it. The manifest is
//! written last, so a manifest always describes a complete file. Names are never reused: a server never replaces what
//! another one published. The newest two are kept, so that a server which began to fetch one can finish.

use crate::snapshot::Snapshot;
use crate::snapshot::file::{SnapshotMeta, TEMPORARY_PREFIX};
use crate::snapshot::rules::{file_name, rules};
use anyhow::{Context, bail};
use platform::blobs::{Blob, Blobs};
use platform::data_folder;
use platform::db::Revision;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use uuid::Uuid;

const FILE_SUFFIX: &str = ".snapshot";
const MANIFEST_SUFFIX: &str = ".json";
/// The number of published snapshots to keep.
const KEPT_SNAPSHOTS: usize = 2;

/// How servers that share a store share the work of building snapshots.
#[derive(Debug)]
pub struct Sharing {
    /// How long a server that builds may be silent before another one takes over.
    pub lease_duration: Duration,
    /// `None` if the servers share no blob store. Then each builds its own snapshot, one after the other.
    pub publisher: Option<Publisher>,
}

/// The published snapshots of a store.
#[derive(Debug)]
pub struct Publisher {
    blobs: Blobs,
    store: Uuid,
    /// Contains the ID of the store, so that several stores can share a blob store.
    folder: String,
    /// The manifests of snapshots that turned out to be unusable. They are not fetched again.
    refused: Mutex<BTreeSet<String>>,
}

/// Describes a published snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the blob.
    pub file: String,
    pub size: u64,
    /// The hash of the file, in hexadecimal digits.
    pub sha256: String,
    pub store: Uuid,
    pub revision: i64,
    /// The token of the revision.
    pub token: Uuid,
    pub rules: u32,
}

impl Sharing {
    /// Servers share snapshots through `blobs` if all of them can use it.
    pub fn new(lease_duration: Duration, blobs: &Blobs, store: Uuid) -> Sharing {
        Sharing {
            lease_duration,
            publisher: blobs.is_shared().then(|| Publisher::new(blobs.clone(), store)),
        }
    }
}

impl Publisher {
    fn new(blobs: Blobs, store: Uuid) -> Publisher {
        Publisher {
            blobs,
            store,
            folder: format!("snapshots/{}", store.simple()),
            refused: Mutex::default(),
        }
    }

    /// Publishes a snapshot file, and removes older ones.
    pub async fn publish(&self, path: &Path, meta: &SnapshotMeta) -> anyhow::Result<()> {
        let stem = format!(
            "{}/{:012}-{}",
            self.folder,
            meta.revision,
            Uuid::now_v7().simple()
        );
        let file = format!("{stem}{FILE_SUFFIX}");
        let digest = self.blobs.put_file(&file, path).await?;
        let manifest = Manifest {
            file,
            size: digest.size,
            sha256: digest.hex(),
            store: meta.store,
            revision: meta.revision,
            token: meta.token,
            rules: meta.rules,
        };
        let name = format!("{stem}{MANIFEST_SUFFIX}");
        let text = serde_json::to_vec(&manifest)?;
        if !self.blobs.put_if_absent(&name, text).await? {
            bail!("the blob {name} exists");
        }
        tracing::info!(
            revision = meta.revision,
            bytes = digest.size,
            "directory snapshot published"
        );
        if let Err(error) = self.remove_old(&name).await {
            tracing::warn!(%error, "could not remove old published snapshots; the next build tries again");
        }
        Ok(())
    }

    /// Lists the manifests of snapshots of these revisions that this server may be able to use, the newest first.
    pub(crate) async fn list_usable(
        &self,
        revisions: RangeInclusive<i64>,
    ) -> anyhow::Result<Vec<(String, Manifest)>> {
        let mut found: Vec<(i64, Blob)> = self
            .list()
            .await?
            .into_iter()
            .filter(|blob| blob.name.ends_with(MANIFEST_SUFFIX) && !self.is_refused(&blob.name))
            .filter_map(|blob| Some((revision_of(&blob.name)?, blob)))
            .filter(|(revision, _)| revisions.contains(revision))
            .collect();
        found.sort_by(|(a_revision, a), (b_revision, b)| {
            (b_revision, age_key(b)).cmp(&(a_revision, age_key(a)))
        });
        let mut usable = Vec::new();
        for (_, blob) in found {
            let Some(bytes) = self.blobs.find(&blob.name).await? else {
                continue;
            };
            match serde_json::from_slice::<Manifest>(&bytes) {
                Ok(manifest) if manifest.store == self.store && manifest.rules == rules() => {
                    usable.push((blob.name, manifest));
                }
                // Another version of Causeway published it, for servers of that version.
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(name = blob.name, %error, "the manifest of a published snapshot is damaged");
                    self.refuse(blob.name);
                }
            }
        }
        Ok(usable)
    }

    /// Fetches a snapshot to a folder under the name of its revision. Returns `false` if it is missing or damaged.
    pub async fn fetch(&self, manifest: &Manifest, folder: &Path) -> anyhow::Result<bool> {
        data_folder::create_folder(folder)?;
        let temporary = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .tempfile_in(folder)?
            .into_temp_path();
        let Some(digest) = self.blobs.fetch_file(&manifest.file, &temporary).await? else {
            tracing::error!(name = manifest.file, "a published snapshot is missing");
            return Ok(false);
        };
        if digest.size != manifest.size || digest.hex() != manifest.sha256 {
            tracing::error!(name = manifest.file, "a published snapshot is damaged");
            return Ok(false);
        }
        let (manifest, folder) = (manifest.clone(), folder.to_owned());
        tokio::task::spawn_blocking(move || install(&manifest, temporary, &folder)).await?
    }

    /// Remembers that a snapshot cannot be used.
    pub fn refuse(&self, name: String) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.insert(name);
    }

    fn is_refused(&self, name: &str) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.contains(name)
    }

    async fn list(&self) -> platform::blobs::Result<Vec<Blob>> {
        self.blobs.list_all(&self.folder).await
    }

    /// Removes all but the newest snapshots. `published` is the manifest that was just written.
    async fn remove_old(&self, published: &str) -> platform::blobs::Result<()> {
        let blobs = self.list().await?;
        let mut manifests: Vec<&Blob> = blobs
            .iter()
            .filter(|blob| blob.name.ends_with(MANIFEST_SUFFIX))
            .collect();
        // Revisions start again after a restore of the store, so the time decides.
        manifests.sort_by_key(|blob| Reverse((blob.name == published, age_key(blob))));
        let kept: BTreeSet<&str> = manifests
            .iter()
            .take(KEPT_SNAPSHOTS)
            .map(|blob| stem(&blob.name))
            .collect();
        let mut old: Vec<&str> = blobs
            .iter()
            .map(|blob| blob.name.as_str())
            .filter(|name| revision_of(name).is_some() && !kept.contains(stem(name)))
            .collect();
        // The manifests first, so that no server begins to fetch a file that is being removed.
        old.sort_by_key(|name| !name.ends_with(MANIFEST_SUFFIX));
        for name in old {
            self.blobs.remove(name).await?;
        }
        Ok(())
    }
}

/// Opens a fetched file to verify it, and gives it its name. Returns `false` if it is not what the manifest says.
fn install(manifest: &Manifest, temporary: tempfile::TempPath, folder: &Path) -> anyhow::Result<bool> {
    match Snapshot::open(&temporary) {
        Ok(snapshot) if manifest.describes(snapshot.meta()) => {}
        Ok(_) => {
            tracing::error!(
                name = manifest.file,
                "a published snapshot is another one than its manifest says"
            );
            return Ok(false);
        }
        Err(error) => {
            tracing::error!(name = manifest.file, %error, "a published snapshot is unusable");
            return Ok(false);
        }
    }
    let path: PathBuf = folder.join(file_name(manifest.revision));
    temporary
        .persist(&path)
        .with_context(|| format!("could not rename a snapshot to {}", path.display()))?;
    File::open(folder)?.sync_all()?;
    Ok(true)
}

impl Manifest {
    /// Returns the revision of the directory.
    pub fn revision(&self) -> Revision {
        Revision {
            number: self.revision,
            token: self.token,
        }
    }

    fn describes(&self, meta: &SnapshotMeta) -> bool {
        (self.store, self.revision(), self.rules) == (meta.store, meta.revision(), meta.rules)
    }
}

/// Returns the revision in the name of a published blob, or `None` if it is not ours.
fn revision_of(name: &str) -> Option<i64> {
    let (revision, id) = stem(name).rsplit('/').next()?.split_once('-')?;
    Uuid::try_parse(id).ok()?;
    revision.parse().ok()
}

/// Returns what sorts blobs by age. Servers may report times in seconds; the IDs in names are in the order of time too.
fn age_key(blob: &Blob) -> (i64, &str) {
    let id = blob.name.rsplit('-').next().unwrap_or_default();
    (blob.modified_at, id)
}

/// Returns the part of a name that a file and its manifest have in common.
fn stem(name: &str) -> &str {
    let stem = name.strip_suffix(FILE_SUFFIX);
    stem.or_else(|| name.strip_suffix(MANIFEST_SUFFIX))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_published_blob_has_its_revision() {
        let name = "snapshots/0b/000000000042-0197a0b0c0d07e0f8a1b2c3d4e5f6071.snapshot";
        assert_eq!(revision_of(name), Some(42));
        assert_eq!(stem(name), stem(&name.replace(".snapshot", ".json")));
        for other in [
            "snapshots/0b/notes.json",
            "snapshots/0b/42.snapshot",
            "snapshots/0b/42-x.json",
            "",
        ] {
            assert_eq!(revision_of(other), None, "{other}");
        }
    }
}
