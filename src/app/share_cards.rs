//! Pictures for social networks, drawn on request. The latest are cached.

use crate::app::bulk_work::{BulkWork, BulkWorkError};
use access::limits::call::Owner;
use anyhow::Context;
use futures_util::StreamExt;
use pictures::drawn::card::ShareCard;
use platform::hosted::Pictures;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The number of cached pictures, of some tens of kilobytes each.
const CACHE_SIZE: usize = 64;

/// Draws share cards.
#[derive(Debug)]
pub struct ShareCards {
    /// PNG files by the tag of their card.
    pictures: Cache<String, Arc<[u8]>>,
}

impl Default for ShareCards {
    fn default() -> ShareCards {
        ShareCards {
            pictures: Cache::new(CACHE_SIZE),
        }
    }
}

impl ShareCards {
    /// Returns the file of a card; `tag` is the tag of the card.
    ///
    /// Requests for the same card wait for one drawing, which is work of the first one's owner.
    pub async fn draw(
        &self,
        card: ShareCard,
        tag: &str,
        pictures: &Pictures,
        bulk_work: &BulkWork,
        owner: Owner,
    ) -> Result<Arc<[u8]>, BulkWorkError> {
        let draw = async {
            let cover = match &card.cover {
                Some(cover) => read(pictures, &cover.id).await,
                None => None,
            };
            let drawn = bulk_work
                .run(owner, move |_| Some(card.draw(cover.as_deref())))
                .await?;
            let picture = drawn.map_err(|error| {
                tracing::error!(%error, "could not draw a share card");
                BulkWorkError::Panicked
            })?;
            Ok(picture.into())
        };
        self.pictures.get_or_insert_async(tag, draw).await
    }
}

/// Reads an uploaded picture. A card without its cover is better than none, so a failure is only logged.
async fn read(pictures: &Pictures, id: &str) -> Option<Vec<u8>> {
    let read = async {
        let picture = pictures.find(id).await?.context("it is not stored")?;
        let mut content = pictures.open(&picture, None).await?;
        let mut bytes = Vec::with_capacity(content.size as usize);
        while let Some(part) = content.parts.next().await {
            bytes.extend_from_slice(&part?);
        }
        anyhow::Ok(bytes)
    };
    match read.await {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            let error = format!("{error:#}");
            tracing::warn!(error, "could not read the cover of a share card");
            None
        }
    }
}
