//! Reads the returns in files: single XML files, plain or gzip, and the ZIP bundles of the IRS.
//!
//! What a file is, is decided by its content. The rows of an index are only counted: an index names bundles that do not
//! contain the return, and leaves out returns that a bundle contains. Nothing is written to disk, and what cannot be read
//! is reported instead of stopping the import.

use super::archive;
use super::content::{count_rows, is_index, read_bounded};
pub use super::found_return::FoundReturn;
use super::found_return::Step;
use super::reader::{self, ReturnError};
use crate::files::hashing_reader::HashingReader;
use crate::files::source::SourceError;
use crate::summary::ImportedFile;
use flate2::bufread::MultiGzDecoder;
use platform::progress::{Progress, Unit};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BUFFER_SIZE: usize = 128 << 10;

/// Reads all returns in `paths` and calls `on_return` for each, in the order of the files and of their members.
///
/// Returns the files with their SHA-256 hashes and the number of returns, or rows of an index, in each. Fails if a file
/// cannot be opened or read, or if `on_return` fails.
pub fn read_files(
    paths: &[PathBuf],
    mut on_return: impl FnMut(FoundReturn) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<ImportedFile>> {
    let mut lengths = Vec::with_capacity(paths.len());
    for path in paths {
        lengths.push(length(path)?);
    }
    let mut progress = Progress::start("Reading", lengths.iter().sum(), Unit::Bytes);
    let mut files = Vec::with_capacity(paths.len());
    let mut start = 0;
    for (file, path) in paths.iter().enumerate() {
        let mut lines = 0;
        let sha256 = read_file(file, path, |step| match step {
            Step::Found(found) => {
                lines += 1;
                on_return(found)
            }
            Step::IndexRows(count) => {
                lines += count;
                Ok(())
            }
            Step::Position(position) => {
                progress.set_position(start + position);
                Ok(())
            }
        })?;
        start += lengths[file];
        progress.set_position(start);
        files.push(ImportedFile {
            name: path.display().to_string(),
            sha256,
            lines,
        });
    }
    progress.finish();
    Ok(files)
}

fn length(path: &Path) -> Result<u64, SourceError> {
    let name = || path.display().to_string();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => SourceError::NotFound { name: name() },
        _ => SourceError::Unreadable { name: name(), error },
    })?;
    if metadata.is_dir() {
        return Err(SourceError::IsFolder { name: name() });
    }
    Ok(metadata.len())
}

/// Reads one file and returns its SHA-256 hash.
fn read_file(
    file: usize,
    path: &Path,
    mut on_step: impl FnMut(Step) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let name = path.display().to_string();
    let unreadable = |error: io::Error| SourceError::Unreadable {
        name: name.clone(),
        error,
    };
    let opened = File::open(path).map_err(unreadable)?;
    let consumed = Arc::new(AtomicU64::new(0));
    let mut input = BufReader::with_capacity(BUFFER_SIZE, HashingReader::new(opened, Arc::clone(&consumed)));
    let first_bytes = input.fill_buf().map_err(unreadable)?;
    let mut rest = match first_bytes {
        [b'P', b'K', 3 | 5 | 6, 4 | 6, ..] => {
            let opened = File::open(path).map_err(unreadable)?;
            return archive::read_archive(file, &name, opened, on_step);
        }
        [0x1f, 0x8b, ..] => {
            let mut stream = BufReader::with_capacity(BUFFER_SIZE, MultiGzDecoder::new(input));
            read_stream(file, &name, &mut stream, &consumed, &mut on_step)?;
            stream.into_inner().into_inner().into_inner()
        }
        _ => {
            read_stream(file, &name, &mut input, &consumed, &mut on_step)?;
            input.into_inner()
        }
    };
    io::copy(&mut rest, &mut io::sink()).map_err(unreadable)?;
    Ok(rest.sha256())
}

/// Reads a file that is not an archive: a return, several in a row, or an index.
fn read_stream(
    file: usize,
    name: &str,
    input: &mut impl BufRead,
    consumed: &AtomicU64,
    on_step: &mut impl FnMut(Step) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bytes = match input.fill_buf() {
        Ok(first_bytes) if is_index(first_bytes) => match count_rows(input) {
            Ok(rows) => return on_step(Step::IndexRows(rows)),
            Err(error) => Err(ReturnError::Damaged(error.to_string())),
        },
        Ok(_) => read_bounded(input, || consumed.load(Ordering::Relaxed)),
        Err(error) => Err(ReturnError::Damaged(error.to_string())),
    };
    match bytes {
        Ok(bytes) => reader::read_all(&bytes, |result| {
            on_step(Step::Found(FoundReturn::new(file, name, result)))
        }),
        Err(error) => on_step(Step::Found(FoundReturn::new(file, name, Err(error)))),
    }
}

#[cfg(test)]
mod tests;
