//! Verifies a downloaded file before it is used.
//!
//! A server that states a wrong length sends what looks like a complete response. The content shows that it is not: an
//! archive ends with the list of its members, and a table ends with a line ending.

use super::target::Target;
use anyhow::Context;
use ingest::{FileKind, recognize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Returns what is wrong with the content of a file, if anything.
pub(super) fn find_fault(path: &Path, target: &Target) -> io::Result<Option<&'static str>> {
    if recognize(path)? != Some(target.kind) {
        return Ok(Some("its content is damaged or not what it should be"));
    }
    let is_table = matches!(target.kind, FileKind::Irs | FileKind::ReturnIndex);
    if is_table && !ends_with_line_ending(path)? {
        return Ok(Some("its last line is incomplete"));
    }
    Ok(None)
}

fn ends_with_line_ending(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Returns the SHA-256 hash of a file in hexadecimal.
pub(super) fn hash_file(path: &Path) -> anyhow::Result<String> {
    let context = || format!("cannot read {}; check the disk", path.display());
    let mut file = File::open(path).with_context(context)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer).with_context(context)?;
        if read == 0 {
            return Ok(hexadecimal(hash));
        }
        hash.update(&buffer[..read]);
    }
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
