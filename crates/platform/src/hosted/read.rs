//! Reads hosted pictures, in parts: a client that is slow, or that takes nothing, holds one part in memory and not the
//! whole picture.

use super::{Pictures, StoredPicture, Width, run_blocking, unavailable};
use crate::blobs::{self, BlobReader};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use pictures::error::PictureError;
use pictures::picture::shrink_to_width;

/// The bytes of a picture, in parts.
pub struct PictureContent {
    pub size: u64,
    pub parts: BoxStream<'static, blobs::Result<Bytes>>,
}

impl PictureContent {
    fn from_bytes(bytes: Vec<u8>) -> PictureContent {
        PictureContent {
            size: bytes.len() as u64,
            parts: stream::once(async { Ok(Bytes::from(bytes)) }).boxed(),
        }
    }

    fn from_blob(blob: BlobReader) -> PictureContent {
        PictureContent {
            size: blob.size(),
            parts: blob.into_parts().boxed(),
        }
    }
}

impl Pictures {
    /// Opens a picture, scaled down if it is wider than `width`.
    pub async fn open(
        &self,
        picture: &StoredPicture,
        width: Option<Width>,
    ) -> Result<PictureContent, PictureError> {
        let Some(width) = width.filter(|width| width.narrows(picture)) else {
            return self.open_blob(&picture.blob).await?.ok_or_else(|| lost(picture));
        };
        let name = format!("{}.w{width}", picture.blob);
        if let Some(scaled) = self.open_blob(&name).await? {
            return Ok(scaled);
        }
        let pixels = u64::from(picture.width) * u64::from(picture.height);
        let memory = self.reserve_memory(pixels * 8).await;
        // Another request may have scaled the picture while this one waited for memory.
        if let Some(scaled) = self.open_blob(&name).await? {
            return Ok(scaled);
        }
        let bytes = self.blobs.find(&picture.blob).await.map_err(unavailable)?;
        let bytes = bytes.ok_or_else(|| lost(picture))?;
        let scaled = run_blocking(memory, move || match shrink_to_width(&bytes, width.pixels())? {
            Some(scaled) => Ok(scaled.bytes),
            None => Ok(bytes),
        });
        let scaled = scaled
            .await
            .map_err(|error| unavailable(format!("{}: {error}", picture.blob)))?;
        if let Err(error) = self.blobs.put(&name, scaled.clone()).await {
            tracing::warn!(%error, "could not store a scaled picture; it will be scaled again");
            return Ok(PictureContent::from_bytes(scaled));
        }
        drop(scaled);
        self.open_blob(&name).await?.ok_or_else(|| lost(picture))
    }

    async fn open_blob(&self, name: &str) -> Result<Option<PictureContent>, PictureError> {
        let blob = self.blobs.open_blob(name).boxed().await.map_err(unavailable)?;
        Ok(blob.map(PictureContent::from_blob))
    }
}

fn lost(picture: &StoredPicture) -> PictureError {
    unavailable(format!("the blob {} does not exist", picture.blob))
}
