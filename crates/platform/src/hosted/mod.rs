//! Hosted pictures: taken in, stored once for the same bytes, and handed out in a few widths.
//!
//! A picture is a blob and a row that names it. The blob is on disk before the row is written, and its name is
//! used once, so no row ever points to nothing: what is left over after a fault is a blob without a row, and the sweep
//! clears that away.

pub mod check;
pub mod picture;
pub mod store;

pub use picture::{StoredPicture, Width};

use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::db::Db;
use futures_util::TryStreamExt;
use pictures::data_url;
use pictures::error::PictureError;
use pictures::header::{Header, MAX_DECODE_MEMORY};
use pictures::picture::{CleanPicture, Kind, clean_with_header, shrink_to_width};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// What hosted ids begin with.
const PREFIX: &str = "picture-";
/// A blob without a row that is older than this belongs to no upload under way.
const ORPHAN_AGE_MILLIS: i64 = 60 * 60 * 1_000;
/// What decoding takes is counted in these.
const MIB: u64 = 1 << 20;

/// The pictures that people sent.
#[derive(Clone, Debug)]
pub struct Pictures {
    db: Db,
    blobs: Blobs,
    /// Where its blobs lie. It has the id of the store in it, so that several stores can share one place.
    folder: String,
    clock: Clock,
    room: Arc<Semaphore>,
}

/// A picture that is stored and served at `/media/{id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedPicture {
    pub id: String,
    pub width: u32,
    pub height: u32,
}

/// Is this the id of a picture that somebody sent, and not of one that we draw?
pub fn is_hosted_id(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(is_hex)
}

impl Pictures {
    /// The pictures of the store with this id.
    pub fn new(db: Db, store: Uuid, blobs: Blobs, clock: Clock) -> Pictures {
        Pictures {
            db,
            blobs,
            folder: format!("pictures/{}", store.simple()),
            clock,
            room: Arc::new(Semaphore::new((MAX_DECODE_MEMORY / MIB) as usize)),
        }
    }

    pub fn db(&self) -> &Db {
        &self.db
    }

    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Takes in a picture that is written as base64, alone or as a data URL, whose media type is not believed.
    pub async fn add_base64(&self, text: &str) -> Result<HostedPicture, PictureError> {
        self.take(data_url::decode(text)?).await
    }

    /// Judges a picture as [`Pictures::add_base64`] does, and keeps nothing; the hosted id that it would have.
    pub async fn check_base64(&self, text: &str) -> Result<String, PictureError> {
        let bytes = data_url::decode(text)?;
        let header = Header::read(&bytes)?;
        let id = hosted_id(&bytes);
        let room = self.room_for(header.decode_memory).await;
        in_pool(room, move || clean_with_header(bytes, &header)).await?;
        Ok(id)
    }

    /// Takes in a picture. The same bytes give the same hosted id, however often they come.
    pub async fn take(&self, bytes: Vec<u8>) -> Result<HostedPicture, PictureError> {
        let header = Header::read(&bytes)?;
        let id = hosted_id(&bytes);
        if let Some(known) = store::find(&self.db, &id).await.map_err(unavailable)? {
            return Ok(known.hosted());
        }
        let room = self.room_for(header.decode_memory).await;
        let cleaned = in_pool(room, move || clean_with_header(bytes, &header)).await?;
        self.keep(id, cleaned).await
    }

    async fn keep(&self, id: String, clean: CleanPicture) -> Result<HostedPicture, PictureError> {
        let name = Uuid::now_v7().simple().to_string();
        let picture = StoredPicture {
            // The last digits are random, and so spread over the folders.
            blob: format!(
                "{}/{}/{name}.{}",
                self.folder,
                &name[30..],
                clean.kind.extension()
            ),
            id,
            sha256: Sha256::digest(&clean.bytes).to_vec(),
            kind: clean.kind,
            width: clean.width,
            height: clean.height,
        };
        self.blobs
            .put(&picture.blob, clean.bytes)
            .await
            .map_err(unavailable)?;
        let is_first = store::insert(&self.db, &picture, self.clock.millis())
            .await
            .map_err(unavailable)?;
        if is_first {
            return Ok(picture.hosted());
        }
        // Somebody sent the same bytes at the same time.
        self.blobs.remove(&picture.blob).await.map_err(unavailable)?;
        let other = store::find(&self.db, &picture.id).await.map_err(unavailable)?;
        other.map(|other| other.hosted()).ok_or(PictureError::Unavailable)
    }

    /// The picture with a hosted id.
    pub async fn find(&self, id: &str) -> sqlx::Result<Option<StoredPicture>> {
        match is_hosted_id(id) {
            true => store::find(&self.db, id).await,
            false => Ok(None),
        }
    }

    /// The bytes of a picture, narrowed where a width is asked for and it is wider.
    pub async fn read(&self, picture: &StoredPicture, width: Option<Width>) -> Result<Vec<u8>, PictureError> {
        let whole = || async {
            let found = self.blobs.find(&picture.blob).await.map_err(unavailable)?;
            found.ok_or_else(|| unavailable(format!("the blob {} is gone", picture.blob)))
        };
        let Some(width) = width.filter(|width| width.narrows(picture)) else {
            return whole().await;
        };
        let name = format!("{}.w{width}", picture.blob);
        if let Some(bytes) = self.blobs.find(&name).await.map_err(unavailable)? {
            return Ok(bytes);
        }
        let pixels = u64::from(picture.width) * u64::from(picture.height);
        let room = self.room_for(pixels * 8).await;
        // Of several who ask at once, the first makes it and the others find it.
        if let Some(bytes) = self.blobs.find(&name).await.map_err(unavailable)? {
            return Ok(bytes);
        }
        let whole = whole().await?;
        let made = in_pool(room, move || match shrink_to_width(&whole, width.pixels())? {
            Some(made) => Ok(made.bytes),
            None => Ok(whole),
        });
        let made = made
            .await
            .map_err(|fault| unavailable(format!("{}: {fault}", picture.blob)))?;
        if let Err(fault) = self.blobs.put(&name, made.clone()).await {
            tracing::warn!(%fault, "a narrowed picture could not be kept and will be made again");
        }
        Ok(made)
    }

    /// Clears away what uploads that came to nothing left behind; returns how many blobs. What lies elsewhere, or has
    /// a name that we do not give, belongs to somebody else.
    pub async fn sweep(&self) -> anyhow::Result<usize> {
        let before = self.clock.millis() - ORPHAN_AGE_MILLIS;
        let mut removed = self
            .blobs
            .remove_unfinished(&self.folder, before, is_file_name)
            .await?;
        let mut blobs = self.blobs.list(&self.folder);
        while let Some(blob) = blobs.try_next().await? {
            let file = blob.name.rsplit('/').next().unwrap_or_default();
            if blob.written_at >= before || !is_file_name(file) {
                continue;
            }
            if !store::is_blob_used(&self.db, original(&blob.name)).await? {
                self.blobs.remove(&blob.name).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Waits until there is room to decode: two pictures at once at the most, and a large one alone.
    async fn room_for(&self, memory: u64) -> OwnedSemaphorePermit {
        let all = (MAX_DECODE_MEMORY / MIB) as u32;
        let share = (memory.div_ceil(MIB) as u32).clamp(all / 2, all);
        let room = Arc::clone(&self.room).acquire_many_owned(share).await;
        room.expect("the semaphore is never closed")
    }
}

impl StoredPicture {
    fn hosted(&self) -> HostedPicture {
        HostedPicture {
            id: self.id.clone(),
            width: self.width,
            height: self.height,
        }
    }
}

/// The blob of the picture that a narrowed one was made from.
fn original(name: &str) -> &str {
    name.rsplit_once(".w").map_or(name, |(original, _)| original)
}

/// Is this the last part of a name that [`Pictures::keep`] or [`Pictures::read`] gives?
fn is_file_name(name: &str) -> bool {
    let (name, width) = match name.rsplit_once(".w") {
        Some((name, width)) => (name, Some(width)),
        None => (name, None),
    };
    let is_whole = name.split_once('.').is_some_and(|(name, extension)| {
        is_hex(name) && Kind::ALL.iter().any(|kind| kind.extension() == extension)
    });
    is_whole && width.is_none_or(|width| Width::parse(width).is_some())
}

/// 32 hex digits.
fn is_hex(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hosted_id(bytes: &[u8]) -> String {
    let mut id = PREFIX.to_owned();
    for byte in &Sha256::digest(bytes)[..16] {
        write!(id, "{byte:02x}").expect("a text takes all");
    }
    id
}

/// Runs work on a thread that may block. The room is given back when the work ends, even if nobody waits for it.
async fn in_pool<T: Send + 'static>(
    room: OwnedSemaphorePermit,
    work: impl FnOnce() -> Result<T, PictureError> + Send + 'static,
) -> Result<T, PictureError> {
    let task = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(room);
        done
    });
    // A decoder that panics has met a picture that it cannot read.
    task.await.unwrap_or_else(|fault| {
        tracing::error!(%fault, "a picture could not be decoded");
        Err(PictureError::Damaged)
    })
}

fn unavailable(fault: impl std::fmt::Display) -> PictureError {
    tracing::error!(%fault, "pictures cannot be read or stored");
    PictureError::Unavailable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosted_ids_are_made_from_the_bytes_and_told_from_other_ids() {
        assert_eq!(hosted_id(b"x"), hosted_id(b"x"));
        assert_ne!(hosted_id(b"x"), hosted_id(b"y"));
        assert!(is_hosted_id(&hosted_id(b"x")));
        for other in [
            "logo-x",
            "picture-",
            "picture-../../etc/passwd",
            "https://example.org/x",
        ] {
            assert!(!is_hosted_id(other), "{other}");
        }
    }

    #[test]
    fn a_width_is_one_of_a_closed_set() {
        assert_eq!(Width::parse("256"), Some(Width(256)));
        for other in ["", "0", "255", "0256", "+256", "256.0", "4096"] {
            assert_eq!(Width::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_narrowed_blob_names_the_one_it_was_made_from() {
        assert_eq!(original("pictures/ab/x.jpg.w256"), "pictures/ab/x.jpg");
        assert_eq!(original("pictures/ab/x.jpg"), "pictures/ab/x.jpg");
    }
}
