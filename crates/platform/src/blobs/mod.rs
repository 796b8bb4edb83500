//! Stores blobs, which are too large for the database: in a folder, or on an S3-compatible server.
//!
//! A blob appears under its name only when it is complete. In a folder it is written to a temporary file, synced and
//! renamed, and the folder is synced too. A process that dies in between leaves a file with `#` in its name, which
//! [`Blobs::remove_unfinished`] removes.

pub mod copy;
pub mod location;
mod s3;

use crate::data_folder;
use anyhow::{Context, bail};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt, TryStreamExt};
use location::BlobsLocation;
use metrics::Counter;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, WriteMultipart};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

pub use object_store::{Error, Result};
pub use s3::BlobStoreAway;

/// How long a server may take to store, send or remove one blob. Files may take longer, while bytes arrive.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(10);
/// The size of the parts in which a file is sent to a server, except the largest files.
const PART_SIZE: u64 = 8 << 20;
/// S3 allows 10,000 parts.
const MAX_PARTS: u64 = 9_000;
/// The number of parts that are sent at once.
const MAX_CONCURRENT_PARTS: usize = 4;
/// The number of bytes that are read from a file at once.
const READ_SIZE: usize = 1 << 20;

/// The number of bytes of a blob that are read at once while it is sent to a client.
const BLOB_PART_SIZE: u64 = 64 << 10;

/// The blob store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    location: Arc<BlobsLocation>,
    is_shared: bool,
    /// Counts operations that failed.
    errors: Counter,
}

/// A blob in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub name: String,
    pub size: u64,
    /// When it was last modified, in milliseconds since the Unix epoch.
    pub modified_at: i64,
}

/// A blob that is read in parts. Nothing is open between two parts, so that a slow reader holds no file or connection.
#[derive(Debug)]
pub(crate) struct BlobReader {
    blobs: Blobs,
    name: Name,
    size: u64,
    /// Read before anything is sent, so that a store that is away is noticed while the response can still say so.
    first: Bytes,
}

/// The size and the hash of a file that was stored or fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDigest {
    pub size: u64,
    pub sha256: [u8; 32],
}

impl FileDigest {
    /// Returns the hash as 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.sha256 {
            write!(text, "{byte:02x}").expect("writing to a string never fails");
        }
        text
    }
}

impl Blobs {
    /// Opens the store that `blobs_url` names, or the folder `blobs` in the data folder if `blobs_url` is empty.
    ///
    /// A server is not connected to before the first use; see [`Blobs::probe`].
    pub fn open(url: &str, data: &Path) -> anyhow::Result<Blobs> {
        if url.is_empty() {
            let folder = data.join("blobs");
            let blobs = Blobs::open_location(BlobsLocation::Folder(folder.clone()))?;
            data_folder::restrict_large(&folder)?;
            return Ok(Blobs {
                is_shared: false,
                ..blobs
            });
        }
        let location = BlobsLocation::parse_url(url).context("blobs_url is not valid")?;
        Blobs::open_location(location)
    }

    /// Opens the store at a location. Creates a folder that does not exist.
    pub fn open_location(location: BlobsLocation) -> anyhow::Result<Blobs> {
        let store: Arc<dyn ObjectStore> = match &location {
            BlobsLocation::S3(location) => s3::connect(location)?,
            BlobsLocation::Folder(folder) => {
                let context = || format!("could not create the folder of blobs {}", folder.display());
                data_folder::create_folder(folder).with_context(context)?;
                if !folder.is_dir() {
                    bail!("{} is not a folder; name another one for blobs", folder.display());
                }
                let store = LocalFileSystem::new_with_prefix(folder).with_context(context)?;
                Arc::new(store.with_fsync(true))
            }
        };
        Ok(Blobs {
            store,
            location: Arc::new(location),
            is_shared: true,
            errors: Counter::noop(),
        })
    }

    /// Counts failed operations from now on.
    #[must_use]
    pub fn with_error_counter(self, errors: Counter) -> Blobs {
        Blobs { errors, ..self }
    }

    /// Checks that a server responds and supports conditional writes. Does nothing for a folder.
    pub async fn probe(&self) -> anyhow::Result<()> {
        match &*self.location {
            BlobsLocation::S3(location) => s3::probe(&*self.store, location).await,
            BlobsLocation::Folder(_) => Ok(()),
        }
    }

    /// Returns where the blobs are.
    pub fn location(&self) -> &BlobsLocation {
        &self.location
    }

    /// Returns whether other servers can use the same store: it is not in the data folder.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Stores a blob under a name, and replaces the one that has it. Once this returns, it survives a power failure.
    pub async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let name = Name::from(name);
        self.within_timeout(async { self.store.put(&name, bytes.into()).await.map(|_| ()) })
            .await
    }

    /// Stores a blob under a name that no other blob has. Returns `false` if one has it.
    pub async fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> Result<bool> {
        let name = Name::from(name);
        let stored = self.within_timeout(async {
            let options = PutOptions::from(PutMode::Create);
            self.store.put_opts(&name, bytes.into(), options).await
        });
        match stored.await {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Finds the blob with this name.
    pub async fn find(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let name = Name::from(name);
        let found = self.within_timeout(async { self.store.get(&name).await?.bytes().await });
        match found.await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the size of the blob with this name.
    pub(crate) async fn find_size(&self, name: &str) -> Result<Option<u64>> {
        let name = Name::from(name);
        match self.within_timeout(self.store.head(&name)).await {
            Ok(blob) => Ok(Some(blob.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the first part of the blob with this name.
    pub(crate) async fn open_blob(&self, name: &str) -> Result<Option<BlobReader>> {
        let Some(size) = self.find_size(name).await? else {
            return Ok(None);
        };
        let name = Name::from(name);
        let first = self.read_part(&name, 0, size).await?;
        Ok(Some(BlobReader {
            blobs: self.clone(),
            name,
            size,
            first,
        }))
    }

    /// Reads the part of a blob that begins at `start`.
    async fn read_part(&self, name: &Name, start: u64, size: u64) -> Result<Bytes> {
        let end = size.min(start + BLOB_PART_SIZE);
        if start == end {
            return Ok(Bytes::new());
        }
        self.within_timeout(self.store.get_range(name, start..end)).await
    }

    /// Removes a blob. It is not an error if the blob does not exist.
    pub async fn remove(&self, name: &str) -> Result<()> {
        let name = Name::from(name);
        match self.within_timeout(self.store.delete(&name)).await {
            Err(Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    /// Lists the blobs in a folder, or all of them if `folder` is empty, in no particular order.
    pub fn list(&self, folder: &str) -> BoxStream<'static, Result<Blob>> {
        let folder = Some(Name::from(folder)).filter(|_| !folder.is_empty());
        let blobs = self.store.list(folder.as_ref()).map_ok(|blob| Blob {
            name: blob.location.to_string(),
            size: blob.size,
            modified_at: blob.last_modified.timestamp_millis(),
        });
        blobs.boxed()
    }

    /// Lists the few blobs in a folder, in no particular order.
    pub async fn list_all(&self, folder: &str) -> Result<Vec<Blob>> {
        self.within_timeout(self.list(folder).try_collect()).await
    }

    /// Stores a file of any size as a blob, in parts if it is large.
    pub async fn put_file(&self, name: &str, path: &Path) -> Result<FileDigest> {
        let file = tokio::fs::File::open(path).await.map_err(file_error)?;
        let size = file.metadata().await.map_err(file_error)?.len();
        let mut digest = Sha256::new();
        let chunks = read_chunks(file).inspect_ok(|chunk| digest.update(chunk));
        let size = self.put_stream(&Name::from(name), size, chunks).await?;
        Ok(FileDigest {
            size,
            sha256: digest.finalize().into(),
        })
    }

    /// Writes a blob of any size to a private file and syncs it. Returns `None` if there is no such blob.
    ///
    /// After an error the file may contain a part of the blob.
    pub async fn fetch_file(&self, name: &str, path: &Path) -> Result<Option<FileDigest>> {
        let name = Name::from(name);
        let found = match self.within_timeout(self.store.get(&name)).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let file = data_folder::open_file(path).map_err(file_error)?;
        file.set_len(0).map_err(file_error)?;
        let mut file = tokio::fs::File::from_std(file);
        let (mut size, mut digest) = (0, Sha256::new());
        let mut chunks = found.into_stream();
        while let Some(chunk) = chunks.try_next().await? {
            digest.update(&chunk);
            size += chunk.len() as u64;
            file.write_all(&chunk).await.map_err(file_error)?;
        }
        file.flush().await.map_err(file_error)?;
        file.sync_all().await.map_err(file_error)?;
        Ok(Some(FileDigest {
            size,
            sha256: digest.finalize().into(),
        }))
    }

    /// Stores about `size` bytes, and returns how many there were.
    async fn put_stream<B: AsRef<[u8]>>(
        &self,
        name: &Name,
        size: u64,
        chunks: impl Stream<Item = Result<B>>,
    ) -> Result<u64> {
        let mut chunks = pin!(chunks);
        if size <= PART_SIZE {
            let mut bytes = Vec::with_capacity(size as usize);
            while let Some(chunk) = chunks.try_next().await? {
                bytes.extend_from_slice(chunk.as_ref());
            }
            let size = bytes.len() as u64;
            self.within_timeout(self.store.put(name, bytes.into())).await?;
            return Ok(size);
        }
        let part_size = PART_SIZE.max(size.div_ceil(MAX_PARTS)) as usize;
        let upload = self.within_timeout(self.store.put_multipart(name)).await?;
        let mut writer = WriteMultipart::new_with_chunk_size(upload, part_size);
        let mut sent = 0;
        let sending = async {
            while let Some(chunk) = chunks.try_next().await? {
                writer.wait_for_capacity(MAX_CONCURRENT_PARTS).await?;
                writer.write(chunk.as_ref());
                sent += chunk.as_ref().len() as u64;
            }
            Ok(())
        };
        if let Err(error) = sending.await {
            // The parts cost space until they are removed. The first error is the one to report.
            let _ = writer.abort().await;
            return Err(error);
        }
        writer.finish().await?;
        Ok(sent)
    }

    /// Ends an operation on a server that does not respond. The system limits how long a folder takes.
    async fn within_timeout<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        let outcome = if matches!(*self.location, BlobsLocation::Folder(_)) {
            operation.await
        } else {
            timeout(OPERATION_TIMEOUT, operation).await.unwrap_or_else(|_| {
                Err(Error::Generic {
                    store: "S3",
                    source: format!("no response from {} in {OPERATION_TIMEOUT:?}", self.location).into(),
                })
            })
        };
        match &outcome {
            Ok(_)
            | Err(Error::NotFound { .. } | Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(_) => self.errors.increment(1),
        }
        outcome
    }

    /// Removes the temporary files in a folder that were last modified before `before`, and returns their number.
    ///
    /// `is_ours` recognizes the names that this app gives to blobs. Other files are left alone. Only a folder has
    /// temporary files.
    pub(crate) async fn remove_unfinished(
        &self,
        folder: &str,
        before: i64,
        is_ours: fn(&str) -> bool,
    ) -> io::Result<usize> {
        let BlobsLocation::Folder(root) = &*self.location else {
            return Ok(0);
        };
        let folder = root.join(folder);
        let removal = tokio::task::spawn_blocking(move || remove_unfinished(&folder, before, is_ours));
        removal.await.map_err(io::Error::other)?
    }
}

impl BlobReader {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the parts of the blob. Each but the first is read when it is asked for.
    pub(crate) fn into_parts(mut self) -> impl Stream<Item = Result<Bytes>> + Send + 'static {
        let first = std::mem::take(&mut self.first);
        let start = first.len() as u64;
        let others = stream::try_unfold((self, start), |(reader, start)| async move {
            let part = reader.blobs.read_part(&reader.name, start, reader.size).await?;
            let end = start + part.len() as u64;
            Ok((!part.is_empty()).then_some((part, (reader, end))))
        });
        stream::iter([Ok(first)]).chain(others)
    }
}

fn read_chunks(file: tokio::fs::File) -> impl Stream<Item = Result<Vec<u8>>> {
    stream::try_unfold(file, |mut file| async move {
        let mut chunk = Vec::with_capacity(READ_SIZE);
        let length = file.read_buf(&mut chunk).await.map_err(file_error)?;
        Ok((length > 0).then_some((chunk, file)))
    })
}

fn file_error(error: io::Error) -> Error {
    Error::Generic {
        store: "file",
        source: error.into(),
    }
}

fn remove_unfinished(folder: &Path, before: i64, is_ours: fn(&str) -> bool) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            removed += remove_unfinished(&entry.path(), before, is_ours)?;
            continue;
        }
        let name = entry.file_name();
        let is_unfinished = name
            .to_str()
            .and_then(|name| name.split_once('#'))
            .is_some_and(|(blob, _)| is_ours(blob));
        let modified_at = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH);
        let is_old = modified_at.unwrap_or(Duration::ZERO).as_millis() < before.max(0) as u128;
        if is_old && is_unfinished {
            fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &tempfile::TempDir) -> Blobs {
        Blobs::open("", folder.path()).unwrap()
    }

    #[tokio::test]
    async fn a_blob_is_stored_under_a_free_name_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = open(&folder);
        assert!(blobs.put_if_absent("a/b", b"first".to_vec()).await.unwrap());
        assert!(!blobs.put_if_absent("a/b", b"second".to_vec()).await.unwrap());
        assert_eq!(blobs.find("a/b").await.unwrap().unwrap(), b"first");
        blobs.put("a/b", b"third".to_vec()).await.unwrap();
        assert_eq!(blobs.find("a/b").await.unwrap().unwrap(), b"third");
        let listed: Vec<Blob> = blobs.list("").try_collect().await.unwrap();
        assert_eq!((listed[0].name.as_str(), listed[0].size), ("a/b", 5));
        blobs.remove("a/b").await.unwrap();
        blobs.remove("a/b").await.unwrap();
        assert_eq!(blobs.find("a/b").await.unwrap(), None);
    }

    #[tokio::test]
    async fn files_of_any_size_are_stored_and_fetched_with_their_hash() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = open(&folder);
        let (path, copy) = (folder.path().join("file"), folder.path().join("copy"));
        for size in [0, 1, PART_SIZE as usize, PART_SIZE as usize * 2 + 3] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            fs::write(&path, &bytes).unwrap();
            let stored = blobs.put_file("large", &path).await.unwrap();
            assert_eq!(stored.size, size as u64);
            assert_eq!(stored.sha256[..], Sha256::digest(&bytes)[..]);
            assert_eq!(blobs.fetch_file("large", &copy).await.unwrap(), Some(stored));
            assert!(fs::read(&copy).unwrap() == bytes, "{size} bytes");
        }
        assert_eq!(blobs.fetch_file("none", &copy).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_blob_is_read_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = open(&folder);
        for size in [1, BLOB_PART_SIZE, BLOB_PART_SIZE + 1, 3 * BLOB_PART_SIZE] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            blobs.put("a", bytes.clone()).await.unwrap();
            assert_eq!(blobs.find_size("a").await.unwrap(), Some(size));
            let reader = blobs.open_blob("a").await.unwrap().unwrap();
            assert_eq!(reader.size(), size);
            let parts: Vec<Bytes> = reader.into_parts().try_collect().await.unwrap();
            assert!(parts.iter().all(|part| part.len() as u64 <= BLOB_PART_SIZE));
            assert!(parts.concat() == bytes, "{size} bytes");
        }
        assert!(blobs.open_blob("none").await.unwrap().is_none());
        assert_eq!(blobs.find_size("none").await.unwrap(), None);
    }

    #[test]
    fn a_folder_in_the_data_folder_is_not_shared() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!open(&folder).is_shared());
        let url = format!("file://{}", folder.path().join("shared").display());
        assert!(Blobs::open(&url, folder.path()).unwrap().is_shared());
    }
}
