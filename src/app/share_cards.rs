//! Pictures for social networks, drawn on request. The latest are cached.

use crate::app::bulk_work::{BulkWork, BulkWorkError};
use access::limits::call::Owner;
use pictures::drawn::card::ShareCard;
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
    /// Returns the picture of a card as a PNG file; `tag` is the tag of the card.
    ///
    /// Requests for the same card wait for one drawing, which is work of the first one's owner.
    pub async fn draw(
        &self,
        card: ShareCard,
        tag: &str,
        bulk_work: &BulkWork,
        owner: Owner,
    ) -> Result<Arc<[u8]>, BulkWorkError> {
        let draw = async {
            let drawn = bulk_work.run(owner, move |_| Some(card.draw())).await?;
            let picture = drawn.map_err(|error| {
                tracing::error!(%error, "could not draw a share card");
                BulkWorkError::Panicked
            })?;
            Ok(picture.into())
        };
        self.pictures.get_or_insert_async(tag, draw).await
    }
}
