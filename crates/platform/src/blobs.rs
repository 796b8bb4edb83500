//! Stores blobs, which are too large for the database, in a folder behind the interface of object stores.
//!
//! A blob appears under its name only when it is complete: it is written to a temporary file, synced and renamed, and
//! the folder is synced too. A process that dies in between leaves a file with `#` in its name, which
//! [`Blobs::remove_unfinished`] removes.

use crate::data_folder;
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

/// The blob store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    folder: PathBuf,
}

/// A blob in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub name: String,
    /// When it was last modified, in milliseconds since the Unix epoch.
    pub modified_at: i64,
}

impl Blobs {
    /// Opens the folder that `blobs_url` names, or `blobs` in the data folder if `blobs_url` is empty.
    pub fn open(url: &str, data: &Path) -> anyhow::Result<Blobs> {
        let folder = match url {
            "" => data.join("blobs"),
            url => match url.strip_prefix("file://").map(Path::new) {
                Some(folder) if folder.is_absolute() => folder.to_owned(),
                _ => bail!(
                    "blobs_url is {url:?}, but only folders are supported; leave it empty, or write file:///folder"
                ),
            },
        };
        let context = || format!("could not create the pictures folder {}", folder.display());
        data_folder::create_folder(&folder).with_context(context)?;
        if url.is_empty() {
            data_folder::restrict_large(&folder)?;
        }
        let store = LocalFileSystem::new_with_prefix(&folder)
            .with_context(context)?
            .with_fsync(true);
        Ok(Blobs {
            store: Arc::new(store),
            folder,
        })
    }

    /// Stores a blob under a name. Once this returns, it survives a power failure.
    pub async fn put(&self, name: &str, bytes: Vec<u8>) -> object_store::Result<()> {
        self.store.put(&Name::from(name), bytes.into()).await.map(|_| ())
    }

    /// Finds the blob with this name.
    pub async fn find(&self, name: &str) -> object_store::Result<Option<Vec<u8>>> {
        let found = async { self.store.get(&Name::from(name)).await?.bytes().await };
        match found.await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes a blob. It is not an error if the blob does not exist.
    pub async fn remove(&self, name: &str) -> object_store::Result<()> {
        match self.store.delete(&Name::from(name)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    /// Lists the blobs in a folder, in no particular order.
    pub fn list(&self, folder: &str) -> BoxStream<'static, object_store::Result<Blob>> {
        let blobs = self.store.list(Some(&Name::from(folder))).map(|blob| {
            blob.map(|blob| Blob {
                name: blob.location.to_string(),
                modified_at: blob.last_modified.timestamp_millis(),
            })
        });
        blobs.boxed()
    }

    /// Removes the temporary files in a folder that were last modified before `before`, and returns their number.
    ///
    /// `is_ours` recognizes the names that this app gives to blobs. Other files are left alone.
    pub async fn remove_unfinished(
        &self,
        folder: &str,
        before: i64,
        is_ours: fn(&str) -> bool,
    ) -> io::Result<usize> {
        let folder = self.folder.join(folder);
        let removal = tokio::task::spawn_blocking(move || remove_unfinished(&folder, before, is_ours));
        removal.await.map_err(io::Error::other)?
    }
}

fn remove_unfinished(folder: &Path, before: i64, is_ours: fn(&str) -> bool) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
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
            .is_some_and(|(blob, _)| is_ours(blob));
        let modified_at = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH);
        let is_old = modified_at.unwrap_or(Duration::ZERO).as_millis() < before.max(0) as u128;
        if is_old && is_unfinished {
            fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}
