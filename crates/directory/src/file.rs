//! The snapshot file: a header, then sections, each with a checksum.
//!
//! ```text
//! magic 8 · format 4 · rules 4 · store 16 · revision 8 · count 8 · sections 4
//! then for each section: length 8 · checksum 4
//! then the checksum of all this 4, and the sections one after another, each padded to eight bytes
//! ```
//!
//! Numbers are little-endian. A file whose length or whose checksums are off is refused when it is opened. It is
//! written beside its final name, made durable and then renamed, so a file with that name is always a whole one.

use memmap2::Mmap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use thiserror::Error;
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"CAUSEWAY";
/// Raised whenever the meaning of a section changes.
const FORMAT: u32 = 4;
const FIXED: usize = 8 + 4 + 4 + 16 + 8 + 8 + 4;
const PER_SECTION: usize = 8 + 4;
const MOST_SECTIONS: usize = 64;
const BLOCK: usize = 1 << 20;

/// What a snapshot is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotMeta {
    /// The store that it was built from.
    pub store: Uuid,
    /// The state of that store.
    pub revision: i64,
    /// A number for the rules that made names, causes and prominence out of the rows.
    pub rules: u32,
    /// How many nonprofits it holds.
    pub count: u64,
}

/// Why a snapshot file cannot be used.
#[derive(Debug, Error)]
pub enum SnapshotError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    #[error("it has another format")]
    UnsupportedFormat,
}

/// An open file: mapped, checked, immutable.
#[derive(Debug)]
pub struct SnapshotFile {
    map: Mmap,
    pub meta: SnapshotMeta,
    sections: Vec<Range<usize>>,
}

impl SnapshotFile {
    /// Opens a file and checks all of it.
    pub fn open(path: &Path) -> Result<SnapshotFile, SnapshotError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len() as usize;
        // Read, not mapped: checking every byte must not make the whole file resident.
        let mut reader = BufReader::with_capacity(BLOCK, &file);
        let (meta, sizes) = read_header(&mut reader)?;
        let mut at = header_length(sizes.len());
        let mut sections = Vec::with_capacity(sizes.len());
        let mut block = vec![0; BLOCK];
        for (size, checksum) in sizes {
            let end = at
                .checked_add(size)
                .filter(|end| *end <= length)
                .ok_or(SnapshotError::Damaged("it is cut off"))?;
            if checksum_of(&mut reader, size, &mut block)? != checksum {
                return Err(SnapshotError::Damaged("a checksum does not match"));
            }
            skip(&mut reader, padding(size))?;
            sections.push(at..end);
            at = end + padding(size);
        }
        if at != length {
            return Err(SnapshotError::Damaged("its length does not match"));
        }
        #[expect(
            unsafe_code,
            reason = "a snapshot file is never written again once it has its name"
        )]
        let map = unsafe { Mmap::map(&file)? };
        Ok(SnapshotFile { map, meta, sections })
    }

    /// The bytes of a section; none where the file has no such section.
    pub fn section(&self, number: usize) -> &[u8] {
        self.sections
            .get(number)
            .map_or(&[], |range| &self.map[range.clone()])
    }
}

/// Writes a snapshot file section by section, then gives it its name.
pub struct SnapshotWriter {
    out: BufWriter<tempfile::NamedTempFile>,
    path: PathBuf,
    meta: SnapshotMeta,
    expected: usize,
    sizes: Vec<(u64, u32)>,
    current: Option<(u64, crc32fast::Hasher)>,
}

impl SnapshotWriter {
    /// Begins a file of `sections` sections that will be called `path`.
    pub fn create(path: &Path, meta: SnapshotMeta, sections: usize) -> io::Result<SnapshotWriter> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new().prefix("building-").tempfile_in(folder)?;
        let mut out = BufWriter::with_capacity(BLOCK, temporary);
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

    /// Begins a section; they come in the order of their numbers.
    pub fn begin(&mut self, number: usize) -> io::Result<()> {
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

    /// Ends the file, makes it durable and gives it its name.
    pub fn finish(mut self) -> io::Result<()> {
        use std::io::Seek;
        self.end_section()?;
        assert_eq!(self.sizes.len(), self.expected, "every section was written");
        let header = header(&self.meta, &self.sizes);
        let mut temporary = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        temporary.rewind()?;
        temporary.write_all(&header)?;
        temporary.as_file().sync_all()?;
        temporary.persist(&self.path).map_err(|fault| fault.error)?;
        File::open(self.path.parent().unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Write for SnapshotWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        let (length, checksum) = self.current.as_mut().expect("a section was begun");
        *length += bytes.len() as u64;
        checksum.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Moves a file that cannot be used out of the way, for someone to look at.
pub fn set_aside(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".damaged");
    fs::rename(path, name)
}

fn header_length(sections: usize) -> usize {
    let length = FIXED + sections * PER_SECTION + 4;
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
    let cut_off = |_| SnapshotError::Damaged("its header is cut off");
    let mut bytes = vec![0; FIXED];
    reader.read_exact(&mut bytes).map_err(cut_off)?;
    if &bytes[..8] != MAGIC {
        return Err(SnapshotError::Damaged("it does not begin as a snapshot"));
    }
    if u32_at(&bytes, 8) != FORMAT {
        return Err(SnapshotError::UnsupportedFormat);
    }
    let sections = u32_at(&bytes, FIXED - 4) as usize;
    if sections > MOST_SECTIONS {
        return Err(SnapshotError::Damaged("its header makes no sense"));
    }
    bytes.resize(header_length(sections), 0);
    reader.read_exact(&mut bytes[FIXED..]).map_err(cut_off)?;
    let end = FIXED + sections * PER_SECTION;
    if crc32fast::hash(&bytes[..end]) != u32_at(&bytes, end) || bytes[end + 4..].iter().any(|byte| *byte != 0)
    {
        return Err(SnapshotError::Damaged(
            "the checksum of its header does not match",
        ));
    }
    let meta = SnapshotMeta {
        rules: u32_at(&bytes, 12),
        store: Uuid::from_slice(&bytes[16..32]).expect("sixteen bytes"),
        revision: u64_at(&bytes, 32) as i64,
        count: u64_at(&bytes, 40),
    };
    let size = |place: usize| {
        let at = FIXED + place * PER_SECTION;
        (u64_at(&bytes, at) as usize, u32_at(&bytes, at + 8))
    };
    Ok((meta, (0..sections).map(size).collect()))
}

fn checksum_of(reader: &mut impl Read, mut length: usize, block: &mut [u8]) -> Result<u32, SnapshotError> {
    let mut checksum = crc32fast::Hasher::new();
    while length > 0 {
        let part = length.min(block.len());
        reader
            .read_exact(&mut block[..part])
            .map_err(|_| SnapshotError::Damaged("it is cut off"))?;
        checksum.update(&block[..part]);
        length -= part;
    }
    Ok(checksum.finalize())
}

fn skip(reader: &mut impl Read, length: usize) -> Result<(), SnapshotError> {
    let mut padding = [0; 8];
    reader
        .read_exact(&mut padding[..length])
        .map_err(|_| SnapshotError::Damaged("it is cut off"))?;
    match padding == [0; 8] {
        true => Ok(()),
        false => Err(SnapshotError::Damaged("its padding is not empty")),
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
        rules: 9,
        count: 2,
    };

    fn written(folder: &Path) -> PathBuf {
        let path = folder.join("snapshot");
        let mut writer = SnapshotWriter::create(&path, META, 2).unwrap();
        writer.begin(0).unwrap();
        writer.write_all(b"one nonprofit").unwrap();
        writer.begin(1).unwrap();
        writer.write_all(b"and another").unwrap();
        writer.finish().unwrap();
        path
    }

    #[test]
    fn sections_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = SnapshotFile::open(&written(folder.path())).unwrap();
        assert_eq!(file.meta, META);
        assert_eq!(file.section(0), b"one nonprofit");
        assert_eq!(file.section(1), b"and another");
        assert_eq!(file.section(2), b"");
    }

    #[test]
    fn a_file_with_any_bit_flipped_or_any_part_missing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, damaged).unwrap();
            assert!(SnapshotFile::open(&path).is_err(), "bit {bit} flipped");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(SnapshotFile::open(&path).is_err(), "cut to {length}");
        }
        let mut longer = whole;
        longer.push(0);
        fs::write(&path, longer).unwrap();
        assert!(SnapshotFile::open(&path).is_err());
    }
}
