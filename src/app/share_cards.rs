//! Pictures for social networks, drawn on request with bounded cost.

use pictures::drawn::card::ShareCard;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
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
    cache: Mutex<VecDeque<(String, Arc<[u8]>)>>,
}

impl Default for ShareCards {
    fn default() -> ShareCards {
        ShareCards {
            permits: Semaphore::new(MAX_CONCURRENT),
            cache: Mutex::default(),
        }
    }
}

impl ShareCards {
    /// Returns the picture of a card as a PNG file; `tag` is the tag of the card.
    pub async fn draw(&self, card: ShareCard, tag: &str) -> Result<Arc<[u8]>, DrawError> {
        if let Some(picture) = self.find(tag) {
            return Ok(picture);
        }
        let _permit = self.permits.acquire().await.map_err(|_| DrawError)?;
        // Another request may have drawn it in the meantime.
        if let Some(picture) = self.find(tag) {
            return Ok(picture);
        }
        let drawn = tokio::task::spawn_blocking(move || card.draw()).await;
        let picture: Arc<[u8]> = match drawn {
            Ok(Ok(picture)) => picture.into(),
            _ => return Err(DrawError),
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.truncate(CACHE_SIZE - 1);
        cache.push_front((tag.to_owned(), Arc::clone(&picture)));
        Ok(picture)
    }

    fn find(&self, tag: &str) -> Option<Arc<[u8]>> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let found = cache.iter().find(|(known, _)| known == tag);
        found.map(|(_, picture)| Arc::clone(picture))
    }
}
