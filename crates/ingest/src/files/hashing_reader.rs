//! A reader that counts and hashes the bytes it reads.

use std::fmt::Write as _;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::digest::{Context, SHA256, digest};

/// Counts and hashes the bytes that are read from `input`.
pub(crate) struct HashingReader<R> {
    input: R,
    count: Arc<AtomicU64>,
    /// `None` while a file is not read in order.
    hash: Option<Context>,
}

impl<R> HashingReader<R> {
    pub(crate) fn new(input: R, count: Arc<AtomicU64>) -> HashingReader<R> {
        HashingReader {
            input,
            count,
            hash: Some(Context::new(&SHA256)),
        }
    }

    /// Returns the SHA-256 hash of the bytes read so far, in hexadecimal.
    pub(crate) fn sha256(self) -> String {
        self.stop_hashing().1
    }

    /// Returns a reader that only counts, starting at zero, and the SHA-256 hash of the bytes read so far.
    pub(crate) fn stop_hashing(self) -> (HashingReader<R>, String) {
        let hash = self.hash.unwrap_or_else(|| Context::new(&SHA256));
        let text = hex(hash.finish().as_ref());
        self.count.store(0, Ordering::Relaxed);
        (
            HashingReader {
                input: self.input,
                count: self.count,
                hash: None,
            },
            text,
        )
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..read]);
        }
        Ok(read)
    }
}

impl<R: Seek> Seek for HashingReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.input.seek(to)
    }
}

/// Returns the SHA-256 hash of `bytes`, in hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
