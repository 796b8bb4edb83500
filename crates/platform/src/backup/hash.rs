//! SHA-256 hashes of files and bytes, as a manifest lists them.

use crate::text::hex;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const BUFFER_SIZE: usize = 1 << 20;

/// The size and the SHA-256 of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    pub size: u64,
    /// In hexadecimal digits.
    pub sha256: String,
}

impl Fingerprint {
    pub fn of(bytes: &[u8]) -> Fingerprint {
        Fingerprint {
            size: bytes.len() as u64,
            sha256: hex(&Sha256::digest(bytes)),
        }
    }

    /// Reads a file piece by piece. Blocks.
    pub fn of_file(path: &Path) -> io::Result<Fingerprint> {
        let (mut file, mut hasher, mut size) = (File::open(path)?, Sha256::new(), 0);
        let mut buffer = vec![0; BUFFER_SIZE];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            hasher.update(&buffer[..count]);
            size += count as u64;
        }
        Ok(Fingerprint {
            size,
            sha256: hex(&hasher.finalize()),
        })
    }
}
