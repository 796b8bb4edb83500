//! Hosts uploaded pictures: stores each distinct picture once and serves it in a few widths.
//!
//! A picture is a blob and a row that refers to it. The ID of a picture is a hash of the file that was sent, and files
//! with the same pixels share a blob. The blob is on disk before the row is written, and blob names are never reused, so a
//! row always refers to a blob. A failure can only leave a blob without a row, which [`Pictures::sweep`] removes.
//!
//! What an account uploads counts in its quota, also if another account has uploaded the same picture.

pub mod check;
pub mod picture;
mod read;
pub mod store;
pub mod unused;

pub use picture::{StoredPicture, Width};
pub use read::PictureContent;

use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::db::Db;
use crate::ids::AccountId;
use futures_util::TryStreamExt;
use pictures::data_url;
use pictures::error::PictureError;
use pictures::header::{Header, MAX_DECODE_MEMORY};
use pictures::picture::{CleanPicture, Kind, clean_with_header};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;
use store::{Charge, Insertion};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// The prefix of the IDs of hosted pictures.
const ID_PREFIX: &str = "picture-";
/// The age after which a blob without a row cannot belong to an upload in progress.
const ORPHAN_AGE_MILLIS: i64 = 60 * 60 * 1_000;
/// The unit of the memory budget for decoding.
const MIB: u64 = 1 << 20;

/// The settings of hosted pictures.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PictureSettings {
    /// The number of bytes that the pictures of one account may take.
    pub quota: u64,
}

/// The hosted pictures. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pictures {
    db: Db,
    blobs: Blobs,
    /// The folder of the blobs. It contains the ID of the database, so that several databases can share a blob store.
    folder: String,
    clock: Clock,
    settings: PictureSettings,
    /// The memory that decoders may use, in MiB.
    memory_budget: Arc<Semaphore>,
}

/// A picture that is stored and served at `/media/{id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedPicture {
    pub id: String,
    pub width: u32,
    pub height: u32,
}

/// Returns whether this is the ID of a hosted picture. Drawn pictures have other IDs.
pub fn is_hosted_id(text: &str) -> bool {
    text.strip_prefix(ID_PREFIX).is_some_and(is_hex)
}

impl Pictures {
    /// Creates the pictures of the database whose ID is `store`.
    pub fn new(db: Db, store: Uuid, blobs: Blobs, clock: Clock, settings: PictureSettings) -> Pictures {
        Pictures {
            db,
            blobs,
            folder: format!("pictures/{}", store.simple()),
            clock,
            settings,
            memory_budget: Arc::new(Semaphore::new((MAX_DECODE_MEMORY / MIB) as usize)),
        }
    }

    pub fn db(&self) -> &Db {
        &self.db
    }

    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Adds a picture in base64, as [`Pictures::add`] does. It may be a data URL, whose media type is ignored.
    pub async fn add_base64(
        &self,
        account: Option<AccountId>,
        text: &str,
    ) -> Result<HostedPicture, PictureError> {
        self.add_for(account, data_url::decode(text)?).await
    }

    /// Validates a picture as [`Pictures::add_base64`] does, without storing it. Returns the ID that it would get.
    pub async fn check_base64(&self, account: AccountId, text: &str) -> Result<String, PictureError> {
        let bytes = data_url::decode(text)?;
        let header = Header::read(&bytes)?;
        let id = hosted_id(&bytes);
        let memory = self.reserve_memory(header.decode_memory).await;
        let clean = run_blocking(memory, move || clean_with_header(bytes, &header)).await?;
        self.check_quota(account, clean.bytes.len() as u64).await?;
        Ok(id)
    }

    /// Adds a picture that counts in no quota. Its ID depends only on its bytes, so adding it again changes nothing.
    pub async fn add(&self, bytes: Vec<u8>) -> Result<HostedPicture, PictureError> {
        self.add_for(None, bytes).await
    }

    /// Adds a picture that counts in the quota of an account.
    pub async fn upload(&self, account: AccountId, bytes: Vec<u8>) -> Result<HostedPicture, PictureError> {
        self.add_for(Some(account), bytes).await
    }

    async fn add_for(
        &self,
        account: Option<AccountId>,
        bytes: Vec<u8>,
    ) -> Result<HostedPicture, PictureError> {
        let header = Header::read(&bytes)?;
        let id = hosted_id(&bytes);
        if let Some(existing) = store::find(&self.db, &id).await.map_err(unavailable)?
            && self.reuse(&id).await.map_err(unavailable)?
        {
            if let Some(account) = account {
                self.charge(account, &id).await?;
            }
            return Ok(existing.hosted());
        }
        let memory = self.reserve_memory(header.decode_memory).await;
        let clean = run_blocking(memory, move || clean_with_header(bytes, &header)).await?;
        if let Some(account) = account {
            self.check_quota(account, clean.bytes.len() as u64).await?;
        }
        self.store(id, clean, account).await
    }

    async fn store(
        &self,
        id: String,
        clean: CleanPicture,
        account: Option<AccountId>,
    ) -> Result<HostedPicture, PictureError> {
        let name = Uuid::now_v7().simple().to_string();
        let picture = StoredPicture {
            // The last digits are random, so pictures spread evenly over the folders.
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
        let size = clean.bytes.len() as u64;
        let charge = account.map(|account| self.charge_for(account));
        let insert = async |is_blob_stored: bool| {
            let now = self.clock.millis();
            store::insert(&self.db, (&picture, size), is_blob_stored, charge, now)
                .await
                .map_err(unavailable)
        };
        let mut inserted = insert(false).await?;
        if inserted == Insertion::NeedsBlob {
            self.blobs
                .put(&picture.blob, clean.bytes)
                .await
                .map_err(unavailable)?;
            inserted = insert(true).await?;
            // Another upload may have added the same picture at the same time.
            let is_used = store::is_blob_used(&self.db, &picture.blob).await;
            if !is_used.map_err(unavailable)? {
                self.blobs.remove(&picture.blob).await.map_err(unavailable)?;
            }
        }
        match inserted {
            Insertion::Done => Ok(picture.hosted()),
            Insertion::OverQuota => Err(self.over_quota()),
            Insertion::NeedsBlob => Err(PictureError::Unavailable),
        }
    }

    /// Counts a picture in the quota of an account that uses it again.
    pub async fn charge(&self, account: AccountId, id: &str) -> Result<(), PictureError> {
        let is_charged = store::charge(&self.db, id, self.charge_for(account)).await;
        if is_charged.map_err(unavailable)? {
            Ok(())
        } else {
            Err(self.over_quota())
        }
    }

    /// Returns the bytes that count in the quota of an account, and the quota.
    pub async fn usage(&self, account: AccountId) -> sqlx::Result<(u64, u64)> {
        Ok((
            store::charged_bytes(&self.db, account).await?,
            self.settings.quota,
        ))
    }

    /// Checks the quota before something is stored. It is checked again in the transaction that stores the picture.
    async fn check_quota(&self, account: AccountId, size: u64) -> Result<(), PictureError> {
        let (bytes, quota) = self.usage(account).await.map_err(unavailable)?;
        if bytes + size > quota {
            return Err(self.over_quota());
        }
        Ok(())
    }

    fn charge_for(&self, account: AccountId) -> Charge {
        Charge {
            account,
            quota: self.settings.quota,
        }
    }

    fn over_quota(&self) -> PictureError {
        PictureError::OverQuota(self.settings.quota / MIB)
    }

    /// Finds a picture by its ID.
    pub async fn find(&self, id: &str) -> sqlx::Result<Option<StoredPicture>> {
        if is_hosted_id(id) {
            store::find(&self.db, id).await
        } else {
            Ok(None)
        }
    }

    /// Removes the blobs of removed pictures and those that interrupted uploads left behind, and returns their number. Files outside the folder and
    /// files with other names than [`Pictures`] gives are left alone.
    pub async fn sweep(&self) -> anyhow::Result<usize> {
        let before = self.clock.millis() - ORPHAN_AGE_MILLIS;
        let mut removed = self
            .blobs
            .remove_unfinished(&self.folder, before, is_file_name)
            .await?;
        let mut blobs = self.blobs.list(&self.folder);
        while let Some(blob) = blobs.try_next().await? {
            let file = blob.name.rsplit('/').next().unwrap_or_default();
            if blob.modified_at >= before || !is_file_name(file) {
                continue;
            }
            if !store::is_blob_used(&self.db, original_name(&blob.name)).await? {
                self.blobs.remove(&blob.name).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Waits until there is memory to decode a picture. At most two are decoded at once, and a large one alone.
    async fn reserve_memory(&self, memory: u64) -> OwnedSemaphorePermit {
        let all = (MAX_DECODE_MEMORY / MIB) as u32;
        let share = (memory.div_ceil(MIB) as u32).clamp(all / 2, all);
        let permit = Arc::clone(&self.memory_budget).acquire_many_owned(share).await;
        permit.expect("the semaphore is never closed")
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

/// Returns the name of the blob that a scaled blob was made from, or the name itself.
fn original_name(name: &str) -> &str {
    name.rsplit_once(".w").map_or(name, |(original, _)| original)
}

/// Returns whether this is a file name that [`Pictures::store`] or [`Pictures::read`] gives.
fn is_file_name(name: &str) -> bool {
    let (name, width) = match name.rsplit_once(".w") {
        Some((name, width)) => (name, Some(width)),
        None => (name, None),
    };
    let is_original = name.split_once('.').is_some_and(|(name, extension)| {
        is_hex(name) && Kind::ALL.iter().any(|kind| kind.extension() == extension)
    });
    is_original && width.is_none_or(|width| Width::parse(width).is_some())
}

/// Returns whether the text is 32 lowercase hexadecimal digits.
fn is_hex(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hosted_id(bytes: &[u8]) -> String {
    let mut id = ID_PREFIX.to_owned();
    for byte in &Sha256::digest(bytes)[..16] {
        write!(id, "{byte:02x}").expect("writing to a string never fails");
    }
    id
}

/// Runs work on a blocking thread. The memory is released when the work ends, even if the caller was dropped.
async fn run_blocking<T: Send + 'static>(
    memory: OwnedSemaphorePermit,
    work: impl FnOnce() -> Result<T, PictureError> + Send + 'static,
) -> Result<T, PictureError> {
    let task = tokio::task::spawn_blocking(move || {
        let result = work();
        drop(memory);
        result
    });
    // A panic in the decoder means that it cannot read this picture.
    task.await.unwrap_or_else(|error| {
        tracing::error!(%error, "could not decode a picture");
        Err(PictureError::Damaged)
    })
}

fn unavailable(error: impl std::fmt::Display) -> PictureError {
    tracing::error!(%error, "could not read or store a picture");
    PictureError::Unavailable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosted_ids_depend_on_the_bytes_and_differ_from_other_ids() {
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
    fn only_known_widths_parse() {
        assert_eq!(Width::parse("256").map(Width::pixels), Some(256));
        for other in ["", "0", "255", "0256", "+256", "256.0", "4096"] {
            assert_eq!(Width::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_name_of_a_scaled_blob_contains_the_name_of_the_original() {
        assert_eq!(original_name("pictures/ab/x.jpg.w256"), "pictures/ab/x.jpg");
        assert_eq!(original_name("pictures/ab/x.jpg"), "pictures/ab/x.jpg");
    }
}
