//! The destination of a backup: a folder, or a bucket of an object store.

use super::hash::Fingerprint;
use super::manifest::{FORMAT, FileEntry, Manifest};
use crate::blobs::Blobs;
use crate::data_folder;
use anyhow::{Context, bail};
use futures_util::TryStreamExt;
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest.json";
/// The folder of pictures in an archive, shared by successive backups.
const PICTURES: &str = "blobs";
/// The beginning of the name of an anchor in the folder of a backup.
pub const ANCHOR_PREFIX: &str = "anchor-";

/// The place of a backup.
#[derive(Clone, Debug)]
pub struct Archive {
    blobs: Blobs,
    /// The folder, unless the archive is in an object store.
    folder: Option<PathBuf>,
    place: String,
}

impl Archive {
    /// Opens the destination of a backup, and creates a folder that does not exist.
    pub async fn create(place: &str) -> anyhow::Result<Archive> {
        let archive = Archive::open_place(place)?;
        archive.blobs.probe().await?;
        Ok(archive)
    }

    /// Opens a backup to restore it.
    pub fn open(place: &str) -> anyhow::Result<Archive> {
        if folder_of(place).is_some_and(|folder| !folder.is_dir()) {
            bail!("there is no folder {place}; check the path of the backup");
        }
        Archive::open_place(place)
    }

    fn open_place(place: &str) -> anyhow::Result<Archive> {
        let folder = match folder_of(place) {
            None => None,
            Some(folder) => Some(std::path::absolute(folder)?),
        };
        let url = match &folder {
            Some(folder) => format!("file://{}", folder.display()),
            None => place.to_owned(),
        };
        Ok(Archive {
            blobs: Blobs::open(&url, Path::new(""))?,
            folder,
            place: place.to_owned(),
        })
    }

    pub fn place(&self) -> &str {
        &self.place
    }

    /// Finds the manifest of the last complete backup.
    pub async fn find_manifest(&self) -> anyhow::Result<Option<Manifest>> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let place = &self.place;
        let Some(bytes) = self
            .blobs
            .find(MANIFEST)
            .await
            .with_context(|| format!("could not read {MANIFEST} in {place}"))?
        else {
            return Ok(None);
        };
        let damaged = || {
            format!("{MANIFEST} in {place} is damaged; restore another backup, or back up to another place")
        };
        let format: Format = serde_json::from_slice(&bytes).with_context(damaged)?;
        if format.format != FORMAT {
            bail!("{place} has a backup of another version of Causeway; use that version");
        }
        Ok(Some(serde_json::from_slice(&bytes).with_context(damaged)?))
    }

    /// Makes the backup with this manifest the one at this place. Fails if one of its files is gone, for example
    /// because another backup replaced it meanwhile.
    pub async fn publish(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let names = self.list().await?;
        if let Some(file) = manifest.files.iter().find(|file| !names.contains(&file.name)) {
            bail!(
                "{} disappeared from {} while the backup was written; run one backup at a time",
                file.name,
                self.place
            );
        }
        self.put(MANIFEST, serde_json::to_vec_pretty(manifest)?).await
    }

    /// Removes what belongs to `previous` and not to `current`.
    pub async fn remove_replaced(&self, previous: &Manifest, current: &Manifest) -> anyhow::Result<()> {
        let kept: HashSet<&str> = current.files.iter().map(|file| file.name.as_str()).collect();
        for file in &previous.files {
            if !kept.contains(file.name.as_str()) {
                self.blobs.remove(&file.name).await?;
            }
        }
        if let Some(folder) = &self.folder {
            // It is not empty if somebody else put files into it.
            let _ = fs::remove_dir(folder.join(&previous.id));
        }
        Ok(())
    }

    /// Lists the names of all files.
    pub async fn list(&self) -> anyhow::Result<HashSet<String>> {
        let names = self.blobs.list("").map_ok(|blob| blob.name).try_collect();
        names
            .await
            .with_context(|| format!("could not list the files in {}", self.place))
    }

    /// Writes a file.
    pub async fn put(&self, name: &str, bytes: Vec<u8>) -> anyhow::Result<()> {
        let put = self.blobs.put(name, bytes).await;
        put.with_context(|| format!("could not write {name} to {}", self.place))
    }

    /// Reads a file and compares it with its hash.
    pub async fn read(&self, file: &FileEntry) -> anyhow::Result<Vec<u8>> {
        let found = self.find(&file.name).await?;
        let Some(bytes) = found else {
            return Err(self.missing(file));
        };
        if Fingerprint::of(&bytes) != file.fingerprint() {
            return Err(self.damaged(file));
        }
        Ok(bytes)
    }

    /// Finds a file by its name, whatever it contains.
    pub async fn find(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let found = self.blobs.find(name).await;
        found.with_context(|| format!("could not read {name} in {}", self.place))
    }

    /// Returns the local path where a large file is written before [`put_staged`](Archive::put_staged) moves it to its
    /// place. `scratch` is used if the archive is not a folder.
    pub fn staging_path(&self, name: &str, scratch: &Path) -> anyhow::Result<PathBuf> {
        let path = match &self.folder {
            Some(folder) => folder.join(format!("{name}.part")),
            None => scratch.join(format!("{}.part", name.replace('/', "-"))),
        };
        let parent = path.parent().context("a file has a folder")?;
        data_folder::create_folder(parent)
            .with_context(|| format!("could not create the folder {}", parent.display()))?;
        Ok(path)
    }

    /// Moves a file from its staging path to its place, and returns its hash.
    pub async fn put_staged(&self, name: &str, staged: PathBuf) -> anyhow::Result<Fingerprint> {
        let place = self.folder.as_ref().map(|folder| folder.join(name));
        let blobs = self.blobs.clone();
        let context = format!("could not write {name} to {}", self.place);
        let path = staged.clone();
        let fingerprint = run_blocking(move || {
            let fingerprint = Fingerprint::of_file(&path)?;
            if let Some(place) = place {
                File::open(&path)?.sync_all()?;
                fs::rename(&path, &place)?;
                sync_parents(&place)?;
            }
            Ok(fingerprint)
        });
        let fingerprint = fingerprint.await.with_context(|| context.clone())?;
        if self.folder.is_none() {
            let put = blobs.put_file(name, &staged).await;
            let _ = fs::remove_file(&staged);
            put.context(context)?;
        }
        Ok(fingerprint)
    }

    /// Copies a large file to a local path, and compares it with its hash.
    pub async fn fetch(&self, file: &FileEntry, to: &Path) -> anyhow::Result<()> {
        let fetched = self.blobs.fetch_file(&file.name, to).await;
        let fetched = fetched.with_context(|| format!("could not copy {} from {}", file.name, self.place))?;
        if fetched.is_none() {
            return Err(self.missing(file));
        }
        let path = to.to_owned();
        let fingerprint = run_blocking(move || Fingerprint::of_file(&path)).await?;
        if fingerprint != file.fingerprint() {
            return Err(self.damaged(file));
        }
        Ok(())
    }

    fn missing(&self, file: &FileEntry) -> anyhow::Error {
        anyhow::anyhow!(
            "{} is missing in {}; restore another backup",
            file.name,
            self.place
        )
    }

    fn damaged(&self, file: &FileEntry) -> anyhow::Error {
        anyhow::anyhow!(
            "{} in {} is damaged: its SHA-256 is not that of the manifest; restore another backup",
            file.name,
            self.place
        )
    }
}

/// Returns the name of a picture in an archive.
pub fn picture_name(blob: &str) -> String {
    format!("{PICTURES}/{blob}")
}

/// Returns the name of a blob whose picture has this name in an archive.
pub fn blob_name(picture: &str) -> &str {
    picture
        .strip_prefix(PICTURES)
        .and_then(|name| name.strip_prefix('/'))
        .unwrap_or(picture)
}

fn folder_of(place: &str) -> Option<&Path> {
    match place.strip_prefix("file://") {
        Some(folder) => Some(Path::new(folder)),
        None if place.contains("://") => None,
        None => Some(Path::new(place)),
    }
}

/// Syncs the folder of a file and the folder above, so that the name of the file survives a power failure.
fn sync_parents(path: &Path) -> io::Result<()> {
    for folder in path.ancestors().skip(1).take(2) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}
