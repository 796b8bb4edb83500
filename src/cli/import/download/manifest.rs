//! What was downloaded into a folder: the hash and the version of each file, and what partial files are parts of.

use super::remote::Version;
use super::target::Target;
use super::verify::hash_file;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The name of the manifest in the folder.
pub(crate) const MANIFEST: &str = "downloads.json";

/// The files in a folder.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Manifest {
    files: BTreeMap<String, FileEntry>,
    /// By the name of the complete file.
    partial: BTreeMap<String, PartialEntry>,
}

/// A complete file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileEntry {
    pub url: String,
    #[serde(flatten)]
    pub version: Version,
    pub length: u64,
    pub sha256: String,
    /// When the file in the folder was last changed, in milliseconds since 1970.
    pub changed_at: i64,
}

/// A partial file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartialEntry {
    pub url: String,
    #[serde(flatten)]
    pub version: Version,
    /// The length of the complete file.
    pub length: u64,
}

impl Manifest {
    /// Loads the manifest of a folder. A damaged one counts as empty, and then all files are fetched again.
    pub(super) fn load(folder: &Path) -> anyhow::Result<Manifest> {
        let path = folder.join(MANIFEST);
        match fs::read(&path) {
            Ok(content) => Ok(serde_json::from_slice(&content).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Manifest::default()),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}; check its permissions", path.display()))
            }
        }
    }

    /// Saves the manifest. It is complete or unchanged even if the process is killed.
    fn save(&self, folder: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        platform::data_folder::replace_file(&folder.join(MANIFEST), text.as_bytes())
            .with_context(|| format!("cannot write {MANIFEST} in {}; free disk space", folder.display()))
    }

    /// Returns the version of a file, if it is in the folder as it was fetched from this URL.
    pub(super) fn intact_version(&self, folder: &Path, target: &Target) -> anyhow::Result<Option<Version>> {
        let Some(entry) = self
            .files
            .get(&target.name)
            .filter(|entry| entry.url == target.url)
        else {
            return Ok(None);
        };
        let path = folder.join(&target.name);
        let Ok(metadata) = fs::metadata(&path) else {
            return Ok(None);
        };
        if metadata.len() != entry.length {
            return Ok(None);
        }
        // The hash of a large file takes a while, so it is not computed if nobody wrote to the file.
        let is_intact = changed_at(&path)? == entry.changed_at || hash_file(&path)? == entry.sha256;
        Ok(is_intact.then(|| entry.version.clone()))
    }

    /// Returns what the partial file of a target is a part of.
    pub(super) fn partial(&self, target: &Target) -> Option<&PartialEntry> {
        self.partial
            .get(&target.name)
            .filter(|entry| entry.url == target.url)
    }

    /// Records what a partial file is a part of, or that there is none.
    pub(super) fn set_partial(
        &mut self,
        folder: &Path,
        target: &Target,
        entry: Option<PartialEntry>,
    ) -> anyhow::Result<()> {
        let is_changed = match entry {
            Some(entry) => self.partial.insert(target.name.clone(), entry.clone()) != Some(entry),
            None => self.partial.remove(&target.name).is_some(),
        };
        if is_changed {
            self.save(folder)?;
        }
        Ok(())
    }

    /// Records a complete file.
    pub(super) fn set_complete(
        &mut self,
        folder: &Path,
        target: &Target,
        version: Version,
        length: u64,
        sha256: String,
    ) -> anyhow::Result<()> {
        let entry = FileEntry {
            url: target.url.clone(),
            version,
            length,
            sha256,
            changed_at: changed_at(&folder.join(&target.name))?,
        };
        self.files.insert(target.name.clone(), entry);
        self.partial.remove(&target.name);
        self.save(folder)
    }
}

fn changed_at(path: &Path) -> anyhow::Result<i64> {
    let changed = fs::metadata(path).and_then(|metadata| metadata.modified());
    let changed = changed.with_context(|| format!("cannot read {}", path.display()))?;
    let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(since.as_millis() as i64)
}
