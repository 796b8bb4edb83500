//! The files that an operator names: plain, gzip or zip, told by their first bytes and never by their ending.
//!
//! Everything streams. While a file is read its bytes are counted, for the progress bar, and hashed, so that the
//! import can be recorded without reading twice; a zip archive, which is read out of order, is hashed beforehand.
//! What comes out of a compressed file is capped, so that a small file cannot fill the machine.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use zip::{CompressionMethod, ZipArchive};

pub use self::error::SourceError;
use self::error::{check_opening, damaged_zip, unreadable};
use super::hashing_reader::HashingReader;

mod error;

const BLOCK: usize = 128 * 1024;
/// No directory of nonprofits comes near this size.
const MOST_UNPACKED: u64 = 64 << 30;
/// Tables shrink five to ten times; beyond the first gigabyte nothing honest shrinks a hundredfold.
const FREE_OF_RATIO: u64 = 1 << 30;
const LARGEST_RATIO: u64 = 100;

/// What an import expects inside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    JsonLines,
}

impl Format {
    fn title(self) -> &'static str {
        match self {
            Format::Csv => "CSV",
            Format::JsonLines => "JSON Lines",
        }
    }

    fn endings(self) -> &'static [&'static str] {
        match self {
            Format::Csv => &["csv"],
            Format::JsonLines => &["jsonl", "ndjson"],
        }
    }

    fn is_in(self, member: &str) -> bool {
        let path = Path::new(member);
        let hidden = path
            .file_name()
            .is_none_or(|name| name.to_string_lossy().starts_with("._"));
        let ending = path.extension().unwrap_or_default();
        !hidden
            && self
                .endings()
                .iter()
                .any(|wanted| ending.eq_ignore_ascii_case(wanted))
    }
}

/// One file that is being read.
pub struct Source {
    name: String,
    format: Format,
    packed: Packed,
    length: Option<u64>,
    consumed: Arc<AtomicU64>,
    unpacked: u64,
}

enum Packed {
    Plain {
        file: Box<BufReader<HashingReader<File>>>,
        read: bool,
    },
    Gzip {
        stream: Box<MultiGzDecoder<BufReader<HashingReader<File>>>>,
        read: bool,
    },
    Zip {
        archive: Box<ZipArchive<BufReader<HashingReader<File>>>>,
        members: std::vec::IntoIter<usize>,
        sha256: String,
    },
}

impl Packed {
    fn packing(&self) -> Packing {
        match self {
            Packed::Plain { .. } => Packing::None,
            Packed::Gzip { .. } => Packing::Gzip,
            Packed::Zip { .. } => Packing::Zip,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zip,
}

/// One table inside a source: the file itself, or one member of an archive.
pub struct Part<'a> {
    /// What messages call it.
    pub name: String,
    text: BufReader<Guarded<'a>>,
}

impl Source {
    /// Opens a file and finds out how it is packed.
    pub fn open(path: &Path, format: Format) -> Result<Source, SourceError> {
        let name = path.display().to_string();
        let unreadable = |fault: io::Error| unreadable(&name, fault);
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if about.is_dir() {
            return Err(SourceError::IsFolder { name });
        }
        let length = about.is_file().then_some(about.len());
        let consumed = Arc::new(AtomicU64::new(0));
        let mut file = BufReader::with_capacity(BLOCK, HashingReader::new(file, Arc::clone(&consumed)));
        let packed = match file.fill_buf().map_err(unreadable)? {
            [] => return Err(SourceError::Empty { name }),
            [0x1F, 0x8B, ..] => Packed::Gzip {
                stream: Box::new(MultiGzDecoder::new(file)),
                read: false,
            },
            [b'P', b'K', 3 | 5, 4 | 6, ..] => open_zip(&name, format, file)?,
            _ => Packed::Plain {
                file: Box::new(file),
                read: false,
            },
        };
        Ok(Source {
            name,
            format,
            packed,
            length,
            consumed,
            unpacked: 0,
        })
    }

    /// The size of the file, where it has one (a pipe has none).
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// How many bytes of the file have been read so far, for another thread to look at. An archive is read with
    /// leaps, so that its count may end a little beyond the length.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// The next table inside; nothing after the last.
    pub fn next_part(&mut self) -> Result<Option<Part<'_>>, SourceError> {
        let mut name = self.name.clone();
        let packing = self.packed.packing();
        let stream: Box<dyn Read + Send + '_> = match &mut self.packed {
            Packed::Plain { read: true, .. } | Packed::Gzip { read: true, .. } => return Ok(None),
            Packed::Plain { file, read } => {
                *read = true;
                Box::new(file)
            }
            Packed::Gzip { stream, read } => {
                *read = true;
                Box::new(stream)
            }
            Packed::Zip { archive, members, .. } => {
                let Some(member) = members.next() else {
                    return Ok(None);
                };
                let file = archive
                    .by_index(member)
                    .map_err(|fault| damaged_zip(&self.name, fault))?;
                if let Ok(member) = file.name() {
                    name = format!("{name}: {member}");
                }
                let method = file.compression();
                if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
                    return Err(SourceError::Unsupported {
                        name,
                        fault: method.to_string(),
                    });
                }
                Box::new(file)
            }
        };
        let guarded = Guarded {
            stream,
            name: name.clone(),
            packing,
            consumed: Arc::clone(&self.consumed),
            unpacked: &mut self.unpacked,
        };
        let mut text = BufReader::with_capacity(BLOCK, guarded);
        let opening = text.fill_buf().map_err(|fault| unreadable(&name, fault))?;
        check_opening(&name, self.format.title(), opening)?;
        Ok(Some(Part { name, text }))
    }

    /// The SHA-256 of the whole file in hexadecimal, reading what is left of it.
    pub fn finish(self) -> Result<String, SourceError> {
        let mut rest = match self.packed {
            Packed::Zip { sha256, .. } => return Ok(sha256),
            Packed::Plain { file, .. } => file.into_inner(),
            Packed::Gzip { stream, .. } => stream.into_inner().into_inner(),
        };
        io::copy(&mut rest, &mut io::sink()).map_err(|fault| unreadable(&self.name, fault))?;
        Ok(rest.sha256())
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text.read(buffer)
    }
}

impl BufRead for Part<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.text.consume(amount);
    }
}

/// Turns what a decoder reports into our words, and watches the size of what comes out.
struct Guarded<'a> {
    stream: Box<dyn Read + Send + 'a>,
    name: String,
    packing: Packing,
    consumed: Arc<AtomicU64>,
    unpacked: &'a mut u64,
}

impl Read for Guarded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer).map_err(|fault| match fault.kind() {
            ErrorKind::Interrupted => fault,
            _ => io::Error::new(fault.kind(), self.explain(fault)),
        })?;
        *self.unpacked += read as u64;
        if self.packing != Packing::None && is_bomb(*self.unpacked, self.consumed.load(Ordering::Relaxed)) {
            return Err(io::Error::other(SourceError::Bomb {
                name: self.name.clone(),
            }));
        }
        Ok(read)
    }
}

impl Guarded<'_> {
    fn explain(&self, fault: io::Error) -> SourceError {
        let name = self.name.clone();
        match (self.packing, fault.kind()) {
            (Packing::Gzip, ErrorKind::UnexpectedEof) => SourceError::TruncatedGzip { name },
            (
                Packing::Gzip | Packing::Zip,
                ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof,
            ) => SourceError::Damaged {
                name,
                fault: fault.to_string(),
            },
            _ => SourceError::Unreadable { name, fault },
        }
    }
}

fn is_bomb(unpacked: u64, packed: u64) -> bool {
    unpacked > MOST_UNPACKED || unpacked > FREE_OF_RATIO && unpacked / LARGEST_RATIO > packed
}

fn open_zip(name: &str, format: Format, file: BufReader<HashingReader<File>>) -> Result<Packed, SourceError> {
    let mut hashed = file.into_inner();
    let failed = |fault: io::Error| unreadable(name, fault);
    io::copy(&mut hashed, &mut io::sink()).map_err(failed)?;
    let (mut file, sha256) = hashed.start_over();
    file.rewind().map_err(failed)?;
    let archive =
        ZipArchive::new(BufReader::with_capacity(BLOCK, file)).map_err(|fault| damaged_zip(name, fault))?;
    let members: Vec<usize> = (0..archive.len())
        .filter(|index| {
            archive
                .name_for_index(*index)
                .and_then(Result::ok)
                .is_some_and(|member| format.is_in(&member))
        })
        .collect();
    if members.is_empty() {
        return Err(SourceError::NothingInside {
            name: name.to_owned(),
            ending: format.endings()[0],
        });
    }
    Ok(Packed::Zip {
        archive: Box::new(archive),
        members: members.into_iter(),
        sha256,
    })
}

#[cfg(test)]
mod tests;
