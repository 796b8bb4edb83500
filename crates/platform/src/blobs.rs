//! Where bytes are kept that are too large for the store: a folder, behind the interface of object stores.
//!
//! A blob that was put is on disk under its name, whole: it is written beside it, synced, renamed, and the folder is
//! synced too. A process that dies meanwhile leaves a file with `#` in its name, which
//! [`Blobs::remove_unfinished`] clears away.

use anyhow::{Context, bail};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{ObjectStore, ObjectStoreExt};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// The blobs.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    folder: PathBuf,
}

/// A blob as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub name: String,
    /// When it was written, in milliseconds since 1970.
    pub written_at: i64,
}

impl Blobs {
    /// Opens the folder that `blobs_url` names; where that is empty, one in the data folder.
    pub fn open(url: &str, data: &Path) -> anyhow::Result<Blobs> {
        let folder = match url {
            "" => data.join("blobs"),
            url => match url.strip_prefix("file://").map(Path::new) {
                Some(folder) if folder.is_absolute() => folder.to_owned(),
                _ => bail!(
                    "blobs_url is {url:?}; this version keeps pictures in a folder: leave it empty, or write file:///folder"
                ),
            },
        };
        let about = || format!("the folder of pictures {} cannot be made", folder.display());
        fs::create_dir_all(&folder).with_context(about)?;
        let store = LocalFileSystem::new_with_prefix(&folder)
            .with_context(about)?
            .with_fsync(true);
        Ok(Blobs {
            store: Arc::new(store),
            folder,
        })
    }

    /// Keeps bytes under a name. When this returns, they outlive a loss of power.
    pub async fn put(&self, name: &str, bytes: Vec<u8>) -> object_store::Result<()> {
        self.store.put(&Name::from(name), bytes.into()).await.map(|_| ())
    }

    /// The bytes with this name, if there are any.
    pub async fn find(&self, name: &str) -> object_store::Result<Option<Vec<u8>>> {
        let found = async { self.store.get(&Name::from(name)).await?.bytes().await };
        match found.await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Lets go of a blob; one that is gone already is no fault.
    pub async fn remove(&self, name: &str) -> object_store::Result<()> {
        match self.store.delete(&Name::from(name)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    /// The blobs below a folder, in no order.
    pub fn list(&self, folder: &str) -> BoxStream<'static, object_store::Result<Blob>> {
        let blobs = self.store.list(Some(&Name::from(folder))).map(|blob| {
            blob.map(|blob| Blob {
                name: blob.location.to_string(),
                written_at: blob.last_modified.timestamp_millis(),
            })
        });
        blobs.boxed()
    }

    /// Clears away what processes that died left half written below a folder before this moment, of the files whose
    /// names are ours; returns how many.
    pub async fn remove_unfinished(
        &self,
        folder: &str,
        before: i64,
        is_ours: fn(&str) -> bool,
    ) -> io::Result<usize> {
        let folder = self.folder.join(folder);
        let walked = tokio::task::spawn_blocking(move || remove_unfinished(&folder, before, is_ours));
        walked.await.map_err(io::Error::other)?
    }
}

fn remove_unfinished(folder: &Path, before: i64, is_ours: fn(&str) -> bool) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            removed += remove_unfinished(&entry.path(), before, is_ours)?;
            continue;
        }
        let name = entry.file_name();
        let is_unfinished = name
            .to_str()
            .and_then(|name| name.split_once('#'))
            .is_some_and(|(whole, _)| is_ours(whole));
        let age = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH);
        let is_old = age.unwrap_or(Duration::ZERO).as_millis() < before.max(0) as u128;
        if is_old && is_unfinished {
            fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}
