//! Pictures for social networks, drawn on request with bounded cost.

use pictures::drawn::card::ShareCard;
use quick_cache::sync::Cache;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The number of pictures that are drawn at the same time.
const MAX_CONCURRENT: usize = 2;
/// The number of cached pictures, of some tens of kilobytes each.
const CACHE_SIZE: usize = 64;

/// A picture could not be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the share card could not be drawn")]
pub struct DrawError;

/// Draws share cards: a few at a time, and the latest are cached.
#[derive(Debug)]
pub struct ShareCards {
    permits: Semaphore,
    /// PNG files by the tag of their card.
    pictures: Cache<String, Arc<[u8]>>,
}

impl Default for ShareCards {
    fn default() -> ShareCards {
        ShareCards {
            permits: Semaphore::new(MAX_CONCURRENT),
            pictures: Cache::new(CACHE_SIZE),
        }
    }
}

impl ShareCards {
    /// Returns the picture of a card as a PNG file; `tag` is the tag of the card.
    ///
    /// Requests for the same card wait for one drawing.
    pub async fn draw(&self, card: ShareCard, tag: &str) -> Result<Arc<[u8]>, DrawError> {
        let draw = async {
            let _permit = self.permits.acquire().await.map_err(|_| DrawError)?;
            match tokio::task::spawn_blocking(move || card.draw()).await {
                Ok(Ok(picture)) => Ok(picture.into()),
                _ => Err(DrawError),
            }
        };
        self.pictures.get_or_insert_async(tag, draw).await
    }
}
