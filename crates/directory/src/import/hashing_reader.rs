//! A reader that counts and hashes the bytes that pass through it.

use std::fmt::Write as _;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

pub struct HashingReader<R> {
    input: R,
    count: Arc<AtomicU64>,
    /// Nothing while a file is read out of order, where a hash would mean nothing.
    hash: Option<Sha256>,
}

impl<R> HashingReader<R> {
    pub fn new(input: R, count: Arc<AtomicU64>) -> HashingReader<R> {
        HashingReader {
            input,
            count,
            hash: Some(Sha256::new()),
        }
    }

    /// The hash of what was read so far, in hexadecimal.
    pub fn sha256(self) -> String {
        self.start_over().1
    }

    /// The hash of what was read so far, and the reader for another pass that only counts.
    pub fn start_over(self) -> (HashingReader<R>, String) {
        let mut text = String::with_capacity(64);
        for byte in self.hash.unwrap_or_default().finalize() {
            let _ = write!(text, "{byte:02x}");
        }
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
