//! A place that anchors are written to: the blob store, or the second place of the settings.

use super::{Anchor, AnchorName, AnchorSettings, folder};
use anyhow::{Context, bail};
use futures_util::{StreamExt, TryStreamExt};
use platform::blobs::Blobs;
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// The number of anchors that are read concurrently.
const MAX_CONCURRENT_READS: usize = 16;

/// A place that anchors are written to.
#[derive(Debug)]
pub struct Place {
    /// Its name in messages.
    pub(super) label: &'static str,
    /// Its name in the database.
    pub(super) key: String,
    url: String,
    data: PathBuf,
    /// Opened at its first use, so that commands and servers start even if the second place cannot be reached.
    blobs: OnceCell<Blobs>,
}

impl Place {
    /// Returns all places: the blob store, which is open already, and the second place of the settings.
    pub fn all(blobs: Blobs, blobs_url: &str, settings: &AnchorSettings, data: &Path) -> Vec<Place> {
        let mut places = vec![Place::blob_store(blobs, blobs_url)];
        if !settings.second_url.is_empty() {
            places.push(Place::second(&settings.second_url, data.to_owned()));
        }
        places
    }

    fn blob_store(blobs: Blobs, blobs_url: &str) -> Place {
        Place {
            label: "the blob store",
            key: match blobs_url {
                "" => "blobs".to_owned(),
                url => url.to_owned(),
            },
            url: String::new(),
            data: PathBuf::new(),
            blobs: OnceCell::from(blobs),
        }
    }

    fn second(url: &str, data: PathBuf) -> Place {
        let url = if url.starts_with('/') {
            format!("file://{url}")
        } else {
            url.to_owned()
        };
        Place {
            label: "anchors.second_url",
            key: url.clone(),
            url,
            data,
            blobs: OnceCell::new(),
        }
    }

    async fn blobs(&self) -> anyhow::Result<&Blobs> {
        let open = async { Blobs::open(&self.url, &self.data) };
        self.blobs
            .get_or_try_init(|| open)
            .await
            .with_context(|| format!("could not open {}", self.label))
    }

    /// Writes an anchor. One that another server has written already is left alone.
    pub async fn write(&self, anchor: &Anchor) -> anyhow::Result<()> {
        let written = write(self.blobs().await?, anchor).await;
        written.with_context(|| format!("could not write an anchor to {}", self.label))
    }

    /// Lists the names of the anchors of a store, in no particular order.
    pub(crate) async fn list_names(&self, store: Uuid) -> anyhow::Result<Vec<AnchorName>> {
        let blobs = self.blobs().await?.list(&folder(store));
        let names = blobs.try_filter_map(async |blob| {
            let file_name = blob.name.rsplit('/').next().unwrap_or_default();
            Ok(AnchorName::parse(file_name))
        });
        names
            .try_collect()
            .await
            .with_context(|| format!("could not list the anchors in {}", self.label))
    }

    /// Reads an anchor. Returns `None` if it was removed.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is damaged, or belongs to another store.
    pub async fn read(&self, store: Uuid, name: &AnchorName) -> anyhow::Result<Option<Anchor>> {
        let path = path(store, name);
        let found = self.blobs().await?.find(&path).await;
        let found = found.with_context(|| format!("could not read the anchor {path} in {}", self.label))?;
        let Some(bytes) = found else {
            return Ok(None);
        };
        match Anchor::from_json(&bytes) {
            Some(anchor) if anchor.store != store => {
                bail!("the anchor {path} in {} belongs to another store", self.label)
            }
            Some(anchor) if anchor.name() == *name => Ok(Some(anchor)),
            _ => bail!("the anchor {path} in {} is damaged", self.label),
        }
    }

    /// Reads all anchors of a store.
    pub async fn list(&self, store: Uuid) -> anyhow::Result<Vec<Anchor>> {
        let names = self.list_names(store).await?;
        let anchors = futures_util::stream::iter(names)
            .map(async |name| self.read(store, &name).await)
            .buffer_unordered(MAX_CONCURRENT_READS)
            .try_filter_map(async |anchor| Ok(anchor));
        anchors.try_collect().await
    }

    /// Removes an anchor.
    pub async fn remove(&self, store: Uuid, name: &AnchorName) -> anyhow::Result<()> {
        let removed = self.blobs().await?.remove(&path(store, name)).await;
        removed.with_context(|| format!("could not remove an old anchor from {}", self.label))
    }
}

/// Writes an anchor to a blob store. One that is there already is left alone.
pub(super) async fn write(blobs: &Blobs, anchor: &Anchor) -> anyhow::Result<()> {
    let name = path(anchor.store, &anchor.name());
    blobs.put_if_absent(&name, anchor.to_json()).await?;
    Ok(())
}

fn path(store: Uuid, name: &AnchorName) -> String {
    format!("{}/{}", folder(store), name.file_name())
}
