//! The snapshot file format: a header, then sections, each with a checksum.
//!
//! ```text
//! magic 8 · format 4 · rules 4 · store 16 · revision 8 · token 16 · count 8 · sections 4
//! for each section: length 8 · checksum 4
//! checksum of everything above 4
//! the sections, each padded to eight bytes
//! ```
//!
//! Numbers are little-endian. A file with a wrong length or checksum cannot be opened. A new file is written under a
//! temporary name, synced and then renamed, so a file with its final name is always complete.
//!
//! The header names the store, the revision with its token, and the version of the rules. A file whose token is not
//! part of the history of the store is not opened, even if its name is that of the newest revision.

use memmap2::Mmap;
use platform::db::Revision;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use thiserror::Error;
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"CAUSEWAY";
/// Incremented whenever the meaning of a section changes.
const FORMAT: u32 = 7;
/// The size of the header before the section table.
const FIXED_SIZE: usize = 8 + 4 + 4 + 16 + 8 + 16 + 8 + 4;
const SECTION_ENTRY_SIZE: usize = 8 + 4;
const MAX_SECTIONS: usize = 4_096;
/// The prefix of snapshots that are being written.
pub(crate) const TEMPORARY_PREFIX: &str = "building-";
const BUFFER_SIZE: usize = 1 << 20;

/// What a snapshot was built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotMeta {
    /// The ID of the store.
    pub store: Uuid,
    /// The number of the revision of the directory in the store.
    pub revision: i64,
    /// The token of that revision.
    pub token: Uuid,
    /// The version of the rules that computed names, causes and prominence; see [`rules`](crate::snapshot::rules::rules).
    pub rules: u32,
    /// The number of nonprofits in the snapshot.
    pub count: u64,
}

/// The reason why a snapshot file cannot be used.
#[derive(Debug, Error)]
pub enum SnapshotError {
    #[error("cannot read the file: {0}")]
    Io(#[from] io::Error),
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    #[error("the file has an unsupported format")]
    UnsupportedFormat,
}

/// An open snapshot file: verified, memory-mapped and immutable.
#[derive(Debug)]
pub(crate) struct SnapshotFile {
    map: Mmap,
    /// When the file was written.
    pub modified_at: SystemTime,
    pub meta: SnapshotMeta,
    sections: Vec<Range<usize>>,
    checksums: Vec<u32>,
}

impl SnapshotMeta {
    /// Reads what a file was built from. Verifies its header only.
    pub fn read(path: &Path) -> Result<SnapshotMeta, SnapshotError> {
        Ok(read_header(&mut BufReader::new(File::open(path)?))?.0)
    }

    /// Returns the revision of the directory.
    pub fn revision(&self) -> Revision {
        Revision {
            number: self.revision,
            token: self.token,
        }
    }
}

impl SnapshotFile {
    /// Opens a file and verifies all checksums.
    pub(crate) fn open(path: &Path) -> Result<SnapshotFile, SnapshotError> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let length = metadata.len() as usize;
        // The file is read rather than mapped here, because verifying a mapping would make all of it resident.
        let mut reader = BufReader::with_capacity(BUFFER_SIZE, &file);
        let (meta, sizes) = read_header(&mut reader)?;
        let mut start = header_length(sizes.len());
        let mut sections = Vec::with_capacity(sizes.len());
        let checksums = sizes.iter().map(|(_, checksum)| *checksum).collect();
        let mut buffer = vec![0; BUFFER_SIZE];
        for (size, checksum) in sizes {
            let end = start
                .checked_add(size)
                .filter(|end| *end <= length)
                .ok_or(SnapshotError::Damaged("the file is truncated"))?;
            if checksum_of(&mut reader, size, &mut buffer)? != checksum {
                return Err(SnapshotError::Damaged("a checksum does not match"));
            }
            skip(&mut reader, padding(size))?;
            sections.push(start..end);
            start = end + padding(size);
        }
        if start != length {
            return Err(SnapshotError::Damaged("the length does not match"));
        }
        #[expect(
            unsafe_code,
            reason = "a snapshot file is never modified once it has its final name"
        )]
        let map = unsafe { Mmap::map(&file)? };
        Ok(SnapshotFile {
            map,
            modified_at: metadata.modified()?,
            meta,
            sections,
            checksums,
        })
    }

    /// Returns the number of sections.
    pub(crate) fn sections(&self) -> usize {
        self.sections.len()
    }

    /// Returns the checksum of a section.
    pub(crate) fn checksum(&self, number: usize) -> u32 {
        self.checksums.get(number).copied().unwrap_or_default()
    }

    /// Returns the bytes of a section. A section that does not exist is empty.
    pub(crate) fn section(&self, number: usize) -> &[u8] {
        self.sections
            .get(number)
            .map_or(&[], |range| &self.map[range.clone()])
    }
}

/// Writes a snapshot file section by section.
pub(crate) struct SnapshotWriter {
    out: BufWriter<tempfile::NamedTempFile>,
    path: PathBuf,
    meta: SnapshotMeta,
    expected: usize,
    sizes: Vec<(u64, u32)>,
    current: Option<(u64, crc32fast::Hasher)>,
}

impl SnapshotWriter {
    /// Creates a temporary file for a snapshot of `sections` sections. [`finish`](Self::finish) renames it to `path`.
    pub(crate) fn create(path: &Path, meta: SnapshotMeta, sections: usize) -> io::Result<SnapshotWriter> {
        SnapshotWriter::create_with_prefix(path, TEMPORARY_PREFIX, meta, sections)
    }

    /// Does the same as [`create`](Self::create) with another prefix for the name of the temporary file.
    pub(crate) fn create_with_prefix(
        path: &Path,
        prefix: &str,
        meta: SnapshotMeta,
        sections: usize,
    ) -> io::Result<SnapshotWriter> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new().prefix(prefix).tempfile_in(folder)?;
        let mut out = BufWriter::with_capacity(BUFFER_SIZE, temporary);
        out.write_all(&vec![0; header_length(sections)])?;
        Ok(SnapshotWriter {
            out,
            path: path.to_owned(),
            meta,
            expected: sections,
            sizes: Vec::with_capacity(sections),
            current: None,
        })
    }

    /// Begins a section. Sections must be written in the order of their numbers.
    pub(crate) fn begin_section(&mut self, number: usize) -> io::Result<()> {
        self.end_section()?;
        assert_eq!(self.sizes.len(), number, "sections are written in order");
        self.current = Some((0, crc32fast::Hasher::new()));
        Ok(())
    }

    fn end_section(&mut self) -> io::Result<()> {
        if let Some((length, checksum)) = self.current.take() {
            self.out.write_all(&[0; 8][..padding(length as usize)])?;
            self.sizes.push((length, checksum.finalize()));
        }
        Ok(())
    }

    /// Writes the header, syncs the file and renames it.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        use std::io::Seek;
        self.end_section()?;
        assert_eq!(self.sizes.len(), self.expected, "every section was written");
        let header = header(&self.meta, &self.sizes);
        let mut temporary = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        temporary.rewind()?;
        temporary.write_all(&header)?;
        temporary.as_file().sync_all()?;
        temporary.persist(&self.path).map_err(|error| error.error)?;
        File::open(self.path.parent().unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Write for SnapshotWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        let (length, checksum) = self.current.as_mut().expect("`begin_section` was called");
        *length += bytes.len() as u64;
        checksum.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Renames a damaged file, so that it can be inspected.
pub(crate) fn set_aside(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".damaged");
    fs::rename(path, name)
}

fn header_length(sections: usize) -> usize {
    let length = FIXED_SIZE + sections * SECTION_ENTRY_SIZE + 4;
    length + padding(length)
}

fn padding(length: usize) -> usize {
    length.next_multiple_of(8) - length
}

fn header(meta: &SnapshotMeta, sizes: &[(u64, u32)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(header_length(sizes.len()));
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&meta.rules.to_le_bytes());
    bytes.extend_from_slice(meta.store.as_bytes());
    bytes.extend_from_slice(&meta.revision.to_le_bytes());
    bytes.extend_from_slice(meta.token.as_bytes());
    bytes.extend_from_slice(&meta.count.to_le_bytes());
    bytes.extend_from_slice(&(sizes.len() as u32).to_le_bytes());
    for (length, checksum) in sizes {
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&checksum.to_le_bytes());
    }
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.resize(header_length(sizes.len()), 0);
    bytes
}

fn read_header(reader: &mut impl Read) -> Result<(SnapshotMeta, Vec<(usize, u32)>), SnapshotError> {
    let truncated = |_| SnapshotError::Damaged("the header is truncated");
    let mut bytes = vec![0; FIXED_SIZE];
    reader.read_exact(&mut bytes).map_err(truncated)?;
    if &bytes[..8] != MAGIC {
        return Err(SnapshotError::Damaged("the file does not start like a snapshot"));
    }
    if u32_at(&bytes, 8) != FORMAT {
        return Err(SnapshotError::UnsupportedFormat);
    }
    let sections = u32_at(&bytes, FIXED_SIZE - 4) as usize;
    if sections > MAX_SECTIONS {
        return Err(SnapshotError::Damaged("the header is invalid"));
    }
    bytes.resize(header_length(sections), 0);
    reader.read_exact(&mut bytes[FIXED_SIZE..]).map_err(truncated)?;
    let end = FIXED_SIZE + sections * SECTION_ENTRY_SIZE;
    if crc32fast::hash(&bytes[..end]) != u32_at(&bytes, end) || bytes[end + 4..].iter().any(|byte| *byte != 0)
    {
        return Err(SnapshotError::Damaged(
            "the checksum of the header does not match",
        ));
    }
    let meta = SnapshotMeta {
        rules: u32_at(&bytes, 12),
        store: Uuid::from_slice(&bytes[16..32]).expect("sixteen bytes"),
        revision: u64_at(&bytes, 32) as i64,
        token: Uuid::from_slice(&bytes[40..56]).expect("sixteen bytes"),
        count: u64_at(&bytes, 56),
    };
    let size = |section: usize| {
        let at = FIXED_SIZE + section * SECTION_ENTRY_SIZE;
        (u64_at(&bytes, at) as usize, u32_at(&bytes, at + 8))
    };
    Ok((meta, (0..sections).map(size).collect()))
}

fn checksum_of(reader: &mut impl Read, mut length: usize, buffer: &mut [u8]) -> Result<u32, SnapshotError> {
    let mut checksum = crc32fast::Hasher::new();
    while length > 0 {
        let part = length.min(buffer.len());
        reader
            .read_exact(&mut buffer[..part])
            .map_err(|_| SnapshotError::Damaged("the file is truncated"))?;
        checksum.update(&buffer[..part]);
        length -= part;
    }
    Ok(checksum.finalize())
}

fn skip(reader: &mut impl Read, length: usize) -> Result<(), SnapshotError> {
    let mut padding = [0; 8];
    reader
        .read_exact(&mut padding[..length])
        .map_err(|_| SnapshotError::Damaged("the file is truncated"))?;
    if padding == [0; 8] {
        Ok(())
    } else {
        Err(SnapshotError::Damaged("the padding is not zero"))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: SnapshotMeta = SnapshotMeta {
        store: Uuid::from_u128(7),
        revision: 3,
        token: Uuid::from_u128(5),
        rules: 9,
        count: 2,
    };

    fn write_snapshot(folder: &Path) -> PathBuf {
        let path = folder.join("snapshot");
        let mut writer = SnapshotWriter::create(&path, META, 2).unwrap();
        writer.begin_section(0).unwrap();
        writer.write_all(b"one nonprofit").unwrap();
        writer.begin_section(1).unwrap();
        writer.write_all(b"and another").unwrap();
        writer.finish().unwrap();
        path
    }

    #[test]
    fn sections_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = write_snapshot(folder.path());
        assert_eq!(SnapshotMeta::read(&path).unwrap(), META);
        let file = SnapshotFile::open(&path).unwrap();
        assert_eq!(file.meta, META);
        assert_eq!(file.section(0), b"one nonprofit");
        assert_eq!(file.section(1), b"and another");
        assert_eq!(file.section(2), b"");
    }

    #[test]
    fn a_file_with_a_flipped_bit_or_a_missing_part_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = write_snapshot(folder.path());
        let original = fs::read(&path).unwrap();
        for bit in 0..original.len() * 8 {
            let mut damaged = original.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, damaged).unwrap();
            assert!(SnapshotFile::open(&path).is_err(), "bit {bit} flipped");
        }
        for length in 0..original.len() {
            fs::write(&path, &original[..length]).unwrap();
            assert!(SnapshotFile::open(&path).is_err(), "truncated to {length} bytes");
        }
        let mut longer = original;
        longer.push(0);
        fs::write(&path, longer).unwrap();
        assert!(SnapshotFile::open(&path).is_err());
    }
}
