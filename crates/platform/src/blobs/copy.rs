//! Copies all blobs from one store to another, several at once. Nothing is deleted.
//!
//! A blob that is already there with the same content is skipped, so a copy that was interrupted continues where it
//! stopped. Every blob is compared after it was copied: by its ETag where that is the MD5 of its content, as servers
//! compute it for blobs that were stored in one part and without a key, or else by reading it again.

use super::location::BlobsLocation;
use super::s3::summarize;
use super::{Blobs, Error};
use anyhow::{Context, anyhow, bail};
use futures_util::TryStreamExt;
use md5::Md5;
use object_store::path::Path as Name;
use object_store::{ObjectMeta, ObjectStoreExt};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The number of blobs that are copied at once.
const MAX_CONCURRENT_COPIES: usize = 8;

/// The number of blobs and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    pub blobs: u64,
    pub bytes: u64,
}

/// What was done with the blobs of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    pub copied: Total,
    /// The target had them already.
    pub skipped: Total,
    /// They were deleted from the source during the copy.
    pub deleted: Total,
}

impl CopyReport {
    /// Returns the bytes of all blobs that are done.
    pub fn bytes(&self) -> u64 {
        self.copied.bytes + self.skipped.bytes + self.deleted.bytes
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Copied,
    Skipped,
    Deleted,
}

/// Hashes of the content of a blob.
#[derive(Clone, Default)]
struct Hashes {
    md5: Md5,
    sha256: Sha256,
}

/// Counts the blobs of a store.
pub async fn count(blobs: &Blobs) -> anyhow::Result<Total> {
    let mut total = Total::default();
    let mut list = blobs.list("");
    while let Some(blob) = list.try_next().await.map_err(|error| unreadable(blobs, &error))? {
        total.add(blob.size);
    }
    Ok(total)
}

/// Copies every blob that the target lacks or that differs there, and calls `on_progress` after each.
pub async fn copy(
    from: &Blobs,
    to: &Blobs,
    mut on_progress: impl FnMut(&CopyReport),
) -> anyhow::Result<CopyReport> {
    let mut report = CopyReport::default();
    let mut copies = from
        .store
        .list(None)
        .map_err(|error| unreadable(from, &error))
        .map_ok(|source| async move {
            let outcome = copy_blob(from, to, &source).await;
            let outcome = outcome.with_context(|| {
                format!(
                    "could not copy the blob {}; run this again to continue",
                    source.location
                )
            })?;
            anyhow::Ok((outcome, source.size))
        })
        .try_buffer_unordered(MAX_CONCURRENT_COPIES);
    while let Some((outcome, size)) = copies.try_next().await? {
        match outcome {
            Outcome::Copied => report.copied.add(size),
            Outcome::Skipped => report.skipped.add(size),
            Outcome::Deleted => report.deleted.add(size),
        }
        on_progress(&report);
    }
    Ok(report)
}

async fn copy_blob(from: &Blobs, to: &Blobs, source: &ObjectMeta) -> anyhow::Result<Outcome> {
    let name = &source.location;
    if let Some(target) = find_meta(to, name).await?
        && is_same(from, source, to, &target).await?
    {
        return Ok(Outcome::Skipped);
    }
    let found = match from.within_timeout(from.store.get(name)).await {
        Err(Error::NotFound { .. }) => return Ok(Outcome::Deleted),
        found => found?,
    };
    let size = found.meta.size;
    let mut hashes = Hashes::default();
    let chunks = found.into_stream().inspect_ok(|chunk| hashes.update(chunk));
    to.put_stream(name, size, chunks).await?;
    let target = find_meta(to, name).await?.context("it is not there")?;
    let is_verified = target.size == size
        && (find_md5(to, &target).is_some_and(|md5| md5 == hashes.md5())
            || read_hashes(to, name).await?.sha256() == hashes.sha256());
    if !is_verified {
        bail!("the copy differs from the original");
    }
    Ok(Outcome::Copied)
}

/// Returns whether both stores have the same content under a name.
async fn is_same(from: &Blobs, source: &ObjectMeta, to: &Blobs, target: &ObjectMeta) -> anyhow::Result<bool> {
    if source.size != target.size {
        return Ok(false);
    }
    // An ETag that is an MD5 proves that the contents are the same. It does not prove the contrary, because servers
    // compute it differently for encrypted blobs.
    match (find_md5(from, source), find_md5(to, target)) {
        (Some(source), Some(target)) if source == target => return Ok(true),
        (Some(md5), None) if read_hashes(to, &target.location).await?.md5() == md5 => return Ok(true),
        (None, Some(md5)) if read_hashes(from, &source.location).await?.md5() == md5 => return Ok(true),
        _ => {}
    }
    let source = read_hashes(from, &source.location).await?;
    let target = read_hashes(to, &target.location).await?;
    Ok(source.sha256() == target.sha256())
}

async fn find_meta(blobs: &Blobs, name: &Name) -> super::Result<Option<ObjectMeta>> {
    match blobs.within_timeout(blobs.store.head(name)).await {
        Ok(meta) => Ok(Some(meta)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn read_hashes(blobs: &Blobs, name: &Name) -> super::Result<Hashes> {
    let mut hashes = Hashes::default();
    let mut chunks = blobs.within_timeout(blobs.store.get(name)).await?.into_stream();
    while let Some(chunk) = chunks.try_next().await? {
        hashes.update(&chunk);
    }
    Ok(hashes)
}

/// Returns the MD5 of a blob, if its ETag is one. The ETag of a blob in parts is no MD5 of the whole.
fn find_md5(blobs: &Blobs, meta: &ObjectMeta) -> Option<String> {
    let BlobsLocation::S3(_) = blobs.location() else {
        return None;
    };
    let tag = meta.e_tag.as_deref()?.trim_matches('"').to_ascii_lowercase();
    let is_md5 = tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_md5.then_some(tag)
}

fn unreadable(blobs: &Blobs, error: &Error) -> anyhow::Error {
    anyhow!(
        "could not list the blobs in {} ({}); check the location and the credentials",
        blobs.location(),
        summarize(error)
    )
}

impl Hashes {
    fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.md5.update(&bytes);
        self.sha256.update(&bytes);
    }

    fn md5(&self) -> String {
        let mut text = String::with_capacity(32);
        for byte in &self.md5.clone().finalize()[..] {
            write!(text, "{byte:02x}").expect("writing to a string never fails");
        }
        text
    }

    fn sha256(&self) -> [u8; 32] {
        self.sha256.clone().finalize().into()
    }
}

impl Total {
    fn add(&mut self, bytes: u64) {
        self.blobs += 1;
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[tokio::test]
    async fn blobs_that_are_missing_or_differ_are_copied_and_others_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let open =
            |name: &str| Blobs::open_location(BlobsLocation::Folder(folder.path().join(name))).unwrap();
        let (from, to) = (open("from"), open("to"));
        for (name, text) in [("a", "one"), ("b/c", "two"), ("b/d", "three")] {
            from.put(name, text.into()).await.unwrap();
        }
        to.put("a", b"one".to_vec()).await.unwrap();
        // Of the same size, but not the same.
        to.put("b/c", b"owt".to_vec()).await.unwrap();
        to.put("other", b"stays".to_vec()).await.unwrap();
        assert_eq!(count(&from).await.unwrap(), Total { blobs: 3, bytes: 11 });
        let mut calls = 0;
        let report = copy(&from, &to, |_| calls += 1).await.unwrap();
        assert_eq!((report.copied.blobs, report.skipped.blobs, calls), (2, 1, 3));
        assert_eq!(report.bytes(), 11);
        for (name, text) in [("a", "one"), ("b/c", "two"), ("b/d", "three"), ("other", "stays")] {
            assert_eq!(to.find(name).await.unwrap().unwrap(), text.as_bytes());
        }
        let again = copy(&from, &to, |_| {}).await.unwrap();
        assert_eq!((again.copied.blobs, again.skipped.blobs), (0, 3));
        assert_eq!(fs::read(folder.path().join("from/a")).unwrap(), b"one");
    }
}
